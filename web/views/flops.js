// The view of FLOPs: a roofline of the operators, and the table.
import { h } from "../parts/dom.js";
import { formatValue } from "../parts/format.js";
import { rooflineChart } from "../parts/chart_roofline.js";
import { tablesOf } from "../parts/sections.js";
import { cellOf, columnOf, recordsOf } from "../data/table.js";

/** More dots than these hide each other; the table has all. */
const flopsMostPoints = 500;

/**
 * @param {import("../data/source.js").View} view
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement}
 */
export function renderFlops(view, page) {
  const table = view.tables.find((one) =>
    one.columns.some((column) => column.key === "flops_per_byte"));
  const rows = table === undefined ? [] : recordsOf(table).filter((row) =>
    Number(row.flops_per_byte) > 0 && Number(row.flops_per_s) > 0);
  const onDevice = rows.some((row) => Number(row.device_time_total_ns) > 0);
  const key = onDevice ? "device_time_total_ns" : "cpu_time_total_ns";
  const drawn = rows.filter((row) => Number(row[key]) > 0).slice(0, flopsMostPoints);
  const children = [];
  const isKnown = flopsAreKnown(view);
  /** @type {Set<string>} */
  const notes = new Set(isKnown ? [] : view.tables.flatMap((one) => one.notes));
  // Notes that are on top are not said again.
  const shown = notes.size === 0 ? view
    : { ...view, tables: view.tables.map((one) => ({ ...one, notes: [] })) };
  const tables = h("div", { class: "section" }, tablesOf(shown, page));
  if (!isKnown) {
    children.push(h("div", { class: "nothing" },
      h("h2", null, "The FLOPs of no operator are known"),
      notes.size === 0 ? h("p", { class: "quiet" }, "No operator of the trace could be counted.")
        : [...notes].map((note) => h("p", { class: "quiet" }, note))));
  }
  if (drawn.length > 0) {
    const { roofs, bandwidth } = flopsRoofs(drawn);
    children.push(h("section", { class: "section" },
      h("h2", null, "Roofline", h("span", { class: "quiet" }, flopsSummary(table?.totals ?? {}))),
      rooflineChart({
        points: drawn.map((row) => ({
          label: row.name + (row.input_shapes ? " " + flopsShapes(row.input_shapes) : ""),
          intensity: Number(row.flops_per_byte), rate: Number(row.flops_per_s),
          time: Number(row[key]), bound: row.bound ?? "", share: row.roof_share,
          detail: row.precision ?? "",
        })),
        roofs, bandwidth, timeName: onDevice ? "GPU time" : "CPU time",
        picked: drawn.findIndex((row) => row.name === page.get("search")),
      }, (point) => {
        page.set("search", point < 0 ? null : drawn[point].name);
        page.set("table", null);
        page.set("row", null);
        tables.replaceChildren(tablesOf(shown, page));
      }),
      roofs.length > 0 ? null : h("p", { class: "quiet" },
        "The limits of this device are not known, so no roofs are drawn. " +
        (onDevice ? "Give them with --peak-tflops and --peak-bandwidth." : ""))));
  }
  children.push(tables);
  return h("div", { class: "flops" }, children);
}

/**
 * @param {import("../data/source.js").View} view
 * @returns {boolean} whether any operator was counted; true of a view without rows, whose tables
 *     say why they are empty
 */
export function flopsAreKnown(view) {
  const filled = view.tables.filter((table) => table.rows > 0);
  return filled.length === 0 || filled.some((table) => {
    const state = columnOf(table, "state"), flops = columnOf(table, "flops");
    return flops !== null && flops.values.some((value, row) => Number(value ?? 0) > 0 &&
      (state === null || cellOf(state, row) === "counted"));
  });
}

/**
 * The peaks that occur, and the memory's bandwidth, which the rows have only as a product: where
 * memory is the limit, the roof is the intensity times the bandwidth.
 * @param {{[key: string]: any}[]} rows
 * @returns {{roofs: import("../parts/chart_roofline.js").RooflineRoof[], bandwidth: number|null}}
 */
function flopsRoofs(rows) {
  /** @type {Map<string, number>} */
  const peaks = new Map();
  let bandwidth = null;
  for (const row of rows) {
    if (row.peak_flops_per_s > 0) {
      peaks.set(row.precision ?? "", Math.max(peaks.get(row.precision ?? "") ?? 0,
                                              row.peak_flops_per_s));
    }
    if (row.bound === "memory" && row.roof_flops_per_s > 0) {
      bandwidth = row.roof_flops_per_s / row.flops_per_byte;
    }
  }
  return { roofs: [...peaks].map(([label, peak]) => ({ label, peak }))
    .sort((a, b) => b.peak - a.peak), bandwidth };
}

/** @param {{[name: string]: any}} totals */
function flopsSummary(totals) {
  const parts = [];
  if (totals.achieved_flops_per_s > 0) {
    parts.push(formatValue(totals.achieved_flops_per_s, "per_s").replace("/s", "FLOP/s") +
               " over the recording");
  }
  if (totals.model_flops_utilization > 0) {
    parts.push("MFU " + formatValue(totals.model_flops_utilization, "share"));
  }
  return parts.join(", ");
}

/** @param {unknown} shapes */
function flopsShapes(shapes) {
  return typeof shapes === "string" ? shapes : JSON.stringify(shapes);
}
