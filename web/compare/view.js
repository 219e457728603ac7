// The view of a comparison: the verdict, what explains the change, the flame graph of the
// difference, other quantities, the runs.
import { h, setVariable } from "../parts/dom.js";
import { countOf, exactValue, formatValue, labelOf, unitOf } from "../parts/format.js";
import { scopedPage } from "../parts/scoped_page.js";
import { smallTable } from "../parts/small_table.js";
import { largestChanges } from "./document.js";
import { differenceGraphs } from "./difference_graph.js";
import { comparisonRows } from "./rows.js";
import { relativeChange, signedValue, wordsOfVerdict } from "./words.js";

/** @typedef {import("./document.js").Comparison} ShownComparison */

/** In the order of the roles of steps, with the colours of each. @type {[string, string][]} */
const partKinds = [["kernel", "kernel"], ["memcpy", "memcpy"], ["memset", "memset"],
                   ["communication", "communication"], ["runtime", "runtime"],
                   ["data_loader", "data"], ["cpu_op", "op"], ["other", "other"]];

/**
 * Both steps as bars of their parts, on one scale.
 * @param {ShownComparison} comparison
 * @returns {HTMLElement}
 */
function stepBars({ diff }) {
  const parts = partKinds.flatMap(([key, kind]) => diff.rows
    .filter((row) => row.by === "part" && row.key === key).map((row) => ({ ...row, kind })));
  const longest = Math.max(diff.step.base_ns, diff.step.new_ns, 1);
  /**
   * @param {string} name
   * @param {"base_ns" | "new_ns"} side
   */
  const bar = (name, side) => {
    const shown = parts.filter((part) => part[side] > 0);
    const track = h("div", { class: "step-bar", role: "img", "aria-label": `${name}: ${
      shown.map((part) => `${labelOf(part.key)} ${formatValue(part[side], "ns")}`).join(", ")}` });
    for (const part of shown) {
      const piece = h("div", { class: `part part-${part.kind}`,
                               title: `${labelOf(part.key)}: ${formatValue(part[side], "ns")}` });
      setVariable(piece, "width", `${(100 * part[side] / longest).toFixed(2)}%`);
      track.append(piece);
    }
    return [h("span", { class: "quiet" }, name), track,
            h("span", { class: "number", title: exactValue(diff.step[side], "ns") },
              formatValue(diff.step[side], "ns"))];
  };
  return h("div", { class: "step-bars" }, bar("Before", "base_ns"), bar("Now", "new_ns"),
    h("ul", { class: "chart-legend" }, parts.filter((part) => part.base_ns > 0 || part.new_ns > 0)
      .map((part) => h("li", null,
        h("span", { class: `swatch part part-${part.kind}`, "aria-hidden": true }),
        labelOf(part.key), h("span", { class: "quiet" }, ` ${signedValue(part.change_ns, "ns")}`)))));
}

/**
 * The names of what changed most, in the direction of the step.
 * @param {ShownComparison} comparison
 * @returns {HTMLElement | null}
 */
function mostly(comparison) {
  const lines = [["operator", "Operators"], ["kernel", "Kernels"]].flatMap(([by, title]) => {
    const rows = largestChanges(comparison, by, 3);
    return rows.length === 0 ? [] : [h("li", null, h("span", { class: "quiet" }, `${title}: `),
      rows.map((row, place) => [place > 0 ? ", " : null, h("b", { class: "name-cut", title: row.key },
        row.key), ` ${signedValue(row.change_ns, "ns")}`,
        row.share === null ? null : h("span", { class: "quiet" },
          ` (${formatValue(row.share, "share")} of the change)`)]).flat())];
  });
  return lines.length === 0 ? null : h("ul", { class: "mostly" }, lines);
}

/**
 * @param {ShownComparison} comparison
 * @returns {HTMLElement}
 */
