// Timelines of several ranks on one clock, which of their ranges are one collective, and the order of tracks.
import assert from "node:assert/strict";
import { test } from "node:test";
import { TimelineArrangement, timelineTrackKey } from "../timeline/arrange.js";
import { TimelineModel } from "../timeline/model.js";
import { timelineNotesText, timelineReadNotes, timelineWithNote } from "../timeline/notes.js";
import { timelineFlows } from "../timeline/queries.js";
import { TogetherMatches, TogetherModel, togetherMap } from "../timeline/together.js";
import { timelineTrackName } from "../timeline/words.js";
import { timelineDocument } from "./timeline_documents.js";

// Rank 1 began 50 ns later on the common clock and runs 1 % fast; nothing connects rank 2.
const recordings = { reference: [0, 0, 2], duration_ns: [1000, 1010, 1000], start_ns: [0, 50, 0], end_ns: [1000, 1050, 1000],
                     error_ns: [0, 3, -1] };

test("a time of another rank is on the own clock", () => {
  const map = togetherMap(recordings, { place: 0, start_ns: 0 }, { place: 1, start_ns: 0 });
  assert.equal(map(0), 50);
  assert.ok(Math.abs(map(1010) - 1050) < 1e-9);
  const later = togetherMap(recordings, { place: 0, start_ns: 200 }, { place: 1, start_ns: 101 });
  assert.ok(Math.abs(later(0) - (50 + 100 - 200)) < 1e-9, "both windows begin within the recordings");
  const back = togetherMap(recordings, { place: 1, start_ns: 101 }, { place: 0, start_ns: 200 });
  for (const time of [0, 17, 400]) assert.ok(Math.abs(back(later(time)) - time) < 1e-9);
  assert.equal(togetherMap(recordings, { place: 0, start_ns: 0 }, { place: 2, start_ns: 0 }), null);
  assert.equal(togetherMap(recordings, { place: 2, start_ns: 5 }, { place: 2, start_ns: 9 })(1), 5);
});

const nccl = "ncclDevKernel_AllReduce";
function rankDocument(shift, more = {}) {
  const launch = { start: 10 + shift, duration: 5, name: "cudaLaunchKernel" };
  const kernel = { start: 100 + shift, duration: 20, name: nccl, category: "kernel" };
  const document = timelineDocument([
    { kind: "stream", name: "stream 7", ranges: [kernel, { start: 40 + shift, duration: 30, name: `gemm ${shift}`, category: "kernel" },
                               { start: 95 + shift, duration: 40, name: "nccl:all_reduce", category: "gpu_user_annotation" }] },
    { name: "main", ranges: [{ start: 0, duration: 200, name: "aten::mm" }, launch] },
  ], { flows: { launch: [[launch, kernel]] }, more: { header: { steps: [{ number: 3, start_ns: shift, end_ns: 150 + shift }], ...more } } });
  return new TimelineModel(document);
}

function joined() {
  const own = rankDocument(0), other = rankDocument(7);
  const trace = (place) => ({ place, start_ns: 0 });
  const parts = [{ rank: 4, model: own, trace: trace(0), map: (time) => time, isAligned: true },
                 { rank: 5, model: other, trace: trace(1), map: (time) => time - 2.4, isAligned: true, name: "b" }];
  return { own, other, parts, model: new TogetherModel(parts) };
}

test("other ranks have their steps and their device below the own tracks", () => {
  const { own, other, parts, model } = joined();
  assert.deepEqual(model.source.tracks.map(({ name, rank }) => [name, rank]),
    [["stream 7", undefined], ["main", undefined], ["steps", 5], ["stream 7", 5]]);
  // The own part is as it was, with its flows.
  for (let range = 0; range < own.size; range++) {
    const here = model.rangeHere(parts[0], range);
    assert.deepEqual([model.nameOf(here), model.start[here], model.end[here], model.kinds[model.name[here]]],
      [own.nameOf(range), own.start[range], own.end[range], own.kinds[own.name[range]]]);
    assert.deepEqual(timelineFlows(model, here).map(({ from, to }) => [from.length, to.length]),
      timelineFlows(own, range).map(({ from, to }) => [from.length, to.length]));
  }
  const seen = new Set();
  for (let here = 0; here < model.size; here++) {
    const { part, range } = model.originOf(here);
    if (part === parts[0]) continue;
    if (range < 0) {
      assert.equal(model.nameOf(here), "Step 3");
      assert.deepEqual([model.start[here], model.end[here]], [5, 155]);
      continue;
    }
    seen.add(range);
    assert.equal(model.nameOf(here), other.nameOf(range));
    assert.equal(model.start[here], Math.round(other.start[range] - 2.4), "whole ns");
    assert.equal(model.rangeHere(part, range), here);
  }
  assert.equal(seen.size, 3, "the host of another rank is left out");
  assert.equal(model.names.filter((name) => name === nccl).length, 1, "a name of both is one name");
  assert.deepEqual(model.source.tracks.map((_, track) => timelineTrackName(model, track)),
    ["stream 7, rank 4", "main, rank 4", "steps, rank 5", "stream 7, rank 5"], "each track names its rank");
  assert.equal(timelineTrackName(own, 0), "stream 7, python (1)");
  assert.deepEqual([own.ranks, model.ranks], [1, 2]);
});

