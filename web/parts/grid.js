// The rows of a table as a grid of which only the rows in sight are elements: a table of
// 100,000 rows costs as much as one of 50.
import { h, onPrint, paperWidth, setVariable } from "./dom.js";
import { countOf, formatValue, meaningParts } from "./format.js";
import { fullSentence } from "./empty.js";
import { isNumeric } from "../data/table.js";
import { gridCell, gridTotals, gridUnder } from "./grid_cell.js";

/** @typedef {import("./grid_cell.js").GridModel} GridModel */
/** @typedef {import("./grid_cell.js").GridColumn} GridColumn */
/**
 * @typedef {object} GridEvents
 * @property {(key: string) => void} sort
 * @property {(row: number) => void} open
 * @property {(row: number, open: boolean) => boolean} branch opens or closes a branch
 * @property {(row: number) => void} [moved] after the keys or a click chose another row
 */

/** As in style.css (--row). */
const rowHeight = 28;
/** With a text below the cells. */
const tallRowHeight = 46;
/** Rows drawn above and below those in sight. */
const rowMargin = 8;
/** Width of a text beside the names that is still readable, in px. */
const leastText = 100;
/** Room for the arrow of a column that gives the order, in px; the headings of wide columns have a word that needs it. */
const arrowRoom = 12;
const longWord = 130;
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
    /** @private */
    this.tall = rowHeight;
    if (typeof ResizeObserver !== "undefined") {
      new ResizeObserver(() => {
        this.fit();
        this.draw();
      }).observe(this.element);
    }
    /** @private */
    this.paper = h("p", { class: "grid-none" });
    onPrint(this.element, (begins) => this.print(begins));
  }

  /**
   * @param {GridModel} model
   * @param {boolean} [keep] stay at the same place
   * @returns {void}
   */
  show(model, keep = false) {
    this.model = model;
    const rows = model.rows.length;
    this.tall = model.under ? tallRowHeight : rowHeight;
    this.element.classList.toggle("tall", Boolean(model.under));
    this.element.setAttribute("role", model.branchKey === null ? "grid" : "treegrid");
    this.element.setAttribute("aria-rowcount", String(rows + 1 + (model.totals ? 1 : 0)));
    this.element.setAttribute("aria-colcount", String(model.columns.length));
    this.fit();
    setVariable(this.body, "height", `${Math.max(rows, 1) * this.tall}px`);
    // Sorting with the keyboard keeps the focus on the header that was pressed, or on what replaces it.
    const buttons = () => /** @type {HTMLElement[]} */ ([...this.header.querySelectorAll("[data-column]")]);
    const place = buttons().findIndex((button) => button === document.activeElement);
    const key = buttons()[place]?.dataset.column;
    this.header.replaceChildren(...model.columns.map((column, i) => this.headerCell(column, i)));
    if (place >= 0) (buttons().find(({ dataset }) => dataset.column === key) ?? buttons()[place])?.focus();
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

  /** Where a table is a little too wide, its columns except the names give up some of their room. @private */
  fit() {
    if (!this.model) return;
    const { columns, weights, sorted } = this.model;
    let { widths } = this.model;
    const sum = () => widths.reduce((all, one) => all + one, 0);
    const spare = widths.map((width, i) => i === 0 || columns[i].key === sorted ? 0
      : columns[i].texts ? Math.max(0, width - leastText) : width > longWord ? 0 : arrowRoom);
    const all = spare.reduce((total, one) => total + one, 0);
    const over = sum() - this.element.clientWidth;
    if (over > 0 && over <= all) widths = widths.map((width, i) => Math.floor(width - spare[i] * over / all));
    setVariable(this.inner, "--columns", columns.map((column, i) =>
      `minmax(${widths[i]}px, ${column.texts ? weights[i] : 1}fr)`).join(" "));
    setVariable(this.inner, "min-width", `${sum()}px`);
  }

  /**
   * @private
   * @param {GridColumn} column
   * @param {number} place
   */
  headerCell(column, place) {
    const model = /** @type {GridModel} */ (this.model);
    const sorted = model.sorted === column.key;
    const meaning = meaningParts(column).join("");
    return h("div", {
      role: "columnheader", "aria-colindex": place + 1,
      "aria-sort": sorted ? (model.descending ? "descending" : "ascending") : "none",
      class: `cell head${isNumeric(column) ? " number" : ""}${sorted ? " sorted" : ""}`,
    }, model.fixed ? h("span", {
      class: "sort", title: meaning || null,
    }, h("span", null, model.labels[place])) : h("button", {
      type: "button", class: "sort", "data-column": column.key, onclick: () => this.events.sort(column.key),
      title: meaning ? `${fullSentence(meaning)}\n${column.key}` : column.key,
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
    const first = Math.max(0, Math.floor(top / this.tall) - rowMargin);
    const last = Math.min(model.rows.length, Math.max(
      Math.ceil((top + height) / this.tall) + rowMargin, least));
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
    if (!model) return;
    const shown = begins ? Math.min(model.rows.length, printedRows) : model.rows.length;
    const width = model.widths.reduce((sum, one) => sum + one, 0);
    setVariable(this.body, "height", `${Math.max(shown, 1) * this.tall}px`);
    setVariable(this.inner, "zoom", begins ? Math.min(1, paperWidth / width) : 1);
    this.paper.remove();
    if (begins) {
      this.element.scrollTop = 0;
      if (shown < model.rows.length) {
        this.paper.textContent = `The first ${formatValue(shown)} of ${
          countOf(model.rows.length, "row")}; the page on the screen has all.`;
        this.element.append(this.paper);
      }
    }
    // On paper rows stand one after the other: they are drawn again, in their order.
    this.drawn.clear();
    if (model.rows.length) this.body.replaceChildren();
    this.draw(begins ? shown : 0);
  }

  /**
   * @private
   * @param {GridModel} model
   * @param {number} place
   */
  row(model, place) {
    const row = model.rows[place];
    const branch = model.branch(row);
    const element = h("div", {
      class: `row${place === this.active ? " active" : ""}${place % 2 ? " odd" : ""}`,
      role: "row", "aria-rowindex": place + 2, id: `${this.id}-${place}`,
      "aria-level": branch ? (branch.level ?? branch.depth) + 1 : null,
      "aria-expanded": branch?.inner ? branch.open : null,
      "data-place": place,
    }, ...model.columns.map((column, i) => gridCell(model, column, i, row)),
      model.under ? gridUnder(model, model.under, row) : null);
    setVariable(element, "top", `${place * this.tall}px`);
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
      const top = this.active * this.tall;
      const room = this.element.clientHeight - this.tall * (model.totals ? 3 : 2);
      if (top < this.element.scrollTop) this.element.scrollTop = top;
      else if (top > this.element.scrollTop + room) this.element.scrollTop = top - room;
      this.draw();
    }
    this.drawn.get(this.active)?.classList.add("active");
    this.element.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
    this.events.moved?.(model.rows[this.active]);
  }

  /**
   * To the row around the active one.
   * @private
   * @param {import("./grid_cell.js").GridBranch} branch
   */
  moveOut(branch) {
    const model = /** @type {GridModel} */ (this.model);
    for (let place = this.active - 1; place >= 0; place--) {
      const other = model.branch(model.rows[place]);
      if (!other || (other.level ?? other.depth) >= (branch.level ?? branch.depth)) continue;
      this.move(place);
      return;
    }
  }

  /**
   * Makes a row the one that keys move, and brings it into sight.
   * @param {number} place from 0
   * @param {boolean} [center] in the middle
   * @returns {void}
   */
  goTo(place, center = false) {
    if (center) {
      this.element.scrollTop = Math.max(0, place * this.tall - this.element.clientHeight / 2);
    }
    this.move(place);
  }

  /** @returns {number} the row that the keys move; -1 without one */
  activeRow() {
    return this.active >= 0 && this.model ? this.model.rows[this.active] : -1;
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
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.tall) - 3);
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
        if (!branch) return;
        // Into an open branch.
        if (!this.events.branch(row, true) && branch.inner) this.move(this.active + 1);
        break;
      case "ArrowLeft":
        if (!branch) return;
        if (!branch.open || !this.events.branch(row, false)) this.moveOut(branch);
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
const printedRows = 200;
