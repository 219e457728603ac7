// The view of the timeline: every range of the trace over time.
import { h } from "../parts/dom.js";
import { emptyBox } from "../parts/empty.js";
import { TimelineView } from "../timeline/view.js";
import { timelineNotes } from "../timeline/words.js";

/**
 * @param {any} source a document as docs/formats/timeline.md says
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement}
 */
export function renderTimeline(source, page) {
  if (source.ranges > 0) return new TimelineView(source, page).element;
  const notes = timelineNotes(source, "part" in page);
  return h("div", null, notes.length ? h("div", { class: "notes" },
    notes.map((note) => h("p", null, note))) : null,
    emptyBox(source.empty ?? "the trace has no ranges"));
}
