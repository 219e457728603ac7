// The first view: the key figures, what the time went to, what makes the program slow, and what was
// recorded.
import { h } from "../parts/dom.js";
import { formatValue, formatJson, countOf, labelOf } from "../parts/format.js";
import { recordsOf } from "../data/table.js";
import { fullSentence } from "../parts/empty.js";
import { stackedBar } from "../parts/bars.js";
import { smallTable } from "../parts/small_table.js";
import { findingCard, findingsSection } from "./summary_findings.js";
import { recordedSection } from "./summary_recorded.js";
import { figuresRow, missingLine } from "./summary_figures.js";
import { nameLink } from "../parts/name_link.js";
import { checkCard } from "./checks.js";
import { windowParts } from "./gpu.js";
import { stepPhases, stepRoles } from "./steps.js";

/** By how much of the median a slowest step is longer before it is mentioned. */
const NOTABLE = 1.1;
/** Rows of a list. */
const SHOWN = 5;

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
 * What the step's time went to: a bar, and another one of what the host did meanwhile.
 * @param {SummaryRecord} steps
 * @param {SummaryRecord[]} gpus
 * @param {SummaryPage} page
 */
function timeSections(steps, gpus, page) {
  /** @param {typeof stepRoles} parts */
  const bar = (parts) => stackedBar(parts.map((part) =>
    ({ ...part, value: Number(steps[part.key] ?? 0) })), "ns");
  const many = steps.steps > 1;
  const title = many ? "Mean step" : steps.steps === 0 ? "All of it, without steps" : "The step";
  const dropped = Number(steps.dropped_steps ?? 0);
  const host = stepPhases.some(({ key }) => Number(steps[key] ?? 0) > 0);
  const all = countOf(Number(steps.steps) + dropped, "step");
  const about = dropped > 0 ? `${steps.steps} of ${all}` : "";
  /** @param {string} key */
  const time = (key) => [formatValue(steps[key], "ns"), about].filter(Boolean).join(", ");
  return [
    gpus.length ? null : summarySection(`${title}: what ran`, time("duration_ns"), "steps", page, bar(stepRoles)),
    host ? summarySection(`${title}: what the host did`, time("host_duration_ns"), "steps", page, bar(stepPhases))
      : gpus.length ? summarySection(`${title}: what ran`, time("duration_ns"), "steps", page, bar(stepRoles)) : null];
}

/**
 * @param {SummaryRecord[]} gpus
 * @param {SummaryPage} page
 */
function gpuSection(gpus, page) {
  // The one that waits most says most; the view has all.
  const [first] = gpus.slice().sort((a, b) => a.busy_ns / a.window_ns - b.busy_ns / b.window_ns);
  const bar = first && stackedBar(windowParts(first), "ns");
  return bar ? summarySection(`GPU ${first.device}: where its time went`, gpus.length > 1
    ? `the least busy of ${formatValue(gpus.length)}` : formatValue(first.window_ns, "ns"), "gpu", page, bar) : null;
}

/**
 * @param {SummaryRecord | undefined} slowest
 * @param {SummaryRecord | undefined} steps
 * @param {SummaryPage} page
 */
function slowestLine(slowest, steps, page) {
  const unfinished = steps && Array.isArray(steps.unfinished) ? steps.unfinished : [];
  return [
    slowest && slowest.duration_ns >= NOTABLE * slowest.median_ns
      ? h("p", { class: "slowest-line" }, slowestSentence(slowest), " ", page.has?.("steps")
        ? h("button", { type: "button", class: "link", onclick: () =>
          page.go("steps", { step: String(slowest.step), row: null }) }, "Show the step") : null) : null,
    ...unfinished.slice(0, 3).map((/** @type {SummaryRecord} */ step) =>
      h("p", { class: "quiet slowest-line" }, unfinishedSentence(step)))];
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
  let text = `${slowest.name} took longest${slowest.kind ? ` of the ${slowest.kind} steps` : ""}: ${
    formatValue(slowest.duration_ns, "ns")}; the median is ${formatValue(slowest.median_ns, "ns")}.`;
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
  return summarySection("Largest operators", "by self time", "operators", page, smallTable(
    operators, [
      { label: "Name", value: (row) => nameLink(page, "operators", row.key) },
      { label: "Calls", value: (row) => row.count, unit: "" },
      { label: "Self CPU", value: (row) => row.self_cpu_time_total_ns, unit: "ns",
        bar: device ? undefined : largestOf(operators, "self_cpu_time_total_ns") },
      ...(device ? [{ label: "Self GPU", unit: "ns", bar: device,
                      value: (/** @type {SummaryRecord} */ row) =>
                        row.self_device_time_total_ns }] : []),
    ], "Operators with the largest self times", "one-line"));
}

