// The ranks of a job: what cells show, how ranks are ordered, where collectives are drawn.
import assert from "node:assert/strict";
import { test } from "node:test";
import { activityParts, cellDifferences, cellQuantities, middleOf, rankOrder, rankParts, rankShade,
         readRanks, shadeScale } from "../ranks/document.js";
import { colorBetween } from "../ranks/cell_map.js";
import { rowsOfCollectives } from "../ranks/step_picture.js";
import { jobMark, RunList } from "../data/runs.js";

const cells = { ranks: [0, 1, 2], steps: [7, 8], excess_ns: [0, null, 5, 6, 0, 0],
                duration_ns: [100, 100, 100, 100, 100, null], compute_ns: [10, 20, 15, 30, 11, null] };

test("own time is compared as the document has it, other parts with the middle rank of the step", () => {
  assert.deepEqual(cellDifferences(cells, "excess_ns"), cells.excess_ns);
  assert.deepEqual(cellDifferences(cells, "compute_ns"), [-1, 0, 4, 10, 0, null]);
});

test("the middle of an even number is the lower one, as in C++", () => {
  assert.equal(middleOf([4, 1, null, 3, 2]), 2);
  assert.equal(middleOf([null]), null);
});

test("the scale has shades for noise of two per cent of a step", () => {
  assert.equal(shadeScale([0.5, -1], [1000, 1000]), 20);
  assert.equal(shadeScale([0.5, -90], [1000, 1000]), 90);
  assert.equal(rankShade(0, 20), 3);
  assert.equal(rankShade(50, 20), 6);
  assert.equal(rankShade(-10, 20), 1.5);
});

test("ranks are ordered by number, host or how late they are", () => {
  const rows = [{ rank: 0, host: "b", excess_ns: 1 }, { rank: 1, host: "a", excess_ns: null },
                { rank: 2, host: "a", excess_ns: 9 }];
  assert.deepEqual(rankOrder(rows, [0, 1, 2], "rank"), [0, 1, 2]);
  assert.deepEqual(rankOrder(rows, [0, 1, 2], "host"), [1, 2, 0]);
  assert.deepEqual(rankOrder(rows, [0, 1, 2], "excess"), [2, 0, 1]);
  assert.deepEqual(rankOrder(rows, [2, 0], "excess"), [0, 1]);
});

test("colours between two of a scale are mixed", () => {
  const colors = ["rgb(0, 0, 0)", "rgb(100, 200, 50)"];
  assert.equal(colorBetween(colors, 0.5), "rgb(50,100,25)");
  assert.equal(colorBetween(colors, 5), "rgb(100,200,50)");
  assert.equal(colorBetween(colors, -1), "rgb(0,0,0)");
});

test("collectives at the same time are below each other, of too many the last row has several", () => {
  assert.deepEqual(rowsOfCollectives([0, 5, 10, 12], [10, 10, 5, 1]), [0, 1, 0, 0].map((row, at) => at === 3 ? 2 : row));
  assert.deepEqual(rowsOfCollectives([0, 1, 2, 3, 4, 5], [9, 9, 9, 9, 9, 9]), [0, 1, 2, 3, 3, 3]);
});

test("each kind of time has a part, and each part a quantity", () => {
  assert.equal(activityParts.length, 8);
  assert.ok(activityParts.every((part) => part in rankParts));
  for (const [key] of rankParts) assert.ok(cellQuantities.some(([one]) => one === key), key);
});

test("another schema is refused", () => {
  const bytes = new TextEncoder().encode(JSON.stringify({ schema: "tbtrace.ranks/2" }));
  assert.throws(() => readRanks(bytes), /knows tbtrace\.ranks\/1/);
});

test("the job of a trace has the window of its number of each worker", () => {
  const window = (trace) => ({ trace, name: trace, start_ns: 0, bytes: 1, modified_ns: 1, version: `v${trace}` });
  const runs = new RunList({ schema: "", version: "", logdir: "/", is_complete: true, views: [], problems: [], runs: [
    { name: "a", workers: [{ name: "w0", windows: [window("a/0.1"), window("a/0.2")] },
                           { name: "w1", windows: [window("a/1.1")] }] }] });
  assert.deepEqual(runs.jobOf("a/0.1").map(({ trace }) => trace), ["a/0.1", "a/1.1"]);
  assert.deepEqual(runs.jobOf("a/0.2").map(({ trace }) => trace), ["a/0.2"]);
  assert.deepEqual(runs.jobOf("b"), []);
  assert.notEqual(jobMark(runs.jobOf("a/0.1")), jobMark(runs.jobOf("a/0.2")));
});
