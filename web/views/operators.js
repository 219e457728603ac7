// The view of operators: its tables, and what called what as a tree.
import { callTreePanel } from "../parts/call_tree_view.js";
import { scopedPage, tabPanels, tablePanels } from "../parts/sections.js";

/**
 * @param {import("../data/source.js").View} view
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement}
 */
export function renderOperators(view, page) {
  const panels = tablePanels(view, page);
  if (page.has?.("flame_graph")) {
    panels.push({ name: "call_tree", title: "Call tree",
                  make: () => callTreePanel(scopedPage(page, "call_tree")) });
  }
  return tabPanels(panels, page, view.title);
}
