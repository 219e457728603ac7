// The flame graph of a comparison: a frame is as wide as the longer of its two sides, its colour
// says how its own time changed; zoom, search, keys, and the same frames as a table.
import { h } from "../parts/dom.js";
import { countOf, formatValue } from "../parts/format.js";
import { flameCanvas } from "../parts/flame_canvas.js";
import { flamePath } from "../parts/flame_words.js";
import { emptyBox } from "../parts/empty.js";
import { stackNeighbour } from "../data/stacks_layout.js";
import { stackMatcher, stackPath, stackSearch } from "../data/stacks.js";
import { changedFrames, differenceModel, matchedTimes } from "./document.js";
import { beforeAndNow, exactSides, relativeChange, signedValue } from "./words.js";

/** More rows are not shown below the graph; the search finds the others. */
const differenceTableMost = 25;

/** @type {[number, string][]} */
const shadeWords = [[0, "faster by 5 %"], [1, "by 1 %"], [2, "by 0.1 %"], [3, "less"],
                    [4, "slower by 0.1 %"], [5, "by 1 %"], [6, "by 5 %"]];

/**
 * What the colours and patterns mean.
 * @param {string} whole what shares are of
 */
function differenceLegend(whole) {
  return h("ul", { class: "chart-legend difference-legend" },
    h("li", { class: "quiet" }, `Own time, of the ${whole}:`),
    shadeWords.map(([shade, words]) => h("li", null,
      h("span", { class: `swatch shade shade-${shade}`, "aria-hidden": true }), words)),
    h("li", null, h("span", { class: "swatch side-gone", "aria-hidden": true }), "\u2212 gone"),
    h("li", null, h("span", { class: "swatch side-new", "aria-hidden": true }), "+ new"));
}

export class DifferenceGraph {
  /**
   * @param {import("./document.js").DifferenceStacks} stacks
   * @param {import("../data/source.js").Page} page
   */
  constructor(stacks, page) {
    this.stacks = stacks;
    this.page = page;
    this.whole = stacks.is_per_step ? "step" : "total";
    this.sides = differenceModel(stacks);
    this.model = this.sides.model;
    this.zoomed = 0;
    this.selected = 0;
    this.pattern = "";
    /** @type {Uint8Array|null} */
    this.matches = null;
    /** The matches are not those of a search. */
    this.isMarked = false;
    this.search = /** @type {HTMLInputElement} */ (h("input", {
      type: "search", class: "flame-search", autocomplete: "off", spellcheck: "false",
      placeholder: "Search frames",
      "aria-label": "Search frames; between slashes as a regular expression",
      title: "Text in the name of a frame; /text/ is a regular expression",
      oninput: () => this.setSearch(this.search.value),
    }));
    this.matched = h("span", { class: "flame-matched", role: "status" });
    this.resetButton = /** @type {HTMLButtonElement} */ (h("button", {
      type: "button", onclick: () => this.zoom(0),
    }, "Reset zoom"));
    this.path = h("nav", { class: "flame-path", "aria-label": "Frames around the zoomed one" });
    this.details = h("p", { class: "flame-details", role: "status" });
    this.tip = h("div", { class: "flame-tip is-hidden", "aria-hidden": true });
    this.canvas = flameCanvas(`Flame graph of the difference, ${stacks.title}: arrow keys move, ` +
      "Enter zooms. The table below has the frames that changed.", {
      click: (frame) => {
        this.selected = frame;
        this.zoom(frame);
      },
      hover: (frame, x, y) => this.hover(frame, x, y),
      key: (event) => this.key(event),
    });
    this.body = h("tbody", null);
    this.tableNote = h("span", { class: "quiet" });
    this.element = h("div", { class: "flame-graph" },
      h("p", { class: "quiet" }, this.about()),
      h("div", { class: "flame-tools" }, this.search, this.matched, this.resetButton),
      differenceLegend(this.whole), this.path, this.canvas.element, this.details,
      h("p", { class: "quiet flame-notes" }, this.notes()), this.tip, this.table());
    this.element.addEventListener("keydown", (event) => this.outerKey(event));
    this.restore();
  }

  about() {
    const { stacks } = this;
    const of = stacks.is_per_step ? " per step" : ", of everything that was recorded, because not " +
      "all recordings have steps";
    return `${stacks.title}${of}: ${beforeAndNow(stacks.base_ns, stacks.new_ns)}. A frame is as ` +
      "wide as the longer of before and now, so that frames that are gone have their place.";
  }

  notes() {
    const { left_out, names_cut } = this.stacks;
    const notes = [];
    if (left_out > 0) {
      notes.push(`${countOf(left_out, "narrow frame is", "narrow frames are")} left out; ` +
                 "their times count for the frames around them.");
    }
    if (names_cut > 0) {
      notes.push(`${countOf(names_cut, "name is", "names are")} cut to 500 characters.`);
    }
    return notes.join(" ");
  }

