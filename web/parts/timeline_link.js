// From the row of a table to its place in the timeline, or to the ranges of its name.
import { h } from "./dom.js";
import { cellOf, columnOf } from "../data/table.js";

/** @typedef {{[key: string]: string | null}} TimelineState as the timeline has it in the address */

/** Columns with the time of a row, and those with its end or its duration. */
const placeColumns = [["start_ns", "end_ns", "duration_ns"],
                      ["allocated_at_ns", "freed_at_ns", ""], ["peak_at_ns", "", ""],
                      ["at_ns", "", ""], ["example_at_ns", "", ""]];
/** Around what has no duration, in ns. */
const placeRim = 500000;
/** Columns whose texts are names of ranges, by view. */
const nameColumns = /** @type {{[view: string]: string[]}} */ ({
  operators: ["key"], kernels: ["name", "operator"], flops: ["name"], memory: ["operator"],
});

/**
 * The part of the timeline around a time or a span.
 * @param {number} start in ns
 * @param {number} end
 * @returns {TimelineState}
 */
export function timelinePart(start, end) {
  const rim = end > start ? (end - start) * 0.4 : placeRim;
  return { from: String(Math.floor(start - rim)), to: String(Math.ceil(end + rim)),
           span: `${start}:${Math.max(start, end)}`, range: null, find: null };
}

/**
 * Where the timeline shows a row.
 * @param {string} view
 * @param {import("../data/source.js").Table} table
 * @param {number} row
 * @returns {TimelineState | null} null: nowhere
 */
export function timelineTarget(view, table, row) {
  /** @param {string} key */
  const value = (key) => {
    const column = columnOf(table, key);
    return column ? cellOf(column, row) : null;
  };
  for (const [begin, end, duration] of placeColumns) {
    const start = value(begin);
    if (typeof start !== "number") continue;
    const stop = value(end) ?? (typeof value(duration) === "number"
      ? start + Number(value(duration)) : start);
    return timelinePart(start, Math.max(start, Number(stop)));
  }
  let name = (nameColumns[view] ?? []).map(value).find((one) => typeof one === "string") ?? null;
  if (view === "modules" && table.tree) name = `nn.Module: ${value(table.tree.name)}`;
  if (name === null || name === "" || /^(nn\.Module: )?\[/.test(String(name))) return null;
  return { find: `"${name}"`, from: null, to: null, span: null, range: null };
}

/**
 * @param {import("../data/source.js").Page} page
 * @param {TimelineState | null} target
 * @param {string} [text]
 * @param {string} [kind] its class
 * @returns {HTMLElement | null} null without a timeline or a target
 */
export function timelineLink(page, target, text = "Show in the timeline", kind = "") {
  if (target === null || !page.has?.("timeline")) return null;
  return h("button", { type: "button", class: kind, title: "Show in the timeline",
                       onclick: () => page.go("timeline", target) }, text);
}
