// Which rows of tables have a place in the timeline.
import assert from "node:assert/strict";
import { test } from "node:test";

import { timelinePart, timelineTarget } from "../parts/timeline_link.js";

const table = (columns, tree = null) => ({
  tree, columns: Object.entries(columns).map(([key, values]) => typeof values[0] === "string"
    ? { key, values: values.map((_, i) => i), texts: values, type: "text" } : { key, values, type: "number" }),
});

test("rows with a time lead to it, with what is around", () => {
  assert.deepEqual(timelineTarget("gpu", table({ start_ns: [1000], duration_ns: [500], after: ["k"] }), 0),
                   { from: "800", to: "1700", span: "1000:1500", range: null, find: null });
  assert.deepEqual(timelineTarget("events", table({ start_ns: [10], end_ns: [30], duration_ns: [99] }), 0).span, "10:30");
  assert.equal(timelineTarget("memory", table({ allocated_at_ns: [7], freed_at_ns: [9], operator: ["a"] }), 0).span, "7:9");
  const point = timelineTarget("memory", table({ allocated_at_ns: [7000000], freed_at_ns: [null] }), 0);
  assert.deepEqual([point.span, point.from, point.to], ["7000000:7000000", "6500000", "7500000"]);
  assert.equal(timelineTarget("checks", table({ example_at_ns: [5] }), 0).from, "-499995");
  assert.deepEqual(timelinePart(100, 100).span, "100:100");
});

test("rows of a name lead to the ranges of exactly this name", () => {
  assert.equal(timelineTarget("operators", table({ key: ["aten::add"] }), 0).find, "\"aten::add\"");
  assert.equal(timelineTarget("kernels", table({ operator: ["aten::mm"] }), 0).find, "\"aten::mm\"");
  assert.equal(timelineTarget("kernels", table({ operator: ["aten::mm"], name: ["gemm"] }), 0).find, "\"gemm\"");
  const tree = { name: "name", path: "path", depth: "depth" };
  assert.equal(timelineTarget("modules", table({ name: ["Linear_0"] }, tree), 0).find, "\"nn.Module: Linear_0\"");
});

test("other rows lead nowhere", () => {
  assert.equal(timelineTarget("operators", table({ key: ["[idle]"] }), 0), null);
  assert.equal(timelineTarget("memory", table({ operator: ["[unknown]"] }), 0), null);
  assert.equal(timelineTarget("modules", table({ name: ["[unattributed]"] }, { name: "name" }), 0), null);
  assert.equal(timelineTarget("modules", table({ name: ["Linear"] }), 0), null);
  assert.equal(timelineTarget("threads", table({ name: ["thread 1"] }), 0), null);
});