/**
 * @param {SummaryRecord} kernel
 * @param {SummaryPage} page
 * @returns {HTMLElement | null} where most of its time came from
 */
function originOf(kernel, page) {
  // Inputs without a shape are numbers and options: they do not tell this call from others.
  const shapes = formatJson(typeof kernel.input_shapes === "string" ? kernel.input_shapes
    : JSON.stringify(kernel.input_shapes ?? "")).replaceAll("[] ", "").replace(/ ?\[\]$|^""$/, "");
  const parts = /** @type {[string, unknown, string][]} */ ([
    ["from", kernel.operator, "operators"], ["at", kernel.source_line, "lines"],
    ["in", kernel.module, "modules"], ["on", shapes, ""]]).filter(([, value]) => value).slice(0, 2);
  if (!parts.length) return null;
  return h("small", null, parts.flatMap(([word, value, view]) => [h("i", null, word), view
    ? nameLink(page, view, value) : h("span", { title: String(value) }, String(value))]));
}

/**
 * @param {SummaryRecord[]} kernels
 * @param {SummaryPage} page
 */
function kernelsSection(kernels, page) {
  return summarySection("Largest kernels", "and where most of their time came from", "kernels", page, smallTable(kernels, [
    { label: "Name", value: (row) => [nameLink(page, "kernels", row.name, row.short_name ?? row.name),
                                      originOf(row, page)] },
    { label: "Count", value: (row) => row.count, unit: "" },
    { label: "Total", value: (row) => row.total_ns, unit: "ns", bar: largestOf(kernels, "total_ns") },
  ], "Kernels with the longest total times", "one-line"));
}

/**
 * The largest lines of one's own code. Only the view of lines has them: it is read when the page is there.
 * @param {SummaryPage} page
 * @returns {HTMLElement | null}
 */
function linesSection(page) {
  if (!page.has?.("lines")) return null;
  const place = h("div", { class: "summary-lines", hidden: true });
  page.view("lines").then((view) => {
    const table = view.tables.find(({ name }) => name === "own");
    if (!table || table.rows === 0) return;
    const records = recordsOf(table);
    const key = largestOf(records, "self_device_time_ns") > 0 ? "self_device_time_ns" : "self_cpu_time_ns";
    const largest = records.filter((row) => row.source_line && row[key] > 0).sort((a, b) => b[key] - a[key]).slice(0, SHOWN);
    if (largest.length === 0) return;
    const where = key === "self_device_time_ns" ? "GPU" : "CPU";
    place.append(summarySection("Largest lines", `of your own code, by ${where} time`, "lines", page, smallTable(largest, [
      { label: "Line", value: (row) => [nameLink(page, "lines", row.source_line),
                                        row.source ? h("small", null, h("code", null, String(row.source).trim())) : null] },
      { label: `${where} time`, value: (row) => row[key], unit: "ns", bar: largestOf(largest, key) },
    ], `Lines with the most ${where} time`, "one-line")));
    place.hidden = false;
  }, () => {});  // the view itself says why it cannot be read
  return place;
}

/**
 * Prefill and decode of an inference engine.
 * @param {SummaryRecord[]} phases
 * @param {SummaryPage} page
 */
