// The selected range with all that is known about it, and a selected span of time.
import { h } from "../parts/dom.js";
import { countOf, exactValue, formatValue, formatJson, labelOf, unitOf } from "../parts/format.js";
import { stackShortName } from "../data/stacks_names.js";
import { axisText } from "../parts/chart_axes.js";
import { namedRow } from "../parts/name_link.js";
import { smallTable } from "../parts/small_table.js";
import { timelineKinds, timelineKindName } from "./kinds.js";
import { timelineColumn, timelineInteger } from "./columns.js";
import { timelineGapPlace } from "./idle.js";
import { timelineBusyTime, timelineFlows, timelineSpanNames, timelineTouching } from "./queries.js";
import { timelineChain, timelineSelfTime, timelineSwatch, timelineTrackName } from "./words.js";

/** @typedef {import("./model.js").TimelineModel} PanelModel */
/**
 * @typedef {object} PanelActions
 * @property {(range: number) => void} select shows a range
 * @property {(range: number) => void} zoom
 * @property {() => void} close
 * @property {(forward: boolean) => void} same the next range of this name
 * @property {(name: string) => void} copy
 * @property {(name: string) => void} find
 */

/** Ranges that flows lead to, and ranges around one: the others are counted. */
const panelMost = 12;
const panelDeepest = 40;
/** Values of arguments columns that were asked for. @type {WeakMap<PanelModel, Map<string, Float64Array>>} */
const panelColumns = new WeakMap();

/**
 * @param {PanelModel} model
 * @param {string} name of a column
 * @param {number} range
 */
function argumentValue(model, name, range) {
  let columns = panelColumns.get(model);
  if (!columns) panelColumns.set(model, columns = new Map());
  let values = columns.get(name);
  if (!values) {
    const ranges = model.source.tracks.map((track) => track.ranges);
    columns.set(name, values = timelineColumn(model.source.bytes, model.placeOf(name), ranges));
  }
  return values[model.number[range]] ?? 0;
}

/**
 * The arguments of a range that are in the document.
 * @param {PanelModel} model
 * @param {number} range
 * @returns {{key: string, unit: string, value: string | number}[]}
 */
export function timelineArguments(model, range) {
  /** @type {{key: string, unit: string, value: string | number}[]} */
  const found = [];
  for (const { key, unit, texts } of model.source.arguments ?? []) {
    const place = model.placeOf(`argument.${key}`);
    if (!place) continue;
    if (texts) {
      const value = argumentValue(model, `argument.${key}`, range);
      if (value > 0) found.push({ key, unit, value: texts[value - 1] });
    } else if (argumentValue(model, `has.${key}`, range) === 1) {
      // Addresses and hashes are beyond 2^53.
      const isLong = place.column.planes > 6 && place.column.delta === "none";
      found.push({ key, unit, value: isLong
        ? timelineInteger(model.source.bytes, place, model.number[range])
        : argumentValue(model, `argument.${key}`, range) });
    }
  }
  return found;
}

/**
 * @param {unknown} value JSON, or a number
 * @param {string} unit
 */
function argumentText(value, unit) {
  // Without a unit it may be an ID: its digits stay together.
  if (/^-?\d+$/.test(String(value))) return unit ? formatValue(value, unit) : String(value);
  if (typeof value !== "string") return formatValue(value, unit);
  if (value.startsWith("\"")) {
    try {
      return String(JSON.parse(value));
    } catch {
      return value;
    }
  }
  return formatJson(value);
}

/**
 * Rows of a list of facts.
 * @param {{key: string, unit: string, value: unknown}[]} list
 * @returns {HTMLElement[]}
 */
function argumentRows(list) {
  return list.flatMap(({ key, unit, value }) => {
    const text = argumentText(value, unit || unitOf(key));
    const long = text.length > 40 ? " long" : "";
    return [h("dt", { class: long, title: key }, labelOf(key).replaceAll("_", " ")),
            h("dd", { class: `code${long}` }, text)];
  });
}

/**
 * @param {string} label
 * @param {import("../parts/dom.js").Children} value
 * @param {boolean} [long]
 */
