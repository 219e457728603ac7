// The view of stacks: a flame graph with zoom, search and callers, and the same as a table.
import { h } from "../parts/dom.js";
import { countOf, exactValue, formatValue } from "../parts/format.js";
import { flameCanvas } from "../parts/flame_canvas.js";
import { flameTable } from "../parts/flame_table.js";
import { flameLegend, flameNotes, flameNumbers } from "../parts/flame_words.js";
import { flamePath, flameShare } from "../parts/flame_words.js";
import { emptyBox } from "../parts/empty.js";
import { stackCallers } from "../data/stacks_callers.js";
import { stackNeighbour } from "../data/stacks_layout.js";
import { stackMatcher, stackModel, stackPath, stackSearch } from "../data/stacks.js";

/** Which of the stacks is shown, and how; the address has the same under these names. */
const flameKeys = ["zoom", "frame", "callers", "search"];

/**
 * @param {import("../data/source.js").View} view
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement}
 */
export function renderFlameGraph(view, page) {
  const names = view.stacks.map((stacks) => stacks.name);
  const filled = view.stacks.find((stacks) => stacks.total > 0) ?? view.stacks[0];
  if (filled === undefined) return emptyBox("There are no stacks in this view.");
  let chosen = Math.max(0, names.indexOf(page.get("stack") ?? filled.name));
  const body = h("div", { class: "flame-body" });
  const tabs = view.stacks.map((stacks, which) => h("button", {
    type: "button", class: "choice", "aria-pressed": which === chosen,
    onclick: () => {
      for (const key of flameKeys) page.set(key, null);
      page.set("stack", stacks.name, true);
      chosen = which;
      tabs.forEach((tab, at) => tab.setAttribute("aria-pressed", String(at === which)));
      body.replaceChildren(flameStacks(stacks, page));
    },
  }, stacks.title));
  body.append(flameStacks(view.stacks[chosen], page));
  return h("div", { class: "flame" },
    tabs.length > 1 ? h("div", { class: "choices", role: "group", "aria-label": "What to show" },
                        tabs) : null, body);
}

/**
 * @param {import("../data/source.js").Stacks} stacks
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement}
 */
function flameStacks(stacks, page) {
  if (stacks.self.length < 2) {
    return emptyBox(stacks.empty ?? "The trace has nothing to draw here.");
  }
  return new FlameGraph(stacks, page).element;
}

class FlameGraph {
  /**
   * @param {import("../data/source.js").Stacks} stacks
   * @param {import("../data/source.js").Page} page
   */
  constructor(stacks, page) {
    this.stacks = stacks;
    this.page = page;
    /** @type {"weight"|"name"} */
    this.order = page.get("order") === "name" ? "name" : "weight";
    this.isUp = page.get("root") === "bottom";
    /** The whole tree, heaviest first: callers are made from it. */
    this.whole = stackModel(stacks, "weight");
    this.model = this.whole;
    // The text whose callers are shown; -1: none.
    this.callers = -1;
    this.cut = 0;
    this.zoomed = 0;
    this.selected = 0;
    this.pattern = "";
    /** @type {Uint8Array|null} */
    this.matches = null;

    this.search = /** @type {HTMLInputElement} */ (h("input", {
      type: "search", class: "flame-search", autocomplete: "off",
      spellcheck: "false", placeholder: "Search frames (/)",
      "aria-label": "Search frames; between slashes as a regular expression",
      title: "Text in the name of a frame; /text/ is a regular expression",
      oninput: () => this.setSearch(this.search.value),
    }));
    this.matched = h("span", { class: "flame-matched", role: "status" });
    this.callersButton = /** @type {HTMLButtonElement} */ (h("button", {
      type: "button", onclick: () => this.toggleCallers(),
    }));
    this.resetButton = /** @type {HTMLButtonElement} */ (h("button", {
      type: "button", onclick: () => this.zoom(0),
    }, "Reset zoom"));
    this.rootButton = h("button", { type: "button", onclick: () => this.turn() });
    this.orderButton = h("button", { type: "button", onclick: () => this.setOrder() });
    this.path = h("nav", { class: "flame-path", "aria-label": "Frames around the zoomed one" });
    this.details = h("p", { class: "flame-details", role: "status" });
    this.tip = h("div", { class: "flame-tip is-hidden", "aria-hidden": true });
    this.notes = h("p", { class: "quiet flame-notes" });
    const about = "Flame graph of " + stacks.title + ": arrow keys move, Enter zooms. " +
      "The table below has the same frames.";
    this.canvas = flameCanvas(about, {
      click: (frame, isShift) => {
        this.selected = frame;
        if (isShift) this.showCallers(this.model.text[frame]);
        else this.zoom(frame);
      },
      hover: (frame, x, y) => this.hover(frame, x, y),
      key: (event) => this.key(event),
    });
    this.table = flameTable(this.stacks, (frame) => {
      this.select(frame);
      this.canvas.reveal(frame);
      this.canvas.element.scrollIntoView({ block: "nearest" });
    });
    this.element = h("div", { class: "flame-graph" },
      h("div", { class: "flame-tools" }, this.search, this.matched, this.callersButton,
        this.resetButton, h("span", { class: "flame-space-between" }), this.orderButton,
        this.rootButton),
      this.path, this.canvas.element, this.details, flameLegend(this.stacks), this.notes, this.tip,
      this.table.element);
    this.element.addEventListener("keydown", (event) => this.outerKey(event));
    this.restore();
  }

