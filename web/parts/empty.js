// Why there is nothing to see, and what to record next time.
import { h } from "./dom.js";

/**
 * @param {string | null} reason sentences; null if nothing is known
 * @param {string} [title]
 * @returns {HTMLElement}
 */
export function emptyBox(reason, title = "Nothing to show here") {
  return h("div", { class: "nothing" }, h("h2", null, title),
    h("p", { class: "quiet" }, fullSentence(reason || "the trace has no data for this table")));
}

/**
 * @param {string} text
 * @returns {string} with a capital letter and a full stop
 */
export function fullSentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?\u2026]$/.test(text) ? "" : ".");
}
