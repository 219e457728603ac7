// Values of counters and instants at a time, against a walk over all of them.
import assert from "node:assert/strict";
import { test } from "node:test";

import { timelineMarkArguments, timelineMarkAt, timelineMarksOf, timelineMoment, timelineNextMoment,
         timelinePointAt, timelineScale } from "../timeline/moments.js";
import { timelineNotes } from "../timeline/words.js";
import { randomNumbers, timelineDocument } from "./timeline_documents.js";

/** A document with random moments on three tracks. */
function randomMoments(random) {
  const marks = Array.from({ length: random(40) }, (_, number) => ({
    track: random(3), time: random(100), name: number })).sort((a, b) =>
    a.track - b.track || a.time - b.time);
  const times = Array.from({ length: 1 + random(30) }, () => random(100)).sort((a, b) => a - b);
  const counters = [{ name: "load", process: "python (1)", unit: "", samples: times.length,
                      times_ns: times, values: times.map(() => random(50) - 20) }];
  const ranges = [{ start: 0, duration: 100, name: "a" }];
  return timelineDocument([{ ranges }, { ranges }, { ranges }], { more: { header: {
    counters, marks: { left_out: 0, tracks: marks.map(({ track }) => track),
                       times_ns: marks.map(({ time }) => time),
                       names: marks.map(({ name }) => name), arguments: marks.map(() => ""),
                       texts: marks.map((_, i) => `m${i}`) } } } });
}

test("the value that holds and the mark that is near are those of a walk over all", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = randomNumbers(seed * 7);
    const source = randomMoments(random);
    const [counter] = source.counters;
    const time = random(120) - 10;
    let held = -1;
    counter.times_ns.forEach((one, point) => { if (one <= time) held = point; });
    assert.equal(timelinePointAt(counter, time), held);
    for (let track = 0; track < 3; track++) {
      const own = source.marks.tracks.flatMap((one, mark) => one === track ? [mark] : []);
      const [first, last] = timelineMarksOf(source, track);
      assert.deepEqual(Array.from({ length: last - first }, (_, i) => first + i), own);
      const distances = own.map((mark) => Math.abs(source.marks.times_ns[mark] - time));
      const nearest = Math.min(Infinity, ...distances);
      const found = timelineMarkAt(source, track, time, 1);
      if (nearest > 5) assert.equal(found, -1);
      else assert.equal(Math.abs(source.marks.times_ns[found] - time), nearest);
      for (const forward of [true, false]) {
        const beyond = own.map((mark) => source.marks.times_ns[mark])
          .filter((one) => forward ? one > time : one < time);
        assert.equal(timelineNextMoment(source, { track, counter: -1 }, time, forward),
                     beyond.length === 0 ? null : forward ? Math.min(...beyond) : Math.max(...beyond));
      }
    }
  }
});

test("a scale begins at 0 or below", () => {
  assert.deepEqual(timelineScale({ values: [3, 7, 5] }), { least: 0, most: 7 });
  assert.deepEqual(timelineScale({ values: [-3, -7] }), { least: -7, most: 0 });
  assert.deepEqual(timelineScale({ values: Array(500000).fill(2) }), { least: 0, most: 2 });
});

test("arguments of instants are keys with texts, whatever they are", () => {
  assert.deepEqual(timelineMarkArguments(""), []);
  assert.deepEqual(timelineMarkArguments('{"a": "x", "b": [1, {"c": 2}]}'),
                   [["a", "x"], ["b", '[1,{"c":2}]']]);
  assert.deepEqual(timelineMarkArguments('{"Arguments": {"path": "model.pt"}}'),
                   [["path", "model.pt"]]);
  assert.deepEqual(timelineMarkArguments('{"Arguments": 3}'), [["Arguments", "3"]]);
  assert.deepEqual(timelineMarkArguments('{"cut": "lo\u2026'), [["arguments", '{"cut": "lo\u2026']]);
  assert.deepEqual(timelineMarkArguments("7"), [["arguments", "7"]]);
  assert.deepEqual(timelineMarkArguments('{"__proto__": 1}'), [["__proto__", "1"]]);
});

test("a moment in words has all digits of a value without a unit", () => {
  const source = randomMoments(randomNumbers(3));
  source.counters[0].values[0] = 0.123456789;
  const place = { mark: -1, counter: 0, point: 0 };
  assert.equal(timelineMoment(source, place).value, "0.123456789");
  assert.equal(timelineMoment(source, place).where, "python (1)");
});

test("documents without instants have none, and what is left out is said", () => {
  const source = randomMoments(randomNumbers(5));
  source.counters[0].samples = 100000;
  source.marks.left_out = 3;
  source.counters_left_out = 1;
  assert.deepEqual(timelineNotes(source, false), [
    "3 instants are left out to limit the size.", "1 counter is left out to limit the size.",
    "1 curve of many values is thinned between the lowest and the highest ones."]);
  delete source.marks;
  assert.deepEqual(timelineMarksOf(source, 0), [0, 0]);
  assert.equal(timelineMarkAt(source, 0, 5, 1), -1);
});
