// What the box above a table understands: texts, conditions on columns, groups. No drawing.
//
//   query     = { condition | text } [ "| by" column { "," column } [ ":" figure { "," figure } ] ]
//   condition = column ":" text  |  column (">" | ">=" | "<" | "<=" | "=" | "!=") value   ("-" before it: not)
//   value     = number [ unit ]  |  text, for columns of texts; "with spaces" in quotes
//   figure    = "count"  |  ("sum" | "mean" | "min" | "max" | "median" | "p" number) "(" column ")"
//
// A column is what its heading says, or its name, or the only one that begins so; spaces are `_`. What names no
// column is text: a text is in a row if any of its texts contains it.
import { labelOf, unitOf } from "../parts/format.js";
import { allRows, cellOf, columnOf, isNumeric, matchingRows } from "./table.js";

/** @typedef {import("./source.js").Table} QueryTable */
/** @typedef {import("./source.js").Column} QueryColumn */
/** @typedef {{column: QueryColumn, holds: (row: number) => boolean, isNot: boolean}} QueryCondition */
/** @typedef {{name: string, column: QueryColumn | null}} QueryFigure column: null for the count */
/**
 * @typedef {object} TableQuery
 * @property {string[]} texts
 * @property {QueryCondition[]} conditions
 * @property {{columns: QueryColumn[], figures: QueryFigure[]} | null} group
 * @property {string[]} hints what may have been meant by texts that no row has
 * @property {string[]} problems sentences; with any of them the query has no answer
 */

/** Factors of units, by what a column is measured in. */
const timeUnits = { ns: 1, us: 1e3, "\u00b5s": 1e3, "\u03bcs": 1e3, ms: 1e6, s: 1e9, min: 60e9 };
const byteUnits = { b: 1, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 };
const countUnits = { "": 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12, p: 1e15, "k/s": 1e3, "m/s": 1e6, "g/s": 1e9, "t/s": 1e12, "/s": 1 };
const unitsOf = /** @type {{[unit: string]: {[name: string]: number}}} */ ({
  ns: timeUnits, us: Object.fromEntries(Object.entries(timeUnits).map(([name, factor]) => [name, factor / 1e3])),
  bytes: byteUnits, percent: { "%": 1 }, share: { "%": 0.01 },
});

/** @param {string} text */
const plain = (text) => text.toLowerCase().replaceAll(/[^a-z0-9%]/g, "");

/**
 * The column that a text names.
 * @param {QueryTable} table
 * @param {string} text
 * @returns {QueryColumn | string | null} a text: why it is not clear; null: none
 */
function named(table, text) {
  const wanted = plain(text);
  if (wanted === "") return null;
  const by = (/** @type {(names: string[]) => boolean} */ is) => table.columns.filter(({ key }) => is([plain(key), plain(labelOf(key))]));
  const same = by((names) => names.includes(wanted));
  if (same.length > 0) return same.find(({ key }) => plain(key) === wanted) ?? same[0];
  const begin = wanted.length < 3 ? [] : by((names) => names.some((name) => name.startsWith(wanted)));
  if (begin.length < 2) return begin[0] ?? null;
  return `${text} may be ${begin.slice(0, 4).map(({ key }) => labelOf(key)).join(", ")}${begin.length > 4 ? " or another column" : ""}`;
}

/** @param {string} text */
const unquoted = (text) => text.replaceAll("\"", "");

/**
 * @param {QueryTable} table
 * @param {string} text
 * @returns {TableQuery}
 */
