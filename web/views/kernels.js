// The view of kernels: the time by family, and which kernels use tensor cores.
import { h } from "../parts/dom.js";
import { formatValue } from "../parts/format.js";
import { stackedBar } from "../parts/bars.js";
import { tablesOf } from "../parts/sections.js";
import { cellOf, columnOf, recordsOf } from "../data/table.js";

/** @typedef {import("../data/source.js").Table} KernelTable */

/** Families that have a colour; the others have that of `other`. */
const kernelFamilies = ["gemm", "convolution", "attention", "elementwise", "reduction",
                        "normalization", "softmax", "embedding", "pooling", "copy", "optimizer",
                        "collective", "triton", "sort", "random"];
/** Columns of kernels by name in the order of use; the others are a click away. */
const namedShown = ["short_name", "family", "total_ns", "share_percent", "count", "mean_ns", "tensor_cores_used", "operator",
                    "source_line"];
/** Families whose work tensor cores can do. */
const tensorFamilies = ["gemm", "convolution", "attention"];

/**
 * @param {unknown} family
 * @returns {string} the class `part-<kind>` has its colour
 */
export function familyKind(family) {
  return kernelFamilies.includes(String(family)) ? `family-${family}` : "other";
}

/**
 * What is said about tensor cores; null: nothing is known, or they have nothing to do with it.
 * @param {unknown} used
 * @param {unknown} family
 * @returns {{text: string, severity: string, title: string} | null}
 */
export function tensorCoreBadge(used, family) {
  if (used === true) {
    return { text: "used", severity: "good", title: "The kernel runs on tensor cores" };
  }
  if (used === false && tensorFamilies.includes(String(family))) {
    return { text: "could be", severity: "warning",
             title: "Tensor cores can do such work, and this kernel does not use them" };
  }
  return null;
}

/**
 * The total time by family, largest first, and what is not in the table.
 * @param {KernelTable} table by_family
 * @returns {{label: string, kind: string, value: number}[]}
 */
export function familyParts(table) {
  /** @type {Map<string, number>} */
  const sums = new Map();
  let listed = 0;
  // A family has a row per rank.
  for (const row of recordsOf(table)) {
    const family = String(row.family ?? "other");
    sums.set(family, (sums.get(family) ?? 0) + Number(row.total_ns ?? 0));
    listed += Number(row.total_ns ?? 0);
  }
  const parts = [...sums].sort((a, b) => b[1] - a[1])
    .map(([label, value]) => ({ label, kind: familyKind(label), value }));
  const rest = table.left_out > 0 ? Number(table.totals.total_ns ?? 0) - listed : 0;
  if (rest > 0) parts.push({ label: "not listed", kind: "idle", value: rest });
  return parts;
}

/**
 * @param {KernelTable} table
 * @returns {import("../parts/grid_cell.js").GridDress}
 */
function kernelDress(table) {
  const family = columnOf(table, "family");
  return (column, row) => {
    if (column.key === "family") {
      return { before: h("span", { class: `dot part part-${familyKind(cellOf(column, row))}`,
                                   "aria-hidden": true }) };
    }
    if (column.key !== "tensor_cores_used") return null;
    const badge = tensorCoreBadge(cellOf(column, row), family ? cellOf(family, row) : null);
    return badge ? { instead: h("span", { class: `badge ${badge.severity}`, title: badge.title },
                                badge.text) } : null;
  };
}

/**
 * @param {KernelTable} table
 * @returns {KernelTable} with the columns that people look for, the family beside the name
 */
function withFamily(table) {
  if (table.name === "by_name") return { ...table, shown: namedShown };
  const at = table.shown.indexOf("short_name");
  if (at < 0 || table.shown.includes("family") || !columnOf(table, "family")) return table;
  return { ...table, shown: [...table.shown.slice(0, at + 1), "family",
                             ...table.shown.slice(at + 1)] };
}

/**
 * @param {import("../data/source.js").View} view
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement}
 */
export function renderKernels(view, page) {
  const families = view.tables.find((table) => table.name === "by_family");
  const parts = families ? familyParts(families) : [];
  const sum = parts.reduce((all, part) => all + part.value, 0);
  return h("div", null, sum > 0 ? h("section", { class: "section first" },
    h("h2", null, "Time by family", h("span", { class: "quiet" }, formatValue(sum, "ns"))),
    stackedBar(parts, "ns")) : null,
    h("div", { class: sum > 0 ? "section" : null },
      tablesOf({ ...view, tables: view.tables.map(withFamily) }, page, { dress: kernelDress })));
}
