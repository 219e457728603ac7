// Names that lead to their rows in other views: kernel, operator, module, line.
import { h } from "./dom.js";
import { columnOf } from "../data/table.js";

/** Columns that name a row; a table has the name in the first of them that does. */
const namingColumns = ["key", "name", "short_name", "path", "source_line", "operator"];
/** By column of any view: where its texts are rows. */
const namedViews = /** @type {{[column: string]: string}} */ ({
  operator: "operators", module: "modules", source_line: "lines", largest_operator: "operators",
});
/** Views whose modules are layers, in which repeated ones are one. */
const layerViews = ["summary", "kernels"];
const namedWords = /** @type {{[view: string]: string}} */ ({
  kernels: "kernels", operators: "operators", modules: "modules", lines: "lines", steps: "steps",
});

/**
 * @param {import("../data/source.js").Table} table
 * @param {string} name
 * @returns {number} the first row with that name; -1 without one
 */
export function rowNamed(table, name) {
  for (const key of namingColumns) {
    const column = columnOf(table, key);
    const text = column?.texts?.indexOf(name) ?? -1;
    const row = text < 0 ? -1 : column?.values.indexOf(text) ?? -1;
    if (row >= 0) return row;
  }
  return -1;
}

/**
 * The state of a view in which the row of a name is open.
 * @param {string} name
 * @param {string} [table] of the view; without it the first one
 * @returns {{[key: string]: string | null}}
 */
export function namedRow(name, table = "") {
  const scope = table === "" ? "" : `${table}.`;
  return { table: table || null, [`${scope}name`]: name, [`${scope}row`]: null,
           [`${scope}search`]: null };
}

/**
 * The view whose rows the texts of a column name.
 * @param {import("../data/source.js").Page} page
 * @param {string} column
 * @param {unknown} text
 * @returns {string | null} null: none, or it is the present one
 */
export function viewOfName(page, column, text) {
  const view = namedViews[column];
  // `[unknown]`, `[idle]` are not names.
  if (!view || view === page.name || typeof text !== "string" || /^$|^\[/.test(text)) return null;
  return page.has?.(view) ? view : null;
}

/**
 * A name as a link to its row.
 * @param {import("../data/source.js").Page} page
 * @param {string} view
 * @param {unknown} name
 * @param {import("./dom.js").Children} [text]
 * @returns {HTMLElement} only the text where the page does not have the view
 */
export function nameLink(page, view, name, text = String(name ?? "")) {
  const whole = String(name ?? "");
  if (!page.has?.(view) || /^$|^\[/.test(whole)) return h("span", { title: whole || null }, text);
  // The summary and kernels name layers, which are rows of a table of their own.
  const table = view === "modules" && (whole.includes("*") || layerViews.includes(page.name)) ? "layers" : "";
  return h("button", { type: "button", class: "link name-link",
                       title: `${whole}\nShow in ${namedWords[view]}`,
                       onclick: () => page.go(view, namedRow(whole, table)) }, text);
}
