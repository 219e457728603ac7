// The view of stacks: a flame graph with callers and two orders, and the same as a table.
import { disable, h } from "../parts/dom.js";
import { exactValue, formatValue } from "../parts/format.js";
import { FlameViewer, flameChoices } from "../flame/viewer.js";
import { flameLegend, flameNotes, flameNumbers, flameShare } from "../flame/words.js";
import { emptyBox } from "../parts/empty.js";
import { stackCallers } from "../data/stacks_callers.js";
import { stackFunctions, stackKindNames, stackKinds, stackModel } from "../data/stacks.js";

/**
 * @param {import("../data/source.js").View} view
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement}
 */
export function renderFlameGraph(view, page) {
  const filled = view.stacks.find((stacks) => stacks.total > 0) ?? view.stacks[0];
  if (filled === undefined) return emptyBox("There are no stacks in this view.");
  return flameChoices(view.stacks, filled.name, page, (stacks) => stacks.self.length < 2
    ? emptyBox(stacks.empty ?? "The trace has nothing to draw here.")
    : new FlameGraph(stacks, page).element).element;
}

/** @extends {FlameViewer<import("../data/source.js").Stacks>} */
class FlameGraph extends FlameViewer {
  /**
   * @param {import("../data/source.js").Stacks} stacks
   * @param {import("../data/source.js").Page} page
   */
  constructor(stacks, page) {
    const whole = stackModel(stacks, "weight");
    super(stacks, page, whole, "Flame graph of " + stacks.title +
      ": arrow keys move, Enter zooms. The table below has the same frames.",
      h("h2", null, "Visible frames"));
    /** @type {"weight"|"name"} */
    this.order = page.get("order") === "name" ? "name" : "weight";
    this.isUp = page.get("root") === "bottom";
    /** The whole tree, heaviest first: callers are made from it. */
    this.whole = whole;
    // The text whose callers are shown; -1: none.
    const callers = Number(page.get("callers") ?? NaN);
    this.callers = callers >= 0 && callers < stacks.texts.length ? callers : -1;
    this.cut = 0;
    this.callersButton = h("button", { type: "button", onclick: () => this.toggleCallers() });
    this.rootButton = h("button", { type: "button", onclick: () => this.turn() });
    this.orderButton = h("button", { type: "button", onclick: () => this.setOrder() });
    this.notes = h("p", { class: "quiet flame-notes" });
    this.makeModel();
    this.open(h("div", { class: "flame-tools" }, this.search, this.matched, this.callersButton,
        this.resetButton, h("span", { class: "flame-space-between" }), this.orderButton,
        this.rootButton),
      this.path, this.canvas.element, this.details, flameLegend(stacks), this.notes, this.tip,
      this.table.element);
  }

  /** @override @returns {[string, string|null][]} */
  values() {
    return [["callers", this.callers < 0 ? null : String(this.callers)], ["stack", this.stacks.name],
            ["root", this.isUp ? "bottom" : null], ["order", this.order === "name" ? "name" : null]];
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

  /** @override */
  foundWords(/** @type {{weight: number}} */ { weight }) {
    return `, ${formatValue(weight, this.stacks.unit)}, ${flameShare(weight, this.model.total[0])}`;
  }

  // ---- actions

  /** @override */
  click(/** @type {number} */ frame, /** @type {boolean} */ isShift) {
    if (isShift) this.showCallers(this.model.text[frame]);
    else super.click(frame, isShift);
  }

  toggleCallers() {
    if (this.callers >= 0) this.showCallers(-1);
    else if (this.selected > 0) this.showCallers(this.model.text[this.selected]);
  }

  /** @param {number} text */
  showCallers(text) {
    if (text === this.callers || text === this.stacks.frame[0]) return;
    const before = this.callers;
    this.callers = text;
    this.makeModel();
    const { model } = this;
    let selected = 0;
    if (text < 0) {
      // Back in the whole tree the function is still selected, where it costs most.
      for (let frame = 1; frame < model.size; ++frame) {
        if (model.text[frame] !== before) continue;
        if (selected === 0 || model.total[frame] > model.total[selected]) selected = frame;
      }
    }
    this.change(0, selected, true);
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
    this.change(this.model.place[zoomed], this.model.place[selected], false);
  }

  /** @override */
  goBack(/** @type {boolean} */ isTyping) {
    if (super.goBack(isTyping)) return true;
    const hasCallers = this.callers >= 0;
    if (hasCallers) this.showCallers(-1);
    return hasCallers;
  }

  /** @override */
  otherKey(/** @type {string} */ key) {
    if (key !== "c" || this.selected === 0) return super.otherKey(key);
    this.toggleCallers();
    return true;
  }

  // ---- what people see

  /** @override */
  nameOf(/** @type {number} */ frame) {
    return frame === 0 && this.callers >= 0 ? this.stacks.texts[this.callers] : super.nameOf(frame);
  }

  /** @override */
  linesOf(/** @type {number} */ frame) {
    return [flameNumbers(this.model, frame, this.whole.total[0], this.stacks.unit, this.callers >= 0)];
  }

  /** @override */
  exactOf(/** @type {number} */ frame) {
    return exactValue(this.model.total[frame], this.stacks.unit);
  }

  /** @override */
  hint() {
    return this.callers >= 0 ? "" : "Click a frame to zoom in, Shift+click for its callers. " +
      "Keys: arrows move, Enter zooms, Esc goes back, c shows callers, / searches.";
  }

  /** @override */
  look() {
    return { rootName: this.callers < 0 ? "all: " + formatValue(this.model.total[0], this.stacks.unit) : "",
             isUp: this.isUp };
  }

  /** @override */
  show() {
    super.show();
    this.callersButton.textContent = this.callers >= 0 ? "Back to all frames" : "Callers";
    this.callersButton.title = this.callers >= 0 ? "" : "What called the selected frame (c)";
    disable(this.callersButton, this.callers < 0 && this.selected === 0);
    this.rootButton.textContent = this.isUp ? "Root on top" : "Root at the bottom";
    this.orderButton.textContent = this.order === "name" ? "Sort by weight" : "Sort by name";
    this.notes.textContent = flameNotes(this.stacks, this.cut);
  }

  /** @override */
  pathParts() {
    const parts = super.pathParts();
    if (this.callers >= 0) parts.unshift(h("span", { class: "quiet" }, "Callers of"));
    return parts;
  }

  /** @override */
  rows() {
    const { model, stacks: { unit, kinds } } = this;
    const isCallers = this.callers >= 0;
    const rows = stackFunctions(model, this.zoomed);
    if (isCallers) rows.sort((a, b) => b.total - a.total || a.text - b.text);
    const numbers = (/** @type {number} */ value) => [
      h("td", { class: "number", title: exactValue(value, unit) }, formatValue(value, unit)),
      h("td", { class: "number" }, model.total[0] > 0 ? flameShare(value, model.total[0]) : "")];
    return {
      about: isCallers ? "by total; shares of all its calls" : unit === "ns" ? "by self time" : "by self memory",
      texts: ["Kind"], rows, most: 200,
      numbers: [...(isCallers ? [] : ["Self", "Share"]), "Total", "Share", "Places"],
      cells: (/** @type {import("../data/stacks.js").StackFunction} */ { text, self, total, places }) => [
        h("td", { class: "flame-kind" },
          h("span", { class: "swatch flame-swatch-" + stackKinds[kinds[text] ?? 6], "aria-hidden": true }),
          stackKindNames[kinds[text] ?? 6]),
        ...(isCallers ? [] : numbers(self)), ...numbers(total),
        h("td", { class: "number" }, formatValue(places))],
    };
  }
}
