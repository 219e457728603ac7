// The picture of a step of a few ranks: lines of activity and of collectives, with a cursor and zoom.
import { disable, h, onWidth, s } from "../parts/dom.js";
import { formatValue } from "../parts/format.js";
import { axisTicks } from "../parts/chart_axes.js";
import { timelineInput } from "../timeline/input.js";
import { activityLength, activityParts, rankParts } from "./document.js";

/** @typedef {import("./document.js").RankLine} PictureLine */

const lineLeft = 74;
const lineActivity = 18;
const lineCollective = 13;
const lineGap = 12;
const lineTop = 20;
/** Collectives of several streams are below each other, up to so many. */
const lineRows = 4;

/**
 * The row of each collective, so that none covers another one as long as there are rows.
 * @param {number[]} starts
 * @param {number[]} durations
 * @returns {number[]}
 */
export function rowsOfCollectives(starts, durations) {
  /** @type {number[]} */
  const ends = [];
  return starts.map((start, at) => {
    let row = ends.findIndex((end) => end <= start);
    if (row < 0) row = ends.length < lineRows ? ends.length : lineRows - 1;
    ends[row] = Math.max(ends[row] ?? -Infinity, start + durations[at]);
    return row;
  });
}

export class StepPicture {
  /**
   * @param {import("./document.js").StepLines} step
   * @param {PictureLine[]} lines
   * @param {import("./document.js").RankRow[]} rows of all ranks
   */
  constructor(step, lines, rows) {
    /** @private */
    this.step = step;
    /** @private */
    this.lines = lines;
    /** @private */
    this.rows = rows;
    /** @private */
    this.width = 0;
    /** What is in sight. @private */
    this.whole = [Math.min(...lines.map((line) => Math.min(line.start_ns, ...line.collective_start_ns))),
                  Math.max(...lines.map(({ end_ns: end }) => end))];
    /** @private */
    this.from = this.whole[0];
    /** @private */
    this.to = this.whole[1];
    /** Collectives that a chosen rank has, by their first start. @private @type {number[]} */
    this.order = this.collectivesInOrder();
    /** Which of these the cursor is at; -1: none. @private */
    this.current = -1;
    /** @private */
    this.svg = s("svg", { class: "step-plot", "aria-hidden": true });
    /** @private */
    this.readout = h("p", { class: "chart-readout", "aria-live": "polite" });
    /** @private */
    this.board = h("div", { class: "step-board", tabindex: 0, role: "slider", "aria-valuemin": 0,
      "aria-valuemax": this.order.length, "aria-label": `Step ${step.step} of ${lines.length === 1 ? "a rank" : "ranks"} on one clock; arrow keys go through the collectives, + and - zoom, 0 shows all` }, this.svg);
    this.board.addEventListener("keydown", (event) => this.key(event));
    timelineInput(this.board, false, {
      wheelZooms: () => false,  // it scrolls the page
      zoom: (x, factor) => this.zoom(factor, this.from + (x - lineLeft) / (this.width - lineLeft) * (this.to - this.from)),
      pan: (x) => this.move(x / (this.width - lineLeft)),
      span: () => {}, click: () => {}, twice: () => {}, hover: () => {},
    });
    const button = (/** @type {string} */ text, /** @type {string} */ title, /** @type {() => void} */ press) =>
      h("button", { type: "button", title, "aria-label": title, onclick: press }, text);
    /** @private */
    this.earlier = button("\u2190", "Earlier", () => this.move(-0.5));
    /** @private */
    this.later = button("\u2192", "Later", () => this.move(0.5));
    /** Without an effect while the whole step is in sight. @private */
    this.outward = [button("\u2212", "Zoom out", () => this.zoom(2)),
                    button("Whole step", "Show the whole step", () => this.show(this.whole[0], this.whole[1]))];
    this.element = h("div", null, h("div", { class: "chart-head" }, this.readout, h("div", { class: "chart-buttons" },
      this.earlier, this.later,
      button("+", "Zoom in", () => this.zoom(0.5)), ...this.outward)), this.board);
    this.say();
    onWidth(this.board, (next) => {
      this.width = next;
      this.draw();
    });
  }

  /** @private */
  collectivesInOrder() {
    /** @type {Map<number, number>} */
    const first = new Map();
    for (const line of this.lines) {
      line.collective.forEach((place, at) => {
        if (place >= 0) first.set(place, Math.min(first.get(place) ?? Infinity, line.collective_start_ns[at]));
      });
    }
    return [...first.keys()].sort((a, b) => (first.get(a) ?? 0) - (first.get(b) ?? 0));
  }

