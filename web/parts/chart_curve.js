// A step curve over time: memory. Drag to zoom, hover for exact values.
import { disable, h, onWidth, s } from "./dom.js";
import { exactValue, formatValue } from "./format.js";
import { axisTicks } from "./chart_axes.js";
import { curveAfter, curveColumns } from "../data/curve_points.js";
import { bandPaths, bandsAt } from "../data/band_points.js";

/**
 * @typedef {object} CurveSeries
 * @property {string} label
 * @property {string} kind the class `curve-<kind>` gives its colour
 * @property {ArrayLike<number>} values by record; NaN: not recorded
 */

/**
 * @typedef {object} CurveMark
 * @property {number} x
 * @property {number} y
 * @property {string} label
 */

/**
 * Areas below the curve, on top of each other, with an x of their own.
 * @typedef {object} CurveBands
 * @property {ArrayLike<number>} x ascending
 * @property {import("../data/band_points.js").BandLayer[]} layers the lowest first
 */

const curveHeight = 240;
const curveLeft = 68;
const curveBottom = 22;
const curveTop = 16;
const curveBandsShown = 4;
const curveRecordsPerPixel = 2;

/**
 * @param {{name: string, x: ArrayLike<number>, series: CurveSeries[], xUnit: string, yUnit: string,
 *          marks: CurveMark[], zoom?: string | null, onZoom?: (zoom: string | null) => void,
 *          bands?: CurveBands}} data
 *     x ascending; name: what it shows, for screen readers; zoom: `from,to`, null: the whole time
 * @returns {HTMLElement}
 */
