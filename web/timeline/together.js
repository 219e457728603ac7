// Timelines of several ranks as one, on the clock of the first of them, without any drawing.
import { timelineIsAnnotation, timelineKindName } from "./kinds.js";
import { timelineTrackKey } from "./arrange.js";
import { TimelineModel } from "./model.js";

/**
 * Where the recordings of ranks are on one clock: docs/formats/ranks.md. Lists by place of a rank.
 * @typedef {object} RankRecordings
 * @property {number[]} reference
 * @property {number[]} duration_ns
 * @property {number[]} start_ns
 * @property {number[]} end_ns
 * @property {number[]} error_ns
 */
/** @typedef {{members: number[], last_rank: number[], ranks: number[], start_ns: number[], left_out: number}} RankMatches */
/**
 * A trace of a rank.
 * @typedef {object} TogetherTrace
 * @property {number} place of its rank
 * @property {number} start_ns of the trace's window, since the start of the rank's first one
 */
/**
 * @typedef {object} TogetherPart a rank of a joined timeline
 * @property {number} rank its number
 * @property {TimelineModel} model
 * @property {TogetherTrace} trace
 * @property {(time: number) => number} map from a time of the trace to one of the first part
 * @property {boolean} isAligned
 * @property {string} [name] of the trace; none: the own
 */
/** Category of the ranges that are steps. */
const stepCategory = { name: "", kind: "user_annotation" };

/**
 * @param {RankRecordings} recordings
 * @param {TogetherTrace} own
 * @param {TogetherTrace} other
 * @returns {((time: number) => number) | null} from a time of the other trace to one of the own; null: nothing
 *   connects their clocks
 */
export function togetherMap(recordings, own, other) {
  if (own.place === other.place) return (time) => time + other.start_ns - own.start_ns;
  const { reference, duration_ns: duration, start_ns: start, end_ns: end } = recordings;
  if (reference[own.place] !== reference[other.place]) return null;
  /** @param {number} place */
  const rate = (place) => duration[place] > 0 ? (end[place] - start[place]) / duration[place] : 1;
  const factor = rate(other.place) / rate(own.place);
  const shift = (start[other.place] - start[own.place]) / rate(own.place) - own.start_ns;
  return (time) => (time + other.start_ns) * factor + shift;
}

/**
 * The tracks of another rank that stand beside the own ones: its device, or else what its host did.
 * @param {import("./model.js").TimelineDocument} source
 * @returns {number[]}
 */
function tracksOf({ tracks }) {
  const of = (/** @type {string} */ kind) => tracks.flatMap((track, at) => track.kind === kind && track.ranges > 0 ? [at] : []);
  const streams = of("stream");
  return streams.length > 0 ? streams : of("thread").sort((a, b) => tracks[b].ranges - tracks[a].ranges).slice(0, 2).sort((a, b) => a - b);
}

/** The own timeline with tracks of other ranks after its own. */
export class TogetherModel extends TimelineModel {
  /** @param {TogetherPart[]} parts the first one is the own */
  constructor(parts) {
    const joined = join(parts);
    super(joined.source, joined.ranges);
    this.parts = parts;
    this.ranks = parts.length;
    /** @private By range of this model. */
    this.partOf = joined.partOf;
    /** @private By range in the document, the range of its part; -1: a step. */
    this.inPart = joined.inPart;
    /** @private By part, then by its range, the range here; -1: it is not here. */
    this.here = parts.map(({ model }) => new Int32Array(model.size).fill(-1));
    for (let range = 0; range < this.size; range++) {
      const at = this.number[range];
      if (this.inPart[at] >= 0) this.here[this.partOf[at]][this.inPart[at]] = range;
    }
  }

  /** @override */
  rankOf(/** @type {number | undefined} */ rank) {
    return rank ?? this.parts[0].rank;
  }

