// The ranges of a timeline in memory: by line, in the order of time, so that each question is a
// binary search. Times are in ns from the start of the recording's window.
import { timelineColumn, timelinePlaces } from "./columns.js";
import { timelineIsAnnotation, timelineKindOf } from "./kinds.js";

/**
 * @typedef {object} TimelineDocument as docs/formats/timeline.md says
 * @property {string} about
 * @property {number} unit_ns
 * @property {number} origin_ns
 * @property {number} from_ns
 * @property {number} to_ns
 * @property {number} window_ns
 * @property {[number, number] | null} part
 * @property {number} ranges
 * @property {number} left_out
 * @property {number} left_out_ns
 * @property {boolean} arguments_left_out
 * @property {number} names_cut
 * @property {{name: string, process: string, kind: string, device: number | null,
 *             ranges: number, rows: number, rank?: number, key?: string}[]} tracks rank, key: of a joined timeline
 * @property {string[]} names
 * @property {number[]} categories
 * @property {{name: string, kind: string}[]} category_list
 * @property {{number: number, start_ns: number, end_ns: number}[]} steps
 * @property {{name: string, process?: string, unit: string, samples?: number, times_ns: number[],
 *             values: number[]}[]} counters
 * @property {number} [counters_left_out]
 * @property {import("./moments.js").TimelineMarkList} [marks]
 * @property {{kind: string, count: number}[]} flows
 * @property {{key: string, unit: string, texts?: string[]}[]} arguments
 * @property {import("./columns.js").TimelineColumn[]} columns
 * @property {string[]} notes
 * @property {string | null} empty
 * @property {Uint8Array} bytes
 */

/** Ranges in a block of which the longest is known, and blocks in a larger block. */
export const timelineBlock = 8;

/**
 * The ranges of a document in its order; times in ns.
 * @typedef {object} TimelineRanges
 * @property {Float64Array} starts
 * @property {Float64Array} durations
 * @property {ArrayLike<number>} rows
 * @property {ArrayLike<number>} names
 * @property {ArrayLike<number>} unfinished
 * @property {{kind: string, from: ArrayLike<number>, to: ArrayLike<number>}[]} flows
 */

/**
 * @param {TimelineDocument} source
 * @param {Map<string, import("./columns.js").TimelinePlace>} places
 * @returns {TimelineRanges}
 */
function decoded(source, places) {
  const trackRanges = source.tracks.map((track) => track.ranges);
  /** @param {string} name */
  const column = (name) => timelineColumn(source.bytes, places.get(name), trackRanges, /[.]|unfinished/.test(name) ? 0 : source.ranges);
  const starts = column("start");
  const durations = column("duration");
  for (let i = 0; i < source.ranges; i++) {
    starts[i] = source.origin_ns + starts[i] * source.unit_ns;
    durations[i] *= source.unit_ns;
  }
  return { starts, durations, rows: column("row"), names: column("name"), unfinished: column("unfinished"),
           flows: source.flows.map(({ kind }) => ({ kind, from: column(`${kind}.from`), to: column(`${kind}.to`) })) };
}

