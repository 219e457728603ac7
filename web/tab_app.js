// The page of the TensorBoard tab: one trace of the log directory, or two side by side.
import { h, copyText } from "./parts/dom.js";
import { countOf } from "./parts/format.js";
import { emptyBox } from "./parts/empty.js";
import { failureBox } from "./parts/trace_column.js";
import { CompareColumn } from "./compare/column.js";
import { RanksColumn } from "./ranks/column.js";
import { jobOfPage, rankRows } from "./ranks/document.js";
import { RunList, jobMark } from "./data/runs.js";
import { App } from "./app.js";
import { TraceChooser, newTraces, runLabel } from "./tab_chooser.js";
import { emptyPage } from "./tab_empty.js";
import { TabTraceColumn, sqlView } from "./tab_sql.js";
import { linkDialog, problemsDialog } from "./tab_dialogs.js";
import { listenToReload, listenToTheme, themeAround } from "./tab_parent.js";

/** @typedef {import("./data/runs.js").RunsAnswer} TabRuns */

/** How long until the log directory is asked for again, in milliseconds. */
const whileIncomplete = 1000;
const whileEmpty = 3000;
const afterReload = 2500;
/** The view of two traces. */
const compareView = { name: "compare", title: "Compare" };
/** The view of a run with several workers. */
const ranksView = { name: "ranks", title: "Ranks" };
/** State that means the same for another trace; what is selected or in sight does not. */
const ofAnyTrace = /\.(sort|order|search|find|columns|table|parts|stack)$/;

export class TabApp extends App {
  /**
   * @param {import("./data/http_source.js").HttpSource} source
   * @param {import("./parts/state.js").AddressState} state
   * @param {HTMLElement} root
   * @param {Window | null} around TensorBoard's window
   */
  constructor(source, state, root, around) {
    super(source, state, root);
    /** @private */
    this.server = source;
    /** @private */
    this.around = around;
    /** @private @type {RunList | null} */
    this.runs = null;
    /** @private */
    this.timer = 0;
    /** @private */
    this.lateTimer = 0;
    /** Which question for the runs is the latest. @private */
    this.asking = 0;
    /** @private */
    this.isOpen = false;
    /** Why views of a trace have no data. @private @type {Map<string, {[view: string]: string}>} */
    this.empty = new Map();
    this.columns = [new TabTraceColumn(this, "", "", source, (trace) => this.askEmpty(trace))];
    const beside = new TabTraceColumn(this, "b.", "Trace B", source, () => {});
    /** @private @type {import("./parts/trace_column.js").TraceColumn[]} */
    this.both = [this.columns[0], beside];
    /** What changed from the first one to the second one. @private */
    this.comparison = new CompareColumn(this, (signal) =>
      this.server.comparison(this.traceOf(0) ?? "", this.traceOf(1) ?? "", signal));
    this.comparison.bar = h("div", { class: "both-bars" });
    /** All ranks of the job that the first trace is of. @private */
    this.ranks = new RanksColumn(this, (signal) => {
      const trace = this.traceOf(0);
      return this.server.ranks(trace ?? "", jobMark(this.runs?.jobOf(trace) ?? []), signal);
    }, (ranks) => this.timelines(ranks));
    this.ranks.bar = h("div", { class: "both-bars" });
    /**
     * Views of one trace.
     * @private
     * @type {{name: string, title: string}[]}
     */
    this.ownViews = [];
    /** @private */
    this.choosers = this.both.map((_, number) => new TraceChooser((trace) => this.choose(number, trace)));
    /** The view that a comparison was opened from. @private @type {string | null} */
    this.viewBefore = null;
    /** What each column shows: of another one it is drawn again. @private */
    this.drawnTraces = ["", ""];
    /** @private */
    this.note = h("span", { class: "quiet", role: "status" });
    /** @private */
    this.problems = h("button", { type: "button", class: "warn",
                                  onclick: () => this.showProblems() });
    /** @private */
    this.compare = h("button", { type: "button", title: "Show a second trace beside this one",
                                 onclick: () => this.openBeside() }, "Compare");
    /** @private */
    this.whatChanged = h("button", { type: "button", title: "What changed from this trace to the other one",
                                     onclick: () => this.openComparison() }, "What changed?");
    this.both[0].bar = h("div", { class: "bar" }, this.choosers[0].element,
      h("span", { class: "space" }), this.note, this.problems, this.compare, this.whatChanged,
      h("button", { type: "button", title: "Copy the address of what you see",
                    onclick: () => this.copyLink() }, "Copy link"),
      h("button", { type: "button", class: "icon", title: "Shortcuts (?)", "aria-label": "Help",
                    onclick: () => this.help?.showModal() }, "?"));
    beside.bar = h("div", { class: "bar" }, this.choosers[1].element,
      h("span", { class: "space" }),
      h("button", { type: "button", class: "icon", "aria-label": "Close trace B",
                    title: "Close this trace", onclick: () => this.closeBeside() }, "\u00d7"));
  }

