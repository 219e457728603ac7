// The view of operators: its tables, and what called what as a tree.
import { callTreePanel } from "../parts/call_tree_view.js";
import { cellOf, columnOf } from "../data/table.js";
import { tabPanels, tablePanels } from "../parts/sections.js";
import { scopedPage } from "../parts/scoped_page.js";

/**
 * Kernels are rows besides the operators that launched them: the same time twice.
 * @param {import("../data/source.js").Table} table
 * @returns {import("../parts/table.js").RowSwitch | null} null: all rows are of the host
 */
function kernelSwitch(table) {
  const type = columnOf(table, "device_type");
  const isMore = (/** @type {number} */ row) => type !== null && cellOf(type, row) !== "CPU";
  if (!Array.from({ length: table.rows }, (_, row) => row).some(isMore)) return null;
  return { name: "kernels", label: "with kernels", isMore,
           about: "Kernels repeat the time of the operators that launched them; the total counts it once." };
}

/**
 * The type of a device says nothing while all rows are of the host.
 * @param {import("../data/source.js").Table} table
 */
function withoutType(table) {
  return { ...table, shown: table.shown.filter((key) => key !== "device_type") };
}

/**
 * @param {import("../data/source.js").View} view
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement}
 */
export function renderOperators(view, page) {
  const panels = tablePanels({ ...view, tables: view.tables.map(withoutType) }, page, { more: kernelSwitch });
  if (page.has?.("flame_graph")) {
    panels.push({ name: "call_tree", title: "Call tree",
                  make: () => callTreePanel(scopedPage(page, "call_tree")) });
  }
  return tabPanels(panels, page, view.title);
}