  /**
   * @param {number} range
   * @returns {{part: TogetherPart, range: number}} range: in the model of the part; -1: it is a step
   */
  originOf(range) {
    const at = this.number[range];
    return { part: this.parts[this.partOf[at]], range: this.inPart[at] };
  }

  /**
   * @param {TogetherPart} part
   * @param {number} range of it
   * @returns {number} -1: it is not here
   */
  rangeHere(part, range) {
    return this.here[this.parts.indexOf(part)][range];
  }
}

/** @param {TogetherPart[]} parts */
function join(parts) {
  const own = parts[0].model.source;
  /** @type {string[]} */ const names = [];
  /** @type {number[]} */ const categories = [];
  /** @type {{name: string, kind: string}[]} */ const list = [];
  /** @type {Map<string, number>} */ const numbers = new Map();
  /**
   * @param {string} text
   * @param {{name: string, kind: string}} category
   */
  const nameOf = (text, category) => {
    const key = JSON.stringify([category.kind, category.name, text]);
    let number = numbers.get(key);
    if (number === undefined) {
      numbers.set(key, number = names.length);
      names.push(text);
      let place = list.findIndex((one) => one.kind === category.kind && one.name === category.name);
      if (place < 0) place = list.push(category) - 1;
      categories.push(place);
    }
    return number;
  };
  const kept = parts.map(({ model }, at) => at === 0 ? model.source.tracks.map((_, track) => track) : tracksOf(model.source));
  const size = parts.reduce((sum, { model }, at) => sum + (at === 0 ? model.size
    : model.source.steps.length + kept[at].reduce((more, track) => more + model.source.tracks[track].ranges, 0)), 0);
  const starts = new Float64Array(size), durations = new Float64Array(size);
  const rows = new Uint32Array(size), ofNames = new Uint32Array(size);
  const partOf = new Uint16Array(size), inPart = new Int32Array(size);
  /** @type {import("./model.js").TimelineDocument["tracks"]} */
  const tracks = [];
  /** @type {number[]} */ const unfinished = [];
  let range = 0;
  let wholeFrom = own.from_ns, wholeTo = own.to_ns;
  parts.forEach(({ model, rank, map, name: trace = "" }, part) => {
    const { source } = model;
    const ids = source.names.map((text, name) =>
      nameOf(text, source.category_list[source.categories[name]] ?? { name: "", kind: "other" }));
    const inOrder = new Uint32Array(model.size);
    for (let one = 0; one < model.size; one++) inOrder[model.number[one]] = one;
    /**
     * @param {number} begin
     * @param {number} end
     */
    const put = (begin, end) => {
      // Rounded times of neighbours still do not overlap.
      starts[range] = part === 0 ? begin : Math.round(map(begin));
      durations[range] = part === 0 ? end - begin : Math.round(map(end)) - starts[range];
      partOf[range] = part;
    };
    if (part > 0) {
      wholeFrom = Math.min(wholeFrom, map(source.from_ns));
      wholeTo = Math.max(wholeTo, map(source.to_ns));
      if (source.steps.length > 0) {
        tracks.push({ name: "steps", process: "", kind: "steps", device: null, ranges: source.steps.length, rows: 1, rank, key: timelineTrackKey(trace, "s") });
      }
      for (const { number, start_ns: begin, end_ns: end } of source.steps) {
        put(begin, end);
        ofNames[range] = nameOf(`Step ${number}`, stepCategory);
        inPart[range++] = -1;
      }
    }
    let first = 0;
    const firsts = source.tracks.map(({ ranges }) => (first += ranges) - ranges);
    for (const track of kept[part]) {
      const one = source.tracks[track];
      tracks.push(part === 0 ? one : { ...one, rank, key: timelineTrackKey(trace, track) });
      for (let number = firsts[track], end = number + one.ranges; number < end; number++) {
        const of = inOrder[number];
        put(model.start[of], model.end[of]);
        const lane = model.laneOf(of);
        rows[range] = lane - model.trackLane[track];
        ofNames[range] = ids[model.name[of]];
        if (model.unfinished.has(of)) unfinished.push(range);
        inPart[range++] = of;
      }
    }
  });
  const { flows } = parts[0].model;
  const number = parts[0].model.number;
  /** @param {Uint32Array} ends */
  const numbered = (ends) => Uint32Array.from(ends, (one) => number[one]);
  const sources = parts.map(({ model }) => model.source);
  /** @type {import("./model.js").TimelineDocument} */
  const source = {
    ...own, tracks, ranges: size, names, categories, category_list: list, columns: [], bytes: new Uint8Array(0), arguments: [],
    from_ns: wholeFrom, to_ns: wholeTo, unit_ns: Math.max(...sources.map(({ unit_ns: unit }) => unit)),
    left_out: sources.reduce((sum, one) => sum + one.left_out, 0), left_out_ns: Math.max(...sources.map((one) => one.left_out_ns)),
  };
  return { source, partOf, inPart, ranges: {
    starts, durations, rows, names: ofNames, unfinished,
    flows: flows.map(({ kind, from: begin, to: end }) => ({ kind, from: numbered(begin), to: numbered(end) })) } };
}

