// Decoding, lines, parents, hit tests, search and spans of a timeline against brute force.
import assert from "node:assert/strict";
import { test } from "node:test";

import { timelineColumn, timelineInteger, timelinePlaces } from "../timeline/columns.js";
import { timelineNeighbour } from "../timeline/keys.js";
import { TimelineModel } from "../timeline/model.js";
import { timelineArguments, timelineNth } from "../timeline/panel.js";
import { timelineBelow, timelineBusyTime, timelineFlows, timelineHit,
         timelineInSight, timelineKey, timelineMatchNumber, timelineNext, timelineOfKey, timelineParent, timelineSearch,
         timelineSelf, timelineSpanNames } from "../timeline/queries.js";
import { timelineMatcher } from "../timeline/search_field.js";
import { timelineChain } from "../timeline/words.js";
import { encodedColumn, randomNumbers, randomTracks, timelineDocument } from "./timeline_documents.js";

/** All ranges of a model as objects. */
const listOf = (model) => Array.from({ length: model.size }, (_, range) => {
  const lane = model.laneOf(range);
  const track = model.laneTrack[lane];
  return { range, track, row: lane - model.trackLane[track], start: model.start[range],
           end: model.end[range], name: model.nameOf(range) };
});

/** @param {(model: TimelineModel, list: any[], random: (below: number) => number) => void} see */
function withModels(see, rounds = 40) {
  for (let seed = 1; seed <= rounds; seed++) {
    const random = randomNumbers(seed * 7919);
    const model = new TimelineModel(timelineDocument(randomTracks(random)));
    see(model, listOf(model), random);
  }
}

test("columns of any width, sign and difference are read as they were written", () => {
  const random = randomNumbers(5);
  for (const delta of ["none", "previous", "track"]) {
    for (const signed of [false, true]) {
      for (const size of [1, 200, 70000, 2 ** 33, 2 ** 46]) {
        const tracks = [3, 0, 0, 5, 1, 0];
        let before = 0;
        const values = Array.from({ length: 9 }, (_, i) => {
          const part = Math.floor(random(1000) / 1000 * size);
          if (signed) return random(2) ? part : 0 - part;
          if (delta === "track" && (i === 3 || i === 8)) before = 0;
          return before = delta === "none" ? part : before + part;
        });
        const { column, bytes } = encodedColumn("x", values, { delta, signed, tracks });
        const all = Uint8Array.from([9, 9, ...bytes]);
        assert.deepEqual([...timelineColumn(all, { column, offset: 2 }, tracks)], values,
                         `${delta} ${signed} ${size}`);
      }
    }
  }
  const none = encodedColumn("x", [0, 0, 0]);
  assert.equal(none.column.planes, 0);
  assert.deepEqual([...timelineColumn(new Uint8Array(0), { column: none.column, offset: 0 }, [])], [0, 0, 0]);
  assert.deepEqual([...timelineColumn(new Uint8Array(0), undefined, [], 2)], [0, 0]);
});

test("ranges that did not end are known by their line", () => {
  const tracks = [{ ranges: [
    { start: 0, duration: 90, name: "outer" }, { start: 10, duration: 5, name: "ended" },
    { start: 20, duration: 70, name: "inner" }] }];
  const plain = new TimelineModel(timelineDocument(tracks));
  assert.equal(plain.unfinished.size, 0);
  const model = new TimelineModel(timelineDocument(tracks, { more: {
    columns: [encodedColumn("unfinished", [0, 2], { delta: "previous" })] } }));
  assert.deepEqual([...model.unfinished].map((range) => model.nameOf(range)), ["outer", "inner"]);
});

test("integers beyond 2^53 keep their digits", () => {
  const values = [0n, 2n ** 63n - 1n, 2n ** 53n + 1n, -(2n ** 60n) - 7n];
  for (const signed of [true, false]) {
    const wanted = signed ? values : values.map((value) => value < 0n ? -value : value);
    const { column, bytes } = encodedColumn("x", wanted, { signed });
    wanted.forEach((value, i) => assert.equal(
      timelineInteger(Uint8Array.from(bytes), { column, offset: 0 }, i), String(value)));
  }
});

