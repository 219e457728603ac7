// What people read about a timeline: what is not in it, what keys do, a range in one line.
import { h } from "../parts/dom.js";
import { countOf, formatValue } from "../parts/format.js";
import { keyRows, timelineKeys } from "../parts/help.js";
import { popupMenu } from "../parts/popup.js";
import { timelineGapPlace } from "./idle.js";
import { timelineKinds } from "./kinds.js";
import { timelineMoment } from "./moments.js";
import { timelineParent, timelineSelf } from "./queries.js";

/**
 * Sentences about what the document does not have.
 * @param {import("./model.js").TimelineDocument} source
 * @param {boolean} canAsk whether more is read when people zoom in
 * @returns {string[]}
 */
export function timelineNotes(source, canAsk) {
  const notes = [...source.notes ?? []];
  if (source.left_out > 0) {
    const are = source.left_out === 1 ? "is" : "are";
    notes.push(`${countOf(source.left_out, "range")} of at most ${
      formatValue(source.left_out_ns, "ns")} ${are} left out to limit the size. ` + (canAsk
      ? "Zoom in to load them." : "Make the page with a larger --limit to get all of them."));
  }
  if (source.unit_ns > 1) {
    notes.push(`Times are rounded down to ${formatValue(source.unit_ns, "ns")} to limit the size` +
               (canAsk ? "." : "; a larger --limit makes them exact."));
  }
  if (source.part) {
    notes.push(`Only ranges between ${formatValue(source.part[0], "ns")} and ${
      formatValue(source.part[1], "ns")} are loaded; pan or zoom out for others.`);
  }
  if (source.marks && source.marks.left_out > 0) {
    notes.push(`${countOf(source.marks.left_out, "instant")} ${
      source.marks.left_out === 1 ? "is" : "are"} left out to limit the size.`);
  }
  if (source.counters_left_out) {
    notes.push(`${countOf(source.counters_left_out, "counter")} ${
      source.counters_left_out === 1 ? "is" : "are"} left out to limit the size.`);
  }
  const thinned = source.counters.filter(({ samples, times_ns: times }) =>
    samples !== undefined && samples > times.length).length;
  if (thinned > 0) {
    notes.push(`${countOf(thinned, "curve")} of many values ${thinned === 1 ? "is" : "are"} ` +
               "thinned between the lowest and the highest ones.");
  }
  if (source.names_cut > 0) {
    notes.push(`${countOf(source.names_cut, "name")} of more than 500 characters ${
      source.names_cut === 1 ? "is" : "are"} cut.`);
  }
  if (source.arguments_left_out && !canAsk) {
    notes.push("Arguments (shapes, grids, sizes) are left out to limit the size. Make the page " +
               "with a larger --limit to see them.");
  }
  return notes;
}

/**
 * @param {HTMLElement} setting
 * @returns {HTMLElement}
 */
export function timelineHelp(setting) {
  return popupMenu("Shortcuts", setting, h("dl", { class: "timeline-keys" }, keyRows(timelineKeys)));
}

/**
 * @param {number} kind place in timelineKinds
 */
export function timelineSwatch(kind) {
  const swatch = h("span", { class: "swatch", "aria-hidden": true });
  swatch.style.setProperty("background", `var(${timelineKinds[kind].color})`);
  return swatch;
}

/**
 * @param {import("./model.js").TimelineModel} model
 * @returns {HTMLElement}
 */
export function timelineLegend(model) {
  const seen = new Set(model.kinds.filter((_, name) => model.nameCount[name] > 0));
  return h("ul", { class: "chart-legend timeline-legend", "aria-label": "Colours" },
    [...seen].sort((a, b) => a - b).map((kind) => h("li", null, timelineSwatch(kind),
                                                    timelineKinds[kind].word)),
    model.unfinished.size === 0 ? null
      : h("li", null, h("span", { class: "swatch unfinished", "aria-hidden": true }), "did not end"));
}

/**
 * The name of a track. Threads are often called like their process: `thread 7 (python)`.
 * @param {{name: string, process: string}} track
 */
export function timelineTrackLabel({ name, process }) {
  return name.replace(/ \((.*)\)$/, (all, thread) => process.startsWith(`${thread} (`) ? "" : all);
}

