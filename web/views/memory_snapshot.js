// The view of memory of an allocator's snapshot: bands over time, who holds it, and the segments.
import { h } from "../parts/dom.js";
import { countOf, exactValue, formatValue } from "../parts/format.js";
import { holderItem, stackedBar } from "../parts/bars.js";
import { choiceButtons } from "../parts/choices.js";
import { curveChart } from "../parts/chart_curve.js";
import { emptyBox } from "../parts/empty.js";
import { tablesOf } from "../parts/sections.js";
import { segmentMap } from "../parts/segment_map.js";
import { recordsOf } from "../data/table.js";

/** @typedef {{[key: string]: any}} SnapshotRow */

const snapshotHolders = 10;

/** Colours of lines, the largest first. */
const snapshotKinds = ["kernel", "backward", "runtime", "optimizer", "data", "op", "memcpy", "communication",
                       "family-convolution", "family-triton", "parameter"];

/** @type {{[moment: string]: string}} */
const snapshotMoments = { oom: "when an allocation failed", peak: "at the peak", end: "at the end" };

/**
 * @param {import("../data/source.js").View} view
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement}
 */
export function renderMemorySnapshot(view, page) {
  /** @param {string} name */
  const rows = (name) => recordsOf(/** @type {any} */ (view.tables.find((one) => one.name === name)));
  const peaks = rows("peak");
  if (peaks.length === 0) return emptyBox("the snapshot has neither entries nor segments of a device");
  const tables = Object.fromEntries(["oom", "alive", "segments", "blocks", "by_line", "by_category", "curve"]
    .map((name) => [name, rows(name)]));
  const sentences = view.tables.find(({ name }) => name === "peak")?.notes ?? [];
  const shown = { ...view, tables: view.tables.filter(({ name }) => !["by_line", "by_category", "curve"].includes(name))
    .map((table) => (table.name === "peak" ? { ...table, notes: [] } : table)) };
  return h("div", { class: "memory" },
    // The points are the largest holders, which are below.
    h("section", { class: "section snapshot-words" }, sentences.filter((text) => !text.startsWith("- "))
      .map((text) => h("p", null, text))),
    peaks.map((peak, which) => snapshotDevice(peak, tables, page, which)),
    h("div", { class: "section" }, tablesOf(shown, page)));
}

/**
 * @param {SnapshotRow} peak a row of the table `peak`
 * @param {{[table: string]: SnapshotRow[]}} tables
 * @param {import("../data/source.js").Page} page
 * @param {number} which of the devices
 * @returns {HTMLElement}
 */
function snapshotDevice(peak, tables, page, which) {
  const own = Object.fromEntries(Object.entries(tables).map(([name, rows]) =>
    [name, rows.filter((row) => row.device === peak.device && row.rank === peak.rank)]));
  const name = (peak.rank === null ? "" : `rank ${peak.rank}, `) + `GPU ${peak.device}`;
  const facts = [
    ["peak", peak.peak_bytes], ["reserved at most", peak.peak_reserved_bytes], ["at the end", peak.end_bytes],
    ["before the recording", peak.before_bytes || null], ["growth per step", peak.growth_per_step_bytes || null],
  ].filter(([, value]) => value !== null);
  const pictures = h("div", null);
  const key = `by${which || ""}`;
  const draw = () => pictures.replaceChildren(
    ...snapshotPictures(name, peak, own, page.get(key) === "category" ? "category" : "line", page, `zoom${which || ""}`));
  draw();
  return h("section", { class: "section memory-device" }, h("h2", null, name),
    h("dl", { class: "facts-line" }, facts.map(([label, value]) =>
      h("div", null, h("dt", null, label),
        h("dd", { title: exactValue(value, "bytes") }, formatValue(value, "bytes"))))),
    choiceButtons("Colours", [["line", "By line"], ["category", "By category"]], page.get(key) ?? "line", (value) => {
      page.set(key, value === "line" ? null : value);
      draw();
    }),
    pictures, snapshotHeld(own.alive));
}

/**
 * @param {string} name of the device
 * @param {SnapshotRow} peak
 * @param {{[table: string]: SnapshotRow[]}} own rows of the device
 * @param {"line" | "category"} by
 * @param {import("../data/source.js").Page} page
 * @param {string} zoom what the address calls the part in sight
 * @returns {HTMLElement[]}
 */
function snapshotPictures(name, peak, own, by, page, zoom) {
  const bands = snapshotBands(by === "line" ? own.by_line : own.by_category, by);
  const parts = [];
  const x = Float64Array.from(own.curve, (row) => Number(row.at_ns));
  if (x.length > 1) {
    const series = [{ label: "allocated", kind: "allocated", values: Float64Array.from(own.curve, (row) =>
      Number(row.allocated_bytes)) }];
    if (own.curve.some((row) => row.reserved_bytes !== null)) {
      series.push({ label: "reserved", kind: "reserved", values: Float64Array.from(own.curve, (row) =>
        (row.reserved_bytes === null ? NaN : Number(row.reserved_bytes))) });
    }
    parts.push(curveChart({
      name: `Memory of ${name} over time; arrow keys move, plus and minus zoom`, x, series, xUnit: "ns", yUnit: "bytes",
      bands: { x: bands.x, layers: bands.layers },
      zoom: page.get(zoom), onZoom: (value) => page.set(zoom, value),
      // Of retries, the last failure has its words.
      marks: [{ x: Number(peak.peak_at_ns), y: Number(peak.peak_bytes),
                label: "peak " + formatValue(peak.peak_bytes, "bytes") },
              ...own.oom.map((row, at) => ({ x: Number(row.at_ns), y: Number(row.allocated_bytes),
                label: at + 1 < own.oom.length ? "" : `failed: ${formatValue(row.asked_bytes, "bytes")} asked for` }))],
    }));
  }
  if (own.segments.length > 0) parts.push(...snapshotSegments(own, by, bands.kinds));
  return parts;
}