function panelFact(label, value, long = false) {
  const kind = { class: long ? "long" : null };
  return [h("dt", kind, label), h("dd", kind, value)];
}

/**
 * @param {PanelModel} model
 * @param {number} range
 * @param {(range: number) => void} select
 */
function rangeLink(model, range, select) {
  const name = model.nameOf(range);
  return h("button", {
    type: "button", class: "link", title: `${name}\n${
      timelineTrackName(model, model.trackOf(range))}`, onclick: () => select(range),
  }, stackShortName(name, timelineKinds[model.kinds[model.name[range]]].frame));
}

/**
 * Ranges of which each is in the one before.
 * @param {PanelModel} model
 * @param {number[]} chain
 * @param {(range: number) => void} select
 */
function chainLinks(model, chain, select) {
  const hidden = Math.max(0, chain.length - panelDeepest);
  return chain.slice(hidden).flatMap((range, i) => [
    i ? " \u203a " : hidden ? `\u2026 ${countOf(hidden, "more", "more")} \u203a ` : "",
    rangeLink(model, range, select)]);
}

/**
 * @param {PanelModel} model
 * @param {number} range
 * @param {import("../data/source.js").Page & {range?: Function}} page
 * @param {PanelActions} actions
 * @param {string} [where] the rank, beside others
 * @returns {HTMLElement}
 */
export function timelineRangePanel(model, range, page, actions, where = "") {
  const { source } = model;
  const kind = model.kinds[model.name[range]];
  const name = model.nameOf(range);
  const track = model.trackOf(range);
  const start = model.start[range];
  const duration = model.duration(range);
  const self = timelineSelfTime(model, range);
  const step = source.steps.find((one) => one.start_ns <= start && start < one.end_ns);
  const about = source.unit_ns > 1 ? "about " : "";
  /** @param {number} ns */
  const time = (ns) => [about + formatValue(ns, "ns"),
                        ns < 1000 ? null : h("small", null, exactValue(ns, "ns"))];
  /**
   * Ranges at other ends, the first of them.
   * @param {number[]} ends
   */
  const ends = (ends) => {
    /** @type {import("../parts/dom.js").Child[]} */
    const parts = ends.slice(0, panelMost).flatMap((other, i) =>
      [i ? ", " : "", rangeLink(model, other, actions.select)]);
    if (ends.length > panelMost) {
      parts.push(` and ${countOf(ends.length - panelMost, "more", "more")}`);
    }
    return parts;
  };

  const list = h("dl", null,
    panelFact("Start", time(start)), panelFact("Duration", time(duration)),
    model.unfinished.has(range) ? panelFact("End", "did not end") : [],
    self === null ? [] : panelFact("Self time", time(self)),
    step ? panelFact("Step", String(step.number)) : [],
    panelFact("Depth", String(model.laneOf(range) - model.trackLane[track])),
    panelFact("Track", timelineTrackName(model, track), true));
  const words = /** @type {{[kind: string]: [string, string]}} */ ({
    launch: ["Launched by", "Launched"],
    forward_backward: ["Forward operator", "Backward operator"],
  });
  for (const flow of timelineFlows(model, range)) {
    const [from, to] = words[flow.kind] ?? [`${flow.kind} from`, `${flow.kind} to`];
    // A call says little without the operator and the lines that it is in.
    const [call] = flow.kind === "launch" ? flow.from : [];
    if (flow.from.length) {
      list.append(...panelFact(from, call === undefined ? ends(flow.from)
        : chainLinks(model, [...timelineChain(model, call), call], actions.select), true));
    }
    if (flow.to.length) list.append(...panelFact(to, ends(flow.to), true));
  }
  const chain = timelineChain(model, range);
  if (chain.length) {
    list.append(...panelFact("Inside", chainLinks(model, chain, actions.select), true));
  }
  const count = model.nameCount[model.name[range]];
  const total = model.nameTotal[model.name[range]];
  list.append(...panelFact("Same name", [
    `${formatValue(count)}${source.part ? " in this part" : where}, ${
      formatValue(total, "ns")} in all, mean ${formatValue(total / count, "ns")} `,
    count > 1 ? h("button", { type: "button", class: "link", onclick: () => actions.same(false) },
                  "previous") : null, " ",
    count > 1 ? h("button", { type: "button", class: "link", onclick: () => actions.same(true) },
                  "next") : null, " ",
    count > 1 ? h("button", { type: "button", class: "link", onclick: () => actions.find(name) },
                  where ? "mark them on all ranks" : "mark them") : null], true));
  list.append(...argumentRows(timelineArguments(model, range)));
  if (page.range && source.arguments.length === 0) {
    const waiting = h("dd", { class: "quiet", role: "status" }, "reading \u2026");
    const label = h("dt", null, "Arguments");
    list.append(label, waiting);
    Promise.resolve(page.range({ track, start_ns: start, duration_ns: duration, name,
                                 nth: timelineNth(model, range) })).then((answer) => {
      const rows = argumentRows(answer.arguments);
      if (rows.length === 0) waiting.textContent = "none";
      else {
        label.replaceWith(...rows);
        waiting.remove();
      }
    }, (error) => { waiting.textContent = String(error.message ?? error); });
  } else if (source.arguments_left_out && !page.range) {
    list.append(...panelFact("Arguments", h("span", { class: "quiet" },
      "left out to limit the size; make the page with a larger --limit"), true));
  }

  return h("aside", { class: "timeline-panel", "aria-label": "Selected range" },
    h("header", null, h("h2", null, timelineSwatch(kind), "\u00a0", name),
      h("span", { class: "quiet" }, timelineKinds[kind].word,
        categoryOf(model, range))),
    h("div", { class: "timeline-actions" },
      h("button", { type: "button", onclick: () => actions.zoom(range) }, "Zoom to it"),
      tableLinks(name, timelineKindName(kind), page),
      h("button", { type: "button", onclick: () => actions.copy(name) }, "Copy name"),
      h("button", { type: "button", class: "icon", "aria-label": "Clear the selection",
                    title: "Clear the selection (Esc)", onclick: actions.close }, "\u00d7")),
    list);
}