/**
 * What a track is called: its name, and its process if there are several.
 * @param {import("./model.js").TimelineModel} model
 * @param {number} track
 * @returns {string}
 */
export function timelineTrackName(model, track) {
  const { process, rank: other } = model.source.tracks[track];
  const name = timelineTrackLabel(model.source.tracks[track]), rank = model.rankOf(other);
  if (rank !== undefined) return `${name}, rank ${rank}`;
  return process ? `${name}, ${process}` : name;
}

/**
 * Self time: only where a range waits for what is in it.
 * @param {import("./model.js").TimelineModel} model
 * @param {number} range
 * @returns {number | null}
 */
export function timelineSelfTime(model, range) {
  return model.source.tracks[model.trackOf(range)].kind === "thread"
    ? timelineSelf(model, range) : null;
}

/**
 * What the pointer tells.
 * @param {import("./model.js").TimelineModel} model
 * @param {number} range
 * @returns {HTMLElement[]}
 */
export function timelineTip(model, range) {
  const self = timelineSelfTime(model, range);
  const duration = model.duration(range);
  return [h("b", null, model.nameOf(range)),
          h("div", null, formatValue(duration, "ns"), self === null || self === duration ? null
            : `, self ${formatValue(self, "ns")}`),
          ...model.unfinished.has(range) ? [h("div", { class: "unfinished" }, "did not end")] : [],
          h("div", { class: "quiet" }, `${timelineKinds[model.kinds[model.name[range]]].word}, ${
            timelineTrackName(model, model.trackOf(range))}`)];
}

/**
 * What the pointer tells of a gap.
 * @param {import("./model.js").TimelineModel} model
 * @param {import("./idle.js").TimelineGap} gap
 * @returns {HTMLElement[]}
 */
export function timelineGapTip(model, gap) {
  return [h("b", null, `${timelineGapPlace(model, gap)} idle: ${gap.cause}`), h("div", null, formatValue(gap.end - gap.start, "ns")),
          h("div", { class: "quiet" }, gap.sentence)];
}

/**
 * What the pointer tells of a value or a mark.
 * @param {import("./model.js").TimelineModel} model
 * @param {import("./moments.js").TimelineMomentPlace} place
 * @returns {HTMLElement[]}
 */
export function timelineMomentTip(model, place) {
  const { name, value, time, more, where } = timelineMoment(model.source, place);
  const at = formatValue(time, "ns");
  return [h("b", null, name),
          h("div", null, value === "" ? `instant at ${at}` : `${value} since ${at}`),
          ...more.slice(0, 12).map(([key, text]) =>
            h("div", null, h("span", { class: "quiet" }, `${key}: `), text)),
          ...more.length > 12 ? [h("div", null, `and ${countOf(more.length - 12, "more argument")}`)]
            : [],
          ...where ? [h("div", { class: "quiet" }, where)] : []];
}

/**
 * The same in one line.
 * @param {import("./model.js").TimelineModel} model
 * @param {import("./moments.js").TimelineMomentPlace} place
 * @returns {string}
 */
export function timelineMomentText(model, place) {
  const { name, value, time, more } = timelineMoment(model.source, place);
  return [value === "" ? name : `${name}: ${value}`, formatValue(time, "ns"),
          ...more.map(([key, text]) => `${key} ${text}`)].join(", ");
}

/**
 * What it is in: on streams, ranges may just overlap.
 * @param {import("./model.js").TimelineModel} model
 * @param {number} range
 */
export function timelineAround(model, range) {
  const parent = timelineParent(model, range);
  if (parent < 0 || model.source.tracks[model.trackOf(range)].kind === "thread") return parent;
  return timelineKinds[model.kinds[model.name[parent]]].word === "GPU annotation" ? parent : -1;
}

/**
 * What a range is in, the outermost first.
 * @param {import("./model.js").TimelineModel} model
 * @param {number} range
 * @returns {number[]}
 */
export function timelineChain(model, range) {
  const chain = [];
  for (let above = timelineAround(model, range); above >= 0;
       above = timelineAround(model, above)) chain.unshift(above);
  return chain;
}