  table() {
    return h("section", { class: "section flame-table" },
      h("h3", null, "Frames in sight whose own time changed ", this.tableNote),
      h("div", { class: "wide-scroll" }, h("table", { class: "small-table" },
        h("thead", null, h("tr", null,
          h("th", { scope: "col" }, "Frame"),
          ["Change", "Share", "Before", "Now", "Places"].map((name) =>
            h("th", { scope: "col", class: "number" }, name)))), this.body)));
  }

  // ---- state and address

  restore() {
    const { page } = this;
    const frameOf = (/** @type {string | null} */ origin) => {
      const number = Number(origin ?? 0);
      return Number.isInteger(number) && number > 0 && number < this.model.size
        ? this.model.place[number] : 0;
    };
    this.zoomed = frameOf(page.get("zoom"));
    this.selected = frameOf(page.get("frame")) || this.zoomed;
    this.pattern = page.get("search") ?? "";
    this.search.value = this.pattern;
    this.find();
    this.show();
  }

  /** @param {boolean} push */
  write(push) {
    const { page, model } = this;
    const number = (/** @type {number} */ frame) => (frame > 0 ? String(model.origin[frame]) : null);
    /** @type {[string, string | null][]} */
    const values = [["zoom", number(this.zoomed)],
      ["frame", this.selected === this.zoomed ? null : number(this.selected)],
      ["search", this.pattern === "" ? null : this.pattern]];
    let isStep = push;
    for (const [key, value] of values) {
      if (page.get(key) === value) continue;
      page.set(key, value, isStep);
      isStep = false;
    }
  }

  find() {
    this.matches = null;
    this.isMarked = false;
    this.matched.textContent = "";
    if (this.pattern === "") return;
    const matcher = stackMatcher(this.pattern);
    if (matcher === null) this.matched.textContent = "This is not a valid regular expression.";
    else this.match(matcher);
  }

  /**
   * @param {(text: string) => boolean} matcher
   * @returns {number} how many frames match
   */
  match(matcher) {
    const found = stackSearch(this.model, this.stacks.texts, matcher);
    this.matches = found.count > 0 ? found.matches : null;
    const times = matchedTimes(this.sides, found.matches);
    this.matched.textContent = found.count === 0 ? "No frame matches."
      : `${countOf(found.count, "match", "matches")}: ${beforeAndNow(times.base, times.now)}`;
    return found.count;
  }

  /**
   * Marks the frames with one of these names, until a search or another mark.
   * @param {(string | null)[]} names
   * @returns {number} how many there are
   */
  mark(names) {
    const wanted = new Set(names.filter((name) => name !== null));
    if (wanted.size === 0 && !this.isMarked) return 0;
    this.isMarked = wanted.size > 0;
    this.pattern = "";
    this.search.value = "";
    this.matches = null;
    this.matched.textContent = "";
    const count = wanted.size > 0 ? this.match((text) => wanted.has(text)) : 0;
    if (count === 0) this.matched.textContent = "";
    this.show();
    return count;
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
    this.canvas.reveal(frame);
    this.write(false);
  }

  /** @param {string} pattern */
  setSearch(pattern) {
    this.pattern = pattern;
    this.find();
    this.show();
    this.write(false);
  }

  // ---- what people see

  /** @param {number} frame */
  nameOf(frame) {
    return frame === 0 ? "all" : this.stacks.texts[this.model.text[frame]];
  }

  /**
   * @param {number} frame
   * @returns {string[]} lines
   */
  linesOf(frame) {
    const { base, now, baseSelf, newSelf, side, was } = this.sides;
    const change = now[frame] - base[frame];
    const relative = relativeChange(base[frame], now[frame]);
    const share = this.stacks.whole_ns > 0
      ? `, ${signedValue(change / this.stacks.whole_ns, "share")} of the ${this.whole}` : "";
    const lines = [["", "Gone: ", "New: "][side[frame]] + beforeAndNow(base[frame], now[frame]) +
      (side[frame] === 0 && relative !== "" ? ` (${relative})` : "") + share];
    if (baseSelf[frame] !== base[frame] || newSelf[frame] !== now[frame]) {
      lines.push(`Own time: ${beforeAndNow(baseSelf[frame], newSelf[frame])}`);
    }
    if (was[frame] >= 0) lines.push(`Before, it was ${this.stacks.texts[was[frame]]}`);
    return lines;
  }

