// The timeline: what is in sight, what is selected, and how people move.
import { disable, copyAndSay, h, setVariable } from "../parts/dom.js";
import { countOf, formatValue } from "../parts/format.js";
import { onTheme } from "../parts/theme.js";
import { timelineFlush, timelineRead, timelineWrite } from "./address.js";
import { TimelineArrangement } from "./arrange.js";
import { timelineInput } from "./input.js";
import { timelineKeyed, timelineNeighbour } from "./keys.js";
import { timelineZoom } from "./layout.js";
import { TimelineModel } from "./model.js";
import { timelineNextMoment } from "./moments.js";
import { TimelineDock } from "./dock.js";
import { timelineGapsOf, timelineIdleOf } from "./idle.js";
import { timelineNoteField, timelineNoteList, timelineNotesText, timelineReadNotes, timelineWithNote } from "./notes.js";
import { TimelineOverview } from "./overview.js";
import { timelineRangePanel, timelineSpanPanel } from "./panel.js";
import { timelineFlows, timelineKey, timelineMatchNumber, timelineNext, timelineOfKey,
         timelineSearch } from "./queries.js";
import { TimelineRankChoice } from "./rank_choice.js";
import { TimelineScene, labelsWidth } from "./scene.js";
import { timelineMatcher, timelineSearchField } from "./search_field.js";
import { timelineSight } from "./sight.js";
import { TogetherModel } from "./together.js";
import { timelineTracksMenu } from "./tracks_menu.js";
import { timelineGapTip, timelineHelp, timelineLegend, timelineMomentText, timelineMomentTip,
         timelineNotes, timelineTip, timelineTrackName } from "./words.js";

/** @typedef {import("./model.js").TimelineDocument} ViewDocument */
/**
 * @typedef {import("../data/source.js").Page & {
 *   range?: Function, part?: (from: number, to: number) => Promise<any>}} TimelinePage
 */

/** Models of documents that were shown: another theme does not decode them again. */
const timelineModels = /** @type {WeakMap<object, TimelineModel>} */ (new WeakMap());
/** Until the table follows and a part is asked for, in ms. */
const tableAfter = 300;
const askAfter = 400;

/** @param {ViewDocument} source */
function modelOf(source) {
  let model = timelineModels.get(source);
  if (!model) timelineModels.set(source, model = new TimelineModel(source));
  return model;
}

/** The view. Its element is `element`. */
export class TimelineView extends TimelineScene {
  /**
   * @param {ViewDocument} source
   * @param {TimelinePage} page
   */
  constructor(source, page) {
    super(modelOf(source), new TimelineArrangement(page), page.trace);
    timelineFlush();
    this.page = page;
    /** Of the document that the page has; a part of it may be shown instead. */
    this.all = this.model;
    /** The same, or with other ranks. */
    this.base = this.model;
    /** The selection as the address has it: it may not be in the document. */
    this.selectedKey = "";
    this.pattern = "";
    this.timers = { table: 0, ask: 0 };
    /** Whether it has the height of the window. */
    this.isFilled = false;
    /** Gaps that the track of idle time does not have. */
    this.gapsLeftOut = 0;
    this.asked = 0;
    /** @type {{box: number, time: number} | null} the moment that keys read last */
    this.read = null;
    this.search = timelineSearchField((pattern) => this.find(pattern),
                                      (forward) => this.nextMatch(forward));
    this.panel = h("div", { class: "timeline-detail" });
    this.notes = h("div", { class: "notes" });
    this.noteList = h("div");
    /** Notes are of one trace; a page with several has them by its number. */
    this.notesKey = /^[1-9]\d*$/.test(page.trace) ? `notes${page.trace}` : "notes";
    this.spanNotes = timelineReadNotes(page.get(this.notesKey));
    this.tip = h("div", { class: "flame-tip is-hidden", "aria-hidden": true });
    this.sight = timelineSight((range) => this.select(range, "row"));
    /**
     * @param {string} text
     * @param {string} label
     * @param {() => void} act
     */
    const button = (text, label, act) => h("button", {
      type: "button", class: text.length === 1 ? "icon" : null, title: label,
      "aria-label": text.length === 1 ? label : null, onclick: act }, text);
    /** Without an effect while the whole trace is in sight. */
    this.outward = [button("\u2212", "Zoom out (s)", () => this.zoom(this.width / 2, 2)),
                    button("Whole trace", "The entire trace (e)", () => this.show(this.whole))];
    this.overview = new TimelineOverview((view) => {
      if (view.to > view.from) this.show(timelineZoom(view, (view.from + view.to) / 2, 1, this.whole));
    });
    this.dock = new TimelineDock(page, [
      { name: "details", title: "Details", element: this.panel },
      { name: "slices", title: "Visible slices", element: this.sight.element },
      { name: "notes", title: "Notes", element: this.noteList },
      { name: "about", title: "Limits", element: this.notes },
    ], timelineLegend(this.all), () => this.table());
    /** Of a job. */
    this.ranks = page.ranks ? new TimelineRankChoice({ page, all: this.all, modelOf,
      use: (model, matches) => this.useRanks(model, matches), addIdle: (idle) => {
        for (const [key, gaps] of idle) this.idle.set(key, gaps);
        this.place();
      } }) : null;
    this.menu = this.tracksMenu();
    this.element = h("div", { class: "timeline" },
      h("div", { class: "tools timeline-tools" }, this.search.elements,
        h("span", { class: "flame-space-between" }), this.outward[0],
        button("+", "Zoom in (w)", () => this.zoom(this.width / 2, 0.5)), this.outward[1],
        this.menu, timelineHelp(this.wheelSetting())),
      this.overview.element, this.frame, this.dock.element, this.tip);
    this.listen();
    if (page.has?.("gpu")) {
      page.view("gpu").then((view) => {
        for (const [key, gaps] of timelineIdleOf(view)) this.idle.set(key, gaps);
        this.gapsLeftOut = view.tables.find(({ name }) => name === "gaps")?.left_out ?? 0;
        this.tellNotes();
        this.fillPanel();
        this.place();
      }, () => {});  // the view itself says why it cannot be read
    }
    this.restore();
  }

