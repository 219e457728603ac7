// The pixels of a line against brute force, and where tracks, ticks and views are.
import assert from "node:assert/strict";
import { test } from "node:test";

import { timelineBoxAt, timelineClamp, timelineFit, timelineLayout, timelineZoom } from "../timeline/layout.js";
import { timelineLabels, timelineLine, timelineMarks, timelineMix } from "../timeline/line.js";
import { timelineKindOf, timelineKinds, timelineKindName } from "../timeline/kinds.js";
import { TimelineModel } from "../timeline/model.js";
import { timelineSearch } from "../timeline/queries.js";
import { timelineNotes } from "../timeline/words.js";
import { randomNumbers, timelineDocument } from "./timeline_documents.js";

/** A model of one line: ranges that do not overlap. */
function lineModel(random, count, { zero = true } = {}) {
  let at = 0;
  const ranges = Array.from({ length: count }, () => {
    at += random(3) ? 0 : random(30);
    const duration = zero && !random(4) ? 0 : 1 + random([3, 20, 200][random(3)]);
    const range = { start: at, duration, name: `n${random(40)}` };
    // Two without length at one place would need two lines.
    at += Math.max(duration, 1);
    return range;
  });
  const model = new TimelineModel(timelineDocument([{ ranges }]));
  assert.equal(model.lanes, 1);
  return { model, end: at };
}

/** Colours that tell names apart in each byte. */
const colorsOf = (model, least = 96) => ({
  names: Uint32Array.from(model.names, (_, name) => (0xff000000 | (name + 1) * 0x050301) >>> 0),
  ground: 0xff000000, least,
});

test("each pixel has the colour of its longest range, as strong as ranges cover it", () => {
  for (let seed = 1; seed <= 120; seed++) {
    const random = randomNumbers(seed * 31);
    const { model, end } = lineModel(random, 1 + random([4, 60, 900][seed % 3]));
    const colors = colorsOf(model);
    const width = 1 + random(150);
    const from = random(end) - random(50);
    const step = [0.07, 0.5, 1, 3.7, 40, 900][random(6)];
    const out = new Uint32Array(width + 2).fill(colors.ground);
    timelineLine(model, 0, model.size, from, step, width, out, 1, colors, null, 0);
    assert.equal(out[0], colors.ground);
    assert.equal(out[width + 1], colors.ground);
    for (let pixel = 0; pixel < width; pixel++) {
      const left = from + pixel * step;
      const right = left + step;
      // A range that begins or ends within rounding of a pixel's side may count for either.
      const blur = 1e-7 * Math.max(1, Math.abs(right));
      const inside = [];
      let covered = 0;
      for (let i = 0; i < model.size; i++) {
        const [start, stop] = [model.start[i], model.end[i]];
        if (start >= right - blur || (stop <= left + blur && !(start === stop && start >= left + blur))) continue;
        inside.push(i);
        covered += Math.min(stop, right) - Math.max(start, left);
      }
      const found = out[1 + pixel];
      const share = covered / step;
      if (inside.length === 0) {
        if (found !== colors.ground) {
          const sides = [...model.start, ...model.end].some((time) =>
            Math.min(Math.abs(time - left), Math.abs(time - right)) <= blur);
          assert.ok(sides, `pixel ${pixel} of seed ${seed} is empty`);
        }
        continue;
      }
      const best = inside.reduce((a, b) => model.duration(b) > model.duration(a) ? b : a);
      const full = colors.names[model.name[best]];
      // The edge of a wide range, where it begins.
      const isEdge = inside.some((i) => model.start[i] >= left - blur && model.duration(i) / step >= 4 - 1e-9);
      const isThin = share < 0.002 && inside.every((i) => model.start[i] < left);
      if (isEdge || isThin) {
        assert.ok(isThin || found !== colors.ground, "nothing is lost");
        continue;
      }
      const weight = pixel === 0 || share > 0.998 ||
        inside.some((i) => model.start[i] >= left - blur)
        ? Math.max(96, Math.min(256, Math.round(share * 256))) : Math.round(share * 256);
      const wanted = [weight - 1, weight, weight + 1].map((one) =>
        one >= 256 ? full : timelineMix(full, colors.ground, one));
      const equal = inside.filter((i) => Math.abs(model.duration(i) - model.duration(best)) < 1e-9);
      const others = equal.flatMap((i) => [weight - 1, weight, weight + 1].map((one) =>
        one >= 256 ? colors.names[model.name[i]] : timelineMix(colors.names[model.name[i]], colors.ground, one)));
      assert.ok([...wanted, ...others].includes(found),
                `seed ${seed} pixel ${pixel}: ${found.toString(16)} instead of ${wanted.map((one) => one.toString(16))}`);
    }
  }
});