  /**
   * Shows the part and the collective that another picture of the step shows.
   * @param {StepPicture | null} before
   */
  resume(before) {
    if (before?.step !== this.step) return;
    this.current = this.order.indexOf(before.order[before.current] ?? -1);
    this.say();
    if (!before.isWhole()) this.show(before.from, before.to);
  }

  /** @private */
  isWhole() {
    return this.from <= this.whole[0] && this.to >= this.whole[1];
  }

  /** @private @param {number} ns */
  x(ns) {
    return lineLeft + (ns - this.from) / (this.to - this.from) * (this.width - lineLeft);
  }

  /**
   * @private
   * @param {number} from
   * @param {number} to
   */
  show(from, to) {
    const length = Math.max(100, Math.min(to - from, this.whole[1] - this.whole[0]));
    this.from = Math.max(this.whole[0], Math.min(from, this.whole[1] - length));
    this.to = this.from + length;
    this.draw();
  }

  /**
   * @private
   * @param {number} factor
   * @param {number} [at] a time that stays where it is; without it the chosen collective, or the middle, is in the middle then
   */
  zoom(factor, at) {
    if (at !== undefined) return this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
    let middle = (this.from + this.to) / 2;
    if (this.current >= 0) {
      const times = this.timesOf(this.order[this.current]);
      middle = (Math.min(...times.map((one) => one.start)) + Math.max(...times.map((one) => one.end))) / 2;
    }
    const half = (this.to - this.from) * factor / 2;
    this.show(middle - half, middle + half);
  }

  /** @private @param {number} by share of what is in sight */
  move(by) {
    const shift = (this.to - this.from) * by;
    this.show(this.from + shift, this.to + shift);
  }

