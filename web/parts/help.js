// What the keys do.
import { h } from "./dom.js";

/** @type {[string, string][]} */
const viewMeanings = [
  ["1 \u2013 9 0", "the views with these digits in the list"],
  ["r", "the ranks of a job"],
  ["\u2190 \u2192", "close or open a branch of a tree, or go out of it and into it"],
  ["h f", "in the call tree: the heaviest path, the frame in the flame graph"],
];

/** @type {[string, string][]} */
const keyMeanings = [
  ["/", "search in the table, or in the flame graph with the focus"],
  ["\u2191 \u2193 Page Home End", "move in the rows of a table"],
  ["Enter", "details of the row, or zoom in the flame graph"],
  ["Esc", "close the row, the menu or this help"],
  ["t", "light or dark"],
  ["?", "this help"],
];

/** @type {[string, string][]} Keys of the timeline. */
export const timelineKeys = [
  ["w s", "zoom in and out; also the wheel, or pinch"],
  ["a d", "pan; also drag, or Shift+wheel; drag or Alt+wheel scrolls the tracks"],
  ["Shift+drag", "measure a span of time; also drag on the axis"],
  ["\u2190 \u2192 \u2191 \u2193", "neighbour, range around, range inside; without a selection: pan. On the name " +
    "of a track or counter: its instants or values"],
  ["Enter", "zoom to the selection; also a double click"],
  ["f", "fit the selection or the span into the view"],
  ["e", "the entire trace"],
  ["/", "search; then Enter and Shift+Enter for the next and the previous match"],
  ["Esc", "clear the selection, the span, the search"],
];

/**
 * @param {[string, string][]} rows keys with spaces between them, and what they do
 * @returns {HTMLElement[]} of a `dl`
 */
export function keyRows(rows) {
  return rows.flatMap(([keys, meaning]) => [
    h("dt", null, keys.split(" ").map((key) =>
      key === "\u2013" ? " \u2013 " : h("kbd", { class: "key" }, key))),
    h("dd", null, meaning)]);
}

/**
 * The help, closed.
 * @param {string} version of tbtrace
 * @param {boolean} isAlone the page is in a file; else TensorBoard is around it and has the theme
 * @param {string[]} views
 * @returns {HTMLDialogElement}
 */
export function helpDialog(version, isAlone, views) {
  return makeDialog("Shortcuts",
    h("dl", null, keyRows([...(views.length > 1 ? viewMeanings : []),
      ...keyMeanings.filter(([keys]) => isAlone || keys !== "t")])),
    ...(views.includes("timeline") ? [h("h3", null, "On the timeline"), h("dl", null, keyRows(timelineKeys))] : []),
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
    // Otherwise a dialog that is higher than the window opens at its button, which is its end.
    h("h2", { tabindex: -1, autofocus: true }, label), content,
    h("form", { method: "dialog" }, h("button", { value: "close" }, "Close"))));
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  return dialog;
}
