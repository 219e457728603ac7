// What the keys do.
import { h } from "./dom.js";

/** @type {[string, string][]} */
const keyMeanings = [
  ["1 \u2013 9 0", "the first ten views, in their order"],
  ["/", "search in the table"],
  ["\u2191 \u2193 Page Home End", "move in the rows of a table"],
  ["\u2190 \u2192", "close or open a branch of a tree, or go out of it and into it"],
  ["h f", "in the call tree: the heaviest path, the frame in the flame graph"],
  ["Enter", "the row in full"],
  ["Esc", "close the row, the menu or this help"],
  ["t", "light or dark"],
  ["?", "this help"],
];

/**
 * The help, closed.
 * @param {string} version of tbtrace
 * @param {boolean} isAlone the page is in a file; else TensorBoard is around it and has the theme
 * @returns {HTMLDialogElement}
 */
export function helpDialog(version, isAlone) {
  return makeDialog("Keys",
    h("dl", null, keyMeanings.flatMap(([keys, meaning]) => !isAlone && keys === "t" ? [] : [
      h("dt", null, keys.split(" ").map((key) =>
        key === "\u2013" ? " \u2013 " : h("kbd", { class: "key" }, key))),
      h("dd", null, meaning)])),
    h("p", { class: "quiet" }, "The address has what you see: copy it to share the view." +
      (isAlone ? " The page needs no network and stores nothing." : "")),
    version ? h("p", { class: "quiet" }, `Made by tbtrace ${version}.`) : null);
}

/**
 * @param {string} label
 * @param {...import("./dom.js").Child} content
 * @returns {HTMLDialogElement} closed
 */
export function makeDialog(label, ...content) {
  const dialog = /** @type {HTMLDialogElement} */ (h("dialog", { "aria-label": label },
    h("h2", null, label), content,
    h("form", { method: "dialog" }, h("button", { value: "close" }, "Close"))));
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  return dialog;
}
