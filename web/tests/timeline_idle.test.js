// The causes of idle time in the timeline.
import { test } from "node:test";
import assert from "node:assert/strict";
import { timelineGapAt, timelineGapPlace, timelineGapsOf, timelineIdleOf } from "../timeline/idle.js";
import { timelineHeading, timelineIdleRow, timelineLayout } from "../timeline/layout.js";

/** The view of a GPU with gaps: device, start, duration, cause. */
function viewOf(gaps) {
  const column = (key, at, texts) => ({ key, type: texts ? "text" : "number", unit: "", meaning: "", texts,
    values: gaps.map((gap) => texts ? texts.indexOf(gap[at]) : gap[at]) });
  return { tables: [{ name: "gaps", rows: gaps.length, columns: [column("device", 0), column("start_ns", 1),
    column("duration_ns", 2), column("why", 3, ["data", "launches", "what_comes_later"])] }] };
}

const idle = timelineIdleOf(viewOf([[0, 500, 100, "data"], [0, 100, 50, "launches"], [1, 0, 10, "what_comes_later"]]));

test("gaps are by device, in the order of time, with their cause and colour", () => {
  assert.deepEqual(idle.get(":0").map(({ start, end, cause, kind }) => [start, end, cause, kind]),
    [[100, 150, "running operators, launching", "host-wait"], [500, 600, "waiting for the data loader", "data"]]);
  assert.equal(idle.get(":1")[0].cause, "what comes later", "a cause that this page does not know");
  assert.equal(timelineIdleOf({ tables: [] }).size, 0);
});

test("the gap at a time, and the longest where a pixel has several", () => {
  const gaps = idle.get(":0");
  assert.equal(timelineGapAt(gaps, 120, 1).start, 100);
  assert.equal(timelineGapAt(gaps, 152, 1), null);
  assert.equal(timelineGapAt(gaps, 300, 1000).start, 500);
});

test("a span that is a gap has its cause", () => {
  assert.deepEqual(timelineGapsOf(idle, [500, 600]).map(({ kind }) => kind), ["data"]);
  assert.deepEqual(timelineGapsOf(idle, [500, 601]), []);
  assert.deepEqual(timelineGapsOf(new Map(), [1, 2]), []);
});

test("a gap says whose GPU was idle, and two that are alike are both said", () => {
  const alone = { rankOf: (rank) => rank }, beside = { rankOf: (rank) => rank ?? 4 };
  const both = new Map([...idle, ...timelineIdleOf(viewOf([[0, 500, 100, "data"]]), 5)]);
  const found = timelineGapsOf(both, [500, 600]);
  assert.deepEqual(found.map((gap) => timelineGapPlace(beside, gap)), ["GPU 0 of rank 4", "GPU 0 of rank 5"]);
  assert.equal(timelineGapPlace(alone, found[0]), "GPU 0");
  assert.equal(timelineGapPlace(alone, { device: null }), "GPU");
});

test("headings and causes of idle time have room of their own", () => {
  const looks = [{ row: 30, heading: "GPU 0", hasIdle: true }, { row: 18, heading: "Host", hasIdle: false }];
  const { boxes } = timelineLayout([1, 2], 0, () => "fit", () => 200, 0, (box) => looks[box]);
  assert.equal(boxes[0].top, timelineHeading);
  assert.equal(boxes[0].row, 30);
  assert.equal(boxes[0].idle, timelineHeading + 30 + 2);
  assert.ok(boxes[1].top - timelineHeading >= boxes[0].idle + timelineIdleRow);
  assert.equal(boxes[1].idle, 0);
});
