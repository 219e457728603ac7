// A short table without search or order, with bars that show shares.
import { h, setVariable } from "./dom.js";
import { formatValue, exactValue } from "./format.js";

/**
 * @typedef {object} SmallColumn
 * @property {string} label
 * @property {(record: {[key: string]: any}) => import("./dom.js").Children | unknown} value
 *   a number with `unit`, or what the cell has
 * @property {string} [unit] of numbers: they are formatted, on the right
 * @property {number} [bar] the number that is a full bar; without it there are no bars
 */

/**
 * @param {{[key: string]: any}[]} records
 * @param {SmallColumn[]} columns
 * @param {string} label for people who hear the page
 * @param {string} [name] a class more
 * @returns {HTMLElement}
 */
export function smallTable(records, columns, label, name = "") {
  return h("div", { class: "wide-scroll" }, h("table", {
    class: `small-table ${name}`, "aria-label": label,
  },
    h("thead", null, h("tr", null, columns.map((column) =>
      h("th", { scope: "col", class: column.unit === undefined ? null : "number" },
        column.label)))),
    h("tbody", null, records.map((record) => h("tr", null, columns.map((column) => {
      const value = column.value(record);
      if (column.unit === undefined) {
        return h("td", { class: "name" }, /** @type {import("./dom.js").Children} */ (value));
      }
      return h("td", { class: "number", title: exactValue(value, column.unit) },
        formatValue(value, column.unit),
        column.bar ? meter(Number(value ?? 0) / column.bar) : null);
    }))))));
}

/**
 * A thin bar.
 * @param {number} share 0 to 1
 * @returns {HTMLElement}
 */
export function meter(share) {
  const fill = h("span");
  setVariable(fill, "--bar", `${(Math.max(0, Math.min(share || 0, 1)) * 100).toFixed(1)}%`);
  return h("span", { class: "meter", "aria-hidden": true }, fill);
}
