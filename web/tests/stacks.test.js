// The model of flame graphs against simple versions of the same, over random trees.
import { test } from "node:test";
import assert from "node:assert/strict";
import { countedReads } from "./counted_reads.js";
import { stackCallers } from "../data/stacks_callers.js";
import { stackBoxes, stackFrameAt, stackNarrowest, stackNeighbour } from "../data/stacks_layout.js";
import { stackBareName, stackShortName } from "../data/stacks_names.js";
import {
  stackFunctions, stackMatcher, stackModel, stackPath, stackSearch, stackTotals,
} from "../data/stacks.js";

function randomNumbers(seed) {
  let state = seed * 2654435761 % 4294967296;
  return (below) => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return Math.floor(state / 4294967296 * below);
  };
}

function randomStacks(seed, size, names = 12, deep = 4) {
  const random = randomNumbers(seed);
  const texts = ["all", ...Array.from({ length: names }, (_, at) => "f" + (at * 7 % names))];
  const stacks = { texts, frame: [0], parent: [0], self: [0] };
  for (let node = 1; node < size; ++node) {
    stacks.frame.push(1 + random(names));
    stacks.parent.push(1 + random(Math.min(node, deep)));
    stacks.self.push(random(3) === 0 ? 0 : random(1000));
  }
  return stacks;
}

// By node, its children and its total, by recursion.
function plainTree(stacks) {
  const nodes = stacks.self.map((self, which) => ({
    which, self, text: stacks.frame[which], children: [], total: 0,
  }));
  nodes.forEach((node, which) => {
    if (which > 0) nodes[which - stacks.parent[which]].children.push(node);
  });
  const sum = (node) => node.total = node.children.reduce((all, child) => all + sum(child),
                                                          node.self);
  sum(nodes[0]);
  return nodes;
}

function allPaths(node, above, visit) {
  const path = [...above, node];
  visit(path);
  for (const child of node.children) allPaths(child, path, visit);
}

const seeds = Array.from({ length: 60 }, (_, at) => at + 1);

test("Totals are sums of subtrees", () => {
  for (const seed of seeds) {
    const stacks = randomStacks(seed, 1 + seed * 5);
    const expected = plainTree(stacks).map((node) => node.total);
    assert.deepEqual([...stackTotals(stacks.parent, stacks.self)], expected);
  }
});

test("Frames are numbered depth first in the chosen order", () => {
  for (const order of ["weight", "name"]) {
    for (const seed of seeds) {
      const stacks = randomStacks(seed, 1 + seed * 7, 6);
      const nodes = plainTree(stacks);
      const compare = order === "weight"
        ? (a, b) => b.total - a.total || a.text - b.text || a.which - b.which
        : (a, b) => (stacks.texts[a.text] < stacks.texts[b.text] ? -1 :
            stacks.texts[a.text] > stacks.texts[b.text] ? 1 : a.which - b.which);
      const expected = [];
      const walk = (node, depth, start) => {
        const row = [node.which, node.text, node.total, node.self, depth, start, 0];
        expected.push(row);
        for (const child of [...node.children].sort(compare)) {
          walk(child, depth + 1, start);
          start += child.total;
        }
        row[6] = expected.length;
      };
      walk(nodes[0], 0, 0);
      const model = stackModel(stacks, order);
      assert.equal(model.size, nodes.length);
      expected.forEach((row, frame) => {
        assert.deepEqual([model.origin[frame], model.text[frame], model.total[frame],
                          model.self[frame], model.depth[frame], model.start[frame],
                          model.end[frame]], row);
        assert.equal(model.place[model.origin[frame]], frame);
      });
    }
  }
});

test("Many children are ordered too", () => {
  const stacks = randomStacks(5, 400, 9, 400);
  const model = stackModel(stacks, "weight");
  for (let frame = 2; frame < model.size; ++frame) {
    if (model.parent[frame] !== model.parent[frame - 1]) continue;
    assert.ok(model.total[frame - 1] >= model.total[frame]);
  }
});

test("An empty tree has only its root", () => {
  const model = stackModel({ texts: ["all"], frame: [0], parent: [0], self: [0] }, "weight");
  assert.equal(model.size, 1);
  assert.equal(model.total[0], 0);
  assert.equal(stackBoxes(model, 0, 500, 0, 5).count, 1);
  assert.deepEqual(stackFunctions(model, 0), []);
});

test("A path leads from the root to the frame", () => {
  const model = stackModel(randomStacks(3, 200), "weight");
  for (let frame = 0; frame < model.size; ++frame) {
    const path = stackPath(model, frame);
    assert.equal(path[0], 0);
    assert.equal(path.at(-1), frame);
    path.forEach((at, depth) => assert.equal(model.depth[at], depth));
  }
});

