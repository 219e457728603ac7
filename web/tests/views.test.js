// What views make of their tables, without drawing.
import assert from "node:assert/strict";
import { test } from "node:test";

import { gapParts, gapSentence, gapTime, gapWhy } from "../views/gpu_gaps.js";
import { familyKind, familyParts, tensorCoreBadge } from "../views/kernels.js";
import { flopsAreKnown } from "../views/flops.js";
import { memoryByPeak } from "../views/memory.js";
import { modelFigure, modelLabel } from "../views/model.js";

const column = (key, values, texts) => ({
  key, unit: "", meaning: "", type: texts ? "text" : "number", values, ...(texts ? { texts } : {}),
});
const table = (columns, more = {}) => ({
  name: "t", title: "", command: null, rows: columns[0]?.values.length ?? 0, left_out: 0,
  names_cut: 0, sort_by: null, shown: [], tree: null, columns, totals: {}, totals_label: "",
  notes: [], empty: null, ...more,
});

test("a gap says where the host was, what came next, and why", () => {
  assert.equal(gapSentence({ host: "Optimizer.step#AdamW.step", operator: "aten::_foreach_add_",
    before: "kernel", why: "host_python" }),
  "host in Optimizer.step#AdamW.step, before aten::_foreach_add_ (host python)");
  assert.equal(gapSentence({ before: "kernel" }), "before kernel");
  assert.equal(gapSentence({ host: null, operator: "", before: null, after: "copy", cause: "odd_one" }),
               "after copy (odd one)");
  assert.equal(gapSentence({ why: "launch" }), "launch");
  assert.equal(gapSentence({ host: "[idle]", why: "nothing_recorded" }), "host idle (nothing was recorded)");
  assert.equal(gapTime(2895123), "2.895\u00a0ms");
  assert.equal(gapTime(577000), "577\u00a0\u00b5s");
  assert.equal(gapSentence({}), "nothing is known about it");
  assert.equal(gapWhy({ why: null, cause: "host_wait" }), "host wait");
});

test("idle time is divided by the totals of all gaps, largest first", () => {
  const parts = gapParts({ gaps: 9000, idle_ns: 9, data_ns: 1, copies_ns: 5, launches_ns: 0, unknown_ns: 3 });
  assert.deepEqual(parts.map(({ label, value }) => [label, value]),
                   [["the host had waited for copies", 5], ["unknown launch", 3], ["waiting for the data loader", 1]]);
  assert.equal(new Set(parts.map(({ kind }) => kind)).size, 3);
});

test("families of several ranks are one part, and what is left out is one", () => {
  const families = table([column("family", [0, 1, 0], ["gemm", "x<y"]),
                          column("total_ns", [10, 5, 7])],
                         { left_out: 2, totals: { total_ns: 30 } });
  assert.deepEqual(familyParts(families), [
    { label: "gemm", kind: "family-gemm", value: 17 }, { label: "x<y", kind: "other", value: 5 },
    { label: "not listed", kind: "idle", value: 8 }]);
  assert.deepEqual(familyParts(table([])), []);
  assert.equal(familyKind(null), "other");
});

test("tensor cores are missed only where they could help", () => {
  assert.equal(tensorCoreBadge(true, "gemm")?.severity, "good");
  assert.equal(tensorCoreBadge(false, "attention")?.severity, "warning");
  assert.equal(tensorCoreBadge(false, "optimizer"), null);
  assert.equal(tensorCoreBadge(null, "gemm"), null);
});

test("FLOPs are known if one operator was counted", () => {
  const of = (flops, states) => ({ tables: [table([
    column("state", states, ["counted", "unknown_sizes"]), column("flops", flops)])] });
  assert.ok(flopsAreKnown(of([null, 5], [1, 0])));
  assert.ok(!flopsAreKnown(of([null, 0], [1, 0])));
  assert.ok(!flopsAreKnown(of([3], [1])));
  assert.ok(flopsAreKnown({ tables: [table([])] }), "an empty table says itself why");
});

test("devices with the largest peak come first", () => {
  const rows = [{ peak_bytes: 1 }, { peak_bytes: null }, { peak_bytes: 9 }];
  assert.deepEqual(memoryByPeak(rows).map((row) => row.peak_bytes), [9, 1, null]);
  assert.equal(rows[0].peak_bytes, 1, "the table stays as it is");
});

test("each figure of a model has its unit", () => {
  const shown = Object.entries({ parameters: 25557032, macs: 4089184256, flops: 12, steps: 6,
    achieved_flops_per_s: 9.85e12, throughput_per_s: 1503.7, model_bytes: 102228128,
    latency_mean_ns: 12345678, mfu: 0.412, uncounted_time_share: 0, samples_per_step: 32,
    energy_j: null, trainable_parameters: null })
    .map(([figure, value]) => modelFigure(figure, value).replaceAll(/[\u00a0\u202f]/g, " "));
  assert.deepEqual(shown, ["25.6 M", "4.09 GMAC", "12 FLOP", "6", "9.85 TFLOP/s", "1.50 k/s", "97.5 MiB",
    "12.3 ms", "41.2 %", "0.0 %", "32", "\u2013", "\u2013"]);
  assert.deepEqual(["model_bytes", "peak_bytes", "latency_mean_ns"].map(modelLabel),
                   ["model size", "peak memory", "latency mean"]);
});