test("a document that was cut says so", () => {
  const source = timelineDocument([{ ranges: [{ start: 0, duration: 300, name: "a" }] }]);
  assert.throws(() => timelinePlaces(source.columns, source.bytes.length - 1), /shorter/);
  assert.throws(() => new TimelineModel({ ...source, bytes: source.bytes.subarray(1) }), /shorter/);
});

test("the model has each range once, in its line, in the order of time", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = randomNumbers(seed);
    const tracks = randomTracks(random);
    const unit = [1, 100][seed % 2];
    for (const range of tracks.flatMap((track) => track.ranges)) {
      range.start = -700 + range.start * unit;
      range.duration *= unit;
    }
    const model = new TimelineModel(timelineDocument(tracks, { unit, origin: -700 }));
    const found = listOf(model).map(({ track, start, end, name }) => [track, start, end, name].join());
    const wanted = tracks.flatMap(({ ranges }, track) => ranges.map(({ start, duration, name }) =>
      [track, start, start + duration, name].join()));
    assert.deepEqual(found.sort(), wanted.sort());
    for (let lane = 0; lane < model.lanes; lane++) {
      for (let i = model.laneFirst[lane] + 1; i < model.laneFirst[lane + 1]; i++) {
        assert.ok(model.start[i] >= model.start[i - 1] && model.start[i] >= model.end[i - 1]);
      }
    }
    assert.equal(model.nameTotal.reduce((all, one) => all + one, 0), model.sum[model.size]);
    for (let round = 0; round < 40; round++) {
      const low = random(model.size);
      const high = low + 1 + random(model.size - low);
      const wantedLongest = listOf(model).slice(low, high).reduce((best, one) =>
        one.end - one.start > best.end - best.start ? one : best);
      assert.equal(model.longestOf(low, high), wantedLongest.range);
    }
  }
});

test("the longest of thousands is found through all levels of blocks", () => {
  const random = randomNumbers(77);
  const ranges = Array.from({ length: 5000 }, (_, i) => ({ start: i * 1000, duration: random(900), name: "x" }));
  const model = new TimelineModel(timelineDocument([{ ranges }]));
  assert.ok(model.longest.length >= 3);
  for (let round = 0; round < 400; round++) {
    const low = random(5000);
    const high = low + 1 + random(5000 - low);
    let best = low;
    for (let i = low; i < high; i++) if (model.duration(i) > model.duration(best)) best = i;
    assert.equal(model.longestOf(low, high), best);
  }
});

test("a range is in the lowest one above that contains it", () => {
  withModels((model, list) => {
    for (const one of list) {
      const around = list.filter((other) => other.track === one.track && other.row < one.row &&
        other.start <= one.start && other.end >= one.end && other.end > other.start);
      const wanted = around.reduce((best, other) => best === null || other.row >= best.row ? other : best, null);
      assert.equal(timelineParent(model, one.range), wanted?.range ?? -1);
    }
  });
});

test("a chain leads from the outermost range, 100 deep", () => {
  const ranges = Array.from({ length: 100 }, (_, i) => ({ start: i, duration: 400 - 2 * i, name: `d${i}` }));
  const model = new TimelineModel(timelineDocument([{ ranges }]));
  const innermost = listOf(model).find(({ name }) => name === "d99");
  assert.equal(innermost.row, 99);
  assert.deepEqual(timelineChain(model, innermost.range).map((range) => model.nameOf(range)),
                   ranges.slice(0, 99).map(({ name }) => name));
});