test("Search counts nested matches once", () => {
  for (const seed of seeds) {
    const stacks = randomStacks(seed, 10 + seed * 4);
    const nodes = plainTree(stacks);
    const matches = (text) => text.endsWith("3") || text === "f1";
    let weight = 0;
    let count = 0;
    allPaths(nodes[0], [], (path) => {
      const hit = path.slice(1).map((node) => matches(stacks.texts[node.text]));
      if (hit.length === 0 || !hit.at(-1)) return;
      ++count;
      if (!hit.slice(0, -1).includes(true)) weight += path.at(-1).total;
    });
    const found = stackSearch(stackModel(stacks, "weight"), stacks.texts, matches);
    assert.deepEqual([found.count, found.weight], [count, weight]);
    assert.equal(found.matches.reduce((sum, one) => sum + one, 0), count);
  }
});

test("Patterns are texts, or regular expressions between slashes", () => {
  assert.equal(stackMatcher("MM(")("aten::mm(a)"), true);
  assert.equal(stackMatcher("m.")("aten::mm"), false);
  assert.equal(stackMatcher("/^aten::m.$/")("aten::MM"), true);
  assert.equal(stackMatcher("/(/"), null);
  assert.equal(stackMatcher("//")("a//b"), true);
});

test("Callers are the reversed stacks that lead to a frame", () => {
  for (const seed of seeds) {
    const stacks = randomStacks(seed, 10 + seed * 4, 5);
    const nodes = plainTree(stacks);
    const text = stacks.frame[stacks.frame.length - 1];
    const expected = new Map();  // by reversed stack, the weight of the calls through it
    allPaths(nodes[0], [], (path) => {
      const names = path.slice(1).map((node) => node.text);
      if (names.length === 0 || names.at(-1) !== text || names.slice(0, -1).includes(text)) return;
      const reversed = names.reverse();
      for (let length = 1; length <= reversed.length; ++length) {
        const key = reversed.slice(0, length).join(" ");
        expected.set(key, (expected.get(key) || 0) + path.at(-1).total);
      }
    });
    const { model, cut } = stackCallers(stackModel(stacks, "weight"), text, "weight", stacks.texts);
    assert.equal(cut, 0);
    const actual = new Map();
    for (let frame = 0; frame < model.size; ++frame) {
      const key = stackPath(model, frame).map((at) => model.text[at]).join(" ");
      assert.equal(actual.has(key), false);
      actual.set(key, model.total[frame]);
    }
    assert.deepEqual(actual, expected);
  }
});

test("Rows of functions count recursion once", () => {
  for (const seed of seeds) {
    const stacks = randomStacks(seed, 10 + seed * 4, 4);
    const model = stackModel(stacks, "weight");
    const top = seed % 2 === 0 ? 0 : Math.min(model.size - 1, 3);
    const expected = new Map();
    for (let frame = Math.max(1, top); frame < model.end[top]; ++frame) {
      const text = model.text[frame];
      const row = expected.get(text) || { total: 0, self: 0, places: 0 };
      row.self += model.self[frame];
      ++row.places;
      const around = stackPath(model, frame).slice(0, -1).filter((at) => at >= top && at > 0);
      if (!around.some((at) => model.text[at] === text)) row.total += model.total[frame];
      expected.set(text, row);
    }
    const rows = stackFunctions(model, top);
    assert.equal(rows.length, expected.size);
    for (const { text, total, self, places, frame } of rows) {
      assert.deepEqual({ total, self, places }, expected.get(text));
      assert.equal(model.text[frame], text);
    }
    rows.slice(1).forEach((row, at) => assert.ok(rows[at].self >= row.self));
  }
});

test("Boxes cover what is at least half a pixel wide, and merge the rest", () => {
  for (const seed of seeds) {
    const model = stackModel(randomStacks(seed, 50 + seed * 20, 12, 30), "weight");
    const zoomed = seed % 3 === 0 ? 0 : seed % Math.min(9, model.size);
    const width = 20 + seed * 3;
    const boxes = stackBoxes(model, zoomed, width, 0, 1000);
    const scale = model.total[zoomed] > 0 ? width / model.total[zoomed] : 0;
    const drawn = new Map();
    let merged = 0;
    for (let box = 0; box < boxes.count; ++box) {
      if (boxes.merged[box] > 1) merged += boxes.merged[box];
      if (boxes.merged[box] === 1) drawn.set(boxes.frame[box], [boxes.x[box], boxes.width[box]]);
      assert.equal(boxes.level[box], model.depth[boxes.frame[box]]);
    }
    assert.equal(boxes.hidden, merged);
    let narrow = 0;
    for (let frame = zoomed + 1; frame < model.end[zoomed]; ++frame) {
      const wide = model.total[frame] * scale;
      if (wide >= stackNarrowest) {
        assert.deepEqual(drawn.get(frame), [(model.start[frame] - model.start[zoomed]) * scale,
                                            wide]);
      } else if (model.total[frame] > 0) {
        ++narrow;
      }
    }
    for (const above of stackPath(model, zoomed)) assert.deepEqual(drawn.get(above), [0, width]);
    let counted = 0;
    for (let box = 0; box < boxes.count; ++box) {
      const frame = boxes.frame[box];
      if (model.depth[frame] > model.depth[zoomed] &&
          model.total[frame] * scale < stackNarrowest) counted += boxes.merged[box];
    }
    assert.ok(counted >= narrow);
  }
});