export function curveChart(data) {
  const { x, series } = data;
  const first = x.length > 0 ? x[0] : 0;
  const last = x.length > 0 ? Math.max(x[x.length - 1], first + 1) : 1;
  const [from, to] = (data.zoom ?? "").split(",").map(Number);
  const window = from >= first && to > from && to <= last ? { from, to }
    : { from: first, to: last };
  const most = curveMost(series);
  let width = 0;
  // The record under the cursor.
  let current = -1;
  // Where a drag began, in px of the plot; -1: none.
  let dragged = -1;

  const svg = s("svg", { class: "curve-plot", height: curveHeight, "aria-hidden": true });
  const cursor = s("line", { class: "curve-cursor", y1: curveTop, y2: curveHeight - curveBottom });
  const dots = series.map((one) => s("circle", { class: "curve-dot curve-" + one.kind, r: 3.5 }));
  const band = s("rect", { class: "curve-band is-hidden", y: curveTop,
                           height: curveHeight - curveBottom - curveTop });
  const readout = h("p", { class: "chart-readout" });
  const board = h("div", {
    class: "curve-board", tabindex: 0, role: "slider", "aria-label": data.name,
    "aria-valuemin": 1, "aria-valuemax": x.length, "aria-valuenow": 1,
  }, svg);
  const outward = [h("button", { type: "button", onclick: () => scale(2) }, "Zoom out"),
                   h("button", { type: "button", onclick: () => zoom(first, last) }, "Whole time")];
  const buttons = h("div", { class: "chart-buttons" },
    h("button", { type: "button", onclick: () => scale(0.5) }, "Zoom in"),
    ...outward);
  const legend = h("ul", { class: "chart-legend" }, series.map((one) =>
    h("li", null, h("span", { class: "swatch curve-swatch curve-" + one.kind,
                              "aria-hidden": true }), one.label)),
    (data.bands?.layers ?? []).map(({ kind, label }) => h("li", null,
      h("span", { class: "swatch part part-" + kind, "aria-hidden": true }), label)));
  const element = h("div", { class: "curve" },
    h("div", { class: "chart-head" }, legend, buttons), board, readout);

  const plotWidth = () => Math.max(1, width - curveLeft - 10);
  /** @param {number} at */
  const xOf = (at) =>
    curveLeft + (at - window.from) / (window.to - window.from) * plotWidth();
  /** @param {number} value */
  const yOf = (value) =>
    curveHeight - curveBottom - value / most * (curveHeight - curveBottom - curveTop);

  /** @param {number} record */
  function words(record) {
    const held = data.bands ? curveBandsAt(data.bands, x[record], data) : "";
    return formatValue(x[record], data.xUnit) + ": " + series
      .filter((one) => one.values[record] === one.values[record])
      .map((one) => one.label + " " + formatValue(one.values[record], data.yUnit) +
                    " (" + exactValue(one.values[record], data.yUnit) + ")").join(", ") +
      held;
  }

  function showCursor() {
    const isSeen = current >= 0 && x[current] >= window.from && x[current] <= window.to;
    cursor.classList.toggle("is-hidden", !isSeen);
    dots.forEach((dot, which) => {
      const value = current < 0 ? NaN : series[which].values[current];
      dot.classList.toggle("is-hidden", !isSeen || value !== value);
      if (!isSeen || value !== value) return;
      dot.setAttribute("cx", String(xOf(x[current])));
      dot.setAttribute("cy", String(yOf(value)));
    });
    if (current < 0) {
      readout.textContent = "Point at the curve for exact values; drag to zoom.";
      return;
    }
    cursor.setAttribute("x1", String(xOf(x[current])));
    cursor.setAttribute("x2", String(xOf(x[current])));
    readout.textContent = words(current);
    board.setAttribute("aria-valuenow", String(current + 1));
    board.setAttribute("aria-valuetext", words(current));
  }

  function draw() {
    svg.setAttribute("width", String(width));
    const bottom = curveHeight - curveBottom;
    const ticksX = axisTicks(window.from, window.to, Math.max(2, plotWidth() / 110), data.xUnit);
    const ticksY = axisTicks(0, most, 4, data.yUnit);
    const parts = [];
    for (const { value, text } of ticksY) {
      parts.push(s("line", { class: "chart-grid", x1: curveLeft, x2: width - 10, y1: yOf(value),
                             y2: yOf(value) }),
                 s("text", { x: curveLeft - 6, y: yOf(value) + 4, "text-anchor": "end" }, text));
    }
    for (const { value, text } of ticksX) {
      parts.push(s("line", { class: "chart-tick", x1: xOf(value), x2: xOf(value), y1: bottom,
                             y2: bottom + 4 }),
                 s("text", { x: xOf(value), y: bottom + 16, "text-anchor": curveAnchor(
                   xOf(value), width) }, text));
    }
    const { bands } = data;
    // So many records in each pixel would hide the bands, whose upper edge they are.
    const isDense = bands !== undefined &&
      curveAfter(x, window.to) - curveAfter(x, window.from) > curveRecordsPerPixel * plotWidth();
    if (bands) {
      bandPaths(bands.x, bands.layers, window.from, window.to, xOf, yOf).forEach((path, at) => {
        if (path === "") return;
        const { kind, label } = bands.layers[at];
        parts.push(s("path", { class: (isDense ? "" : "curve-layer ") + "part part-" + kind, d: path }, s("title", null, label)));
      });
    }
    for (const one of series) {
      if (isDense && one.kind === "allocated") continue;
      const path = curvePath(curveColumns(x, one.values, window.from, window.to,
                                          Math.ceil(plotWidth())),
                             curveLeft, plotWidth() / Math.ceil(plotWidth()), width - 10, yOf);
      if (path === "") continue;
      if (one.kind === "allocated" && !bands) {
        parts.push(s("path", { class: "curve-area curve-" + one.kind,
                               d: path + "V" + bottom + "H" + curveStart(path) + "Z" }));
      }
      parts.push(s("path", { class: "curve-line curve-" + one.kind, d: path }));
    }
    for (const mark of data.marks) {
      if (mark.x < window.from || mark.x > window.to) continue;
      const at = xOf(mark.x);
      parts.push(s("circle", { class: "curve-mark", cx: at, cy: yOf(mark.y), r: 4 }),
                 s("text", { class: "curve-mark-text", x: at + (at > width - 160 ? -8 : 8),
                             y: Math.max(11, yOf(mark.y) - 5),
                             "text-anchor": at > width - 160 ? "end" : "start" }, mark.label));
    }
    svg.replaceChildren(...parts, band, cursor, ...dots);
    for (const button of outward) disable(button, window.from === first && window.to === last);
    showCursor();
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  function zoom(from, to) {
    const least = Math.min(last - first, 10);
    const range = Math.min(Math.max(to - from, least), last - first);
    window.from = Math.min(Math.max(from, first), last - range);
    window.to = window.from + range;
    draw();
    data.onZoom?.(range < last - first
      ? `${Math.round(window.from)},${Math.round(window.to)}` : null);
  }

  /** @param {number} factor */
  function scale(factor) {
    const isSeen = current >= 0 && x[current] >= window.from && x[current] <= window.to;
    const middle = isSeen ? x[current] : (window.from + window.to) / 2;
    zoom(middle - (middle - window.from) * factor, middle + (window.to - middle) * factor);
  }

  // The last record at or before a place, as the curve holds its value.
  /** @param {number} px */
  function recordAt(px) {
    const at = window.from + (px - curveLeft) / plotWidth() * (window.to - window.from);
    return Math.max(0, curveAfter(x, at) - 1);
  }

  /** @param {PointerEvent} event */
  const place = (event) =>
    event.clientX - svg.getBoundingClientRect().left;

  board.addEventListener("pointermove", (event) => {
    if (x.length === 0) return;
    current = recordAt(place(event));
    showCursor();
    if (dragged < 0) return;
    const [from, to] = [dragged, place(event)].sort((a, b) => a - b);
    band.classList.toggle("is-hidden", to - from < 4);
    band.setAttribute("x", String(Math.max(curveLeft, from)));
    band.setAttribute("width", String(Math.max(0, Math.min(to, width - 10) -
                                                  Math.max(curveLeft, from))));
  });
  board.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    dragged = place(event);
    board.setPointerCapture(event.pointerId);
  });
  board.addEventListener("pointerup", (event) => {
    band.classList.add("is-hidden");
    if (dragged < 0) return;
    const [from, to] = [dragged, place(event)].sort((a, b) => a - b);
    dragged = -1;
    if (to - from < 4) return;
    /** @param {number} px */
    const value = (px) =>
      window.from + (px - curveLeft) / plotWidth() * (window.to - window.from);
    zoom(value(Math.max(from, curveLeft)), value(Math.min(to, width - 10)));
  });
  board.addEventListener("dblclick", () => zoom(first, last));
  board.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || x.length === 0) return;
    const key = event.key;
    const seen = curveAfter(x, window.to) - curveAfter(x, window.from - 1);
    const page = Math.max(1, Math.floor(seen / 20));
    const moves = /** @type {{[key: string]: number}} */ ({
      ArrowLeft: current - 1, ArrowRight: current + 1, PageUp: current - page,
      PageDown: current + page, Home: 0, End: x.length - 1,
    });
    if (key in moves) {
      current = Math.min(Math.max(0, moves[key]), x.length - 1);
      const range = window.to - window.from;
      if (x[current] < window.from || x[current] > window.to) {
        zoom(x[current] - range / 2, x[current] + range / 2);
      } else {
        showCursor();
      }
    } else if (key === "+" || key === "=") {
      scale(0.5);
    } else if (key === "-") {
      scale(2);
    } else if (key === "Escape") {
      zoom(first, last);
    } else {
      return;
    }
    event.preventDefault();
  });
  onWidth(board, (next) => {
    width = next;
    draw();
  });
  return element;
}

