// The view of memory: the curve of each device, and what held its peak.
import { h } from "../parts/dom.js";
import { exactValue, formatValue } from "../parts/format.js";
import { holderItem, stackedBar } from "../parts/bars.js";
import { curveChart } from "../parts/chart_curve.js";
import { emptyBox } from "../parts/empty.js";
import { tablesOf } from "../parts/sections.js";
import { timelineLink, timelinePart } from "../parts/timeline_link.js";
import { cellOf, columnOf, recordsOf } from "../data/table.js";
import { renderMemorySnapshot } from "./memory_snapshot.js";

const memoryHolders = 10;

/**
 * @param {import("../data/source.js").View} view
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement}
 */
export function renderMemory(view, page) {
  /** @param {string} name */
  const table = (name) =>
    view.tables.find((one) => one.name === name) ?? null;
  if (table("by_line") !== null) return renderMemorySnapshot(view, page);
  const peak = table("peak"), alive = table("alive"), curve = table("curve");
  const rows = peak === null ? [] : memoryByPeak(recordsOf(peak));
  if (rows.length === 0) {
    const empty = peak?.empty ?? curve?.empty ?? null;
    return empty === null ? h("div", null, tablesOf(view, page)) : emptyBox(empty);
  }
  const byDevice = curve === null ? new Map() : memoryCurves(curve);
  const hasProcesses = new Set(rows.map((row) => row.process)).size > 1;
  const sections = rows.map((row, which) => memoryDevice(
    row, alive, byDevice.get(memoryKey(row)) ?? null, hasProcesses, page, `zoom${which || ""}`));
  if (curve !== null && curve.left_out > 0) {
    sections.push(h("p", { class: "quiet" }, formatValue(curve.left_out) +
      " records between the lowest and the highest ones are left out of the curves."));
  }
  return h("div", { class: "memory" }, sections, h("div", { class: "section" },
                                                   tablesOf(view, page)));
}

/**
 * @param {{[key: string]: any}[]} rows of the table `peak`
 * @returns {{[key: string]: any}[]} the largest peak first
 */
export function memoryByPeak(rows) {
  return rows.slice().sort((a, b) => Number(b.peak_bytes ?? 0) - Number(a.peak_bytes ?? 0));
}

/** @param {{[key: string]: any}} row with a device of a process */
function memoryKey(row) {
  return JSON.stringify([row.rank ?? null, row.process ?? null, row.device_name]);
}

/**
 * @typedef {object} MemoryCurve
 * @property {Float64Array} x in ns
 * @property {Float64Array} allocated in bytes
 * @property {Float64Array} reserved in bytes; NaN: not recorded
 * @property {boolean} hasReserved
 */

/**
 * The records of each device, by time.
 * @param {import("../data/source.js").Table} table
 * @returns {Map<string, MemoryCurve>}
 */
function memoryCurves(table) {
  /** @param {string} key */
  const cell = (key) => {
    const column = columnOf(table, key);
    return (/** @type {number} */ row) => (column === null ? null : cellOf(column, row));
  };
  const rank = cell("rank"), process = cell("process"), device = cell("device_name");
  const at = cell("at_ns"), allocated = cell("allocated_bytes"), reserved = cell("reserved_bytes");
  /** @type {Map<string, number[]>} */
  const rows = new Map();
  // Records of one device follow each other: its key is made once, not once per record.
  let last = "", list = /** @type {number[]} */ ([]);
  for (let row = 0; row < table.rows; ++row) {
    const short = rank(row) + " " + process(row) + " " + device(row);
    if (row === 0 || short !== last) {
      const key = memoryKey({ rank: rank(row), process: process(row), device: device(row) });
      list = rows.get(key) ?? [];
      rows.set(key, list);
      last = short;
    }
    list.push(row);
  }
  const curves = new Map();
  for (const [key, places] of rows) {
    const times = places.map((row) => Number(at(row)));
    let isSorted = true;
    for (let which = 1; which < times.length; ++which) {
      if (times[which] < times[which - 1]) isSorted = false;
    }
    const order = isSorted ? places
      : places.map((row, which) => ({ row, time: times[which] }))
        .sort((a, b) => a.time - b.time).map(({ row }) => row);
    /** @param {(row: number) => any} value */
    const numbers = (value) =>
      Float64Array.from(order, (row) => {
        const one = value(row);
        return one === null ? NaN : Number(one);
      });
    const held = numbers(reserved);
    curves.set(key, { x: numbers(at), allocated: numbers(allocated), reserved: held,
                      hasReserved: held.some((value) => value === value) });
  }
  return curves;
}

/**
 * @param {{[key: string]: any}} row of the table `peak`
 * @param {import("../data/source.js").Table|null} alive
 * @param {MemoryCurve|null} curve
 * @param {boolean} hasProcesses whether devices of several processes are in the view
 * @param {import("../data/source.js").Page} page
 * @param {string} zoom what the address calls the part of the curve in sight
 * @returns {HTMLElement}
 */
