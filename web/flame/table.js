// The frames of a flame graph as a table: a canvas says nothing to a screen reader.
import { h } from "../parts/dom.js";
import { formatValue } from "../parts/format.js";

/**
 * @typedef {object} FlameRows
 * @property {string} about the rows, such as their order
 * @property {string[]} texts columns of text after the frame's name
 * @property {string[]} numbers columns of numbers after these
 * @property {any[]} rows with `text` and `frame`
 * @property {number} most more rows are not shown; the search finds the others
 * @property {(row: any) => import("../parts/dom.js").Child[]} cells after the frame's name
 */

/**
 * @typedef {object} FlameTable
 * @property {HTMLElement} element
 * @property {(model: import("../data/stacks.js").StackModel, zoomed: number, selected: number,
 *             rows: () => FlameRows) => void} show
 */

/**
 * @param {HTMLElement} heading
 * @param {string[]} names by text
 * @param {(frame: number) => void} onSelect
 * @returns {FlameTable}
 */
export function flameTable(heading, names, onSelect) {
  const head = h("tr", null);
  const body = h("tbody", null);
  const note = h("span", { class: "quiet" });
  heading.append(note);
  /** @type {import("../data/stacks.js").StackModel|null} */
  let shown = null;
  let top = -1;
  /** @type {Map<HTMLElement, number>} their texts */
  let buttons = new Map();

  /** @param {FlameRows} all */
  function fill({ about, texts, numbers, rows, most, cells }) {
    note.textContent = [about, rows.length > most
      ? `the first ${formatValue(most)} of ${formatValue(rows.length)}` : ""].filter(Boolean).join(", ");
    head.replaceChildren(...["Frame", ...texts].map((name) => h("th", { scope: "col" }, name)),
      ...numbers.map((name) => h("th", { scope: "col", class: "number" }, name)));
    // Keys go on at the same frame.
    const focused = [...buttons].find(([button]) => button === document.activeElement)?.[1];
    buttons = new Map();
    body.replaceChildren(...rows.slice(0, most).map((row) => {
      const button = h("button", {
        type: "button", class: "link flame-name", title: names[row.text], onclick: () => onSelect(row.frame),
      }, names[row.text]);
      buttons.set(button, row.text);
      return h("tr", null, h("td", { class: "name" }, button), cells(row));
    }));
    for (const [button, text] of buttons) if (text === focused) button.focus({ preventScroll: true });
  }

  return {
    element: h("section", { class: "section flame-table" }, heading, h("div", { class: "wide-scroll" },
      h("table", { class: "small-table" }, h("thead", null, head), body))),
    show(model, zoomed, selected, rows) {
      if (model !== shown || zoomed !== top) fill(rows());
      shown = model;
      top = zoomed;
      for (const [button, text] of buttons) {
        if (selected > 0 && text === model.text[selected]) button.setAttribute("aria-current", "true");
        else button.removeAttribute("aria-current");
      }
    },
  };
}
