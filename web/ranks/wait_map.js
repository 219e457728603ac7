// Who waits for whom: a map of waiting ranks by the rank that arrived last.
import { h } from "../parts/dom.js";
import { countOf, formatValue } from "../parts/format.js";
import { emptyBox } from "../parts/empty.js";
import { tableView } from "../parts/table.js";
import { scopedPage } from "../parts/scoped_page.js";
import { rankRows, rankTable } from "./document.js";
import { cellMap } from "./cell_map.js";
import { rankAt } from "./words.js";

/**
 * @param {import("./document.js").Ranks} ranks
 * @param {import("./view.js").RanksPage} page
 * @returns {HTMLElement}
 */
export function waitMap(ranks, page) {
  const { waits } = ranks;
  const table = rankTable(ranks, "waits");
  const rows = rankRows(ranks);
  const most = Math.max(0, ...waits.wait_ns.flat());
  const tables = tableView(table, scopedPage(page, "waits"));
  if (most === 0) {
    return h("div", null, ranks.collectives > 0
      ? h("p", { class: "quiet" }, "No rank waited for another one, or the recordings do not tell.")
      : emptyBox("no collective of one rank could be matched with that of another"), tables);
  }
  const names = waits.ranks.map((place) => String(rows[place].rank));
  const others = waits.ranks.length;
  const hasOthers = waits.wait_ns.some((row) => row[others] > 0);
  const hasUnknown = waits.wait_ns.some((row) => row[others + 1] > 0);
  // Places in a row, and what the column is called.
  /** @type {[number, string, string][]} */
  const columns = [...waits.ranks.map((place, at) => /** @type {[number, string, string]} */ (
    [at, names[at], rankAt(rows, place)])),
    .../** @type {[number, string, string][]} */ (hasOthers ? [[others, "rest", "other ranks"]] : []),
    .../** @type {[number, string, string][]} */ (hasUnknown ? [[others + 1, "?", "a rank that the clocks do not tell"]] : [])];
  const blamed = new Set(ranks.stragglers.map(({ rank }) => rank));
  const total = waits.wait_ns.flat().reduce((sum, value) => sum + value, 0);
  const byLast = columns.map(([at, , words]) => ({ words, sum: waits.wait_ns.reduce((all, row) => all + row[at], 0) }))
    .sort((a, b) => b.sum - a.sum);
  const longest = waits.wait_ns.flatMap((row, at) => columns.map(([place], column) => ({ value: row[place], at, column })))
    .reduce((best, one) => one.value > best.value ? one : best);
  const map = cellMap({
    name: "How long each rank waited for each other; arrow keys move", rows: names,
    columns: columns.map(([, name]) => name),
    rowTitle: "Waiting rank", columnTitle: "Rank that arrived last",
    shades: [3, 4, 5, 6].map((shade) => `rank-shade-${shade}`),
    shade: (row, column) => {
      const value = waits.wait_ns[row][columns[column][0]];
      return value > 0 ? 0.15 + 2.85 * Math.sqrt(value / most) : 0;
    },
    words: (row, column) => {
      const value = waits.wait_ns[row][columns[column][0]];
      const all = waits.wait_ns[row].reduce((sum, one) => sum + one, 0);
      return `Rank ${names[row]} waited ${formatValue(value, "ns")} for ${columns[column][2]}, of ${
        formatValue(all, "ns")} in all collectives`;
    },
    isStrong: (row) => blamed.has(rows[waits.ranks[row]].rank),
    first: [longest.at, longest.column],
  });
  return h("div", null,
    h("p", null, `Ranks waited ${formatValue(total, "ns")} in all: `,
      byLast.filter(({ sum }) => sum > 0).slice(0, 3).map(({ words, sum }) =>
        `${formatValue(sum, "ns")} for ${words} (${formatValue(sum / total, "share")})`).join(", "), "."),
    map,
    h("p", { class: "quiet" }, "Waits of all collectives, whether the rank computed meanwhile or not. Dark is much.",
      waits.ranks_left_out > 0 ? ` ${countOf(waits.ranks_left_out, "rank")} with shorter waits are in "rest" as the last one and left out as waiting ones.` : "",
      hasUnknown ? " \"?\": two ranks arrived so close to each other that the clocks do not tell which one was last, or the clocks are unknown." : ""),
    tables);
}
