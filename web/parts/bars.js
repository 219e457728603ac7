// Stacked bars: one with a legend, or one per row with a cursor.
import { h, onWidth, s, setVariable } from "./dom.js";
import { exactValue, formatValue } from "./format.js";
import { axisTicks } from "./chart_axes.js";

/**
 * @typedef {object} BarPart
 * @property {string} label
 * @property {number} value
 * @property {string} kind the class `part-<kind>` gives its colour
 */

/**
 * A part of all bars of a chart.
 * @typedef {object} BarsPart
 * @property {string} label
 * @property {string} kind
 */

/**
 * @typedef {object} BarsRow
 * @property {string} label
 * @property {number[]} values by part; null counts as 0
 * @property {number} total in the unit of the values
 * @property {string} [mark] why the row is marked; empty: it is not
 */

/**
 * One bar with a legend that has each value and its share. Parts of 0 are left out.
 * @param {BarPart[]} parts
 * @param {string} unit
 * @returns {HTMLElement}
 */
export function stackedBar(parts, unit) {
  const shown = parts.filter((part) => part.value > 0);
  const sum = shown.reduce((all, part) => all + part.value, 0);
  /** @param {BarPart} part */
  const share = (part) => formatValue(part.value / sum, "share");
  const about = shown.map((part) =>
    part.label + " " + formatValue(part.value, unit) + ", " + share(part)).join("; ");
  const bar = h("div", { class: "bar-track", role: "img", "aria-label": about });
  for (const part of shown) {
    const piece = h("div", {
      class: "bar-piece part part-" + part.kind,
      title: part.label + ": " + formatValue(part.value, unit) + " (" + share(part) + ")",
    });
    setVariable(piece, "flex-grow", part.value / sum);
    bar.append(piece);
  }
  const legend = h("ul", { class: "bar-legend" }, shown.map((part) =>
    h("li", null,
      h("span", { class: "swatch part part-" + part.kind, "aria-hidden": true }),
      h("span", { class: "bar-label" }, part.label),
      h("span", { class: "bar-value", title: exactValue(part.value, unit) },
        formatValue(part.value, unit)),
      h("span", { class: "bar-share" }, share(part)))));
  return h("div", { class: "bar-stack" }, bar, legend);
}

/**
 * One of those that hold most memory.
 * @param {string} kind the class `part-<kind>` gives its colour
 * @param {number | string} bytes
 * @param {number} all bytes
 * @param {Node | string} name
 * @param {string | null} line below the name
 * @returns {HTMLElement}
 */
export function holderItem(kind, bytes, all, name, line) {
  const share = Number(bytes) / all;
  const meter = h("span", { class: "holder-bar part part-" + kind });
  setVariable(meter, "width", `${Math.max(0.2, 100 * share)}%`);
  return h("li", null,
    h("span", { class: "holder-bytes", title: exactValue(bytes, "bytes") }, formatValue(bytes, "bytes")),
    h("span", { class: "holder-share" }, formatValue(share, "share")),
    h("span", { class: "holder-track", "aria-hidden": true }, meter),
    h("span", { class: "holder-name" }, name, line === null ? null : h("span", { class: "quiet holder-line" }, line)));
}

/**
 * A legend without values, for charts with many bars.
 * @param {BarsPart[]} parts
 * @returns {HTMLElement}
 */
export function barsLegend(parts) {
  return h("ul", { class: "chart-legend" }, parts.map((part) =>
    h("li", null, h("span", { class: "swatch part part-" + part.kind, "aria-hidden": true }),
      part.label)));
}

// Of the plot, in px.
const barsHeight = 190;
// Left of it.
const barsAxisWidth = 64;
// Below it.
const barsFootHeight = 20;
// A bar with the gap beside it, in px.
const barsWidest = 96;
const barsNarrowest = 1;