/** The ranges of a document. A range is its number in the order of lines. */
export class TimelineModel {
  /**
   * @param {TimelineDocument} source
   * @param {TimelineRanges} [ranges] those of the document, if its columns do not have them
   */
  constructor(source, ranges) {
    this.source = source;
    /** How many ranks have tracks here. */
    this.ranks = 1;
    /** @private */
    this.places = timelinePlaces(source.columns, source.bytes.length);
    const { starts, durations, rows, names, unfinished, flows } = ranges ?? decoded(source, this.places);
    const size = this.size = source.ranges;
    this.names = source.names;
    /** By name: its kind for colours and words. */
    this.kinds = source.names.map((text, name) => timelineKindOf(
      text, source.category_list[source.categories[name]]?.kind ?? "other"));
    const trackRanges = source.tracks.map((track) => track.ranges);
    /** @type {number[]} lines by track */
    this.trackRows = [];
    /** The first line of each track. */
    this.trackLane = new Uint32Array(trackRanges.length + 1);
    let at = 0;
    trackRanges.forEach((count, track) => {
      let most = source.tracks[track].rows;
      for (const end = at + count; at < end; at++) if (rows[at] >= most) most = rows[at] + 1;
      this.trackRows.push(most);
      this.trackLane[track + 1] = this.trackLane[track] + most;
    });
    this.lanes = this.trackLane[trackRanges.length];
    /** Track of each line. */
    this.laneTrack = new Uint32Array(this.lanes);
    trackRanges.forEach((_, track) =>
      this.laneTrack.fill(track, this.trackLane[track], this.trackLane[track + 1]));
    // An annotation on a stream says what the work belongs to: it is no work.
    this.busy = timelineBusy(starts, durations, trackRanges, (at, track) =>
      source.tracks[track].kind === "stream" && timelineIsAnnotation(this.kinds[names[at]]));

    // By line: counted, then put.
    /** The first range of each line. */
    this.laneFirst = new Uint32Array(this.lanes + 1);
    at = 0;
    trackRanges.forEach((count, track) => {
      const lane = this.trackLane[track] + 1;
      for (const end = at + count; at < end; at++) this.laneFirst[lane + rows[at]]++;
    });
    for (let lane = 0; lane < this.lanes; lane++) this.laneFirst[lane + 1] += this.laneFirst[lane];
    const next = this.laneFirst.slice();
    this.start = new Float64Array(size);
    this.end = new Float64Array(size);
    this.name = new Uint32Array(size);
    /** Number of each range in the document. */
    this.number = new Uint32Array(size);
    const place = new Uint32Array(size);
    this.nameCount = new Uint32Array(this.names.length);
    this.nameTotal = new Float64Array(this.names.length);
    at = 0;
    trackRanges.forEach((count, track) => {
      const lane = this.trackLane[track];
      for (const end = at + count; at < end; at++) {
        const range = next[lane + rows[at]]++;
        place[at] = range;
        this.number[range] = at;
        this.start[range] = starts[at];
        this.end[range] = starts[at] + durations[at];
        const name = names[at];
        this.name[range] = name;
        this.nameCount[name]++;
        this.nameTotal[name] += durations[at];
      }
    });
    /** Durations of all ranges before each one. */
    this.sum = new Float64Array(size + 1);
    for (let i = 0; i < size; i++) this.sum[i + 1] = this.sum[i] + this.end[i] - this.start[i];
    this.longest = timelineLongest(this.start, this.end);
    this.longestDuration = size > 0 ? this.duration(this.longestOf(0, size)) : 0;
    /** The ranges that did not end. @type {Set<number>} */
    this.unfinished = new Set(Array.from(unfinished, (range) => place[range]));
    /** @type {{kind: string, from: Uint32Array, to: Uint32Array}[]} */
    this.flows = flows.map(({ kind, from, to }) => ({
      kind, from: Uint32Array.from(from, (range) => place[range]), to: Uint32Array.from(to, (range) => place[range]),
    }));
  }

  /**
   * @param {number | undefined} rank of a track or gap
   * @returns {number | undefined} the same, or the own one beside others
   */
  rankOf(rank) {
    return rank;
  }

  /**
   * @param {string} name
   * @returns {import("./columns.js").TimelinePlace | undefined}
   */
  placeOf(name) {
    return this.places.get(name);
  }

