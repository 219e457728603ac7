// The rows of a table as a grid of which only the rows in sight are elements: a table of
// 100,000 rows costs as much as one of 50.
import { h, setVariable } from "./dom.js";
import { isNumeric } from "../data/table.js";
import { gridCell, gridTotals } from "./grid_cell.js";

/** @typedef {import("./grid_cell.js").GridModel} GridModel */
/** @typedef {import("./grid_cell.js").GridColumn} GridColumn */
/**
 * @typedef {object} GridEvents
 * @property {(key: string) => void} sort
 * @property {(row: number) => void} open
 * @property {(row: number, open: boolean) => boolean} branch opens or closes a branch
 */

/** As in style.css (--row). */
const rowHeight = 28;
/** Rows drawn above and below those in sight. */
const rowMargin = 8;
let gridCount = 0;

/** A grid. Give it a model with show(). */
export class Grid {
  /**
   * @param {string} name for people who hear the page
   * @param {GridEvents} events
   */
  constructor(name, events) {
    /** @private */
    this.events = events;
    /** @private */
    this.id = `grid-${++gridCount}`;
    /** @private */
    this.header = h("div", { class: "grid-header", role: "row", "aria-rowindex": 1 });
    /** @private */
    this.body = h("div", { class: "grid-body", role: "rowgroup" });
    /** @private */
    this.footer = h("div", { class: "grid-footer", role: "rowgroup" });
    /** @private */
    this.inner = h("div", { class: "grid-inner", role: "presentation" },
      h("div", { role: "rowgroup", class: "grid-top" }, this.header), this.body, this.footer);
    this.element = h("div", {
      class: "grid", role: "grid", "aria-label": name, tabindex: 0, id: this.id,
      "aria-readonly": true,
      onscroll: () => this.draw(),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
    }, this.inner);
    this.body.addEventListener("click", (event) => this.click(event));
    /** Place of the row that the keys move, from 0; -1 before they did. @private */
    this.active = -1;
    /** @private @type {Map<number, HTMLElement>} */
    this.drawn = new Map();
    /** @private @type {GridModel | null} */
    this.model = null;
    if (typeof ResizeObserver !== "undefined") {
      new ResizeObserver(() => this.draw()).observe(this.element);
    }
    /** @private */
    this.paper = h("p", { class: "grid-none" });
    const before = () => this.print(true);
    const after = () => {
      this.print(false);
      // Grids that are no longer on the page must not stay in memory.
      if (this.element.isConnected) return;
      removeEventListener("beforeprint", before);
      removeEventListener("afterprint", after);
    };
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
  }

  /**
   * @param {GridModel} model
   * @param {boolean} [keep] stay at the same place
   * @returns {void}
   */
  show(model, keep = false) {
    this.model = model;
    const rows = model.rows.length;
    this.element.setAttribute("aria-rowcount", String(rows + 1 + (model.totals ? 1 : 0)));
    this.element.setAttribute("aria-colcount", String(model.columns.length));
    setVariable(this.inner, "--columns", model.columns.map((column, i) =>
      `minmax(${model.widths[i]}px, ${column.texts ? model.weights[i] : 1}fr)`).join(" "));
    setVariable(this.inner, "min-width", `${model.widths.reduce((sum, one) => sum + one, 0)}px`);
    setVariable(this.body, "height", `${Math.max(rows, 1) * rowHeight}px`);
    this.header.replaceChildren(...model.columns.map((column, i) => this.headerCell(column, i)));
    this.footer.replaceChildren(...(model.totals ? [gridTotals(model)] : []));
    if (!keep) {
      this.active = -1;
      this.element.scrollTop = 0;
    }
    this.active = Math.min(this.active, rows - 1);
    this.drawn.clear();
    this.body.replaceChildren(...(rows ? []
      : [h("p", { class: "grid-none" }, "Nothing matches the search.")]));
    this.draw();
  }

  /**
   * @private
   * @param {GridColumn} column
   * @param {number} place
   */
  headerCell(column, place) {
    const model = /** @type {GridModel} */ (this.model);
    const sorted = model.sorted === column.key;
    const unit = column.unit ? ` (${column.unit})` : "";
    return h("div", {
      role: "columnheader", "aria-colindex": place + 1,
      "aria-sort": sorted ? (model.descending ? "descending" : "ascending") : "none",
      class: `cell head${isNumeric(column) ? " number" : ""}${sorted ? " sorted" : ""}`,
    }, h("button", {
      type: "button", class: "sort", onclick: () => this.events.sort(column.key),
      title: `${column.key}${unit}${column.meaning ? `: ${column.meaning}` : ""}`,
    }, h("span", null, model.labels[place]),
      h("span", { class: "arrow", "aria-hidden": true },
        sorted ? (model.descending ? "\u25be" : "\u25b4") : "")));
  }