/** Which ranges of a joined timeline are one collective. */
export class TogetherMatches {
  /**
   * @param {TogetherModel} model
   * @param {RankMatches} matches
   */
  constructor(model, matches) {
    /** @private By range, the collective. @type {Map<number, number>} */
    this.collectives = new Map();
    /** @private By collective, its ranges. @type {Map<number, number[]>} */
    this.ranges = new Map();
    /** @private */
    this.matches = matches;
    const parts = model.parts.filter(({ trace }) => trace.place >= 0);
    let at = 0;
    matches.members.forEach((members, collective) => {
      for (const end = at + members; at < end; at++) {
        for (const part of parts) {
          if (part.trace.place !== matches.ranks[at]) continue;
          const range = rangeOf(part.model, matches.start_ns[at] - part.trace.start_ns);
          const here = range < 0 ? -1 : model.rangeHere(part, range);
          if (here < 0) continue;
          this.collectives.set(here, collective);
          this.ranges.set(collective, [...this.ranges.get(collective) ?? [], here]);
        }
      }
    });
  }

  /**
   * @param {number} range
   * @returns {{ranges: number[], members: number, last: number} | null} the collective that it is a part of: its parts
   *   here, how many ranks took part, and the rank that arrived last (-1: unknown)
   */
  of(range) {
    const collective = this.collectives.get(range);
    if (collective === undefined) return null;
    return { ranges: this.ranges.get(collective) ?? [], members: this.matches.members[collective], last: this.matches.last_rank[collective] };
  }
}

/**
 * The range of a collective that begins at a time: a kernel of a library of collectives, or else the nearest one, the
 * innermost of them.
 * @param {TimelineModel} model
 * @param {number} time
 */
function rangeOf(model, time) {
  const slack = model.source.unit_ns;
  const { tracks } = model.source;
  const hasStreams = tracks.some(({ kind, ranges }) => kind === "stream" && ranges > 0);
  let best = -1, cost = Infinity;
  for (let lane = 0; lane < model.lanes; lane++) {
    if ((tracks[model.laneTrack[lane]].kind === "stream") !== hasStreams) continue;
    const high = model.laneFirst[lane + 1];
    for (let range = model.beginning(time - slack, model.laneFirst[lane], high);
         range < high && model.start[range] <= time + slack; range++) {
      const kind = model.kinds[model.name[range]];
      if (hasStreams && timelineIsAnnotation(kind)) continue;
      const away = Math.abs(model.start[range] - time) + (timelineKindName(kind) === "collective" ? 0 : 2 * slack);
      if (away > cost) continue;
      best = range;
      cost = away;
    }
  }
  return best;
}
