// Questions about ranges: what is at a place, what is around a range, what is in a span.

/** @typedef {import("./model.js").TimelineModel} QueryModel */

/**
 * The range of a line at a time. Without one, the nearest within some slack; where ranges are
 * narrower than the slack, the longest of them, because that is what the picture shows.
 * @param {QueryModel} model
 * @param {number} lane
 * @param {number} time
 * @param {number} pixel time of a pixel
 * @returns {number} -1: nothing is there
 */
export function timelineHit(model, lane, time, pixel) {
  const low = model.laneFirst[lane];
  const high = model.laneFirst[lane + 1];
  const left = time - pixel / 2;
  const right = time + pixel / 2;
  let first = model.ending(left, low, high);
  while (first > low && model.start[first - 1] >= left) first--;
  const last = model.beginning(right, first, high);
  if (last > first) return model.longestOf(first, last);
  // Nothing touches the pixel: the nearest neighbour.
  let best = -1;
  let nearest = 2 * pixel;
  for (const range of [first - 1, last]) {
    if (range < low || range >= high) continue;
    const away = Math.max(model.start[range] - time, time - model.end[range]);
    if (away <= nearest) {
      nearest = away;
      best = range;
    }
  }
  return best;
}

/**
 * The range that a range is in: of those above that contain it, the lowest.
 * @param {QueryModel} model
 * @param {number} range
 * @returns {number} -1 without one
 */
export function timelineParent(model, range) {
  const lane = model.laneOf(range);
  const top = model.trackLane[model.laneTrack[lane]];
  const begins = model.start[range];
  const ends = model.end[range];
  for (let above = lane - 1; above >= top; above--) {
    const high = model.laneFirst[above + 1];
    // The last one that begins before it or with it; of length zero it contains nothing.
    for (let other = model.beginning(begins + 0.5, model.laneFirst[above], high) - 1;
         other >= model.laneFirst[above]; other--) {
      if (model.end[other] >= ends && model.end[other] > model.start[other]) return other;
      if (model.end[other] > model.start[other]) break;
    }
  }
  return -1;
}

/**
 * The ranges of the line below that touch a range.
 * @param {QueryModel} model
 * @param {number} range
 * @returns {[number, number]} the first, and one after the last
 */
export function timelineBelow(model, range) {
  const lane = model.laneOf(range) + 1;
  if (lane >= model.lanes || model.laneTrack[lane] !== model.laneTrack[lane - 1]) return [0, 0];
  const low = model.laneFirst[lane];
  const high = model.laneFirst[lane + 1];
  let first = model.ending(model.start[range], low, high);
  while (first > low && model.start[first - 1] >= model.start[range]) first--;
  return [first, model.beginning(model.end[range], first, high)];
}

/**
 * A range's duration less what ranges of the line below it cover.
 * @param {QueryModel} model
 * @param {number} range
 * @returns {number}
 */
export function timelineSelf(model, range) {
  const [first, last] = timelineBelow(model, range);
  if (last <= first) return model.duration(range);
  const { start, end, sum } = model;
  const early = Math.max(0, start[range] - start[first]);
  const late = Math.max(0, end[last - 1] - end[range]);
  return model.duration(range) - (sum[last] - sum[first] - early - late);
}

/**
 * A range's text for the address: track, start, duration, line in its track.
 * @param {QueryModel} model
 * @param {number} range
 * @returns {string}
 */
export function timelineKey(model, range) {
  const lane = model.laneOf(range);
  const track = model.laneTrack[lane];
  return [track, model.start[range], model.duration(range), lane - model.trackLane[track]]
    .join(":");
}

/**
 * The range that such a text means: also in a document with a coarser unit, or without its
 * neighbours.
 * @param {QueryModel} model
 * @param {string | null} key
 * @returns {number} -1: not here
 */
