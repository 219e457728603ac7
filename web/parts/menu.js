// A button that opens a sheet below it: it closes by Esc, by a press elsewhere, and when the focus
// goes elsewhere.
import { h } from "./dom.js";

/**
 * @param {string} label of the button
 * @param {...import("./dom.js").Child} content of the sheet
 * @returns {HTMLElement} closed
 */
export function makeMenu(label, ...content) {
  const button = h("summary", null, label);
  const sheet = h("div", { class: "sheet" }, content);
  const menu = h("details", { class: "menu" }, button, sheet);
  // Pressing a text in the sheet would move the focus out of the menu, which closes it before the
  // click arrives.
  sheet.addEventListener("mousedown", (event) => {
    if (!(/** @type {Element} */ (event.target).closest("input, button, a"))) event.preventDefault();
  });
  menu.addEventListener("focusout", (event) => {
    const next = /** @type {Node | null} */ (event.relatedTarget);
    if (next && !menu.contains(next)) menu.removeAttribute("open");
  });
  const pressed = (/** @type {Event} */ event) => {
    if (!menu.contains(/** @type {Node} */ (event.target))) menu.removeAttribute("open");
  };
  const keyed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || !menu.isConnected) return;
    menu.removeAttribute("open");
    button.focus();
    event.preventDefault();
    event.stopPropagation();
  };
  menu.addEventListener("toggle", () => {
    const change = menu.hasAttribute("open") ? "addEventListener" : "removeEventListener";
    document[change]("pointerdown", pressed, true);
    document[change]("keydown", /** @type {EventListener} */ (keyed), true);
  });
  return menu;
}
