// Rates over intensity on logarithmic axes, below the roofs of the device, with a list beside it.
import { h, onWidth, s } from "./dom.js";
import { exactValue, formatValue } from "./format.js";
import { axisDecades, axisLogTicks } from "./chart_axes.js";

/**
 * @typedef {object} RooflinePoint
 * @property {string} label
 * @property {number} intensity FLOP per byte, above 0
 * @property {number} rate FLOP per second, above 0
 * @property {number} time in ns; the dot's area
 * @property {string} bound `compute`, `memory` or empty
 * @property {number|null} share of the roof, 0 to 1
 * @property {string} detail more about it, empty without
 */

/**
 * @typedef {object} RooflineRoof
 * @property {string} label
 * @property {number} peak FLOP per second
 */

const rooflineHeight = 380;
const rooflineLeft = 62;
const rooflineBottom = 38;
const rooflineTop = 24;
const rooflineRight = 14;

/**
 * @param {{points: RooflinePoint[], roofs: RooflineRoof[], bandwidth: number|null,
 *          timeName: string, picked: number}} data bandwidth: bytes per second of the device's
 *     memory; picked: the chosen point, -1 without one
 * @param {(point: number) => void} onPick -1: none any more
 * @returns {HTMLElement}
 */
export function rooflineChart(data, onPick) {
  const { points, roofs, bandwidth } = data;
  const order = points.map((_, which) => which).sort((a, b) => points[b].time - points[a].time);
  const longest = Math.max(1, ...points.map((point) => point.time));
  const ridges = bandwidth === null ? [] : roofs.map((roof) => roof.peak / bandwidth);
  const intensities = [...points.map((point) => point.intensity), ...ridges];
  const rates = points.map((point) => point.rate);
  const [x0, x1] = axisDecades(Math.min(...intensities), Math.max(...intensities) * 1.5);
  const [y0, y1] = axisDecades(Math.min(...rates),
                               Math.max(...rates, ...roofs.map((roof) => roof.peak * 1.3)));
  let picked = data.picked;
  let current = picked;
  let width = 0;

  const svg = s("svg", { class: "roofline-plot", height: rooflineHeight, role: "img",
                         "aria-label": rooflineWords(data) });
  const readout = h("p", { class: "chart-readout" },
                    "Point at a dot for its numbers; click it to find it in the table.");
  const board = h("div", { class: "roofline-board" }, svg);
  const buttons = order.map((which) => {
    const point = points[which];
    return h("button", {
      type: "button", class: "roofline-item", "aria-pressed": which === picked,
      title: point.label + "\n" + words(which),
      onclick: () => pick(which), onfocus: () => show(which), onmouseenter: () => show(which),
    },
    h("span", { class: "swatch roofline-dot bound-" + (point.bound || "none"),
                "aria-hidden": true }),
    h("span", { class: "roofline-name" }, point.label),
    h("span", { class: "roofline-time" }, formatValue(point.time, "ns")));
  });
  const list = h("ol", { class: "roofline-list" }, buttons.map((button) => h("li", null, button)));
  const bounds = [["compute", "limited by compute"], ["memory", "limited by memory bandwidth"],
                  ["", "limit not known"]].filter(([bound]) =>
    points.some((point) => point.bound === bound));
  const legend = h("ul", { class: "chart-legend" }, bounds.map(([bound, text]) =>
    h("li", null, h("span", { class: "swatch roofline-dot bound-" + (bound || "none"),
                              "aria-hidden": true }), text)),
    h("li", { class: "muted" }, "area of a dot: " + data.timeName));

  const plotWidth = () => Math.max(1, width - rooflineLeft - rooflineRight);
  /** @param {number} value */
  const xOf = (value) =>
    rooflineLeft + (Math.log10(value) - x0) / (x1 - x0) * plotWidth();
  /** @param {number} value */
  const yOf = (value) => rooflineHeight - rooflineBottom -
    (Math.log10(value) - y0) / (y1 - y0) * (rooflineHeight - rooflineBottom - rooflineTop);
  /** @param {number} time */
  const radius = (time) => Math.max(3, 18 * Math.sqrt(time / longest));

  /** @param {number} which */
  function words(which) {
    const point = points[which];
    return formatValue(point.rate, "per_s").replace("/s", "FLOP/s") + " at " +
      formatValue(point.intensity) + " FLOP per byte, " + formatValue(point.time, "ns") +
      (point.share === null ? "" : ", " + formatValue(point.share, "share") + " of the roof") +
      (point.bound === "" ? "" : ", limited by " + point.bound) +
      (point.detail === "" ? "" : ", " + point.detail);
  }

  /** @param {number} which */
  function show(which) {
    current = which;
    readout.textContent = points[which].label + ": " + words(which) +
      " (" + exactValue(points[which].time, "ns") + ")";
    for (const dot of svg.querySelectorAll("circle")) {
      dot.classList.toggle("is-current", dot.getAttribute("data-point") === String(which));
    }
    order.forEach((point, at) => buttons[at].classList.toggle("is-current", point === which));
  }

  /** @param {number} which */
  function pick(which) {
    picked = which === picked ? -1 : which;
    order.forEach((point, at) => buttons[at].setAttribute("aria-pressed",
                                                          String(point === picked)));
    show(which);
    onPick(picked);
  }

  function draw() {
    svg.setAttribute("width", String(width));
    const bottom = rooflineHeight - rooflineBottom;
    const parts = [];
    for (const { value, text } of axisLogTicks(x0, x1, plotWidth() / 60)) {
      parts.push(s("line", { class: "chart-grid", x1: xOf(value), x2: xOf(value), y1: rooflineTop,
                             y2: bottom }),
                 s("text", { x: xOf(value), y: bottom + 16, "text-anchor": "middle" }, text));
    }
    for (const { value, text } of axisLogTicks(y0, y1, 8)) {
      parts.push(s("line", { class: "chart-grid", x1: rooflineLeft, x2: width - rooflineRight,
                             y1: yOf(value), y2: yOf(value) }),
                 s("text", { x: rooflineLeft - 6, y: yOf(value) + 4, "text-anchor": "end" }, text));
    }
    parts.push(s("text", { class: "axis-name", x: rooflineLeft + plotWidth() / 2,
                           y: rooflineHeight - 4, "text-anchor": "middle" }, "FLOP per byte"),
               s("text", { class: "axis-name", x: rooflineLeft - 4, y: 11 }, "FLOP/s"));
    parts.push(...roofLines());
    for (const which of order) {
      const point = points[which];
      parts.push(s("circle", {
        class: "roofline-point bound-" + (point.bound || "none"), "data-point": which,
        cx: xOf(point.intensity), cy: yOf(point.rate), r: radius(point.time),
        onmouseenter: () => show(which), onclick: () => pick(which),
      }));
    }
    svg.replaceChildren(...parts);
    if (current >= 0) show(current);
  }

  function roofLines() {
    const lines = [];
    const right = width - rooflineRight;
    for (const { label, peak } of roofs) {
      const ridge = bandwidth === null ? 10 ** x0 : Math.max(10 ** x0, peak / bandwidth);
      lines.push(s("path", { class: "roof", d: `M${xOf(ridge)} ${yOf(peak)}H${right}` }),
                 s("text", { class: "roof-text", x: right - 2, y: yOf(peak) - 5,
                             "text-anchor": "end" },
                   label + " " + formatValue(peak, "per_s").replace("/s", "FLOP/s")));
    }
    if (bandwidth !== null) {
      const highest = Math.max(10 ** y0, ...roofs.map((roof) => roof.peak));
      const from = Math.max(10 ** x0, 10 ** y0 / bandwidth);
      const to = Math.min(10 ** x1, highest / bandwidth);
      if (to > from) {
        const slope = Math.atan2(yOf(to * bandwidth) - yOf(from * bandwidth),
                                 xOf(to) - xOf(from)) * 180 / Math.PI;
        lines.push(s("path", { class: "roof", d: `M${xOf(from)} ${yOf(from * bandwidth)}` +
                                                 `L${xOf(to)} ${yOf(to * bandwidth)}` }),
                   s("text", {
                     class: "roof-text", x: 10, y: -6,
                       transform: `translate(${xOf(from)} ${yOf(from * bandwidth)}) ` +
                       `rotate(${slope})`,
                   }, "memory " + formatValue(bandwidth, "per_s").replace("/s", "B/s")));
      }
    }
    return lines;
  }

  onWidth(board, (next) => {
    width = next;
    draw();
  });
  return h("div", { class: "roofline" }, legend,
           h("div", { class: "roofline-frame" }, board, list), readout);
}

/** @param {{points: RooflinePoint[], roofs: RooflineRoof[]}} data */
function rooflineWords(data) {
  const peaks = data.roofs.length === 0 ? "the device's peaks are not known"
    : data.roofs.map((roof) => "peak " + roof.label).join(", ");
  return "Roofline: " + data.points.length + " operators by FLOP per byte and FLOP per second; " +
    peaks + ". The list has the same points.";
}