test("self time is what ranges one line below leave", () => {
  withModels((model, list) => {
    for (const one of list) {
      const below = list.filter((other) => other.track === one.track && other.row === one.row + 1);
      const covered = below.reduce((sum, other) => sum +
        Math.max(0, Math.min(other.end, one.end) - Math.max(other.start, one.start)), 0);
      assert.equal(timelineSelf(model, one.range), one.end - one.start - covered);
      const [first, last] = timelineBelow(model, one.range);
      for (const other of below) {
        const touches = Math.min(other.end, one.end) > Math.max(other.start, one.start);
        if (touches) assert.ok(other.range >= first && other.range < last);
      }
    }
  });
});

test("the pointer hits what is drawn there", () => {
  withModels((model, list, random) => {
    for (let round = 0; round < 60; round++) {
      const lane = random(model.lanes);
      const pixel = [0.1, 1, 7, 60][random(4)];
      const time = random(4000) / 10;
      const line = list.filter(({ range }) => model.laneOf(range) === lane);
      const touching = line.filter(({ start, end }) =>
        start < time + pixel / 2 && (end > time - pixel / 2 || start >= time - pixel / 2));
      const hit = timelineHit(model, lane, time, pixel);
      if (touching.length) {
        const longest = Math.max(...touching.map(({ start, end }) => end - start));
        assert.ok(touching.some(({ range }) => range === hit));
        assert.equal(model.duration(hit), longest);
      } else {
        const away = ({ start, end }) => Math.max(start - time, time - end);
        const nearest = Math.min(Infinity, ...line.map(away));
        if (nearest <= 2 * pixel) assert.equal(away(list[hit]), nearest);
        else assert.equal(hit, -1);
      }
    }
  });
});

test("a range without length is hit from two pixels away, unless another is there", () => {
  const model = new TimelineModel(timelineDocument([{ ranges: [
    { start: 100, duration: 0, name: "mark" }, { start: 500, duration: 50, name: "box" },
    { start: 560, duration: 0, name: "near" }] }]));
  assert.equal(model.nameOf(timelineHit(model, 0, 118, 10)), "mark");
  assert.equal(timelineHit(model, 0, 121, 10), -1);
  assert.equal(model.nameOf(timelineHit(model, 0, 544, 10)), "box");
  assert.equal(model.nameOf(timelineHit(model, 0, 575, 10)), "near");
});

test("an address finds its range again, also at a coarser unit and with fewer ranges", () => {
  withModels((model, list) => {
    for (const one of list) {
      const found = timelineOfKey(model, timelineKey(model, one.range));
      assert.deepEqual([list[found].track, list[found].start, list[found].end, list[found].row],
                       [one.track, one.start, one.end, one.row]);
    }
  }, 15);
  const fine = [{ start: 12345, duration: 678, name: "a" }, { start: 30000, duration: 5, name: "b" }];
  const exact = new TimelineModel(timelineDocument([{ ranges: fine }]));
  const coarse = new TimelineModel(timelineDocument([{ ranges: [{ start: 12300, duration: 700, name: "a" }] }], { unit: 100 }));
  assert.equal(coarse.nameOf(timelineOfKey(coarse, timelineKey(exact, 0))), "a");
  assert.equal(timelineOfKey(coarse, timelineKey(exact, 1)), -1);
  for (const bad of [null, "", "x", "9:1:2", "0:1", "0:NaN:1", "-1:1:1", "0.5:1:1"]) {
    assert.equal(timelineOfKey(exact, bad), -1, String(bad));
  }
});

test("flows lead both ways", () => {
  const a = { start: 0, duration: 5, name: "launch" };
  const b = { start: 20, duration: 5, name: "kernel", category: "kernel" };
  const c = { start: 30, duration: 5, name: "kernel 2", category: "kernel" };
  const d = { start: 7, duration: 2, name: "other launch" };
  const model = new TimelineModel(timelineDocument(
    [{ ranges: [a, d] }, { kind: "stream", ranges: [c, b] }],
    { flows: { launch: [[a, c], [d, b], [a, b]], forward_backward: [] } }));
  const named = (range) => timelineFlows(model, range).map(({ from, to }) =>
    [from.map((other) => model.nameOf(other)).sort(), to.map((other) => model.nameOf(other)).sort()]);
  const by = new Map(listOf(model).map(({ range, name }) => [name, range]));
  assert.deepEqual(named(by.get("launch")), [[[], ["kernel", "kernel 2"]], [[], []]]);
  assert.deepEqual(named(by.get("kernel")), [[["launch", "other launch"], []], [[], []]]);
  assert.deepEqual(named(by.get("other launch"))[0], [[], ["kernel"]]);
});

