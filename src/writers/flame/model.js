// The frames of a flame graph as arrays, in an order where a frame comes before those on it, and
// these before its right neighbour. Texts of frames are hostile: they are only ever compared and
// set as text.

// `text`: see data.h.
function read_picture(text) {
  const data = JSON.parse(text);
  const texts = data.texts.split("\n").map((line, which) => {
    const name = line.replace(/\\[\\n]/g, (escape) => escape === "\\n" ? "\n" : "\\");
    const parts = data.labels[which];
    const labels = parts.length === 0 ? [name] : [];
    for (let part = 0; part < parts.length; part += 2) {
      labels.push(name.slice(parts[part], name.length - parts[part + 1]));
    }
    return { name, labels, color: "#" + data.colors.slice(6 * which, 6 * which + 6),
             is_ascii: /^[\x20-\x7e]*$/.test(name) };
  });
  return { unit: data.unit, texts, difference: read_difference(data.difference),
           model: new_model(data.depths, data.frames, data.totals, data.selves) };
}

// What a picture of a difference has by frame; null for others.
function read_difference(data) {
  if (data === undefined) return null;
  return {
    whole: data.whole, of_whole: data.is_per_step ? " of the step" : " of the total",
    palette: data.palette.match(/.{6}/g).map((color) => "#" + color),
    shades: data.shades, sides: data.sides, was: data.was,
    bases: data.bases.map(Number), news: data.news.map(Number),
    base_selves: data.base_selves.map(Number), new_selves: data.new_selves.map(Number),
  };
}

// What the matching frames took on both sides, those inside matching frames not counted again.
function difference_of_matches(model, difference, matches) {
  const sum = { base: 0, now: 0 };
  for (let frame = 1; frame < model.size;) {
    if (matches[frame] === 0) {
      ++frame;
      continue;
    }
    sum.base += difference.bases[frame];
    sum.now += difference.news[frame];
    frame = model.end[frame];
  }
  return sum;
}

// `totals` and `selves` are numbers, or texts where a number would not be exact.
function new_model(depths, texts, totals, selves) {
  const size = depths.length;
  const model = {
    size, totals, selves,
    depth: Uint32Array.from(depths), text: Uint32Array.from(texts),
    total: Float64Array.from(totals, Number), self: Float64Array.from(selves, Number),
    start: new Float64Array(size),  // weight to the left
    parent: new Int32Array(size),   // -1: none
    end: new Uint32Array(size),     // on frame f are f + 1 to end[f]
    levels: [],                     // frames by depth, from left to right
  };
  const path = [];
  const next_start = [0];  // by depth
  for (let frame = 0; frame < size; ++frame) {
    const depth = model.depth[frame];
    while (path.length > depth) model.end[path.pop()] = frame;
    model.parent[frame] = depth === 0 ? -1 : path[depth - 1];
    path.push(frame);
    model.start[frame] = next_start[depth];
    next_start[depth + 1] = next_start[depth];
    next_start[depth] += model.total[frame];
    if (depth === model.levels.length) model.levels.push([]);
    model.levels[depth].push(frame);
  }
  while (path.length > 0) model.end[path.pop()] = size;
  return model;
}

