// The tree of calls: rows in sight, the heaviest path, matches.
import assert from "node:assert/strict";
import { test } from "node:test";

import { countedReads } from "./counted_reads.js";
import { CallTree, callIndent, callPlaces } from "../data/call_tree.js";
import { stackModel } from "../data/stacks.js";

// all 100: main 70 (a 50 (b 30, c 20), b 20), a 30
const stacks = {
  texts: ["all", "main", "a", "b", "c"],
  frame: [0, 2, 1, 3, 2, 4, 3], parent: [0, 1, 2, 1, 2, 1, 2], self: [0, 30, 0, 20, 0, 20, 30],
};
const names = (tree, rows) => [...rows].map((frame) =>
  `${stacks.texts[tree.model.text[frame]]} ${tree.model.total[frame]}`);
const made = () => new CallTree(stackModel(stacks, "weight"));

test("only open frames show what is below, heaviest first", () => {
  const tree = made();
  assert.deepEqual(names(tree, tree.rows()), ["main 70", "a 30"]);
  assert.ok(tree.setOpen(1, true));
  assert.ok(!tree.setOpen(1, true), "is open already");
  assert.deepEqual(names(tree, tree.rows()), ["main 70", "a 50", "b 20", "a 30"]);
  tree.setAll(true);
  assert.deepEqual(names(tree, tree.rows()), ["main 70", "a 50", "b 30", "c 20", "b 20", "a 30"]);
  const leaf = tree.rows()[2];
  assert.ok(!tree.hasInner(leaf) && !tree.isOpen(leaf) && !tree.setOpen(leaf, true));
  tree.setOpen(1, false);
  assert.deepEqual(names(tree, tree.rows()), ["main 70", "a 30"]);
  tree.setOpen(1, true);
  assert.equal(tree.rows().length, 6, "what was open inside is open again");
});

test("the heaviest path ends at a frame without calls", () => {
  const tree = made();
  const last = tree.openHeaviest(0);
  assert.deepEqual(names(tree, [last]), ["b 30"]);
  assert.deepEqual(names(tree, tree.rows()), ["main 70", "a 50", "b 30", "c 20", "b 20", "a 30"]);
  assert.equal(tree.openHeaviest(last), last, "from a frame without calls it is that frame");
});

test("at first the frames are open that have most of the weight", () => {
  const tree = made();
  tree.openFirst();
  assert.ok(tree.isOpen(1) && tree.isOpen(2));
  const flat = new CallTree(stackModel({ texts: ["all", "a", "b", "c"], frame: [0, 1, 2, 3],
    parent: [0, 1, 2, 3], self: [0, 4, 3, 3] }, "weight"));
  flat.openFirst();
  assert.equal(flat.rows().length, 3);
});

test("a search opens what is around the matches, and nothing else", () => {
  const tree = made();
  tree.setAll(true);
  const matches = new Uint8Array(tree.model.size);
  for (let frame = 1; frame < matches.length; ++frame) {
    if (stacks.texts[tree.model.text[frame]] === "c") matches[frame] = 1;
  }
  tree.openMatches(matches);
  assert.deepEqual(names(tree, tree.rows()), ["main 70", "a 50", "b 30", "c 20", "b 20", "a 30"]);
  tree.openMatches(new Uint8Array(tree.model.size));
  assert.equal(tree.rows().length, 2);
});

test("a revealed frame is in sight, whatever was closed around it", () => {
  const tree = made();
  const deep = tree.openHeaviest(0);
  tree.setOpen(1, false);
  tree.reveal(deep);
  assert.ok(tree.rows().includes(deep));
});

test("places count frames by text", () => {
  const { model } = made();
  assert.deepEqual([...callPlaces(model, 5)], [0, 1, 2, 2, 1]);
});

test("deep rows are indented less, and never without end", () => {
  for (let level = 1; level < 60; ++level) assert.ok(callIndent(level) > callIndent(level - 1));
  assert.ok(callIndent(100000) < 25);
});

test("stacks without frames have no rows", () => {
  const tree = new CallTree(stackModel({ texts: ["all"], frame: [0], parent: [0], self: [0] }, "weight"));
  tree.openFirst();
  assert.equal(tree.rows().length, 0);
  assert.equal(tree.openHeaviest(0), 0);
});

test("Closed frames are not visited, and open ones once", () => {
  const size = 300000;
  const frame = [0], parent = [0], self = [0];
  for (let node = 1; node < size; ++node) {
    frame.push(1 + node % 50);
    parent.push(1 + (node * 7919) % Math.min(node, 9));
    self.push(node % 13);
  }
  const model = stackModel({ texts: Array.from({ length: 51 }, (_, i) => `f${i}`),
                             frame, parent, self }, "weight");
  const outermost = model.levelStart[2] - model.levelStart[1];
  assert.ok(outermost < size / 100);
  const end = countedReads(model.end);
  const tree = new CallTree({ ...model, end: end.list });
  tree.rows();
  assert.ok(end.reads() <= outermost);
  tree.setAll(true);
  assert.equal(tree.rows().length, size - 1);
  assert.ok(end.reads() <= 2 * size);
  tree.openMatches(Uint8Array.from(model.text, (text) => Number(text === 7)));
  assert.equal(end.reads(), 0);
  assert.ok(tree.rows().length < size);
  assert.ok(end.reads() <= size);
  tree.setAll(false);
  assert.equal(tree.rows().length, outermost);
  assert.ok(end.reads() <= outermost);
});