/**
 * @param {SnapshotRow[]} rows of a table of bands
 * @param {"line" | "category"} by
 * @returns {{x: Float64Array, layers: import("../data/band_points.js").BandLayer[], kinds: Map<string, string>}}
 */
function snapshotBands(rows, by) {
  /** @type {Map<string, SnapshotRow[]>} */
  const groups = new Map();
  for (const row of rows) {
    const label = by === "line" ? row.source_line : row.category;
    const list = groups.get(label) ?? [];
    list.push(row);
    groups.set(label, list);
  }
  const kinds = new Map([...groups.keys()].map((label, at) => [label, snapshotKind(label, at, by)]));
  const x = Float64Array.from([...groups.values()][0] ?? [], (row) => Number(row.at_ns));
  return { kinds, x, layers: [...groups].filter(([, list]) => list.length === x.length).map(([label, list]) => ({
    label: by === "line" ? label : snapshotWords(label), kind: String(kinds.get(label)),
    values: Float64Array.from(list, (row) => Number(row.bytes)) })) };
}

/** @param {string} category */
function snapshotWords(category) {
  return category.replaceAll("_", " ");
}

/**
 * @param {string} label
 * @param {number} at from 0, the largest first
 * @param {"line" | "category"} by
 */
function snapshotKind(label, at, by) {
  if (label === "[others]") return "other";
  if (by === "category") return /^[a-z_]+$/.test(label) ? label : "other";
  return label.startsWith("[") ? "idle" : snapshotKinds[at % snapshotKinds.length];
}

/**
 * @param {{[table: string]: SnapshotRow[]}} own
 * @param {"line" | "category"} by
 * @param {Map<string, string>} kinds
 * @returns {HTMLElement[]}
 */
function snapshotSegments(own, by, kinds) {
  const moment = snapshotMoments[own.segments[0].moment] ?? "";
  /** @type {(rows: SnapshotRow[], key: string) => number} */
  const sum = (rows, key) => rows.reduce((all, row) => all + Number(row[key]), 0);
  const reserved = formatValue(sum(own.segments, "bytes"), "bytes");
  const free = formatValue(sum(own.segments, "free_bytes"), "bytes");
  const words = `${own.segments.length} segments of ${reserved} ${moment}, ${free} of it free`;
  const used = own.blocks.filter(({ state }) => state !== "free");
  return [
    h("h3", { class: "chart-title" }, "Segments " + moment, h("span", { class: "quiet" },
      `${own.segments.length} of ${reserved}, ${free} of it free (empty); those with most free memory first`)),
    segmentMap(own.segments.map((row) => ({
      address: row.address, bytes: Number(row.bytes),
      about: `free: ${formatValue(row.free_bytes, "bytes")} of ${formatValue(row.bytes, "bytes")} (${row.kind})` +
        (row.kept_by_line === null ? "" : `, kept by ${row.kept_by_line}`),
    })), used.map((row) => ({
      address: row.address, offset: Number(row.offset_bytes), bytes: Number(row.bytes),
      kind: kinds.get(by === "line" ? row.source_line : row.category) ?? "other",
      about: `${formatValue(row.bytes, "bytes")}: ${row.source_line}, ${snapshotWords(row.category)}` +
        (row.state === "pending" ? ", waits for another stream" : ""),
    })), words),
  ];
}

/**
 * @param {SnapshotRow[]} rows of the table `alive`
 * @returns {HTMLElement | null}
 */
function snapshotHeld(rows) {
  const all = rows.reduce((sum, row) => sum + Number(row.bytes), 0);
  if (all <= 0) return null;
  /** @type {Map<string, number>} */
  const categories = new Map();
  for (const row of rows) categories.set(row.category, (categories.get(row.category) ?? 0) + Number(row.bytes));
  return h("div", null,
    h("h3", { class: "chart-title" }, "What was held " + (snapshotMoments[rows[0].moment] ?? "")),
    stackedBar([...categories].sort((a, b) => b[1] - a[1]).map(([category, value]) => (
      { label: snapshotWords(category), kind: snapshotKind(category, 0, "category"), value })), "bytes"),
    h("h3", { class: "chart-title" }, "Largest holders"),
    h("ol", { class: "holders" }, rows.slice(0, snapshotHolders).map((row) => holderItem(
      snapshotKind(row.category, 0, "category"), row.bytes, all, row.source_line,
      `${snapshotWords(row.category)}, ${countOf(row.allocations, "allocation")}`))));
}
