// A button that opens a list with a search: one of a few, or of thousands.
import { h } from "./dom.js";
import { keepInWindow, Popup } from "./popup.js";
import { matchingPlaces } from "../data/runs.js";

/** @typedef {{value: string, label: string, note: string}} PickerItem */

/** How many items are drawn: who looks for another one types a part of its name. */
const drawnItems = 300;
/** A list as short as this needs no search. */
const fewItems = 8;

let pickerCount = 0;

export class Picker {
  /**
   * @param {string} what it chooses: `Run`
   * @param {(value: string) => void} choose
   */
  constructor(what, choose) {
    /** @private */
    this.what = what;
    /** @private */
    this.choose = choose;
    /** @private */
    this.id = `picker-${++pickerCount}`;
    /** @private @type {PickerItem[]} */
    this.items = [];
    /** @private @type {string | null} */
    this.value = null;
    /**
     * Of the items that match: their places.
     * @private
     * @type {number[]}
     */
    this.shown = [];
    /** Place among those. @private */
    this.active = 0;
    /** @private */
    this.button = h("button", {
      type: "button", class: "picker-button", "aria-haspopup": "dialog", "aria-expanded": false,
      onclick: () => this.toggle(),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== "ArrowDown" || this.sheet.hidden === false) return;
        event.preventDefault();
        this.toggle();
      },
    });
    /** @private */
    this.search = /** @type {HTMLInputElement} */ (h("input", {
      type: "search", role: "combobox", "aria-expanded": true, "aria-controls": `${this.id}-list`,
      "aria-autocomplete": "list", "aria-label": `Find: ${what}`, autocomplete: "off",
      spellcheck: "false", placeholder: "Type a part of the name",
      oninput: () => { this.active = 0; this.drawList(); },
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
    }));
    /** @private */
    this.list = h("ul", { role: "listbox", id: `${this.id}-list`, "aria-label": what });
    /** @private */
    this.count = h("p", { class: "quiet", role: "status" });
    /** @private */
    this.sheet = h("div", { class: "picker-sheet", role: "dialog", "aria-label": `Choose: ${what}`,
                            hidden: true }, this.search, this.list, this.count);
    this.element = h("div", { class: "picker" }, this.button, this.sheet);
    /** @private */
    this.popup = new Popup(this.element, (focus) => this.close(focus));
  }

  /**
   * @param {PickerItem[]} items in their order
   * @param {string | null} value the chosen one
   * @returns {void}
   */
  update(items, value) {
    this.items = items;
    this.value = value;
    const item = items.find((one) => one.value === value);
    const label = item?.label ?? "none";
    this.button.replaceChildren(h("span", { class: "picker-what" }, this.what), " ",
      h("span", { class: "picker-value" }, label));
    this.button.title = label;
    this.element.classList.toggle("single", items.length < 2);
    if (!this.sheet.hidden) this.drawList();
  }

  /** @private */
  toggle() {
    if (!this.sheet.hidden) return this.close(true);
    this.sheet.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
    this.search.value = "";
    this.search.classList.toggle("offscreen", this.items.length <= fewItems);
    this.drawList();
    this.active = Math.max(0, this.shown.findIndex((place) => this.items[place].value === this.value));
    this.mark();
    this.search.focus({ preventScroll: true });
    keepInWindow(this.sheet);
    this.popup.opened();
  }

  /**
   * @private
   * @param {boolean} focus the button gets it
   */
  close(focus) {
    if (this.sheet.hidden) return;
    this.popup.closed();
    this.sheet.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
    this.list.replaceChildren();
    if (focus) this.button.focus();
  }

  /** @private */
  drawList() {
    this.shown = matchingPlaces(this.items.map(({ label, note }) => `${label} ${note}`),
                                this.search.value);
    // The chosen one is drawn, too, however many are before it.
    const chosen = this.shown.findIndex((place) => this.items[place].value === this.value);
    const first = Math.max(0, Math.min(chosen - 50, this.shown.length - drawnItems));
    const left = this.shown.length - drawnItems;
    if (left > 0) this.shown = this.shown.slice(first, first + drawnItems);
    this.list.replaceChildren(...this.shown.map((place, number) => {
      const { value, label, note } = this.items[place];
      return h("li", {
        role: "option", id: `${this.id}-${number}`, "aria-selected": value === this.value, title: label,
        onclick: () => this.take(number),
      }, h("span", { class: "picker-label" }, label), note ? h("small", null, note) : null);
    }));
    this.count.textContent = this.shown.length === 0 ? "Nothing has this in its name."
      : left > 0 ? `${left.toLocaleString("en")} more. Type a part of the name.` : "";
    this.mark();
  }

  /** @private */
  mark() {
    [...this.list.children].forEach((row, number) => {
      row.classList.toggle("active", number === this.active);
    });
    const row = this.list.children[this.active];
    if (!row) return this.search.removeAttribute("aria-activedescendant");
    this.search.setAttribute("aria-activedescendant", row.id);
    row.scrollIntoView({ block: "nearest" });
  }

  /**
   * @private
   * @param {number} number
   */
  take(number) {
    const item = this.items[this.shown[number]];
    if (!item) return;
    this.close(true);
    if (item.value !== this.value) this.choose(item.value);
  }

  /**
   * @private
   * @param {KeyboardEvent} event
   */
  key(event) {
    const last = this.shown.length - 1;
    if (event.key === "ArrowDown") this.active = Math.min(this.active + 1, last);
    else if (event.key === "ArrowUp") this.active = Math.max(this.active - 1, 0);
    else if (event.key === "PageDown") this.active = Math.min(this.active + 10, last);
    else if (event.key === "PageUp") this.active = Math.max(this.active - 10, 0);
    else if (event.key === "Home" && event.ctrlKey) this.active = 0;
    else if (event.key === "End" && event.ctrlKey) this.active = last;
    else if (event.key === "Enter") this.take(this.active);
    else return;
    event.preventDefault();
    event.stopPropagation();
    this.mark();
  }
}
