// Views from the server of the TensorBoard tab (docs/formats/tab.md).
import { checkSchema } from "./section.js";
import { readView, withUnits } from "./source.js";
import { readRanks } from "../ranks/document.js";
import { readComparison } from "../compare/document.js";

/** How many answers are kept in memory, and of how many bytes: going back is fast. */
const keptAnswers = 12;
const keptBytes = 64e6;
/** A server that is silent for so long does not answer any more, in milliseconds. */
const longestWait = 180000;

/** What went wrong on the way to an answer, as a sentence. */
export class AnswerError extends Error {
  /**
   * @param {string} message
   * @param {boolean} mayPass trying again may help
   */
  constructor(message, mayPass) {
    super(message);
    this.mayPass = mayPass;
  }
}

/**
 * @typedef {object} KeptAnswer
 * @property {Promise<any>} read what it says
 * @property {number} bytes 0 as long as it is not there
 * @property {number} users how many wait for it, or have it
 * @property {AbortController} abort
 */

export class HttpSource {
  /**
   * @param {string} base the address of the routes, with `/` at its end
   * @param {typeof fetch} [ask]
   */
  constructor(base, ask = (input, init) => fetch(input, init)) {
    /** @private */
    this.base = base;
    /** @private */
    this.ask = ask;
    /** By address. @private @type {Map<string, KeptAnswer>} */
    this.kept = new Map();
    /**
     * By trace, what its file is now.
     * @private
     * @type {(trace: string) => string | number | null}
     */
    this.versionOf = (_trace) => null;
  }

  /**
   * @param {(trace: string) => string | number | null} versionOf the version of a trace's file
   * @returns {void}
   */
  useVersions(versionOf) {
    this.versionOf = versionOf;
  }

  /** @returns {Promise<import("./runs.js").RunsAnswer>} */
  async runs() {
    return readAnswer(await this.bytes(this.address("runs", {})), (bytes) =>
      checkSchema(parsedAnswer(bytes), ["tbtrace.runs/1"]));
  }

  /**
   * @param {string} trace
   * @param {string} name of the view
   * @param {AbortSignal} [signal] the answer is no longer wanted
   * @returns {Promise<import("./source.js").View>}
   */
  view(trace, name, signal) {
    return this.keep("view", { trace, view: name }, readView, signal);
  }

  /**
   * What changed from one trace to another one.
   * @param {string} base
   * @param {string} now
   * @param {AbortSignal} [signal]
   * @returns {Promise<import("../compare/document.js").Comparison>}
   */
  comparison(base, now, signal) {
    return this.keep("compare", { base, new: now }, readComparison, signal);
  }

  /**
   * The job that a trace is a rank of.
   * @param {string} trace
   * @param {string} mark another one if another trace of the job changed
   * @param {AbortSignal} [signal]
   * @returns {Promise<import("../ranks/document.js").Ranks>}
   */
  ranks(trace, mark, signal) {
    return this.keep("ranks", { trace, mark }, readRanks, signal);
  }

  /**
   * The timeline of a part.
   * @param {string} trace
   * @param {number} from_ns
   * @param {number} to_ns
   * @param {AbortSignal} [signal]
   * @returns {Promise<any>}
   */
  part(trace, from_ns, to_ns, signal) {
    return this.keep("timeline", { trace, from_ns, to_ns }, readView, signal);
  }

  /**
   * The views of a trace that have no data, and why.
   * @param {string} trace
   * @returns {Promise<{[view: string]: string}>}
   */
  async empty(trace) {
    return (await this.keep("empty", { trace }, (bytes) => checkSchema(parsedAnswer(bytes), ["tbtrace.empty/1"]), undefined)).views;
  }

  /**
   * What can be asked for in SQL.
   * @returns {Promise<import("../tab_sql.js").SqlTables>}
   */
  sqlTables() {
    return this.keep("sql", {}, (bytes) => checkSchema(parsedAnswer(bytes), ["tbtrace.sql_tables/1"]), undefined);
  }

  /**
   * @param {string} trace
   * @param {string} query
   * @returns {Promise<import("./source.js").Table>}
   */
  async sql(trace, query) {
    const { table } = readAnswer(await this.bytes(this.address("sql", { trace, query })), (bytes) =>
      checkSchema(parsedAnswer(bytes), ["tbtrace.sql/1"]));
    withUnits([table]);
    return table;
  }

  /**
   * All arguments of a range of the timeline.
   * @param {string} trace
   * @param {import("./source.js").RangeKey} range
   * @param {AbortSignal} [signal]
   * @returns {Promise<import("./source.js").RangeArguments>}
   */
  range(trace, { track, start_ns, duration_ns, name, nth }, signal) {
    return this.keep("range", { trace, track, start_ns, duration_ns, name, nth }, (bytes) =>
      checkSchema(parsedAnswer(bytes), ["tbtrace.range/1"]), signal);
  }

