// The frames of a flame graph as arrays, without any drawing.
//
// Frames are numbered depth first: a frame comes before the frames below it, and these before its
// right neighbour. So the frames below frame f are f + 1 to end[f] - 1. Texts of frames come from
// the trace and are hostile: they are only compared here.

/**
 * Stacks as the view's JSON has them: docs/formats/views.md.
 * @typedef {object} Stacks
 * @property {string} name
 * @property {string} title
 * @property {string} unit `ns` or `bytes`
 * @property {number} total
 * @property {number} left_out
 * @property {number} names_cut
 * @property {string[]} texts
 * @property {number[]} kinds by text
 * @property {number[]} frame by node, its text
 * @property {number[]} parent by node, how many places before it its parent is
 * @property {number[]} self by node
 * @property {string|null} empty
 */

/**
 * @typedef {object} StackModel
 * @property {number} size frames, with the root
 * @property {Uint32Array} text by frame, the number of its text
 * @property {Float64Array} total by frame: the selfs of its subtree
 * @property {Float64Array} self
 * @property {Float64Array} start by frame, the weight to the left of it
 * @property {Uint32Array} depth by frame, 0 of the root
 * @property {Int32Array} parent by frame, -1 of the root
 * @property {Uint32Array} end by frame, one after the last frame below it
 * @property {Uint32Array} origin by frame, its number before children were ordered
 * @property {Uint32Array} levelFrames frames of level 0, then of level 1, ...; left to right
 * @property {Uint32Array} levelStart by level, where it begins in levelFrames; one more at the end
 * @property {Int32Array} place by origin, the frame
 */

/** What the numbers in `kinds` mean; also the names of their colours. */
export const stackKinds = ["op", "python", "cpp", "module", "runtime", "device", "other"];

/** What people read for them. */
export const stackKindNames = ["operator", "Python", "C++", "module", "runtime", "GPU", "other"];

/**
 * By node, the sum of the selfs of its subtree.
 * @param {ArrayLike<number>} parent how many places before a node its parent is; 0 of the root
 * @param {ArrayLike<number>} self
 * @returns {Float64Array}
 */
export function stackTotals(parent, self) {
  const totals = Float64Array.from(self);
  for (let node = totals.length - 1; node > 0; --node) {
    totals[node - parent[node]] += totals[node];
  }
  return totals;
}

/**
 * @param {Pick<Stacks, "texts"|"frame"|"parent"|"self">} stacks
 * @param {"weight"|"name"|"given"} order of the frames below one frame: heaviest first, by name, or as they are
 * @param {Float64Array} [totals] by node, if they are more than the selfs
 * @returns {StackModel}
 */
export function stackModel(stacks, order, totals = stackTotals(stacks.parent, stacks.self)) {
  const { parent, self } = stacks;
  const size = self.length;
  const children = stackChildren(parent, size);
  const rank = order === "name" ? stackNameRanks(stacks.texts) : null;
  /** @type {(a: number, b: number) => number} */
  const byWeight = (a, b) => totals[b] - totals[a] || stacks.frame[a] - stacks.frame[b] || a - b;
  /** @type {(a: number, b: number) => number} */
  const byName = (a, b) => (rank ? rank[stacks.frame[a]] - rank[stacks.frame[b]] : 0) || a - b;
  const compare = rank ? byName : byWeight;
  for (let node = 0; node < size && order !== "given"; ++node) {
    stackSortRange(children.nodes, children.first[node], children.first[node + 1], compare);
  }
  return stackAssemble(stacks, totals, children);
}

/**
 * The children of each node in one array: those of node n from first[n] to first[n + 1].
 * @param {ArrayLike<number>} parent
 * @param {number} size
 */
function stackChildren(parent, size) {
  const first = new Uint32Array(size + 2);
  for (let node = 1; node < size; ++node) ++first[node - parent[node] + 2];
  for (let node = 2; node <= size + 1; ++node) first[node] += first[node - 1];
  const nodes = new Uint32Array(Math.max(0, size - 1));
  for (let node = 1; node < size; ++node) nodes[first[node - parent[node] + 1]++] = node;
  return { first, nodes };
}

/**
 * By text, its place among the texts in the order of their UTF-16 units.
 * @param {string[]} texts
 */
function stackNameRanks(texts) {
  const order = texts.map((_, which) => which);
  order.sort((a, b) => (texts[a] < texts[b] ? -1 : texts[a] > texts[b] ? 1 : 0));
  const rank = new Uint32Array(texts.length);
  order.forEach((text, at) => { rank[text] = at; });
  return rank;
}

/**
 * Most frames have a few children; for these a call of sort() costs more than the sorting.
 * @param {Uint32Array} nodes
 * @param {number} from
 * @param {number} to
 * @param {(a: number, b: number) => number} compare
 */
function stackSortRange(nodes, from, to, compare) {
  if (to - from > 24) {
    nodes.subarray(from, to).sort(compare);
    return;
  }
  for (let next = from + 1; next < to; ++next) {
    const node = nodes[next];
    let at = next;
    for (; at > from && compare(nodes[at - 1], node) > 0; --at) nodes[at] = nodes[at - 1];
    nodes[at] = node;
  }
}

/**
 * @param {Pick<Stacks, "frame"|"parent"|"self">} stacks
 * @param {Float64Array} totals
 * @param {{first: Uint32Array, nodes: Uint32Array}} children
 * @returns {StackModel}
 */
