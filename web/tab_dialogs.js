// What the tab shows above everything: an address to copy, problems of the log directory.
import { h } from "./parts/dom.js";
import { makeDialog } from "./parts/help.js";

/**
 * @param {string} label
 * @param {...(Node | null)} content
 * @returns {HTMLDialogElement} open; it goes away when it is closed
 */
function openDialog(label, ...content) {
  const dialog = makeDialog(label, ...content);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * For browsers that do not let a frame use the clipboard.
 * @param {string} link
 * @returns {void}
 */
export function linkDialog(link) {
  const field = /** @type {HTMLInputElement} */ (h("input", {
    class: "wide", readonly: true, "aria-label": "Address of what you see" }));
  field.value = link;
  openDialog("Copy this address", field);
  field.focus();
  field.select();
}

/**
 * @param {import("./data/runs.js").RunProblem[]} problems
 * @returns {HTMLElement}
 */
export function problemList(problems) {
  return h("ul", { class: "problems", tabindex: 0 }, problems.map(({ path, sentence }) =>
    h("li", null, h("code", null, path), h("span", null, sentence))));
}

/**
 * @param {import("./data/runs.js").RunProblem[]} problems
 * @param {string} logdir
 * @returns {void}
 */
export function problemsDialog(problems, logdir) {
  openDialog("Problems in the log directory",
    h("p", { class: "quiet" }, "In ", h("code", null, logdir)), problemList(problems));
}