  // ---- state and address

  restore() {
    const { page } = this;
    const callers = Number(page.get("callers") ?? NaN);
    if (callers >= 0 && callers < this.stacks.texts.length) this.callers = callers;
    this.makeModel();
    this.zoomed = this.frameOf(page.get("zoom"));
    const frame = this.frameOf(page.get("frame"));
    this.selected = frame > 0 ? frame : this.zoomed;
    this.pattern = page.get("search") ?? "";
    this.search.value = this.pattern;
    this.find();
    this.show();
  }

  // Frames are in the address by their numbers in the file, which the order does not change.
  /** @param {string|null} origin */
  frameOf(origin) {
    const number = Number(origin ?? 0);
    return Number.isInteger(number) && number > 0 && number < this.model.size
      ? this.model.place[number] : 0;
  }

  /** @param {boolean} push */
  write(push) {
    const { page, model } = this;
    /** @param {number} frame */
    const number = (frame) =>
      (frame > 0 ? String(model.origin[frame]) : null);
    /** @type {[string, string|null][]} */
    const values = [
      ["callers", this.callers < 0 ? null : String(this.callers)], ["zoom", number(this.zoomed)],
      ["frame", this.selected === this.zoomed ? null : number(this.selected)],
      ["stack", this.stacks.name], ["search", this.pattern === "" ? null : this.pattern],
      ["root", this.isUp ? "bottom" : null], ["order", this.order === "name" ? "name" : null],
    ];
    // Only the first change is a new entry for the back button; the others belong to it.
    let isStep = push;
    for (const [key, value] of values) {
      if (page.get(key) === value) continue;
      page.set(key, value, isStep);
      isStep = false;
    }
  }

  makeModel() {
    this.cut = 0;
    if (this.callers >= 0) {
      const found = stackCallers(this.whole, this.callers, this.order, this.stacks.texts);
      this.model = found.model;
      this.cut = found.cut;
    } else {
      this.model = this.order === "weight" ? this.whole : stackModel(this.stacks, "name");
    }
  }

  find() {
    this.matches = null;
    this.matched.textContent = "";
    if (this.pattern === "") return;
    const matcher = stackMatcher(this.pattern);
    if (matcher === null) {
      this.matched.textContent = "This is not a valid regular expression.";
      return;
    }
    const found = stackSearch(this.model, this.stacks.texts, matcher);
    if (found.count === 0) {
      this.matched.textContent = "No frame matches.";
      return;
    }
    this.matches = found.matches;
    this.matched.textContent = countOf(found.count, "match", "matches") + ", " +
      formatValue(found.weight, this.stacks.unit) + ", " +
      flameShare(found.weight, this.model.total[0]);
  }

  // ---- actions

  /** @param {number} frame */
  zoom(frame) {
    if (this.selected < frame || this.selected >= this.model.end[frame]) this.selected = frame;
    const isNew = frame !== this.zoomed;
    this.zoomed = frame;
    this.show();
    if (isNew) this.canvas.reveal(frame);
    this.write(isNew);
  }

  /** @param {number} frame */
  select(frame) {
    const { zoomed, model } = this;
    this.selected = frame;
    const isAround = frame <= zoomed && model.end[frame] >= model.end[zoomed];
    if (!isAround && (frame < zoomed || frame >= model.end[zoomed])) this.zoomed = 0;
    this.show();
    this.write(false);
  }

  toggleCallers() {
    this.showCallers(this.callers >= 0 ? -1 : this.model.text[this.selected]);
  }

  /** @param {number} text */
  showCallers(text) {
    if (text === this.callers || text === this.stacks.frame[0]) return;
    const before = this.callers;
    this.callers = text;
    this.makeModel();
    this.zoomed = 0;
    this.selected = 0;
    if (text < 0) {
      // Back in the whole tree the function is still selected, where it costs most.
      const { model } = this;
      for (let frame = 1; frame < model.size; ++frame) {
        if (model.text[frame] !== before) continue;
        if (this.selected === 0 || model.total[frame] > model.total[this.selected]) {
          this.selected = frame;
        }
      }
    }
    this.find();
    this.show();
    this.write(true);
  }

  /** @param {string} pattern */
  setSearch(pattern) {
    this.pattern = pattern;
    this.find();
    this.show();
    this.write(false);
  }

  turn() {
    this.isUp = !this.isUp;
    this.show();
    this.write(false);
  }

  setOrder() {
    const [zoomed, selected] = [this.model.origin[this.zoomed], this.model.origin[this.selected]];
    this.order = this.order === "name" ? "weight" : "name";
    this.makeModel();
    this.zoomed = this.model.place[zoomed];
    this.selected = this.model.place[selected];
    this.find();
    this.show();
    this.write(false);
  }

