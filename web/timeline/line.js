// A line of pixels: how much of each pixel ranges cover, in the colour of the longest of them.
// It costs the pixels, not the ranges.

/** @typedef {import("./model.js").TimelineModel} LineModel */
/**
 * @typedef {object} LineColors colours as numbers, 0xAABBGGRR
 * @property {Uint32Array} names by name
 * @property {number} ground of the page
 * @property {number} least share of a colour that a pixel with a range has at least, 0 to 256
 */
/**
 * Ranges with room for a text.
 * @typedef {object} LineLabels
 * @property {number} least width in pixels
 * @property {number} count
 * @property {Uint32Array} range
 * @property {Float64Array} from pixels
 * @property {Float64Array} to
 * @property {Uint32Array} line
 */

/**
 * @param {number} most
 * @returns {LineLabels}
 */
export function timelineLabels(most) {
  return { least: 24, count: 0, range: new Uint32Array(most), from: new Float64Array(most),
           to: new Float64Array(most), line: new Uint32Array(most) };
}

/**
 * @param {number} color
 * @param {number} ground
 * @param {number} share of the colour, 0 to 256
 * @returns {number}
 */
export function timelineMix(color, ground, share) {
  const rest = 256 - share;
  const ends = (((color & 0xff00ff) * share + (ground & 0xff00ff) * rest) >>> 8) & 0xff00ff;
  const middle = (((color & 0xff00) * share + (ground & 0xff00) * rest) >>> 8) & 0xff00;
  return (0xff000000 | ends | middle) >>> 0;
}

/** Ranges of at least so many pixels have an edge. */
const lineEdge = 4;

/**
 * Draws the ranges low to high of one line.
 * @param {LineModel} model
 * @param {number} low
 * @param {number} high
 * @param {number} from time of the first pixel's left side
 * @param {number} step time of a pixel
 * @param {number} width in pixels
 * @param {Uint32Array} out
 * @param {number} offset of the line in it
 * @param {LineColors} colors
 * @param {LineLabels | null} labels
 * @param {number} line for the labels
 * @returns {void}
 */
export function timelineLine(model, low, high, from, step, width, out, offset, colors, labels,
                             line) {
  const { start, end, sum, name } = model;
  const { names, ground, least } = colors;
  const scale = 1 / step;
  const until = from + step * width;
  let i = model.ending(from, low, high);
  // Of length zero and at the left side.
  while (i > low && start[i - 1] >= from) i--;
  // What the range before has of a pixel in which others begin.
  let carried = -1;
  let carriedPixel = -1;
  let carriedShare = 0;
  let count = 0;
  while (i < high && start[i] < until) {
    let pixel = Math.floor((start[i] - from) * scale);
    if (pixel < 0) pixel = 0;
    else if (pixel >= width) break;
    const left = from + pixel * step;
    const right = left + step;
    // The first range that begins in a later pixel: nearby, or found by doubling steps.
    let next = i + 1;
    if (next < high && start[next] < right) {
      // The pixel before had so many: half of them is a good first step.
      let stride = (count >> 1) + 1;
      let before = next;
      while (next < high && start[next] < right) {
        before = next;
        next += stride;
        stride *= 2;
      }
      next = model.beginning(right, before + 1, next < high ? next : high);
    }
    count = next - i;
    const last = next - 1;
    let best = last === i ? i : model.longestOf(i, next);
    const first = start[i] < left ? left : start[i];
    const stop = end[last] < right ? end[last] : right;
    const covered = last === i ? stop - first
      : sum[last] - sum[i] - (first - start[i]) + stop - start[last];
    let share = covered * scale;
    if (carriedPixel === pixel) {
      share += carriedShare;
      if (end[carried] - start[carried] > end[best] - start[best]) best = carried;
    }
    let weight = (share * 256 + 0.5) | 0;
    if (weight < least) weight = least;
    else if (weight > 256) weight = 256;
    out[offset + pixel] = weight === 256 ? names[name[best]]
      : timelineMix(names[name[best]], ground, weight);
    carriedPixel = -1;
    if (end[last] > right) {
      const color = names[name[last]];
      const exact = (end[last] - from) * scale;
      const ends = exact >= width ? width : Math.floor(exact);
      out.fill(color, offset + pixel + 1, offset + ends);
      const begins = (start[last] - from) * scale;
      const wide = exact - begins;
      // The edge between neighbours of the same name.
      if (wide >= lineEdge && begins >= 0 && last === i) {
        out[offset + pixel] = timelineMix(color, ground, 110);
      }
      if (labels !== null && wide >= labels.least && labels.count < labels.range.length) {
        const at = labels.count++;
        labels.range[at] = last;
        labels.from[at] = begins > 0 ? begins : 0;
        labels.to[at] = exact < width ? exact : width;
        labels.line[at] = line;
      }
      if (ends < width && exact > ends) {
        carried = last;
        carriedPixel = ends;
        carriedShare = exact - ends;
        const part = (carriedShare * 256 + 0.5) | 0;
        if (part > 0) out[offset + ends] = timelineMix(color, ground, part);
      }
    }
    i = next;
  }
}

/**
 * Marks the pixels that ranges of a list touch, over what is there.
 * @param {LineModel} model
 * @param {Uint32Array} list ranges in their order
 * @param {number} low place in the list
 * @param {number} high
 * @param {number} from
 * @param {number} step
 * @param {number} width
 * @param {Uint32Array} out
 * @param {number} offset
 * @param {number} color
 * @returns {void}
 */
export function timelineMarks(model, list, low, high, from, step, width, out, offset, color) {
  const { start, end } = model;
  const scale = 1 / step;
  const until = from + step * width;
  low = markEnding(end, list, low, high, from);
  while (low < high && start[list[low]] < until) {
    const range = list[low];
    const begins = Math.max(0, Math.floor((start[range] - from) * scale));
    const exact = (end[range] - from) * scale;
    const ends = Math.min(width, Math.max(begins + 1, Math.floor(exact)));
    out.fill(color, offset + begins + (exact - begins >= lineEdge ? 1 : 0), offset + ends);
    // The next one that reaches a pixel without a mark: nearby, or found by doubling steps.
    const seen = from + ends * step;
    let stride = 1;
    let before = low;
    let next = low + 1;
    while (next < high && end[list[next]] < seen) {
      before = next;
      next += stride;
      stride *= 2;
    }
    low = markEnding(end, list, before + 1, Math.min(next, high), seen);
  }
}

/**
 * @param {Float64Array} end
 * @param {Uint32Array} list
 * @param {number} low
 * @param {number} high
 * @param {number} time
 * @returns {number} the first place whose range ends then or later
 */
function markEnding(end, list, low, high, time) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (end[list[middle]] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
