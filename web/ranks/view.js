// The view of a job's ranks: who holds it up and why, and what that is seen by.
import { h } from "../parts/dom.js";
import { countOf, formatValue } from "../parts/format.js";
import { fullSentence } from "../parts/empty.js";
import { scopedPage } from "../parts/scoped_page.js";
import { tableView } from "../parts/table.js";
import { timelinePart } from "../parts/timeline_link.js";
import { middleOf, rankTable } from "./document.js";
import { rankHeatMap } from "./heat_map.js";
import { waitMap } from "./wait_map.js";
import { rankBars } from "./rank_bars.js";
import { bandwidthChart } from "./bandwidth_chart.js";
import { costliestCollectives } from "./costliest.js";
import { clockCharts } from "./clock_chart.js";
import { stepLines } from "./step_lines.js";

/** @typedef {import("./document.js").Ranks} ShownRanks */
/**
 * A page that knows the timelines of ranks.
 * @typedef {import("../data/source.js").Page & {hasTimelines: boolean,
 *   openTimeline: (rank: number, start_ns: number, duration_ns: number) => boolean,
 *   timelineOf: (rank: number, start_ns: number, duration_ns: number, text: string) => HTMLElement | null}} RanksPage
 */
/**
 * Where the timelines of ranks are.
 * @typedef {object} RankTraces
 * @property {(rank: number, start_ns: number) => {trace: string, start_ns: number} | null} find the
 *   trace that has a time of a rank, and the time in it
 * @property {(trace: string) => {rank: number, start_ns: number} | null} placeOf whose trace it is, and when its
 *   window starts in the recordings of the rank
 * @property {boolean} hasAny
 * @property {(trace: string, params: {[key: string]: string | null}) => void} open its timeline
 */

/**
 * @param {import("../data/source.js").Page} page
 * @param {RankTraces} traces
 * @returns {RanksPage}
 */
function withTimelines(page, traces) {
  /** @type {RanksPage["openTimeline"]} */
  const openTimeline = (rank, start, duration) => {
    const found = traces.find(rank, start);
    if (found) traces.open(found.trace, timelinePart(found.start_ns, found.start_ns + duration));
    return found !== null;
  };
  return {
    ...page, hasTimelines: traces.hasAny, openTimeline,
    timelineOf: (rank, start, duration, text) => traces.find(rank, start) === null ? null
      : h("button", { type: "button", onclick: () => openTimeline(rank, start, duration) }, text),
  };
}

/**
 * @param {ShownRanks} ranks
 * @returns {HTMLElement}
 */
function verdictOfRanks(ranks) {
  const isKnown = ranks.why_not_compared === null;
  const has = ranks.stragglers.length > 0;
  const kind = has ? "warning" : isKnown ? "good" : "info";
  const step = middleOf(ranks.cells.duration_ns);
  const count = rankTable(ranks, "by_rank");
  return h("section", { class: `card ${kind}`, "aria-label": "Verdict" },
    h("div", { class: "headline" },
      h("span", { class: `badge ${kind}` }, has ? "Straggler" : isKnown ? "Even" : "Unknown"),
      h("h2", { class: "figure" }, ranks.sentences.map((text, at) => [at > 0 ? h("br") : null, fullSentence(text)]).flat())),
    ranks.stragglers.map(({ rank, remedy }) => remedy === "" ? null
      : h("p", { class: "remedy" }, h("b", null, ranks.stragglers.length > 1 ? `Rank ${rank}: ` : "What to do: "), fullSentence(remedy))),
    h("dl", { class: "facts-line" }, [
      ["Ranks", formatValue(count.rows + count.left_out)], ["Steps compared", formatValue(ranks.compared_steps)],
      ["Median step", step === null ? "\u2013" : formatValue(step, "ns")],
      ["Collectives matched", formatValue(ranks.collectives)], ["Records not matched", formatValue(ranks.unmatched)],
    ].map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value)))),
    ranks.remarks.length + ranks.notes.length === 0 ? null : h("ul", { class: "rank-remarks" },
      ranks.remarks.map((remark) => h("li", null, h("span", { class: "badge warning" }, "inputs"), " ", fullSentence(remark))),
      ranks.notes.map((note) => h("li", { class: "quiet" }, fullSentence(note)))));
}

/**
 * @param {string} title
 * @param {string} about
 * @param {HTMLElement[]} content
 * @returns {HTMLElement}
 */
function ranksSection(title, about, ...content) {
  return h("section", { class: "section" }, h("h2", null, title, h("span", { class: "quiet" }, about)), content);
}

/**
 * @param {ShownRanks} ranks
 * @param {import("../data/source.js").Page} plain
 * @param {RankTraces} traces
 * @returns {HTMLElement}
 */
export function renderRanks(ranks, plain, traces) {
  const page = withTimelines(plain, traces);
  const collectives = rankTable(ranks, "collectives");
  /** @type {import("../parts/table.js").TableView | null} */
  let table = null;
  const tableOfSizes = tableView(collectives, scopedPage(page, "collectives"), { ready: (view) => { table = view; } });
  return h("div", { class: "ranks" }, verdictOfRanks(ranks),
    ranksSection("Ranks by steps", "orange needs more than the other ranks, blue less", rankHeatMap(ranks, page)),
    ranksSection("What the time of each rank goes to", "means of the steps that ranks have in common", rankBars(ranks, page)),
    ranksSection("Who waits for whom", "in all collectives", waitMap(ranks, page)),
    ranksSection("A step of several ranks", "on one clock", stepLines(ranks, scopedPage(page, "lines"))),
    ranksSection("Collectives by size and bandwidth", "bus bandwidth as nccl-tests count it",
      bandwidthChart(collectives, (row) => table?.reveal(row)), tableOfSizes),
    ranksSection("The costliest collectives", "by the time in which ranks computed nothing, all ranks together",
      costliestCollectives(ranks)),
    ranksSection("Clocks", "of the ranks' hosts", clockCharts(rankTable(ranks, "clocks")),
      tableView(rankTable(ranks, "clocks"), scopedPage(page, "clocks"))),
    ranks.names_cut > 0 ? h("p", { class: "quiet" }, `${countOf(ranks.names_cut, "long name")} cut.`) : null);
}
