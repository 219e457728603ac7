// Draws the tracks of a timeline in sight: a line of pixels for each line of ranges, texts, what
// is selected, and the curves of flows.
import { stackBareName, stackShortName } from "../data/stacks_names.js";
import { formatValue } from "../parts/format.js";
import { timelineKinds } from "./kinds.js";
import { timelineLabels, timelineLine, timelineMarks, timelineMix } from "./line.js";
import { timelinePaintIdle } from "./idle.js";
import { timelineBoxAt } from "./layout.js";
import { timelinePaintNotes } from "./notes.js";
import { timelinePaintCounters, timelinePaintMarks } from "./paint_moments.js";

/** @typedef {import("./layout.js").TimelineBox} PaintBox */
/**
 * @typedef {object} TimelinePicture what is to be drawn
 * @property {import("./model.js").TimelineModel} model
 * @property {PaintBox[]} boxes
 * @property {Int32Array} at by track its box; -1: it is hidden
 * @property {number} from
 * @property {number} to
 * @property {number} top how far it is scrolled
 * @property {number} width in px
 * @property {number} height
 * @property {import("./queries.js").TimelineMatches | null} matches
 * @property {number} selected range, -1 without one
 * @property {number} hovered
 * @property {[number, number] | null} span
 * @property {{from: number, to: number}[]} flows of the selected range
 * @property {number[]} together ranges that are one collective
 * @property {import("./notes.js").TimelineNote[]} notes of people
 * @property {import("./idle.js").TimelineIdle} idle
 */

/** @typedef {{lane: number, y: number, row: number}} SeenLine a line in sight, its place in px */

/** @param {string} hex `#ffb266` */
function colorNumber(hex) {
  const value = parseInt(hex.trim().slice(1, 7), 16) || 0;
  return (0xff000000 | (value & 0xff) << 16 | (value & 0xff00) | value >> 16) >>> 0;
}

/** @param {number} color 0xAABBGGRR */
function colorText(color) {
  return `rgb(${color & 255} ${color >> 8 & 255} ${color >> 16 & 255})`;
}

