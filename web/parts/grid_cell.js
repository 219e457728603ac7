// What a grid draws, and its cells.
import { h, setVariable } from "./dom.js";
import { formatValue, exactValue, formatJson, framesOf } from "./format.js";
import { cellOf, isNumeric } from "../data/table.js";

/** @typedef {import("../data/source.js").Column} GridColumn */
/**
 * @typedef {object} GridModel what a grid draws
 * @property {GridColumn[]} columns in their order
 * @property {string[]} labels of the columns
 * @property {number[]} widths smallest widths of the columns, in pixels
 * @property {number[]} weights how much of the room that is left each column of texts gets
 * @property {ArrayLike<number>} rows row numbers, in their order
 * @property {string | null} sorted key of the column that orders the rows
 * @property {boolean} descending
 * @property {number} largest of the sorted column, for the bars; 0 without bars
 * @property {(row: number) => GridBranch | null} branch of a row in a tree, else null
 * @property {string | null} branchKey the column that is indented
 * @property {{[key: string]: any} | null} totals by column
 * @property {string} totalsLabel
 * @property {boolean} [fixed] the order is not the reader's to choose
 * @property {GridDress} [dress]
 * @property {GridColumn | null} [under] texts below the cells of a row
 */
/**
 * @typedef {object} GridBranch
 * @property {number} depth its indentation, in levels; not always whole
 * @property {number} [level] from 0, if the indentation is another one
 * @property {boolean} inner whether rows are below it
 * @property {boolean} open
 */
/**
 * What a cell has besides its value, or instead of it; null for nothing.
 * @typedef {(column: GridColumn, row: number) => {text?: string, before?: Node, after?: Node,
 *   instead?: Node, name?: string, room?: number} | null} GridDress
 *   name: a class; room: for what stands before, in pixels
 */

/**
 * A cell of a row.
 * @param {GridModel} model
 * @param {GridColumn} column
 * @param {number} place of the column, from 0
 * @param {number} row
 * @returns {HTMLElement}
 */
export function gridCell(model, column, place, row) {
  const value = cellOf(column, row);
  const numeric = isNumeric(column);
  let text = formatValue(column.texts ? value ?? "" : value, column.texts ? "" : column.unit);
  if (column.texts) text = value === null ? "" : String(value);
  const frames = column.key === "stack" ? framesOf(text) : null;
  if (column.type === "json") text = formatJson(text);
  const dress = model.dress ? model.dress(column, row) : null;
  const cell = h("div", {
    role: "gridcell", "aria-colindex": place + 1,
    class: `cell${dress?.name ? ` ${dress.name}` : ""}${numeric ? " number" : ""}${value === null ? " missing" : ""}`,
    title: frames ? frames.join("\n") : column.texts ? text : exactValue(value, column.unit),
  });
  if (column.key === model.branchKey) {
    const branch = model.branch(row);
    if (branch) {
      setVariable(cell, "--depth", branch.depth);
      cell.classList.add("branch");
      cell.append(h("span", {
        class: "twist", "aria-hidden": true, "data-twist": branch.inner,
      }, branch.inner ? (branch.open ? "\u25be" : "\u25b8") : ""));
    }
  }
  if (numeric && column.key === model.sorted && model.largest > 0 && value !== null) {
    const share = Number(value) / model.largest;
    if (share > 0) {
      cell.classList.add("barred");
      setVariable(cell, "--bar", `${(Math.min(share, 1) * 100).toFixed(2)}%`);
    }
  }
  if (dress?.text !== undefined) text = dress.text;
  if (dress?.before) cell.append(dress.before);
  if (dress?.instead) cell.append(dress.instead);
  else if (frames) {
    // Files without their folders, the innermost frame first.
    cell.append(h("span", { class: "whole" }, frames.map((frame) =>
      frame.replace(/^.*[\\/](?=[^\\/]+\(\d+\): )/, "")).join(" \u2190 ")));
  } else if (column.texts && (column.key === "file" || column.key === "line")) {
    cell.append(h("span", { class: "tail" }, h("bdi", null, text)));
  } else if (column.texts && text.length > 28) {
    // The end of a long name often is what tells it from others: the middle goes first.
    cell.append(h("span", { class: "start" }, text.slice(0, -10)),
                h("span", { class: "end" }, text.slice(-10)));
  } else {
    cell.append(h("span", { class: "whole" }, text));
  }
  if (dress?.after) cell.append(dress.after);
  return cell;
}

/**
 * A text below the cells of a row, as wide as the row.
 * @param {GridModel} model
 * @param {GridColumn} column
 * @param {number} row
 * @returns {HTMLElement}
 */
export function gridUnder(model, column, row) {
  const text = String(cellOf(column, row) ?? "").trim();
  return h("div", { role: "gridcell", class: "under", title: text,
                    "aria-colindex": model.columns.length + 1 }, h("code", null, text));
}

/**
 * The row of totals, with their name in the first column that has none.
 * @param {GridModel} model
 * @returns {HTMLElement}
 */
export function gridTotals(model) {
  let named = false;
  return h("div", { class: "row totals", role: "row", "aria-rowindex": model.rows.length + 2 },
    ...model.columns.map((column, i) => {
      const has = model.totals !== null && column.key in model.totals;
      let text = "";
      if (has) text = formatValue(model.totals?.[column.key], column.unit);
      else if (!named) {
        named = true;
        text = model.totalsLabel;
      }
      return h("div", {
        role: "gridcell", "aria-colindex": i + 1,
        class: `cell${isNumeric(column) ? " number" : ""}`,
        title: has ? exactValue(model.totals?.[column.key], column.unit) : null,
      }, text);
    }));
}
