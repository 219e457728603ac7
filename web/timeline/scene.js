// The picture of a timeline with what is in sight: tracks, axis, names, and how it moves.
import { h, setVariable } from "../parts/dom.js";
import { timelineAxis } from "./axis.js";
import { TimelineTrackLabels } from "./labels.js";
import { timelineGapAt, timelineIdleKey } from "./idle.js";
import { timelineTrackKey } from "./arrange.js";
import { timelineBoxAt, timelineClamp, timelineLayout, timelineRow, timelineZoom } from "./layout.js";
import { timelineMarkAt, timelinePointAt } from "./moments.js";
import { TimelinePainter } from "./paint.js";
import { timelineHit } from "./queries.js";

/** @typedef {import("./model.js").TimelineModel} SceneModel */
/** @typedef {import("./layout.js").TimelineSize} SceneSize */

/** Width of the names beside the tracks, in px; narrow screens have them above. */
export const labelsWidth = 190;

/** Height of a line of a stream, in px: what the device does is what people look for. */
const streamRow = 34;

/** Of so many tracks, those with little in them are a line each. */
const manyTracks = 20;

/** Set what is to be shown, then call place() or soon(). */
export class TimelineScene {
  /**
   * @param {SceneModel} model
   * @param {import("./arrange.js").TimelineArrangement} arrangement
   * @param {string} trace that the model is of
   */
  constructor(model, arrangement, trace) {
    const { source } = model;
    this.model = model;
    this.trace = trace;
    this.arrangement = arrangement;
    this.whole = { from: source.from_ns, to: Math.max(source.to_ns, source.from_ns + 1) };
    this.view = timelineClamp({ from: this.whole.from, to: this.whole.to }, this.whole);
    this.selected = -1;
    this.hovered = -1;
    /** @type {number | null} */
    this.pointer = null;
    /** @type {[number, number] | null} */
    this.span = null;
    /** @type {import("./queries.js").TimelineMatches | null} */
    this.matches = null;
    /** @type {{from: number, to: number}[]} */
    this.flows = [];
    /** @type {Map<string, SceneSize>} what people opened and closed, by the track's name */
    this.sizes = new Map();
    /** @type {import("./idle.js").TimelineIdle} */
    this.idle = new Map();
    /** @type {SceneSize[]} */
    this.boxSizes = [];
    /** @type {import("./together.js").TogetherMatches | null} collectives of several ranks */
    this.collectives = null;
    /** @type {import("./notes.js").TimelineNote[]} */
    this.spanNotes = [];
    /** @type {number[]} tracks and counters that are shown, from top to bottom */
    this.order = [];
    /** @type {import("./layout.js").TimelineLayout} */
    this.layout = { boxes: [], at: new Int32Array(0), height: 0 };
    this.width = 0;
    /** @private */
    this.pending = 0;
    /** @type {(() => void) | null} what needs to know how wide everything is */
    this.afterLayout = null;
    this.axis = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "timeline-axis",
                                                                "aria-hidden": true }));
    this.canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "timeline-canvas",
                                                                  "aria-hidden": true }));
    this.labels = new TimelineTrackLabels((id, size) => {
      this.sizes.set(this.boxKey(id), size);
      this.place();
    }, (id, forward) => this.step(id, forward), (id) => {
      this.arrangement.set("hidden", this.trackKey(id), true);
      this.place();
    });
    this.space = h("div", { class: "timeline-space" }, this.canvas, this.labels.element);
    this.board = h("div", {
      class: "timeline-board", tabindex: 0, role: "group",
      "aria-label": "Timeline: w and s zoom, a and d pan, arrow keys move the selection. Visible " +
        "slices, below, are the same as a table.",
    }, this.space);
    this.frame = h("div", { class: "timeline-frame" }, this.axis, this.board);
    this.painter = new TimelinePainter(this.canvas);
  }

  /** @param {SceneModel} model */
  use(model) {
    this.model = model;
  }

  /** @param {number} range under the pointer, -1 without one */
  point(range) {
    if (range !== this.hovered) this.soon();
    this.hovered = range;
  }

  /** @param {number | null} time of the pointer */
  pointAt(time) {
    if (time !== this.pointer) this.soon();
    this.pointer = time;
  }

  /** @param {[number, number] | null} span */
  mark(span) {
    this.span = span;
    this.soon();
  }

  /** After another part is in sight. */
  moved() {}

  /**
   * @param {number} _box
   * @param {boolean} _forward
   * @returns {boolean} false: it has no moments
   */
  step(_box, _forward) {
    return false;
  }

  /** @param {number} box */
  boxKey(box) {
    const { tracks, counters } = this.model.source;
    const track = tracks[box];
    return track ? JSON.stringify([track.name, track.process, track.rank])
      : `counter ${counters[box - tracks.length].name}, ${
        counters[box - tracks.length].process ?? ""}`;
  }

  /**
   * What the address calls a track or counter.
   * @param {number} id
   */
  trackKey(id) {
    const { tracks } = this.model.source;
    return tracks[id]?.key ?? timelineTrackKey(this.trace, id >= tracks.length ? `c${id - tracks.length}` : id);
  }

  /**
   * Tracks and counters in the usual order: other ranks stand after the own devices, or else after the own tracks.
   * @returns {number[]}
   */
  usualOrder() {
    const { tracks, counters } = this.model.source;
    const ids = Array.from({ length: tracks.length + counters.length }, (_, id) => id);
    const others = ids.filter((id) => tracks[id]?.rank !== undefined);
    if (others.length === 0) return ids;
    const own = ids.filter((id) => tracks[id]?.rank === undefined);
    const devices = own.filter((id) => tracks[id]?.kind === "stream");
    const first = devices.length > 0 ? devices : own.filter((id) => id < tracks.length);
    return [...first, ...others, ...own.filter((id) => !first.includes(id))];
  }

  /** As people arranged them, with those that are hidden. */
  arranged() {
    const ids = new Map(this.usualOrder().map((id) => [this.trackKey(id), id]));
    return this.arrangement.order([...ids.keys()]).map((key) => /** @type {number} */ (ids.get(key)));
  }

  /**
   * Threads with much in them and streams are open at first.
   * @param {number} box
   * @returns {SceneSize}
   */
  sizeOf(box) {
    const key = this.boxKey(box);
    let size = this.sizes.get(key);
    if (size) return size;
    const track = this.model.source.tracks[box];
    const isOpen = track === undefined || track.kind === "stream" || box === this.firstThread() || track.rank !== undefined ||
      (this.model.trackRows[box] <= 3 && this.model.source.tracks.length < manyTracks) ||
      track.ranges * 20 >= this.model.size;
    // It stays so when a part of the trace is shown.
    this.sizes.set(key, size = isOpen ? "fit" : "closed");
    return size;
  }

  /**
   * Height of a deep track that is not shown in full: the first thread has most of it.
   * @param {number} box
   */
  room(box) {
    return Math.max(180, Math.round(innerHeight * 0.5)) * (box === this.firstThread() ? 1 : 0.4);
  }

  firstThread() {
    return this.model.source.tracks.findIndex(({ kind, rank }) => kind === "thread" && rank === undefined);
  }

  /**
   * The group that a track or counter is in.
   * @param {number} box
   */
  groupOf(box) {
    const { tracks, counters } = this.model.source;
    if (this.arrangement.pinned.has(this.trackKey(box))) return "Pinned";
    if (box >= tracks.length) return counters[box - tracks.length].unit === "bytes" ? "Memory" : "Counters";
    const { kind, process, rank } = tracks[box];
    if (rank !== undefined) return `Rank ${rank}`;
    const own = this.model.ranks > 1 ? `Rank ${this.model.rankOf(rank)}: ` : "";
    return own + (kind === "stream" ? process || "GPU" : kind === "thread" ? "Host" : "Recording");
  }

  /**
   * @param {number} id
   * @param {number} place in the order
   * @returns {import("./layout.js").TimelineLook}
   */
  look(id, place) {
    const { tracks } = this.model.source;
    const group = this.groupOf(id);
    const isStream = tracks[id]?.kind === "stream";
    const key = isStream ? timelineIdleKey(tracks[id]) : "";
    const isFirst = place === 0 || this.groupOf(this.order[place - 1]) !== group;
    // Below the last stream of the device that is shown beside it.
    const next = tracks[this.order[place + 1]];
    const isLast = next?.kind !== "stream" || timelineIdleKey(next) !== key || this.groupOf(this.order[place + 1]) !== group;
    return { row: isStream ? streamRow : timelineRow, heading: isFirst ? group : "",
             hasIdle: isStream && isLast && this.idle.has(key) };
  }

  isNarrow() {
    return innerWidth < 760;
  }

  /** Lays the tracks out and draws them. */
  place() {
    const sizes = this.model.source.tracks.length + this.model.source.counters.length;
    this.boxSizes = Array.from({ length: sizes }, (_, id) => this.sizeOf(id));
    this.order = this.arranged().filter((id) => !this.arrangement.hidden.has(this.trackKey(id)));
    this.layout = timelineLayout(this.model.trackRows, this.model.source.counters.length,
                                 (id) => this.boxSizes[id], (id) => this.room(id), this.isNarrow() ? 20 : 0,
                                 (id, place) => this.look(id, place), this.order);
    setVariable(this.space, "height", `${this.layout.height}px`);
    this.soon();
  }

  soon() {
    if (this.pending === 0) this.pending = requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.pending = 0;
    const left = this.isNarrow() ? 0 : labelsWidth;
    const width = this.board.clientWidth - left;
    const height = Math.min(this.board.clientHeight, Math.max(this.layout.height, 1));
    if (width <= 0) return;
    this.width = width;
    // Beside the panel the board may get its height later than its width.
    if (this.afterLayout && this.board.clientHeight > 0) {
      const act = this.afterLayout;
      this.afterLayout = null;
      act();
    }
    const { from, to } = this.view;
    this.frame.classList.toggle("is-narrow", left === 0);
    timelineAxis(this.axis, { source: this.model.source, from, to, width, span: this.span,
                              pointer: this.pointer });
    const top = this.board.scrollTop;
    const { boxes } = this.layout;
    const first = timelineBoxAt(boxes, top - 40);
    let last = first;
    while (last < boxes.length && boxes[last].top < top + height + 40) last++;
    this.labels.show(this.model, boxes, first, last, (box) => this.boxSizes[box],
                     (box) => this.room(box));
    this.painter.paint(this.picture(top, width, height));
  }

  /**
   * @param {number} top
   * @param {number} width
   * @param {number} height
   * @returns {import("./paint.js").TimelinePicture}
   */
  picture(top, width, height) {
    const { boxes, at } = this.layout;
    const shared = this.collectives?.of(this.hovered) ?? this.collectives?.of(this.selected);
    return { model: this.model, boxes, at, from: this.view.from, to: this.view.to,
             top, width, height, matches: this.matches, selected: this.selected,
             hovered: this.hovered, span: this.span, flows: this.flows, idle: this.idle,
             together: shared?.ranges ?? [], notes: this.spanNotes };
  }

  /** @param {{from: number, to: number}} view */
  show(view) {
    this.view = timelineClamp(view, this.whole);
    this.moved();
  }

  /**
   * @param {number} x in px
   * @param {number} factor below 1: closer
   */
  zoom(x, factor) {
    this.view = timelineZoom(this.view, this.timeAt(x), factor, this.whole);
    this.moved();
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  pan(x, y) {
    const time = x * (this.view.to - this.view.from) / Math.max(this.width, 1);
    if (y !== 0) this.board.scrollTop += y;
    if (x !== 0) this.show({ from: this.view.from + time, to: this.view.to + time });
  }

  /** @param {number} x */
  timeAt(x) {
    return this.view.from + x * (this.view.to - this.view.from) / Math.max(this.width, 1);
  }

  /** @param {number} range */
  fitRange(range) {
    const { model } = this;
    const long = Math.max(model.duration(range), 2);
    const middle = (model.start[range] + model.end[range]) / 2;
    this.view = timelineZoom({ from: middle - long * 0.6, to: middle + long * 0.6 }, middle, 1,
                             this.whole);
    this.reveal(range);
    this.moved();
  }

  /**
   * Brings a range into sight.
   * @param {number} range
   */
  reveal(range) {
    const { model } = this;
    const start = model.start[range];
    const end = model.end[range];
    const long = this.view.to - this.view.from;
    if (end < this.view.from + long * 0.02 || start > this.view.to - long * 0.02 ||
               (end - start > long * 0.9 && (start > this.view.from + long * 0.4 ||
                                             end < this.view.to - long * 0.4))) {
      const middle = end - start > long ? start + long * 0.4 : (start + end) / 2;
      this.view = timelineClamp({ from: middle - long / 2, to: middle + long / 2 }, this.whole);
    }
    const lane = model.laneOf(range);
    const track = model.laneTrack[lane];
    const row = lane - model.trackLane[track];
    const isHidden = this.layout.at[track] < 0;
    if (isHidden) this.arrangement.set("hidden", this.trackKey(track), false);
    if (row > 0 && this.sizeOf(track) === "closed") this.sizes.set(this.boxKey(track), "fit");
    if (isHidden || this.boxSizes[track] !== this.sizeOf(track)) this.place();
    const box = this.layout.boxes[this.layout.at[track]];
    const y = box.lines + row * box.row;
    const tall = this.board.clientHeight;
    if (y < this.board.scrollTop + 4) this.board.scrollTop = Math.max(0, y - 40);
    else if (y + box.row > this.board.scrollTop + tall - 4) {
      this.board.scrollTop = y + 3 * box.row - tall;
    }
    this.soon();
  }

  /**
   * @param {number} x
   * @param {number} y
   * @returns {number} -1: nothing is there
   */
  hit(x, y) {
    const at = y + this.board.scrollTop;
    const box = this.layout.boxes[timelineBoxAt(this.layout.boxes, at)];
    if (!box || box.track < 0) return -1;
    const row = Math.floor((at - box.lines) / box.row);
    if (row < 0 || row >= box.rows) return -1;
    return timelineHit(this.model, this.model.trackLane[box.track] + row, this.timeAt(x),
                       (this.view.to - this.view.from) / Math.max(this.width, 1));
  }

  /**
   * The gap at a place in the causes of idle time.
   * @param {number} x
   * @param {number} y
   * @returns {import("./idle.js").TimelineGap | null}
   */
  gapAt(x, y) {
    const at = y + this.board.scrollTop;
    const box = this.layout.boxes[timelineBoxAt(this.layout.boxes, at)];
    if (!box || box.idle === 0 || at < box.idle) return null;
    const gaps = this.idle.get(timelineIdleKey(this.model.source.tracks[box.track])) ?? [];
    return timelineGapAt(gaps, this.timeAt(x), (this.view.to - this.view.from) / Math.max(this.width, 1));
  }

  /**
   * The value of a counter or the mark at a place.
   * @param {number} x
   * @param {number} y
   * @returns {import("./moments.js").TimelineMomentPlace | null}
   */
  momentAt(x, y) {
    const at = y + this.board.scrollTop;
    const box = this.layout.boxes[timelineBoxAt(this.layout.boxes, at)];
    if (!box || at < box.lines) return null;
    if (box.track >= 0 && at > box.lines + Math.max(box.row, 8)) return null;
    return this.momentOf(box, this.timeAt(x));
  }

  /**
   * @param {import("./layout.js").TimelineBox} box
   * @param {number} time
   * @returns {import("./moments.js").TimelineMomentPlace | null}
   */
  momentOf(box, time) {
    const { source } = this.model;
    if (box.counter >= 0) {
      const point = timelinePointAt(source.counters[box.counter], time);
      const isOver = point < 0 || time > source.to_ns;
      return isOver ? null : { mark: -1, counter: box.counter, point };
    }
    const mark = timelineMarkAt(source, box.track, time,
                                (this.view.to - this.view.from) / Math.max(this.width, 1));
    return mark < 0 ? null : { mark, counter: -1, point: -1 };
  }

  /** Where keys zoom: at the pointer if it is on the timeline. */
  pointerX() {
    if (this.pointer === null) return this.width / 2;
    return (this.pointer - this.view.from) * this.width / (this.view.to - this.view.from);
  }
}
