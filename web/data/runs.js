// The runs of a log directory, without any drawing: order, search, what is before and after.

/**
 * @typedef {object} RunWindow
 * @property {string} trace path below the log directory
 * @property {string} name
 * @property {number | null} start_ns
 * @property {number} bytes
 * @property {number} modified_ns
 * @property {string | number} version
 */
/** @typedef {{name: string, windows: RunWindow[]}} RunWorker */
/** @typedef {{name: string, workers: RunWorker[]}} Run */
/** @typedef {{path: string, sentence: string}} RunProblem */
/**
 * @typedef {object} RunsAnswer
 * @property {string} schema
 * @property {string} version of tbtrace
 * @property {string} logdir
 * @property {boolean} is_complete
 * @property {{name: string, title: string}[]} views
 * @property {Run[]} runs
 * @property {RunProblem[]} problems
 */
/** @typedef {{run: Run, worker: RunWorker, window: RunWindow, number: number}} TracePlace */

const namesInOrder = new Intl.Collator("en", { numeric: true });

/**
 * @template {{name: string}} Named
 * @param {Named[]} list
 * @returns {Named[]} by name; numbers in names count as numbers
 */
export function inNaturalOrder(list) {
  return [...list].sort((a, b) => namesInOrder.compare(a.name, b.name) ||
    (a.name < b.name ? -1 : 1));
}

/**
 * Places of the texts that have all words of a query, in their order; case does not matter.
 * @param {string[]} texts
 * @param {string} query
 * @returns {number[]}
 */
export function matchingPlaces(texts, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return texts.flatMap((text, place) => {
    const lowered = text.toLowerCase();
    return words.every((word) => lowered.includes(word)) ? [place] : [];
  });
}

/** What `runs` answered. */
export class RunList {
  /** @param {RunsAnswer} answer */
  constructor(answer) {
    this.logdir = answer.logdir;
    this.isComplete = answer.is_complete;
    this.problems = answer.problems;
    this.runs = inNaturalOrder(answer.runs).map((run) => (
      { ...run, workers: inNaturalOrder(run.workers) }));
    /** By path. @type {Map<string, TracePlace>} */
    this.places = new Map();
    for (const run of this.runs) {
      for (const worker of run.workers) {
        worker.windows.forEach((window, number) => {
          this.places.set(window.trace, { run, worker, window, number });
        });
      }
    }
  }

  /**
   * @param {string | null} trace
   * @returns {TracePlace | null}
   */
  place(trace) {
    return trace === null ? null : this.places.get(trace) ?? null;
  }

  /** @returns {string | null} the trace that was written last */
  newest() {
    /** @type {RunWindow | null} */
    let newest = null;
    for (const { window } of this.places.values()) {
      if (!newest || window.modified_ns > newest.modified_ns) newest = window;
    }
    return newest?.trace ?? null;
  }

  /**
   * The trace of another run: of the same worker and the same window, if it has them.
   * @param {string | null} trace
   * @param {string} name of the run
   * @returns {string | null}
   */
  ofRun(trace, name) {
    const run = this.runs.find((one) => one.name === name);
    const now = this.place(trace);
    const worker = run?.workers.find((one) => one.name === now?.worker.name) ??
      run?.workers[now?.run.workers.indexOf(now.worker) ?? 0] ?? run?.workers[0];
    return worker ? windowAt(worker, now?.number ?? worker.windows.length) : null;
  }

  /**
   * The trace of another worker of the same run: of the same window, if it has that.
   * @param {string} trace
   * @param {string} name of the worker
   * @returns {string | null}
   */
  ofWorker(trace, name) {
    const now = this.place(trace);
    const worker = now?.run.workers.find((one) => one.name === name);
    return now && worker ? windowAt(worker, now.number) : null;
  }

  /**
   * The traces that are a job together: the window of this number of each worker of the run.
   * @param {string | null} trace
   * @returns {RunWindow[]}
   */
  jobOf(trace) {
    const now = this.place(trace);
    return now ? now.run.workers.flatMap(({ windows }) => windows[now.number] ?? []) : [];
  }

  /**
   * @param {string} trace
   * @param {number} by 1: the next window of the worker; -1: the one before
   * @returns {string | null}
   */
  step(trace, by) {
    const now = this.place(trace);
    return now?.worker.windows[now.number + by]?.trace ?? null;
  }

  /**
   * What one probably compares a trace with: the window before, the run whose name begins alike, the
   * next worker.
   * @param {string} trace
   * @returns {string | null}
   */
  beside(trace) {
    const now = this.place(trace);
    if (!now) return this.newest();
    const before = this.step(trace, -1) ?? this.step(trace, 1);
    if (before) return before;
    const number = this.runs.indexOf(now.run);
    const others = [...this.runs.slice(0, number).reverse(), ...this.runs.slice(number + 1)];
    /** @param {Run} other */
    const alike = ({ name }) => {
      let length = 0;
      while (length < name.length && name[length] === now.run.name[length]) length++;
      return length;
    };
    const run = others.reduce((best, one) => alike(one) > alike(best) ? one : best, others[0]);
    if (run) return this.ofRun(trace, run.name);
    const worker = now.run.workers.find((one) => one !== now.worker);
    return worker ? windowAt(worker, now.number) : trace;
  }
}

/**
 * @param {RunWindow[]} windows
 * @returns {string} another one if a window changed
 */
export function jobMark(windows) {
  let mark = 0;
  for (const letter of windows.map(({ trace, version }) => `${trace} ${version}`).join()) {
    mark = (mark * 31 + (letter.codePointAt(0) ?? 0)) % 0x7fffffff;
  }
  return mark.toString(36);
}

/**
 * @param {RunWorker} worker
 * @param {number} number
 * @returns {string | null} the trace of this window, or of the last one
 */
function windowAt(worker, number) {
  return worker.windows[Math.min(number, worker.windows.length - 1)]?.trace ?? null;
}
