// The tree of those who called a frame: the frame itself is the root, its callers are below it, and
// theirs below them. The weight of a frame is what the calls through it cost.
import { stackModel } from "./stacks.js";

/** More callers than these are not looked for: a deep stack can have the square of its depth. */
const callersMost = 200000;
/** Steps from a place to its caller. */
const callersMostSteps = 20000000;

/**
 * All places of the frames with one text that share the path down to the root of the tree.
 * @typedef {object} Caller
 * @property {number} text
 * @property {number} above number of the caller nearer to the root, -1 of the root
 * @property {number} total
 * @property {number} self weight of the calls that nothing in the stacks called
 * @property {number[]} places frames of the model
 * @property {number[]} weights by place
 * @property {boolean} isCut its callers are left out
 */

/**
 * A call inside another call of the same text counts in the outer one.
 * @param {import("./stacks.js").StackModel} model
 * @param {number} text whose callers
 * @param {"weight"|"name"} order
 * @param {string[]} texts
 * @returns {{model: import("./stacks.js").StackModel, cut: number, isCut: boolean[]}} cut: how many
 *     frames' callers are left out, because there are too many; isCut: by frame
 */
export function stackCallers(model, text, order, texts) {
  /** @type {Caller[]} */
  const callers = [{ text, above: -1, total: 0, self: 0, places: [], weights: [], isCut: false }];
  let covered = 0;
  for (let frame = 1; frame < model.size; ++frame) {
    if (model.text[frame] !== text || frame < covered) continue;
    covered = model.end[frame];
    callersAdd(callers[0], frame, model.total[frame]);
  }
  // Heaviest first, by powers of two, so that a limit leaves out what is narrow. A caller is never
  // heavier than what it calls.
  /** @type {number[][]} */
  const waiting = [];
  /** @param {number} which */
  const wait = (which) => {
    const magnitude = Math.floor(Math.log2(Math.max(1, callers[which].total)));
    (waiting[magnitude] ||= []).push(which);
  };
  wait(0);
  let steps = 0;
  for (let magnitude = waiting.length - 1; magnitude >= 0; --magnitude) {
    const list = waiting[magnitude] || [];
    for (let next = 0; next < list.length; ++next) {
      const which = list[next];
      const caller = callers[which];
      steps += caller.places.length;
      if (callers.length >= callersMost || steps > callersMostSteps) {
        caller.self = caller.total;
        caller.isCut = caller.places.some((place) => model.parent[place] > 0);
        continue;
      }
      const before = callers.length;
      callersExpand(model, callers, which);
      for (let added = before; added < callers.length; ++added) wait(added);
    }
  }
  const found = callersModel(callers, order, texts);
  return { model: found, cut: callers.filter((caller) => caller.isCut).length,
           isCut: Array.from(found.origin, (which) => callers[which].isCut) };
}

/**
 * @param {Caller} caller
 * @param {number} place
 * @param {number} weight
 */
function callersAdd(caller, place, weight) {
  caller.total += weight;
  const last = caller.places.length - 1;
  if (last >= 0 && caller.places[last] === place) {
    caller.weights[last] += weight;
  } else {
    caller.places.push(place);
    caller.weights.push(weight);
  }
}

/**
 * Moves the places of a caller to those that called them.
 * @param {import("./stacks.js").StackModel} model
 * @param {Caller[]} callers
 * @param {number} which
 */
function callersExpand(model, callers, which) {
  const caller = callers[which];
  /** @type {Map<number, Caller>} */
  const known = new Map();
  caller.places.forEach((place, at) => {
    const next = model.parent[place];
    if (next <= 0) {
      caller.self += caller.weights[at];
      return;
    }
    const text = model.text[next];
    let above = known.get(text);
    if (above === undefined) {
      above = { text, above: which, total: 0, self: 0, places: [], weights: [], isCut: false };
      known.set(text, above);
      callers.push(above);
    }
    callersAdd(above, next, caller.weights[at]);
  });
  caller.places = caller.weights = [];
}

/**
 * @param {Caller[]} callers
 * @param {"weight"|"name"} order
 * @param {string[]} texts
 */
function callersModel(callers, order, texts) {
  return stackModel({
    texts,
    frame: callers.map((caller) => caller.text),
    parent: callers.map((caller, which) => (which === 0 ? 0 : which - caller.above)),
    self: callers.map((caller) => caller.self),
  }, order);
}
