// What chooses the trace of a column in the tab: run, worker, and window.
import { disable, h } from "./parts/dom.js";
import { formatValue, countOf } from "./parts/format.js";
import { Picker } from "./parts/picker.js";

/** @typedef {import("./data/runs.js").RunList} ChooserRuns */
/** @typedef {import("./data/runs.js").RunWindow} ChooserWindow */

const dayAndTime = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", hour: "2-digit",
  minute: "2-digit", second: "2-digit", hourCycle: "h23" });

/**
 * @param {ChooserWindow} window
 * @returns {string} when it began, in the reader's time, or its name
 */
export function windowLabel({ start_ns, name }) {
  if (start_ns === null) return name;
  const time = Math.round(start_ns / 1e6);
  return `${dayAndTime.format(time)}.${String(time % 1000).padStart(3, "0")}`;
}

/**
 * @param {string} name of a run
 * @returns {string} for people
 */
export function runLabel(name) {
  return name === "." ? "(the log directory itself)" : name;
}

/**
 * @param {ChooserRuns} before
 * @param {ChooserRuns} now
 * @returns {string} what came, as a sentence; empty if nothing did
 */
export function newTraces(before, now) {
  if (!before.isComplete || !before.runs.length) return "";
  const added = [...now.places].flatMap(([trace, place]) => before.places.has(trace) ? [] : [place]);
  if (added.length > 1) return `${countOf(added.length, "new trace")}.`;
  return added.map(({ run, window }) =>
    `A new trace: ${runLabel(run.name)}, ${windowLabel(window)}.`).join("");
}

export class TraceChooser {
  /** @param {(trace: string) => void} choose */
  constructor(choose) {
    /** @private @type {ChooserRuns | null} */
    this.runs = null;
    /** @private @type {string | null} */
    this.trace = null;
    /** @private */
    this.take = (/** @type {string | null | undefined} */ trace) => { if (trace) choose(trace); };
    /** @private */
    this.run = new Picker("Run", (name) => this.take(this.runs?.ofRun(this.trace, name)));
    /** @private */
    this.worker = new Picker("Worker", (name) => this.take(this.runs?.ofWorker(this.trace ?? "", name)));
    /** @private */
    this.window = new Picker("Window", (trace) => this.take(trace));
    /** @private */
    this.before = this.stepButton(-1, "\u2039", "Previous window");
    /** @private */
    this.after = this.stepButton(1, "\u203a", "Next window");
    this.element = h("div", { class: "chooser", role: "group", "aria-label": "Trace" },
      this.run.element, this.worker.element,
      h("div", { class: "windows" }, this.before, this.window.element, this.after));
  }

  /**
   * @private
   * @param {number} by
   * @param {string} sign
   * @param {string} label
   */
  stepButton(by, sign, label) {
    return /** @type {HTMLButtonElement} */ (h("button", {
      type: "button", class: "icon", "aria-label": label, title: label,
      onclick: () => this.take(this.runs?.step(this.trace ?? "", by)),
    }, sign));
  }

  /**
   * @param {ChooserRuns} runs
   * @param {string | null} trace the chosen one
   * @returns {void}
   */
  update(runs, trace) {
    this.runs = runs;
    this.trace = trace;
    const place = runs.place(trace);
    this.run.update(runs.runs.map(({ name, workers }) => ({
      value: name, label: runLabel(name),
      note: workers.length > 1 ? countOf(workers.length, "worker") : "",
    })), place?.run.name ?? null);
    this.worker.update((place?.run.workers ?? []).map(({ name, windows }) => ({
      value: name, label: name, note: windows.length > 1 ? countOf(windows.length, "window") : "",
    })), place?.worker.name ?? null);
    this.window.update((place?.worker.windows ?? []).map((window) => ({
      value: window.trace, label: windowLabel(window), note: formatValue(window.bytes, "bytes"),
    })), trace);
    this.worker.element.hidden = !place;
    this.window.element.hidden = !place;
    const isOne = (place?.worker.windows.length ?? 0) < 2;
    this.before.hidden = this.after.hidden = isOne;
    disable(this.before, !trace || runs.step(trace, -1) === null);
    disable(this.after, !trace || runs.step(trace, 1) === null);
  }
}
