// Lists and menus that open above the page: what closes them, and what must not.
import { h } from "./dom.js";

/** Makes an element close by Esc, by a press or a focus elsewhere, and with the window's focus. */
export class Popup {
  /**
   * @param {HTMLElement} element what opens it and what is open
   * @param {(focus: boolean) => void} close focus: what opened it gets the focus
   */
  constructor(element, close) {
    /** @private */
    this.element = element;
    /** @private */
    this.close = close;
    /** @private @type {AbortController | null} */
    this.life = null;
    // A press on what cannot have the focus gives it to what is around the popup and can (`main`): the
    // popup would close before the click arrives.
    element.addEventListener("mousedown", (event) => {
      const target = /** @type {Element} */ (event.target);
      if (!target.closest("input, button, a, summary")) event.preventDefault();
    });
  }

  /** @returns {void} */
  opened() {
    this.closed();
    this.life = new AbortController();
    const { signal } = this.life;
    /** @param {EventTarget | null} target */
    const isOutside = (target) => target instanceof Node && !this.element.contains(target);
    this.element.addEventListener("focusout", (event) => {
      if (isOutside(event.relatedTarget)) this.close(false);
    }, { signal });
    document.addEventListener("pointerdown", (event) => {
      if (!this.element.isConnected) this.closed();
      else if (isOutside(event.target)) this.close(false);
    }, { signal, capture: true });
    document.addEventListener("keydown", (event) => {
      if (!this.element.isConnected) return this.closed();
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      this.close(true);
    }, { signal, capture: true });
    // To the page around, if this page is in a frame.
    addEventListener("blur", () => this.close(false), { signal });
  }

  /** @returns {void} */
  closed() {
    this.life?.abort();
    this.life = null;
  }
}

/**
 * Moves a sheet that is open into the window, as far as it is too wide or too high for its place.
 * @param {HTMLElement} sheet
 * @returns {void}
 */
export function keepInWindow(sheet) {
  for (const name of ["translate", "max-height"]) sheet.style.removeProperty(name);
  const margin = 8;
  const { left, right, top, bottom } = sheet.getBoundingClientRect();
  const tooFar = Math.max(0, right + margin - document.documentElement.clientWidth);
  const shift = Math.max(-tooFar, margin - left);
  if (shift > 0 || tooFar > 0) sheet.style.setProperty("translate", `${shift}px`);
  if (bottom + margin > innerHeight) {
    sheet.style.setProperty("max-height", `${Math.max(160, innerHeight - margin - top)}px`);
  }
}

/**
 * A button with a sheet below it.
 * @param {string} label
 * @param {...import("./dom.js").Child} content of the sheet
 * @returns {HTMLElement}
 */
export function popupMenu(label, ...content) {
  const summary = h("summary", { onclick: (/** @type {Event} */ event) => {
    // The browser would open it only after this event, and say so later.
    event.preventDefault();
    if (menu.open) return close(false);
    menu.open = true;
    keepInWindow(sheet);
    popup.opened();
  } }, label);
  const sheet = h("div", { class: "sheet" }, content);
  const menu = /** @type {HTMLDetailsElement} */ (h("details", { class: "menu" }, summary, sheet));
  /** @param {boolean} focus */
  const close = (focus) => {
    popup.closed();
    menu.open = false;
    if (focus) summary.focus();
  };
  const popup = new Popup(menu, close);
  return menu;
}