test("a search finds all ranges of the names that match", () => {
  withModels((model, list) => {
    for (const pattern of ["name 3", "NAME", "/[0-4]$/", "\"name 1\"", "\"name\"", "nothing"]) {
      const isWanted = timelineMatcher(pattern);
      const found = timelineSearch(model, isWanted);
      const wanted = list.filter(({ name }) => isWanted(name));
      assert.equal(found.count, wanted.length);
      assert.equal(found.total, wanted.reduce((sum, { start, end }) => sum + end - start, 0));
      assert.deepEqual([...found.list], wanted.map(({ range }) => range));
      for (let lane = 0; lane < model.lanes; lane++) {
        assert.deepEqual([...found.list].slice(found.first[lane], found.first[lane + 1]),
                         found.count ? wanted.filter(({ range }) => model.laneOf(range) === lane).map(({ range }) => range) : []);
      }
    }
  }, 12);
  assert.equal(timelineMatcher("/(/"), null);
  assert.ok(timelineMatcher("\"aten::add\"")("aten::add"));
  assert.ok(!timelineMatcher("\"aten::add\"")("aten::add_"));
});

test("next and previous walk through all matches in the order of time", () => {
  withModels((model, list) => {
    const matches = timelineSearch(model, (text) => /[135]/.test(text));
    const { names } = matches;
    const wanted = list.filter(({ name }) => /[135]/.test(name))
      .sort((a, b) => a.start - b.start || a.range - b.range).map(({ range }) => range);
    if (wanted.length === 0) {
      assert.equal(timelineNext(model, names, -1, true), -1);
      return;
    }
    assert.deepEqual(wanted.map((range) => timelineMatchNumber(model, matches, range)), wanted.map((_, at) => at + 1));
    const other = list.find(({ name }) => !/[135]/.test(name));
    if (other) assert.equal(timelineMatchNumber(model, matches, other.range), 0);
    for (const forward of [true, false]) {
      const order = forward ? wanted : [...wanted].reverse();
      let at = -1;
      for (const range of order) assert.equal(at = timelineNext(model, names, at, forward), range);
      assert.equal(timelineNext(model, names, at, forward), order[0], "and around");
    }
  }, 15);
});

test("busy time and names of a span", () => {
  withModels((model, list, random) => {
    for (let round = 0; round < 25; round++) {
      const from = random(420) - 10;
      const to = from + 1 + random(300);
      for (let track = 0; track < 3; track++) {
        let busy = 0;
        for (let t = from; t < to; t++) {
          if (list.some((one) => one.track === track && one.start <= t && one.end >= t + 1)) busy++;
        }
        assert.equal(timelineBusyTime(model, track, from, to), busy);
      }
      const sums = new Map();
      for (const { track, name, start, end } of list) {
        if (track === 1 || start >= to || (end <= from && start < from)) continue;
        const sum = sums.get(name) ?? [0, 0];
        sums.set(name, [sum[0] + 1, sum[1] + Math.min(end, to) - Math.max(start, from)]);
      }
      const found = timelineSpanNames(model, from, to, (track) => track !== 1);
      assert.deepEqual(new Map(found.map(({ name, count, total }) => [model.names[name], [count, total]])), sums);
      assert.ok(found.every(({ total }, i) => i === 0 || total <= found[i - 1].total));
    }
  }, 15);
});

