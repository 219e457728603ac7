// The view of steps: a bar per step, divided by role or by phase, and the table.
import { h } from "../parts/dom.js";
import { formatValue } from "../parts/format.js";
import { stackedBar, stackedBars } from "../parts/bars.js";
import { rowDetail } from "../parts/row_detail.js";
import { emptyBox } from "../parts/empty.js";
import { tablesOf } from "../parts/sections.js";
import { cellOf, columnOf } from "../data/table.js";

/**
 * Parts that add up to a step's duration, in the order in which they are stacked.
 * @type {{key: string, label: string, kind: string}[]}
 */
const stepRoles = [
  { key: "kernel_ns", label: "kernel", kind: "kernel" },
  { key: "communication_ns", label: "communication", kind: "communication" },
  { key: "memcpy_ns", label: "memcpy", kind: "memcpy" },
  { key: "memset_ns", label: "memset", kind: "memset" },
  { key: "runtime_ns", label: "runtime", kind: "runtime" },
  { key: "cpu_op_ns", label: "CPU operator", kind: "op" },
  { key: "data_loader_ns", label: "data loader", kind: "data" },
  { key: "other_ns", label: "other", kind: "other" },
];

/** Parts that add up to the time of the step's range on the host. */
const stepPhases = [
  { key: "data_ns", label: "data", kind: "data" },
  { key: "forward_ns", label: "forward", kind: "forward" },
  { key: "backward_ns", label: "backward", kind: "backward" },
  { key: "optimizer_ns", label: "optimizer", kind: "optimizer" },
  { key: "unphased_ns", label: "no phase", kind: "other" },
];

/**
 * @param {import("../data/source.js").View} view
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement}
 */
export function renderSteps(view, page) {
  const table = view.tables.find(({ name }) => name === "steps");
  if (table === undefined || table.rows === 0) {
    return h("div", null, table?.empty ? emptyBox(table.empty) : null,
             table?.empty && view.tables.length === 1 ? null : tablesOf(view, page));
  }
  let isPhases = page.get("parts") === "phases";
  const chart = h("div", { class: "steps-chart" });
  const choices = [false, true].map((phases) => h("button", {
    type: "button", class: "choice", "aria-pressed": phases === isPhases,
    onclick: () => {
      isPhases = phases;
      page.set("parts", phases ? "phases" : null);
      choices.forEach((button, at) => button.setAttribute("aria-pressed",
                                                          String((at === 1) === phases)));
      fill();
    },
  }, phases ? "By phase on the host" : "By role"));
  const fill = () => chart.replaceChildren(...stepsCharts(table, page, isPhases));
  fill();
  return h("div", { class: "steps" },
    h("div", { class: "choices", role: "group", "aria-label": "How steps are divided" }, choices),
    chart, h("div", { class: "section" }, tablesOf(view, page)));
}

/**
 * @param {import("../data/source.js").Table} table
 * @param {import("../data/source.js").Page} page
 * @param {boolean} isPhases
 * @returns {HTMLElement[]}
 */
function stepsCharts(table, page, isPhases) {
  const parts = (isPhases ? stepPhases : stepRoles)
    .filter(({ key }) => columnOf(table, key) !== null);
  const number = (/** @type {string} */ key, /** @type {number} */ row) => {
    const column = columnOf(table, key);
    return column === null ? 0 : Number(cellOf(column, row) ?? 0);
  };
  const value = (/** @type {string} */ key, /** @type {number} */ row) => {
    const column = columnOf(table, key);
    return column === null ? null : cellOf(column, row);
  };
  const ranks = new Set(Array.from({ length: table.rows }, (_, row) => value("rank", row)));
  const total = isPhases ? "host_duration_ns" : "duration_ns";
  const rows = Array.from({ length: table.rows }, (_, row) => {
    const name = String(value("name", row) ?? row + 1).replace(/^ProfilerStep#/, "Step ");
    return {
      label: ranks.size > 1 ? name + ", rank " + formatValue(value("rank", row)) : name,
      values: parts.map(({ key }) => number(key, row)), total: number(total, row),
      mark: value("outlier", row) === true ? "outlier" : "",
    };
  });
  const mean = parts.map(({ key, label, kind }) => ({
    label, kind, value: Number(table.totals[key] ?? 0),
  }));
  const elements = [];
  if (mean.some((part) => part.value > 0)) {
    elements.push(h("section", { class: "section" },
      h("h2", null, table.rows > 1 ? "Mean step" : rows[0].label,
        h("span", { class: "quiet" }, formatValue(table.totals[total], "ns"))),
      stackedBar(mean, "ns")));
  }
  if (rows.length > 1) {
    const median = table.totals.duration_median_ns;
    const picked = stepsPicked(table, page);
    const detail = h("div", { class: "steps-picked" });
    const show = (/** @type {number} */ row) => detail.replaceChildren(...(row < 0 ? [] : [
      rowDetail(table, row, page.say, () => {
        page.set("step", null);
        show(-1);
      })]));
    show(picked);
    elements.push(h("section", { class: "section" },
      h("h2", null, isPhases ? "Time of each step on the host" : "Time of each step",
        h("span", { class: "quiet" }, stepsSummary(table, isPhases))),
      stackedBars(rows, parts, "ns", (row) => {
        page.set("step", String(row));
        show(row);
      }, {
        name: "Time of each step; arrow keys move, Enter selects",
        picked,
        line: !isPhases && median > 0
          ? { value: median, label: "median " + formatValue(median, "ns") } : undefined,
      }), detail));
  }
  return elements;
}

/**
 * @param {import("../data/source.js").Table} table
 * @param {import("../data/source.js").Page} page
 * @returns {number} the row in the address, -1 without one
 */
function stepsPicked(table, page) {
  const picked = Number(page.get("step") ?? NaN);
  return Number.isInteger(picked) && picked >= 0 && picked < table.rows ? picked : -1;
}

/**
 * @param {import("../data/source.js").Table} table
 * @param {boolean} isPhases the median is that of whole steps
 */
function stepsSummary(table, isPhases) {
  const { outliers, duration_median_ns: median, dropped_steps: dropped } = table.totals;
  const parts = [];
  if (median > 0 && !isPhases) parts.push("median " + formatValue(median, "ns"));
  if (outliers > 0) {
    parts.push(formatValue(outliers) + (outliers === 1 ? " outlier" : " outliers") + " (\u25be)");
  }
  if (dropped > 0) parts.push(formatValue(dropped) + " at the end left out");
  return parts.join(", ");
}
