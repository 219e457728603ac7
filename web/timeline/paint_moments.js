// Draws the curves of counters and the marks of instants.
import { formatValue } from "../parts/format.js";
import { timelineBoxAt } from "./layout.js";
import { timelineMarksOf, timelinePointAt, timelineScale } from "./moments.js";

/** @typedef {import("./paint.js").TimelinePicture} MomentsPicture */
/**
 * @typedef {object} MomentsColors
 * @property {string} accent
 * @property {string} text
 * @property {string} quiet
 * @property {string} ground
 */

/** Half the width of a mark, in px. */
const markHalf = 4;
/** @type {WeakMap<object, {least: number, most: number}>} */
const scales = new WeakMap();

/** @param {import("./moments.js").MomentsCounter} counter */
function scaleOf(counter) {
  let scale = scales.get(counter);
  if (!scale) scales.set(counter, scale = timelineScale(counter));
  return scale;
}

/**
 * Values hold until the next, the last one to the end of the recording.
 * @param {CanvasRenderingContext2D} context
 * @param {MomentsPicture} picture
 * @param {MomentsColors} colors
 */
export function timelinePaintCounters(context, picture, colors) {
  const { model, boxes, top, height, from, to, width } = picture;
  const scale = width / (to - from);
  for (let at = timelineBoxAt(boxes, top); at < boxes.length && boxes[at].top < top + height;
       at++) {
    const box = boxes[at];
    if (box.counter < 0) continue;
    const counter = model.source.counters[box.counter];
    const { times_ns: times, values } = counter;
    const { least, most } = scaleOf(counter);
    const base = box.lines + box.row - 1;
    /** @param {number} value */
    const y = (value) => base - (value - least) / (most - least || 1) * (box.row - 4);
    const first = Math.max(0, timelinePointAt(counter, from));
    const end = Math.min(width, (model.source.to_ns - from) * scale);
    let x = Math.max(-1, (times[first] - from) * scale);
    if (x < end) {
      const left = x;
      context.beginPath();
      for (let i = first; i < times.length && x < end; i++) {
        context.lineTo(x, y(values[i]));
        x = i + 1 < times.length ? Math.min(end, (times[i + 1] - from) * scale) : end;
        context.lineTo(x, y(values[i]));
      }
      context.strokeStyle = colors.accent;
      context.lineWidth = 1.5;
      context.stroke();
      context.lineTo(x, y(0));
      context.lineTo(left, y(0));
      context.globalAlpha = 0.14;
      context.fillStyle = colors.accent;
      context.fill();
      context.globalAlpha = 1;
    }
    if (box.row < 30) continue;
    paintScale(context, formatValue(most, counter.unit), y(most) + 5, colors);
    paintScale(context, formatValue(least, counter.unit), base - 5, colors);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} y
 * @param {MomentsColors} colors
 */
function paintScale(context, text, y, colors) {
  context.font = "9px system-ui, sans-serif";
  context.textBaseline = "middle";
  const wide = context.measureText(text).width;
  context.globalAlpha = 0.75;
  context.fillStyle = colors.ground;
  context.fillRect(1, y - 5, wide + 5, 10);
  context.globalAlpha = 1;
  context.fillStyle = colors.quiet;
  context.fillText(text, 3, y);
}

/**
 * A triangle that points at the time, on the first line of the track; one for each pixel.
 * @param {CanvasRenderingContext2D} context
 * @param {MomentsPicture} picture
 * @param {MomentsColors} colors
 */
export function timelinePaintMarks(context, picture, colors) {
  const { model, boxes, top, height, from, to, width } = picture;
  if (!model.source.marks) return;
  const { times_ns: times } = model.source.marks;
  const scale = width / (to - from);
  context.lineWidth = 1;
  for (let at = timelineBoxAt(boxes, top); at < boxes.length && boxes[at].top < top + height;
       at++) {
    const box = boxes[at];
    if (box.track < 0) continue;
    const [first, last] = timelineMarksOf(model.source, box.track);
    let drawn = -Infinity;
    for (let mark = first; mark < last; mark++) {
      const x = Math.round((times[mark] - from) * scale);
      if (x < -markHalf || x > width + markHalf || x === drawn) continue;
      drawn = x;
      const tall = Math.max(7, Math.min(box.row, 18) - 4);
      context.beginPath();
      context.moveTo(x - markHalf, box.lines);
      context.lineTo(x + markHalf, box.lines);
      context.lineTo(x, box.lines + tall);
      context.closePath();
      context.fillStyle = colors.text;
      context.fill();
      context.strokeStyle = colors.ground;
      context.stroke();
    }
  }
}