test("A frame is found by its level and weight", () => {
  const model = stackModel(randomStacks(11, 300, 12, 20), "weight");
  for (let level = 0; level + 1 < model.levelStart.length; ++level) {
    for (let weight = 0; weight < model.total[0]; weight += 97) {
      const expected = [...model.total.keys()].filter((frame) => model.depth[frame] === level &&
          model.start[frame] <= weight && weight < model.start[frame] + model.total[frame]);
      assert.equal(stackFrameAt(model, level, weight), expected.length > 0 ? expected[0] : -1);
    }
  }
  assert.equal(stackFrameAt(model, -1, 0), -1);
  assert.equal(stackFrameAt(model, 100000, 0), -1);
});

test("Neighbours are below the same frame", () => {
  const model = stackModel(randomStacks(12, 300, 12, 20), "weight");
  for (let frame = 0; frame < model.size; ++frame) {
    const siblings = [...model.parent.keys()].filter(
      (other) => frame > 0 && model.parent[other] === model.parent[frame]);
    const at = siblings.indexOf(frame);
    assert.equal(stackNeighbour(model, frame, 1), at < 0 ? -1 : siblings[at + 1] ?? -1);
    assert.equal(stackNeighbour(model, frame, -1), at < 0 ? -1 : siblings[at - 1] ?? -1);
  }
});

test("A layout visits the frames in sight once, and makes few boxes", () => {
  const size = 300000, width = 1400;
  const model = stackModel(randomStacks(9, size, 3000, 4000), "weight");
  const { list, reads } = countedReads(model.levelFrames);
  const counted = { ...model, levelFrames: list };
  const levels = model.levelStart.length - 1;
  // A level's first frame in sight is searched for; the first frame after the last one is read too.
  const search = levels * (Math.ceil(Math.log2(size)) + 1);
  for (const zoomed of [0, 1, model.levelFrames[model.levelStart[3] - 1]]) {
    const boxes = stackBoxes(counted, zoomed, width, 0, 1000);
    assert.ok(boxes.count > (zoomed === 0 ? 100 : 0));
    assert.ok(reads() <= model.end[zoomed] - zoomed + search, `frame ${zoomed}`);
    // Each box is half a pixel wide at least, and so is what is between two merged ones.
    assert.ok(boxes.count <= levels * width * 4, `${boxes.count} boxes`);
  }
  // Levels out of sight cost nothing.
  stackBoxes(counted, 0, width, 3, 3);
  assert.ok(reads() <= model.levelStart[4] - model.levelStart[3] + search);
});

test("Short names leave out folders, parameters and template arguments", () => {
  const python = "/usr/lib/torch/nn/modules/module.py(12): _call_impl";
  assert.equal(stackShortName(python, 1), "module.py(12): _call_impl");
  assert.equal(stackBareName(python, 1), "_call_impl");
  assert.equal(stackShortName("<built-in method run>", 1), "<built-in method run>");
  const kernel = "void at::native::(anonymous namespace)::copy_kernel<4, float>(int, char*)";
  assert.equal(stackShortName(kernel, 5), "at::native::copy_kernel");
  assert.equal(stackBareName(kernel, 5), "copy_kernel");
  assert.equal(stackShortName("ampere_sgemm_128x64_tn", 5), "ampere_sgemm_128x64_tn");
  assert.equal(stackShortName("<lambda>", 2), "<lambda>");
  assert.equal(stackShortName("f<(", 2), "f<(");
  assert.equal(stackBareName("aten::mm", 0), "mm");
  assert.equal(stackBareName("aten::", 0), "aten::");
  assert.equal(stackShortName("nn.Module: Linear_0", 3), "Linear_0");
});

test("an order that is given stays, and so do totals that have more than the selfs", () => {
  // all -> a -> (b, c), and all -> d: depth first, not by weight.
  const stacks = { texts: ["all", "a", "b", "c", "d"], frame: [0, 1, 2, 3, 4], parent: [0, 1, 1, 2, 4],
                   self: [0, 0, 1, 5, 20] };
  const model = stackModel(stacks, "given", Float64Array.of(30, 8, 1, 5, 22));
  assert.deepEqual([...model.origin], [0, 1, 2, 3, 4]);
  assert.deepEqual([...model.total], [30, 8, 1, 5, 22]);
  assert.deepEqual([...model.start], [0, 0, 0, 1, 8]);
});

test("frames whose callers are left out are known", () => {
  // A call at each of 700 levels, each by another function: 700 * 700 / 2 callers.
  const stacks = { texts: ["all", "f"], frame: [0], parent: [0], self: [0] };
  for (let level = 0; level < 700; ++level) {
    stacks.texts.push(`g${level}`);
    stacks.frame.push(2 + level, 1);
    stacks.parent.push(level === 0 ? 1 : 2, 1);
    stacks.self.push(0, 1000 - level);
  }
  const { model, cut, isCut } = stackCallers(stackModel(stacks, "weight"), 1, "weight", stacks.texts);
  assert.ok(cut > 0);
  assert.equal(isCut.length, model.size);
  assert.equal(isCut.filter(Boolean).length, cut);
  isCut.forEach((is, frame) => assert.ok(!is || model.self[frame] === model.total[frame], `frame ${frame}`));
});