  /** @private @param {KeyboardEvent} event */
  key(event) {
    const to = /** @type {{[key: string]: number}} */ ({ ArrowRight: this.current + 1, ArrowLeft: this.current - 1, Home: 0, End: this.order.length - 1 })[event.key];
    if (to !== undefined && this.order.length > 0) this.choose(Math.max(0, Math.min(this.order.length - 1, to)), true);
    else if (event.key === "+" || event.key === "=") this.zoom(0.5);
    else if (event.key === "-") this.zoom(2);
    else if (event.key === "0") this.show(this.whole[0], this.whole[1]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /**
   * @private
   * @param {number} current
   * @param {boolean} reveal
   */
  choose(current, reveal) {
    this.current = current;
    this.say();
    const times = this.timesOf(this.order[current]);
    const start = Math.min(...times.map((one) => one.start)), end = Math.max(...times.map((one) => one.end));
    if (reveal && (start < this.from || end > this.to)) {
      const half = Math.max((this.to - this.from) / 2, (end - start) * 0.7);
      this.show((start + end) / 2 - half, (start + end) / 2 + half);
    } else {
      this.draw();
    }
  }

  /**
   * @private
   * @param {number} place of a collective
   */
  timesOf(place) {
    return this.lines.flatMap((line) => line.collective.flatMap((other, at) => other !== place ? [] : [{
      rank: this.rows[line.rank].rank, start: line.collective_start_ns[at],
      end: line.collective_start_ns[at] + line.collective_duration_ns[at], wait: line.collective_wait_ns[at],
    }]));
  }

  /** @private */
  say() {
    let words = "Rest the pointer on a collective, or use the arrow keys.";
    if (this.current >= 0) {
      const { name, bytes, last_rank: last, group } = this.step.collectives[this.order[this.current]];
      const times = this.timesOf(this.order[this.current]).sort((a, b) => a.start - b.start);
      words = `${name}${bytes === null ? "" : `, ${formatValue(bytes, "bytes")}`}${group ? `, ${group}` : ""}: ${
        last === null ? "the clocks do not tell who arrived last" : `rank ${last} arrived last`}. ${times.map(({ rank, wait }) =>
        `Rank ${rank} ${wait < 0 ? "took part" : wait === 0 ? "did not wait" : `waited ${formatValue(wait, "ns")}`}`).join(", ")}.`;
    }
    this.readout.textContent = words;
    this.board.setAttribute("aria-valuenow", String(this.current + 1));
    this.board.setAttribute("aria-valuetext", words);
  }

  /** @private */
  draw() {
    const [first, last] = this.whole;
    disable(this.earlier, this.from <= first);
    disable(this.later, this.to >= last);
    for (const one of this.outward) disable(one, this.isWhole());
    if (this.width <= lineLeft) return;
    /** @type {SVGElement[]} */
    const parts = [s("defs", null, s("pattern", { id: "rank-stripes", width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      s("rect", { class: "part part-rank-wait", width: 5, height: 5 }), s("rect", { class: "stripe", width: 1.6, height: 5 })))];
    let y = lineTop;
    const isInSight = (/** @type {number} */ start, /** @type {number} */ end) => end > this.from && start < this.to;
    const clip = (/** @type {number} */ ns) => Math.max(lineLeft, Math.min(this.width, this.x(ns)));
    /**
     * @param {string} kind
     * @param {number} start
     * @param {number} end
     * @param {number} top
     * @param {number} height
     */
    const bar = (kind, start, end, top, height) => {
      const x = clip(start);
      return s("rect", { class: kind, x, y: top, width: Math.max(0.7, clip(end) - x), height });
    };
    const chosen = this.current >= 0 ? this.order[this.current] : -1;
    for (const line of this.lines) {
      const { rank, host } = this.rows[line.rank];
      parts.push(s("text", { class: "step-rank", x: 0, y: y + 13 }, `rank ${rank}`),
        host ? s("text", { x: 0, y: y + 27 }, String(host).slice(0, 11)) : s("g", null));
      let begin = 0;
      const length = line.end_ns - line.start_ns;
      for (let run = 0; run + 1 < line.activity.length; run += 2) {
        const start = line.start_ns + length * begin / activityLength;
        const end = line.start_ns + length * line.activity[run] / activityLength;
        begin = line.activity[run];
        if (!isInSight(start, end)) continue;
        const kind = rankParts[activityParts[line.activity[run + 1]]][2];
        parts.push(bar(`part part-${kind}`, start, end, y, lineActivity));
        if (kind !== "rank-transfer") continue;
        // The part of the exposed communication that waits.
        line.collective_start_ns.forEach((wait, at) => {
          const from = Math.max(start, wait), to = Math.min(end, wait + Math.max(0, line.collective_wait_ns[at]));
          if (to > from && isInSight(from, to)) parts.push(bar("part part-rank-wait", from, to, y, lineActivity));
        });
      }
      if (line.activity.length === 0) parts.push(s("text", { x: lineLeft + 4, y: y + 13 }, "not recorded"));
      const rows = rowsOfCollectives(line.collective_start_ns, line.collective_duration_ns);
      const top = y + lineActivity + 3;
      line.collective_start_ns.forEach((start, at) => {
        const end = start + line.collective_duration_ns[at];
        if (!isInSight(start, end)) return;
        const wait = Math.max(0, line.collective_wait_ns[at]);
        const place = line.collective[at];
        const barTop = top + rows[at] * (lineCollective + 1);
        const group = s("g", { class: place >= 0 && place === chosen ? "is-current" : "", onmouseenter: () => {
          const next = this.order.indexOf(place);
          if (next >= 0 && next !== this.current) this.choose(next, false);
        } });
        if (wait > 0) group.append(bar("rank-waiting", start, start + wait, barTop, lineCollective));
        group.append(bar(`part part-rank-${place < 0 || line.collective_wait_ns[at] < 0 ? "unknown" : "transfer"}`, start + wait, end, barTop, lineCollective));
        if (place >= 0 && this.step.collectives[place].last_rank === rank && this.x(start) >= lineLeft) {
          group.append(s("path", { class: "bars-mark", d: `M${this.x(start) - 4} ${barTop - 4}h8l-4 6z` }));
        }
        parts.push(group);
      });
      y = top + (Math.max(0, ...rows) + 1) * (lineCollective + 1) + lineGap;
    }
    for (const { value, text } of axisTicks(this.from, this.to, (this.width - lineLeft) / 110, "ns")) {
      parts.unshift(s("line", { class: "chart-grid", x1: this.x(value), x2: this.x(value), y1: lineTop - 4, y2: y }));
      parts.push(s("text", { x: Math.min(this.width - 24, Math.max(lineLeft + 8, this.x(value))), y: 11, "text-anchor": "middle" }, text));
    }
    if (chosen >= 0) {
      const arrival = Math.max(...this.timesOf(chosen).map(({ start }) => start));
      if (arrival >= this.from && arrival <= this.to) {
        parts.push(s("line", { class: "arrival-line", x1: this.x(arrival), x2: this.x(arrival), y1: lineTop - 4, y2: y }));
      }
    }
    this.svg.setAttribute("width", String(this.width));
    this.svg.setAttribute("height", String(y));
    this.svg.replaceChildren(...parts);
  }
}
