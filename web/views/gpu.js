// How busy each device was, and why it was idle.
import { h } from "../parts/dom.js";
import { formatValue } from "../parts/format.js";
import { recordsOf } from "../data/table.js";
import { stackedBar } from "../parts/bars.js";
import { tablesOf } from "../parts/sections.js";
import { gapsSection, idleCauses } from "./gpu_gaps.js";

/** The parts of a device's window besides its idle time: column, label, colour. */
const deviceParts = [
  ["computation_ns", "computation", "computation"],
  ["exposed_communication_ns", "communication alone", "communication"],
  ["exposed_memory_ns", "memcpy and memset alone", "memory"],
];

/**
 * The causes of a device's idle time; one part where they are not known, as of a stream.
 * @param {{[key: string]: any}} device a row of the table
 * @returns {{label: string, value: number, kind: string}[]}
 */
function idleParts(device) {
  // A list that is too long for the page is the beginning of its text; the largest causes are first.
  const causes = Array.isArray(device.idle_causes) ? device.idle_causes
    : [...String(device.idle_causes ?? "").matchAll(/"cause": ?"(\w+)", ?"ns": ?(\d+)/g)]
      .map(([, cause, ns]) => ({ cause, ns }));
  const parts = causes.map(({ cause, ns }) => {
    const [label, kind] = idleCauses.get(cause) ?? [String(cause), "idle"];
    return { label: `idle: ${label}`, value: Number(ns), kind };
  });
  const rest = Number(device.idle_ns ?? 0) - parts.reduce((sum, { value }) => sum + value, 0);
  const label = parts.length > 0 ? "idle: other causes" : "idle";
  return rest > 0 ? [...parts, { label, value: rest, kind: "idle" }] : parts;
}

/**
 * What a device's window went to.
 * @param {{[key: string]: any}} device a row of the table
 * @returns {{label: string, value: number, kind: string}[]}
 */
export function windowParts(device) {
  return deviceParts.map(([key, label, kind]) =>
    ({ label, value: Number(device[key] ?? 0), kind })).concat(idleParts(device));
}

/**
 * A device's window as a bar; null without its parts.
 * @param {{[key: string]: any}} device a row of the table
 * @param {string} [heading] the element of its title, by what is around it
 * @returns {HTMLElement | null}
 */
export function deviceBar(device, heading = "h3") {
  const parts = windowParts(device);
  if (!parts.some((part) => part.value > 0)) return null;
  const stream = device.stream === null || device.stream === undefined ? ""
    : `, stream ${device.stream}`;
  return h("section", { class: "device-bar" },
    h(heading, null, `GPU ${device.device ?? ""}${stream} `,
      h("span", { class: "quiet" }, `busy ${formatValue(
        device.busy_share ?? device.busy_ns / device.window_ns, "share")} of ${
        formatValue(device.window_ns, "ns")}`)),
    stackedBar(parts, "ns"));
}

/**
 * @param {import("../data/source.js").View} view
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement}
 */
export function renderGpu(view, page) {
  const devices = view.tables.find((table) =>
    table.columns.some((column) => column.key === "idle_ns") && table.rows > 0);
  // More than this many bars say less than the table.
  const bars = devices ? recordsOf({ ...devices, rows: Math.min(devices.rows, 16) })
    .map((device) => deviceBar(device, "h2")) : [];
  const gaps = gapsSection(view.tables.find((table) => table.name === "gaps"), page);
  return h("div", null, h("div", { class: "device-bars" }, bars), gaps,
           h("div", { class: gaps ? "section" : null }, tablesOf(view, page)));
}
