// A table of a view: search, order, columns, rows, totals, export. Its state is in the address.
import { h, copyAndSay, saveText } from "./dom.js";
import { formatValue, labelOf, countOf, formatJson } from "./format.js";
import { columnOf, cellOf, isNumeric, hasValues, sortedRows, TreeModel } from "../data/table.js";
import { groupedTable, parseQuery, queryExamples, queryRows } from "../data/table_query.js";
import { fileName, toCsv, toTsv } from "../data/table_export.js";
import { Grid } from "./grid.js";
import { emptyBox } from "./empty.js";
import { rowNamed } from "./name_link.js";
import { rowDetail } from "./row_detail.js";
import { scopedPage } from "./scoped_page.js";
import { columnChooser, queryMenu, shownAtFirst, tableFooter, tableNotes } from "./table_tools.js";

/** @typedef {import("../data/source.js").Table} ShownTable */
/** @typedef {import("../data/source.js").Page} TablePage */
/**
 * What a view adds to its tables.
 * @typedef {object} TableLook
 * @property {(table: ShownTable) => import("./grid_cell.js").GridDress} [dress]
 * @property {string} [under] the column of texts whose values are below the cells of their rows
 * @property {string[]} [rowNames] by row, what the address calls it instead of its number
 * @property {(row: number) => void} [opened] after a row was opened; -1: none is open any more
 * @property {(row: number, close: () => void) => HTMLElement} [detail] a row in full, instead of
 *   all its values
 * @property {(view: TableView) => void} [ready]
 * @property {(table: ShownTable) => RowSwitch | null} [more]
 */

/**
 * Rows that are shown only if people ask for them.
 * @typedef {object} RowSwitch
 * @property {string} name in the address
 * @property {string} label
 * @property {string} about
 * @property {(row: number) => boolean} isMore
 */

/** Width of a digit in pixels, with some room for wider letters. */
const digitWidth = 7.4;

/**
 * The smallest width of a column: numbers whole, texts at least readable.
 * @param {ShownTable} table
 * @param {import("../data/source.js").Column} column
 * @param {string} label
 * @param {TreeModel | null} tree its indentation
 * @param {number} most width of a text that tables have room for
 * @returns {{width: number, weight: number}} pixels, and the share of the room that is left
 */
function columnWidth(table, column, label, tree, most) {
  // A label may break between words: its longest word counts.
  const word = Math.max(...label.split(" ").map((part) => part.length),
                        Math.ceil(label.length / 2));
  let widest = word + 2;
  const texts = column.texts !== undefined;
  const step = Math.max(1, Math.floor(table.rows / 200));
  for (let row = 0; row < table.rows; row += step) {
    const value = cellOf(column, row);
    const indent = column.key === table.tree?.name && tree ? 2 + tree.depths[row] * 2 : 0;
    const text = texts ? (column.type === "json" ? formatJson(String(value ?? "")) : value ?? "")
      : formatValue(value, column.unit);
    widest = Math.max(widest, String(text).length + indent);
  }
  const total = table.totals[column.key];
  if (total !== undefined && !texts) {
    widest = Math.max(widest, formatValue(total, column.unit).length + 1);
  }
  return {
    width: Math.ceil(Math.min(widest * digitWidth + 24, texts ? most : 400)),
    weight: texts ? Math.max(0.4, Math.min(widest / 16, 8)) : 1,
  };
}

/**
 * A table's element.
 * @param {ShownTable} table
 * @param {TablePage} page
 * @param {TableLook} [look]
 * @returns {HTMLElement}
 */
export function tableView(table, page, look = {}) {
  if (table.rows === 0) {
    return h("div", { class: "table" }, tableNotes(table.notes), emptyBox(table.empty),
             tableFooter(table, page));
  }
  return new TableView(table, page, look).element;
}

