// Where views come from. The page in a file has them embedded.
import { checkSchema, readDocument, unpackSection } from "./section.js";
import { unitOf } from "../parts/format.js";

/**
 * @typedef {object} Column
 * @property {string} key its name, with its unit
 * @property {string} unit `ns`, `us`, `bytes`, `percent`, `share`, `per_s`, `flop` or empty
 * @property {string} meaning
 * @property {"number" | "integer" | "flag" | "text" | "json"} type
 * @property {any[]} values one per row
 * @property {string[]} [texts] of `text` and `json`
 */
/**
 * @typedef {object} Table
 * @property {string} name
 * @property {string} title
 * @property {string | null} command
 * @property {number} rows
 * @property {number} left_out
 * @property {number} names_cut
 * @property {string | null} sort_by
 * @property {string[]} shown
 * @property {{name: string, path: string, depth: string} | null} tree
 * @property {Column[]} columns
 * @property {{[name: string]: any}} totals
 * @property {string} totals_label
 * @property {string[]} notes
 * @property {string | null} empty
 */
/**
 * @typedef {object} Stacks
 * @property {string} name
 * @property {string} title
 * @property {string} unit
 * @property {number} total
 * @property {number} left_out
 * @property {number} names_cut
 * @property {string[]} texts
 * @property {number[]} kinds
 * @property {number[]} frame
 * @property {number[]} parent
 * @property {number[]} self
 * @property {string | null} empty
 */
/**
 * @typedef {object} View
 * @property {string} schema
 * @property {string} view
 * @property {string} title
 * @property {string} about
 * @property {Table[]} tables
 * @property {Stacks[]} stacks
 */
/**
 * @typedef {object} IndexTrace
 * @property {string} name
 * @property {number | null} rank
 * @property {number} [job_rank] its rank in the job
 * @property {number} [job_start_ns] of the trace's window, since the start of the rank's first one
 * @property {{[view: string]: number}} sections
 * @property {{[view: string]: string}} [empty] why a view has no data
 */
/**
 * @typedef {object} ReportIndex
 * @property {string} schema
 * @property {string} version
 * @property {string} title
 * @property {{name: string, title: string}[]} views
 * @property {{bytes: number} | null} [job] the view of all ranks, if they are a job
 * @property {number} [first_trace] the one that the page opens with
 * @property {IndexTrace[]} traces
 */
/**
 * Which range of a timeline: `nth` of those with the same track, times and name, from 0.
 * @typedef {{track: number, start_ns: number, duration_ns: number, name: string, nth: number}} RangeKey
 */
/**
 * All arguments of a range.
 * @typedef {{arguments: {key: string, unit: string, value: any}[]}} RangeArguments
 */
/**
 * The ranks of a job and where their traces are.
 * @typedef {object} JobOfPage
 * @property {number[]} ranks their numbers, by place
 * @property {import("../timeline/together.js").RankRecordings} recordings
 * @property {import("../timeline/together.js").RankMatches} matches
 * @property {(trace: string) => import("../timeline/together.js").TogetherTrace | null} placeOf
 * @property {(rank: number) => boolean} has whether its timeline can be read
 * @property {(rank: number, time: number) => {trace: string, start_ns: number} | null} find the trace that has a time
 *   of the rank's recordings, and when its window starts in them
 */
/**
 * What a renderer gets: the state in the address under its view's name, and the way to others.
 * @typedef {object} Page
 * @property {(key: string) => string | null} get
 * @property {(key: string, value: string | null, push?: boolean) => void} set
 * @property {(view: string, params?: {[key: string]: string | null}) => void} go
 * @property {string} trace the source's name of it
 * @property {string} input name of the trace
 * @property {string} name of the view
 * @property {(message: string) => void} say
 * @property {(name: string) => Promise<View>} view another view of the same trace, read on demand
 * @property {() => Promise<string[]>} [job] sentences about the job whose rank the trace is
 * @property {() => Promise<JobOfPage>} [ranks] the job whose rank the trace is
 * @property {(trace: string) => Page} [of] the same for another trace
 * @property {() => string} [link] the address of what is shown
 * @property {(view: string) => boolean} [has] whether the report has this view of the trace
 * @property {(range: RangeKey) => Promise<RangeArguments>} [range] all arguments of a range; only
 *   in the tab
 * @property {(from_ns: number, to_ns: number) => Promise<any>} [part] the timeline of a part; only
 *   in the tab
 */
/**
 * @typedef {object} Source
 * @property {(trace: string, name: string, signal?: AbortSignal) => Promise<View>} view
 * @property {(trace: string, range: RangeKey, signal?: AbortSignal) => Promise<RangeArguments>} [range]
 * @property {(trace: string, from_ns: number, to_ns: number, signal?: AbortSignal) => Promise<any>} [part]
 */

/**
 * Gives columns the units that their names say.
 * @param {Table[]} tables
 * @returns {void}
 */
export function withUnits(tables) {
  for (const { columns } of tables) {
    for (const column of columns) column.unit ||= unitOf(column.key);
  }
}

/**
 * @param {View} view
 * @returns {View} the same, with units and names as people see them
 */
function withWords(view) {
  withUnits(view.tables);
  for (const stacks of view.stacks) stacks.title = stacks.title.replace(/^Device\b/, "GPU");
  return view;
}

/**
 * The view in these bytes: a View, or a timeline for the view of this name.
 * @param {Uint8Array} bytes
 * @returns {any}
 */
export function readView(bytes) {
  const view = readDocument(bytes, ["tbtrace.view/1", "tbtrace.timeline/1"]);
  return view.tables ? withWords(view) : view;
}

/** Views embedded in the document as `tbtrace.report/1` says. */
export class EmbeddedSource {
  /** @param {Document} page */
  constructor(page) {
    /** @private */
    this.page = page;
    /** @private @type {Map<string, Promise<any>>} */
    this.views = new Map();
  }

  /** @returns {Promise<ReportIndex>} */
  async index() {
    const element = this.page.getElementById("index");
    if (!element) throw new Error("This page has no data. It may have been cut when it was saved.");
    return checkSchema(JSON.parse(element.textContent ?? ""), ["tbtrace.report/1"]);
  }

  /**
   * @param {string | number} trace from 0
   * @param {string} name of the view
   * @returns {Promise<View>}
   */
  view(trace, name) {
    return this.section(`view-${trace}-${name}`, readView);
  }

  /**
   * @template Content
   * @param {string} id
   * @param {(bytes: Uint8Array) => Content} read
   * @returns {Promise<Content>}
   */
  section(id, read) {
    let content = this.views.get(id);
    if (!content) {
      const element = this.page.getElementById(id);
      content = element ? unpackSection(element.textContent ?? "").then(read)
        : Promise.reject(new Error("This view is not in the page. It may have been cut when it " +
                                   "was saved."));
      this.views.set(id, content);
    }
    return content;
  }
}