  /** @private */
  tracksMenu() {
    const { source } = this.all;
    return timelineTracksMenu({
      arrangement: this.arrangement, changed: () => this.place(), ranks: this.ranks?.element ?? null,
      opened: () => this.ranks?.draw(), keys: () => this.usualOrder().map((id) => this.trackKey(id)),
      tracks: () => this.arranged().map((id) => ({ key: this.trackKey(id), group: this.groupOf(id),
        name: id < this.model.source.tracks.length ? timelineTrackName(this.model, id)
          : source.counters[id - this.model.source.tracks.length].name })),
    });
  }

  /**
   * @private
   * @param {TimelineModel} model the own one, or with other ranks
   * @param {import("./together.js").TogetherMatches | null} collectives
   */
  useRanks(model, collectives) {
    const wasWhole = this.isWhole();
    this.base = model;
    this.collectives = collectives;
    this.whole = { from: model.source.from_ns, to: Math.max(model.source.to_ns, model.source.from_ns + 1) };
    if (wasWhole) this.view = timelineZoom(this.whole, this.whole.from, 1, this.whole);
    this.setModel(model);
    this.moved();
    this.menu.dispatchEvent(new Event("tracks"));
  }

  /** @private */
  wheelSetting() {
    const box = /** @type {HTMLInputElement} */ (h("input", {
      type: "checkbox", checked: this.wheelZooms(),
      onchange: () => this.page.set("wheel", box.checked ? null : "scrolls"),
    }));
    return h("label", null, box, h("span", null, "The wheel zooms"));
  }

  wheelZooms() {
    return this.page.get("wheel") !== "scrolls";
  }

  /** @override */
  draw(isNew = false) {
    // What is selected is brought into sight by the height that there is.
    if (!this.isFilled && this.element.isConnected) this.fill();
    super.draw();
    const left = this.isNarrow() ? 0 : labelsWidth;
    if (this.width > 0) this.overview.show(this.all, this.whole, this.view, left, this.width, isNew);
  }

  /** As high as the window lets it be; a phone scrolls. */
  fill() {
    const top = this.element.getBoundingClientRect().top + scrollY;
    this.isFilled = true;
    setVariable(this.element, "--timeline", this.isNarrow() ? "auto" : `${Math.max(400, innerHeight - top - 10)}px`);
  }

  // ---- the address

  restore() {
    const shown = timelineRead(this.page);
    if (shown.view) {
      this.view = timelineZoom(shown.view, (shown.view.from + shown.view.to) / 2, 1, this.whole);
    }
    this.mark(shown.span);
    this.pattern = shown.find;
    this.search.field.value = shown.find;
    this.selectedKey = shown.range;
    this.tellNotes();
    this.listNotes();
    this.recompute();
    if (this.selected >= 0) {
      const range = this.selected;
      this.afterLayout = () => this.reveal(range);
    }
    this.table();
    this.ask();
  }

