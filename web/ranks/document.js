// The ranks of a job without any drawing: what a rank is in each step, and how ranks are ordered.
import { readDocument } from "../data/section.js";
import { withUnits } from "../data/source.js";
import { recordsOf } from "../data/table.js";

/**
 * Lists are by rank, then by step; null where a rank does not have a step.
 * @typedef {object} RankCells
 * @property {number} ranks_left_out
 * @property {number} steps_left_out
 * @property {number[]} ranks places in the table `by_rank`
 * @property {number[]} steps numbers
 * @property {(number | null)[]} start_ns since the start of the rank's recording
 * @property {(number | null)[]} duration_ns
 * @property {(number | null)[]} excess_ns
 * @property {(number | null)[]} is_late
 */
/** @typedef {{ranks_left_out: number, ranks: number[], wait_ns: number[][]}} RankWaits */
/**
 * @typedef {object} CostlyCollective
 * @property {string} name
 * @property {string} group
 * @property {number | null} step
 * @property {number | null} bytes
 * @property {number} start_ns
 * @property {number} duration_ns
 * @property {number} exposed_ns
 * @property {number | null} transfer_ns
 * @property {number | null} bus_bandwidth_bytes_per_s
 * @property {number | null} last_rank
 * @property {number} members_left_out
 * @property {number[]} members places of ranks, the first to arrive first
 * @property {number[]} arrival_ns
 * @property {number[]} wait_ns empty: not known
 */
/**
 * @typedef {object} RankLine
 * @property {number} rank its place
 * @property {boolean} is_aligned
 * @property {number} start_ns
 * @property {number} end_ns
 * @property {number[]} activity pairs: the part where a run ends, and what it counts as
 * @property {number} collectives_left_out
 * @property {number[]} collective_start_ns
 * @property {number[]} collective_duration_ns
 * @property {number[]} collective_wait_ns -1: not known
 * @property {number[]} collective place in the list of the step; -1: not matched
 */
/**
 * @typedef {object} StepLines
 * @property {number} step
 * @property {string} why
 * @property {number} ranks_left_out
 * @property {RankLine[]} ranks those that are worth looking at first
 * @property {{name: string, group: string, bytes: number | null, last_rank: number | null}[]} collectives
 */
/**
 * @typedef {object} Ranks
 * @property {string} title
 * @property {string} about
 * @property {string[]} sentences
 * @property {{rank: number, cause: string, sentence: string, remedy: string, excess_per_step_ns: number, steps: number, share: number, peer: number | null}[]} stragglers
 * @property {number} compared_steps
 * @property {string | null} why_not_compared
 * @property {string[]} remarks
 * @property {string[]} notes
 * @property {number} collectives
 * @property {number} unmatched
 * @property {import("../data/source.js").Table[]} tables
 * @property {RankCells & {[key: string]: any}} cells
 * @property {RankWaits} waits
 * @property {CostlyCollective[]} costliest
 * @property {StepLines[]} timelines
 * @property {import("../timeline/together.js").RankRecordings} recordings
 * @property {import("../timeline/together.js").RankMatches} matches
 * @property {number} names_cut
 */
/**
 * A row of the table `by_rank`.
 * @typedef {{[key: string]: any}} RankRow
 */

/**
 * What a step of a rank divides into, in the order in which parts are stacked: key, name, class of
 * its colour, meaning.
 * @type {[string, string, string, string][]}
 */
export const rankParts = [
  ["compute_ns", "computes", "rank-compute", "a kernel computes; on the host an operator"],
  ["transfer_ns", "transfers", "rank-transfer",
   "nothing computes and a collective transfers, or it is not known whether it waits"],
  ["wait_ns", "waits for ranks", "rank-wait", "nothing computes and the rank waits for others in a collective"],
  ["input_ns", "input", "rank-input", "the device copies from the host, or the host waits for its data loader"],
  ["launch_ns", "late launches", "rank-launch", "the device is idle because the host launched late"],
  ["memory_ns", "memory", "rank-memory",
   "the device is idle while the host allocates or frees its memory, or waits for that"],
  ["garbage_collection_ns", "garbage collection", "rank-gc", "the device is idle while Python collects garbage"],
  ["copy_ns", "other copies", "rank-copy", "a copy that is not to the device"],
  ["unknown_ns", "idle, unknown why", "rank-unknown", "the device is idle, and the trace does not say why"],
];

/** By the number of a run's kind (`RankTime`), its place in rankParts. */
export const activityParts = [0, 1, 3, 6, 5, 7, 4, 8];

/** How many parts a step is drawn in. */
export const activityLength = 500;

/**
 * @param {Uint8Array} bytes
 * @returns {Ranks}
 */