  /**
   * Draws the rows in sight.
   * @private
   * @param {number} [least] rows at least, for paper
   */
  draw(least = 0) {
    const model = this.model;
    if (!model) return;
    const height = this.element.clientHeight || 600;
    const top = this.element.scrollTop;
    const first = Math.max(0, Math.floor(top / rowHeight) - rowMargin);
    const last = Math.min(model.rows.length, Math.max(
      Math.ceil((top + height) / rowHeight) + rowMargin, least));
    for (const [place, element] of this.drawn) {
      if (place < first || place >= last) {
        element.remove();
        this.drawn.delete(place);
      }
    }
    const added = document.createDocumentFragment();
    for (let place = first; place < last; place++) {
      if (this.drawn.has(place)) continue;
      const element = this.row(model, place);
      this.drawn.set(place, element);
      added.append(element);
    }
    this.body.append(added);
  }

  /**
   * Paper has no scroll bars: the first rows, as wide as the page.
   * @private
   * @param {boolean} begins
   */
  print(begins) {
    const model = this.model;
    if (!model || !this.element.isConnected) return;
    const shown = begins ? Math.min(model.rows.length, printedRows) : model.rows.length;
    const width = model.widths.reduce((sum, one) => sum + one, 0);
    setVariable(this.body, "height", `${Math.max(shown, 1) * rowHeight}px`);
    setVariable(this.inner, "zoom", begins ? Math.min(1, paperWidth / width) : 1);
    this.paper.remove();
    if (begins) {
      this.element.scrollTop = 0;
      if (shown < model.rows.length) {
        this.paper.textContent = `The first ${shown} of ${model.rows.length} rows.`;
        this.element.append(this.paper);
      }
    }
    this.draw(begins ? shown : 0);
  }

  /**
   * @private
   * @param {GridModel} model
   * @param {number} place
   */
  row(model, place) {
    const row = model.rows[place];
    const element = h("div", {
      class: `row${place === this.active ? " active" : ""}${place % 2 ? " odd" : ""}`,
      role: "row", "aria-rowindex": place + 2, id: `${this.id}-${place}`,
      "data-place": place,
    }, ...model.columns.map((column, i) => gridCell(model, column, i, row)));
    setVariable(element, "top", `${place * rowHeight}px`);
    return element;
  }

  /**
   * @private
   * @param {MouseEvent} event
   */
  click(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const element = /** @type {HTMLElement | null} */ (target.closest(".row"));
    if (!element || !this.model) return;
    // Selecting text in a cell is not a click on the row.
    if (getSelection()?.toString()) return;
    const place = Number(element.dataset.place);
    const row = this.model.rows[place];
    this.move(place, false);
    if (target.dataset.twist !== undefined) {
      const branch = this.model.branch(row);
      if (branch) this.events.branch(row, !branch.open);
    } else {
      this.events.open(row);
    }
  }

  /**
   * @private
   * @param {number} place
   * @param {boolean} [scroll]
   */
  move(place, scroll = true) {
    const model = this.model;
    if (!model || !model.rows.length) return;
    this.drawn.get(this.active)?.classList.remove("active");
    this.active = Math.max(0, Math.min(place, model.rows.length - 1));
    if (scroll) {
      const top = this.active * rowHeight;
      const room = this.element.clientHeight - rowHeight * (model.totals ? 3 : 2);
      if (top < this.element.scrollTop) this.element.scrollTop = top;
      else if (top > this.element.scrollTop + room) this.element.scrollTop = top - room;
      this.draw();
    }
    this.drawn.get(this.active)?.classList.add("active");
    this.element.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
  }

  /**
   * @private
   * @param {KeyboardEvent} event
   */
  key(event) {
    const model = this.model;
    // Keys on the buttons of the header are theirs.
    if (!model || event.target !== this.element || event.ctrlKey || event.metaKey ||
        event.altKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / rowHeight) - 3);
    const row = this.active >= 0 ? model.rows[this.active] : -1;
    const branch = row >= 0 ? model.branch(row) : null;
    switch (event.key) {
      case "ArrowDown": this.move(this.active + 1); break;
      case "ArrowUp": this.move(this.active - 1); break;
      case "PageDown": this.move(this.active + page); break;
      case "PageUp": this.move(this.active - page); break;
      case "Home": this.move(0); break;
      case "End": this.move(model.rows.length - 1); break;
      case "ArrowRight":
      case "ArrowLeft":
        if (!branch || !this.events.branch(row, event.key === "ArrowRight")) return;
        break;
      case "Enter":
        if (row < 0) return;
        this.events.open(row);
        break;
      default: return;
    }
    event.preventDefault();
  }
}

/** Rows of a table on paper: more would be a book. */
const printedRows = 500;
/** Width of a sheet within its margins, in pixels. */
const paperWidth = 700;
