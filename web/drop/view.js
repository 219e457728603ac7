// What the page of dropped traces shows: where to drop them, how far the reading is, what went wrong, the report.
import { h, setVariable } from "../parts/dom.js";
import { pageSizes } from "./inputs.js";

/** @typedef {import("./inputs.js").DroppedItem} Item */
/** @typedef {import("./run.js").RunResult} Result */

/** @typedef {(files: FileList) => void} TakeFiles */

/** What is said of every file, whatever becomes of it. */
const promise = "Files stay on this machine. This tab reads them, and its policy forbids every connection: nothing can be sent.";

/**
 * @param {TakeFiles} take
 * @returns {HTMLElement} where files are dropped or chosen
 */
export function dropArea(take) {
  return h("section", { class: "drop", "aria-label": "Choose traces" },
    h("h1", null, "Drop a trace of PyTorch\u2019s profiler here"),
    h("p", null, "One trace, a folder or several files of ranks, or two traces to compare; JSON, also gzip or zstd. Memory snapshots (.pickle), too."),
    h("p", { class: "drop-fields" }, field("Choose files", { multiple: true }, take),
      field("Choose a folder", { webkitdirectory: true }, take)),
    h("p", { class: "quiet" }, promise),
    h("p", { class: "quiet" }, "Archives (zip, tar, xz, bzip2), partials and addresses of a network are for the command line."));
}

/**
 * @param {string} label
 * @param {{[name: string]: boolean}} attributes
 * @param {TakeFiles} take
 */
function field(label, attributes, take) {
  return h("label", { class: "button" }, label, h("input", {
    type: "file", ...attributes, onchange: (/** @type {Event} */ event) => {
      const input = /** @type {HTMLInputElement} */ (event.target);
      if (input.files && input.files.length > 0) take(input.files);
      input.value = ""; // the same file can be chosen again
    },
  }));
}

/**
 * Asks what two items are.
 * @param {Item[]} items
 * @param {(question: "report" | "compare", items: Item[]) => void} ask
 * @returns {HTMLElement}
 */
export function pairBox(items, ask) {
  const [a, b] = items;
  return h("section", { class: "pair" }, h("h2", null, "Two inputs: what to show?"),
    [[a, b], [b, a]].map((order) => h("button", { type: "button", onclick: () => ask("compare", order) },
      "Compare ", h("bdi", null, order[0].name), " (before) with ", h("bdi", null, order[1].name), " (after)")),
    h("button", { type: "button", onclick: () => ask("report", items) }, "Show both on one page; ranks of a job are shown together"));
}

/** How far a run is, with a button that stops it. */
export class ProgressBox {
  /**
   * @param {string} name
   * @param {number} total bytes
   * @param {() => void} stop
   */
  constructor(name, total, stop) {
    /** @private */
    this.total = total;
    /** @private */
    this.bar = h("span", null);
    /** @private */
    this.words = h("p", { role: "status" }, "Starting");
    this.element = h("section", { class: "progress" }, h("h2", null, h("bdi", null, name)), this.words,
      h("span", { class: "meter" }, this.bar), h("p", null, h("button", { type: "button", onclick: stop }, "Stop")));
    this.show(0);
  }

  /** @param {number} read bytes */
  show(read) {
    const share = this.total === 0 ? 1 : Math.min(1, read / this.total);
    setVariable(this.bar, "--bar", `${(share * 100).toFixed(1)}%`);
    const words = share < 1 ? `Reading: ${megabytes(read)} of ${megabytes(this.total)}` : "Making the page";
    if (this.words.textContent !== words) this.words.textContent = words;
  }
}

/** @param {number} bytes */
function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}

/**
 * @param {string} size
 * @param {(size: string) => void} choose
 * @returns {HTMLElement} what makes the page anew with more or fewer rows
 */
export function sizeField(size, choose) {
  const field = /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "Size of the page", onchange: () => choose(field.value) },
    pageSizes.map((one) => h("option", { value: one, selected: one === size }, `\u2264 ${one.replace("MB", " MB")}`))));
  return h("label", { title: "A larger page has the rows and ranges that are left out" }, field);
}

/**
 * @param {string} name
 * @param {string[]} lines what the program said
 * @returns {HTMLElement}
 */
export function failureOf(name, lines) {
  return h("section", { class: "failure", role: "alert" }, h("h2", null, h("bdi", null, name), " cannot be shown"),
    lines.map((line) => h("p", null, plainLine(line))));
}

/**
 * @param {string[]} lines what the program said of an input that it read
 * @returns {HTMLElement | null}
 */
export function remarksOf(lines) {
  if (lines.length === 0) return null;
  const count = lines.length === 1 ? "1 remark" : `${lines.length} remarks`;
  return h("details", { class: "remarks" }, h("summary", null, count), lines.map((line) => h("p", null, plainLine(line))));
}

/**
 * A line as on a terminal, as a sentence without the name of the program.
 * @param {string} line
 */
export function plainLine(line) {
  return line.replace(/^tbtrace: /, "").replace(/: (?=(is|has|holds|was) )/, " ").slice(0, 2000);
}

/**
 * The report, in a frame that cannot reach this page.
 * @param {string} address
 * @param {string} name
 * @returns {HTMLIFrameElement}
 */
export function reportFrame(address, name) {
  return /** @type {HTMLIFrameElement} */ (h("iframe", { class: "report", src: address, title: `Report of ${name}`,
                                                         sandbox: "allow-scripts allow-downloads", allow: "clipboard-write" }));
}