/**
 * One vertical bar per row, with a cursor that mouse and arrow keys move. Up to thousands of rows
 * are one pixel wide each and scroll sideways.
 * @param {BarsRow[]} rows
 * @param {BarsPart[]} parts
 * @param {string} unit
 * @param {(row: number) => void} onPick
 * @param {{name: string, picked?: number, line?: {value: number, label: string}, marksLongest?: boolean}} options
 *     name: what the chart shows, for screen readers; line: a value to compare with;
 *     marksLongest: unless it is false, the longest bar is the slowest one
 * @returns {{element: HTMLElement, mark: (row: number) => void}} mark: the bar of the picked row
 */
export function stackedBars(rows, parts, unit, onPick, options) {
  let picked = options.picked ?? -1;
  let current = 0;
  let width = 0;
  const seen = parts.map((_, part) => rows.some((row) => row.values[part] > 0));
  const most = rows.reduce((all, row) => Math.max(all, row.total), 0) || 1;
  const slowest = options.marksLongest === false ? -1 : rows.findIndex((row) => row.total === most);

  current = picked >= 0 ? picked : Math.max(0, slowest);

  const cursor = s("rect", { class: "bars-cursor", y: 0, height: barsHeight });
  const choice = s("rect", { class: "bars-picked", y: 0, height: barsHeight });
  const svg = s("svg", { class: "bars-plot", "aria-hidden": true });
  const axis = s("svg", { class: "bars-axis", width: barsAxisWidth,
                          height: barsHeight + barsFootHeight, "aria-hidden": true });
  const readout = h("p", { class: "chart-readout" });
  const board = h("div", {
    class: "bars-board", tabindex: 0, role: "slider", "aria-label": options.name,
    "aria-valuemin": 1, "aria-valuemax": rows.length,
  }, svg);
  const element = h("div", { class: "bars" }, barsLegend(parts.filter((_, part) => seen[part])),
                    h("div", { class: "bars-frame" }, axis, board), readout);

  const slot = () => Math.min(barsWidest, Math.max(barsNarrowest, width / rows.length));
  /** @param {number} value */
  const height = (value) => value / most * (barsHeight - 12);

  /** @param {number} which */
  function words(which) {
    const row = rows[which];
    const values = parts.map((part, at) => ({ label: part.label, value: row.values[at] }))
      .filter(({ value }) => value > 0)
      .map(({ label, value }) => label + " " + formatValue(value, unit));
    const mark = row.mark || (which === slowest && rows.length > 1 ? "slowest" : "");
    return row.label + ": " + formatValue(row.total, unit) + (mark === "" ? "" : ` (${mark})`) +
      (values.length > 0 ? " \u2014 " + values.join(", ") : "");
  }

  function showCurrent() {
    readout.textContent = words(current);
    board.setAttribute("aria-valuenow", String(current + 1));
    board.setAttribute("aria-valuetext", words(current));
    const wide = Math.max(slot(), 2);
    cursor.setAttribute("x", String(current * slot()));
    cursor.setAttribute("width", String(wide));
    choice.setAttribute("x", String(picked * slot()));
    choice.setAttribute("width", String(wide));
    choice.classList.toggle("is-hidden", picked < 0);
  }

  function draw() {
    const all = slot() * rows.length;
    svg.setAttribute("width", String(Math.max(all, 1)));
    svg.setAttribute("height", String(barsHeight + barsFootHeight));
    const gap = slot() > 6 ? 2 : slot() > 3 ? 1 : 0;
    const paths = parts.map(() => /** @type {string[]} */ ([]));
    rows.forEach((row, which) => {
      let y = barsHeight;
      const x = (which * slot() + gap / 2).toFixed(2);
      const wide = (slot() - gap).toFixed(2);
      parts.forEach((_, part) => {
        const tall = height(row.values[part] || 0);
        if (tall <= 0) return;
        y -= tall;
        paths[part].push("M" + x + " " + y.toFixed(2) + "h" + wide + "v" + tall.toFixed(2) + "h-" +
                         wide + "z");
      });
    });
    const marks = rows.map((row, which) => ({ row, which }))
      .filter(({ row, which }) => row.mark || (which === slowest && rows.length > 1))
      .map(({ row, which }) => {
        const x = (which + 0.5) * slot();
        const y = barsHeight - height(row.total) - 3;
        return s("path", { class: "bars-mark", d: `M${x - 4} ${y - 6}h8l-4 6z` });
      });
    const ticks = axisTicks(0, most, 4, unit);
    /**
     * @param {string} name
     * @param {number} value
     */
    const across = (name, value) =>
      s("line", { class: name, x1: 0, x2: all, y1: barsHeight - height(value),
                  y2: barsHeight - height(value) });
    const lines = ticks.map(({ value }) => across("chart-grid", value));
    const median = options.line ? [across("bars-line", options.line.value)] : [];
    for (const line of median) line.append(s("title", null, options.line?.label ?? ""));
    svg.replaceChildren(...lines, ...parts.map((part, at) =>
      s("path", { class: "part part-" + part.kind, d: paths[at].join("") })),
      ...median, ...marks, choice, cursor, ...footTexts(all));
    axis.replaceChildren(...ticks.map(({ value, text }) => s("text", {
      x: barsAxisWidth - 6, y: barsHeight - height(value) + 4, "text-anchor": "end",
    }, text)));
    showCurrent();
  }

  // As many names of rows as fit below the bars.
  /** @param {number} all */
  function footTexts(all) {
    const longest = rows.reduce((length, row) => Math.max(length, row.label.length), 1);
    const room = Math.min(longest, 18) * 7 + 12;
    const every = Math.max(1, Math.ceil(rows.length / Math.max(1, Math.floor(all / room))));
    return rows.map((row, which) => ({ row, which })).filter(({ which }) => which % every === 0)
      .map(({ row, which }) => s("text", {
        x: Math.max(Math.min(row.label.length, 18) * 3 + 2, (which + 0.5) * slot()),
        y: barsHeight + 15, "text-anchor": "middle",
      }, row.label.length > 18 ? row.label.slice(0, 17) + "\u2026" : row.label));
  }

  /**
   * @param {number} which
   * @param {boolean} reveal
   */
  function moveTo(which, reveal) {
    current = Math.min(Math.max(0, which), rows.length - 1);
    showCurrent();
    if (!reveal) return;
    const x = current * slot();
    if (x < board.scrollLeft) board.scrollLeft = x;
    if (x + slot() > board.scrollLeft + board.clientWidth) {
      board.scrollLeft = x + slot() - board.clientWidth;
    }
  }

  function pick() {
    picked = current;
    showCurrent();
    onPick(picked);
  }

  /** @param {MouseEvent} event */
  function rowAt(event) {
    return Math.floor((event.clientX - svg.getBoundingClientRect().left) / slot());
  }

  board.addEventListener("mousemove", (event) => {
    const which = rowAt(event);
    if (which >= 0 && which < rows.length) moveTo(which, false);
  });
  board.addEventListener("click", (event) => {
    const which = rowAt(event);
    if (which < 0 || which >= rows.length) return;
    moveTo(which, false);
    pick();
  });
  board.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(board.clientWidth / slot() / 2));
    const moves = /** @type {{[key: string]: number}} */ ({
      ArrowLeft: current - 1, ArrowDown: current - 1, ArrowRight: current + 1, ArrowUp: current + 1,
      PageUp: current - page, PageDown: current + page, Home: 0, End: rows.length - 1,
    });
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves) moveTo(moves[event.key], true);
    else if (event.key === "Enter" || event.key === " ") pick();
    else return;
    event.preventDefault();
  });
  onWidth(board, (next) => {
    width = next;
    draw();
  });
  return {
    element,
    mark(row) {
      picked = row;
      if (row >= 0) moveTo(row, true);
      showCurrent();
    },
  };
}