function stackAssemble(stacks, totals, children) {
  const size = totals.length;
  /** @type {StackModel} */
  const model = {
    size, text: new Uint32Array(size), total: new Float64Array(size), self: new Float64Array(size),
    start: new Float64Array(size), depth: new Uint32Array(size), parent: new Int32Array(size),
    end: new Uint32Array(size), origin: new Uint32Array(size), place: new Int32Array(size),
    levelFrames: new Uint32Array(size), levelStart: new Uint32Array(1),
  };
  // Nodes, the next one last.
  const waiting = new Uint32Array(size);
  let count = size > 0 ? 1 : 0;
  for (let frame = 0; frame < size; ++frame) {
    const node = waiting[--count];
    model.origin[frame] = node;
    model.place[node] = frame;
    model.text[frame] = stacks.frame[node];
    model.total[frame] = totals[node];
    model.self[frame] = stacks.self[node];
    const above = node === 0 ? -1 : model.place[node - stacks.parent[node]];
    model.parent[frame] = above;
    model.depth[frame] = above < 0 ? 0 : model.depth[above] + 1;
    for (let at = children.first[node + 1]; at-- > children.first[node];) {
      waiting[count++] = children.nodes[at];
    }
  }
  const taken = new Float64Array(size);
  for (let frame = 1; frame < size; ++frame) {
    const above = model.parent[frame];
    model.start[frame] = model.start[above] + taken[above];
    taken[above] += model.total[frame];
  }
  for (let frame = size - 1; frame >= 0; --frame) {
    if (model.end[frame] === 0) model.end[frame] = frame + 1;
    const above = model.parent[frame];
    if (above >= 0 && model.end[above] === 0) model.end[above] = model.end[frame];
  }
  stackLevels(model);
  return model;
}

/** @param {StackModel} model */
function stackLevels(model) {
  let levels = 0;
  for (const depth of model.depth) levels = Math.max(levels, depth + 1);
  const start = new Uint32Array(levels + 1);
  for (let frame = 0; frame < model.size; ++frame) ++start[model.depth[frame] + 1];
  for (let level = 1; level <= levels; ++level) start[level] += start[level - 1];
  const next = start.slice();
  for (let frame = 0; frame < model.size; ++frame) {
    model.levelFrames[next[model.depth[frame]]++] = frame;
  }
  model.levelStart = start;
}

/**
 * The frames around a frame from the root on, and the frame.
 * @param {StackModel} model
 * @param {number} frame
 * @returns {number[]}
 */
export function stackPath(model, frame) {
  const path = [];
  for (; frame >= 0; frame = model.parent[frame]) path.push(frame);
  return path.reverse();
}

/**
 * A text matches if it contains the pattern, whatever the case; a pattern between two slashes is a
 * regular expression.
 * @param {string} pattern
 * @returns {((text: string) => boolean)|null} null if the regular expression is not valid
 */
export function stackMatcher(pattern) {
  if (pattern.length > 2 && pattern.startsWith("/") && pattern.endsWith("/")) {
    try {
      const expression = new RegExp(pattern.slice(1, -1), "i");
      return (text) => expression.test(text);
    } catch {
      return null;
    }
  }
  const lower = pattern.toLowerCase();
  return (text) => text.toLowerCase().includes(lower);
}

/**
 * Which frames match. A match inside a match is a match, but its weight counts once. The root is
 * not searched: it is not a frame of the trace.
 * @param {StackModel} model
 * @param {string[]} texts
 * @param {(text: string) => boolean} matches
 * @returns {{matches: Uint8Array, count: number, weight: number}}
 */
export function stackSearch(model, texts, matches) {
  const known = new Int8Array(texts.length).fill(-1);
  const found = { matches: new Uint8Array(model.size), count: 0, weight: 0 };
  let covered = 0;
  for (let frame = 1; frame < model.size; ++frame) {
    const text = model.text[frame];
    if (known[text] < 0) known[text] = matches(texts[text]) ? 1 : 0;
    if (known[text] === 0) continue;
    found.matches[frame] = 1;
    ++found.count;
    if (frame < covered) continue;
    found.weight += model.total[frame];
    covered = model.end[frame];
  }
  return found;
}

/**
 * @typedef {object} StackFunction
 * @property {number} text
 * @property {number} total a call inside a call of the same frame counts once
 * @property {number} self
 * @property {number} places how many boxes have this text
 * @property {number} frame the heaviest of them
 */

/**
 * The frames with the same text in one row, of those below `top` and of itself; largest self first.
 * @param {StackModel} model
 * @param {number} top
 * @returns {StackFunction[]}
 */
export function stackFunctions(model, top) {
  /** @type {Map<number, StackFunction & {covered: number}>} */
  const rows = new Map();
  for (let frame = Math.max(1, top); frame < model.end[top]; ++frame) {
    const text = model.text[frame];
    let row = rows.get(text);
    if (row === undefined) {
      row = { text, total: 0, self: 0, places: 0, frame, covered: 0 };
      rows.set(text, row);
    }
    ++row.places;
    row.self += model.self[frame];
    if (model.total[frame] > model.total[row.frame]) row.frame = frame;
    if (frame < row.covered) continue;
    row.total += model.total[frame];
    row.covered = model.end[frame];
  }
  return [...rows.values()].sort((a, b) => b.self - a.self || b.total - a.total || a.text - b.text);
}