/**
 * The category in the file, if it says more than the kind.
 * @param {PanelModel} model
 * @param {number} range
 */
function categoryOf(model, range) {
  const { categories, category_list: list } = model.source;
  const category = list[categories[model.name[range]]]?.name ?? "";
  const { word } = timelineKinds[model.kinds[model.name[range]]];
  return ["", word].includes(category.replaceAll("_", " ").toLowerCase()) ? "" : ` (${category})`;
}

/**
 * How many ranges of the same track, start, duration and name come before it.
 * @param {PanelModel} model
 * @param {number} range
 * @returns {number}
 */
export function timelineNth(model, range) {
  const track = model.trackOf(range);
  let nth = 0;
  for (let lane = model.trackLane[track]; lane < model.trackLane[track + 1]; lane++) {
    const high = model.laneFirst[lane + 1];
    for (let other = model.beginning(model.start[range], model.laneFirst[lane], high);
         other < high && model.start[other] === model.start[range]; other++) {
      if (model.number[other] < model.number[range] && model.end[other] === model.end[range] &&
          model.nameOf(other) === model.nameOf(range)) nth++;
    }
  }
  return nth;
}

/**
 * Ways to the tables that have a name.
 * @param {string} name
 * @param {string} kind
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement[]}
 */
function tableLinks(name, kind, page) {
  const views = kind === "kernel" || kind === "collective" ? ["kernels"]
    : kind === "cpu_op" ? ["operators", "flame_graph"]
      : kind === "python_function" || kind === "module" ? ["flame_graph"] : [];
  const words = /** @type {{[view: string]: string}} */ ({
    kernels: "In kernels", operators: "In operators", flame_graph: "In the flame graph" });
  return views.filter((view) => page.has?.(view)).map((view) => h("button", {
    type: "button", onclick: () => page.go(view, view === "flame_graph"
      ? { search: name, table: null, row: null, zoom: null, frame: null, callers: null } : namedRow(name)),
  }, words[view]));
}

/**
 * A span of time and what is in it.
 * @param {PanelModel} model
 * @param {[number, number]} span
 * @param {Pick<PanelActions, "select" | "close" | "find"> & {zoom: () => void}} actions
 * @param {import("./idle.js").TimelineGap[]} [gaps] that it frames
 * @returns {HTMLElement}
 */