export function parseQuery(table, text) {
  /** @type {TableQuery} */
  const query = { texts: [], conditions: [], group: null, hints: [], problems: [] };
  const group = /(?:^|\s)\|\s*by\s+([^]*)$/i.exec(text);
  // `total > 1ms`, if there is such a column, is one word.
  const rest = (group ? text.slice(0, group.index) : text).replaceAll(/([^\s"<>=!:|]+)\s*(>=|<=|!=|>|<|=)\s*(?=\S)/g,
    (all, name, sign) => named(table, name.replace(/^-/, "")) === null ? all : name + sign);
  let words = "";
  const flush = () => {
    if (words.trim() !== "") query.texts.push(unquoted(words.trim()));
    words = "";
  };
  // Texts keep their spaces, so that a name that was pasted is found.
  for (const part of rest.match(/\s+|(?:"[^"]*"|[^\s"]|"(?=[^"]*$))+/g) ?? []) {
    const condition = part.trim() === "" ? null : conditionOf(table, part, query.problems);
    if (condition === null) {
      words += part;
      continue;
    }
    flush();
    query.conditions.push(condition);
  }
  flush();
  if (!group && /^\|?\s*by\b/i.test(rest.trim())) query.hints.push("Groups are written | by column: count, sum(another).");
  const compared = query.texts.map((one) => /^-?([^\s<>=!]+)\s*(?:>=|<=|!=|>|<|=)\s*[\d.]+\w*%?(?=\s|$)/.exec(one)).find(Boolean);
  if (compared) query.hints.push(`There is no column ${compared[1]}.`);
  if (group) query.group = groupOf(table, group[1], query.problems);
  return query;
}

/**
 * @param {QueryTable} table
 * @param {string} part
 * @param {string[]} problems
 * @returns {QueryCondition | null} null: it is a text
 */