test("the longest ranges in sight, and how many there are", () => {
  withModels((model, list, random) => {
    for (const most of [1, 7, 40, 1000]) {
      const from = random(300);
      const to = from + 1 + random(300);
      const wanted = list.filter(({ start, end }) => start < to && (end > from || start >= from))
        .map(({ start, end }) => end - start).sort((a, b) => b - a);
      const found = timelineInSight(model, from, to, most);
      assert.equal(found.count, wanted.length);
      assert.deepEqual([...found.ranges].map((range) => model.duration(range)), wanted.slice(0, most));
      assert.equal(new Set(found.ranges).size, found.ranges.length);
    }
  }, 20);
  const ranges = Array.from({ length: 4000 }, (_, i) => ({ start: i * 1e7, duration: i % 400 ? 5000 + i * 7919 % 4000 : 3e6 + i, name: "x" }));
  const model = new TimelineModel(timelineDocument([{ ranges }]));
  const found = timelineInSight(model, 0, 1e12, 50);
  assert.deepEqual([...found.ranges].map((range) => model.duration(range)),
                   ranges.map(({ duration }) => duration).sort((a, b) => b - a).slice(0, 50));
});

test("keys lead to the neighbour, around, inside, and to the next track", () => {
  const model = new TimelineModel(timelineDocument([
    { ranges: [{ start: 0, duration: 100, name: "a" }, { start: 100, duration: 90, name: "b" },
               { start: 110, duration: 20, name: "b1" }, { start: 140, duration: 20, name: "b2" }] },
    { ranges: [] }, { ranges: [{ start: 0, duration: 300, name: "other" }] }]));
  const from = (name, key) => {
    const next = timelineNeighbour(model, listOf(model).find((one) => one.name === name).range, key, { from: 0, to: 300 });
    return next < 0 ? null : model.nameOf(next);
  };
  assert.deepEqual([from("a", "ArrowRight"), from("b", "ArrowLeft"), from("a", "ArrowLeft"), from("b2", "ArrowRight")],
                   ["b", "a", null, null]);
  assert.deepEqual([from("b", "ArrowDown"), from("b2", "ArrowUp"), from("b2", "ArrowDown"), from("other", "ArrowUp")],
                   ["b1", "b", "other", "b1"]);
  assert.equal(from("a", "ArrowUp"), null);
  assert.equal(from("other", "ArrowDown"), null);
});

test("arguments of a range", () => {
  const ranges = [{ start: 0, duration: 9, name: "a" }, { start: 1, duration: 2, name: "b" }, { start: 5, duration: 1, name: "a" }];
  const model = new TimelineModel(timelineDocument([{ ranges }], { more: {
    header: { arguments: [{ key: "shape", unit: "", texts: ["[1, 2]", "\"x\""] }, { key: "bytes", unit: "bytes" }, { key: "address", unit: "" }] },
    columns: [encodedColumn("argument.shape", [0, 2, 1]), encodedColumn("argument.bytes", [0, 7, 0]),
              encodedColumn("has.bytes", [1, 1, 0]), encodedColumn("argument.address", [2n ** 63n - 1n, 5n, 0n]),
              encodedColumn("has.address", [1, 0, 0])],
  } }));
  const of = (number) => timelineArguments(model, [...model.number].indexOf(number)).map(({ key, value }) => [key, value]);
  assert.deepEqual(of(0), [["bytes", 0], ["address", "9223372036854775807"]]);
  assert.deepEqual(of(1), [["shape", "\"x\""], ["bytes", 7]]);
  assert.deepEqual(of(2), [["shape", "[1, 2]"]]);
});

test("ranges of the same place and name are told apart by their order", () => {
  const same = { start: 5, duration: 4, name: "a" };
  const model = new TimelineModel(timelineDocument([{ ranges: [same, { ...same }, { ...same, name: "b" }, { ...same }] }]));
  const nths = Array.from({ length: 4 }, (_, range) => [model.nameOf(range), timelineNth(model, range)].join());
  assert.deepEqual(nths.sort(), ["a,0", "a,1", "a,2", "b,0"]);
});
