// A field to choose one of several, with its name beside it.
import { h } from "./dom.js";

/**
 * @param {string} label
 * @param {[string, string][]} options value and text
 * @param {string} value that is chosen
 * @param {(value: string) => void} choose
 * @returns {HTMLElement}
 */
export function labelledSelect(label, options, value, choose) {
  const select = /** @type {HTMLSelectElement} */ (h("select", { onchange: () => choose(select.value) },
    options.map(([key, text]) => h("option", { value: key }, text))));
  select.value = options.some(([key]) => key === value) ? value : options[0]?.[0] ?? "";
  return h("label", { class: "labelled" }, h("span", { class: "quiet" }, label), select);
}

/**
 * Buttons of which one is pressed.
 * @param {string} label for people who hear the page
 * @param {[string, string][]} options value and text
 * @param {string} value
 * @param {(value: string) => void} choose
 * @returns {HTMLElement}
 */
export function choiceButtons(label, options, value, choose) {
  const chosen = options.some(([key]) => key === value) ? value : options[0][0];
  const buttons = options.map(([key, text]) => h("button", {
    type: "button", class: "choice", "aria-pressed": key === chosen, onclick: () => {
      buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(options[at][0] === key)));
      choose(key);
    },
  }, text));
  return h("div", { class: "choices", role: "group", "aria-label": label }, buttons);
}
