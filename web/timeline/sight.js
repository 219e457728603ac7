// The ranges in sight as a table: a canvas says nothing to a screen reader.
import { h } from "../parts/dom.js";
import { countOf, formatValue, labelOf } from "../parts/format.js";
import { Grid } from "../parts/grid.js";
import { timelineInSight } from "./queries.js";
import { timelineKinds } from "./kinds.js";
import { timelineTrackName } from "./words.js";

/** More rows are not shown: they are shorter. */
const sightMost = 2000;

/**
 * @typedef {object} TimelineSight
 * @property {HTMLElement} element
 * @property {(model: import("./model.js").TimelineModel, from: number, to: number, isShown: (track: number) => boolean) => void} show
 */

/**
 * @param {(range: number) => void} onSelect
 * @returns {TimelineSight}
 */
export function timelineSight(onSelect) {
  let ranges = new Uint32Array(0);
  /** @param {number} row */
  const select = (row) => onSelect(ranges[row]);
  const grid = new Grid("Visible slices", {
    sort: () => {}, open: select, branch: () => false, moved: select,
  });
  grid.element.hidden = true;
  const note = h("span", { class: "quiet" });
  const element = h("section", { class: "section timeline-sight" },
    h("h2", null, "Visible slices", note), grid.element);
  return {
    element,
    show(model, from, to, isShown) {
      const found = timelineInSight(model, from, to, sightMost, isShown);
      ranges = found.ranges;
      note.textContent = found.count === 0 ? "none" : found.count > ranges.length
        ? `the ${formatValue(ranges.length)} longest of ${countOf(found.count, "slice")}`
        : `${countOf(found.count, "slice")}, longest first`;
      grid.element.hidden = found.count === 0;
      const list = [...ranges];
      const tracks = model.source.tracks.map((_, track) => timelineTrackName(model, track));
      /**
       * @param {string} key
       * @param {any[]} values
       * @param {string[]} [texts]
       */
      const column = (key, values, texts) => ({
        key, unit: texts ? "" : "ns", meaning: "", type: /** @type {"text" | "number"} */ (
          texts ? "text" : "number"), values, ...(texts ? { texts } : {}) });
      const columns = [
        column("name", list.map((range) => model.name[range]), model.names),
        column("duration_ns", list.map((range) => model.duration(range))),
        column("start_ns", list.map((range) => model.start[range])),
        column("kind", list.map((range) => model.kinds[model.name[range]]),
               timelineKinds.map(({ word }) => word)),
        column("track", list.map((range) => model.trackOf(range)), tracks)];
      grid.show({
        columns, labels: columns.map(({ key }) => labelOf(key)),
        widths: innerWidth < 760 ? [160, 94, 94, 110, 150] : [260, 96, 104, 130, 210],
        weights: [4, 1, 1, 1, 2],
        rows: ranges.map((_, row) => row), sorted: "duration_ns", descending: true,
        largest: ranges.length ? model.duration(ranges[0]) : 0, branch: () => null,
        branchKey: null, totals: null, totalsLabel: "", fixed: true,
      });
    },
  };
}