/** The picture of the tracks. */
export class TimelinePainter {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    /** @private */
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    /** A pixel high for each line in sight. @private */
    this.lines = document.createElement("canvas");
    /** @private */
    this.linesContext = /** @type {CanvasRenderingContext2D} */ (this.lines.getContext("2d"));
    /** @private @type {ImageData | null} */
    this.pixels = null;
    /** @type {unknown[]} what the lines show */
    this.drawn = [];
    /** @private */
    this.labels = timelineLabels(6000);
    /** Widths of short names, NaN if not measured. @private */
    this.measured = new Float32Array(0);
    /** @private @type {string[]} */
    this.short = [];
    /** @private @type {import("./model.js").TimelineModel | null} */
    this.model = null;
    /** Colours by name: of all, and of those that do not match. @private */
    this.colors = { bright: new Uint32Array(0), dim: new Uint32Array(0) };
    /** @private @type {Map<string, string>} */
    this.ofKinds = new Map();
    this.readColors();
    /** @type {{x: number, y: number, range: number}[]} marks at the border that lead to a range */
    this.exits = [];
  }

  /** Reads the colours of the theme. */
  readColors() {
    const style = getComputedStyle(document.documentElement);
    /** @param {string} name */
    const color = (name) => colorNumber(style.getPropertyValue(name));
    this.ground = color("--bg");
    this.text = style.getPropertyValue("--text");
    this.onFill = style.getPropertyValue("--on-fill");
    this.quiet = style.getPropertyValue("--quiet");
    this.accent = style.getPropertyValue("--accent");
    this.line = style.getPropertyValue("--line");
    this.error = style.getPropertyValue("--error");
    this.match = color("--timeline-match");
    this.ofKinds.clear();
    const isDark = (this.ground & 255) < 128;
    const ground = this.ground;
    // Three shades of each kind tell neighbours apart. Texts on the darkest one can still be read.
    const shares = isDark ? [256, 230, 204] : [256, 218, 184];
    this.shades = timelineKinds.map(({ color: name }) => shares.map((share) =>
      timelineMix(color(name), isDark ? colorNumber("#000000") : ground, share)));
    this.model = null;
  }

  /**
   * @private
   * @param {string} kind of a part of a bar
   */
  colorOf(kind) {
    let color = this.ofKinds.get(kind);
    if (color === undefined) {
      color = getComputedStyle(document.documentElement).getPropertyValue(`--${kind}`);
      this.ofKinds.set(kind, color);
    }
    return color;
  }

  /** @private @param {import("./model.js").TimelineModel} model */
  prepare(model) {
    if (this.model === model) return;
    this.model = model;
    this.drawn = [];
    const count = model.names.length;
    this.measured = new Float32Array(count).fill(NaN);
    this.short = new Array(count);
    this.colors = { bright: new Uint32Array(count), dim: new Uint32Array(count) };
    for (let name = 0; name < count; name++) {
      const text = model.names[name];
      let hash = text.length;
      for (let i = Math.max(0, text.length - 24); i < text.length; i++) {
        hash = (hash * 31 + text.charCodeAt(i)) | 0;
      }
      const color = /** @type {number[][]} */ (this.shades)[model.kinds[name]][(hash >>> 3) % 3];
      this.colors.bright[name] = color;
      this.colors.dim[name] = timelineMix(color, this.ground ?? 0, 70);
    }
  }

  /** @param {TimelinePicture} picture */
  paint(picture) {
    const { canvas, context } = this;
    const scale = globalThis.devicePixelRatio || 1;
    const wide = Math.max(1, Math.round(picture.width * scale));
    const tall = Math.max(1, Math.round(picture.height * scale));
    if (canvas.width !== wide || canvas.height !== tall) {
      canvas.width = wide;
      canvas.height = tall;
      canvas.style.setProperty("width", `${picture.width}px`);
      canvas.style.setProperty("height", `${picture.height}px`);
    }
    this.prepare(picture.model);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = colorText(this.ground ?? 0);
    context.fillRect(0, 0, wide, tall);
    this.paintLines(picture, wide, scale);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.translate(0, -picture.top);
    this.paintSteps(picture);
    this.paintTexts(picture, scale);
    this.paintUnfinished(picture);
    const colors = { accent: this.accent ?? "", text: this.text ?? "", quiet: this.quiet ?? "",
                     ground: colorText(this.ground ?? 0) };
    timelinePaintCounters(context, picture, colors);
    timelinePaintMarks(context, picture, colors);
    timelinePaintIdle(context, picture, (kind) => this.colorOf(kind), this.onFill ?? "");
    this.paintSpan(picture);
    if (picture.hovered >= 0 && picture.hovered !== picture.selected) {
      this.outline(picture, picture.hovered, 1);
    }
    if (picture.selected >= 0) this.outline(picture, picture.selected, 2);
    this.paintFlows(picture);
    this.paintTogether(picture);
    timelinePaintNotes(context, picture, colors);
  }

  /**
   * The parts of one collective, joined where they begin.
   * @private
   * @param {TimelinePicture} picture
   */
  paintTogether(picture) {
    const { context } = this;
    const places = picture.together.flatMap((range) => this.place(picture, range) ?? []).sort((a, b) => a.y - b.y);
    if (places.length < 2) return;
    context.strokeStyle = this.text ?? "";
    context.setLineDash([4, 3]);
    context.lineWidth = 1.5;
    for (const side of [0, 1]) {
      context.beginPath();
      for (const { x, width, y, row } of places) {
        context.lineTo(x + side * width, y);
        context.lineTo(x + side * width, y + row);
      }
      context.stroke();
    }
    context.setLineDash([]);
    for (const range of picture.together) this.outline(picture, range, 2);
  }

  /**
   * @private
   * @param {TimelinePicture} picture
   * @param {number} wide pixels of the screen
   * @param {number} scale
   */
  paintLines(picture, wide, scale) {
    const { model, boxes, top, from, to, matches } = picture;
    const bottom = top + picture.height;
    /** @type {SeenLine[]} */
    const seen = [];
    for (let at = timelineBoxAt(boxes, top); at < boxes.length && boxes[at].top < bottom; at++) {
      const box = boxes[at];
      if (box.track < 0) continue;
      const first = Math.max(0, Math.floor((top - box.lines) / box.row));
      for (let row = first; row < box.rows && box.lines + row * box.row < bottom; row++) {
        seen.push({ lane: model.trackLane[box.track] + row, y: box.lines + row * box.row - top,
                    row: box.row });
      }
    }
    // The pointer and the selection change nothing here.
    const wanted = [model, matches, boxes, from, to, top, bottom, wide];
    const isNew = wanted.some((one, i) => one !== this.drawn[i]);
    this.drawn = wanted;
    if (seen.length === 0) this.labels.count = 0;
    else if (isNew) this.drawLines(picture, seen, wide, scale);
    this.context.imageSmoothingEnabled = false;
    seen.forEach(({ y, row }, line) => {
      const begins = Math.round(y * scale);
      const ends = Math.max(begins + 1, Math.round((y + row) * scale) - (row > 6 ? 1 : 0));
      this.context.drawImage(this.lines, 0, line, wide, 1, 0, begins, wide, ends - begins);
    });
    /** @private */
    this.seen = seen;
  }

  /**
   * @private
   * @param {TimelinePicture} picture
   * @param {SeenLine[]} seen
   * @param {number} wide
   * @param {number} scale
   */
  drawLines({ model, from, to, matches }, seen, wide, scale) {
    this.labels.count = 0;
    if (this.pixels === null || this.pixels.width !== wide || this.pixels.height < seen.length) {
      const room = Math.max(seen.length, 32);
      this.lines.width = wide;
      this.lines.height = room;
      this.pixels = new ImageData(wide, room);
    }
    const out = new Uint32Array(this.pixels.data.buffer);
    out.fill(this.ground ?? 0, 0, wide * seen.length);
    const step = (to - from) / wide;
    const colors = { names: matches ? this.colors.dim : this.colors.bright,
                     ground: this.ground ?? 0, least: 150 };
    this.labels.least = 24 * scale;
    seen.forEach(({ lane, row }, line) => {
      const low = model.laneFirst[lane];
      const high = model.laneFirst[lane + 1];
      timelineLine(model, low, high, from, step, wide, out, line * wide, colors,
                   row >= 11 ? this.labels : null, line);
      if (matches && matches.first[lane + 1] > matches.first[lane]) {
        timelineMarks(model, matches.list, matches.first[lane], matches.first[lane + 1], from, step,
                      wide, out, line * wide, this.match ?? 0);
      }
    });
    this.linesContext.putImageData(this.pixels, 0, 0, 0, 0, wide, seen.length);
  }

  /**
   * @private
   * @param {TimelinePicture} picture
   * @param {number} scale
   */
  paintTexts(picture, scale) {
    const { context, labels } = this;
    const { model, matches } = picture;
    context.textBaseline = "middle";
    let size = 0;
    for (let at = 0; at < labels.count; at++) {
      const { y, row } = /** @type {SeenLine[]} */ (this.seen)[labels.line[at]];
      const wanted = row >= 15 ? 11 : 9;
      if (size !== wanted) {
        size = wanted;
        context.font = `${size}px system-ui, sans-serif`;
      }
      const range = labels.range[at];
      const name = model.name[range];
      const left = labels.from[at] / scale;
      const room = labels.to[at] / scale - left - 7;
      if (room < 14) continue;
      const text = this.cut(model, name, room * 11 / size);
      if (text === "") continue;
      context.fillStyle = matches && matches.names[name] === 0 ? this.quiet ?? "" : this.onFill ?? "";
      context.fillText(text, left + 4, picture.top + y + row / 2, room + 3);
      const used = this.measured[name] * size / 11 + 10;
      if (row >= 15 && used + 52 < room) {
        context.globalAlpha = 0.7;
        context.fillText(formatValue(model.duration(range), "ns"), left + 4 + used,
                         picture.top + y + row / 2);
        context.globalAlpha = 1;
      }
    }
  }

  /**
   * The short name as far as there is room, by the mean width of its letters.
   * @private
   * @param {import("./model.js").TimelineModel} model
   * @param {number} name
   * @param {number} room
   */
  cut(model, name, room) {
    let text = this.short[name];
    if (text === undefined) {
      const { frame } = timelineKinds[model.kinds[name]];
      text = this.short[name] = stackShortName(model.names[name], frame).slice(0, 300);
      const { font } = this.context;
      this.context.font = "11px system-ui, sans-serif";
      this.measured[name] = this.context.measureText(text).width;
      this.context.font = font;
    }
    const width = this.measured[name];
    if (width <= room) return text;
    const { frame } = timelineKinds[model.kinds[name]];
    const bare = stackBareName(model.names[name], frame);
    const each = width / text.length;
    const shown = bare.length < text.length ? bare : text;
    const letters = Math.floor((room - 3) / each);
    if (letters >= shown.length) return shown;
    return letters < 3 ? "" : `${shown.slice(0, letters - 1)}\u2026`;
  }

  /**
   * Where a range is drawn; null if its track is hidden.
   * @param {TimelinePicture} picture
   * @param {number} range
   * @returns {{x: number, width: number, y: number, row: number} | null}
   */
  place(picture, range) {
    const { model, boxes, from, to, width } = picture;
    const lane = model.laneOf(range);
    const track = model.laneTrack[lane];
    const box = boxes[picture.at[track]];
    if (!box) return null;
    const scale = width / (to - from);
    const row = Math.min(lane - model.trackLane[track], box.rows - 1);
    return { x: (model.start[range] - from) * scale, width: model.duration(range) * scale,
             y: box.lines + row * box.row, row: box.row };
  }

  /**
   * @private
   * @param {TimelinePicture} picture
   * @param {number} range
   * @param {number} thick
   */
  outline(picture, range, thick) {
    const place = this.place(picture, range);
    if (place === null) return;
    const { x, width, y, row } = place;
    const left = Math.max(-4, x);
    const right = Math.min(picture.width + 4, Math.max(x + width, x + 3));
    if (right < 0 || left > picture.width) return;
    this.context.strokeStyle = this.text ?? "";
    this.context.lineWidth = thick;
    this.context.strokeRect(left + thick / 2, y + thick / 2 - (thick > 1 ? 1 : 0),
                            Math.max(1, right - left - thick), row - thick + (thick > 1 ? 1 : -1));
  }

  /** @private @param {TimelinePicture} picture */
  paintSteps(picture) {
    const { model, from, to, width, top, height } = picture;
    const scale = width / (to - from);
    if (model.source.steps.length * 3 > width) return;
    this.context.fillStyle = this.text ?? "";
    this.context.globalAlpha = 0.16;
    for (const { start_ns: start, end_ns: end } of model.source.steps) {
      for (const time of [start, end]) {
        if (time >= from && time <= to) {
          this.context.fillRect(Math.round((time - from) * scale), top, 1, height);
        }
      }
    }
    this.context.globalAlpha = 1;
  }

  /**
   * A notched edge where a range stops that did not end.
   * @private
   * @param {TimelinePicture} picture
   */
  paintUnfinished(picture) {
    const { context } = this;
    const { model, top, height, width } = picture;
    context.fillStyle = this.error ?? "";
    let marks = 2000; // more would be no picture
    for (const range of model.unfinished) {
      const place = this.place(picture, range);
      if (place === null) continue;
      const { x, width: wide, y, row } = place;
      const end = x + wide;
      if (end < 0 || end > width + 4 || y + row < top || y > top + height) continue;
      if (marks-- === 0) break;
      const size = Math.max(3, Math.min(row - 1, 8));
      context.fillRect(end - 2, y, 2, row - 1);
      context.beginPath();
      context.moveTo(end - 2, y);
      context.lineTo(end - 2 - size, y + (row - 1) / 2);
      context.lineTo(end - 2, y + row - 1);
      context.fill();
    }
  }

  /** @private @param {TimelinePicture} picture */
  paintSpan(picture) {
    if (picture.span === null) return;
    const scale = picture.width / (picture.to - picture.from);
    const [left, right] = picture.span.map((time) =>
      Math.max(-2, Math.min((time - picture.from) * scale, picture.width + 2)));
    const { context } = this;
    context.fillStyle = this.accent ?? "";
    context.globalAlpha = 0.13;
    context.fillRect(left, picture.top, right - left, picture.height);
    context.globalAlpha = 1;
    context.fillRect(left - 1, picture.top, 1, picture.height);
    context.fillRect(right, picture.top, 1, picture.height);
  }

  /** @private @param {TimelinePicture} picture */
  paintFlows(picture) {
    const { context } = this;
    const { width, top, height } = picture;
    this.exits = [];
    // More would be a black area; the panel counts them.
    for (const { from, to } of picture.flows.slice(0, 100)) {
      this.outline(picture, picture.selected === from ? to : from, 1);
      const a = this.place(picture, from);
      const b = this.place(picture, to);
      if (a === null || b === null) continue;
      const ends = [{ x: a.x + Math.min(a.width, 4) / 2, y: a.y + a.row / 2 },
                    { x: b.x, y: b.y + b.row / 2 }];
      const [begin, end] = ends.map(({ x, y }) => ({
        x: Math.max(8, Math.min(x, width - 8)), y: Math.max(top + 8, Math.min(y, top + height - 8)),
        isOut: x < 0 || x > width || y < top || y > top + height }));
      const bend = Math.max(24, Math.min(Math.abs(end.x - begin.x) / 2, 160));
      context.strokeStyle = context.fillStyle = this.text ?? "";
      context.lineWidth = 1.5;
      context.globalAlpha = 0.85;
      context.beginPath();
      context.moveTo(begin.x, begin.y);
      context.bezierCurveTo(begin.x + bend, begin.y, end.x - bend, end.y, end.x - 5, end.y);
      context.stroke();
      context.beginPath();
      context.moveTo(end.x + 1, end.y);
      context.lineTo(end.x - 7, end.y - 4);
      context.lineTo(end.x - 7, end.y + 4);
      context.fill();
      context.globalAlpha = 1;
      const far = picture.selected === from ? end : begin;
      if (!far.isOut) continue;
      context.beginPath();
      context.arc(far.x, far.y, 5, 0, 7);
      context.fillStyle = this.accent ?? "";
      context.fill();
      this.exits.push({ x: far.x, y: far.y - top, range: picture.selected === from ? to : from });
    }
  }
}