export function timelineOfKey(model, key) {
  const parts = (key ?? "").split(":").map(Number);
  const [track, start, duration, row = 0] = parts;
  if (parts.length < 3 || !parts.every(Number.isFinite) || !(track in model.trackRows)) return -1;
  const slack = 2 * model.source.unit_ns + 1;
  let best = -1;
  let least = Infinity;
  for (let lane = model.trackLane[track]; lane < model.trackLane[track + 1]; lane++) {
    const high = model.laneFirst[lane + 1];
    for (let range = model.beginning(start - slack, model.laneFirst[lane], high);
         range < high && model.start[range] <= start + slack; range++) {
      const off = Math.abs(model.start[range] - start) +
        Math.abs(model.duration(range) - duration);
      if (Math.abs(model.duration(range) - duration) > slack) continue;
      const cost = off + Math.abs(lane - model.trackLane[track] - row) / 1000;
      if (cost < least) {
        least = cost;
        best = range;
      }
    }
  }
  return best;
}

/**
 * The ranges at the other ends of a range's flows.
 * @param {QueryModel} model
 * @param {number} range
 * @returns {{kind: string, from: number[], to: number[]}[]} by kind of flow
 */
export function timelineFlows(model, range) {
  return model.flows.map(({ kind, from, to }) => {
    /** @type {{kind: string, from: number[], to: number[]}} */
    const found = { kind, from: [], to: [] };
    for (let flow = 0; flow < from.length; flow++) {
      if (from[flow] === range) found.to.push(to[flow]);
      else if (to[flow] === range) found.from.push(from[flow]);
    }
    return found;
  });
}

/**
 * The next or previous range in time among those that match.
 * @param {QueryModel} model
 * @param {Uint8Array} names 1 for each name that matches
 * @param {number} range where to begin; -1: at the first or the last one
 * @param {boolean} forward
 * @returns {number} the same range if it is the only one; -1 if none matches
 */
export function timelineNext(model, names, range, forward) {
  const { start, name, size } = model;
  let best = -1;
  // The first one in the other direction, if nothing follows.
  let around = -1;
  const at = range < 0 ? (forward ? -Infinity : Infinity) : start[range];
  for (let i = 0; i < size; i++) {
    if (names[name[i]] === 0) continue;
    const time = start[i];
    const isAfter = time > at || (time === at && i > range);
    if (forward) {
      if (around < 0 || time < start[around]) around = i;
      if (isAfter && (best < 0 || time < start[best])) best = i;
    } else {
      if (around < 0 || time >= start[around]) around = i;
      if (!isAfter && i !== range && (best < 0 || time >= start[best])) best = i;
    }
  }
  return best < 0 ? around : best;
}

/**
 * @typedef {object} TimelineMatches
 * @property {Uint8Array} names 1 for each name that matches
 * @property {number} count
 * @property {number} total time in ns; ranges inside each other count twice
 * @property {Uint32Array} list all ranges in their order
 * @property {Uint32Array} first place in the list of the first one of each line
 */

/**
 * @param {QueryModel} model
 * @param {(text: string) => boolean} matches
 * @returns {TimelineMatches}
 */
export function timelineSearch(model, matches) {
  const names = new Uint8Array(model.names.length);
  let count = 0;
  let total = 0;
  model.names.forEach((text, name) => {
    if (model.nameCount[name] === 0 || !matches(text)) return;
    names[name] = 1;
    count += model.nameCount[name];
    total += model.nameTotal[name];
  });
  const list = new Uint32Array(count);
  const first = new Uint32Array(model.lanes + 1);
  if (count > 0) {
    const { name } = model;
    let at = 0;
    for (let lane = 0, range = 0; lane < model.lanes; lane++) {
      first[lane] = at;
      for (const last = model.laneFirst[lane + 1]; range < last; range++) {
        if (names[name[range]] === 1) list[at++] = range;
      }
    }
    first[model.lanes] = at;
  }
  return { names, count, total, list, first };
}

/**
 * Which match a range is, by time.
 * @param {QueryModel} model
 * @param {TimelineMatches | null} matches
 * @param {number} range
 * @returns {number} from 1; 0: it is not a match
 */
export function timelineMatchNumber({ start, name }, matches, range) {
  if (!matches || range < 0 || matches.names[name[range]] === 0) return 0;
  let number = 0;
  for (const other of matches.list) {
    if (start[other] < start[range] || (start[other] === start[range] && other <= range)) number++;
  }
  return number;
}

