// A comparison without any drawing: its rows as tables, its stacks as one tree of two sides.
import { readDocument } from "../data/section.js";
import { stackModel, stackTotals } from "../data/stacks.js";

/** @typedef {import("../data/source.js").Table} RowsTable */
/**
 * A row of `tbtrace.diff/1`.
 * @typedef {object} DiffRow
 * @property {string} by
 * @property {string} key
 * @property {number} base_count
 * @property {number} new_count
 * @property {number} base_ns
 * @property {number} new_ns
 * @property {number} change_ns
 * @property {number | null} low_ns
 * @property {number | null} high_ns
 * @property {string} verdict
 * @property {number | null} share
 * @property {string | null} matched_by
 * @property {string | null} base_key
 * @property {string[]} fuses
 */
/**
 * @typedef {object} DiffStep
 * @property {number} base_ns
 * @property {number} new_ns
 * @property {number} change
 * @property {number | null} low
 * @property {number | null} high
 * @property {number | null} resolvable
 * @property {number | null} steps_low
 * @property {number | null} steps_high
 */
/**
 * The flame graph of a comparison: docs/formats/comparison.md.
 * @typedef {object} DifferenceStacks
 * @property {string} name
 * @property {string} title
 * @property {boolean} is_per_step
 * @property {number} whole_ns
 * @property {number} base_ns
 * @property {number} new_ns
 * @property {number} left_out
 * @property {number} names_cut
 * @property {string[]} texts
 * @property {number[]} kinds by text
 * @property {number[]} frame by node, its text
 * @property {number[]} parent by node, how many places before it its parent is
 * @property {number[]} side by node: 0 both, 1 gone, 2 new
 * @property {number[]} was by node, the text that the base has; -1: the same
 * @property {number[]} base_self
 * @property {number[]} new_self
 * @property {string | null} empty
 */
/**
 * @typedef {object} Comparison
 * @property {string} schema
 * @property {{base: string[], new: string[], comparable: string, reasons: string[],
 *   verdict: string, why: string, sentence: string, step: DiffStep, rows: DiffRow[],
 *   quantities: {name: string, base: number | null, new: number | null}[]}} diff
 * @property {{by: string, rows: number, change_ns: number}[]} left_out
 * @property {DifferenceStacks[]} stacks
 * @property {string} first_stacks
 * @property {string | null} no_stacks
 */

/**
 * @param {Uint8Array} bytes
 * @returns {Comparison}
 */
export function readComparison(bytes) {
  return readDocument(bytes, ["tbtrace.comparison/1"]);
}

/** Divisions with their titles, in the order in which people see them. @type {[string, string][]} */
const divisionTitles = [["operator", "By operator"], ["kernel", "By kernel"], ["part", "By part"],
                        ["module", "By module"], ["line", "By line"], ["shape", "By shape"]];

const rowMeanings = /** @type {{[key: string]: string}} */ ({
  key: "what it is; in brackets: time that the division says nothing of",
  change_ns: "how much longer it takes per step",
  share: "of the change of the step; may be negative, or above 100 %",
  base_ns: "per step, before", new_ns: "per step, now",
  base_count: "operators and annotations that began, or device work that was launched, per step, before",
  new_count: "operators and annotations that began, or device work that was launched, per step, now",
  low_ns: "lower end of the interval of the change", high_ns: "upper end of the interval of the change",
  verdict: "of the row", only_on: "the side that has it, if the other one does not",
  matched_by: "how both sides were found to be the same, if not by name: uncertain",
  base_key: "its name before, if that is another",
});

/**
 * The side that a row is on alone: `base`, `new`, or null.
 * @param {DiffRow} row
 * @returns {string | null}
 */
export function onlyOn(row) {
  return row.matched_by !== null ? null : row.base_ns > 0 || row.base_count > 0 ? "base" : "new";
}

/**
 * @param {DiffRow} row
 * @returns {boolean} its names differ, and the pair was guessed
 */
export function isGuessed(row) {
  return row.matched_by !== null && row.matched_by !== "name";
}

/**
 * @param {string} key
 * @param {(string | null)[]} cells
 * @returns {import("../data/source.js").Column}
 */
function textColumn(key, cells) {
  const texts = [...new Set(cells.filter((cell) => cell !== null))].sort();
  const places = new Map(texts.map((text, place) => [text, place]));
  return { key, unit: "", meaning: rowMeanings[key] ?? "", type: "text",
           values: cells.map((cell) => (cell === null ? null : places.get(cell))),
           texts: /** @type {string[]} */ (texts) };
}

/**
 * The rows of each division that says something, the largest change first.
 * @param {Comparison} comparison
 * @returns {{table: RowsTable, rows: DiffRow[]}[]}
 */