test("a range without length at the left side is drawn", () => {
  const model = new TimelineModel(timelineDocument([{ ranges: [
    { start: 0, duration: 50, name: "a" }, { start: 100, duration: 0, name: "mark" }, { start: 150, duration: 9, name: "b" }] }]));
  const colors = colorsOf(model);
  const out = new Uint32Array(10).fill(colors.ground);
  timelineLine(model, 0, model.size, 100, 1, 10, out, 0, colors, null, 0);
  assert.equal(out[0], timelineMix(colors.names[model.names.indexOf("mark")], colors.ground, 96));
  assert.ok(out.subarray(1).every((pixel) => pixel === colors.ground));
});

test("ranges with room for a text are labelled, with the part in sight", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = randomNumbers(seed * 17);
    const { model, end } = lineModel(random, 50);
    const labels = timelineLabels(100);
    labels.least = 10;
    const step = [0.2, 1, 4][seed % 3];
    const from = random(end);
    timelineLine(model, 0, model.size, from, step, 200, new Uint32Array(200), 0, colorsOf(model), labels, 3);
    const wanted = [];
    for (let i = 0; i < model.size; i++) {
      const [left, right] = [(model.start[i] - from) / step, (model.end[i] - from) / step];
      if (right - left >= 10 && left < 199 && right > 1) wanted.push([i, Math.max(0, left), Math.min(200, right)]);
    }
    const found = Array.from({ length: labels.count }, (_, i) => [labels.range[i], labels.from[i], labels.to[i]])
      .filter(([, left, right]) => right > 1 && left < 199);
    assert.deepEqual(found.map(([range]) => range), wanted.map(([range]) => range));
    found.forEach(([, left, right], i) => {
      assert.ok(Math.abs(left - wanted[i][1]) < 1e-6 && Math.abs(right - wanted[i][2]) < 1e-6);
    });
    assert.ok([...labels.line.subarray(0, labels.count)].every((line) => line === 3));
  }
});

test("every match marks a pixel, and no other is marked", () => {
  for (let seed = 1; seed <= 120; seed++) {
    const random = randomNumbers(seed * 13);
    const { model, end } = lineModel(random, 1 + random([5, 100, 1500][seed % 3]));
    const { list } = timelineSearch(model, (text) => /[13]$/.test(text));
    const width = 1 + random(120);
    const from = random(end) - random(40);
    const step = [0.1, 1, 5, 60, 700][random(5)];
    const out = new Uint32Array(width);
    timelineMarks(model, list, 0, list.length, from, step, width, out, 0, 7);
    for (let pixel = 0; pixel < width; pixel++) {
      const [left, right] = [from + pixel * step, from + (pixel + 1) * step];
      const touches = [...list].some((i) => model.start[i] < right + 1e-6 && model.end[i] >= left - 1e-6);
      if (out[pixel] === 7) assert.ok(touches, `pixel ${pixel}`);
      const begins = [...list].some((i) => model.start[i] >= left + 1e-6 && model.start[i] < right - 1e-6 &&
        model.duration(i) / step < 3);
      if (begins) assert.equal(out[pixel], 7, `seed ${seed} pixel ${pixel}`);
      const covers = [...list].some((i) => model.start[i] < left - step - 1e-6 && model.end[i] >= right + 1e-6);
      if (covers && pixel > 0) assert.equal(out[pixel], 7, `seed ${seed} pixel ${pixel} is covered`);
    }
  }
});

