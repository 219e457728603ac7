// The rows of a comparison: tables whose changes are bars in both directions, and a row in full.
import { h, setVariable } from "../parts/dom.js";
import { exactValue, formatValue } from "../parts/format.js";
import { tableView } from "../parts/table.js";
import { tabPanels } from "../parts/sections.js";
import { scopedPage } from "../parts/scoped_page.js";
import { emptyBox } from "../parts/empty.js";
import { divisionTables, isGuessed, onlyOn } from "./document.js";
import { relativeChange, signedValue, wordsOfVerdict } from "./words.js";

/** @typedef {import("./document.js").DiffRow} ShownRow */

/**
 * A bar from the middle: to the right what got slower.
 * @param {number} share of the largest change, -1 to 1
 * @returns {HTMLElement}
 */
function changeBar(share) {
  const fill = h("span", { class: share > 0 ? "is-slower" : "is-faster" });
  setVariable(fill, "--bar", `${(Math.min(1, Math.abs(share)) * 50).toFixed(1)}%`);
  return h("span", { class: "change-bar", "aria-hidden": true }, fill);
}

/**
 * @param {ShownRow} row
 * @returns {HTMLElement | undefined} a mark, if the sides do not simply have the same
 */
function markOf(row) {
  const side = onlyOn(row);
  if (side !== null) {
    return h("span", { class: `badge row-mark is-${side}`,
      title: side === "new" ? "Only the new side has it" : "Only the base has it" },
      side === "new" ? "+ new" : "\u2212 gone");
  }
  if (!isGuessed(row)) return undefined;
  return h("span", { class: "badge row-mark warning",
                     title: `Uncertain: matched by its ${row.matched_by}. Before: ${row.base_key}` },
           "\u2248 renamed");
}

/**
 * @param {ShownRow[]} rows
 * @returns {import("../parts/grid_cell.js").GridDress}
 */
function dressOf(rows) {
  const largest = rows.reduce((most, row) => Math.max(most, Math.abs(row.change_ns)), 0) || 1;
  // A phone has no room for bars.
  const isNarrow = innerWidth < 760;
  return (column, at) => {
    const row = rows[at];
    switch (column.key) {
      case "key": return { before: markOf(row), room: isNarrow ? 0 : 74 };
      case "change_ns": return {
        before: isNarrow ? undefined : changeBar(row.change_ns / largest),
        room: isNarrow ? 10 : 96, text: signedValue(row.change_ns, "ns"),
        name: row.change_ns > 0 ? "slower" : row.change_ns < 0 ? "faster" : "",
      };
      case "low_ns": case "high_ns": {
        const value = row[column.key];
        return value === null ? null : { text: signedValue(value, "ns") };
      }
      case "verdict": {
        const [sign, word, kind] = wordsOfVerdict(row.verdict);
        return { instead: h("span", { class: `badge ${kind}` }, `${sign} ${word}`) };
      }
      default: return null;
    }
  };
}

/**
 * A row in full: both sides beside each other.
 * @param {ShownRow} row
 * @param {{close: () => void, frames: (row: ShownRow) => number, reveal: () => void}} around
 *   frames: how many frames of the flame graph it is
 * @returns {HTMLElement}
 */
function rowSides(row, around) {
  const calls = row.base_count > 0 || row.new_count > 0;
  /** @type {[string, number | null, number | null, string][]} */
  const lines = [["Time per step", row.base_ns, row.new_ns, "ns"]];
  if (calls) {
    lines.push(["Count per step", row.base_count, row.new_count, ""]);
    lines.push(["Time of each", row.base_count > 0 ? row.base_ns / row.base_count : null,
                row.new_count > 0 ? row.new_ns / row.new_count : null, "ns"]);
  }
  const frames = around.frames(row);
  const [sign, word, kind] = wordsOfVerdict(row.verdict);
  /**
   * @param {number | null} value
   * @param {string} unit
   */
  const cell = (value, unit) => h("td", { class: "number", title: value === null ? null
    : exactValue(Math.round(value), unit) }, formatValue(value, unit));
  return h("aside", { class: "detail row-sides", "aria-label": "Details", tabindex: -1 },
    h("header", null, h("h2", null, row.key), h("button", {
      type: "button", class: "icon", "aria-label": "Close", title: "Close (Esc)",
      onclick: around.close,
    }, "\u00d7")),
    h("table", { class: "small-table", "aria-label": "Both sides" },
      h("thead", null, h("tr", null, ["", "Before", "Now", "Change"].map((name, place) =>
        place === 0 ? h("td") : h("th", { scope: "col", class: "number" }, name)))),
      h("tbody", null, lines.map(([name, base, now, unit]) => h("tr", null,
        h("th", { scope: "row" }, name), cell(base, unit), cell(now, unit),
        h("td", { class: "number" }, base === null || now === null ? "\u2013"
          : signedValue(now - base, unit),
          h("small", { class: "quiet" }, base === null || now === null ? ""
            : ` ${relativeChange(base, now)}`)))))),
    h("dl", { class: "pairs" },
      row.share === null ? null : [h("dt", null, "Share"),
        h("dd", null, `${formatValue(row.share, "share")} of the change of the step`)],
      row.low_ns === null || row.high_ns === null ? null : [h("dt", null, "Interval"),
        h("dd", null, `${signedValue(row.low_ns, "ns")} to ${signedValue(row.high_ns, "ns")} `,
          h("span", { class: `badge ${kind}` }, `${sign} ${word}`))],
      onlyOn(row) === null ? null : [h("dt", null, "Only on"),
        h("dd", null, onlyOn(row) === "new" ? "the new side" : "the base")],
      row.fuses.length === 0 ? null : [h("dt", null, "Fuses"),
        h("dd", null, row.fuses.join(", "))],
      !isGuessed(row) ? null : [h("dt", null, "Before"), h("dd", null, row.base_key ?? "",
        h("small", { class: "quiet" }, ` matched by its ${row.matched_by}: uncertain`))]),
    frames > 0 ? h("button", { type: "button", onclick: around.reveal },
                   frames === 1 ? "Its frame in the flame graph" : `Its ${
                     formatValue(frames)} frames in the flame graph`) : null);
}

/**
 * All divisions as tabs.
 * @param {import("./document.js").Comparison} comparison
 * @param {import("../data/source.js").Page} page
 * @param {{mark: (row: ShownRow | null) => number, reveal: () => void}} graph mark: marks the
 *   frames of a row and returns how many there are
 * @returns {HTMLElement}
 */
export function comparisonRows(comparison, page, graph) {
  const divisions = divisionTables(comparison);
  if (divisions.length === 0) {
    return emptyBox("Neither side has operators or GPU work in its steps.");
  }
  return tabPanels(divisions.map(({ table, rows }, place) => ({
    name: table.name, title: table.title,
    make: () => {
      const left = comparison.left_out.find((one) => one.by === table.name);
      const scoped = place === 0 ? page : scopedPage(page, table.name);
      graph.mark(null);
      return h("div", null, tableView(table, scoped, {
        dress: () => dressOf(rows),
        detail: (row, close) => rowSides(rows[row], {
          close, frames: (shown) => graph.mark(shown), reveal: () => graph.reveal(),
        }),
        opened: (row) => {
          if (row < 0) graph.mark(null);
        },
      }), left ? h("p", { class: "quiet" }, `The rows that are left out change by ${
        signedValue(left.change_ns, "ns")} together.`) : null);
    },
  })), page, "What to divide the step by");
}

