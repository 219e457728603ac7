// The longest times without any device work, as sentences.
import { h, setVariable } from "../parts/dom.js";
import { countOf, exactValue, formatValue } from "../parts/format.js";
import { stackedBar } from "../parts/bars.js";
import { timelineLink, timelinePart } from "../parts/timeline_link.js";
import { recordsOf } from "../data/table.js";

/** @typedef {{[key: string]: any}} Gap a row of the table `gaps`; any of its columns may be missing */

/** The table has the others. */
const gapsShown = 10;
/** What people read for the causes (docs/findings.md), and their colours. */
export const idleCauses = new Map(/** @type {[string, [string, string]][]} */ ([
  ["data", ["waiting for the data loader", "data"]],
  ["cold_start", ["cold start: loading, first calls", "optimizer"]],
  ["profiler", ["the profiler's own work", "other"]],
  ["garbage_collection", ["Python's garbage collection", "optimizer"]],
  ["compiler", ["torch.compile: guards, compilation", "optimizer"]],
  ["host_communication", ["waiting for other processes", "communication"]],
  ["allocation", ["allocating or freeing memory", "memory"]],
  ["copies", ["the host had waited for copies", "memcpy"]],
  ["synchronization", ["the host had waited for the GPU", "memcpy"]],
  ["launches", ["running operators, launching", "host-wait"]],
  ["code", ["the host was outside of operators", "host-wait"]],
  ["other_device", ["another GPU worked", "kernel-wait"]],
  ["device", ["its next work was launched already", "kernel-wait"]],
  ["unrecorded_work", ["work that is not in the file", "other"]],
  ["nothing_recorded", ["nothing was recorded", "idle"]],
  ["unknown", ["unknown launch", "other"]],
]));
/** @param {unknown} value */
const gapHas = (value) => value !== null && value !== undefined && value !== "";

/**
 * Why the device was idle, in few words.
 * @param {Gap} gap
 * @returns {string} empty if nothing is known
 */
export function gapWhy(gap) {
  const why = String([gap.why, gap.cause].find(gapHas) ?? "");
  return idleCauses.get(why)?.[0] ?? why.replaceAll("_", " ");
}

/**
 * When it began, to the microsecond: so it is found in a timeline.
 * @param {number} ns
 * @returns {string}
 */
export function gapTime(ns) {
  return ns >= 1e6 ? `${(ns / 1e6).toFixed(3)}\u00a0ms` : formatValue(ns, "ns");
}

/**
 * What happened around a gap: `host in Optimizer.step#AdamW.step, before aten::mul (waited)`.
 * @param {Gap} gap
 * @returns {string}
 */
export function gapSentence(gap) {
  const parts = [];
  if (gapHas(gap.host)) parts.push(gap.host === "[idle]" ? "host idle" : `host in ${gap.host}`);
  const next = [gap.operator, gap.before].find(gapHas);
  if (next !== undefined) parts.push(`before ${next}`);
  else if (gapHas(gap.after)) parts.push(`after ${gap.after}`);
  const why = gapWhy(gap);
  if (parts.length === 0) return why || "nothing is known about it";
  return parts.join(", ") + (why ? ` (${why})` : "");
}

/**
 * What the idle time went to, of all gaps, also those that the table leaves out; largest first.
 * @param {{[key: string]: any}} totals of the table: `data_ns`, `cold_start_ns`, ...
 * @returns {{label: string, kind: string, value: number}[]}
 */
export function gapParts(totals) {
  return [...idleCauses]
    .map(([cause, [label, kind]]) => ({ label, kind, value: Number(totals[`${cause}_ns`] ?? 0) }))
    .filter(({ value }) => value > 0).sort((a, b) => b.value - a.value);
}

/**
 * @param {import("../data/source.js").Table | undefined} table
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement | null} null without gaps
 */
export function gapsSection(table, page) {
  if (!table || table.rows === 0) return null;
  const gaps = recordsOf(table);
  const longest = gaps.filter((gap) => Number(gap.duration_ns) > 0)
    .sort((a, b) => Number(b.duration_ns) - Number(a.duration_ns)).slice(0, gapsShown);
  if (longest.length === 0) return null;
  const parts = gapParts(table.totals);
  const kinds = new Map(parts.map((part) => [part.label, part.kind]));
  const most = Number(longest[0].duration_ns);
  const severalDevices = new Set(gaps.map((gap) => `${gap.rank} ${gap.device}`)).size > 1;
  return h("section", { class: "section gaps" },
    h("h2", null, "Why the GPU was idle", h("span", { class: "quiet" },
      `${formatValue(table.totals.idle_ns, "ns")} in ${countOf(Number(table.totals.gaps), "gap")}`)),
    stackedBar(parts, "ns"),
    h("h3", { class: "chart-title" }, Number(table.totals.gaps) > longest.length
      ? `The ${longest.length} longest gaps` : "The gaps"),
    h("ol", { class: "gap-list" }, longest.map((gap) => {
      const bar = h("span", { class: `holder-bar part part-${
        kinds.get(gapWhy(gap) || "unknown") ?? "idle"}` });
      setVariable(bar, "width", `${Math.max(0.5, 100 * Number(gap.duration_ns) / most)}%`);
      return h("li", null,
        h("span", { class: "gap-time", title: exactValue(gap.duration_ns, "ns") },
          formatValue(gap.duration_ns, "ns")),
        h("span", { class: "holder-track", "aria-hidden": true }, bar),
        h("span", { class: "gap-text" }, gapHas(gap.start_ns) ? h("span", {
          class: "quiet", title: exactValue(gap.start_ns, "ns"),
        }, "at ", timelineLink(page, timelinePart(Number(gap.start_ns),
          Number(gap.start_ns) + Number(gap.duration_ns)), gapTime(Number(gap.start_ns)), "link") ??
          gapTime(Number(gap.start_ns)), `${severalDevices && gapHas(gap.device)
            ? ` on GPU ${gap.device}` : ""}: `) : null, gapSentence(gap)));
    })));
}
