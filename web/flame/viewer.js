// What the flame graphs of a trace and of a comparison have in common: the picture, search, zoom,
// selection, the path to the zoomed frame, the table, keys, and the state in the address.
import { disable, h, setVariable } from "../parts/dom.js";
import { countOf } from "../parts/format.js";
import { choiceButtons } from "../parts/choices.js";
import { flameCanvas } from "./canvas.js";
import { flameTable } from "./table.js";
import { flamePath } from "./words.js";
import { stackNeighbour } from "../data/stacks_layout.js";
import { stackMatcher, stackPath, stackSearch } from "../data/stacks.js";

/** @typedef {{name: string, title: string, texts: string[], kinds: number[]}} FlameStacks */

/**
 * Classes on it add what they show beside the picture, and call open().
 * @template {FlameStacks} S
 */
export class FlameViewer {
  /**
   * @param {S} stacks
   * @param {import("../data/source.js").Page} page
   * @param {import("../data/stacks.js").StackModel} model
   * @param {string} about the picture, for people who hear the page
   * @param {HTMLElement} heading of the table
   */
  constructor(stacks, page, model, about, heading) {
    this.stacks = stacks;
    this.page = page;
    this.model = model;
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
    this.resetButton = h("button", { type: "button", onclick: () => this.zoom(0) }, "Reset zoom");
    this.path = h("nav", { class: "flame-path", "aria-label": "Frames around the zoomed one" });
    this.details = h("p", { class: "flame-details", role: "status" });
    this.tip = h("div", { class: "flame-tip is-hidden", "aria-hidden": true });
    this.canvas = flameCanvas(about, {
      click: (frame, isShift) => this.click(frame, isShift),
      hover: (frame, x, y) => this.hover(frame, x, y),
      key: (event) => this.key(event),
    });
    this.table = flameTable(heading, stacks.texts, (frame) => {
      this.select(frame);
      this.canvas.element.scrollIntoView({ block: "nearest" });
    });
    this.element = h("div", { class: "flame-graph",
                              onkeydown: (/** @type {KeyboardEvent} */ event) => this.outerKey(event) });
  }

  /**
   * Shows what the address has.
   * @param {...Node} content of the element
   */
  open(...content) {
    const { page } = this;
    this.element.append(...content);
    this.zoomed = this.frameOf(page.get("zoom"));
    this.selected = this.frameOf(page.get("frame")) || this.zoomed;
    this.search.value = this.pattern = page.get("search") ?? "";
    this.find();
    this.show();
  }

  // ---- what a class on it says of its frames

  /**
   * @param {number} frame
   * @returns {string}
   */
  nameOf(frame) {
    return frame === 0 ? "all" : this.stacks.texts[this.model.text[frame]];
  }

  /**
   * @param {number} _frame
   * @returns {string[]} lines
   */
  linesOf(_frame) {
    return [];
  }

  /**
   * @param {number} _frame
   * @returns {string} with all digits
   */
  exactOf(_frame) {
    return "";
  }

  /** @returns {string} what to do, while no frame is selected */
  hint() {
    return "";
  }

  /**
   * @param {{matches: Uint8Array, weight: number}} _found
   * @returns {string} after the count of the matches
   */
  foundWords(_found) {
    return "";
  }

  /** @returns {{rootName: string, isUp: boolean, sides?: import("./canvas.js").FlameSides}} */
  look() {
    return { rootName: "", isUp: false };
  }

  /** @returns {[string, string|null][]} what else the address has */
  values() {
    return [];
  }

  /** @returns {import("./table.js").FlameRows} of the table */
  rows() {
    return { about: "", texts: [], numbers: [], rows: [], most: 0, cells: () => [] };
  }

  // ---- state and address

  // Frames are in the address by their numbers in the file, which the order does not change.
  /** @param {string|null} origin */
  frameOf(origin) {
    const number = Number(origin ?? 0);
    return Number.isInteger(number) && number > 0 && number < this.model.size
      ? this.model.place[number] : 0;
  }

  /** @param {boolean} push */
  write(push) {
    const { page, model, zoomed, selected } = this;
    const number = (/** @type {number} */ frame) => (frame > 0 ? String(model.origin[frame]) : null);
    // Only the first change is a new entry for the back button; the others belong to it.
    let isStep = push;
    for (const [key, value] of [...this.values(), /** @type {const} */ (["zoom", number(zoomed)]),
      /** @type {const} */ (["frame", selected === zoomed ? null : number(selected)]),
      /** @type {const} */ (["search", this.pattern || null])]) {
      if (page.get(key) === value) continue;
      page.set(key, value, isStep);
      isStep = false;
    }
  }

