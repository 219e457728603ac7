// The view of lines: the text of each line, if the report has it.
import { tablesOf } from "../parts/sections.js";

/**
 * @param {import("../data/source.js").View} view
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement}
 */
export function renderLines(view, page) {
  return tablesOf(view, page, { under: "source" });
}
