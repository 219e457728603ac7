// The entry of the page in a file.
import { h } from "./parts/dom.js";
import { emptyBox } from "./parts/empty.js";
import { AddressState } from "./parts/state.js";
import { failureBox } from "./parts/trace_column.js";
import { EmbeddedSource } from "./data/source.js";
import { jobOfPage, readRanks } from "./ranks/document.js";
import { RanksColumn } from "./ranks/column.js";
import { App } from "./app.js";

/** @typedef {import("./data/source.js").ReportIndex} Index */

/** The page with its own theme, and a field that chooses the trace if it has several. */
class ReportApp extends App {
  /**
   * @param {EmbeddedSource} source
   * @param {AddressState} state
   * @param {HTMLElement} root
   */
  constructor(source, state, root) {
    super(source, state, root);
    /** @private */
    this.embedded = source;
    /** @private @type {Index | null} */
    this.index = null;
    /** @private @type {HTMLSelectElement | null} */
    this.chooser = null;
    /** @private */
    this.ofTrace = this.columns;
    /** @private */
    this.ofJob = [new RanksColumn(this, () => source.section("job-ranks", readRanks), () => this.timelines())];
  }

  /** @returns {Promise<void>} */
  async start() {
    this.showTheme();
    try {
      this.index = await this.embedded.index();
    } catch (error) {
      this.root.replaceChildren(h("main", null, failureBox(error)));
      return;
    }
    this.views = this.index.views;
    document.title = this.index.title;
    await this.open(this.index.version, true, this.header(this.choose(this.index)));
  }

  /** @override */
  title() {
    return this.index?.title ?? "";
  }

  /**
   * @private
   * @param {Index} index
   * @returns {HTMLElement | null} what chooses the trace
   */
  choose({ traces }) {
    if (traces.length < 2) return null;
    return this.chooser = /** @type {HTMLSelectElement} */ (h("select", {
      "aria-label": "Trace", onchange: () => {
        // The view of the job is not of a trace.
        const view = this.viewName() === "ranks" ? this.views[1]?.name ?? "ranks" : this.viewName();
        this.state.change({ trace: this.chooser?.value ?? "0", view }, true);
        this.draw();
      },
    }, traces.map((trace, number) => h("option", { value: number }, this.traceLabel(trace)))));
  }

  /**
   * @private
   * @param {import("./data/source.js").IndexTrace} trace
   */
  traceLabel(trace) {
    const rank = trace.job_rank ?? trace.rank;
    return (rank === null || rank === undefined ? trace.name : `rank ${rank}: ${trace.name}`) +
      (this.isLeftOut(trace) ? " (left out)" : "");
  }

  /**
   * @private
   * @param {import("./data/source.js").IndexTrace} trace
   */
  isLeftOut(trace) {
    return Boolean(this.index?.job) && this.views.length > 1 && Object.keys(trace.sections).length === 0;
  }

  /**
   * Where the timelines of ranks are.
   * @private
   * @returns {import("./ranks/view.js").RankTraces}
   */
  timelines() {
    const traces = (this.index?.traces ?? []).map((trace, number) => ({ ...trace, number }))
      .filter(({ sections }) => "timeline" in sections);
    return {
      hasAny: traces.length > 0,
      placeOf: (trace) => {
        const own = this.index?.traces[Number(trace)];
        return own?.job_rank === undefined ? null : { rank: own.job_rank, start_ns: own.job_start_ns ?? 0 };
      },
      find: (rank, start) => {
        const own = traces.filter((trace) => trace.job_rank === rank && (trace.job_start_ns ?? 0) <= start)
          .sort((a, b) => (b.job_start_ns ?? 0) - (a.job_start_ns ?? 0))[0];
        return own ? { trace: String(own.number), start_ns: start - (own.job_start_ns ?? 0) } : null;
      },
      open: (trace, params) => this.go(this.ofTrace[0], "timeline", params, { trace }),
    };
  }

  /** @private */
  traceNumber() {
    const traces = this.index?.traces ?? [];
    const wanted = Number(this.state.get("trace") ?? NaN);
    return Number.isInteger(wanted) && wanted >= 0 && wanted < traces.length ? wanted : this.index?.first_trace ?? 0;
  }

  /**
   * At first one that the input has: a memory snapshot beside a trace has no summary.
   * @override
   */
  viewName() {
    const name = super.viewName();
    const sections = this.index?.traces[this.traceNumber()]?.sections ?? {};
    if (this.state.get("view") || name === "ranks" || name in sections) return name;
    return this.views.find((view) => view.name in sections)?.name ?? name;
  }

  /** @override */
  chosen() {
    const traces = this.index?.traces ?? [];
    const number = this.traceNumber();
    const trace = traces[number];
    if (!trace) return emptyBox("The page has no trace.");
    const view = this.viewName();
    if (view !== "ranks" && this.isLeftOut(trace)) {
      return emptyBox(`The views of ${this.traceLabel(trace)} did not fit into the size of the page. Make it again with a larger --limit, or with this trace alone.`);
    }
    return {
      trace: String(number), input: view === "ranks" ? "job" : trace.name, view, title: this.viewTitle(),
      has: (/** @type {string} */ one) => one in trace.sections || (one === "ranks" && Boolean(this.index?.job)),
      job: this.index?.job ? () => this.embedded.section("job-ranks", readRanks).then(({ sentences }) => sentences) : undefined,
      ranks: this.index?.job && trace.job_rank !== undefined
        ? () => this.embedded.section("job-ranks", readRanks).then((ranks) => jobOfPage(ranks, this.timelines())) : undefined,
      hasOf: (/** @type {string} */ other, /** @type {string} */ one) => one in (traces[Number(other)]?.sections ?? {}),
      why: (/** @type {string} */ one) => trace.empty?.[one] ?? null,
    };
  }

  /** @override */
  async draw(/** @type {import("./parts/trace_column.js").TraceColumn | undefined} */ focus) {
    const isJob = this.viewName() === "ranks";
    for (const column of isJob ? this.ofTrace : this.ofJob) column.stop();
    this.show(isJob ? this.ofJob : this.ofTrace);
    const chosen = this.chosen();
    if (this.chooser && !(chosen instanceof HTMLElement)) this.chooser.value = chosen.trace;
    await super.draw(focus);
  }
}

new ReportApp(new EmbeddedSource(document), new AddressState(window),
              /** @type {HTMLElement} */ (document.getElementById("app"))).start();
