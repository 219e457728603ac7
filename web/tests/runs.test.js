// The runs of a log directory: order, search, what is before and after.
import assert from "node:assert/strict";
import { test } from "node:test";
import { RunList, inNaturalOrder, matchingPlaces } from "../data/runs.js";
import { newTraces, runLabel, windowLabel } from "../tab_chooser.js";

const window = (trace, modified_ns = 0) => ({
  trace, name: trace.split("/").at(-1), start_ns: null, bytes: 1, modified_ns, version: "1" });
const worker = (run, name, count, at = 0) => ({ name, windows: Array.from({ length: count },
  (_, number) => window(`${run}/${name}.${number}`, at + number)) });
const list = (runs) => new RunList({ logdir: "logs", is_complete: true, problems: [], views: [], runs });

const some = list([
  { name: "run_10", workers: [worker("run_10", "a", 3, 50), worker("run_10", "b", 1, 20)] },
  { name: "run_2", workers: [worker("run_2", "a", 2, 100)] },
  { name: "run_3", workers: [worker("run_3", "z", 1)] },
]);

test("Numbers in names are numbers", () => {
  assert.deepEqual(some.runs.map(({ name }) => name), ["run_2", "run_3", "run_10"]);
  assert.deepEqual(inNaturalOrder([{ name: "b" }, { name: "B" }, { name: "a10" }, { name: "a9" }])
    .map(({ name }) => name), ["a9", "a10", "b", "B"]);
});

test("A search finds all words, in any order and case", () => {
  const names = ["ResNet 50 lr=0.1", "resnet 18", "bert lr=0.1"];
  assert.deepEqual(matchingPlaces(names, " LR=0.1  resnet"), [0]);
  assert.deepEqual(matchingPlaces(names, ""), [0, 1, 2]);
  assert.deepEqual(matchingPlaces(names, "x"), []);
});

test("The newest trace is the first that people see", () => {
  assert.equal(some.newest(), "run_2/a.1");
  assert.equal(list([]).newest(), null);
});

test("Another run keeps the worker and the window, if it has them", () => {
  assert.equal(some.ofRun("run_10/a.1", "run_2"), "run_2/a.1");
  assert.equal(some.ofRun("run_10/a.2", "run_2"), "run_2/a.1");
  assert.equal(some.ofRun("run_10/b.0", "run_3"), "run_3/z.0");
  assert.equal(some.ofRun("gone", "run_2"), "run_2/a.1");
  assert.equal(some.ofRun(null, "none"), null);
  assert.equal(some.ofWorker("run_10/a.2", "b"), "run_10/b.0");
  assert.equal(some.ofWorker("gone", "b"), null);
});

test("Windows have one before and one after", () => {
  assert.equal(some.step("run_10/a.1", 1), "run_10/a.2");
  assert.equal(some.step("run_10/a.2", 1), null);
  assert.equal(some.step("run_10/a.0", -1), null);
  assert.equal(some.step("gone", 1), null);
});

test("Beside a trace is what one compares it with", () => {
  assert.equal(some.beside("run_10/a.2"), "run_10/a.1");
  assert.equal(some.beside("run_10/a.0"), "run_10/a.1");
  assert.equal(some.beside("run_3/z.0"), "run_2/a.0");
  assert.equal(list([{ name: ".", workers: [worker(".", "a", 1), worker(".", "b", 1)] }]).beside("./a.0"),
               "./b.0");
  assert.equal(list([{ name: ".", workers: [worker(".", "a", 1)] }]).beside("./a.0"), "./a.0");
  const named = list(["resnet_a", "resnet_b", "h200", "vit"].map((name) => ({ name, workers: [worker(name, "w", 1)] })));
  assert.equal(named.beside("resnet_a/w.0"), "resnet_b/w.0");
  assert.equal(named.beside("vit/w.0"), "resnet_b/w.0");
});

test("A list of a thousand runs of eight workers reads each window once", () => {
  let windows = 0;
  const runs = Array.from({ length: 1000 }, (_, number) => ({ name: `run_${number}`,
    workers: Array.from({ length: 8 }, (_, rank) => {
      const { name, windows: own } = worker(`run_${number}`, `host_${rank}`, 1);
      return { name, get windows() { ++windows; return own; } };
    }) }));
  const many = list(runs);
  assert.equal(many.places.size, 8000);
  assert.equal(many.runs[999].name, "run_999");
  assert.equal(windows, 8000);
  // A trace is looked up: nothing is read again.
  assert.equal(many.place("run_500/host_3.0")?.run.name, "run_500");
  assert.equal(windows, 8000);
});

test("Names for people", () => {
  assert.equal(runLabel("."), "(the log directory itself)");
  assert.equal(windowLabel({ ...window("a/b.7"), name: "7" }), "7");
  assert.match(windowLabel({ ...window("a"), start_ns: 1.7e18 + 42e6 }), /^Nov 1\d, \d\d:\d\d:20\.042$/);
});

test("What came since the last time", () => {
  const before = list([{ name: "a", workers: [worker("a", "w", 1)] }]);
  const now = (count) => list([{ name: "a", workers: [worker("a", "w", count)] }]);
  assert.equal(newTraces(before, now(1)), "");
  assert.equal(newTraces(before, now(2)), "A new trace: a, w.1.");
  assert.equal(newTraces(before, now(4)), "3 new traces.");
  assert.equal(newTraces(list([]), now(4)), "");
});
