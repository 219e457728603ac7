// Light or dark: the system's choice until the button was pressed. The choice is in the address,
// because the page stores nothing on the reader's machine.

/** @typedef {"light" | "dark"} Theme */

/**
 * @param {string | null} chosen from the address
 * @returns {Theme}
 */
export function themeOf(chosen) {
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/**
 * Style sheets read the attribute, so that canvases and styles always agree.
 * @param {Theme} theme
 * @returns {void}
 */
export function applyTheme(theme) {
  document.documentElement.dataset.theme = theme;
}

/**
 * Calls back when another theme was applied, as long as an element is on the page: a canvas cannot
 * read style sheets.
 * @param {Element} element
 * @param {() => void} draw
 * @returns {void}
 */
export function onTheme(element, draw) {
  const themes = new MutationObserver(() => {
    // At once: before printing there is no next frame.
    if (element.isConnected) draw();
    else themes.disconnect();
  });
  themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
}

/**
 * @param {HTMLElement} button that switches the theme
 * @param {Theme} theme that is applied
 * @param {string} [keys]
 * @returns {void}
 */
export function themeButton(button, theme, keys = "") {
  button.textContent = theme === "dark" ? "\u2600" : "\u263e";
  const words = `Switch to the ${theme === "dark" ? "light" : "dark"} theme`;
  button.title = words + keys;
  button.setAttribute("aria-label", words);
}

/**
 * Calls back when the system changes its theme.
 * @param {() => void} listener
 * @returns {void}
 */
export function listenToSystemTheme(listener) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", listener);
}

/**
 * Paper is light. The theme of the screen comes back after printing.
 * @param {() => Theme} current
 * @returns {void}
 */
export function printInLight(current) {
  addEventListener("beforeprint", () => applyTheme("light"));
  addEventListener("afterprint", () => applyTheme(current()));
}
