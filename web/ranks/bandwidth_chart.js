// Collectives by size and bandwidth.
import { h, onWidth, s } from "../parts/dom.js";
import { countOf, formatValue } from "../parts/format.js";
import { axisDecades, axisLogTicks } from "../parts/chart_axes.js";
import { recordsOf } from "../data/table.js";
import { bandwidthText } from "./words.js";

const scatterHeight = 300;
const scatterLeft = 64;
const scatterBottom = 40;
const scatterTop = 18;
const scatterRight = 14;
/** Shapes beside colours, so that operations are told apart without seeing colours. */
const scatterShapes = ["circle", "square", "diamond", "triangle", "cross"];

/**
 * @param {string} shape
 * @param {number} x
 * @param {number} y
 * @param {number} r
 * @returns {string} a path
 */
function shapePath(shape, x, y, r) {
  switch (shape) {
    case "square": return `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`;
    case "diamond": return `M${x} ${y - 1.3 * r}l${1.3 * r} ${1.3 * r}l${-1.3 * r} ${1.3 * r}l${-1.3 * r} ${-1.3 * r}z`;
    case "triangle": return `M${x} ${y - 1.2 * r}l${1.2 * r} ${2.2 * r}h${-2.4 * r}z`;
    case "cross": return `M${x - r} ${y - 0.4 * r}h${0.6 * r}v${-0.6 * r}h${0.8 * r}v${0.6 * r}h${0.6 * r}v${0.8 * r}h${-0.6 * r}v${0.6 * r}h${-0.8 * r}v${-0.6 * r}h${-0.6 * r}z`;
    default: return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
  }
}

/**
 * @param {import("../data/source.js").Table} table
 * @param {(row: number) => void} onPick
 * @returns {HTMLElement}
 */