test("tracks stand below each other, and a place leads to its track", () => {
  const { boxes, height } = timelineLayout([3, 1, 0, 40], 1, (box) => ["full", "closed", "fit", "fit", "full"][box], () => 200, 0);
  assert.deepEqual(boxes.map(({ rows }) => rows), [3, 1, 0, 40, 1]);
  boxes.forEach((box, i) => {
    if (i) assert.ok(box.top >= boxes[i - 1].top + boxes[i - 1].height);
    for (const y of [box.top, box.top + box.height - 1]) assert.equal(timelineBoxAt(boxes, y), i);
  });
  assert.ok(height > boxes[4].top + boxes[4].height);
  assert.equal(timelineBoxAt(boxes, height + 1), 5);
  assert.ok(boxes[3].rows * boxes[3].row <= 200);
  assert.equal(timelineFit(1000, 100), 4, "lines stay visible");
  const above = timelineLayout([2], 0, () => "full", () => 200, 20).boxes[0];
  assert.equal(above.lines - above.top, 20);
});

test("a zoom keeps the time at the pointer, and nobody gets lost", () => {
  const whole = { from: 0, to: 1e9 };
  const view = { from: 4e8, to: 5e8 };
  const closer = timelineZoom(view, 4.25e8, 0.1, whole);
  assert.ok(Math.abs((4.25e8 - closer.from) / (closer.to - closer.from) - 0.25) < 1e-9);
  assert.ok(Math.abs(closer.to - closer.from - 1e7) < 1e-3);
  assert.ok(timelineZoom(view, 4.5e8, 1e-20, whole).to > timelineZoom(view, 4.5e8, 1e-20, whole).from);
  const all = timelineZoom(view, 4.5e8, 1e9, whole);
  assert.ok(all.from <= 0 && all.to >= 1e9 && all.to - all.from < 1.2e9);
  for (const far of [-1e12, 1e12]) {
    const { from, to } = timelineClamp({ from: far, to: far + 1e7 }, whole);
    assert.ok(to > -1e8 && from < 1.1e9);
    assert.equal(Math.round(to - from), 1e7);
  }
});

test("kinds have words and colours; modules and collectives are found by their names", () => {
  assert.equal(timelineKindName(timelineKindOf("nn.Module: Linear_0", "python_function")), "module");
  assert.equal(timelineKindName(timelineKindOf("f.py(3): g", "python_function")), "python_function");
  assert.equal(timelineKindName(timelineKindOf("ncclDevKernel_AllReduce", "kernel")), "collective");
  assert.equal(timelineKindName(timelineKindOf("nccl:all_reduce", "user_annotation")), "user_annotation");
  assert.equal(timelineKindName(timelineKindOf("x", "something new")), "other");
  assert.ok(timelineKinds.every(({ word, color }) => word && color.startsWith("--")));
});

test("what is not there is said", () => {
  const source = timelineDocument([{ ranges: [{ start: 0, duration: 1, name: "a" }] }]);
  assert.deepEqual(timelineNotes(source, false), []);
  const notes = timelineNotes({ ...source, left_out: 12345, left_out_ns: 3200, unit_ns: 100, names_cut: 1,
                                arguments_left_out: true, notes: ["A note."] }, false).join(" ");
  for (const text of ["A note.", "12\u202f345 ranges of at most 3.20\u00a0\u00b5s are left out", "--limit",
                      "100\u00a0ns", "1 name", "Arguments"]) assert.ok(notes.includes(text), text);
  const tab = timelineNotes({ ...source, left_out: 1, left_out_ns: 5, arguments_left_out: true }, true).join(" ");
  assert.ok(tab.includes("Zoom in") && !tab.includes("--limit"));
  assert.ok(timelineNotes({ ...source, part: [5, 7000] }, true).join().includes("5\u00a0ns and 7.00\u00a0\u00b5s"));
});
