// The view of a model: each figure in its unit, with how it is known.
import { formatValue, labelOf, unitOf } from "../parts/format.js";
import { tablesOf } from "../parts/sections.js";
import { cellOf, columnOf } from "../data/table.js";

/** Units that are not at the end of a figure's name. */
const modelUnits = /** @type {{[figure: string]: string}} */ ({ mfu: "share", hfu: "share" });

/**
 * A figure for people: `25.6 M`, `4.09 GMAC`, `12.3 ms`.
 * @param {string} figure its name, which ends in its unit
 * @param {unknown} value
 * @returns {string}
 */
export function modelFigure(figure, value) {
  const unit = modelUnits[figure] ?? unitOf(figure);
  const counted = /(macs|flops|parameters)(_per_s)?$/.exec(figure);
  if (value === null || !counted) return formatValue(value, unit);
  const name = { macs: "MAC", flops: "FLOP", parameters: "" }[counted[1]] + (counted[2] ? "/s" : "");
  return formatValue(Number(value), "per_s").replace("/s", name).trim();
}

/** @param {string} figure */
export function modelLabel(figure) {
  const what = figure === "model_bytes" ? " size" : figure.endsWith("_bytes") ? " memory" : "";
  return labelOf(figure) + what;
}

/**
 * @param {import("../data/source.js").Table} table
 * @returns {import("../parts/grid_cell.js").GridDress}
 */
function modelDress(table) {
  const figure = columnOf(table, "figure");
  return (column, row) => {
    if (figure === null) return null;
    const name = String(cellOf(figure, row) ?? ""), value = cellOf(column, row);
    switch (column.key) {
      case "figure": return { text: modelLabel(name) };
      case "value": return { text: modelFigure(name, value) };
      case "how": return { text: String(value).replaceAll("_", " ") };
      default: return null;
    }
  };
}

/**
 * @param {import("../data/source.js").View} view
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement}
 */
export function renderModel(view, page) {
  // A phone has room for two columns; the notes of the table are those of its rows.
  const tables = view.tables.map((table) => columnOf(table, "note") === null ? table : {
    ...table, notes: [], shown: ["figure", "value", "how", "device_name", "rank", "note"] });
  return tablesOf({ ...view, tables }, page, { under: "note", dress: modelDress });
}
