// The first view: what makes the program slow, then what was recorded and what took the time.
import { h } from "../parts/dom.js";
import { formatValue, formatJson, countOf, labelOf } from "../parts/format.js";
import { recordsOf } from "../data/table.js";
import { stackedBar } from "../parts/bars.js";
import { smallTable } from "../parts/small_table.js";
import { findingCard, findingsSection } from "./summary_findings.js";
import { recordedSection } from "./summary_recorded.js";
import { checkCard } from "./checks.js";
import { deviceBar } from "./gpu.js";
import { stepPhases, stepRoles } from "./steps.js";

/** By how much of the median a slowest step is longer before it is mentioned. */
const NOTABLE = 1.1;

/** @typedef {{[key: string]: any}} SummaryRecord */
/** @typedef {import("../data/source.js").Page} SummaryPage */

/**
 * A section with a link to the view that has all of it.
 * @param {string} title
 * @param {string} about
 * @param {string | null} view
 * @param {SummaryPage} page
 * @param {...(HTMLElement | null)} content
 * @returns {HTMLElement}
 */
function summarySection(title, about, view, page, ...content) {
  const link = view && (!page.has || page.has(view))
    ? h("button", { type: "button", class: "link", onclick: () => page.go(view) }, "Show all")
    : null;
  return h("section", { class: "section" },
    h("h2", null, title, about ? h("span", { class: "quiet" }, about) : null, link), content);
}

/**
 * @param {SummaryRecord} steps
 * @param {SummaryRecord | undefined} slowest
 * @param {SummaryPage} page
 */
function stepsSection(steps, slowest, page) {
  /** @param {typeof stepRoles} parts */
  const bar = (parts) => stackedBar(parts.map((part) =>
    ({ ...part, value: Number(steps[part.key] ?? 0) })), "ns");
  const host = stepPhases.some(({ key }) => Number(steps[key] ?? 0) > 0);
  const many = steps.steps > 1;
  const title = steps.steps === 0 ? "All of it, without steps" : "The step";
  const dropped = Number(steps.dropped_steps ?? 0);
  const all = countOf(Number(steps.steps) + dropped, "step");
  return summarySection(many ? "Mean step" : title,
    dropped > 0 ? `${steps.steps} of ${all}; the last may lack kernels` : many ? `of ${all}` : "", "steps", page,
    h("h3", null, "What ran ", h("span", { class: "quiet" },
      formatValue(steps.duration_ns, "ns"))), bar(stepRoles),
    host ? h("h3", null, "What the host did ", h("span", { class: "quiet" },
      formatValue(steps.host_duration_ns, "ns"))) : null, host ? bar(stepPhases) : null,
    slowest && slowest.duration_ns >= NOTABLE * slowest.median_ns
      ? h("p", { class: "quiet" }, slowestSentence(slowest)) : null,
    ...(Array.isArray(steps.unfinished) ? steps.unfinished : []).slice(0, 3).map(
      (/** @type {SummaryRecord} */ step) => h("p", { class: "quiet" }, unfinishedSentence(step))));
}

/**
 * @param {SummaryRecord} step
 * @returns {string}
 */
function unfinishedSentence(step) {
  return `${step.name} did not end: what was recorded of it is ${
    formatValue(step.duration_ns, "ns")}. It is not among the steps or in their means.`;
}

/**
 * @param {SummaryRecord} slowest
 * @returns {string}
 */
function slowestSentence(slowest) {
  let text = `${slowest.name} took longest: ${formatValue(slowest.duration_ns,
    "ns")}; the median is ${formatValue(slowest.median_ns, "ns")}.`;
  const more = slowest.duration_ns - slowest.median_ns;
  if (slowest.compilation_ns >= more / 2) {
    text += ` It compiled and autotuned for ${formatValue(slowest.compilation_ns, "ns")}; the ` +
      `mean of the other steps is ${formatValue(slowest.mean_of_others_ns, "ns")}.`;
  } else if (slowest.part && slowest.part_more_ns > 0) {
    text += ` It spent ${formatValue(slowest.part_more_ns, "ns")} more than the median in ` +
      labelOf(slowest.part);
    text += slowest.range && slowest.range_more_ns > 0
      ? `, and ${formatValue(slowest.range_more_ns, "ns")} more in ${slowest.range}.` : ".";
  }
  return text;
}

