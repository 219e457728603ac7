// A table of a view without any drawing: order, search, tree.

/** @typedef {import("./source.js").Table} Table */
/** @typedef {import("./source.js").Column} Column */

/**
 * @param {Table} table
 * @param {string} key
 * @returns {Column | null}
 */
export function columnOf(table, key) {
  return table.columns.find((column) => column.key === key) ?? null;
}

/**
 * @param {Column} column
 * @returns {boolean} whether its cells are numbers
 */
export function isNumeric(column) {
  return column.type === "number" || column.type === "integer";
}

/**
 * The value of a cell: a number, decimal text, true or false, a text, or null.
 * @param {Column} column
 * @param {number} row
 * @returns {number | string | boolean | null}
 */
export function cellOf(column, row) {
  const value = column.values[row];
  if (value === null || value === undefined) return null;
  return column.texts ? column.texts[value] ?? null : value;
}

/**
 * A table with one row as an object, for small tables: texts whole, `json` parsed.
 * @param {Table} table
 * @param {number} row
 * @returns {{[key: string]: any}}
 */
export function recordOf(table, row) {
  /** @type {{[key: string]: any}} */
  const record = {};
  for (const column of table.columns) {
    const value = cellOf(column, row);
    record[column.key] = column.type === "json" && typeof value === "string"
      ? parsedJson(value) : value;
  }
  return record;
}

/**
 * @param {string} text
 * @returns {any} the text itself if it was cut
 */
function parsedJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * @param {Table} table
 * @returns {{[key: string]: any}[]}
 */
export function recordsOf(table) {
  return Array.from({ length: table.rows }, (_, row) => recordOf(table, row));
}

/**
 * @param {Column} column
 * @returns {boolean} whether any row has a value; empty texts are none
 */
export function hasValues(column) {
  const texts = column.texts;
  return column.values.some((value) => value !== null && value !== undefined &&
    (texts === undefined || texts[value] !== ""));
}

/**
 * Compares whole numbers as decimal text: by sign, then by length, then by digits. This is three
 * times as fast as with BigInt.
 * @param {string} a
 * @param {string} b
 * @returns {number}
 */
function compareDigits(a, b) {
  const negative = a.startsWith("-");
  if (negative !== b.startsWith("-")) return negative ? -1 : 1;
  const larger = a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
  return negative ? -larger : larger;
}

/**
 * Numbers in the order of a column's values; NaN without a value.
 * @param {Column} column
 * @returns {Float64Array}
 */
function sortKeys(column) {
  const keys = new Float64Array(column.values.length);
  /** @type {Map<string, number> | null} */
  let places = null;
  if (column.type === "integer") {
    // Beyond 2^53 doubles would make different numbers equal: the place in the order decides.
    const whole = [...new Set(column.values.filter((value) => value !== null))]
      .sort(compareDigits);
    places = new Map(whole.map((text, place) => [text, place]));
  }
  for (let row = 0; row < keys.length; row++) {
    const value = column.values[row];
    if (value === null || value === undefined) keys[row] = NaN;
    else keys[row] = places ? places.get(value) ?? NaN : Number(value);
  }
  return keys;
}

/**
 * Row numbers in the order of a column. Rows without a value come last both ways; equal rows
 * stay in the table's own order.
 * @param {Table} table
 * @param {string} key
 * @param {boolean} descending
 * @param {ArrayLike<number>} [among] the rows to sort, in the table's order; all without it
 * @returns {Uint32Array}
 */
export function sortedRows(table, key, descending, among) {
  const rows = among ? Uint32Array.from(among) : allRows(table);
  const column = columnOf(table, key);
  if (!column) return rows;
  const keys = sortKeys(column);
  const filled = rows.filter((row) => !Number.isNaN(keys[row]));
  const missing = rows.filter((row) => Number.isNaN(keys[row]));
  if (descending) filled.sort((a, b) => keys[b] - keys[a] || a - b);
  else filled.sort((a, b) => keys[a] - keys[b] || a - b);
  rows.set(filled);
  rows.set(missing, filled.length);
  return rows;
}

/**
 * @param {Table} table
 * @returns {Uint32Array}
 */
export function allRows(table) {
  const rows = new Uint32Array(table.rows);
  for (let row = 0; row < rows.length; row++) rows[row] = row;
  return rows;
}

/** Lower-case texts of columns that were searched already. @type {WeakMap<Column, string[]>} */
const loweredTexts = new WeakMap();

/**
 * Rows with a text that contains the query; case does not matter. Numbers are not searched.
 * @param {Table} table
 * @param {string} query
 * @returns {Uint32Array} in the table's order
 */
export function matchingRows(table, query) {
  const wanted = query.trim().toLowerCase();
  if (wanted === "") return allRows(table);
  const found = new Uint8Array(table.rows);
  for (const column of table.columns) {
    if (!column.texts) continue;
    let lowered = loweredTexts.get(column);
    if (!lowered) {
      lowered = column.texts.map((text) => text.toLowerCase());
      loweredTexts.set(column, lowered);
    }
    const matches = new Uint8Array(lowered.length);
    let any = false;
    for (let text = 0; text < lowered.length; text++) {
      if (!lowered[text].includes(wanted)) continue;
      matches[text] = 1;
      any = true;
    }
    if (!any) continue;
    const values = column.values;
    for (let row = 0; row < found.length; row++) {
      if (matches[values[row]] === 1) found[row] = 1;
    }
  }
  return allRows(table).filter((row) => found[row] === 1);
}

/** The rows of a tree that are in sight, and what they have inside. */
export class TreeModel {
  /** @param {Table} table with a `tree` */
  constructor(table) {
    const depth = table.tree ? columnOf(table, table.tree.depth) : null;
    /** Level of each row, from 0. @type {Uint16Array} */
    this.depths = new Uint16Array(table.rows);
    for (let row = 0; row < table.rows; row++) {
      this.depths[row] = Number(depth?.values[row] ?? 0);
    }
    /** Rows whose inner rows are hidden. @type {Set<number>} */
    this.collapsed = new Set();
  }

  /**
   * @param {number} row
   * @returns {boolean}
   */
  hasInner(row) {
    return row + 1 < this.depths.length && this.depths[row + 1] > this.depths[row];
  }

  /**
   * @param {number} row
   * @param {boolean} open
   * @returns {boolean} whether anything changed
   */
  setOpen(row, open) {
    if (!this.hasInner(row) || this.collapsed.has(row) !== open) return false;
    if (open) this.collapsed.delete(row);
    else this.collapsed.add(row);
    return true;
  }

  /**
   * Collapses all rows from a level on, opens the others.
   * @param {number} level
   * @returns {void}
   */
  collapseFrom(level) {
    this.collapsed.clear();
    for (let row = 0; row < this.depths.length; row++) {
      if (this.depths[row] >= level && this.hasInner(row)) this.collapsed.add(row);
    }
  }

  /** @returns {Uint32Array} the rows in sight, in the table's order */
  rows() {
    const rows = new Uint32Array(this.depths.length);
    let count = 0;
    let hiddenBelow = -1;
    for (let row = 0; row < this.depths.length; row++) {
      if (hiddenBelow >= 0 && this.depths[row] > hiddenBelow) continue;
      hiddenBelow = this.collapsed.has(row) ? this.depths[row] : -1;
      rows[count++] = row;
    }
    return rows.slice(0, count);
  }

  /**
   * @param {number} row
   * @returns {number} the row around it; -1 of an outermost one
   */
  parent(row) {
    for (let other = row - 1; other >= 0; other--) {
      if (this.depths[other] < this.depths[row]) return other;
    }
    return -1;
  }
}
