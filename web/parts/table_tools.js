// What is around a table's rows: the notes above, the choice of columns, the facts below.
import { h, copyAndSay } from "./dom.js";
import { formatValue, exactValue, labelOf, meaningParts, shownUnit, unitOf,
         countOf } from "./format.js";
import { popupMenu } from "./popup.js";
import { hasValues, isNumeric } from "../data/table.js";
import { queryExamples } from "../data/table_query.js";
import { shellWord } from "../data/table_export.js";

/** @typedef {import("../data/source.js").Table} ToolsTable */

/**
 * @param {ToolsTable} table
 * @param {string[]} chosen keys of the columns in sight
 * @param {(keys: string[] | null) => void} changed null: those that people see first
 * @returns {HTMLElement}
 */
export function columnChooser(table, chosen, changed) {
  /** @type {Map<string, HTMLInputElement>} */
  const boxes = new Map();
  const read = () => {
    const wanted = new Set([...boxes].filter(([, box]) => box.checked).map(([key]) => key));
    // Columns stay where they are; new ones come after them.
    const keys = [...chosen.filter((key) => wanted.has(key)),
                  ...[...wanted].filter((key) => !chosen.includes(key))];
    const [only] = chosen;
    if (keys.length) changed(chosen = keys);
    else /** @type {HTMLInputElement} */ (boxes.get(only)).checked = true;  // one column stays
  };
  const fill = () => table.columns.map((column) => {
    const filled = hasValues(column);
    const box = /** @type {HTMLInputElement} */ (h("input", {
      type: "checkbox", checked: chosen.includes(column.key), disabled: !filled, onchange: read,
    }));
    boxes.set(column.key, box);
    return h("label", {
      title: meaningParts(column).join("") || null, class: filled ? null : "quiet",
    }, box,
      h("span", null, labelOf(column.key), filled ? "" : " (no values)"));
  });
  const list = h("div", null, fill());
  return popupMenu("Columns", list, h("button", {
    type: "button", class: "link", onclick: () => {
      changed(null);
      chosen = shownAtFirst(table);
      list.replaceChildren(...fill());
    },
  }, "Reset"));
}

/**
 * What the box above the rows understands, and groups by a press.
 * @param {ToolsTable} table
 * @param {() => string[]} keys of the columns in sight
 * @param {(change: (text: string) => string) => void} change the text in the box
 * @returns {HTMLElement}
 */
export function queryMenu(table, keys, change) {
  /**
   * @param {string} label
   * @param {[string, string][]} choices
   */
  const select = (label, choices) => /** @type {HTMLSelectElement} */ (h("select", { "aria-label": label },
    choices.map(([value, text]) => h("option", { value }, text))));
  const named = (/** @type {import("../data/source.js").Column} */ { key }) => /** @type {[string, string]} */ ([key, labelOf(key)]);
  const filled = table.columns.filter(hasValues);
  const numbers = filled.filter(isNumeric);
  const by = select("Group by", filled.filter((column) => column.type !== "json" && (column.texts || !/(_ns|_us|_bytes|percent|share)$/.test(column.key))).map(named));
  const figure = select("Figure", [["sum", "sum"], ["mean", "mean"], ["median", "median"], ["p90", "90 %"], ["p99", "99 %"], ["max", "maximum"], ["min", "minimum"]]);
  const of = select("of", numbers.map(named));
  const first = numbers.find(({ key }) => key === table.sort_by);
  if (first) of.value = first.key;
  if (table.tree) figure.value = "mean";
  const group = () => change((text) => `${text.replace(/(^|\s*)\|\s*by\s[^]*$/i, "")} | by ${by.value}: count${
    numbers.length > 0 ? `, ${figure.value}(${of.value})` : ""}`.trim());
  const menu = popupMenu("Filter",
    h("dl", { class: "query-examples" }, queryExamples(table, keys()).flatMap(([query, meaning]) => [
      h("dt", null, h("button", { type: "button", class: "link", onclick: () => change(() => query) }, query)), h("dd", null, meaning)])),
    by.options.length === 0 ? null : h("div", { class: "query-group" }, h("label", null, "Group by ", by),
      numbers.length > 0 ? [h("label", null, figure), h("label", null, " of ", of)] : [],
      h("button", { type: "button", onclick: group }, "Group"),
      h("button", { type: "button", onclick: () => change(() => "") }, "Clear")));
  menu.classList.add("query-menu");
  return menu;
}