/**
 * @param {SummaryRecord[]} records
 * @param {string} key
 * @returns {number}
 */
function largestOf(records, key) {
  return Math.max(0, ...records.map((record) => Number(record[key] ?? 0)));
}

/**
 * @param {SummaryRecord[]} operators
 * @param {SummaryPage} page
 */
function operatorsSection(operators, page) {
  const device = largestOf(operators, "self_device_time_total_ns");
  return summarySection("Operators", "the largest self times", "operators", page, smallTable(
    operators, [
      { label: "Name", value: (row) => row.key },
      { label: "Calls", value: (row) => row.count, unit: "" },
      { label: "Self CPU time", value: (row) => row.self_cpu_time_total_ns, unit: "ns",
        bar: device ? undefined : largestOf(operators, "self_cpu_time_total_ns") },
      ...(device ? [{ label: "Self GPU time", unit: "ns", bar: device,
                      value: (/** @type {SummaryRecord} */ row) =>
                        row.self_device_time_total_ns }] : []),
    ], "Operators with the largest self times"));
}

/**
 * @param {SummaryRecord} kernel
 * @returns {HTMLElement | null} where most of its time came from
 */
function originOf(kernel) {
  // Inputs without a shape are numbers and options: they do not tell this call from others.
  const shapes = formatJson(typeof kernel.input_shapes === "string" ? kernel.input_shapes
    : JSON.stringify(kernel.input_shapes ?? "")).replaceAll("[] ", "").replace(/ ?\[\]$|^""$/, "");
  const parts = [["from", kernel.operator], ["on", shapes], ["in", kernel.module],
                 ["at", kernel.source_line]].filter(([, value]) => value);
  if (!parts.length) return null;
  return h("small", null, parts.flatMap(([word, value]) => [`${word} `, h("b", null, value), " "]));
}

/**
 * @param {SummaryRecord[]} kernels
 * @param {SummaryPage} page
 */
function kernelsSection(kernels, page) {
  return summarySection("Kernels", "the longest total times, and what most of it came from",
    "kernels", page, smallTable(kernels, [
      { label: "Name", value: (row) => [h("span", { title: row.name }, row.short_name ?? row.name),
                                        originOf(row)] },
      { label: "Kind", value: (row) => row.family },
      { label: "Count", value: (row) => row.count, unit: "" },
      { label: "Mean", value: (row) => row.mean_ns, unit: "ns" },
      { label: "Total", value: (row) => row.total_ns, unit: "ns",
        bar: largestOf(kernels, "total_ns") },
    ], "Kernels with the longest total times", "names-above"));
}

/**
 * @param {SummaryRecord[]} modules
 * @param {SummaryPage} page
 */
function modulesSection(modules, page) {
  const gpu = largestOf(modules, "self_device_time_ns") > 0;
  const [own, total, back] = gpu
    ? ["self_device_time_ns", "device_time_total_ns", "backward_device_time_ns"]
    : ["self_cpu_time_ns", "cpu_time_total_ns", "backward_cpu_time_ns"];
  const where = gpu ? "GPU" : "CPU";
  return summarySection("Modules", `the largest self ${where} times; repeated layers are one`,
    "modules", page, smallTable(modules, [
      { label: "Path", value: (row) => [row.path, row.modules > 1
        ? h("small", null, countOf(row.modules, "module")) : null] },
      { label: "Calls", value: (row) => row.calls, unit: "" },
      { label: `Total ${where} time`, value: (row) => row[total], unit: "ns" },
      { label: "of it backward", value: (row) => row[back], unit: "ns" },
      { label: `Self ${where} time`, value: (row) => row[own], unit: "ns",
        bar: largestOf(modules, own) },
    ], `Modules with the largest self ${where} times`));
}

