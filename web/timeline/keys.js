// Keys on a timeline, and where they lead from a selected range.
import { timelineBelow, timelineTouching } from "./queries.js";
import { timelineAround } from "./words.js";

/**
 * The neighbour of a range in its line, what is around it or inside it, or else the range at the
 * same time in the next line that has one in sight.
 * @param {import("./model.js").TimelineModel} model
 * @param {number} range
 * @param {string} key
 * @param {{from: number, to: number}} view what is in sight
 * @returns {number} -1 without one
 */
export function timelineNeighbour(model, range, key, view) {
  const lane = model.laneOf(range);
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const next = range + (key === "ArrowRight" ? 1 : -1);
    return next >= model.laneFirst[lane] && next < model.laneFirst[lane + 1] ? next : -1;
  }
  const isUp = key === "ArrowUp";
  if (isUp) {
    const around = timelineAround(model, range);
    if (around >= 0) return around;
  } else {
    const [first, last] = timelineBelow(model, range);
    if (last > first) return first;
  }
  const step = isUp ? -1 : 1;
  // From a range without others inside, down leaves its track.
  let next = (isUp ? lane : model.trackLane[model.laneTrack[lane] + 1] - 1) + step;
  for (; next >= 0 && next < model.lanes; next += step) {
    const [first, last] = timelineTouching(model, next, view.from, view.to);
    if (last > first) {
      return Math.max(first, model.beginning(model.start[range] + 1, first, last) - 1);
    }
  }
  return -1;
}

/**
 * What keys do.
 * @typedef {object} TimelineKeyActions
 * @property {(factor: number) => void} zoom
 * @property {(share: number) => void} pan by a share of the width
 * @property {() => void} all
 * @property {() => boolean} fit false: nothing is selected
 * @property {() => boolean} clear false: nothing was there to clear
 * @property {() => void} search
 * @property {(key: string) => boolean} arrow false: nothing is selected
 */

/**
 * @param {KeyboardEvent} event
 * @param {TimelineKeyActions} actions
 * @returns {boolean} whether the key was one of the timeline's
 */
export function timelineKeyed(event, actions) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey ||
      /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return false;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const far = event.shiftKey ? 0.5 : 0.15;
  // A grid has these keys for its rows, a button has Enter.
  if (target.closest(".grid") && (key.startsWith("Arrow") || key === "Enter")) return false;
  switch (key) {
    case "w": case "+": case "=": actions.zoom(0.7); return true;
    case "s": case "-": actions.zoom(1 / 0.7); return true;
    case "a": actions.pan(-far); return true;
    case "d": actions.pan(far); return true;
    case "e": actions.all(); return true;
    case "/": actions.search(); return true;
    case "f": return actions.fit();
    case "Enter": return !target.closest("button, summary") && actions.fit();
    case "Escape": return actions.clear();
    case "ArrowLeft": case "ArrowRight":
      if (!actions.arrow(key)) actions.pan(key === "ArrowLeft" ? -far : far);
      return true;
    // Without a selection they scroll.
    case "ArrowUp": case "ArrowDown": return actions.arrow(key);
    default: return false;
  }
}
