// Ranks by steps: which rank needs longer than the others, and in which steps.
import { h } from "../parts/dom.js";
import { countOf, formatValue } from "../parts/format.js";
import { stackedBar } from "../parts/bars.js";
import { emptyBox } from "../parts/empty.js";
import { cellDifferences, cellQuantities, rankOrder, rankParts, rankRows, rankTable, rankShade,
         shadeScale } from "./document.js";
import { cellMap } from "./cell_map.js";
import { signedTime } from "./words.js";
import { labelledSelect } from "../parts/choices.js";

/** @typedef {import("./document.js").Ranks} MapRanks */

/**
 * @param {MapRanks} ranks
 * @param {import("./view.js").RanksPage} page
 * @returns {HTMLElement}
 */
export function rankHeatMap(ranks, page) {
  const { cells } = ranks;
  if (cells.steps.length === 0 || cells.ranks.length === 0) return emptyBox(rankTable(ranks, "by_rank").empty);
  const rows = rankRows(ranks);
  const board = h("div");
  const detail = h("div", { class: "cell-detail", "aria-live": "polite" });
  const hosts = new Set(rows.map(({ host }) => host)).size > 1;
  const draw = () => {
    board.replaceChildren(heatMapBoard(ranks, rows, page, detail));
    detail.replaceChildren();
  };
  const shown = labelledSelect("Show", cellQuantities.map(([key, name]) => [key, name]),
                               page.get("show") ?? "excess_ns", (key) => {
    page.set("show", key === "excess_ns" ? null : key);
    draw();
  });
  const order = labelledSelect("Order", [["rank", "by rank"], .../** @type {[string, string][]} */ (
    hosts ? [["host", "by host"]] : []), ["excess", "slowest first"]], page.get("order") ?? "rank", (key) => {
    page.set("order", key === "rank" ? null : key);
    draw();
  });
  draw();
  return h("div", null, h("div", { class: "tools" }, shown, order), board, detail);
}

/**
 * @param {MapRanks} ranks
 * @param {import("./document.js").RankRow[]} rows
 * @param {import("./view.js").RanksPage} page
 * @param {HTMLElement} detail
 * @returns {HTMLElement}
 */
function heatMapBoard(ranks, rows, page, detail) {
  const { cells } = ranks;
  const [key, name, meaning] = cellQuantities.find(([one]) => one === page.get("show")) ?? cellQuantities[0];
  const differences = cellDifferences(cells, key);
  const scale = shadeScale(differences, cells.duration_ns);
  const order = rankOrder(rows, cells.ranks, page.get("order") ?? "rank");
  const shades = [0, 1, 2, 3, 4, 5, 6].map((shade) => `rank-shade-${shade}`);
  const width = cells.steps.length;
  const place = (/** @type {number} */ row, /** @type {number} */ column) => order[row] * width + column;
  const rowOf = (/** @type {number} */ row) => rows[cells.ranks[order[row]]];
  const blamed = new Set(ranks.stragglers.map(({ rank }) => rank));
  const hasHosts = page.get("order") === "host";

  /** @param {number} at */
  const parts = (at) => rankParts.map(([part, label, kind]) => ({ label, kind, value: cells[part][at] ?? 0 }));

  /**
   * @param {number} row
   * @param {number} column
   */
  const words = (row, column) => {
    const at = place(row, column);
    const { rank, host } = rowOf(row);
    const where = `Rank ${rank}${host ? ` on ${host}` : ""}, step ${cells.steps[column]}`;
    const duration = cells.duration_ns[at];
    if (duration === null) return `${where}: not recorded`;
    const difference = differences[at];
    const largest = parts(at).filter(({ value }) => value > 0).sort((a, b) => b.value - a.value).slice(0, 4);
    return `${where}: ${name} ${difference === null ? "has nothing to compare with"
      : `${signedTime(difference)} against the others`}${cells.is_late[at] ? ", late" : ""}; step ${
      formatValue(duration, "ns")}: ${largest.map(({ label, value }) => `${label} ${formatValue(value, "ns")}`).join(", ")}`;
  };

  /**
   * @param {number} row
   * @param {number} column
   */
  const showDetail = (row, column) => {
    const at = place(row, column);
    const { rank } = rowOf(row);
    const start = cells.start_ns[at], duration = cells.duration_ns[at];
    if (start === null || duration === null) return;
    detail.replaceChildren(
      h("h3", null, `Rank ${rank}, step ${cells.steps[column]}`, " ",
        h("span", { class: "quiet" }, formatValue(duration, "ns"))),
      stackedBar(parts(at), "ns"),
      page.timelineOf(rank, start, duration, "Show this step in the rank's timeline") ?? "");
  };

  // The cell that is worth looking at first: the latest one.
  let first = 0;
  order.forEach((_, row) => cells.steps.forEach((_, column) => {
    const best = differences[place(Math.floor(first / width), first % width)] ?? -Infinity;
    if ((differences[place(row, column)] ?? -Infinity) > best) first = row * width + column;
  }));
  const map = cellMap({
    name: `${name} of each rank in each step against the other ranks; arrow keys move, Enter opens`,
    rows: order.map((_, row) => hasHosts && rowOf(row).host ? `${rowOf(row).rank} ${rowOf(row).host}`
      : String(rowOf(row).rank)),
    columns: cells.steps.map(String), rowTitle: hasHosts ? "Rank, host" : "Rank", columnTitle: "Step",
    shades,
    shade: (row, column) => {
      const value = differences[place(row, column)];
      return value === null ? null : rankShade(value, scale);
    },
    words,
    isMarked: (row, column) => key === "excess_ns" && cells.is_late[place(row, column)] === 1,
    isStrong: (row) => blamed.has(rowOf(row).rank),
    pick: (row, column, isTouch) => {
      const at = place(row, column);
      const start = cells.start_ns[at], duration = cells.duration_ns[at];
      if (start === null || duration === null) return;
      if (!isTouch && page.openTimeline(rowOf(row).rank, start, duration)) return;
      showDetail(row, column);
    },
    first: [Math.floor(first / width), first % width],
  });
  const leftOut = [cells.ranks_left_out > 0 ? countOf(cells.ranks_left_out, "rank") : "",
                   cells.steps_left_out > 0 ? countOf(cells.steps_left_out, "step") : ""].filter(Boolean);
  return h("div", null,
    h("ul", { class: "chart-legend", "aria-label": "Colours" },
      h("li", null, `${formatValue(scale, "ns")} less`), h("li", { class: "shade-scale", "aria-hidden": true },
        shades.map((shade) => h("span", { class: shade }))),
      h("li", null, `${formatValue(scale, "ns")} more than the other ranks in the step`),
      blamed.size > 0 && key === "excess_ns" ? h("li", null, h("span", { class: "late-dot", "aria-hidden": true }),
        "late: by more than chance") : null),
    map,
    h("p", { class: "quiet" }, `${name.charAt(0).toUpperCase()}${name.slice(1)}: ${meaning}. Compared with the middle ${
      key === "excess_ns" ? "one of the ranks that do the same work" : "one of the ranks here"}.${
      page.hasTimelines ? " A click opens the step in the rank's timeline." : ""}`,
      leftOut.length > 0 ? ` Left out for the size of the page: ${leftOut.join(" and ")}; the latest are here.` : ""));
}