/** The table with its state. */
export class TableView {
  /**
   * @param {ShownTable} table
   * @param {TablePage} page
   * @param {TableLook} [look]
   */
  constructor(table, page, look = {}) {
    /** @private */
    this.table = table;
    /** @private */
    this.page = page;
    /** @private */
    this.look = look;
    /** What the address calls the open row. @private */
    this.rowKey = look.rowNames ? "step" : "row";
    /** The row in full; -1: none. @private */
    this.opened = -1;
    /** Width of all columns at least, in pixels. @private */
    this.least = 0;
    look.ready?.(this);
    /** @private */
    this.more = look.more?.(table) ?? null;
    /** @private */
    this.dress = look.dress ? look.dress(table) : undefined;
    const under = look.under ? columnOf(table, look.under) : null;
    /** @private */
    this.under = under && hasValues(under) ? under : null;
    /** @private */
    this.tree = table.tree ? new TreeModel(table) : null;
    /** @private @type {Map<string, {width: number, weight: number}>} */
    this.widths = new Map();
    /** @private */
    this.narrow = innerWidth < 760;
    /** @private @type {Uint32Array} */
    this.rows = new Uint32Array(0);
    /** @private */
    this.grid = new Grid(table.title, {
      sort: (key) => this.sort(key),
      open: (row) => this.open(row),
      branch: (row, open) => this.branch(row, open),
      moved: (row) => {
        if (this.detail) this.open(row);
      },
    });
    /** @private */
    this.count = h("span", { class: "count", role: "status" });
    /** @private @type {HTMLElement | null} */
    this.detail = null;
    /** @private */
    this.board = h("div", {
      class: "with-detail", onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== "Escape" || !this.detail) return;
        event.stopPropagation();
        this.close();
      },
    }, this.grid.element);
    /** @private */
    this.groups = h("div", { class: "groups" });
    /** @private */
    this.timer = 0;
    const named = this.takeName();
    this.element = h("div", { class: "table" }, tableNotes(table.notes), this.tools(), this.groups, this.board,
                     tableFooter(table, page));
    this.update();
    const row = named >= 0 ? named : this.rowOf(page.get(this.rowKey));
    if (row < 0 || row >= table.rows) return;
    // Before it is on the page, the grid has no height.
    requestAnimationFrame(() => this.reveal(row));
  }

  /**
   * The row that a link names. If it was left out of the table, the search says that there is none.
   * @private
   * @returns {number} -1 without one
   */
  takeName() {
    const name = this.page.get("name");
    if (name === null) return -1;
    this.page.set("name", null);
    const row = rowNamed(this.table, name);
    this.page.set("search", row < 0 ? (/[|:<>=]/.test(name) ? `"${name}"` : name) : null);
    return row;
  }

  /** @private */
  keys() {
    const known = (this.page.get("columns") ?? "").split(",")
      .filter((key) => columnOf(this.table, key) !== null);
    return (known.length ? known : shownAtFirst(this.table))
      .filter((key) => key !== this.under?.key);
  }

  /** The order from the address, or the table's own. @private */
  order() {
    const chosen = this.page.get("sort");
    if (chosen !== null) {
      const descending = chosen.startsWith("-");
      const key = descending ? chosen.slice(1) : chosen;
      const column = columnOf(this.table, key);
      // A plain name means what the first click does.
      if (column) {
        return { key, descending: chosen.startsWith("+") ? false
          : descending || isNumeric(column), chosen: true };
      }
      const plain = columnOf(this.table, key.slice(1));
      if (plain) return { key: plain.key, descending: !chosen.startsWith("+"), chosen: true };
    }
    const key = this.tree ? null : this.table.sort_by;
    return { key, descending: true, chosen: false };
  }

  /** @private */
  tools() {
    const search = /** @type {HTMLInputElement} */ (h("input", {
      type: "search", placeholder: "Filter rows", "aria-label": "Filter and group the rows",
      title: `Filter (/): a text, or conditions such as ${queryExamples(this.table, this.keys()).map(([one]) => one).find((one) => one.includes(">")) ?? "count>10"}; the menu Filter has more`, autocomplete: "off", spellcheck: "false",
      oninput: () => {
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => {
          this.page.set("search", search.value);
          this.update();
        }, this.table.rows > 5000 ? 70 : 20);
      },
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== "ArrowDown" && event.key !== "Enter") return;
        event.preventDefault();
        clearTimeout(this.timer);
        this.page.set("search", search.value);
        this.update();
        this.grid.element.focus();
        this.grid.goTo(0);
      },
    }));
    search.value = this.page.get("search") ?? "";
    const chooser = columnChooser(this.table, this.keys(), (keys) => {
      this.page.set("columns", keys ? keys.join(",") : null);
      this.update(true);
    });
    return h("div", { class: "tools" }, search, queryMenu(this.table, () => this.keys(), (text) => {
      search.value = text(search.value);
      this.page.set("search", search.value || null);
      this.update();
    }), this.count, this.switch(),
      this.tree ? h("button", { type: "button", onclick: () => this.foldAll(false) },
                    "Expand all") : null,
      this.tree ? h("button", { type: "button", onclick: () => this.foldAll(true) },
                    "Collapse all") : null,
      chooser,
      h("button", {
        type: "button", title: "Copy the visible rows, with tabs between the values",
        onclick: () => copyAndSay(this.page, toTsv(this.table, this.rows, this.keys()),
                                  this.rows.length === 1 ? "row is" : `${
                                    countOf(this.rows.length, "row")} are`),
      }, "Copy"),
      h("button", {
        type: "button", title: "Save the visible rows with all columns, exact values",
        onclick: () => saveText(fileName(
          (this.page.input.split("/").pop() ?? "").replace(/(\.pt)?(\.trace)?\.json(\.gz)?$/, ""), this.page.name,
          `${this.table.name}.csv`), toCsv(this.table, this.rows,
          this.table.columns.map((column) => column.key)), "text/csv"),
      }, "Save as CSV"));
  }

  /** @private */
  switch() {
    const { more } = this;
    if (more === null) return null;
    const box = /** @type {HTMLInputElement} */ (h("input", {
      type: "checkbox", checked: this.page.get(more.name) !== null,
      onchange: () => {
        this.page.set(more.name, box.checked ? "yes" : null);
        this.update();
      },
    }));
    return h("label", { class: "switch", title: more.about }, box, more.label);
  }

  /**
   * @private
   * @param {boolean} [keep] the place in the rows
   */
  update(keep = false) {
    const table = this.table;
    const text = this.page.get("search") ?? "";
    const query = parseQuery(table, text);
    const order = this.order();
    const isClear = query.problems.length === 0;
    const found = text.trim() && isClear ? queryRows(table, query) : null;
    const flat = found !== null || order.chosen;
    const asTree = this.tree !== null && !flat;
    if (asTree && this.tree) this.rows = this.tree.rows();
    else if (order.chosen && order.key) {
      this.rows = sortedRows(table, order.key, order.descending, found ?? undefined);
    } else this.rows = found ?? sortedRows(table, "", false);
    const { more } = this;
    if (more !== null && this.page.get(more.name) === null) this.rows = this.rows.filter((row) => !more.isMore(row));
    this.group(isClear ? query.group : null);
    let keys = this.keys();
    // Without the indentation, names need their whole path.
    const { name = "", path = "" } = table.tree ?? {};
    if (table.tree && !asTree && !keys.includes(path)) {
      keys = keys.map((key) => key === name ? path : key);
    }
    // A phone has room for two columns: the one that gives the order is the second, or a time.
    const sorted = columnOf(table, order.key ??
      keys.find((key) => columnOf(table, key)?.unit === "ns") ?? "");
    if (this.narrow && sorted && isNumeric(sorted) && keys.indexOf(sorted.key) > 1) {
      keys = [keys[0], sorted.key, ...keys.slice(1).filter((key) => key !== sorted.key)];
    }
    const columns = keys.map((key) => /** @type {import("../data/source.js").Column} */ (
      columnOf(table, key)));
    const labels = columns.map((column) => labelOf(column.key));
    const sizes = columns.map((column, i) => this.width(column, labels[i]));
    this.least = sizes.reduce((sum, size) => sum + size.width, 0);
    this.board.classList.toggle("stacked", this.board.clientWidth - 412 < this.least);
    this.grid.show({
      columns, labels,
      widths: sizes.map((size) => size.width), weights: sizes.map((size) => size.weight),
      rows: this.rows,
      sorted: order.key, descending: order.descending,
      largest: this.largest(order.key),
      branch: (row) => asTree && this.tree ? {
        depth: this.tree.depths[row], inner: this.tree.hasInner(row),
        open: !this.tree.collapsed.has(row),
      } : null,
      branchKey: asTree ? name : null,
      totals: keys.some((key) => key in table.totals) ? table.totals : null,
      totalsLabel: totalsLabelOf(table, found !== null),
      dress: this.dress, under: this.under,
    }, keep);
    const count = asTree ? table.rows : this.rows.length;
    this.count.classList.toggle("warn", !isClear);
    if (!isClear) {
      this.count.textContent = `Not filtered. ${query.problems[0]}`;
      return;
    }
    const hint = count === 0 && query.hints.length > 0 ? `. ${query.hints[0]}` : "";
    this.count.textContent = found || count < table.rows
      ? `${formatValue(count)} of ${countOf(table.rows, "row")}${hint}` : countOf(table.rows, "row");
  }

  /**
   * Shows groups of the rows instead of them.
   * @private
   * @param {import("../data/table_query.js").TableQuery["group"]} group
   */
  group(group) {
    this.element?.classList.toggle("is-grouped", group !== null);
    this.groups.replaceChildren(...group === null ? [] : [
      tableView(groupedTable(this.table, this.rows, group), scopedPage(this.page, "group"))]);
  }

  /**
   * @private
   * @param {import("../data/source.js").Column} column
   * @param {string} label
   */
  width(column, label) {
    let width = this.widths.get(column.key);
    if (width === undefined) {
      // Names come first; what they belong to gets the room that is left.
      const most = this.narrow ? 170 : column.key === this.keys()[0] ? 300 : 180;
      width = columnWidth(this.table, column, label, this.tree, most);
      // Room for what stands before the text.
      const dress = this.dress?.(column, 0);
      if (dress?.room) width.width += dress.room;
      else if (dress?.before) width.width += 16;
      if (dress?.text) width.width += 34;
      this.widths.set(column.key, width);
    }
    return width;
  }

  /**
   * @private
   * @param {string | null} key
   */
  largest(key) {
    const column = key ? columnOf(this.table, key) : null;
    if (!column || column.type !== "number") return 0;
    let largest = 0;
    for (const value of column.values) if (value > largest) largest = value;
    return largest;
  }

  /**
   * @private
   * @param {string} key
   */
  sort(key) {
    const order = this.order();
    const column = columnOf(this.table, key);
    if (!column) return;
    let descending = isNumeric(column);
    if (order.key === key) descending = !order.descending;
    // Third click on the tree's way back to the tree.
    const first = isNumeric(column);
    if (this.tree && order.key === key && order.descending !== first) this.page.set("sort", null);
    else this.page.set("sort", descending === first ? key : `${descending ? "-" : "+"}${key}`);
    this.update();
  }

  /**
   * @private
   * @param {number} row
   * @param {boolean} open
   */
  branch(row, open) {
    if (!this.tree?.setOpen(row, open)) return false;
    this.update(true);
    return true;
  }

  /**
   * @private
   * @param {boolean} folded
   */
  foldAll(folded) {
    this.tree?.collapseFrom(folded ? 0 : Infinity);
    this.page.set("sort", null);
    this.update();
  }

  /**
   * The row with an address' text; -1 without one.
   * @private
   * @param {string | null} text
   */
  rowOf(text) {
    if (text === null) return -1;
    if (this.look.rowNames) return this.look.rowNames.indexOf(text);
    return /^\d+$/.test(text) ? Number(text) : -1;
  }

  /**
   * Opens a row and brings it into sight.
   * @param {number} row
   * @returns {void}
   */
  reveal(row) {
    const place = this.rows.indexOf(row);
    if (place >= 0) this.grid.goTo(place, true);
    this.open(row);
  }

  /** @returns {void} */
  close() {
    if (this.opened < 0) return;
    this.open(-1);
    this.grid.element.focus();
  }

  /**
   * @private
   * @param {number} row -1: closes the open one
   */
  open(row) {
    if (row === this.opened) return;
    this.opened = row;
    this.detail?.remove();
    this.detail = null;
    this.page.set(this.rowKey, row < 0 ? null : this.look.rowNames?.[row] ?? String(row));
    this.look.opened?.(row);
    if (row < 0) return;
    const close = () => this.close();
    this.detail = this.look.detail?.(row, close) ?? rowDetail(this.table, row, this.page, close);
    // Beside the table only where all its columns stay in sight.
    this.board.classList.toggle("stacked", this.board.clientWidth - 412 < this.least);
    this.board.append(this.detail);
    this.board.scrollIntoView({ block: "nearest" });
    const place = this.rows.indexOf(row);
    if (place >= 0) this.grid.goTo(place);
  }
}

/**
 * @param {ShownTable} table
 * @param {boolean} searched
 * @returns {string}
 */
function totalsLabelOf(table, searched) {
  const label = table.totals_label || "total";
  return searched || table.left_out > 0 ? `${label} of all rows` : label;
}