function phasesSection(phases, page) {
  return summarySection("Prefill and decode", "steps by kind", "steps", page, smallTable(phases, [
    { label: "Kind", value: (row) => row.kind },
    { label: "Steps", value: (row) => row.steps, unit: "" },
    { label: "Median", value: (row) => row.duration_median_ns, unit: "ns",
      bar: largestOf(phases, "duration_median_ns") },
    { label: "99 %", value: (row) => row.duration_p99_ns, unit: "ns" },
    { label: "Tokens per s", unit: "",
      value: (row) => row.tokens_per_s === null ? null : Math.round(row.tokens_per_s) },
    { label: "GPU busy", value: (row) => row.gpu_utilization, unit: "share" },
    { label: "Gap before", value: (row) => row.gap_median_ns, unit: "ns" },
  ], "Steps of an inference engine by kind"));
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
  return summarySection("Largest modules", `by self ${where} time; repeated layers are one`,
    "modules", page, smallTable(modules, [
      { label: "Path", value: (row) => [nameLink(page, "modules", row.path), row.modules > 1
        ? h("small", null, countOf(row.modules, "module")) : null] },
      { label: "Calls", value: (row) => row.calls, unit: "" },
      { label: "Total", value: (row) => row[total], unit: "ns" },
      { label: "Backward", value: (row) => row[back], unit: "ns" },
      { label: `Self ${where}`, value: (row) => row[own], unit: "ns",
        bar: largestOf(modules, own) },
    ], `Modules with the largest self ${where} times`, "one-line"));
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
        h("b", null, formatValue(holder.bytes, "bytes")), " ",
        nameLink(page, "operators", holder.operator || "[unknown]"),
        holder.module ? [" in ", nameLink(page, "modules", holder.module)] : "")) }] : []),
    ...(grows ? [{ label: "Growth per step", unit: "bytes",
                   value: (/** @type {SummaryRecord} */ row) => row.growth_per_step_bytes }] : []),
    ...(reserved ? [{ label: "Reserved", unit: "bytes",
                      value: (/** @type {SummaryRecord} */ row) => row.peak_reserved_bytes }] : []),
    { label: "Peak", value: (row) => row.peak_bytes, unit: "bytes",
      bar: largestOf(memory, "peak_bytes") },
  ], "Memory of each device"));
}

/**
 * What is said of the job whose rank the trace is. It is read when the page is there.
 * @param {SummaryPage} page
 * @returns {HTMLElement | null}
 */
function jobLine(page) {
  if (!page.job) return null;
  const line = h("p", { class: "card info job-line", hidden: true });
  page.job().then((sentences) => {
    line.append(h("span", null, h("b", null, "The job: "), sentences.map((text) => `${fullSentence(text)} `).join(""),
      page.has?.("ranks") ? h("button", { type: "button", class: "link", onclick: () => page.go("ranks") }, "Show the ranks") : null));
    line.hidden = sentences.length === 0;
  }, () => {});  // the view itself says why it cannot be read
  return line;
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
  const serving = of("serving");
  const findings = of("findings");
  // What a trace is comes before what it shows.
  const first = findings.filter((finding) => finding.id === "recovered_trace");
  const grave = checks.filter((check) => check.severity === "error");
  const mild = checks.filter((check) => check.severity !== "error");
  return h("div", { class: "summary" },
    first.length ? h("div", { class: "cards before" },
      first.map((finding) => findingCard(finding, page, "h2"))) : null,
    grave.length ? h("div", { class: "cards before" }, grave.map((check) => checkCard(check, "h2", page))) : null,
    jobLine(page), figuresRow({ run, steps, gpus, communication: of("communication"), memory }, page),
    missingLine(run),
    h("div", { class: "columns" }, gpuSection(gpus, page), steps ? timeSections(steps, gpus, page) : null),
    slowestLine(slowest, steps, page),
    serving.length ? phasesSection(serving, page) : null,
    findingsSection(findings.filter((finding) => !first.includes(finding)),
      Array.isArray(run?.looked_for) ? run.looked_for : [], gpus.length > 0, page),
    h("div", { class: "columns" },
      kernels.length ? kernelsSection(kernels, page) : null, linesSection(page),
      operators.length ? operatorsSection(operators, page) : null,
      modules.length ? modulesSection(modules, page) : null),
    memory.length ? memorySection(memory, page) : null,
    h("div", { class: "columns" },
      run ? recordedSection(run) : null,
      mild.length ? summarySection("Checks", "", "checks", page,
        h("div", { class: "cards" }, mild.map((check) => checkCard(check, "h3", page)))) : null));
}