/**
 * @param {SummaryRecord[]} memory
 * @param {SummaryPage} page
 */
function memorySection(memory, page) {
  const held = memory.some((row) => Array.isArray(row.alive) && row.alive.length > 0);
  const reserved = largestOf(memory, "peak_reserved_bytes") > 0;
  const grows = memory.some((row) => typeof row.growth_per_step_bytes === "number");
  return summarySection("Memory", "at its peak", "memory", page, smallTable(memory, [
    { label: "Device", value: (row) => row.device_name },
    ...(held ? [{ label: "Largest holders", value: (/** @type {SummaryRecord} */ row) => (Array.isArray(row.alive) ? row.alive : [])
      .map((/** @type {SummaryRecord} */ holder) => h("small", null,
        h("b", null, formatValue(holder.bytes, "bytes")), ` ${holder.operator || "unknown"}`,
        holder.module ? ` in ${holder.module}` : "")) }] : []),
    ...(grows ? [{ label: "Growth per step", unit: "bytes",
                   value: (/** @type {SummaryRecord} */ row) => row.growth_per_step_bytes }] : []),
    ...(reserved ? [{ label: "Reserved", unit: "bytes",
                      value: (/** @type {SummaryRecord} */ row) => row.peak_reserved_bytes }] : []),
    { label: "Peak", value: (row) => row.peak_bytes, unit: "bytes",
      bar: largestOf(memory, "peak_bytes") },
  ], "Memory of each device"));
}

/**
 * @param {import("../data/source.js").View} view
 * @param {SummaryPage} page
 * @returns {HTMLElement}
 */
export function renderSummary(view, page) {
  /** @param {string} name */
  const of = (name) => {
    const table = view.tables.find((one) => one.name === name);
    return table ? recordsOf(table) : [];
  };
  const [run] = of("run");
  const [steps] = of("steps");
  const [slowest] = of("slowest_step");
  const checks = of("checks");
  const operators = of("operators");
  const kernels = of("kernels");
  const modules = of("modules");
  const gpus = of("gpu").concat(of("gpus"));
  const memory = of("memory");
  const findings = of("findings");
  // What a trace is comes before what it shows.
  const first = findings.filter((finding) => finding.id === "recovered_trace");
  const grave = checks.filter((check) => check.severity === "error");
  const mild = checks.filter((check) => check.severity !== "error");
  return h("div", { class: "summary" },
    first.length ? h("div", { class: "cards before" },
      first.map((finding) => findingCard(finding, page, "h2"))) : null,
    grave.length ? h("div", { class: "cards before" }, grave.map((check) => checkCard(check, "h2", page))) : null,
    findingsSection(findings.filter((finding) => !first.includes(finding)),
      Array.isArray(run?.looked_for) ? run.looked_for : [], gpus.length > 0, page),
    h("div", { class: "columns" },
      steps ? stepsSection(steps, slowest, page) : null,
      gpus.length ? summarySection("GPU time", "", "gpu", page, ...gpus.slice(0, 8).map((device) => deviceBar(device)))
        : null),
    kernels.length ? kernelsSection(kernels, page) : null,
    h("div", { class: "columns" },
      operators.length ? operatorsSection(operators, page) : null,
      modules.length ? modulesSection(modules, page) : null),
    memory.length ? memorySection(memory, page) : null,
    h("div", { class: "columns" },
      run ? recordedSection(run) : null,
      mild.length ? summarySection("Checks", "", "checks", page,
        h("div", { class: "cards" }, mild.map((check) => checkCard(check, "h3", page)))) : null));
}