test("without devices other ranks have their hosts", () => {
  const host = () => new TimelineModel(timelineDocument([{ name: "main", ranges: [{ start: 0, duration: 9, name: "gloo:all_reduce" }] }]));
  const own = host(), other = host();
  const model = new TogetherModel([{ rank: 0, model: own, trace: { place: 0, start_ns: 0 }, map: (time) => time },
                                   { rank: 1, model: other, trace: { place: 1, start_ns: 0 }, map: (time) => time + 1 }]);
  assert.deepEqual(model.source.tracks.map(({ name, rank }) => [name, rank]), [["main", undefined], ["main", 1]]);
  assert.equal(model.source.to_ns, 10);
});

test("parts of a collective are found by their rank and start, kernels before annotations", () => {
  const { model } = joined();
  const matches = { members: [2, 2], last_rank: [5, -1], ranks: [0, 1, 0, 1], start_ns: [100, 107, 700, 707], left_out: 0 };
  const found = new TogetherMatches(model, matches);
  const kernels = [...model.name.keys()].filter((range) => model.nameOf(range) === nccl);
  assert.equal(kernels.length, 2);
  for (const range of kernels) {
    assert.deepEqual([...found.of(range).ranges].sort(), kernels);
    assert.equal(found.of(range).last, 5);
    assert.equal(found.of(range).members, 2);
  }
  assert.equal(found.of(0 === kernels[0] ? 1 : 0), null);
});

function pageOf(values = {}) {
  return { values, get: (key) => values[key] ?? null, set: (key, value) => { values[key] = value; } };
}

test("tracks are pinned, hidden and moved, and the address remembers it", () => {
  const page = pageOf();
  const keys = ["0", "1", "2", "c0"];
  const one = new TimelineArrangement(page);
  assert.deepEqual(one.order(keys), keys);
  assert.ok(one.move(keys, "2", -1));
  assert.deepEqual(one.order(keys), ["0", "2", "1", "c0"]);
  one.set("pinned", "c0", true);
  assert.deepEqual(one.order(keys), ["c0", "0", "2", "1"]);
  assert.ok(!one.move(keys, "c0", 1), "pinned ones stay above");
  assert.ok(!one.move(keys, "1", 1), "the last one");
  one.set("hidden", "1", true);
  const again = new TimelineArrangement(page);
  assert.deepEqual(again.order(keys), ["c0", "0", "2", "1"]);
  assert.ok(again.hidden.has("1"));
  // Tracks of another rank come and go.
  assert.deepEqual(again.order(["0", "5.0", "1", "2", "c0"]), ["c0", "0", "5.0", "2", "1"]);
  assert.deepEqual(again.order(["0", "2"]), ["0", "2"]);
  again.reset(keys);
  assert.deepEqual([page.values.pinned, page.values.hidden, page.values.moved], [null, null, null]);
  assert.deepEqual(new TimelineArrangement(pageOf({ moved: "x,,1" })).order(["0", "1"]), ["0", "1"], "an address of another trace");
});

test("what is done to a track of one rank is done to no track of another", () => {
  const { model } = joined();
  const [, , steps, stream] = model.source.tracks.map(({ key }) => key);
  assert.equal(stream, timelineTrackKey("b", 0), "beside another rank as in its own timeline");
  assert.notEqual(timelineTrackKey("b", 0), timelineTrackKey("c", 0));
  assert.deepEqual(["0", "7"].map((trace) => timelineTrackKey(trace, "c1")), ["c1", "7.c1"]);
  const one = new TimelineArrangement(pageOf());
  const first = ["0", "1", steps, stream], second = ["7.0", "7.1"];
  one.set("hidden", "0", true);
  one.set("pinned", stream, true);
  one.move(first, "1", -1);
  assert.deepEqual(one.order(second), second);
  assert.ok(!second.some((key) => one.hidden.has(key) || one.pinned.has(key)));
  one.move(second, "7.1", -1);
  assert.deepEqual([one.order(second), one.order(first)], [["7.1", "7.0"], [stream, "1", "0", steps]]);
  one.reset(second);
  assert.deepEqual([one.order(second), one.order(first)], [second, [stream, "1", "0", steps]]);
});

test("notes are in the address, one for a span", () => {
  let notes = timelineWithNote([], [5, 9], "  why\n so slow? ");
  notes = timelineWithNote(notes, [1, 2], "<b>&'\"");
  assert.deepEqual(notes.map(({ text }) => text), ["<b>&'\"", "why so slow?"]);
  assert.deepEqual(timelineReadNotes(timelineNotesText(notes)), notes);
  assert.equal(timelineWithNote(notes, [5, 9], "other").length, 2);
  assert.equal(timelineWithNote(notes, [5, 9], " ").length, 1);
  assert.equal(timelineNotesText([]), null);
  for (const damaged of ["", "{", "{}", "[1]", '[[1,0,"x"]]', '[["a",1,"x"]]', "[[0,1,2]]", "null"]) {
    assert.deepEqual(timelineReadNotes(damaged), [], damaged);
  }
  assert.equal(timelineReadNotes(JSON.stringify([[0, 1, "x".repeat(9999)]]))[0].text.length, 200);
  const many = Array.from({ length: 40 }, (_, at) => ({ from: at, to: at, text: "n" }));
  assert.equal(timelineWithNote(many, [90, 91], "more"), null);
});