  /** @returns {Promise<void>} */
  async start() {
    this.showTheme();
    document.documentElement.lang = "en";
    document.title = "tbtrace";
    this.server.useVersions((trace) => this.runs?.place(trace)?.window.version ?? null);
    listenToTheme(this.around, () => this.showTheme());
    document.addEventListener("pointerover", (event) => this.mendLink(event), true);
    // Somebody who opened a link has the keys at once; somebody who goes through tabs keeps them.
    if (this.around?.document.activeElement === this.around?.document.body) window.focus();
    await this.ask();
    listenToReload(() => {
      this.ask();
      // A large log directory takes longer than the server waits before it answers.
      clearTimeout(this.lateTimer);
      this.lateTimer = window.setTimeout(() => this.ask(), afterReload);
    });
  }

  /** @override */
  theme() {
    return themeAround(this.around);
  }

  /** @override */
  switchTheme() {}  // TensorBoard has the theme

  /** @override */
  title() {
    const place = this.runs?.place(this.traceOf(0));
    return place ? runLabel(place.run.name) : "tbtrace";
  }

  /** @override */
  addressOf(/** @type {string} */ view) {
    return this.state.link({ view, trace: this.traceOf(0), beside: this.traceOf(1) });
  }

  /**
   * Asks for the runs, and goes on as long as the answer will change by itself.
   * @private
   * @returns {Promise<void>}
   */
  async ask() {
    const number = ++this.asking;
    clearTimeout(this.timer);
    const timer = setTimeout(() => {
      if (!this.isOpen) this.root.replaceChildren(
        h("main", null, h("p", { class: "loading", role: "status" }, "Asking TensorBoard \u2026")));
    }, 300);
    try {
      const answer = await this.server.runs();
      if (number === this.asking) this.take(answer);
    } catch (error) {
      if (number === this.asking) this.fail(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * @private
   * @param {number} wait in milliseconds
   */
  askLater(wait) {
    this.timer = window.setTimeout(() => {
      // A tab that nobody sees has no height.
      if (document.hidden || innerHeight === 0) this.askLater(wait);
      else this.ask();
    }, wait);
  }

  /**
   * @private
   * @param {unknown} error
   */
  fail(error) {
    if (this.isOpen && this.runs?.runs.length) {
      this.say(error instanceof Error ? error.message : String(error));
      return;
    }
    this.isOpen = false;
    this.root.replaceChildren(h("main", null, failureBox(error, () => this.ask())));
  }

  /**
   * @private
   * @param {TabRuns} answer
   */
  take(answer) {
    const before = this.runs;
    const runs = this.runs = new RunList(answer);
    this.ownViews = [...answer.views, sqlView];
    this.chooseViews();
    if (!runs.isComplete) this.askLater(whileIncomplete);
    else if (!runs.runs.length) this.askLater(whileEmpty);
    this.chooseNewest();
    if (!this.isOpen) {
      this.isOpen = true;
      this.open(answer.version, false, null);
      return;
    }
    this.updateBars();
    const news = before && newTraces(before, runs);
    if (news) this.say(news);
    if (this.isCompared() || this.isOfJob()) {
      if (this.both.some((_, number) => this.drawnTraces[number] !== this.drawnTrace(number))) this.draw();
      return;
    }
    this.columns.forEach((/** @type {import("./parts/trace_column.js").TraceColumn} */ column, /** @type {number} */ number) => {
      if (this.drawnTraces[number] !== this.drawnTrace(number)) this.drawColumn(column);
    });
  }

  /** An address without a trace means the newest one, also after it was changed by hand. @private */
  chooseNewest() {
    if (this.runs?.isComplete && !this.traceOf(0)) this.state.change({ trace: this.runs.newest() });
  }

  /** Two traces can be compared, and workers of a run seen as one job. @private */
  chooseViews() {
    const isJob = (this.runs?.jobOf(this.traceOf(0)).length ?? 0) > 1 && this.traceOf(1) === null;
    this.views = [...isJob ? [ranksView] : [], ...this.ownViews,
                  ...this.traceOf(1) === null ? [] : [compareView]];
  }

  /** @override All ranks are read only if somebody asks for them. */
  viewName() {
    const name = this.state.get("view");
    return this.views.some((view) => view.name === name) ? String(name) : this.ownViews[0]?.name ?? "";
  }

  /** @private */
  isOfJob() {
    return this.viewName() === "ranks";
  }

  /**
   * Where the timelines of ranks are.
   * @private
   * @param {import("./ranks/document.js").Ranks} ranks
   * @returns {import("./ranks/view.js").RankTraces}
   */
  timelines(ranks) {
    const inputs = new Map(rankRows(ranks).map(({ rank, input }) => [rank, String(input)]));
    return {
      hasAny: true,
      placeOf: (trace) => {
        const rank = [...inputs].find(([, input]) => input === trace)?.[0];
        return rank === undefined ? null : { rank, start_ns: 0 };
      },
      find: (rank, start_ns) => {
        const trace = inputs.get(rank);
        return trace !== undefined && this.runs?.place(trace) ? { trace, start_ns } : null;
      },
      open: (trace, params) => this.go(this.both[0], "timeline", params, { trace }),
    };
  }

  /**
   * Views without data become grey once it is known: the server makes all of them for it.
   * @private
   * @param {string} trace
   */
  async askEmpty(trace) {
    if (this.empty.has(trace)) return;
    this.empty.set(trace, {});
    try {
      this.empty.set(trace, await this.server.empty(trace));
      if (this.traceOf(0) === trace) this.drawNavigation();
    } catch {
      this.empty.delete(trace);  // the views themselves say what is wrong
    }
  }

  /** @private */
  isCompared() {
    return this.traceOf(1) !== null && this.viewName() === "compare";
  }

  /**
   * @private
   * @param {import("./parts/trace_column.js").TraceColumn} column
   */
  drawColumn(column) {
    this.drawnTraces[this.both.indexOf(column)] = this.drawnTrace(this.both.indexOf(column));
    column.draw();
  }

  /**
   * @private
   * @param {number} number of the column
   * @returns {string | null}
   */
  traceOf(number) {
    return this.state.get(number === 0 ? "trace" : "beside");
  }

  /**
   * What makes a column's drawing another one.
   * @private
   * @param {number} number of the column
   */
  drawnTrace(number) {
    const trace = this.traceOf(number);
    const version = this.runs?.place(trace)?.window.version;
    return JSON.stringify([trace, version ?? [this.runs?.isComplete, this.runs?.runs.length,
                                              this.runs?.problems]]);
  }

  /**
   * @override
   * @param {import("./parts/trace_column.js").TraceColumn} column
   * @returns {import("./parts/trace_column.js").ChosenTrace | HTMLElement}
   */
  chosen(column) {
    if (column === this.comparison) return this.chosenSides();
    if (column === this.ranks) {
      const chosen = this.chosen(this.both[0]);
      return chosen instanceof HTMLElement ? chosen : { ...chosen, view: "ranks", title: "Ranks" };
    }
    const { runs } = this;
    const trace = this.traceOf(this.both.indexOf(column));
    const place = runs?.place(trace);
    if (runs && place) {
      return {
        trace: place.window.trace, input: `${runs.logdir.replace(/\/$/, "")}/${place.window.trace}`,
        view: this.viewName(), title: this.viewTitle(), has: () => true, hasOf: () => true,
        why: (one) => this.empty.get(String(trace))?.[one] ?? null,
        ranks: this.traceOf(1) !== null || runs.jobOf(trace).length < 2 ? undefined
          : () => this.server.ranks(String(trace), jobMark(runs.jobOf(trace))).then((ranks) => jobOfPage(ranks, this.timelines(ranks))),
      };
    }
    if (!runs?.isComplete) {
      return h("p", { class: "loading", role: "status" }, "Looking through the log directory \u2026");
    }
    if (!runs.runs.length) return emptyPage(runs.logdir, runs.problems);
    const box = emptyBox(`The log directory does not have ${trace} any more. Choose another trace.`,
                         "This trace is gone");
    const number = this.both.indexOf(column);
    box.append(h("button", { type: "button", onclick: () => this.choose(number, runs.newest() ?? "") },
                 "Show the newest trace"));
    return box;
  }

  /**
   * Both traces, or why one of them cannot be shown.
   * @private
   * @returns {import("./parts/trace_column.js").ChosenTrace | HTMLElement}
   */
  chosenSides() {
    const base = this.chosen(this.both[0]);
    const now = this.chosen(this.both[1]);
    if (base instanceof HTMLElement) return base;
    return now instanceof HTMLElement ? now : { ...base, view: "compare", title: "Compare" };
  }

  /** @private */
  updateBars() {
    const { runs } = this;
    if (!runs) return;
    this.root.classList.toggle("no-trace", runs.isComplete && !runs.runs.length);
    this.choosers.forEach((chooser, number) => chooser.update(runs, this.traceOf(number)));
    this.note.textContent = runs.isComplete ? "" : "Looking through the log directory \u2026";
    const isBeside = this.traceOf(1) !== null;
    this.problems.hidden = !runs.problems.length || isBeside;
    this.problems.textContent = countOf(runs.problems.length, "problem");
    this.compare.hidden = isBeside || runs.places.size < 2;
    this.whatChanged.hidden = !isBeside || this.isCompared();
  }

  /** @override */
  async draw(/** @type {import("./parts/trace_column.js").TraceColumn | undefined} */ focus) {
    this.chooseNewest();
    this.chooseViews();
    if (this.isCompared()) {
      this.show([this.comparison]);
      this.comparison.bar?.replaceChildren(...this.both.flatMap(({ bar }) => bar ?? []));
      for (const column of [...this.both, this.ranks]) column.stop();
    } else if (this.isOfJob()) {
      this.show([this.ranks]);
      this.ranks.bar?.replaceChildren(...this.both[0].bar ? [this.both[0].bar] : []);
      for (const column of [...this.both, this.comparison]) column.stop();
    } else {
      this.show(this.traceOf(1) === null ? [this.both[0]] : this.both);
      this.comparison.stop();
      this.ranks.stop();
      if (this.columns.length === 1) this.both[1].stop();
    }
    this.updateBars();
    this.drawnTraces = [this.drawnTrace(0), this.drawnTrace(1)];
    await super.draw(focus);
  }

  /**
   * @private
   * @param {number} number of the column
   * @param {string} trace
   */
  choose(number, trace) {
    /** @type {{[key: string]: string | null}} */
    const changes = { [number === 0 ? "trace" : "beside"]: trace };
    for (const key of Object.keys(this.state.all())) {
      const isOfColumn = key.startsWith("b.") === (number === 1) || key.startsWith("compare.");
      if (key.includes(".") && isOfColumn && !ofAnyTrace.test(key)) {
        changes[key] = null;
      }
    }
    this.state.change(changes, true);
    this.chooseViews();
    this.updateBars();
    this.drawNavigation();
    if (this.isCompared() || this.columns.includes(/** @type {any} */ (this.ranks))) this.draw();
    else this.drawColumn(this.both[number]);
  }

  /**
   * The second trace begins with the order and the search of the first one. What is zoomed or
   * selected there is not in the second one.
   * @private
   */
  async openBeside() {
    /** @type {{[key: string]: string | null}} */
    const changes = { beside: this.runs?.beside(this.traceOf(0) ?? "") ?? null };
    for (const [key, value] of Object.entries(this.state.all())) {
      if (ofAnyTrace.test(key)) changes[`b.${key}`] = value;
    }
    this.state.change(changes, true);
    await this.draw();
    const { element } = this.both[1];
    // Where it is narrow it is below the first one.
    if (element.getBoundingClientRect().top > innerHeight / 2) element.scrollIntoView();
  }

  /** Compares the earlier of two windows of a worker with the later one. @private */
  openComparison() {
    const [now, other] = [this.traceOf(0), this.traceOf(1)];
    const place = this.runs?.place(now), before = this.runs?.place(other);
    const isLater = place && before && place.worker === before.worker && place.number > before.number;
    const view = this.viewName();
    this.viewBefore = view;
    this.go(this.columns[0], "compare", {}, isLater ? { trace: other, beside: now } : {});
  }

  /** @private */
  closeBeside() {
    /** @type {{[key: string]: string | null}} */
    const changes = { beside: null, ...this.isCompared() ? { view: this.viewBefore } : {} };
    for (const key of Object.keys(this.state.all())) {
      if (key.startsWith("b.")) changes[key] = null;
    }
    this.state.change(changes, true);
    this.draw();
    this.compare.focus();
  }

  /** @private */
  async copyLink() {
    const link = this.state.link();
    if (await copyText(link)) this.say("The link is on the clipboard.");
    else linkDialog(link);
  }

  /** @private */
  showProblems() {
    if (this.runs) problemsDialog(this.runs.problems, this.runs.logdir);
  }

  /**
   * Links between views lead to an address within the frame: that of the page around is meant.
   * @private
   * @param {Event} event
   */
  mendLink(event) {
    const link = /** @type {Element} */ (event.target).closest("a[href^='#view=']");
    const view = link?.getAttribute("href")?.slice("#view=".length);
    if (link && view) link.setAttribute("href", this.addressOf(view));
  }
}