/**
 * The columns that people see first: without those that have no value.
 * @param {ToolsTable} table
 * @returns {string[]} keys
 */
export function shownAtFirst(table) {
  const known = new Map(table.columns.map((column) => [column.key, column]));
  const shown = (table.shown.length ? table.shown : table.columns.map((column) => column.key))
    .filter((key) => {
      const column = known.get(key);
      return column !== undefined && hasValues(column);
    });
  return shown.length ? shown : table.columns.slice(0, 1).map((column) => column.key);
}

/**
 * A command with a button that copies it.
 * @param {string} command without an input
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement}
 */
export function commandLine(command, page) {
  const whole = command.replace(/^tbtrace \S+/, (start) => `${start} ${shellWord(page.input)}`);
  return h("div", { class: "command" }, h("span", null, "The same table in a terminal:"),
    h("code", null, whole), h("button", {
      type: "button", class: "link", onclick: () => copyAndSay(page, whole, "command is"),
    }, "Copy"));
}

/**
 * Notes say what is missing: they stand above the rows.
 * @param {string[]} notes
 * @returns {HTMLElement | null}
 */
export function tableNotes(notes) {
  if (notes.length === 0) return null;
  return h("div", { class: "notes" }, notes.length === 1 ? h("p", null, notes[0])
    : h("ul", null, notes.map((note) => h("li", null, note))));
}

/**
 * @param {ToolsTable} table
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement}
 */
export function tableFooter(table, page) {
  const parts = [];
  const keys = new Set(table.columns.map((column) => column.key));
  const empty = table.rows === 0;
  const facts = empty ? [] : Object.entries(table.totals).filter(([key, value]) =>
    !keys.has(key) && value !== null && typeof value !== "object");
  if (facts.length) {
    parts.push(h("div", { class: "facts" }, facts.map(([key, value]) =>
      h("span", { title: exactValue(value, unitOf(key)) }, `${labelOf(key)}: `,
        h("b", null, formatValue(value, unitOf(key)))))));
  }
  if (table.left_out > 0) {
    const order = table.sort_by && !table.tree
      ? ` with the smallest ${labelOf(table.sort_by)}` : " at the end";
    const are = table.left_out === 1 ? "is" : "are";
    parts.push(h("p", null, `${countOf(table.left_out, "row")}${order} ${are} left out` +
      (Object.keys(table.totals).length ? "; the totals include them." : ".") +
      (table.command ? " The command below prints all rows." : "")));
  }
  if (table.names_cut > 0) {
    parts.push(h("p", null, table.names_cut === 1
      ? "One name is longer than 500 characters. It is cut there and has \u2026 at its end."
      : `${countOf(table.names_cut, "name")} are longer than 500 characters. They are cut there ` +
        "and have \u2026 at their ends."));
  }
  if (table.command) parts.push(commandLine(table.command, page));
  const meanings = empty ? [] : table.columns.filter((column) => column.meaning !== "");
  if (meanings.length) {
    parts.push(h("details", { class: "meanings" },
      h("summary", null, "What do the columns mean?"),
      h("dl", null, meanings.flatMap((column) => [
        h("dt", null, labelOf(column.key), column.unit
          ? h("span", { class: "quiet" }, ` (${shownUnit(column.unit)})`) : null),
        h("dd", null, meaningParts(column).map((part, i) =>
          i % 2 ? h("code", null, part) : part))]))));
  }
  return h("div", { class: "below" }, parts);
}
