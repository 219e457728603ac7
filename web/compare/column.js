// A comparison where the page has a trace otherwise.
import { TraceColumn } from "../parts/trace_column.js";
import { renderComparison } from "./view.js";

/** What is below the heading. */
const aboutComparison = "What changed between two recordings, and what explains it.";

/** @typedef {import("../parts/trace_column.js").ChosenTrace} ColumnChosen */

export class CompareColumn extends TraceColumn {
  /**
   * @param {import("../parts/trace_column.js").ColumnOwner} owner
   * @param {(signal: AbortSignal) => Promise<import("./document.js").Comparison>} read
   */
  constructor(owner, read) {
    super(owner, "", "Comparison");
    /** @private */
    this.read = read;
  }

  /** @override */
  async content(/** @type {ColumnChosen} */ chosen, /** @type {AbortSignal} */ signal) {
    const comparison = await this.read(signal);
    return { about: aboutComparison, make: () => renderComparison(comparison, this.page(chosen)) };
  }
}