  // ---- what people see

  /** @param {number} frame */
  nameOf(frame) {
    if (frame === 0 && this.callers < 0) return "all";
    return this.stacks.texts[this.model.text[frame]];
  }

  /** @param {number} frame */
  numbersOf(frame) {
    return flameNumbers(this.model, frame, this.whole.total[0], this.stacks.unit,
                        this.callers >= 0);
  }

  show() {
    const { model, zoomed, selected } = this;
    this.canvas.show({
      model, texts: this.stacks.texts, kinds: this.stacks.kinds, zoomed, selected,
      rootName: this.callers < 0 ? "all: " + formatValue(model.total[0], this.stacks.unit) : "",
      matches: this.matches, isUp: this.isUp,
    });
    if (selected === 0 && this.callers < 0) {
      this.details.textContent = "Click a frame to zoom in, Shift+click for its callers. " +
        "Keys: arrows move, Enter zooms, Esc goes back, c shows callers, / searches.";
    } else {
      this.details.replaceChildren(h("b", null, this.nameOf(selected)), " ",
        h("span", { class: "quiet", title: exactValue(model.total[selected], this.stacks.unit) },
          this.numbersOf(selected)));
    }
    this.details.classList.toggle("quiet", selected === 0 && this.callers < 0);
    this.callersButton.textContent = this.callers >= 0 ? "Back to all frames" : "Callers";
    this.callersButton.title = this.callers >= 0 ? "" : "What called the selected frame (c)";
    this.callersButton.disabled = this.callers < 0 && selected === 0;
    this.resetButton.disabled = zoomed === 0;
    this.rootButton.textContent = this.isUp ? "Root on top" : "Root at the bottom";
    this.orderButton.textContent = this.order === "name" ? "Sort by weight" : "Sort by name";
    this.showPath();
    this.notes.textContent = flameNotes(this.stacks, this.cut);
    this.table.show(model, zoomed, selected, this.callers >= 0);
  }

  showPath() {
    const parts = flamePath(this.model, this.zoomed, (frame) => this.nameOf(frame),
                            (frame) => this.zoom(frame));
    if (this.callers >= 0) parts.unshift(h("span", { class: "quiet" }, "Callers of"));
    this.path.replaceChildren(...parts);
    // The end of the path says most. Before the first frame nothing has a width yet.
    requestAnimationFrame(() => { this.path.scrollLeft = this.path.scrollWidth; });
  }

  /**
   * @param {number} frame
   * @param {number} x
   * @param {number} y
   */
  hover(frame, x, y) {
    this.tip.classList.toggle("is-hidden", frame < 0);
    if (frame < 0) return;
    this.tip.replaceChildren(h("b", null, this.nameOf(frame)),
      h("div", null, this.numbersOf(frame)),
      h("div", { class: "quiet" }, exactValue(this.model.total[frame], this.stacks.unit)));
    const { offsetWidth: wide, offsetHeight: tall } = this.tip;
    const left = Math.max(4, Math.min(x + 14, innerWidth - wide - 8));
    const top = y + 18 + tall > innerHeight ? y - tall - 10 : y + 18;
    this.tip.style.setProperty("left", left + "px");
    this.tip.style.setProperty("top", Math.max(4, top) + "px");
  }

  // ---- keys

  /** @param {string} key */
  neighbour(key) {
    const { model, selected, zoomed } = this;
    if (key === "ArrowLeft" || key === "ArrowRight") {
      // Beside the frames around the zoomed one nothing is drawn.
      if (model.depth[selected] <= model.depth[zoomed]) return -1;
      return stackNeighbour(model, selected, key === "ArrowRight" ? 1 : -1);
    }
    const isOut = key === (this.isUp ? "ArrowDown" : "ArrowUp");
    if (isOut) return model.parent[selected];
    if (model.depth[selected] < model.depth[zoomed]) {
      return stackPath(model, zoomed)[model.depth[selected] + 1];
    }
    return model.end[selected] > selected + 1 ? selected + 1 : -1;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith("Arrow")) {
      const next = this.neighbour(event.key);
      if (next >= 0) {
        this.select(next);
        this.canvas.reveal(next);
      }
    } else if (event.key === "Enter" || event.key === " ") {
      this.zoom(this.selected);
    } else {
      return;
    }
    event.preventDefault();
  }

  /** @param {KeyboardEvent} event */
  outerKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = event.target === this.search;
    if (event.key === "Escape") {
      if (isTyping && this.pattern !== "") {
        this.search.value = "";
        this.setSearch("");
      } else if (this.zoomed !== 0) {
        this.zoom(0);
      } else if (this.callers >= 0) {
        this.showCallers(-1);
      } else {
        return;
      }
    } else if (event.key === "/" && !isTyping) {
      this.search.focus();
      this.search.select();
    } else if (event.key === "c" && !isTyping && this.selected > 0) {
      this.toggleCallers();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
