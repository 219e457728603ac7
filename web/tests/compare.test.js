// What a comparison's document becomes before it is drawn.
import assert from "node:assert/strict";
import { test } from "node:test";
import { changedFrames, differenceModel, divisionTables, isGuessed, largestChanges, matchedTimes, onlyOn, shadeOf }
  from "../compare/document.js";
import { beforeAndNow, relativeChange, signedValue } from "../compare/words.js";
import { columnOf, cellOf } from "../data/table.js";

const row = (by, key, base_ns, new_ns, more = {}) => ({
  by, key, base_count: 1, new_count: 1, base_ns, new_ns, change_ns: new_ns - base_ns, low_ns: null, high_ns: null,
  verdict: "inconclusive", share: (new_ns - base_ns) / 100, matched_by: "name", base_key: null, fuses: [], ...more });

const comparison = (rows, left_out = []) => ({
  schema: "tbtrace.comparison/1", left_out, stacks: [], first_stacks: "cpu", no_stacks: null,
  diff: { base: ["a"], new: ["b"], comparable: "yes", reasons: [], verdict: "inconclusive", why: "", sentence: "", rows,
          step: { base_ns: 100, new_ns: 200, change: 1, low: null, high: null, resolvable: null, steps_low: null,
                  steps_high: null }, quantities: [] } });

test("a division without a name has no table, the others keep their order", () => {
  const tables = divisionTables(comparison([
    row("part", "cpu_op", 50, 120), row("operator", "aten::mm", 10, 90), row("operator", "aten::add", 40, 20),
    row("module", "[no module]", 100, 200)], [{ by: "operator", rows: 3, change_ns: 7 }]));
  assert.deepEqual(tables.map(({ table }) => table.name), ["operator", "part"]);
  const { table } = tables[0];
  assert.equal(table.left_out, 3);
  assert.deepEqual([0, 1].map((at) => cellOf(columnOf(table, "key"), at)), ["aten::mm", "aten::add"]);
  assert.deepEqual(columnOf(table, "change_ns").values, [80, -20]);
  assert.equal(columnOf(tables[1].table, "base_count"), null, "parts have no counts");
});

test("a row without an interval has no verdict", () => {
  const [{ table }] = divisionTables(comparison([
    row("operator", "a", 1, 2), row("operator", "b", 1, 2, { low_ns: 0, high_ns: 2 }),
    row("operator", "c", 1, 2, { verdict: "slower" })]));
  assert.deepEqual([0, 1, 2].map((at) => cellOf(columnOf(table, "verdict"), at)), [null, "inconclusive", "slower"]);
});

test("rows of one side, and pairs that were guessed", () => {
  assert.equal(onlyOn(row("kernel", "k", 5, 0, { matched_by: null })), "base");
  assert.equal(onlyOn(row("kernel", "k", 0, 5, { matched_by: null, base_count: 0 })), "new");
  assert.equal(onlyOn(row("kernel", "k", 5, 5)), null);
  assert.ok(isGuessed(row("kernel", "k", 5, 5, { matched_by: "shape", base_key: "j" })));
  assert.ok(!isGuessed(row("kernel", "k", 5, 5)));
});

test("the largest changes are those in the direction of the step", () => {
  const found = largestChanges(comparison([
    row("operator", "[nothing ran]", 0, 90), row("operator", "faster", 80, 10), row("operator", "slower", 0, 60),
    row("operator", "small", 0, 1)]), "operator", 3);
  assert.deepEqual(found.map(({ key }) => key), ["slower"]);
});

// all -> a (10/30) -> b (5/0: gone), and all -> c (0/4: new)
const stacks = {
  name: "cpu", title: "Time on the host", is_per_step: true, whole_ns: 100, base_ns: 15, new_ns: 34, left_out: 0,
  names_cut: 0, texts: ["", "a", "b", "c", "a(2)"], kinds: [6, 6, 6, 6, 6], frame: [0, 1, 2, 3], parent: [0, 1, 1, 3],
  side: [0, 0, 1, 2], was: [-1, 4, -1, -1], base_self: [0, 10, 5, 0], new_self: [0, 30, 0, 4], empty: null };

test("a frame is as wide as the longer of its sides, and the sides add up", () => {
  const { model, base, now, baseSelf, newSelf, side, shade, was } = differenceModel(stacks);
  const of = (text) => [...model.text].indexOf(text);
  assert.equal(model.total[0], 39);
  assert.deepEqual([base[0], now[0]], [15, 34]);
  const [a, b, c] = [of(1), of(2), of(3)];
  assert.deepEqual([model.total[a], base[a], now[a], baseSelf[a], newSelf[a]], [35, 15, 30, 10, 30]);
  assert.deepEqual([side[b], side[c], was[a], was[b]], [1, 2, 4, -1]);
  assert.deepEqual([shade[0], shade[a], shade[b], shade[c]], [3, 6, 0, 5]);
  assert.equal(model.parent[b], a);
});

test("what matches counts once on each side", () => {
  const difference = differenceModel(stacks);
  const matches = new Uint8Array(4);
  for (let frame = 1; frame < 4; ++frame) matches[frame] = difference.model.text[frame] === 3 ? 0 : 1;
  assert.deepEqual(matchedTimes(difference, matches), { base: 15, now: 30 });
  assert.deepEqual(matchedTimes(difference, new Uint8Array(4)), { base: 0, now: 0 });
});

test("frames that changed, the largest change first", () => {
  const difference = differenceModel(stacks);
  assert.deepEqual(changedFrames(difference, 0).map(({ text, base, now }) => [text, base, now]),
                   [[1, 10, 30], [2, 5, 0], [3, 0, 4]]);
});

test("shades begin at 0.1 %, 1 % and 5 % of the whole", () => {
  assert.deepEqual([0, 0.9, 1, 9.9, 10, 49, 50].map((change) => shadeOf(change, 1000)), [3, 3, 4, 4, 5, 5, 6]);
  assert.deepEqual([-1, -10, -50].map((change) => shadeOf(change, 1000)), [2, 1, 0]);
  assert.equal(shadeOf(5, 0), 6);
  assert.equal(shadeOf(0, 0), 3);
});

test("changes have signs", () => {
  assert.equal(signedValue(1500, "ns"), "+1.50\u00a0\u00b5s");
  assert.equal(signedValue(-1500, "ns"), "\u22121.50\u00a0\u00b5s");
  assert.equal(signedValue(0, "ns"), "0\u00a0ns");
  assert.equal(relativeChange(200, 300), "+50.0\u00a0%");
  assert.equal(relativeChange(0, 300), "");
  assert.equal(beforeAndNow(2000, 1000), "2.00\u00a0\u00b5s before, 1.00\u00a0\u00b5s now, \u22121.00\u00a0\u00b5s");
});