export function readRanks(bytes) {
  const ranks = readDocument(bytes, ["tbtrace.ranks/1"]);
  withUnits(ranks.tables);
  return ranks;
}

/**
 * @param {Ranks} ranks
 * @param {string} name
 * @returns {import("../data/source.js").Table}
 */
export function rankTable(ranks, name) {
  const table = ranks.tables.find((one) => one.name === name);
  if (!table) throw new Error(`The data of the ranks have no table ${name}.`);
  return table;
}

/**
 * @param {Ranks} ranks
 * @returns {RankRow[]} by place
 */
export function rankRows(ranks) {
  return recordsOf(rankTable(ranks, "by_rank"));
}

/**
 * What the timeline needs of a job.
 * @param {Ranks} ranks
 * @param {import("./view.js").RankTraces} traces
 * @returns {import("../data/source.js").JobOfPage}
 */
export function jobOfPage(ranks, traces) {
  const numbers = rankRows(ranks).map(({ rank }) => Number(rank));
  return {
    ranks: numbers, recordings: ranks.recordings, matches: ranks.matches,
    placeOf: (trace) => {
      const found = traces.placeOf(trace);
      const place = found === null ? -1 : numbers.indexOf(found.rank);
      return found === null || place < 0 ? null : { place, start_ns: found.start_ns };
    },
    has: (rank) => traces.find(rank, Number.MAX_SAFE_INTEGER) !== null,
    find: (rank, time) => {
      const at = Math.max(0, Math.round(time));
      const found = traces.find(rank, at);
      return found && { trace: found.trace, start_ns: at - found.start_ns };
    },
  };
}

/**
 * The lower one of two middle ones, as the document has it.
 * @param {(number | null)[]} values
 * @returns {number | null}
 */
export function middleOf(values) {
  const known = /** @type {number[]} */ (values.filter((value) => value !== null));
  known.sort((a, b) => a - b);
  return known.length > 0 ? known[(known.length - 1) >> 1] : null;
}

/**
 * What the heat map can show: by how much a quantity differs from that of the other ranks.
 * @type {[string, string, string][]}
 */
export const cellQuantities = [
  ["excess_ns", "own time", "all of the step but waits and transfers"],
  .../** @type {[string, string, string][]} */ (rankParts.map(([key, name, , meaning]) => [key, name, meaning])),
  ["duration_ns", "whole step", "from the end of the last collective of the step before to that of its own"],
];

/**
 * By cell, how much more a rank needs than the middle one of the ranks in the step.
 * @param {RankCells & {[key: string]: any}} cells
 * @param {string} key of cellQuantities
 * @returns {(number | null)[]}
 */
export function cellDifferences(cells, key) {
  // The document has it against the ranks that do the same work.
  if (key === "excess_ns") return cells.excess_ns;
  const values = /** @type {(number | null)[]} */ (cells[key]);
  const width = cells.steps.length;
  const middles = cells.steps.map((_, step) =>
    middleOf(cells.ranks.map((_, rank) => values[rank * width + step])));
  return values.map((value, at) => {
    const middle = middles[at % width];
    return value === null || middle === null ? null : value - middle;
  });
}

/**
 * @param {RankRow[]} rows by place
 * @param {number[]} places
 * @param {string} order `rank`, `host`, `excess`
 * @returns {number[]} positions in `places`, in this order
 */
export function rankOrder(rows, places, order) {
  const positions = places.map((_, position) => position);
  const row = (/** @type {number} */ position) => rows[places[position]] ?? {};
  if (order === "excess") {
    const excess = (/** @type {number} */ position) => row(position).excess_ns ?? -Infinity;
    return positions.sort((a, b) => excess(b) - excess(a) || a - b);
  }
  if (order === "host") {
    const host = (/** @type {number} */ position) => String(row(position).host ?? "");
    return positions.sort((a, b) => host(a) < host(b) ? -1 : host(a) > host(b) ? 1 : a - b);
  }
  return positions;
}

/**
 * Where a value is on a scale of seven shades, 0 to 6; 3 is no difference.
 * @param {number} value
 * @param {number} largest of the scale, greater than 0
 * @returns {number} with decimals
 */
export function rankShade(value, largest) {
  return 3 + 3 * Math.max(-1, Math.min(1, value / largest));
}

/**
 * The largest difference that the scale shows, and at least what is noise: a part of a step.
 * @param {(number | null)[]} differences
 * @param {(number | null)[]} durations
 * @returns {number}
 */
export function shadeScale(differences, durations) {
  let largest = 1;
  for (const value of differences) if (value !== null) largest = Math.max(largest, Math.abs(value));
  return Math.max(largest, (middleOf(durations) ?? 0) * 0.02);
}