  find() {
    this.matches = null;
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
    this.matched.textContent = found.count === 0 ? "No frame matches."
      : countOf(found.count, "match", "matches") + this.foundWords(found);
    return found.count;
  }

  // ---- actions

  /**
   * @param {number} frame
   * @param {boolean} _isShift
   */
  click(frame, _isShift) {
    this.selected = frame;
    this.zoom(frame);
  }

  /** @param {number} frame */
  zoom(frame) {
    if (this.selected < frame || this.selected >= this.model.end[frame]) this.selected = frame;
    const isNew = frame !== this.zoomed;
    this.zoomed = frame;
    // A page that gets shorter scrolls what is below the pointer away, before the second press of a double click.
    setVariable(this.element, "min-height", frame === 0 ? 0 : `${this.element.offsetHeight}px`);
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
    this.change(this.zoomed, this.selected, false);
  }

  /**
   * Frames, their order or the search are others.
   * @param {number} zoomed
   * @param {number} selected
   * @param {boolean} push
   */
  change(zoomed, selected, push) {
    this.zoomed = zoomed;
    this.selected = selected;
    this.find();
    this.show();
    this.write(push);
  }

  /**
   * What Esc does.
   * @param {boolean} isTyping in the search
   * @returns {boolean} whether there was anything to go back from
   */
  goBack(isTyping) {
    if (isTyping && this.pattern !== "") {
      this.search.value = "";
      this.setSearch("");
    } else if (this.zoomed !== 0) {
      this.zoom(0);
    } else {
      return false;
    }
    return true;
  }

  // ---- what people see

  show() {
    const { model, zoomed, selected, stacks, matches } = this;
    const focused = this.element.contains(document.activeElement);
    this.canvas.show({ model, texts: stacks.texts, kinds: stacks.kinds, zoomed, selected, matches,
                       ...this.look() });
    const hint = selected === 0 ? this.hint() : "";
    this.details.replaceChildren(...(hint !== "" ? [hint] : [h("b", null, this.nameOf(selected)), " ",
      h("span", { class: "quiet", title: this.exactOf(selected) }, this.linesOf(selected).join(". "))]));
    this.details.classList.toggle("quiet", hint !== "");
    disable(this.resetButton, zoomed === 0);
    this.path.replaceChildren(...this.pathParts());
    // The end of the path says most. Before the first frame nothing has a width yet.
    requestAnimationFrame(() => { this.path.scrollLeft = this.path.scrollWidth; });
    this.table.show(model, zoomed, selected, () => this.rows());
    // Keys go on in the picture if what was pressed is gone, such as a frame of the path.
    if (focused && !this.element.contains(document.activeElement)) this.canvas.focus();
  }

  /** @returns {HTMLElement[]} */
  pathParts() {
    return flamePath(this.model, this.zoomed, (frame) => this.nameOf(frame), (frame) => this.zoom(frame));
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
      h("div", { class: "quiet" }, this.exactOf(frame)));
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
    if (key === (this.look().isUp ? "ArrowDown" : "ArrowUp")) return model.parent[selected];
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

  /**
   * @param {string} key that the graph does not know
   * @returns {boolean} whether a class on it does
   */
  otherKey(key) {
    if (key !== "/") return false;
    this.search.focus();
    this.search.select();
    return true;
  }

  /** @param {KeyboardEvent} event */
  outerKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = event.target === this.search;
    if (event.key === "Escape" ? !this.goBack(isTyping) : isTyping || !this.otherKey(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/**
 * Graphs of which one is shown; its name is in the address.
 * @template {FlameStacks} S
 * @template {HTMLElement} E
 * @param {S[]} all
 * @param {string | null | undefined} first the name of the one that is shown at first
 * @param {import("../data/source.js").Page} page
 * @param {(stacks: S) => E} make
 * @returns {{element: HTMLElement, choose: (stacks: S) => void, shown: () => S}}
 */
export function flameChoices(all, first, page, make) {
  const name = page.get("stack") ?? first;
  let shown = all.find((stacks) => stacks.name === name) ?? all[0];
  const body = h("div", { class: "flame-body" }, make(shown));
  const choices = choiceButtons("What to show", all.map((stacks) => [stacks.name, stacks.title]), shown.name, (chosen) => {
    for (const key of ["zoom", "frame", "callers", "search"]) page.set(key, null);
    page.set("stack", chosen, true);
    shown = all.find((stacks) => stacks.name === chosen) ?? shown;
    body.replaceChildren(make(shown));
  });
  return {
    element: h("div", { class: "flame" }, all.length > 1 ? choices : null, body),
    choose: (stacks) => /** @type {HTMLElement} */ (choices.children[all.indexOf(stacks)]).click(),
    shown: () => shown,
  };
}