  write() {
    timelineWrite(this.page, () => this.element.isConnected, () => {
      return { view: this.isWhole() ? null : this.view, range: this.selectedKey, find: this.pattern,
               span: this.span };
    });
  }

  // ---- what is shown

  /** What depends on the model: the selection, the matches, the panel. */
  recompute() {
    const { model } = this;
    this.selected = timelineOfKey(model, this.selectedKey);
    this.point(-1);
    this.readFlows();
    this.matchNames();
    this.fillPanel();
    this.labels.clear();
    this.place();
  }

  readFlows() {
    const range = this.selected;
    this.flows = range < 0 ? [] : timelineFlows(this.model, range).flatMap(({ from, to }) => [
      ...from.map((other) => ({ from: other, to: range })),
      ...to.map((other) => ({ from: range, to: other }))]);
  }

  matchNames() {
    const matcher = this.pattern === "" ? null : timelineMatcher(this.pattern);
    this.matches = matcher ? timelineSearch(this.model, matcher) : null;
    this.tellMatches();
  }

  tellMatches() {
    this.search.tell(this.matches, this.matches !== null || this.pattern === "",
                     this.model,
                     timelineMatchNumber(this.model, this.matches, this.selected));
  }

  tellNotes() {
    const notes = timelineNotes(this.model.source, Boolean(this.page.part));
    if (this.gapsLeftOut > 0) {
      notes.push(`The track "idle: why" has the longest gaps; ${countOf(this.gapsLeftOut, "shorter one")} ${
        this.gapsLeftOut === 1 ? "is" : "are"} left out.`);
    }
    if (this.ranks) notes.push(...this.ranks.notes);
    this.dock.rename(3, notes.length ? `Limits (${notes.length})` : "Limits");
    this.notes.replaceChildren(...(notes.length ? notes : ["Nothing was left out."]).map((note) => h("p", null, note)));
  }

  /** The notes of people. */
  listNotes() {
    const { spanNotes: notes } = this;
    this.dock.rename(2, notes.length ? `Notes (${notes.length})` : "Notes");
    this.noteList.replaceChildren(timelineNoteList(notes, ({ from, to }) => {
      this.setSpan([from, to]);
      this.fit();
    }, () => {
      timelineFlush();
      copyAndSay(this.page, this.page.link?.() ?? "", "address is");
    }));
  }

  /**
   * @private
   * @param {[number, number]} span
   * @param {string} text
   */
  note(span, text) {
    const notes = timelineWithNote(this.spanNotes, span, text);
    if (notes === null) {
      this.page.say("The address has no room for more notes.");
      return;
    }
    this.spanNotes = notes;
    this.page.set(this.notesKey, timelineNotesText(notes));
    this.listNotes();
    this.fillPanel();
    this.soon();
  }

  fillPanel() {
    const { model, page, selected } = this;
    const panels = [];
    if (selected >= 0) {
      const together = this.collectivePanel(selected);
      if (together) panels.push(together);
      panels.push(timelineRangePanel(...this.shownAs(selected), {
        select: (range) => this.selectIn(selected, range), zoom: () => this.fitRange(selected),
        close: () => this.select(-1), find: (name) => this.find(`"${name}"`),
        same: (forward) => {
          const names = new Uint8Array(model.names.length);
          names[model.name[selected]] = 1;
          this.select(timelineNext(model, names, selected, forward));
        },
        copy: (text) => copyAndSay(page, text, "name is") },
      model instanceof TogetherModel ? ` on rank ${model.originOf(selected).part.rank}` : ""));
    } else if (this.selectedKey !== "") {
      panels.push(h("p", { class: "quiet" }, "The selected range is not among the ranges here: " +
        "it may be left out to limit the size."));
    }
    if (this.span) {
      const span = this.span;
      const own = this.spanNotes.find(({ from, to }) => from === span[0] && to === span[1]);
      panels.push(timelineNoteField(own?.text ?? "", (text) => this.note(span, text)), timelineSpanPanel(model, this.span, {
        zoom: () => this.fit(), close: () => this.setSpan(null),
        select: (range) => this.select(range), find: (name) => this.find(`"${name}"`) },
      timelineGapsOf(this.idle, this.span)));
    }
    const has = panels.length > 0;
    if (!has) {
      panels.push(h("p", { class: "quiet" }, "Click a slice for its details. Drag to pan, " +
        "wheel or w and s to zoom, Shift+drag to measure a span."));
    }
    this.panel.replaceChildren(...panels);
    this.dock.follow(has);
  }