/**
 * How long a track had any range in a span.
 * @param {QueryModel} model
 * @param {number} track
 * @param {number} from
 * @param {number} to
 * @returns {number}
 */
export function timelineBusyTime(model, track, from, to) {
  const { first, start, end, sum } = model.busy;
  let low = first[track];
  let high = first[track + 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (end[middle] <= from) low = middle + 1;
    else high = middle;
  }
  const begin = low;
  high = first[track + 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (start[middle] < to) low = middle + 1;
    else high = middle;
  }
  if (low === begin) return 0;
  return sum[low] - sum[begin] - Math.max(0, from - start[begin]) - Math.max(0, end[low - 1] - to);
}

/**
 * The time of each name in a span, on tracks that are asked for.
 * @param {QueryModel} model
 * @param {number} from
 * @param {number} to
 * @param {(track: number) => boolean} isWanted
 * @returns {{name: number, count: number, total: number}[]} longest first
 */
export function timelineSpanNames(model, from, to, isWanted) {
  const { start, end, name } = model;
  const totals = new Float64Array(model.names.length);
  const counts = new Uint32Array(model.names.length);
  for (let lane = 0; lane < model.lanes; lane++) {
    if (!isWanted(model.laneTrack[lane])) continue;
    const [first, last] = timelineTouching(model, lane, from, to);
    for (let i = first; i < last; i++) {
      totals[name[i]] += Math.min(end[i], to) - Math.max(start[i], from);
      counts[name[i]]++;
    }
  }
  const found = [];
  for (let i = 0; i < counts.length; i++) {
    if (counts[i] > 0) found.push({ name: i, count: counts[i], total: totals[i] });
  }
  return found.sort((a, b) => b.total - a.total || a.name - b.name);
}

/**
 * The ranges of a line that touch a span.
 * @param {QueryModel} model
 * @param {number} lane
 * @param {number} from
 * @param {number} to
 * @returns {[number, number]} the first, and one after the last
 */
export function timelineTouching(model, lane, from, to) {
  const low = model.laneFirst[lane];
  const high = model.laneFirst[lane + 1];
  let first = model.ending(from, low, high);
  while (first > low && model.start[first - 1] >= from) first--;
  return [first, model.beginning(to, first, high)];
}

/**
 * The longest ranges in a span.
 * @param {QueryModel} model
 * @param {number} from
 * @param {number} to
 * @param {number} most
 * @param {(track: number) => boolean} isShown
 * @returns {{ranges: Uint32Array, count: number}} longest first, and how many there are
 */
export function timelineInSight(model, from, to, most, isShown = () => true) {
  const { start, end } = model;
  /** @type {[number, number][]} */
  const parts = [];
  let count = 0;
  for (let lane = 0; lane < model.lanes; lane++) {
    if (!isShown(model.laneTrack[lane])) continue;
    const part = timelineTouching(model, lane, from, to);
    if (part[1] > part[0]) parts.push(part);
    count += part[1] - part[0];
  }
  // The duration from which on they are shown: counted in steps that become finer. Durations are
  // whole numbers, so a step of 1 is exact.
  const steps = 1024;
  let least = 0;
  let longer = 0;
  if (count > most) {
    let width = 1;
    while (width * steps <= model.longestDuration) width *= steps;
    for (; ; width /= steps) {
      const counts = new Uint32Array(steps);
      const upper = least + width * steps;
      for (const [first, last] of parts) {
        for (let i = first; i < last; i++) {
          const long = end[i] - start[i];
          if (long >= least && long < upper) counts[Math.floor((long - least) / width)]++;
        }
      }
      let step = steps - 1;
      while (step > 0 && longer + counts[step] < most) longer += counts[step--];
      least += step * width;
      if (width <= 1) break;
    }
  }
  /** @type {number[]} */
  const ranges = [];
  let equal = most - longer;
  for (const [first, last] of parts) {
    for (let i = first; i < last; i++) {
      const long = end[i] - start[i];
      if (long > least || count <= most || (long === least && equal-- > 0)) ranges.push(i);
    }
  }
  ranges.sort((a, b) => model.duration(b) - model.duration(a) || start[a] - start[b] || a - b);
  return { ranges: Uint32Array.from(ranges), count };
}
