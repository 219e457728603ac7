// What the mean step of each rank went to, and how its collectives divide.
import { h } from "../parts/dom.js";
import { countOf } from "../parts/format.js";
import { stackedBars } from "../parts/bars.js";
import { emptyBox } from "../parts/empty.js";
import { tabPanels } from "../parts/sections.js";
import { scopedPage } from "../parts/scoped_page.js";
import { tableView } from "../parts/table.js";
import { recordsOf } from "../data/table.js";
import { rankParts, rankRows, rankTable } from "./document.js";
import { choiceButtons } from "../parts/choices.js";

/** @typedef {import("../parts/bars.js").BarsRow} RankBar */

/**
 * @param {import("./document.js").Ranks} ranks
 * @param {import("./view.js").RanksPage} page
 * @returns {HTMLElement}
 */
export function rankBars(ranks, page) {
  const chart = h("div");
  const rows = rankRows(ranks).filter(({ steps }) => steps > 0);
  const blamed = new Map(ranks.stragglers.map(({ rank, cause }) => [rank, cause.replace("_", " ")]));
  const draw = (/** @type {string} */ kind) => {
    page.set("bars", kind === "step" ? null : kind);
    chart.replaceChildren(kind === "step" ? stepBarsOfRanks(rows, blamed)
      : kind === "overlap" ? overlapBars(rows, blamed) : communicationBars(ranks, blamed));
  };
  const chosen = page.get("bars") ?? "step";
  const choices = choiceButtons("What the bars show", [["step", "Mean step"],
    ["overlap", "Computation and communication"], ["collectives", "Waiting and transfer"]], chosen, draw);
  draw(["overlap", "collectives"].includes(chosen) ? chosen : "step");
  const tables = ["by_rank", "operations"].map((name) => rankTable(ranks, name));
  return h("div", null, choices, chart, h("div", { class: "section" }, tabPanels(tables.map((table) => ({
    name: table.name, title: table.title, make: () => tableView(table, scopedPage(page, table.name)),
  })), scopedPage(page, "tables"), "Tables by rank")));
}

/**
 * @param {import("./document.js").RankRow[]} rows
 * @param {Map<number, string>} blamed
 * @returns {HTMLElement}
 */
function stepBarsOfRanks(rows, blamed) {
  if (rows.length === 0) return emptyBox("no two ranks have steps in common that end in a collective");
  const shown = rankParts.filter(([key]) => rows.some((row) => row[key] > 0));
  return h("div", null, stackedBars(rows.map((row) => ({
    label: `rank ${row.rank}`, values: shown.map(([key]) => row[key] ?? 0), total: row.duration_ns ?? 0,
    mark: blamed.has(row.rank) ? `holds up the job: ${blamed.get(row.rank)}` : "",
  })), shown.map(([, label, kind]) => ({ label, kind })), "ns", () => {},
    { name: "Mean step of each rank; arrow keys move", marksLongest: false }).element,
    h("details", { class: "meanings" }, h("summary", null, "What do the parts mean?"),
      h("dl", null, shown.map(([, label, , meaning]) => [h("dt", null, label), h("dd", null, meaning)]).flat())));
}

/**
 * What the old plugin's view of ranks shows.
 * @param {import("./document.js").RankRow[]} rows
 * @param {Map<number, string>} blamed
 * @returns {HTMLElement}
 */
function overlapBars(rows, blamed) {
  if (rows.length === 0) return emptyBox("no two ranks have steps in common that end in a collective");
  const parts = [{ label: "computes alone", kind: "rank-compute" }, { label: "computes and communicates", kind: "rank-overlap" },
                 { label: "communicates alone", kind: "rank-transfer" }, { label: "neither", kind: "rank-unknown" }];
  return h("div", null, stackedBars(rows.map((row) => {
    const together = Math.min(row.overlapped_ns ?? 0, row.compute_ns ?? 0);
    const alone = (row.wait_ns ?? 0) + (row.transfer_ns ?? 0);
    return {
      label: `rank ${row.rank}`, total: row.duration_ns ?? 0,
      values: [row.compute_ns - together, together, alone, row.duration_ns - row.compute_ns - alone],
      mark: blamed.has(row.rank) ? `holds up the job: ${blamed.get(row.rank)}` : "",
    };
  }), parts, "ns", () => {}, { name: "Computation and communication of each rank in a mean step; arrow keys move", marksLongest: false }).element,
    h("p", { class: "quiet" }, "Of a mean step. Communication that runs while the rank computes costs it nothing; ",
      "communication alone includes waiting for other ranks."));
}

/**
 * @param {import("./document.js").Ranks} ranks
 * @param {Map<number, string>} blamed
 * @returns {HTMLElement}
 */
function communicationBars(ranks, blamed) {
  /** @type {Map<number, {wait: number, transfer: number, unknown: number}>} */
  const sums = new Map();
  for (const row of recordsOf(rankTable(ranks, "operations"))) {
    const sum = sums.get(row.rank) ?? { wait: 0, transfer: 0, unknown: 0 };
    sum.wait += row.wait_ns ?? 0;
    sum.transfer += row.transfer_ns ?? 0;
    sum.unknown += row.duration_ns - (row.wait_ns ?? 0) - (row.transfer_ns ?? 0);
    sums.set(row.rank, sum);
  }
  if (sums.size === 0) return emptyBox("no rank has a collective");
  /** @type {RankBar[]} */
  const rows = [...sums].map(([rank, { wait, transfer, unknown }]) => ({
    label: `rank ${rank}`, values: [transfer, wait, unknown], total: wait + transfer + unknown,
    mark: blamed.has(rank) ? `holds up the job: ${blamed.get(rank)}` : "",
  }));
  const leftOut = rankTable(ranks, "operations").left_out;
  return h("div", null, stackedBars(rows, [{ label: "transfers", kind: "rank-transfer" },
    { label: "waits for ranks", kind: "rank-wait" }, { label: "not known which", kind: "rank-unknown" }], "ns", () => {},
    { name: "Waiting and transfer in the collectives of each rank; arrow keys move", marksLongest: false }).element,
    h("p", { class: "quiet" }, "All collectives of the recording, also while the rank computes; collectives that run at the same time count twice. ",
      "The rank that waits least is the one that the others wait for.",
      leftOut > 0 ? ` ${countOf(leftOut, "row")} of operations are left out.` : ""));
}
