// The view of steps: a bar per step, divided by role or by phase, and the table.
import { h } from "../parts/dom.js";
import { formatValue, labelOf } from "../parts/format.js";
import { stackedBar, stackedBars } from "../parts/bars.js";
import { emptyBox } from "../parts/empty.js";
import { tablesOf } from "../parts/sections.js";
import { cellOf, columnOf } from "../data/table.js";

/**
 * Parts that add up to a step's duration, in the order in which they are stacked.
 */
export const stepRoles = stepParts({
  kernel_ns: "kernel", communication_ns: "communication", memcpy_ns: "memcpy",
  memset_ns: "memset", runtime_ns: "runtime", cpu_op_ns: "op", data_loader_ns: "data",
  other_ns: "other",
});

/** Parts that add up to the time of the step's range on the host. */
export const stepPhases = stepParts({
  data_ns: "data", forward_ns: "forward", backward_ns: "backward", optimizer_ns: "optimizer",
  unphased_ns: "other",
});

/** @param {{[key: string]: string}} kinds by column */
function stepParts(kinds) {
  return Object.entries(kinds).map(([key, kind]) => ({ key, label: labelOf(key), kind }));
}

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
  const number = columnOf(table, "step"), rank = columnOf(table, "rank");
  const hasRanks = rank !== null && new Set(rank.values).size > 1;
  const names = Array.from({ length: table.rows }, (_, row) =>
    String(number ? cellOf(number, row) ?? "all" : row) +
    (hasRanks ? `,${cellOf(rank, row)}` : ""));
  /** @type {import("../parts/table.js").TableView | null} */
  let shown = null;
  let mark = (/** @type {number} */ _row) => {};
  const chart = h("div", { class: "steps-chart", onkeydown: (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape") shown?.close();
  } });
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
  const fill = () => {
    const charts = stepsCharts(table, names.indexOf(page.get("step") ?? ""), isPhases,
                               (row) => shown?.reveal(row));
    mark = charts.mark;
    chart.replaceChildren(...charts.elements);
  };
  fill();
  return h("div", { class: "steps" },
    h("div", { class: "choices", role: "group", "aria-label": "How steps are divided" }, choices),
    chart, h("div", { class: "section" }, tablesOf(view, page, {
      rowNames: names, opened: (row) => mark(row), ready: (one) => { shown = one; },
    })));
}

/**
 * @param {import("../data/source.js").Table} table
 * @param {number} picked row, -1 without one
 * @param {boolean} isPhases
 * @param {(row: number) => void} onPick
 * @returns {{elements: HTMLElement[], mark: (row: number) => void}}
 */
function stepsCharts(table, picked, isPhases, onPick) {
  const parts = (isPhases ? stepPhases : stepRoles)
    .filter(({ key }) => columnOf(table, key) !== null);
  /**
   * @param {string} key
   * @param {number} row
   */
  const value = (key, row) => {
    const column = columnOf(table, key);
    return column === null ? null : cellOf(column, row);
  };
  /**
   * @param {string} key
   * @param {number} row
   */
  const number = (key, row) => Number(value(key, row) ?? 0);
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
  let mark = (/** @type {number} */ _row) => {};
  if (mean.some((part) => part.value > 0)) {
    elements.push(h("section", { class: "section" },
      h("h2", null, table.rows > 1 ? "Mean step" : rows[0].label,
        h("span", { class: "quiet" }, formatValue(table.totals[total], "ns"))),
      stackedBar(mean, "ns")));
  }
  if (rows.length > 1) {
    const median = table.totals.duration_median_ns;
    const bars = stackedBars(rows, parts, "ns", onPick, {
      name: "Time of each step; arrow keys move, Enter selects",
      picked,
      line: !isPhases && median > 0
        ? { value: median, label: "median " + formatValue(median, "ns") } : undefined,
    });
    mark = bars.mark;
    elements.push(h("section", { class: "section" },
      h("h2", null, isPhases ? "Time of each step on the host" : "Time of each step",
        h("span", { class: "quiet" }, stepsSummary(table, isPhases))),
      bars.element));
  }
  return { elements, mark };
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
