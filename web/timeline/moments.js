// What a timeline has at single times, without any drawing: values of counters, instants of
// threads. Times are in ns from the start of the recording's window.
import { formatValue } from "../parts/format.js";

/** @typedef {import("./model.js").TimelineDocument} MomentsDocument */
/** @typedef {MomentsDocument["counters"][number]} MomentsCounter */
/**
 * @typedef {object} TimelineMarkList
 * @property {number} left_out
 * @property {number[]} tracks by mark: by track, then by time
 * @property {number[]} times_ns
 * @property {number[]} names places in `texts`
 * @property {string[]} arguments JSON, or empty
 * @property {string[]} texts
 */

/** @typedef {{mark: number, counter: number, point: number}} TimelineMomentPlace -1: not this kind */

/** A mark is found so many px around its time. */
const markReach = 5;

/**
 * @param {number[]} times ascending
 * @param {number} time
 * @param {number} low
 * @param {number} high
 * @returns {number} the first place whose time is later
 */
function placeAfter(times, time, low = 0, high = times.length) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * @param {MomentsCounter} counter
 * @param {number} time
 * @returns {number} the point whose value holds at a time; -1 before the first
 */
export function timelinePointAt({ times_ns: times }, time) {
  return placeAfter(times, time) - 1;
}

/**
 * What the height of a curve means: from 0, or from the lowest value if that is below.
 * @param {MomentsCounter} counter
 * @returns {{least: number, most: number}}
 */
export function timelineScale({ values }) {
  let least = Infinity;
  let most = -Infinity;
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return { least: Math.min(0, least), most: Math.max(0, most) };
}

/** @param {MomentsCounter} counter */
export function timelineScaleText(counter) {
  const { least, most } = timelineScale(counter);
  return `${formatValue(least, counter.unit)} to ${formatValue(most, counter.unit)}`;
}

/**
 * The marks of a track.
 * @param {MomentsDocument} source
 * @param {number} track
 * @returns {[number, number]} the first, and one after the last
 */
export function timelineMarksOf({ marks }, track) {
  if (!marks) return [0, 0];
  return [placeAfter(marks.tracks, track - 1), placeAfter(marks.tracks, track)];
}

/**
 * @param {MomentsDocument} source
 * @param {number} track
 * @param {number} time
 * @param {number} pixel ns of a pixel
 * @returns {number} the mark next to a time; -1: none is so near
 */
export function timelineMarkAt(source, track, time, pixel) {
  const [first, last] = timelineMarksOf(source, track);
  if (first === last) return -1;
  const times = /** @type {TimelineMarkList} */ (source.marks).times_ns;
  const after = placeAfter(times, time, first, last);
  /** @param {number} mark */
  const far = (mark) => mark < first || mark >= last ? Infinity : Math.abs(times[mark] - time);
  const best = far(after) < far(after - 1) ? after : after - 1;
  return far(best) <= markReach * pixel ? best : -1;
}

/**
 * The next moment of a track or counter.
 * @param {MomentsDocument} source
 * @param {{track: number, counter: number}} box
 * @param {number} time
 * @param {boolean} forward
 * @returns {number | null} its time; null without one
 */
export function timelineNextMoment(source, box, time, forward) {
  const isCounter = box.counter >= 0;
  const times = isCounter ? source.counters[box.counter].times_ns : source.marks?.times_ns ?? [];
  const [first, last] = isCounter ? [0, times.length] : timelineMarksOf(source, box.track);
  const place = forward ? placeAfter(times, time, first, last)
    // Times are whole.
    : placeAfter(times, Math.ceil(time) - 1, first, last) - 1;
  return place >= first && place < last ? times[place] : null;
}

/**
 * The arguments of a mark: keys with texts.
 * @param {string} json may be cut
 * @returns {[string, string][]}
 */
export function timelineMarkArguments(json) {
  if (json === "") return [];
  try {
    let value = JSON.parse(json);
    /** @param {unknown} one */
    const isObject = (one) => typeof one === "object" && one !== null && !Array.isArray(one);
    // tbtrace's own instants have theirs in one member.
    if (isObject(value) && Object.keys(value).join() === "Arguments" &&
        isObject(value.Arguments)) value = value.Arguments;
    if (!isObject(value)) return [["arguments", String(json)]];
    return Object.entries(value).map(([key, one]) =>
      [key, typeof one === "string" ? one : JSON.stringify(one)]);
  } catch {
    return [["arguments", json]];
  }
}

/**
 * One moment in words.
 * @param {MomentsDocument} source
 * @param {TimelineMomentPlace} moment
 * @returns {{name: string, value: string, time: number, more: [string, string][], where: string}}
 */
export function timelineMoment(source, { mark, counter, point }) {
  if (counter >= 0) {
    const { name, unit, process, times_ns: times, values } = source.counters[counter];
    const one = values[point];
    const short = formatValue(one, unit);
    // A counter has no unit: all digits that it has.
    const value = unit === "" && !Number.isInteger(one) ? String(one) : short;
    return { name, value, time: times[point], more: [], where: process ?? "" };
  }
  const marks = /** @type {TimelineMarkList} */ (source.marks);
  const { name, process } = source.tracks[marks.tracks[mark]];
  return { name: marks.texts[marks.names[mark]], value: "", time: marks.times_ns[mark],
           more: timelineMarkArguments(marks.arguments[mark]), where: `${name}, ${process}` };
}