/**
 * @param {CurveBands} bands
 * @param {number} at
 * @param {{xUnit: string, yUnit: string}} units
 * @returns {string} the largest layers there, and when that was if it was before
 */
function curveBandsAt({ x, layers }, at, { xUnit, yUnit }) {
  const place = Math.max(0, curveAfter(x, at) - 1);
  const held = bandsAt(layers, place, curveBandsShown);
  if (held.length === 0) return "";
  return (x[place] < at ? "; the largest moment nearby, " + formatValue(x[place], xUnit) : "") +
    held.map(({ label, value }) => "; " + label + " " + formatValue(value, yUnit)).join("");
}

/** @param {CurveSeries[]} series */
function curveMost(series) {
  let most = 0;
  for (const { values } of series) {
    for (let place = 0; place < values.length; ++place) {
      if (values[place] > most) most = values[place];
    }
  }
  return most || 1;
}

/**
 * @param {number} x
 * @param {number} width
 */
function curveAnchor(x, width) {
  return x < curveLeft + 20 ? "start" : x > width - 40 ? "end" : "middle";
}

/**
 * @param {string} path
 * @returns {string} the x that it begins at
 */
function curveStart(path) {
  return path.slice(1, path.indexOf(" "));
}

/**
 * @param {import("../data/curve_points.js").CurveColumns} columns
 * @param {number} left x of column 0
 * @param {number} wide of a column
 * @param {number} right where the curve ends
 * @param {(value: number) => number} yOf
 */
function curvePath(columns, left, wide, right, yOf) {
  const parts = [];
  for (let at = 0; at < columns.column.length; ++at) {
    const x = (left + (columns.column[at] + (at === 0 ? 0 : 0.5)) * wide).toFixed(1);
    const low = yOf(columns.low[at]).toFixed(1);
    const high = yOf(columns.high[at]).toFixed(1);
    parts.push(at === 0 ? "M" + x + " " + yOf(columns.last[at]).toFixed(1) : "H" + x);
    if (low !== high) parts.push("V" + low + "V" + high);
    parts.push("V" + yOf(columns.last[at]).toFixed(1));
  }
  if (parts.length > 0) parts.push("H" + right.toFixed(1));
  return parts.join("");
}
