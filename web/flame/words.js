// What people read about the frames of a flame graph.
import { h } from "../parts/dom.js";
import { formatValue } from "../parts/format.js";
import { stackKindNames, stackKinds, stackPath } from "../data/stacks.js";

/** Of deeper stacks the path leaves out the middle. */
const flamePathMost = 60;

/**
 * @param {number} part
 * @param {number} whole
 * @returns {string}
 */
export function flameShare(part, whole) {
  return formatValue(whole > 0 ? part / whole : 0, "share");
}

/**
 * One line about a frame: its total, its shares, its own weight.
 * @param {import("../data/stacks.js").StackModel} model
 * @param {number} frame
 * @param {number} all weight of all stacks
 * @param {string} unit
 * @param {boolean} isCallers whether the model is a tree of callers
 * @returns {string}
 */
export function flameNumbers(model, frame, all, unit, isCallers) {
  const total = model.total[frame];
  const parts = [formatValue(total, unit), flameShare(total, all) + " of all"];
  const above = model.parent[frame];
  if (above > 0) {
    parts.push(flameShare(total, model.total[above]) +
               (isCallers ? " of what it calls" : " of the frame around it"));
  }
  if (!isCallers) {
    parts.push("self " + (model.self[frame] === 0 ? "0" : formatValue(model.self[frame], unit)));
  }
  return parts.join(", ");
}

/**
 * The colours of the kinds that occur.
 * @param {import("../data/source.js").Stacks} stacks
 * @returns {HTMLElement}
 */
export function flameLegend(stacks) {
  const seen = new Set();
  for (let node = 1; node < stacks.frame.length; ++node) {
    seen.add(stacks.kinds[stacks.frame[node]] ?? 6);
  }
  return h("ul", { class: "chart-legend" }, [...seen].sort().map((kind) =>
    h("li", null, h("span", { class: `swatch flame-swatch-${stackKinds[kind]}`,
                              "aria-hidden": true }), stackKindNames[kind])));
}

/**
 * What limits left out; empty if nothing is.
 * @param {import("../data/source.js").Stacks} stacks
 * @param {number} cut frames whose callers are left out
 * @returns {string}
 */
export function flameNotes(stacks, cut) {
  /**
   * @param {number} count
   * @param {string} one
   * @param {string} more
   */
  const many = (count, one, more) =>
    formatValue(count) + " " + (count === 1 ? one : more);
  const notes = [];
  if (stacks.left_out > 0) {
    notes.push(many(stacks.left_out, "small frame is left out; its weight counts",
                    "small frames are left out; their weight counts") +
               " for the frame around.");
  }
  if (stacks.names_cut > 0) {
    notes.push(many(stacks.names_cut, "name is", "names are") + " cut to 500 characters.");
  }
  if (cut > 0) {
    notes.push("The callers of " + many(cut, "narrow frame", "narrow frames") +
               " are left out, because there are too many.");
  }
  return notes.join(" ");
}

/**
 * The frames from the root to the zoomed one; the others are buttons.
 * @param {import("../data/stacks.js").StackModel} model
 * @param {number} zoomed
 * @param {(frame: number) => string} nameOf
 * @param {(frame: number) => void} onZoom
 * @returns {HTMLElement[]}
 */
export function flamePath(model, zoomed, nameOf, onZoom) {
  const path = stackPath(model, zoomed);
  const hidden = Math.max(0, path.length - flamePathMost);
  return path.flatMap((frame, at) => {
    // The root stays, because it leads back to everything.
    if (at > 0 && at < hidden) return [];
    if (at > 0 && at === hidden) {
      return [h("span", { class: "quiet" }, `\u203a \u2026 ${formatValue(hidden)} more`)];
    }
    const name = nameOf(frame);
    const arrow = h("span", { class: "quiet", "aria-hidden": true }, "\u203a");
    const link = at + 1 === path.length
      ? h("span", { class: "flame-here", title: name }, name)
      : h("button", { type: "button", class: "link", title: name, onclick: () => onZoom(frame) },
          name);
    return at === 0 ? [link] : [arrow, link];
  });
}