// The place of the first frame of a level that ends right of `weight`.
function place_on_level(model, level, weight) {
  const frames = model.levels[level];
  let low = 0;
  let high = frames.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const frame = frames[middle];
    if (model.start[frame] + model.total[frame] > weight) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The frame of a level over `weight`, -1 if there is none.
function frame_at(model, level, weight) {
  if (!Number.isInteger(level) || level < 0 || level >= model.levels.length) return -1;
  const frame = model.levels[level][place_on_level(model, level, weight)];
  return frame !== undefined && model.start[frame] <= weight ? frame : -1;
}

// The ancestors of a frame by depth, and the frame.
function path_to(model, frame) {
  const path = [];
  for (; frame >= 0; frame = model.parent[frame]) path.push(frame);
  return path.reverse();
}

// Frames of one function that a picture of callers has as one box. `places`: its frames in the
// model; `weights`: the weight of the calls that each of them leads to.
function new_caller(text) {
  return { text, total: 0, self: 0, places: [], weights: [], callers: [], is_cut: false };
}

function add_place(caller, place, weight) {
  caller.total += weight;
  const last = caller.places.length - 1;
  if (last >= 0 && caller.places[last] === place) {
    caller.weights[last] += weight;
  } else {
    caller.places.push(place);
    caller.weights.push(weight);
  }
}

// Moves the places of a caller to those that called them.
function find_callers(model, caller) {
  const known = new Map();
  caller.places.forEach((place, which) => {
    const next = model.parent[place];
    const weight = caller.weights[which];
    if (next <= 0) {
      caller.self += weight;
      return;
    }
    const text = model.text[next];
    if (!known.has(text)) known.set(text, new_caller(text));
    add_place(known.get(text), next, weight);
  });
  caller.callers = Array.from(known.values());
  caller.places = caller.weights = [];
}

// A deep stack with calls at all its levels has as many callers as the square of its depth.
const kMostCallers = 200000;  // then no more callers are looked for
const kMostMoves = 20000000;  // from places to their callers

// A model with all calls of a function as its root, their callers on it, and so on. A call inside
// another call of the function counts in that one. Callers of the heaviest boxes are found first;
// `cut` says by frame whether its callers are left out, `cut_count` how many are so.
function callers_of(model, text) {
  const root = new_caller(text);
  let covered = 0;
  for (let frame = 1; frame < model.size; ++frame) {
    if (model.text[frame] !== text || frame < covered) continue;
    covered = model.end[frame];
    add_place(root, frame, model.total[frame]);
  }
  const magnitude = (caller) => Math.floor(Math.log2(Math.max(1, caller.total)));
  const by_magnitude = [];  // a caller is never heavier than what it calls
  const wait = (caller) => (by_magnitude[magnitude(caller)] ||= []).push(caller);
  wait(root);
  let count = 1;
  let moves = 0;
  for (let of_one = by_magnitude.length - 1; of_one >= 0; --of_one) {
    const heaviest = by_magnitude[of_one] || [];
    for (let next = 0; next < heaviest.length; ++next) {
      const caller = heaviest[next];
      moves += caller.places.length;
      caller.is_cut = (count >= kMostCallers || moves > kMostMoves) &&
          caller.places.some((place) => model.parent[place] > 0);
      if (caller.is_cut) continue;
      find_callers(model, caller);
      count += caller.callers.length;
      caller.callers.forEach(wait);
    }
  }
  return model_of_callers(root);
}

function model_of_callers(root) {
  const depths = [], texts = [], totals = [], selves = [], cut = [];
  const waiting = [[root, 0]];
  while (waiting.length > 0) {
    const [node, depth] = waiting.pop();
    depths.push(depth);
    texts.push(node.text);
    totals.push(node.total);
    selves.push(node.self);
    cut.push(node.is_cut ? 1 : 0);
    // The widest first, so it is taken last from the callers' end.
    const callers = node.callers.sort((a, b) => a.total - b.total);
    for (const caller of callers) waiting.push([caller, depth + 1]);
  }
  return { ...new_model(depths, texts, totals, selves), cut,
           cut_count: cut.reduce((sum, is_cut) => sum + is_cut, 0) };
}

// By frame, whether its text matches; and the share of the root in matching frames, those inside
// matching frames not counted again. Throws if the pattern is not a regular expression.
function search_model(model, texts, pattern, match_case) {
  const expression = new RegExp(pattern, match_case ? "" : "i");
  const known = new Int8Array(texts.length).fill(-1);
  const matches = new Uint8Array(model.size);
  let weight = 0;
  let count = 0;
  let covered = 0;
  for (let frame = 1; frame < model.size; ++frame) {  // the root is not a part of what was found
    const text = model.text[frame];
    // The first test may throw as well: some patterns are too large only when they are used.
    if (known[text] < 0) known[text] = expression.test(texts[text].name) ? 1 : 0;
    if (known[text] === 0) continue;
    matches[frame] = 1;
    ++count;
    if (frame < covered) continue;
    weight += model.total[frame];
    covered = model.end[frame];
  }
  return { matches, count, share: weight / model.total[0] };
}