  /**
   * A range of another rank is shown as in the timeline of that rank.
   * @private
   * @param {number} range
   * @returns {[TimelineModel, number, TimelinePage]}
   */
  shownAs(range) {
    const { model, page } = this;
    if (!(model instanceof TogetherModel)) return [model, range, page];
    const { part, range: inPart } = model.originOf(range);
    return inPart < 0 ? [model, range, page] : [part.model, inPart, page.of?.(part.name ?? page.trace) ?? page];
  }

  /**
   * A range that the details of another one name.
   * @private
   * @param {number} from
   * @param {number} range of the model that the details are of
   */
  selectIn(from, range) {
    const { model, page } = this;
    if (!(model instanceof TogetherModel)) {
      this.select(range);
      return;
    }
    const { part, range: inPart } = model.originOf(from);
    const here = inPart < 0 ? range : model.rangeHere(part, range);
    if (here >= 0) {
      this.select(here);
      return;
    }
    // What is not written yet must not replace what the other timeline shows.
    timelineFlush();
    page.of?.(part.name ?? page.trace).go("timeline", { range: timelineKey(part.model, range), from: null, to: null, span: null, ranks: null });
  }

  /**
   * The parts of the collective that a range is a part of.
   * @private
   * @param {number} range
   */
  collectivePanel(range) {
    const { model } = this;
    if (!(model instanceof TogetherModel)) return null;
    const { part, range: inPart } = model.originOf(range);
    const other = part === model.parts[0] ? null : h("p", { class: "quiet" }, `Of rank ${part.rank}.`,
      inPart < 0 ? "" : ` Here it starts at ${formatValue(model.start[range], "ns")}; below are times of its own recording.`);
    const found = this.collectives?.of(range);
    if (!found) return other;
    const parts = found.ranges.map((one) => ({ one, rank: model.originOf(one).part.rank })).sort((a, b) => model.start[a.one] - model.start[b.one]);
    const first = model.start[parts[0].one];
    return h("div", null, other, h("p", { class: "collective-parts" }, `One collective of ${countOf(found.members, "rank")}`,
      found.last < 0 ? ": " : `; rank ${found.last} arrived last. `,
      parts.map(({ one, rank }, at) => [at > 0 ? ", " : "", h("button", { type: "button", class: "link", onclick: () => this.select(one) },
        `rank ${rank}`), ` +${formatValue(model.start[one] - first, "ns")}`]).flat()));
  }

  moved() {
    this.hover(-1);
    this.leavePart();
    this.soon();
    this.write();
    this.table();
    this.ask();
  }

  /** The span or the selection fills the view; false without one. */
  fit() {
    if (this.span) {
      const rim = (this.span[1] - this.span[0]) * 0.03 || 5000;
      this.view = timelineZoom({ from: this.span[0] - rim, to: this.span[1] + rim },
                               this.span[0], 1, this.whole);
      this.moved();
    } else if (this.selected >= 0) {
      this.fitRange(this.selected);
    }
    return this.span !== null || this.selected >= 0;
  }

  // ---- parts of a trace that is too large for one document

  /** A part that does not cover what is in sight is worse than the whole. */
  leavePart() {
    const part = this.model.source.part;
    if (this.model === this.base || !part) return;
    if (part[0] <= Math.max(this.view.from, this.whole.from) &&
        part[1] >= Math.min(this.view.to, this.whole.to)) return;
    this.setModel(this.base);
  }

  /** @param {TimelineModel} model */
  setModel(model) {
    if (model === this.model) return;
    this.use(model);
    this.tellNotes();
    this.recompute();
    this.table();
  }