function verdictCard(comparison) {
  const { diff } = comparison;
  const { step } = diff;
  const [sign, word, kind] = wordsOfVerdict(diff.verdict);
  const circumstances = diff.comparable === "yes" ? null
    : h("div", { class: "circumstances" }, h("p", null, h("span", {
      class: `badge ${diff.comparable === "no" ? "error" : "warning"}` },
      diff.comparable === "no" ? "not comparable" : "comparable with a warning")),
      h("ul", null, diff.reasons.map((reason) => h("li", null, reason))));
  const interval = step.low !== null && step.high !== null
    ? `99.7 % interval ${signedValue(step.low, "share")} to ${signedValue(step.high, "share")}` : "";
  return h("section", { class: `card ${diff.comparable === "no" ? "error" : kind}`,
                        "aria-label": "Verdict" },
    h("div", { class: "headline" },
      h("span", { class: `badge ${kind}` }, `${sign} ${word}`),
      h("h2", { class: "figure" }, `Step: ${formatValue(step.base_ns, "ns")} before, ${
        formatValue(step.new_ns, "ns")} now, ${relativeChange(step.base_ns, step.new_ns) || "\u2013"}`,
        interval ? h("small", null, ` (${interval})`) : null)),
    circumstances, diff.sentence === "" ? null : h("p", { class: "sentence" }, diff.sentence),
    h("p", null, diff.why), stepBars(comparison), mostly(comparison));
}

/**
 * @param {ShownComparison} comparison
 * @returns {HTMLElement | null}
 */
function quantityTable({ diff }) {
  const known = diff.quantities.filter(({ base, new: now }) => base !== null || now !== null);
  if (known.length === 0) return null;
  /**
   * @param {number | null} value
   * @param {string} unit
   */
  const cell = (value, unit) => h("span", { title: value === null ? "" : exactValue(value, unit) },
                                  formatValue(value === null ? null
                                    : unit === "" ? value : Math.round(value), unit));
  return h("section", { class: "section" }, h("h2", null, "Other quantities",
    h("span", { class: "quiet" }, "per step, means of the ranks; peaks of memory are the highest of any rank")),
    smallTable(known, [
      { label: "Quantity", value: ({ name }) => {
        const label = labelOf(name);
        return label.charAt(0).toUpperCase() + label.slice(1);
      } },
      { label: "Before", value: ({ name, base }) => cell(base, unitOf(name)) },
      { label: "Now", value: ({ name, new: now }) => cell(now, unitOf(name)) },
      { label: "Change", value: ({ name, base, new: now }) => {
        if (base === null || now === null) return "\u2013";
        const unit = unitOf(name);
        const change = unit === "" ? now - base : Math.round(now - base);
        return [signedValue(change, unit), h("small", null, relativeChange(base, now))];
      } },
    ], "Other quantities", "quantities"));
}

/**
 * @param {ShownComparison} comparison
 * @returns {HTMLElement}
 */
function runLists({ diff }) {
  /**
   * @param {string} title
   * @param {string[]} names
   */
  const list = (title, names) => [h("dt", null, title), h("dd", null, names.length === 1 ? names[0]
    : h("details", null, h("summary", null, countOf(names.length, "run")),
        h("ul", null, names.map((name) => h("li", null, name)))))];
  return h("dl", { class: "pairs runs" }, list("Base (before)", diff.base),
           list("New (now)", diff.new));
}

/**
 * @param {ShownComparison} comparison
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement}
 */
export function renderComparison(comparison, page) {
  const graphs = differenceGraphs(comparison, scopedPage(page, "flame"));
  const rows = comparisonRows(comparison, page, {
    mark: (row) => graphs.mark(row === null ? [] : [row.key, row.base_key]), reveal: graphs.reveal,
  });
  return h("div", { class: "comparison" }, runLists(comparison), verdictCard(comparison),
    h("section", { class: "section" }, h("h2", null, "What explains it",
      h("span", { class: "quiet" }, "per step; the changes of the rows of a division add up to that of the step")),
      rows),
    quantityTable(comparison),
    h("section", { class: "section" }, h("h2", null, "By call path"), graphs.element));
}
