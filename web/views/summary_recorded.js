// What was recorded, and what the missing data would unlock.
import { h } from "../parts/dom.js";
import { formatValue, exactValue, countOf } from "../parts/format.js";

/**
 * @param {{[key: string]: any}} device
 * @returns {string}
 */
function deviceText(device) {
  const facts = [
    typeof device.memory_bytes === "number" ? formatValue(device.memory_bytes, "bytes") : "",
    typeof device.multiprocessors === "number" ? countOf(device.multiprocessors, "multiprocessor")
      : "",
    typeof device.compute_major === "number"
      ? `compute capability ${device.compute_major}.${device.compute_minor ?? 0}` : "",
  ].filter((fact) => fact !== "");
  return `${device.id}: ${device.name || "unknown"}${facts.length ? ` (${facts.join(", ")})` : ""}`;
}

/**
 * @param {{[key: string]: any}} option one of `recorded`
 * @returns {HTMLElement}
 */
function optionItem(option) {
  const unlocks = Array.isArray(option.unlocks) ? option.unlocks.join("; ") : "";
  const missing = option.was_on === true ? "was on, but the trace has no data"
    : `record with ${option.option}=True`;
  return h("li", null,
    h("span", { class: `badge ${option.has_data ? "good" : "warning"}` },
      option.has_data ? "recorded" : "missing"),
    h("span", null, option.data, " ", option.has_data
      ? h("code", { class: "quiet" }, option.option)
      : h("span", { class: "quiet" }, `(${missing}) would unlock: ${unlocks}`)));
}

/**
 * @param {{[key: string]: any}} run
 * @returns {HTMLElement}
 */
export function recordedSection(run) {
  const devices = Array.isArray(run.devices) ? run.devices : [];
  const recorded = (Array.isArray(run.recorded) ? run.recorded : []).filter((option) =>
    option.has_data || option.is_missing || option.was_on === true);
  const pairs = /** @type {[string, unknown, string?][]} */ ([
    ["Trace", run.input],
    ["Host", run.host],
    ["Rank", typeof run.rank === "number"
      ? `${run.rank}${run.world_size ? ` of ${run.world_size}` : ""}` : null],
    ["Process", run.process],
    ["Window", formatValue(run.window_ns, "ns"), exactValue(run.window_ns, "ns")],
    ["Ranges", formatValue(run.ranges)],
    ["GPU activities", formatValue(run.device_activities)],
  ]);
  return h("section", { class: "section" }, h("h2", null, "What was recorded"),
    h("dl", { class: "pairs" }, pairs.filter(([, value]) =>
      value !== null && value !== undefined && value !== "").flatMap(([label, value, exact]) => [
      h("dt", null, label), h("dd", { title: exact ?? null }, String(value))]),
      devices.length ? h("dt", null, devices.length === 1 ? "GPU" : "GPUs") : null,
      devices.map((device, i) => h("dd", { class: i ? "second" : null }, deviceText(device)))),
    recorded.length ? h("ul", { class: "options" }, recorded.map(optionItem)) : null);
}
