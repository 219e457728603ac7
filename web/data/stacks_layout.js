// Which boxes a flame graph has for a width in pixels, and what is at a pixel.

/** Boxes narrower than this are drawn as one with their neighbours, in pixels. */
export const stackNarrowest = 0.5;

/**
 * The boxes to draw, as arrays.
 * @typedef {object} StackBoxes
 * @property {number} count
 * @property {Int32Array} frame by box; of merged boxes the widest one
 * @property {Uint32Array} level
 * @property {Float64Array} x in pixels
 * @property {Float64Array} width in pixels
 * @property {Uint32Array} merged by box, how many frames it stands for; 1: itself
 * @property {number} hidden frames in these levels that are part of merged boxes
 */

/**
 * The place in levelFrames of the first frame of a level that ends right of `weight`.
 * @param {import("./stacks.js").StackModel} model
 * @param {number} level
 * @param {number} weight
 */
export function stackPlaceAt(model, level, weight) {
  let low = model.levelStart[level];
  let high = model.levelStart[level + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    const frame = model.levelFrames[middle];
    if (model.start[frame] + model.total[frame] > weight) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * The frame of a level over `weight`, -1 without one.
 * @param {import("./stacks.js").StackModel} model
 * @param {number} level
 * @param {number} weight
 */
export function stackFrameAt(model, level, weight) {
  if (level < 0 || level + 1 >= model.levelStart.length) return -1;
  const place = stackPlaceAt(model, level, weight);
  if (place >= model.levelStart[level + 1]) return -1;
  const frame = model.levelFrames[place];
  return model.start[frame] <= weight ? frame : -1;
}

/**
 * The frame next to a frame on its level, below the same frame; -1 without one.
 * @param {import("./stacks.js").StackModel} model
 * @param {number} frame
 * @param {1|-1} direction
 */
export function stackNeighbour(model, frame, direction) {
  const level = model.depth[frame];
  let low = model.levelStart[level];
  let high = model.levelStart[level + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (model.levelFrames[middle] < frame) low = middle + 1;
    else high = middle;
  }
  const place = low + direction;
  if (place < model.levelStart[level] || place >= model.levelStart[level + 1]) return -1;
  const next = model.levelFrames[place];
  return model.parent[next] === model.parent[frame] ? next : -1;
}

/**
 * The boxes of the levels `first` to `last` when `zoomed` is as wide as the picture. Levels above
 * the zoomed frame have one box each, which is as wide as well. Neighbours that are narrower than
 * half a pixel become one box.
 * @param {import("./stacks.js").StackModel} model
 * @param {number} zoomed
 * @param {number} width in pixels
 * @param {number} first
 * @param {number} last
 * @returns {StackBoxes}
 */
export function stackBoxes(model, zoomed, width, first, last) {
  /** @type {number[]} */ const frame = [];
  /** @type {number[]} */ const level = [];
  /** @type {number[]} */ const x = [];
  /** @type {number[]} */ const widths = [];
  /** @type {number[]} */ const merged = [];
  let hidden = 0;
  /**
   * @param {number} which
   * @param {number} at
   * @param {number} left
   * @param {number} wide
   * @param {number} many
   */
  const add = (which, at, left, wide, many) => {
    frame.push(which);
    level.push(at);
    x.push(left);
    widths.push(wide);
    merged.push(many);
    if (many > 1) hidden += many;
  };
  const from = model.start[zoomed];
  const to = from + model.total[zoomed];
  const scale = model.total[zoomed] > 0 ? width / model.total[zoomed] : 0;
  const top = model.depth[zoomed];
  const end = Math.min(last, model.levelStart.length - 2);
  for (let above = zoomed; above >= 0; above = model.parent[above]) {
    const at = model.depth[above];
    if (at >= first && at <= end) add(above, at, 0, width, 1);
  }
  for (let at = Math.max(first, top + 1); at <= end; ++at) {
    let runStart = 0, runEnd = -1, runCount = 0, runFrame = -1;
    const flush = () => {
      if (runCount > 0) add(runFrame, at, runStart, runEnd - runStart, runCount);
      runCount = 0;
    };
    const stop = model.levelStart[at + 1];
    for (let place = stackPlaceAt(model, at, from); place < stop; ++place) {
      const next = model.levelFrames[place];
      if (model.start[next] >= to) break;
      const left = (model.start[next] - from) * scale;
      const wide = model.total[next] * scale;
      if (wide >= stackNarrowest) {
        flush();
        add(next, at, left, wide, 1);
        continue;
      }
      // A run ends where it can be seen, or where nothing is beside it.
      if (runCount > 0 && (runEnd - runStart >= 1 || left - runEnd > stackNarrowest)) flush();
      if (runCount === 0) {
        runStart = left;
        runFrame = next;
      }
      if (model.total[next] > model.total[runFrame]) runFrame = next;
      runEnd = left + wide;
      ++runCount;
    }
    flush();
  }
  return {
    count: frame.length, frame: Int32Array.from(frame), level: Uint32Array.from(level),
    x: Float64Array.from(x), width: Float64Array.from(widths), merged: Uint32Array.from(merged),
    hidden,
  };
}
