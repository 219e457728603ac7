// How the clocks of ranks differ: offsets and drifts with their 95 % intervals.
import { h, onWidth, s } from "../parts/dom.js";
import { exactValue, formatValue } from "../parts/format.js";
import { axisTicks } from "../parts/chart_axes.js";
import { recordsOf } from "../data/table.js";

const clockHeight = 190;
const clockLeft = 76;
const clockTop = 12;
const clockBottom = 22;

/**
 * @param {import("../data/source.js").Table} table
 * @returns {HTMLElement}
 */
export function clockCharts(table) {
  const clocks = recordsOf(table);
  const known = clocks.filter(({ offset_ns: offset }) => offset !== null);
  if (known.length < 2) {
    return h("p", { class: "quiet" }, "The clocks of the ranks could not be compared: that needs five collectives in common that end on all ranks together. Times of several ranks are not put in order then.");
  }
  const unknown = clocks.length - known.length;
  return h("div", null,
    h("div", { class: "columns" },
      clockChart("Offset", known, "offset_ns", "error_ns", (value) => formatValue(value, "ns"), "ns"),
      clockChart("Drift", known, "drift_ppm", "drift_error_ppm", (value) => `${formatValue(value)} ppm`, "")),
    h("p", { class: "quiet" }, `Against the clock of rank ${known[0].reference}: above 0 it is ahead, or runs faster. `,
      "The lines are 95 % intervals; many are shorter than their point. Times of a rank alone stay on its own clock.",
      unknown > 0 ? ` ${unknown === 1 ? "1 clock is" : `${unknown} clocks are`} unknown.` : ""));
}

/**
 * @param {string} title
 * @param {{[key: string]: any}[]} clocks
 * @param {string} key
 * @param {string} errorKey
 * @param {(value: number) => string} words
 * @param {string} unit
 * @returns {HTMLElement}
 */
function clockChart(title, clocks, key, errorKey, words, unit) {
  const low = Math.min(0, ...clocks.map((clock) => clock[key] - clock[errorKey]));
  const high = Math.max(0, ...clocks.map((clock) => clock[key] + clock[errorKey]));
  const rim = (high - low || 1) * 0.06;
  const svg = s("svg", { class: "clock-plot", height: clockHeight, "aria-hidden": true });
  const readout = h("p", { class: "chart-readout", "aria-live": "polite" });
  const board = h("div", { class: "clock-board", tabindex: 0, role: "slider", "aria-valuemin": 1,
    "aria-valuemax": clocks.length, "aria-label": `${title} of each rank's clock; arrow keys move` }, svg);
  let current = 0, width = 0;
  const xOf = (/** @type {number} */ at) => clockLeft + (at + 0.5) * (width - clockLeft - 8) / clocks.length;
  const yOf = (/** @type {number} */ value) => clockTop + (high + rim - value) / (high - low + 2 * rim) *
    (clockHeight - clockTop - clockBottom);
  function show() {
    const clock = clocks[current];
    const text = `Rank ${clock.rank}: ${words(clock[key])} \u00b1 ${words(clock[errorKey])}${
      clock.rank === clock.reference ? ", the reference" : ` (${exactValue(Math.round(clock[key] * 1000) / 1000, unit)})`}`;
    readout.textContent = text;
    board.setAttribute("aria-valuenow", String(current + 1));
    board.setAttribute("aria-valuetext", text);
    svg.querySelector(".bars-cursor")?.setAttribute("x", String(xOf(current) - Math.max(3, xOf(1) - xOf(0)) / 2));
  }
  function draw() {
    svg.setAttribute("width", String(width));
    const slot = Math.max(3, xOf(1) - xOf(0));
    const every = Math.max(1, Math.ceil(26 / slot));
    const ticks = axisTicks(low, high, 4, unit);
    svg.replaceChildren(
      ...ticks.flatMap(({ value, text }) => [
        s("line", { class: "chart-grid", x1: clockLeft, x2: width - 8, y1: yOf(value), y2: yOf(value) }),
        s("text", { x: clockLeft - 6, y: yOf(value) + 4, "text-anchor": "end" }, unit === "" ? `${text} ppm` : text)]),
      s("line", { class: "chart-tick", x1: clockLeft, x2: width - 8, y1: yOf(0), y2: yOf(0) }),
      ...clocks.flatMap((clock, at) => [
        s("path", { class: "scatter-range", d: `M${xOf(at)} ${yOf(clock[key] - clock[errorKey])}V${yOf(clock[key] + clock[errorKey])}` }),
        s("circle", { class: "clock-point", cx: xOf(at), cy: yOf(clock[key]), r: slot > 9 ? 3.5 : 2 }),
        at % every === 0 ? s("text", { x: xOf(at), y: clockHeight - 7, "text-anchor": "middle" }, clock.rank) : s("g", null)]),
      s("rect", { class: "bars-cursor", y: 0, width: slot, height: clockHeight - clockBottom }));
    show();
  }
  board.addEventListener("pointermove", (event) => {
    const at = Math.floor((event.clientX - svg.getBoundingClientRect().left - clockLeft) / ((width - clockLeft - 8) / clocks.length));
    if (at < 0 || at >= clocks.length) return;
    current = at;
    show();
  });
  board.addEventListener("keydown", (event) => {
    const next = /** @type {{[key: string]: number}} */ ({ ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: clocks.length - 1 })[event.key];
    if (next === undefined) return;
    current = Math.max(0, Math.min(clocks.length - 1, next));
    show();
    event.preventDefault();
  });
  onWidth(board, (next) => {
    width = next;
    draw();
  });
  return h("div", { class: "clock" }, h("h3", null, title, h("span", { class: "quiet" }, unit === "" ? " by rank, in millionths" : " by rank")), board, readout);
}