export function divisionTables(comparison) {
  return divisionTitles.flatMap(([by, title]) => {
    const rows = comparison.diff.rows.filter((row) => row.by === by);
    const says = rows.some((row) => !row.key.startsWith("["));
    if (!says) return [];
    const left = comparison.left_out.find((one) => one.by === by);
    /**
     * @param {"change_ns"|"share"|"base_ns"|"new_ns"|"base_count"|"new_count"|"low_ns"|"high_ns"} key
     * @param {string} unit
     */
    const numbers = (key, unit) => ({
      key, unit, meaning: rowMeanings[key], type: /** @type {const} */ ("number"),
      values: rows.map((row) => row[key]),
    });
    const counts = by !== "part";
    const isJudged = (/** @type {DiffRow} */ row) => row.low_ns !== null || row.verdict !== "inconclusive";
    const columns = [
      textColumn("key", rows.map((row) => row.key)),
      numbers("change_ns", "ns"), numbers("share", "share"), numbers("base_ns", "ns"),
      numbers("new_ns", "ns"),
      ...(counts ? [numbers("base_count", ""), numbers("new_count", "")] : []),
      numbers("low_ns", "ns"), numbers("high_ns", "ns"),
      textColumn("verdict", rows.map((row) => (isJudged(row) ? row.verdict : null))),
      textColumn("only_on", rows.map(onlyOn)),
      textColumn("matched_by", rows.map((row) => (isGuessed(row) ? row.matched_by : null))),
      textColumn("base_key", rows.map((row) => row.base_key)),
    ];
    return [{ rows, table: {
      name: by, title, command: null, rows: rows.length, left_out: left?.rows ?? 0, names_cut: 0,
      sort_by: null, shown: columns.map((column) => column.key)
        .filter((key) => !["only_on", "matched_by", "base_key"].includes(key)),
      tree: null, columns, totals: {}, totals_label: "", notes: [], empty: null,
    } }];
  });
}

/**
 * The rows that explain most: the first ones with a name.
 * @param {Comparison} comparison
 * @param {string} by
 * @param {number} count
 * @returns {DiffRow[]}
 */
export function largestChanges(comparison, by, count) {
  const { rows, step } = comparison.diff;
  const change = step.new_ns - step.base_ns;
  return rows.filter((row) => row.by === by && !row.key.startsWith("[") &&
    row.change_ns * change > 0 && Math.abs(row.change_ns) >= Math.abs(change) / 20).slice(0, count);
}

/**
 * A model of frames whose widths are the longer of both sides, with both sides by frame.
 * @typedef {object} DifferenceModel
 * @property {import("../data/stacks.js").StackModel} model
 * @property {Float64Array} base by frame, with what is below it
 * @property {Float64Array} now
 * @property {Float64Array} baseSelf
 * @property {Float64Array} newSelf
 * @property {Uint8Array} side 0 both, 1 gone, 2 new
 * @property {Uint8Array} shade from 0, much faster, over 3, no change, to 6, much slower
 * @property {Int32Array} was its text before; -1: the same
 */

/** From which share of the whole on a shade is used; as in src/writers/flame/difference_shade.h. */
const shadeShares = [0.001, 0.01, 0.05];

/**
 * @param {number} change
 * @param {number} whole
 * @returns {number}
 */
export function shadeOf(change, whole) {
  const share = whole > 0 ? Math.abs(change) / whole : change === 0 ? 0 : 1;
  const steps = shadeShares.filter((least) => share >= least).length;
  return 3 + (change < 0 ? -steps : steps);
}

/**
 * @param {DifferenceStacks} stacks
 * @returns {DifferenceModel}
 */
export function differenceModel(stacks) {
  const { parent, frame, base_self, new_self } = stacks;
  const self = base_self.map((base, node) => Math.max(base, new_self[node]));
  const model = stackModel({ texts: stacks.texts, frame, parent, self }, "weight");
  const baseTotals = stackTotals(parent, base_self);
  const newTotals = stackTotals(parent, new_self);
  const found = {
    model, base: new Float64Array(model.size), now: new Float64Array(model.size),
    baseSelf: new Float64Array(model.size), newSelf: new Float64Array(model.size),
    side: new Uint8Array(model.size), shade: new Uint8Array(model.size),
    was: new Int32Array(model.size),
  };
  for (let at = 0; at < model.size; ++at) {
    const node = model.origin[at];
    found.base[at] = baseTotals[node];
    found.now[at] = newTotals[node];
    found.baseSelf[at] = base_self[node];
    found.newSelf[at] = new_self[node];
    found.side[at] = stacks.side[node];
    found.was[at] = stacks.was[node];
    found.shade[at] = shadeOf(new_self[node] - base_self[node], stacks.whole_ns);
  }
  return found;
}

/**
 * What the marked frames take on both sides; a marked frame inside another one counts once.
 * @param {DifferenceModel} difference
 * @param {Uint8Array} matches by frame
 * @returns {{base: number, now: number}}
 */
export function matchedTimes({ model, base, now }, matches) {
  const sum = { base: 0, now: 0 };
  for (let frame = 1; frame < model.size;) {
    if (matches[frame] === 0) {
      ++frame;
      continue;
    }
    sum.base += base[frame];
    sum.now += now[frame];
    frame = model.end[frame];
  }
  return sum;
}

/** @typedef {{text: number, frame: number, base: number, now: number, places: number}} ChangedFrame */

/**
 * Frames of the same text in one row, by the change of their own times.
 * @param {DifferenceModel} difference
 * @param {number} top only those below this frame, and itself
 * @returns {ChangedFrame[]} frame: the one that changed most
 */
export function changedFrames({ model, baseSelf, newSelf }, top) {
  /** @type {Map<number, ChangedFrame>} */
  const rows = new Map();
  const change = (/** @type {number} */ frame) => Math.abs(newSelf[frame] - baseSelf[frame]);
  for (let frame = Math.max(1, top); frame < model.end[top]; ++frame) {
    const text = model.text[frame];
    let row = rows.get(text);
    if (row === undefined) rows.set(text, row = { text, frame, base: 0, now: 0, places: 0 });
    ++row.places;
    row.base += baseSelf[frame];
    row.now += newSelf[frame];
    if (change(frame) > change(row.frame)) row.frame = frame;
  }
  return [...rows.values()].filter((row) => row.base !== row.now).sort((a, b) =>
    Math.abs(b.now - b.base) - Math.abs(a.now - a.base) || a.text - b.text);
}
