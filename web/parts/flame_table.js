// The frames of a flame graph as a table: a canvas says nothing to a screen reader.
import { h } from "./dom.js";
import { exactValue, formatValue } from "./format.js";
import { stackFunctions, stackKindNames, stackKinds } from "../data/stacks.js";

/** More rows are not shown; the search finds the others. */
const flameTableMost = 200;

/**
 * @typedef {object} FlameTable
 * @property {HTMLElement} element
 * @property {(model: import("../data/stacks.js").StackModel, zoomed: number, selected: number,
 *             isCallers: boolean) => void} show
 */

/**
 * @param {import("../data/source.js").Stacks} stacks
 * @param {(frame: number) => void} onSelect
 * @returns {FlameTable}
 */
export function flameTable(stacks, onSelect) {
  const head = h("tr", null);
  const body = h("tbody", null);
  const note = h("span", { class: "quiet" });
  const element = h("section", { class: "section flame-table" },
    h("h2", null, "Frames in sight", note),
    h("div", { class: "wide-scroll" }, h("table", { class: "small-table" },
      h("thead", null, head), body)));
  /** @type {import("../data/stacks.js").StackModel|null} */
  let shown = null;
  let top = -1;
  /** @type {HTMLElement[]} by row */
  let buttons = [];
  /** @type {number[]} by row, its text */
  let texts = [];

  /**
   * @param {import("../data/stacks.js").StackModel} model
   * @param {number} zoomed
   * @param {boolean} isCallers
   */
  function fill(model, zoomed, isCallers) {
    const all = stackFunctions(model, zoomed);
    if (isCallers) all.sort((a, b) => b.total - a.total || a.text - b.text);
    const rows = all.slice(0, flameTableMost);
    const whole = model.total[0];
    texts = rows.map((row) => row.text);
    buttons = rows.map((row) => h("button", {
      type: "button", class: "link flame-name", title: stacks.texts[row.text],
      onclick: () => onSelect(row.frame),
    }, stacks.texts[row.text]));
    const order = isCallers ? "by total; shares of all its calls"
      : stacks.unit === "ns" ? "by self time" : "by self memory";
    note.textContent = order + (rows.length < all.length
      ? `, the first ${formatValue(rows.length)} of ${formatValue(all.length)}` : "");
    /** @param {number} value */
    const number = (value) =>
      h("td", { class: "number", title: exactValue(value, stacks.unit) },
        formatValue(value, stacks.unit));
    /** @param {number} value */
    const share = (value) =>
      h("td", { class: "number" }, whole > 0 ? formatValue(value / whole, "share") : "");
    head.replaceChildren(...["Frame", "Kind"].map((name) => h("th", { scope: "col" }, name)),
      ...(isCallers ? ["Total", "Share", "Places"] : ["Self", "Share", "Total", "Share", "Places"])
        .map((name) => h("th", { scope: "col", class: "number" }, name)));
    body.replaceChildren(...rows.map((row, which) => {
      const kind = stacks.kinds[row.text] ?? 6;
      return h("tr", null, h("td", { class: "name" }, buttons[which]),
        h("td", { class: "flame-kind" },
          h("span", { class: "swatch flame-swatch-" + stackKinds[kind], "aria-hidden": true }),
          stackKindNames[kind]),
        isCallers ? null : [number(row.self), share(row.self)],
        number(row.total), share(row.total),
        h("td", { class: "number" }, formatValue(row.places)));
    }));
  }

  return {
    element,
    show(model, zoomed, selected, isCallers) {
      if (model !== shown || zoomed !== top) fill(model, zoomed, isCallers);
      shown = model;
      top = zoomed;
      buttons.forEach((button, which) => {
        const isSelected = selected > 0 && texts[which] === model.text[selected];
        if (isSelected) button.setAttribute("aria-current", "true");
        else button.removeAttribute("aria-current");
      });
    },
  };
}
