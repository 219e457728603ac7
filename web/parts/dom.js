// Elements without markup: texts of traces are hostile, so nothing here ever parses HTML.

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Child | Child[]} Children */
/** @typedef {{[name: string]: unknown}} Attributes */

/**
 * An HTML element. Attributes: texts and numbers as they are, `true` as an empty attribute,
 * `false`, null and undefined left out (aria-* keep `true` and `false` as texts), functions
 * named `on...` as listeners.
 * @param {string} tag
 * @param {Attributes | null} [attributes]
 * @param {...Children} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  decorateElement(element, attributes, children);
  return element;
}

/**
 * An SVG element, with the same attributes.
 * @param {string} tag
 * @param {Attributes | null} [attributes]
 * @param {...Children} children
 * @returns {SVGElement}
 */
export function s(tag, attributes, ...children) {
  const element = /** @type {SVGElement} */ (
    document.createElementNS("http://www.w3.org/2000/svg", tag));
  decorateElement(element, attributes, children);
  return element;
}

/**
 * @param {Element} element
 * @param {Attributes | null | undefined} attributes
 * @param {Children[]} children
 */
function decorateElement(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined) continue;
    if (typeof value === "function") {
      if (!name.startsWith("on")) throw new Error(`a function as the attribute ${name}`);
      element.addEventListener(name.slice(2).toLowerCase(),
                               /** @type {EventListener} */ (value));
    } else if (name === "style") {
      // The page's policy forbids style attributes: use setVariable() or a class.
      throw new Error("style attributes are forbidden");
    } else if (typeof value === "boolean" && !name.startsWith("aria-")) {
      if (value) element.setAttribute(name, "");
    } else {
      element.setAttribute(name, String(value));
    }
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(typeof child === "number" ? String(child) : child);
  }
}

/**
 * Sets a style property, such as `--bar` or `height`. The page's policy allows this way only.
 * @param {HTMLElement | SVGElement} element
 * @param {string} name
 * @param {string | number} value
 * @returns {void}
 */
export function setVariable(element, name, value) {
  element.style.setProperty(name, String(value));
}

/**
 * Shows that a button has no effect now. It keeps the focus, unlike one that is disabled.
 * @param {HTMLElement} button
 * @param {boolean} isDisabled
 * @returns {void}
 */
export function disable(button, isDisabled) {
  button.setAttribute("aria-disabled", String(isDisabled));
}

/** Width of a sheet within its margins, in pixels. */
export const paperWidth = 700;

/**
 * Calls back when printing begins and when it ends, as long as an element is on the page.
 * @param {Element} element
 * @param {(begins: boolean) => void} listener
 * @returns {void}
 */
export function onPrint(element, listener) {
  const before = () => {
    if (element.isConnected) listener(true);
  };
  const after = () => {
    if (element.isConnected) return listener(false);
    // What is no longer on the page must not stay in memory.
    removeEventListener("beforeprint", before);
    removeEventListener("afterprint", after);
  };
  addEventListener("beforeprint", before);
  addEventListener("afterprint", after);
}

/**
 * Calls back with the width of a chart when it has one, and when it has another one.
 * @param {Element} board
 * @param {(width: number) => void} draw
 * @returns {void}
 */
export function onWidth(board, draw) {
  let width = 0;
  /** @param {number} next */
  const fit = (next) => {
    if (next > 0 && next !== width) draw(width = next);
  };
  new ResizeObserver(() => fit(board.clientWidth)).observe(board);
  // Beside it may be an axis.
  onPrint(board, (begins) => fit(begins ? paperWidth - 70 : board.clientWidth));
}

/**
 * Puts a text on the clipboard; false if the browser refuses.
 * @param {string} text
 * @returns {Promise<boolean>}
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Frames and old browsers have no clipboard object: the old way needs a selected field.
    const field = /** @type {HTMLTextAreaElement} */ (h("textarea", { class: "offscreen" }));
    field.value = text;
    document.body.append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    return copied;
  }
}

/**
 * The same, and says whether it is there.
 * @param {{say: (message: string) => void}} page
 * @param {string} text
 * @param {string} what
 * @returns {Promise<void>}
 */
export async function copyAndSay(page, text, what) {
  page.say(await copyText(text) ? `The ${what} on the clipboard.`
    : "The browser does not let this page use the clipboard.");
}

/**
 * Offers a text as a file to save.
 * @param {string} name of the file
 * @param {string} text
 * @param {string} type its media type
 * @returns {void}
 */
export function saveText(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = /** @type {HTMLAnchorElement} */ (h("a", { href: address, download: name }));
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
