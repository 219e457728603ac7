// The frames of a flame graph as arrays, in an order where a frame comes before those on it, and
// these before its right neighbour. Texts of frames are hostile: they are only ever compared and
// set as text.

// `text`: see flame_graph_data.h.
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
  return { unit: data.unit, texts,
           model: new_model(data.depths, data.frames, data.totals, data.selves) };
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

// A model with all calls of a function as its root, their callers on it, and so on. A call inside
// another call of the function counts in that one.
function callers_of(model, text) {
  const root = { text, total: 0, self: 0, callers: new Map() };
  let covered = 0;
  for (let frame = 1; frame < model.size; ++frame) {
    if (model.text[frame] !== text || frame < covered) continue;
    covered = model.end[frame];
    let node = root;
    node.total += model.total[frame];
    for (let caller = model.parent[frame]; caller > 0; caller = model.parent[caller]) {
      const known = node.callers.get(model.text[caller]);
      const next = known || { text: model.text[caller], total: 0, self: 0, callers: new Map() };
      if (!known) node.callers.set(next.text, next);
      next.total += model.total[frame];
      node = next;
    }
    node.self += model.total[frame];
  }
  const depths = [], texts = [], totals = [], selves = [];
  const waiting = [[root, 0]];
  while (waiting.length > 0) {
    const [node, depth] = waiting.pop();
    depths.push(depth);
    texts.push(node.text);
    totals.push(node.total);
    selves.push(node.self);
    // The widest first, so it is taken last from the callers' end.
    const callers = Array.from(node.callers.values()).sort((a, b) => a.total - b.total);
    for (const caller of callers) waiting.push([caller, depth + 1]);
  }
  return new_model(depths, texts, totals, selves);
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