  /**
   * @param {number} range
   * @returns {number} its line
   */
  laneOf(range) {
    let low = 0;
    let high = this.lanes;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.laneFirst[middle] <= range) low = middle;
      else high = middle;
    }
    // Empty lines begin where the next one does: the last of them has the range.
    return low;
  }

  /**
   * @param {number} range
   * @returns {number} its track
   */
  trackOf(range) {
    return this.laneTrack[this.laneOf(range)];
  }

  /** @param {number} range */
  duration(range) {
    return this.end[range] - this.start[range];
  }

  /** @param {number} range */
  nameOf(range) {
    return this.names[this.name[range]];
  }

  /**
   * The first range of these that begins at a time or later.
   * @param {number} time
   * @param {number} low
   * @param {number} high
   * @returns {number} high without one
   */
  beginning(time, low, high) {
    const start = this.start;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (start[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * The first range of these, of one line, that ends after a time.
   * @param {number} time
   * @param {number} low
   * @param {number} high
   * @returns {number} high without one
   */
  ending(time, low, high) {
    const end = this.end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (end[middle] <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * The longest of these ranges, the first of them if several are.
   * @param {number} low
   * @param {number} high more than low
   * @returns {number}
   */
  longestOf(low, high) {
    const { start, end, longest } = this;
    let best = low;
    let most = -1;
    // Single ranges up to whole blocks.
    let inner = high - low < 2 * timelineBlock ? high
      : Math.ceil(low / timelineBlock) * timelineBlock;
    let outer = inner === high ? high : Math.floor(high / timelineBlock) * timelineBlock;
    for (let i = low; i < inner; i++) {
      const length = end[i] - start[i];
      if (length > most) { most = length; best = i; }
    }
    for (let i = outer; i < high; i++) {
      const length = end[i] - start[i];
      if (length > most) { most = length; best = i; }
    }
    // Blocks, up to larger blocks.
    for (const { range, length } of longest) {
      if (inner >= outer) break;
      low = inner / timelineBlock;
      high = outer / timelineBlock;
      const isLast = high - low < 2 * timelineBlock || longest[longest.length - 1].range === range;
      inner = isLast ? high : Math.ceil(low / timelineBlock) * timelineBlock;
      outer = isLast ? high : Math.floor(high / timelineBlock) * timelineBlock;
      for (let i = low; i < inner; i++) {
        if (length[i] > most || (length[i] === most && range[i] < best)) {
          most = length[i];
          best = range[i];
        }
      }
      for (let i = outer; i < high; i++) {
        if (length[i] > most || (length[i] === most && range[i] < best)) {
          most = length[i];
          best = range[i];
        }
      }
    }
    return best;
  }
}

/**
 * The longest range of each block, of each block of blocks, and so on.
 * @param {Float64Array} start
 * @param {Float64Array} end
 * @returns {{range: Uint32Array, length: Float64Array}[]}
 */
function timelineLongest(start, end) {
  const levels = [];
  /** @type {{range: Uint32Array, length: Float64Array} | null} */
  let below = null;
  for (let size = start.length; size >= 2 * timelineBlock;) {
    size = Math.floor(size / timelineBlock);
    const range = new Uint32Array(size);
    const length = new Float64Array(size);
    for (let block = 0, at = 0; block < size; block++) {
      let best = 0;
      let most = -1;
      for (const last = at + timelineBlock; at < last; at++) {
        const one = below === null ? end[at] - start[at] : below.length[at];
        if (one > most) {
          most = one;
          best = below === null ? at : below.range[at];
        }
      }
      range[block] = best;
      length[block] = most;
    }
    levels.push(below = { range, length });
  }
  return levels;
}

/**
 * When each track had any range: its ranges, joined where they touch.
 * @param {Float64Array} starts in the document's order
 * @param {Float64Array} durations
 * @param {number[]} trackRanges
 * @param {(at: number, track: number) => boolean} isLeftOut
 * @returns {{first: Uint32Array, start: Float64Array, end: Float64Array, sum: Float64Array}}
 */
function timelineBusy(starts, durations, trackRanges, isLeftOut) {
  const first = new Uint32Array(trackRanges.length + 1);
  /** @param {(from: number, to: number) => void} put */
  const walk = (put) => {
    let at = 0;
    let count = 0;
    trackRanges.forEach((ranges, track) => {
      let from = 0;
      let to = -Infinity;
      for (const last = at + ranges; at < last; at++) {
        if (isLeftOut(at, track)) continue;
        if (starts[at] > to) {
          if (to > from) { put(from, to); count++; }
          from = starts[at];
          to = from;
        }
        const end = starts[at] + durations[at];
        if (end > to) to = end;
      }
      if (to > from) { put(from, to); count++; }
      first[track + 1] = count;
    });
    return count;
  };
  const count = walk(() => {});
  const busy = { first, start: new Float64Array(count), end: new Float64Array(count),
                 sum: new Float64Array(count + 1) };
  let at = 0;
  walk((from, to) => {
    busy.start[at] = from;
    busy.end[at++] = to;
    busy.sum[at] = busy.sum[at - 1] + to - from;
  });
  return busy;
}