export function bandwidthChart(table, onPick) {
  const points = recordsOf(table).map((record, row) => ({ ...record, row }))
    .filter((/** @type {any} */ { bytes, bus_bandwidth_median_bytes_per_s: speed }) => bytes > 0 && speed > 0);
  /** @type {any[]} */
  const shown = points;
  if (shown.length === 0) {
    return h("p", { class: "quiet" }, "No bandwidths: the recordings have no sizes, or a rank of each group has no trace.");
  }
  const names = [...new Set(shown.map(({ name }) => name))];
  /** @param {string} name */
  const kindOf = (name) => Math.min(names.indexOf(name), 4);
  const speeds = shown.flatMap((one) => [one.bus_bandwidth_lowest_bytes_per_s, one.bus_bandwidth_highest_bytes_per_s]);
  const [x0, x1] = axisDecades(Math.min(...shown.map(({ bytes }) => bytes)), Math.max(...shown.map(({ bytes }) => bytes)));
  const [y0, y1] = axisDecades(Math.min(...speeds), Math.max(...speeds));
  const readout = h("p", { class: "chart-readout", "aria-live": "polite" });
  const svg = s("svg", { class: "scatter-plot", height: scatterHeight, "aria-hidden": true });
  let current = 0, width = 0;
  const board = h("div", { class: "scatter-board", tabindex: 0, role: "slider",
    "aria-label": "Collectives by size and bus bandwidth; arrow keys move, Enter opens the row",
    "aria-valuemin": 1, "aria-valuemax": shown.length }, svg);
  const order = shown.map((_, at) => at).sort((a, b) => shown[a].bytes - shown[b].bytes);
  const xOf = (/** @type {number} */ bytes) => scatterLeft +
    (Math.log10(bytes) - x0) / (x1 - x0) * (width - scatterLeft - scatterRight);
  const yOf = (/** @type {number} */ speed) => scatterHeight - scatterBottom -
    (Math.log10(speed) - y0) / (y1 - y0) * (scatterHeight - scatterBottom - scatterTop);

  function show() {
    const one = shown[current];
    const words = `${one.name}, ${formatValue(one.bytes, "bytes")}${one.group ? `, ${one.group}` : ""}: ${
      bandwidthText(one.bus_bandwidth_median_bytes_per_s)} (${bandwidthText(one.bus_bandwidth_lowest_bytes_per_s)} to ${
      bandwidthText(one.bus_bandwidth_highest_bytes_per_s)}), ${countOf(one.count, "collective")}`;
    readout.textContent = words;
    board.setAttribute("aria-valuenow", String(order.indexOf(current) + 1));
    board.setAttribute("aria-valuetext", words);
    for (const dot of svg.querySelectorAll("[data-point]")) {
      dot.classList.toggle("is-current", dot.getAttribute("data-point") === String(current));
    }
  }

  function draw() {
    svg.setAttribute("width", String(width));
    const bottom = scatterHeight - scatterBottom;
    /** @type {SVGElement[]} */
    const parts = [];
    for (const { value } of axisLogTicks(x0, x1, (width - scatterLeft) / 70)) {
      parts.push(s("line", { class: "chart-grid", x1: xOf(value), x2: xOf(value), y1: scatterTop, y2: bottom }),
        s("text", { x: xOf(value), y: bottom + 15, "text-anchor": "middle" }, decimalBytes(value)));
    }
    for (const { value } of axisLogTicks(y0, y1, 7)) {
      parts.push(s("line", { class: "chart-grid", x1: scatterLeft, x2: width - scatterRight, y1: yOf(value), y2: yOf(value) }),
        s("text", { x: scatterLeft - 6, y: yOf(value) + 4, "text-anchor": "end" }, bandwidthText(value)));
    }
    parts.push(s("text", { x: scatterLeft, y: scatterHeight - 5 }, "size"), s("text", { x: 4, y: 11 }, "bus bandwidth"));
    shown.forEach((one, at) => {
      const x = xOf(one.bytes), y = yOf(one.bus_bandwidth_median_bytes_per_s);
      const kind = kindOf(one.name);
      parts.push(s("path", { class: "scatter-range", d: `M${x} ${yOf(one.bus_bandwidth_lowest_bytes_per_s)}V${yOf(one.bus_bandwidth_highest_bytes_per_s)}` }),
        s("path", { class: `scatter-point scatter-${kind}`, "data-point": at, d: shapePath(scatterShapes[kind], x, y, 5),
          onmouseenter: () => { current = at; show(); }, onclick: () => { current = at; show(); onPick(one.row); } }));
    });
    svg.replaceChildren(...parts);
    show();
  }
  board.addEventListener("keydown", (event) => {
    const place = order.indexOf(current);
    const next = /** @type {{[key: string]: number}} */ ({ ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: order.length - 1 })[event.key];
    if (event.key === "Enter") onPick(shown[current].row);
    else if (next !== undefined) {
      current = order[Math.max(0, Math.min(order.length - 1, next))];
      show();
    } else return;
    event.preventDefault();
  });
  onWidth(board, (next) => {
    width = next;
    draw();
  });
  const icons = names.slice(0, 5).map((name, kind) => h("li", null, s("svg", { width: 14, height: 14, "aria-hidden": true },
    s("path", { class: `scatter-point scatter-${kind}`, d: shapePath(scatterShapes[kind], 7, 7, 5) })),
    kind === 4 && names.length > 5 ? "others" : name));
  return h("div", { class: "scatter" }, h("ul", { class: "chart-legend" }, icons,
    h("li", null, "a point is the median, the line goes from the slowest to the fastest")), board, readout);
}

/**
 * @param {number} bytes a power of ten
 * @returns {string}
 */
function decimalBytes(bytes) {
  const unit = ["B", "kB", "MB", "GB", "TB"][Math.min(4, Math.floor(Math.log10(bytes) / 3 + 1e-9))];
  return `${bytes / 1000 ** ["B", "kB", "MB", "GB", "TB"].indexOf(unit)} ${unit}`;
}