  show() {
    const { model, zoomed, selected, stacks } = this;
    this.canvas.show({
      model, texts: stacks.texts, kinds: stacks.kinds, zoomed, selected,
      rootName: `all: ${beforeAndNow(stacks.base_ns, stacks.new_ns)}`,
      matches: this.matches, isUp: false, sides: this.sides,
    });
    if (selected === 0) {
      this.details.textContent = "Click a frame to zoom in. Keys: arrows move, Enter zooms, " +
        "Esc goes back.";
    } else {
      this.details.replaceChildren(h("b", null, this.nameOf(selected)), " ",
        h("span", { class: "quiet" }, this.linesOf(selected).join(". ")));
    }
    this.details.classList.toggle("quiet", selected === 0);
    this.resetButton.disabled = zoomed === 0;
    this.path.replaceChildren(...flamePath(model, zoomed, (frame) => this.nameOf(frame),
                                           (frame) => this.zoom(frame)));
    requestAnimationFrame(() => { this.path.scrollLeft = this.path.scrollWidth; });
    this.showTable();
  }

  showTable() {
    const all = changedFrames(this.sides, this.zoomed);
    const rows = all.slice(0, differenceTableMost);
    this.tableNote.textContent = rows.length < all.length
      ? `the first ${formatValue(rows.length)} of ${formatValue(all.length)}` : "";
    const { whole_ns, texts } = this.stacks;
    this.body.replaceChildren(...rows.map(({ text, frame, base, now, places }) => h("tr", null,
      h("td", { class: "name" }, h("button", {
        type: "button", class: "link flame-name", title: texts[text],
        "aria-current": this.selected > 0 && this.model.text[this.selected] === text ? "true" : null,
        onclick: () => {
          this.select(frame);
          this.canvas.element.scrollIntoView({ block: "nearest" });
        },
      }, texts[text])),
      h("td", { class: `number ${now > base ? "slower" : "faster"}`, title: exactSides(base, now) },
        signedValue(now - base, "ns")),
      h("td", { class: "number" }, whole_ns > 0 ? signedValue((now - base) / whole_ns, "share") : ""),
      h("td", { class: "number" }, formatValue(base, "ns")),
      h("td", { class: "number" }, formatValue(now, "ns")),
      h("td", { class: "number" }, formatValue(places)))));
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
      ...this.linesOf(frame).map((line) => h("div", null, line)),
      h("div", { class: "quiet" }, exactSides(this.sides.base[frame], this.sides.now[frame])));
    const { offsetWidth: wide, offsetHeight: tall } = this.tip;
    const left = Math.max(4, Math.min(x + 14, innerWidth - wide - 8));
    const top = y + 18 + tall > innerHeight ? y - tall - 10 : y + 18;
    this.tip.style.setProperty("left", `${left}px`);
    this.tip.style.setProperty("top", `${Math.max(4, top)}px`);
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
    if (key === "ArrowUp") return model.parent[selected];
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
      if (next >= 0) this.select(next);
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
      } else {
        return;
      }
    } else if (event.key === "/" && !isTyping) {
      this.search.focus();
      this.search.select();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

/**
 * The flame graphs of a comparison, one of which is shown.
 * @param {import("./document.js").Comparison} comparison
 * @param {import("../data/source.js").Page} page
 * @returns {{element: HTMLElement, mark: (names: (string | null)[]) => number, reveal: () => void}}
 */
export function differenceGraphs(comparison, page) {
  const filled = comparison.stacks.filter((stacks) => stacks.empty === null);
  if (filled.length === 0) {
    return { element: emptyBox(comparison.no_stacks ?? comparison.stacks[0]?.empty ?? null),
             mark: () => 0, reveal: () => {} };
  }
  const name = page.get("stack") ?? comparison.first_stacks;
  let chosen = Math.max(0, filled.findIndex((stacks) => stacks.name === name));
  const body = h("div", { class: "flame-body" });
  let graph = new DifferenceGraph(filled[chosen], page);
  body.append(graph.element);
  /** @param {number} which */
  const choose = (which) => {
    if (which === chosen) return;
    chosen = which;
    for (const key of ["zoom", "frame", "search"]) page.set(key, null);
    page.set("stack", filled[which].name, true);
    graph = new DifferenceGraph(filled[which], page);
    buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(at === which)));
    body.replaceChildren(graph.element);
  };
  const buttons = filled.map((stacks, which) => h("button", {
    type: "button", class: "choice", "aria-pressed": which === chosen, onclick: () => choose(which),
  }, stacks.title));
  const element = h("div", { class: "flame" }, buttons.length > 1 ? h("div", {
    class: "choices", role: "group", "aria-label": "What to show" }, buttons) : null, body);
  return {
    element,
    mark(names) {
      const has = (/** @type {import("./document.js").DifferenceStacks} */ stacks) =>
        stacks.texts.some((text) => names.includes(text));
      // A kernel is in the stacks of the GPU alone.
      if (names.length > 0 && !has(filled[chosen])) {
        const other = filled.findIndex(has);
        if (other >= 0) choose(other);
      }
      return graph.mark(names);
    },
    reveal() {
      element.scrollIntoView({ block: "start" });
    },
  };
}
