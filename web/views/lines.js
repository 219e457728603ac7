// The view of lines: the text of each line, if the report has it.
import { tablesOf } from "../parts/sections.js";
import { cellOf, columnOf } from "../data/table.js";

/**
 * A phone has no room for folders: the file's name has the line with it.
 * @param {import("../data/source.js").Table} table
 * @returns {import("../parts/grid_cell.js").GridDress}
 */
function lineDress(table) {
  const line = columnOf(table, "line");
  return (column, row) => {
    const file = column.key === "file" && innerWidth < 760 ? cellOf(column, row) : null;
    const number = line ? cellOf(line, row) : null;
    return file === null ? null : {
      text: String(file).replace(/^.*[\\/]/, "") + (number === null ? "" : `:${number}`),
    };
  };
}

/**
 * @param {import("../data/source.js").View} view
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement}
 */
export function renderLines(view, page) {
  const shown = innerWidth < 760 ? { ...view, tables: view.tables.map((table) => ({
    ...table, shown: table.shown.filter((key) => key !== "line") })) } : view;
  return tablesOf(shown, page, { under: "source", dress: lineDress });
}
