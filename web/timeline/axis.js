// The axis above the tracks: times, steps as bands, the selected span.
import { formatValue } from "../parts/format.js";
import { axisText, axisTicks } from "../parts/chart_axes.js";

/** Height of the times, and of the band of steps. */
const timesHeight = 22;
const stepsHeight = 18;

/**
 * @param {HTMLCanvasElement} canvas
 * @param {{source: import("./model.js").TimelineDocument, from: number, to: number,
 *          width: number, span: [number, number] | null, pointer: number | null}} state
 *   pointer: a time that is marked
 * @returns {void}
 */
export function timelineAxis(canvas, { source, from, to, width, span, pointer }) {
  const height = timesHeight + (source.steps.length > 0 ? stepsHeight : 0);
  const ratio = globalThis.devicePixelRatio || 1;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.round(height * ratio);
  canvas.style.setProperty("width", `${width}px`);
  canvas.style.setProperty("height", `${height}px`);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const style = getComputedStyle(canvas);
  /** @param {string} name */
  const color = (name) => style.getPropertyValue(name);
  const scale = width / (to - from);
  const largest = Math.max(Math.abs(from), Math.abs(to));
  const fine = 10 ** Math.floor(Math.log10(Math.max(1, 1 / scale)));
  context.clearRect(0, 0, width, height);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";

  // The step gives the digits, and those the room that a label needs.
  let ticks = axisTicks(from, to, width / 90, "ns");
  const room = Math.max(...ticks.map(({ text }) => context.measureText(text).width)) + 22;
  if (room > 90) ticks = axisTicks(from, to, width / room, "ns");
  for (const { value, text } of ticks) {
    const x = Math.round((value - from) * scale);
    context.fillStyle = color("--line-strong");
    context.fillRect(x, 12, 1, timesHeight - 12);
    if (x + 4 + context.measureText(text).width > width) continue;
    context.fillStyle = color("--quiet");
    context.fillText(text, x + 4, 10);
  }
  context.fillStyle = color("--line");
  context.fillRect(0, timesHeight - 1, width, 1);

  source.steps.forEach(({ number, start_ns: start, end_ns: end }, place) => {
    const left = Math.max(0, (start - from) * scale);
    const right = Math.min(width, (end - from) * scale);
    if (right <= 0 || left >= width) return;
    const wide = Math.max(1, right - left - 1);
    context.fillStyle = color(place % 2 ? "--tint" : "--selected");
    context.fillRect(left, timesHeight + 1, wide, stepsHeight - 3);
    const texts = [`Step ${number}, ${formatValue(end - start, "ns")}`, `Step ${number}`,
                   String(number)];
    const text = texts.find((one) => context.measureText(one).width + 8 < wide);
    if (text === undefined) return;
    context.fillStyle = color("--text");
    context.fillText(text, left + 4, timesHeight + stepsHeight / 2);
  });

  if (span !== null) {
    const [left, right] = span.map((time) =>
      Math.max(-9, Math.min((time - from) * scale, width + 9)));
    context.fillStyle = color("--accent");
    context.globalAlpha = 0.22;
    context.fillRect(left, 0, right - left, height);
    context.globalAlpha = 1;
    const text = span[1] > span[0] ? formatValue(Math.round(span[1] - span[0]), "ns")
      : axisText(span[0], largest, fine, "ns");
    const wide = context.measureText(text).width + 10;
    const x = Math.max(2, Math.min((left + right - wide) / 2, width - wide - 2));
    context.fillRect(x, 1, wide, 17);
    context.fillStyle = color("--accent-text");
    context.fillText(text, x + 5, 10);
  } else if (pointer !== null && pointer >= from && pointer <= to) {
    const text = axisText(pointer, largest, fine, "ns");
    const wide = context.measureText(text).width + 8;
    const x = (pointer - from) * scale;
    const left = Math.max(0, Math.min(x - wide / 2, width - wide));
    context.fillStyle = color("--text");
    context.fillRect(left, 1, wide, 17);
    context.fillStyle = color("--bg");
    context.fillText(text, left + 4, 10);
  }
}