function memoryDevice(row, alive, curve, hasProcesses, page, zoom) {
  const name = (row.rank === null || row.rank === undefined ? "" : "rank " + row.rank + ", ") +
    row.device_name + (hasProcesses ? ", process " + row.process : "");
  const facts = [
    ["peak", formatValue(row.peak_bytes, "bytes"), exactValue(row.peak_bytes, "bytes")],
    ["peak at", row.peak_at_ns === null ? "" : timelineLink(page, timelinePart(
      Number(row.peak_at_ns), Number(row.peak_at_ns)), formatValue(row.peak_at_ns, "ns"), "link") ??
      formatValue(row.peak_at_ns, "ns"), exactValue(row.peak_at_ns, "ns")],
    ["reserved at most", row.peak_reserved_bytes === null ? "" :
      formatValue(row.peak_reserved_bytes, "bytes"), exactValue(row.peak_reserved_bytes, "bytes")],
    ["growth per step", row.growth_per_step_bytes === null ? "" :
      formatValue(row.growth_per_step_bytes, "bytes"),
     exactValue(row.growth_per_step_bytes, "bytes")],
    ["failed allocations", row.out_of_memory > 0 ? formatValue(row.out_of_memory) : "", ""],
  ].filter(([, value]) => value !== "");
  const children = [
    h("h2", null, name),
    h("dl", { class: "facts-line" }, facts.map(([label, value, exact]) =>
      h("div", null, h("dt", null, label), h("dd", { title: exact }, value)))),
  ];
  if (curve !== null && curve.x.length > 1) {
    const series = [{ label: "allocated", kind: "allocated", values: curve.allocated }];
    if (curve.hasReserved) {
      series.push({ label: "reserved", kind: "reserved", values: curve.reserved });
    }
    children.push(curveChart({
      name: "Memory of " + name + " over time; arrow keys move, plus and minus zoom",
      x: curve.x, series, xUnit: "ns", yUnit: "bytes",
      zoom: page.get(zoom), onZoom: (value) => page.set(zoom, value),
      marks: row.peak_bytes === null || row.peak_at_ns === null ? [] : [{
        x: Number(row.peak_at_ns), y: Number(row.peak_bytes),
        label: "peak " + formatValue(row.peak_bytes, "bytes"),
      }],
    }));
  }
  if (alive !== null) children.push(...memoryHeld(row, alive));
  return h("section", { class: "section memory-device" }, children);
}

/**
 * What was allocated at the peak: by category, and the largest rows.
 * @param {{[key: string]: any}} peak
 * @param {import("../data/source.js").Table} alive
 * @returns {HTMLElement[]}
 */
function memoryHeld(peak, alive) {
  const rows = recordsOf(alive).filter((row) => memoryKey(row) === memoryKey(peak));
  if (rows.length === 0) return [];
  /** @type {Map<string, number>} */
  const categories = new Map();
  let listed = 0;
  for (const row of rows) {
    categories.set(row.category, (categories.get(row.category) ?? 0) + Number(row.bytes));
    listed += Number(row.bytes);
  }
  const parts = [...categories].sort((a, b) => b[1] - a[1])
    .map(([kind, value]) => ({ label: kind.replaceAll("_", " "), kind, value }));
  // Rows that the page's limit left out are still part of the peak.
  const rest = Number(peak.peak_bytes) - listed;
  if (rest > 0) parts.push({ label: "not listed", kind: "idle", value: rest });
  const negative = parts.filter((part) => part.value < 0);
  const isEstimated = rows.some((row) => row.category_estimated === true);
  /**
   * @param {string} title
   * @param {{[key: string]: any}[]} all
   */
  const holders = (title, all) => {
    const largest = all.filter((row) => Number(row.bytes) > 0)
      .sort((a, b) => Number(b.bytes) - Number(a.bytes)).slice(0, memoryHolders);
    return largest.length === 0 ? [] : [h("h3", { class: "chart-title" }, title),
      h("ol", { class: "holders" }, largest.map((row) =>
        memoryHolder(row, Number(peak.peak_bytes))))];
  };
  return [
    h("h3", { class: "chart-title" }, "What held the peak",
      isEstimated ? h("span", { class: "quiet" }, "categories are estimated") : null),
    stackedBar(parts, "bytes"),
    ...negative.map((part) => h("p", { class: "quiet" }, "More was freed than was recorded as " +
      "allocated: " + part.label + " " + formatValue(part.value, "bytes") + ".")),
    ...holders("Modules that held most", memoryByModule(rows)),
    ...holders("Largest holders", rows),
  ];
}

/**
 * @param {{[key: string]: any}[]} rows of the table `alive`
 * @returns {{[key: string]: any}[]} one per module, as rows of the table
 */
function memoryByModule(rows) {
  /** @type {Map<string, {[key: string]: any}>} */
  const modules = new Map();
  for (const { module, category, bytes } of rows) {
    if (module === null) continue;
    const sum = modules.get(module) ?? { operator: memoryModule(module), module: null, line: null,
                                         category, bytes: 0 };
    sum.bytes += Number(bytes);
    modules.set(module, sum);
  }
  return [...modules.values()];
}

/** @param {string} name */
function memoryModule(name) {
  return name.replace(/^nn\.Module: /, "");
}

/**
 * @param {{[key: string]: any}} row of the table `alive`
 * @param {number} all bytes of the peak
 */
function memoryHolder(row, all) {
  return holderItem(row.category, row.bytes, all, h("span", null, row.operator, row.module === null ? null
    : h("span", { class: "quiet" }, " in " + memoryModule(row.module))), row.source_line);
}
