// Why each device was idle, as the view of the GPU accounts for it: a track below its streams.
import { columnOf, recordsOf } from "../data/table.js";
import { gapSentence, idleCauses } from "../views/gpu_gaps.js";
import { timelineBoxAt, timelineIdleRow } from "./layout.js";

/**
 * @typedef {object} TimelineGap
 * @property {number} start
 * @property {number} end
 * @property {number} [rank] of another rank
 * @property {number | null} device
 * @property {string} kind its colour
 * @property {string} cause
 * @property {string} sentence
 */
/** @typedef {Map<string, TimelineGap[]>} TimelineIdle by device of a rank, in the order of time */

/**
 * @param {{rank?: number, device: number | null}} track
 * @returns {string} the device that it is of
 */
export function timelineIdleKey({ rank, device }) {
  return `${rank ?? ""}:${device ?? ""}`;
}

/**
 * The gaps of each device. The table has the longest if there are very many.
 * @param {import("../data/source.js").View} view of the GPU
 * @param {number} [rank] of a joined timeline
 * @param {(time: number) => number} [map] its times
 * @returns {TimelineIdle}
 */
export function timelineIdleOf(view, rank, map = (time) => time) {
  /** @type {TimelineIdle} */
  const idle = new Map();
  const table = view.tables.find(({ name }) => name === "gaps");
  if (!table || columnOf(table, "start_ns") === null) return idle;
  for (const gap of recordsOf(table)) {
    const start = Number(gap.start_ns), why = String(gap.why ?? "");
    const [cause, kind] = idleCauses.get(why) ?? [why.replaceAll("_", " "), "idle"];
    const key = timelineIdleKey({ rank, device: gap.device });
    const list = idle.get(key) ?? [];
    list.push({ rank, device: gap.device, start: map(start), end: map(start + Number(gap.duration_ns)), kind, cause, sentence: gapSentence(gap) });
    idle.set(key, list);
  }
  for (const gaps of idle.values()) gaps.sort((a, b) => a.start - b.start);
  return idle;
}

/**
 * @param {TimelineGap[]} gaps
 * @param {number} time
 * @returns {number} the first that ends after it
 */
function gapAfter(gaps, time) {
  let low = 0, high = gaps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (gaps[middle].end <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The gap at a time; where gaps are narrower than a pixel, the longest there.
 * @param {TimelineGap[]} gaps
 * @param {number} time
 * @param {number} pixel time of a pixel
 * @returns {TimelineGap | null}
 */
export function timelineGapAt(gaps, time, pixel) {
  /** @type {TimelineGap | null} */
  let best = null;
  for (let at = gapAfter(gaps, time - pixel); at < gaps.length && gaps[at].start <= time + pixel; at++) {
    if (best === null || gaps[at].end - gaps[at].start > best.end - best.start) best = gaps[at];
  }
  return best;
}

/**
 * @param {TimelineIdle} idle
 * @param {[number, number]} span
 * @returns {TimelineGap[]} the gaps that it frames, each of another device
 */
export function timelineGapsOf(idle, [from, to]) {
  return [...idle.values()].map((gaps) => gaps[gapAfter(gaps, from)]).filter((gap) => gap?.start === from && gap.end === to);
}

/**
 * @param {import("./model.js").TimelineModel} model
 * @param {TimelineGap} gap
 * @returns {string} `GPU 1 of rank 2`
 */
export function timelineGapPlace(model, { rank: other, device }) {
  const rank = model.rankOf(other);
  return (device === null ? "GPU" : `GPU ${device}`) + (rank === undefined ? "" : ` of rank ${rank}`);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import("./paint.js").TimelinePicture} picture
 * @param {(kind: string) => string} color
 * @param {string} onFill
 */
export function timelinePaintIdle(context, { model, boxes, idle, from, to, top, width, height }, color, onFill) {
  const scale = width / (to - from);
  context.font = "10px system-ui, sans-serif";
  context.textBaseline = "middle";
  for (let at = timelineBoxAt(boxes, top); at < boxes.length && boxes[at].top < top + height; at++) {
    const box = boxes[at];
    if (box.idle === 0) continue;
    const gaps = idle.get(timelineIdleKey(model.source.tracks[box.track])) ?? [];
    let drawn = -1;
    for (let place = gapAfter(gaps, from); place < gaps.length && gaps[place].start < to; place++) {
      const { start, end, kind, cause } = gaps[place];
      const left = Math.max(0, (start - from) * scale);
      const right = Math.min(width, (end - from) * scale);
      // Short ones beside each other are one pixel.
      if (right - left < 1 && Math.floor(left) === drawn) continue;
      drawn = Math.floor(left);
      context.fillStyle = color(kind);
      context.fillRect(left, box.idle, Math.max(1, right - left - (right - left > 3 ? 1 : 0)), timelineIdleRow);
      if (right - left < 30) continue;
      const letters = Math.floor((right - left - 8) / 5.6);
      context.fillStyle = onFill;
      context.fillText(cause.length <= letters ? cause : `${cause.slice(0, letters - 1)}\u2026`, left + 4,
                       box.idle + timelineIdleRow / 2 + 0.5);
    }
  }
}
