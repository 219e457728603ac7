// What makes the program slow, by what can be gained, each with what to do about it.
import { h, onPrint } from "../parts/dom.js";
import { countOf, formatValue, exactValue } from "../parts/format.js";
import { fullSentence } from "../parts/empty.js";
import { timelineLink, timelinePart } from "../parts/timeline_link.js";
import { severityBadge } from "./checks.js";

/** Where a finding shows. @type {Map<string, [string, string]>} */
const findingViews = new Map([
  ["data_loader_bound", ["steps", "See the steps"]],
  ["blocking_copies", ["lines", "See the lines"]],
  ["small_kernels", ["kernels", "See the kernels"]],
  ["launch_bound", ["operators", "See the operators"]],
  ["low_gpu_utilization", ["gpu", "See the GPU's time"]],
  ["exposed_communication", ["gpu", "See the GPU's time"]],
  ["no_tensor_cores", ["kernels", "See the kernels"]],
  ["memory_growth", ["memory", "See the memory"]],
]);

/** What a share is a share of. */
const shareOf = new Map([
  ["gpu_time", " of the GPU's time"],
  ["step_time", " of the steps"],
  ["recording", " of the recording"],
  ["peak_memory", " of the peak memory"],
]);

/**
 * What happened, as a link to all of its time if that is known.
 * @param {{[key: string]: any}} item of the evidence
 * @param {import("../data/source.js").Page} page
 */
function evidenceEvent(item, page) {
  const text = String(item.event ?? "");
  const target = typeof item.start_ns === "number"
    ? timelinePart(item.start_ns, Number(item.end_ns ?? item.start_ns)) : null;
  return h("span", null, timelineLink(page, target, text, "link") ?? text);
}

/**
 * What a finding is about, in one line.
 * @param {{[key: string]: any}} finding
 * @returns {(HTMLElement | null)[]}
 */
function findingFigures(finding) {
  return [
    finding.share === null || finding.share === undefined ? null
      : h("span", { class: "figure" }, formatValue(finding.share, "share"),
          h("small", null, shareOf.get(finding.share_of) ?? "")),
    finding.gain_ns ? h("span", { class: "figure", title: exactValue(finding.gain_ns, "ns") },
      h("small", null, "saves at most "), formatValue(finding.gain_ns, "ns"),
      finding.gain_per === "step" ? h("small", null, " per step") : null) : null];
}

/**
 * What to do about it, what shows it, and where to look.
 * @param {{[key: string]: any}} finding
 * @param {import("../data/source.js").Page} page
 * @returns {(HTMLElement | null)[]}
 */
function findingBody(finding, page) {
  const evidence = Array.isArray(finding.evidence) ? finding.evidence : [];
  const target = findingViews.get(finding.id);
  return [
    finding.remedy ? h("p", { class: "remedy" }, h("b", null, "What to do: "),
                       fullSentence(finding.remedy)) : null,
    finding.gain_ns && finding.gain_how
      ? h("p", { class: "quiet" }, `The saving is an upper bound: ${finding.gain_how}.`) : null,
    evidence.length ? h("ul", { class: "evidence" }, evidence.map((item) => h("li", null,
      h("span", null, item.what),
      h("span", { title: exactValue(item.value, item.unit ?? "") },
        formatValue(item.value, item.unit ?? "")),
      evidenceEvent(item, page)))) : null,
    target && (!page.has || page.has(target[0]))
      ? h("p", null, h("button", { type: "button", class: "link",
                                   onclick: () => page.go(target[0]) }, target[1])) : null];
}

/** @param {{[key: string]: any}} finding */
function findingSeverity(finding) {
  return finding.severity === "warning" ? "warning" : "info";
}

/**
 * A finding that is open: what a trace is comes before what it shows.
 * @param {{[key: string]: any}} finding
 * @param {import("../data/source.js").Page} page
 * @param {string} [heading] the element of its title, by what is around it
 * @returns {HTMLElement}
 */
export function findingCard(finding, page, heading = "h3") {
  const severity = findingSeverity(finding);
  return h("article", { class: `card ${severity}` },
    h("div", { class: "headline" }, severityBadge(severity), h(heading, null, finding.title),
      findingFigures(finding)), findingBody(finding, page));
}

/**
 * A finding as a line that opens.
 * @param {{[key: string]: any}} finding
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLDetailsElement}
 */
function findingLine(finding, page) {
  const severity = findingSeverity(finding);
  const open = (page.get("finding") ?? "").split(",");
  const element = /** @type {HTMLDetailsElement} */ (h("details", {
    class: `finding card ${severity}${finding.part_of ? " cause" : ""}`, open: open.includes(finding.id),
    ontoggle: () => {
      const others = (page.get("finding") ?? "").split(",").filter((id) => id !== "" && id !== finding.id);
      page.set("finding", [...others, ...(element.open ? [finding.id] : [])].join(",") || null);
    },
  }, h("summary", { class: "headline" }, h("span", { class: "twist", "aria-hidden": true }),
       severityBadge(severity), h("h3", null, finding.title), findingFigures(finding)),
     h("div", { class: "finding-body" }, findingBody(finding, page))));
  // Paper has all of it.
  let wasOpen = false;
  onPrint(element, (begins) => {
    if (begins) wasOpen = element.open;
    element.open = begins || wasOpen;
  });
  return element;
}

/**
 * What is a part of another finding after that one.
 * @param {{[key: string]: any}[]} findings
 * @returns {{[key: string]: any}[]}
 */
function withPartsAfter(findings) {
  const ordered = new Set();
  for (const finding of findings) {
    const first = findings.find((other) => other.id === finding.part_of) ?? finding;
    ordered.add(first);
    for (const other of findings) if (other.part_of === first.id) ordered.add(other);
  }
  return [...ordered];
}

/**
 * @param {{[key: string]: any}[]} findings
 * @param {string[]} lookedFor
 * @param {boolean} hasGpu whether the trace has device activities
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement}
 */
export function findingsSection(findings, lookedFor, hasGpu, page) {
  const looked = lookedFor.length ? h("details", { class: "looked" },
    h("summary", null, `Looked for ${countOf(lookedFor.length, "cause")}`),
    h("p", { class: "quiet" }, fullSentence(lookedFor.join(", ")))) : null;
  if (findings.length === 0) {
    return h("section", { class: "section" }, h("h2", null, "No findings"),
      looked,
      hasGpu ? null : h("p", null, "The trace has no GPU activities. Without them only waiting " +
        "for data and growing memory can be found."));
  }
  return h("section", { class: "section" }, h("h2", null, "Findings"),
    h("div", { class: "findings" }, withPartsAfter(findings).map((finding) => findingLine(finding, page))),
    looked);
}