  /**
   * @private
   * @param {string} route
   * @param {{[name: string]: string | number}} parameters
   */
  address(route, parameters) {
    const query = new URLSearchParams(Object.entries(parameters).map(([name, value]) =>
      [name, String(value)])).toString();
    return `${this.base}${route}${query && "?"}${query}`;
  }

  /**
   * Asks, or takes what was answered before. An answer that nobody waits for is given up, so that
   * it does not take the place of those that somebody waits for.
   * @private
   * @param {string} route
   * @param {{[name: string]: string | number}} parameters
   * @param {(bytes: Uint8Array) => any} read
   * @param {AbortSignal | undefined} signal
   * @returns {Promise<any>}
   */
  keep(route, parameters, read, signal) {
    const versions = ["trace", "base", "new"].filter((name) => name in parameters)
      .map((name) => this.versionOf(String(parameters[name])));
    const version = versions.includes(null) ? null : versions.join(",");
    const address = this.address(route, version === null ? parameters : { ...parameters, version });
    const used = this.kept.get(address) ?? this.begin(address, read);
    // The latest one is at the end.
    this.kept.delete(address);
    this.kept.set(address, used);
    ++used.users;
    if (!signal) return used.read;
    return new Promise((resolve, reject) => {
      used.read.then(resolve, reject);
      signal.addEventListener("abort", () => {
        reject(new AnswerError("The answer is no longer wanted.", true));
        if (--used.users > 0 || used.bytes > 0) return;
        this.forget(address, used);
        used.abort.abort();
      }, { once: true });
    });
  }

  /**
   * @private
   * @param {string} address
   * @param {(bytes: Uint8Array) => any} read
   * @returns {KeptAnswer}
   */
  begin(address, read) {
    const abort = new AbortController();
    /** @type {KeptAnswer} */
    const answer = { read: Promise.resolve(), bytes: 0, users: 0, abort };
    answer.read = this.bytes(address, abort.signal).then((bytes) => {
      answer.bytes = bytes.length;
      return readAnswer(bytes, read);
    });
    answer.read.then(() => this.shrink(), () => this.forget(address, answer));
    return answer;
  }

  /** Forgets the oldest answers, but not the latest two: both may be on the page. @private */
  shrink() {
    let bytes = [...this.kept.values()].reduce((sum, answer) => sum + answer.bytes, 0);
    for (const [address, answer] of this.kept) {
      if (this.kept.size <= 2 || (this.kept.size <= keptAnswers && bytes <= keptBytes)) break;
      if (answer.bytes === 0) continue;
      bytes -= answer.bytes;
      this.kept.delete(address);
    }
  }

  /**
   * @private
   * @param {string} address
   * @param {KeptAnswer} answer
   */
  forget(address, answer) {
    if (this.kept.get(address) === answer) this.kept.delete(address);
  }

  /**
   * @private
   * @param {string} address
   * @param {AbortSignal} [given]
   * @returns {Promise<Uint8Array>}
   */
  async bytes(address, given) {
    const abort = new AbortController();
    const giveUp = () => abort.abort();
    given?.addEventListener("abort", giveUp, { once: true });
    let isLate = false;
    const timer = setTimeout(() => { isLate = true; giveUp(); }, longestWait);
    try {
      const response = await this.ask(address, { signal: abort.signal });
      if (!response.ok) throw new AnswerError(await sentenceOf(response), response.status >= 500);
      return new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      if (error instanceof AnswerError) throw error;
      throw new AnswerError(isLate
        ? "TensorBoard has not answered for three minutes. It may still be reading the trace."
        : "TensorBoard does not answer. It may have been stopped, or the connection was lost.", true);
    } finally {
      clearTimeout(timer);
    }
  }
}

/**
 * @param {Uint8Array} bytes
 * @returns {any}
 */
function parsedAnswer(bytes) {
  return JSON.parse(new TextDecoder().decode(bytes));
}

/**
 * @template Answer
 * @param {Uint8Array} bytes
 * @param {(bytes: Uint8Array) => Answer} read
 * @returns {Answer}
 */
function readAnswer(bytes, read) {
  try {
    return read(bytes);
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    throw new AnswerError("The answer of TensorBoard was cut, or something between changed it.", true);
  }
}

/**
 * @param {Response} response
 * @returns {Promise<string>} what the server says
 */
async function sentenceOf(response) {
  try {
    const { error } = await response.json();
    if (typeof error === "string" && error !== "") return error;
  } catch {
    // Something between the server and the page answered.
  }
  return `TensorBoard answered with ${response.status} ${response.statusText}`.trim() + ".";
}