  ask() {
    const { page, view } = this;
    if (!page.part || this.all.source.left_out === 0 || this.base !== this.all) return;
    clearTimeout(this.timers.ask);
    const number = ++this.asked;
    const long = view.to - view.from;
    if (long > (this.whole.to - this.whole.from) * 0.8) return;
    if (this.model !== this.all && this.model.source.left_out === 0) return;
    this.timers.ask = window.setTimeout(async () => {
      if (!this.element.isConnected || number !== this.asked) return;
      try {
        const source = await page.part?.(Math.floor(view.from - long / 2),
                                         Math.ceil(view.to + long / 2));
        if (number !== this.asked || !source || !this.element.isConnected) return;
        this.setModel(new TimelineModel(source));
      } catch (error) {
        page.say(`The part could not be read: ${/** @type {Error} */ (error).message}`);
      }
    }, askAfter);
  }

  // ---- selecting

  /**
   * @param {number} range -1: none
   * @param {"" | "row"} [how] "row": the time in sight stays as it is
   */
  select(range, how = "") {
    const { model } = this;
    this.selected = range;
    this.selectedKey = range < 0 ? "" : timelineKey(model, range);
    this.readFlows();
    this.fillPanel();
    this.tellMatches();
    if (range >= 0) {
      const before = this.view;
      this.reveal(range);
      if (how === "" && before !== this.view) this.moved();
    }
    this.soon();
    this.write();
  }

  /** @param {[number, number] | null} span */
  setSpan(span) {
    this.mark(span);
    this.fillPanel();
    this.write();
  }

  /** @param {string} pattern */
  find(pattern) {
    this.pattern = pattern;
    this.search.field.value = pattern;
    this.matchNames();
    this.soon();
    this.write();
  }

  /** @param {boolean} forward */
  nextMatch(forward) {
    if (!this.matches || this.matches.count === 0) return;
    this.select(timelineNext(this.model, this.matches.names, this.selected, forward));
  }

  isWhole() {
    return this.view.from <= this.whole.from && this.view.to >= this.whole.to;
  }

  /** The table follows when people stop moving. */
  table() {
    for (const one of this.outward) disable(one, this.isWhole());
    clearTimeout(this.timers.table);
    if (this.dock.open !== "slices") return;
    this.timers.table = window.setTimeout(() => {
      this.sight.show(this.model, this.view.from, this.view.to, (track) => this.order.includes(track));
    }, tableAfter);
  }

  /**
   * @param {number} range
   * @param {MouseEvent | null} [event]
   */
  hover(range, event = null) {
    this.point(range);
    this.canvas.classList.toggle("is-pointing", range >= 0);
    this.tip.classList.toggle("is-hidden", range < 0);
    if (range < 0 || event === null) return;
    this.showTip(timelineTip(this.model, range), event);
  }

  /**
   * @param {import("./moments.js").TimelineMomentPlace | null} place
   * @param {{clientX: number, clientY: number}} event
   */
  hoverMoment(place, event) {
    this.tip.classList.toggle("is-hidden", place === null);
    if (place !== null) this.showTip(timelineMomentTip(this.model, place), event);
  }

  /**
   * Keys on the name of a track or counter: the next moment after the one that was read.
   * @param {number} place
   * @param {boolean} forward
   */
  step(place, forward) {
    const { source } = this.model;
    const box = this.layout.boxes[this.layout.at[place]];
    const [low, high] = [source.from_ns, source.to_ns];
    if (timelineNextMoment(source, box, -Infinity, true) === null) return false;
    const { view, read } = this;
    // From what was read last, or from the border of what is in sight.
    const isIn = read !== null && read.box === place && read.time >= view.from &&
      read.time <= view.to;
    const from = isIn ? read.time : forward ? view.from - 1 : view.to + 1;
    const time = timelineNextMoment(source, box, from, forward);
    if (time === null || time < low || time > high) return true;
    this.read = { box: place, time };
    const long = this.view.to - this.view.from;
    if (time < this.view.from || time > this.view.to) {
      this.show({ from: time - long / 2, to: time + long / 2 });
    }
    this.pointAt(time);
    const x = (time - this.view.from) * this.width / (this.view.to - this.view.from);
    const { left, top } = this.canvas.getBoundingClientRect();
    const found = this.momentOf(box, time);
    this.hoverMoment(found, { clientX: left + x, clientY: top + box.lines - this.board.scrollTop });
    if (found) this.page.say(timelineMomentText(this.model, found));
    return true;
  }

  /**
   * @private
   * @param {Element[]} parts
   * @param {{clientX: number, clientY: number}} event
   */
  showTip(parts, event) {
    this.tip.replaceChildren(...parts);
    const { offsetWidth: wide, offsetHeight: tall } = this.tip;
    const top = event.clientY + 18 + tall > innerHeight ? event.clientY - tall - 10
      : event.clientY + 18;
    setVariable(this.tip, "left",
                `${Math.max(4, Math.min(event.clientX + 14, innerWidth - wide - 8))}px`);
    setVariable(this.tip, "top", `${Math.max(4, top)}px`);
  }

