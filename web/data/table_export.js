// Rows of a table as text: for files and for the clipboard.
import { cellOf, columnOf } from "./table.js";

/** @typedef {import("./source.js").Table} ExportedTable */
/** @typedef {import("./source.js").Column} ExportedColumn */

/**
 * The text of a cell in a file. Spreadsheets run texts that begin like a formula, and names in
 * traces are not to be trusted: such texts get an apostrophe. Numbers stay numbers.
 * @param {ExportedColumn} column
 * @param {number} row
 * @returns {string}
 */
function exportedCell(column, row) {
  const value = cellOf(column, row);
  if (value === null) return "";
  if (column.texts && typeof value === "string" && /^[=+\-@\t\r]/.test(value)) return `'${value}`;
  return String(value);
}

/**
 * @param {ExportedTable} table
 * @param {ArrayLike<number>} rows
 * @param {string[]} keys of the columns, in this order
 * @param {(text: string) => string} written a cell as the format writes it
 * @param {string} between
 * @param {string} end of a line
 * @returns {string}
 */
function exportedLines(table, rows, keys, written, between, end) {
  const columns = keys.flatMap((key) => columnOf(table, key) ?? []);
  let text = columns.map((column) => written(column.key)).join(between) + end;
  for (let place = 0; place < rows.length; place++) {
    const row = rows[place];
    text += columns.map((column) => written(exportedCell(column, row))).join(between) + end;
  }
  return text;
}

/**
 * @param {string} text
 * @returns {string} as a shell reads it
 */
export function shellWord(text) {
  const word = text.startsWith("-") ? `./${text}` : text;
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * @param {...string} parts
 * @returns {string} a name for a file, with characters that every system allows
 */
export function fileName(...parts) {
  return parts.join("_").replace(/[^\w.-]+/g, "_").replace(/^[.-]+/, "");
}

/**
 * CSV as in RFC 4180, exact values, keys with their units in the first line.
 * @param {ExportedTable} table
 * @param {ArrayLike<number>} rows
 * @param {string[]} columns keys, in this order
 * @returns {string}
 */
export function toCsv(table, rows, columns) {
  return exportedLines(table, rows, columns, (text) =>
    /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text, ",", "\r\n");
}

/**
 * Text with tabs, which spreadsheets paste into cells.
 * @param {ExportedTable} table
 * @param {ArrayLike<number>} rows
 * @param {string[]} columns keys, in this order
 * @returns {string}
 */
export function toTsv(table, rows, columns) {
  return exportedLines(table, rows, columns, (text) => text.replace(/[\t\r\n]+/g, " "), "\t",
                       "\n");
}
