// The whole trace in a strip, with what is in sight as a window to drag.
import { h, setVariable } from "../parts/dom.js";
import { timelineIsAnnotation } from "./kinds.js";

/** In px: of the strip, and how near the pointer has to be to an edge of the window. */
const overviewHeight = 32;
const edgeReach = 7;
/** Tracks of each kind that are looked at. */
const overviewTracks = 12;

/** @typedef {{from: number, to: number}} OverviewPart */

/**
 * By pixel, how much of it the busiest line of these tracks covers. Annotations are not work.
 * @param {import("./model.js").TimelineModel} model
 * @param {number[]} tracks
 * @param {number} from
 * @param {number} step time of a pixel
 * @param {number} width
 * @returns {Float64Array}
 */
function coverOf(model, tracks, from, step, width) {
  const most = new Float64Array(width);
  const line = new Float64Array(width);
  for (const track of tracks) {
    for (let lane = model.trackLane[track]; lane < model.trackLane[track + 1]; lane++) {
      line.fill(0);
      for (let range = model.laneFirst[lane]; range < model.laneFirst[lane + 1]; range++) {
        if (timelineIsAnnotation(model.kinds[model.name[range]])) continue;
        const begin = (model.start[range] - from) / step, end = (model.end[range] - from) / step;
        for (let x = Math.max(0, Math.floor(begin)); x < end && x < width; x++) {
          line[x] += Math.min(end, x + 1) - Math.max(begin, x);
        }
      }
      for (let x = 0; x < width; x++) if (line[x] > most[x]) most[x] = line[x];
    }
  }
  return most;
}

export class TimelineOverview {
  /** @param {(view: OverviewPart) => void} move shows a part */
  constructor(move) {
    /** @private */
    this.move = move;
    /** @private */
    this.canvas = /** @type {HTMLCanvasElement} */ (h("canvas", null));
    /** @private */
    this.window = h("div", { class: "overview-window" });
    // The keys w, s, a, d and e do the same.
    this.element = h("div", { class: "timeline-overview", "aria-hidden": true, title: "The whole trace; drag the window" },
                     this.canvas, this.window);
    /** @private @type {unknown[]} */
    this.drawn = [];
    /** @private */
    this.width = 0;
    /** @private @type {OverviewPart} */
    this.view = { from: 0, to: 1 };
    /** @private @type {OverviewPart} */
    this.whole = this.view;
    this.element.addEventListener("pointerdown", (event) => this.drag(event));
    this.element.addEventListener("pointermove", (event) => {
      const what = this.at(event);
      setVariable(this.element, "cursor", what === "inside" ? "grab" : what === "outside" ? "crosshair" : "ew-resize");
    });
  }

  /**
   * @param {import("./model.js").TimelineModel} model
   * @param {OverviewPart} whole
   * @param {OverviewPart} view
   * @param {number} left where the tracks begin, in px
   * @param {number} width
   * @param {boolean} isNew colours changed
   */
  show(model, whole, view, left, width, isNew) {
    this.view = view;
    this.whole = whole;
    this.width = width;
    const long = whole.to - whole.from;
    /** @param {number} time */
    const share = (time) => Math.max(0, Math.min(1, (time - whole.from) / long));
    setVariable(this.element, "margin-left", `${left}px`);
    setVariable(this.window, "left", `${share(view.from) * 100}%`);
    setVariable(this.window, "width", `${(share(view.to) - share(view.from)) * 100}%`);
    const wanted = [model, width];
    if (!isNew && wanted.every((one, at) => one === this.drawn[at])) return;
    this.drawn = wanted;
    this.paint(model);
  }

  /**
   * How busy the devices were in the upper half, and the host in the lower one.
   * @private
   * @param {import("./model.js").TimelineModel} model
   */
  paint(model) {
    const { canvas, width, whole } = this;
    const ratio = globalThis.devicePixelRatio || 1;
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.round(overviewHeight * ratio);
    setVariable(canvas, "width", `${width}px`);
    setVariable(canvas, "height", `${overviewHeight}px`);
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(document.documentElement);
    const tracks = model.source.tracks.map(({ kind, ranges }, track) => ({ kind, ranges, track }));
    const kinds = ["stream", "thread"].filter((kind) => tracks.some((one) => one.kind === kind));
    const step = (whole.to - whole.from) / Math.max(width, 1);
    const tall = overviewHeight / Math.max(kinds.length, 1);
    kinds.forEach((kind, row) => {
      const shown = tracks.filter((one) => one.kind === kind).sort((a, b) => b.ranges - a.ranges).slice(0, overviewTracks);
      const cover = coverOf(model, shown.map(({ track }) => track), whole.from, step, Math.ceil(width));
      context.fillStyle = style.getPropertyValue(kind === "stream" ? "--kernel" : "--op");
      cover.forEach((share, x) => {
        const height = Math.min(1, share) * (tall - 2);
        context.fillRect(x, (row + 1) * tall - height, 1, height);
      });
    });
  }

  /** @private @param {MouseEvent} event */
  time(event) {
    const box = this.element.getBoundingClientRect();
    return this.whole.from + (event.clientX - box.left) / Math.max(box.width, 1) * (this.whole.to - this.whole.from);
  }

  /** @private */
  isWhole() {
    return this.view.to - this.view.from >= (this.whole.to - this.whole.from) * 0.98;
  }

  /**
   * @private
   * @param {MouseEvent} event
   * @returns {"from" | "to" | "inside" | "outside"} the edge or part of the window at the pointer
   */
  at(event) {
    const reach = edgeReach * (this.whole.to - this.whole.from) / Math.max(this.width, 1);
    const time = this.time(event);
    if (Math.abs(time - this.view.from) < reach) return "from";
    if (Math.abs(time - this.view.to) < reach) return "to";
    return time > this.view.from && time < this.view.to && !this.isWhole() ? "inside" : "outside";
  }

  /**
   * An edge moves alone, the window moves from inside; elsewhere a drag spans a new window, and a press centres it.
   * @private
   * @param {PointerEvent} event
   */
  drag(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    this.element.setPointerCapture(event.pointerId);
    const what = this.at(event), begin = this.time(event), before = { ...this.view };
    let hasMoved = false;
    const life = new AbortController();
    this.element.addEventListener("pointermove", (now) => {
      const time = this.time(now);
      if (!hasMoved && Math.abs(now.clientX - event.clientX) < 3) return;
      hasMoved = true;
      if (what === "inside") this.move({ from: before.from + time - begin, to: before.to + time - begin });
      else {
        const fixed = what === "from" ? before.to : what === "to" ? before.from : begin;
        if (time !== fixed) this.move({ from: Math.min(fixed, time), to: Math.max(fixed, time) });
      }
    }, { signal: life.signal });
    this.element.addEventListener("pointercancel", () => life.abort(), { signal: life.signal });
    this.element.addEventListener("pointerup", () => {
      life.abort();
      if (hasMoved || what !== "outside" || this.isWhole()) return;
      const half = (before.to - before.from) / 2;
      this.move({ from: begin - half, to: begin + half });
    }, { signal: life.signal });
  }
}