export function timelineSpanPanel(model, [from, to], actions, gaps = []) {
  const long = to - from;
  const [begin, end] = [from, to].map((time) =>
    axisText(time, to, Math.max(1, 10 ** Math.floor(Math.log10(long || 1)) / 1000), "ns"));
  const isMoment = long === 0;
  const tracks = model.source.tracks.map((_, track) => ({
    track, name: timelineTrackName(model, track), busy: timelineBusyTime(model, track, from, to),
  })).filter(({ busy }) => busy > 0);
  const shown = tracks.slice(0, 40);
  /**
   * @param {string} title
   * @param {(kind: string) => boolean} isWanted
   */
  const names = (title, isWanted) => {
    const all = timelineSpanNames(model, from, to,
                                  (track) => isWanted(model.source.tracks[track].kind));
    if (all.length === 0) return null;
    return h("section", null, h("h3", null, title, h("span", { class: "quiet" }, model.ranks > 1 ? ` of ${model.ranks} ranks` : "",
      all.length > 10 ? ` the 10 longest of ${countOf(all.length, "name")}` : "")),
      smallTable(all.slice(0, 10), [
        { label: "Name", value: ({ name }) => h("div", { class: "timeline-name" },
          timelineSwatch(model.kinds[name]), h("button", {
            type: "button", class: "link", title: model.names[name],
            onclick: () => actions.find(model.names[name]),
          }, stackShortName(model.names[name], timelineKinds[model.kinds[name]].frame))) },
        { label: "Time", value: ({ total }) => total, unit: "ns", bar: long },
        { label: "Ranges", value: ({ count }) => count, unit: "" },
      ], title));
  };
  return h("aside", { class: "timeline-panel", "aria-label": "Selected span" },
    h("header", null, h("h2", null, isMoment ? `At ${begin}`
      : `Span of ${formatValue(long, "ns")}`),
      isMoment ? null : h("span", { class: "quiet" }, `from ${begin} to ${end}`)),
    h("div", { class: "timeline-actions" },
      h("button", { type: "button", onclick: actions.zoom }, "Zoom to it"),
      h("button", { type: "button", class: "icon", "aria-label": "Clear the span",
                    title: "Clear the span (Esc)", onclick: actions.close }, "\u00d7")),
    gaps.map((gap) => h("p", null, h("b", null, `${timelineGapPlace(model, gap)} was idle: ${gap.cause}. `), gap.sentence)),
    isMoment ? momentList(model, from, actions.select) : h("div", { class: "timeline-span" },
      h("section", null, h("h3", null, "Busy time", tracks.length > shown.length
        ? h("span", { class: "quiet" }, ` of the first ${shown.length} of ${
          countOf(tracks.length, "track")}`) : null), tracks.length === 0
        ? h("p", { class: "quiet" }, "Nothing ran in this span.")
        : smallTable(shown, [
          { label: "Track", value: ({ name }) => name },
          { label: "Busy", value: ({ busy }) => busy, unit: "ns" },
          { label: "Share", value: ({ busy }) => busy / long, unit: "share", bar: 1 },
        ], "Busy time per track")),
      names("On streams", (kind) => kind === "stream"),
      names("On threads, with what is inside", (kind) => kind === "thread")));
}

/**
 * What runs at a moment, by track.
 * @param {PanelModel} model
 * @param {number} time
 * @param {(range: number) => void} select
 */
function momentList(model, time, select) {
  const list = h("dl");
  for (let track = 0; track + 1 < model.trackLane.length; track++) {
    const running = [];
    for (let lane = model.trackLane[track]; lane < model.trackLane[track + 1]; lane++) {
      const [first, last] = timelineTouching(model, lane, time, time + 0.5);
      if (last > first) running.push(first);
    }
    if (running.length) {
      list.append(...panelFact(timelineTrackName(model, track), chainLinks(model, running, select),
                               true));
    }
  }
  return list.firstChild ? list : h("p", { class: "quiet" }, "Nothing runs at this moment.");
}
