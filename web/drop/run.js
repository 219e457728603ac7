// A run of the program in a worker of its own, which ends with it: memory that WebAssembly took is not given back
// otherwise.
import { unpackSection } from "../data/section.js";

/** @typedef {import("./inputs.js").PlacedFile} RunFile */
/** @typedef {{code: number, page: ArrayBuffer | null, lines: string[]}} RunResult `lines`: what the program said */

/** The program of the page. Compiled once, when it is first needed. */
export class Program {
  /** @param {Document} page has its parts as the elements `module` and `worker` */
  constructor(page) {
    /** @private */
    this.page = page;
    /** @private @type {Promise<WebAssembly.Module> | null} */
    this.module = null;
    /** @private @type {Worker | null} */
    this.worker = null;
    /** @private @type {((result: RunResult | null) => void) | null} */
    this.finish = null;
  }

  /** @returns {Promise<WebAssembly.Module>} */
  compiled() {
    return this.module ??= unpackSection(this.text("module")).then((bytes) => WebAssembly.compile(bytes))
      .catch((error) => {
        this.module = null;
        throw new Error(`This browser cannot run the page: ${error.message}. It needs Chrome 95, Firefox 113 or ` +
                        "Safari 16.4, or a later version.");
      });
  }

  /**
   * @param {RunFile[]} files
   * @param {string[]} words
   * @param {string} output
   * @param {(read: number) => void} onRead gets how many bytes were read
   * @param {(page: ArrayBuffer) => void} onFirst gets a page with the first view, if there is one before the rest
   * @returns {Promise<RunResult | null>} null if it was stopped
   */
  async run(files, words, output, onRead, onFirst) {
    this.stop();
    /** @type {Promise<RunResult | null>} */
    const result = new Promise((finish) => { this.finish = finish; });
    const finish = this.finish;
    const module = await this.compiled();
    if (this.finish !== finish) return null; // it was stopped meanwhile
    const address = URL.createObjectURL(new Blob([this.text("worker")], { type: "text/javascript" }));
    this.worker = new Worker(address);
    this.worker.addEventListener("message", () => URL.revokeObjectURL(address), { once: true });
    this.worker.onmessage = ({ data }) => {
      if (data.first) onFirst(data.first);
      else if (data.read === undefined) this.end(data);
      else onRead(data.read);
    };
    this.worker.onerror = (event) => this.end({ code: -1, page: null, lines: [event.message || "the program stopped"] });
    this.worker.postMessage({ module, files, words, output });
    return result;
  }

  /**
   * Ends a run that is under way.
   * @returns {boolean} whether there was one
   */
  stop() {
    const isRunning = this.finish !== null;
    this.end(null);
    return isRunning;
  }

  /**
   * @private
   * @param {RunResult | null} result
   */
  end(result) {
    this.worker?.terminate();
    this.worker = null;
    this.finish?.(result);
    this.finish = null;
  }

  /**
   * @private
   * @param {string} id
   */
  text(id) {
    const text = this.page.getElementById(id)?.textContent;
    if (!text) throw new Error("This page is not complete. It may have been cut when it was saved.");
    return text;
  }
}