function conditionOf(table, part, problems) {
  const found = /^(-?)([^\s:<>=!"]+)(:|>=|<=|!=|>|<|=)([^]*)$/.exec(part);
  if (!found) return null;
  const [, minus, name, sign, raw] = found;
  const column = named(table, name);
  // `aten::mm` and `a<b>` are texts.
  if (column === null || (sign === ":" && raw.startsWith(":"))) return null;
  if (typeof column === "string") {
    problems.push(`${column}: write more of its name.`);
    return null;
  }
  const value = unquoted(raw);
  const holds = raw === "" ? null : column.texts || column.type === "flag" ? textTest(column, sign, value) : numberTest(column, sign, value, problems);
  // While people still type, the rows stay as they are.
  if (raw === "") return { column, holds: () => true, isNot: false };
  if (holds === null) return null;
  return { column, holds, isNot: minus === "-" };
}

/**
 * @param {QueryColumn} column
 * @param {string} sign
 * @param {string} value
 * @returns {((row: number) => boolean) | null}
 */
function textTest(column, sign, value) {
  const wanted = value.toLowerCase();
  /** @param {string} text */
  const is = (text) => sign === ":" ? text.toLowerCase().includes(wanted) : text.toLowerCase() === wanted;
  if (![":", "=", "!="].includes(sign)) return null;
  const isNot = sign === "!=";
  if (!column.texts) {
    return (row) => {
      const cell = cellOf(column, row);
      return cell !== null && is(cell ? "yes" : "no") !== isNot;
    };
  }
  const matches = column.texts.map(is);
  return (row) => {
    const at = column.values[row];
    return at !== null && at !== undefined && matches[at] !== isNot;
  };
}

/**
 * @param {QueryColumn} column
 * @param {string} sign
 * @param {string} value
 * @param {string[]} problems
 * @returns {((row: number) => boolean) | null}
 */
function numberTest(column, sign, value, problems) {
  const found = /^([-\u2212]?(?:\d[\d_]*\.?\d*|\.\d+)(?:e[-+]?\d+)?)([a-z\u00b5\u03bc%/]*)$/i.exec(value);
  const unit = column.unit || unitOf(column.key);
  const label = labelOf(column.key);
  if (found && sign === ":") sign = "=";
  // `kernel<float>` is a text, whatever columns there are.
  if (!found) return null;
  const number = Number(found[1].replace("\u2212", "-").replaceAll("_", ""));
  const factor = (unitsOf[unit] ?? countUnits)[found[2].toLowerCase()];
  if (factor === undefined && number !== 0) {
    const units = Object.keys(unitsOf[unit] ?? {}).filter((name) => /^[a-z%]+$/.test(name)).slice(0, 5).join(", ");
    problems.push(found[2] === "" || units === "" ? `${label}: write a unit after ${value}${units ? ` (${units})` : ""}.` : `${label} has the units ${units}.`);
    return () => true;
  }
  const wanted = number * (factor ?? 1);
  // Addresses and hashes are beyond 2^53: equal means equal digits.
  const digits = column.type === "integer" && /^-?\d+$/.test(value) ? String(BigInt(value)) : null;
  /** @type {{[sign: string]: (cell: any) => boolean}} */
  const tests = {
    ">": (cell) => Number(cell) > wanted, ">=": (cell) => Number(cell) >= wanted,
    "<": (cell) => Number(cell) < wanted, "<=": (cell) => Number(cell) <= wanted,
    "=": (cell) => digits === null ? Number(cell) === wanted : String(cell) === digits,
    "!=": (cell) => digits === null ? Number(cell) !== wanted : String(cell) !== digits,
  };
  const test = tests[sign];
  return (row) => {
    const cell = column.values[row];
    return cell !== null && cell !== undefined && test(cell);
  };
}

/**
 * @param {QueryTable} table
 * @param {string} text
 * @param {string[]} problems
 * @returns {TableQuery["group"]}
 */
function groupOf(table, text, problems) {
  const [columns, ...others] = text.split(":");
  const figures = others.join(":");
  /** @param {string} name */
  const column = (name) => {
    const found = named(table, unquoted(name.trim()));
    if (found !== null && typeof found !== "string") return found;
    problems.push(found === null ? `There is no column ${name.trim() || "after \"by\""}.` : `${found}: write more of its name.`);
    return null;
  };
  const by = columns.split(",").flatMap((name) => column(name) ?? []);
  /**
   * @param {string} figure
   * @returns {QueryFigure[]}
   */
  const read = (figure) => {
    if (/^(count|rows)$/i.test(figure)) return [{ name: "count", column: null }];
    const found = /^(sum|mean|avg|min|max|median|p\d{1,2}(?:\.\d+)?)\s*\(([^)]*)\)?$/i.exec(figure);
    if (!found) {
      problems.push(`${figure} is not a figure: count, sum(x), mean(x), min(x), max(x), median(x), p90(x).`);
      return [];
    }
    const of = column(found[2]);
    const name = found[1].toLowerCase().replace("avg", "mean");
    if (of && (!isNumeric(of))) problems.push(`${labelOf(of.key)} is not a number.`);
    else if (of && name === "sum" && table.tree && !/self/.test(of.key)) {
      problems.push(`Rows of this table contain each other: a sum of ${labelOf(of.key)} would count the same time more than once. Self times add up.`);
    }
    return of ? [{ name, column: of }] : [];
  };
  const wanted = figures.split(",").map((figure) => figure.trim()).filter(Boolean).flatMap(read);
  return by.length === 0 ? null : { columns: by, figures: wanted.length > 0 ? wanted : figuresOf(table) };
}

/**
 * The figures of a group without a wish: how many rows, and the sum of what the table is ordered by, if that adds up.
 * @param {QueryTable} table
 * @returns {QueryFigure[]}
 */
function figuresOf(table) {
  const column = table.sort_by === null || table.tree ? null : columnOf(table, table.sort_by);
  const adds = column && isNumeric(column) && /^(self|total|count|calls|duration|bytes)/.test(column.key) &&
    !/(mean|median|max|min|p\d+|share|percent|per_s)/.test(column.key);
  return [{ name: "count", column: null }, ...adds ? [{ name: "sum", column }] : []];
}

/**
 * The rows of which all conditions hold.
 * @param {QueryTable} table
 * @param {TableQuery} query
 * @returns {Uint32Array} in the table's order
 */
export function queryRows(table, { texts, conditions }) {
  let rows = allRows(table);
  for (const text of texts) {
    const found = new Set(matchingRows(table, text));
    rows = rows.filter((row) => found.has(row));
  }
  for (const { holds, isNot } of conditions) rows = rows.filter((row) => holds(row) !== isNot);
  return rows;
}

/**
 * @param {number[]} sorted ascending, not empty
 * @param {number} share 0 to 1
 * @returns {number} between the two nearest ones, as numpy.percentile() has it
 */
function quantile(sorted, share) {
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

/**
 * @param {string} name
 * @param {number[]} values
 * @returns {number | null}
 */
function figureOf(name, values) {
  if (values.length === 0) return null;
  switch (name) {
    case "sum": return values.reduce((sum, value) => sum + value, 0);
    case "mean": return values.reduce((sum, value) => sum + value, 0) / values.length;
    case "min": return values.reduce((least, value) => Math.min(least, value));
    case "max": return values.reduce((most, value) => Math.max(most, value));
    default: return quantile(values.sort((a, b) => a - b), name === "median" ? 0.5 : Number(name.slice(1)) / 100);
  }
}

/**
 * The groups of rows as a table.
 * @param {QueryTable} table
 * @param {Uint32Array} rows
 * @param {NonNullable<TableQuery["group"]>} group
 * @returns {QueryTable} by the first figure of a column, the largest first
 */
export function groupedTable(table, rows, { columns, figures }) {
  /** @type {Map<string, number[]>} */
  const groups = new Map();
  for (const row of rows) {
    const key = JSON.stringify(columns.map((column) => cellOf(column, row)));
    const list = groups.get(key);
    if (list) list.push(row);
    else groups.set(key, [row]);
  }
  const lists = [...groups.values()];
  /** @type {QueryColumn[]} */
  const made = columns.map((column) => ({ ...column, values: lists.map(([first]) => column.values[first]) }));
  for (const { name, column } of figures) {
    const key = column === null ? "rows" : `${name}_${column.key}`;
    if (made.some((one) => one.key === key)) continue;
    made.push(column === null ? { key, unit: "", type: "number", meaning: "how many rows of the table", values: lists.map((list) => list.length) }
      : { key, unit: column.unit || unitOf(column.key), type: "number", meaning: `${name} of ${labelOf(column.key)}: ${column.meaning}`,
          values: lists.map((list) => figureOf(name, list.flatMap((row) => {
            const value = column.values[row];
            return value === null || value === undefined ? [] : [Number(value)];
          }))) });
  }
  return {
    name: `${table.name}_grouped`, title: `${table.title}, grouped`, command: null, rows: lists.length, left_out: 0, names_cut: 0,
    sort_by: (made.slice(columns.length).find(({ key }) => key !== "rows") ?? made[made.length - 1]).key, shown: made.map(({ key }) => key), tree: null, columns: made, totals: {}, totals_label: "",
    notes: table.left_out > 0 ? [`The groups are of the rows in this table; ${table.left_out} more ${table.left_out === 1 ? "is" : "are"} left out of it.`] : [],
    empty: "no row of the table is left",
  };
}

/**
 * What people may write, with columns of this table.
 * @param {QueryTable} table
 * @param {string[]} shown keys of the columns in sight
 * @returns {[string, string][]} a query, and what it means
 */
export function queryExamples(table, shown) {
  const columns = shown.flatMap((key) => columnOf(table, key) ?? []);
  const text = columns.find((column) => column.type === "text");
  const group = columns.find((column) => column !== text && column.type === "text") ?? text;
  const number = columns.find((column) => column.key === table.sort_by && isNumeric(column)) ?? columns.find(isNumeric);
  const word = /[a-z]{3,12}/i.exec(text?.texts?.[text.values[0]] ?? "")?.[0] ?? "gemm";
  const name = (/** @type {QueryColumn} */ { key }) => plain(labelOf(key)) === plain(key) ? labelOf(key).replaceAll(" ", "_") : key;
  const value = number ? { ns: "1ms", us: "1ms", bytes: "1MiB", percent: "5%", share: "5%" }[number.unit || unitOf(number.key)] ?? "10" : "";
  return [
    ...text ? /** @type {[string, string][]} */ ([[`${name(text)}:${word}`, `a text in one column; -${name(text)}:${word} is without it`]]) : [],
    ...number ? /** @type {[string, string][]} */ ([[`${name(number)}>${value}`, "more than; also >=, <, <=, = and !="]]) : [],
    ...group && number ? /** @type {[string, string][]} */ ([[`| by ${name(group)}: count, ${table.tree ? "mean" : "sum"}(${name(number)}), p90(${name(number)})`,
      "groups; also mean, min, max, median"]]) : [],
  ];
}