  // ---- hands

  listen() {
    const shared = {
      wheelZooms: () => this.wheelZooms(),
      zoom: (/** @type {number} */ x, /** @type {number} */ factor) => this.zoom(x, factor),
      pan: (/** @type {number} */ x, /** @type {number} */ y) => this.pan(x, y),
      span: (/** @type {number} */ from, /** @type {number} */ to, /** @type {boolean} */ isLast) => {
        const times = [from, to].map((x) => Math.round(this.timeAt(x))).sort((a, b) => a - b);
        this.mark(times[1] > times[0] ? [times[0], times[1]] : null);
        if (isLast) this.setSpan(this.span);
      },
    };
    timelineInput(this.canvas, false, {
      ...shared,
      click: (x, y) => {
        const gap = this.gapAt(x, y);
        if (gap !== null) {
          this.selected = -1;
          this.selectedKey = "";
          this.readFlows();
          this.setSpan([gap.start, gap.end]);
          return;
        }
        const exit = this.painter.exits.find((one) => Math.hypot(one.x - x, one.y - y) < 10);
        this.hover(-1);
        this.select(exit ? exit.range : this.hit(x, y));
      },
      twice: (x, y) => {
        const range = this.hit(x, y);
        if (range >= 0) this.fitRange(range);
      },
      hover: (x, y, event) => {
        this.pointAt(event === null ? null : this.timeAt(x));
        const moment = event === null ? null : this.momentAt(x, y);
        const gap = event === null ? null : this.gapAt(x, y);
        this.hover(event === null || moment !== null || gap !== null ? -1 : this.hit(x, y), event);
        if (event !== null && moment !== null) this.hoverMoment(moment, event);
        else if (event !== null && gap !== null) {
          this.tip.classList.remove("is-hidden");
          this.showTip(timelineGapTip(this.model, gap), event);
        }
      },
    });
    timelineInput(this.axis, true, {
      ...shared, click: () => this.setSpan(null), twice: () => this.show(this.whole),
      hover: (x, _, event) => {
        this.pointAt(event === null ? null : this.timeAt(x));
      },
    });
    this.board.addEventListener("scroll", () => {
      this.hover(-1);
      this.soon();
    }, { passive: true });
    this.element.addEventListener("keydown", (event) => this.key(event));
    // What the keys of a counter's name show.
    const hide = () => this.tip.classList.add("is-hidden");
    this.board.addEventListener("focusout", hide);
    this.board.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hide();
    });
    const outside = (/** @type {KeyboardEvent} */ event) => {
      if (!this.element.isConnected) {
        document.removeEventListener("keydown", outside);
        return;
      }
      const target = /** @type {HTMLElement} */ (event.target);
      // Without the focus elsewhere the letters are the timeline's.
      if (!event.defaultPrevented && /^[wasdfe]$/i.test(event.key) &&
          (target === document.body || /^(H1|MAIN)$/.test(target.tagName))) this.key(event);
    };
    document.addEventListener("keydown", outside);
    new ResizeObserver(() => {
      this.fill();
      this.place();
    }).observe(this.board);
    const resized = () => {
      if (this.element.isConnected) this.fill();
      else removeEventListener("resize", resized);
    };
    addEventListener("resize", resized);
    onTheme(this.element, () => {
      this.painter.readColors();
      this.draw(true);
    });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const isMine = timelineKeyed(event, {
      zoom: (factor) => this.zoom(this.pointerX(), factor),
      pan: (share) => this.pan(this.width * share, 0),
      all: () => this.show(this.whole),
      fit: () => this.fit(),
      clear: () => {
        if (this.span) this.setSpan(null);
        else if (this.selectedKey) this.select(-1);
        else if (this.pattern) this.find("");
        else return false;
        return true;
      },
      search: () => {
        this.search.field.focus();
        this.search.field.select();
      },
      arrow: (key) => {
        if (this.selected < 0) return false;
        const next = timelineNeighbour(this.model, this.selected, key, this.view);
        if (next >= 0) this.select(next);
        return true;
      },
    });
    if (!isMine) return;
    event.preventDefault();
    event.stopPropagation();
  }
}
