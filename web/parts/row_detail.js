// One row of a table with all its values in full.
import { h, copyAndSay } from "./dom.js";
import { formatValue, exactValue, labelOf, formatJson, framesOf, meaningParts } from "./format.js";
import { nameLink, viewOfName } from "./name_link.js";
import { timelineLink, timelineTarget } from "./timeline_link.js";
import { cellOf, isNumeric } from "../data/table.js";

/**
 * @param {import("../data/source.js").Table} table
 * @param {number} row
 * @param {import("../data/source.js").Page} page
 * @param {() => void} close
 * @returns {HTMLElement}
 */
export function rowDetail(table, row, page, close) {
  const list = h("dl");
  /** @type {string[]} */
  const lines = [];
  for (const column of table.columns) {
    const value = cellOf(column, row);
    if (value === null || value === "") continue;
    const shown = isNumeric(column) ? formatValue(value, column.unit)
      : column.type === "json"
        ? column.key === "stack" && framesOf(String(value))?.join("\n") || formatJson(String(value))
        : column.type === "flag" ? formatValue(value) : String(value);
    lines.push(`${column.key}\t${value}`);
    // What is shown of smaller ones is exact, or has more digits than mean something.
    const twice = isNumeric(column) && column.unit !== "" && Number.isInteger(Number(value)) &&
      Math.abs(Number(value)) >= 1000;
    const long = shown.length > 40 ? " long" : "";
    const view = viewOfName(page, column.key, value);
    list.append(
      h("dt", { class: long, title: meaningParts(column).join("") || null }, labelOf(column.key)),
      h("dd", { class: (column.texts ? "code" : "") + long }, view ? nameLink(page, view, value, shown) : shown,
        twice ? h("small", null, exactValue(value, column.unit)) : null));
  }
  return h("aside", {
    class: "detail", "aria-label": "Details", tabindex: -1,
  }, h("header", null, h("h2", null, "Details"),
    timelineLink(page, timelineTarget(page.name, table, row), "In the timeline"),
    h("button", { type: "button", onclick: () =>
      copyAndSay(page, `${lines.join("\n")}\n`, "row is") }, "Copy"),
    h("button", { type: "button", class: "icon", "aria-label": "Close", title: "Close (Esc)",
                  onclick: close }, "\u00d7")), list);
}
