// The ranks of a job where the page has a trace otherwise.
import { TraceColumn } from "../parts/trace_column.js";
import { renderRanks } from "./view.js";

/** @typedef {import("../parts/trace_column.js").ChosenTrace} RanksChosen */

export class RanksColumn extends TraceColumn {
  /**
   * @param {import("../parts/trace_column.js").ColumnOwner} owner
   * @param {(signal: AbortSignal) => Promise<import("./document.js").Ranks>} read
   * @param {(ranks: import("./document.js").Ranks) => import("./view.js").RankTraces} traces
   */
  constructor(owner, read, traces) {
    super(owner, "", "Ranks");
    /** @private */
    this.read = read;
    /** @private */
    this.traces = traces;
  }

  /** @override */
  async content(/** @type {RanksChosen} */ chosen, /** @type {AbortSignal} */ signal) {
    const ranks = await this.read(signal);
    return { about: ranks.about, make: () => renderRanks(ranks, this.page(chosen), this.traces(ranks)) };
  }
}
