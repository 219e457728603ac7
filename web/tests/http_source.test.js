// Answers of the tab's server: what is asked, kept, given up, and said when it fails.
import assert from "node:assert/strict";
import { test } from "node:test";
import { HttpSource } from "../data/http_source.js";

const view = { schema: "tbtrace.view/1", view: "kernels", tables: [], stacks: [] };
const json = (value, status = 200) => new Response(JSON.stringify(value), { status });

/** A source whose server answers with what `answer` returns. */
function served(answer) {
  const asked = [];
  const source = new HttpSource("http://host/data/plugin/tbtrace/", async (address, { signal }) => {
    asked.push(address.replace("http://host/data/plugin/tbtrace/", ""));
    return answer(address, signal);
  });
  return { source, asked };
}

/** Answers that come when the test says so, or never if they are given up. */
function waiting() {
  const given = [];
  let answerAll = () => {};
  const all = new Promise((resolve) => { answerAll = resolve; });
  return { ...served((address, signal) => new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => { given.push(address); reject(new Error("aborted")); });
    all.then(() => resolve(json(view)));
  })), given, answerAll };
}

test("Requests have the version of the trace's file, if it is known", async () => {
  const { source, asked } = served(() => json(view));
  await source.view("a b/c.json", "kernels");
  source.useVersions((trace) => trace === "t" ? "v1" : null);
  await source.view("t", "gpu");
  assert.deepEqual(asked, ["view?trace=a+b%2Fc.json&view=kernels", "view?trace=t&view=gpu&version=v1"]);
});

test("A comparison is of both files: another version of one is another comparison", async () => {
  const document = { schema: "tbtrace.comparison/1", diff: {}, left_out: [], stacks: [] };
  const { source, asked } = served(() => json(document));
  const versions = new Map([["a", "1"], ["b", "7"]]);
  source.useVersions((trace) => versions.get(trace) ?? null);
  assert.equal((await source.comparison("a", "b")).schema, "tbtrace.comparison/1");
  await source.comparison("a", "b");
  versions.set("b", "8");
  await source.comparison("a", "b");
  await source.comparison("a", "unknown");
  assert.deepEqual(asked, ["compare?base=a&new=b&version=1%2C7", "compare?base=a&new=b&version=1%2C8",
                           "compare?base=a&new=unknown"]);
});

test("A view is asked for once, and again when the file changed", async () => {
  const { source, asked } = served(() => json(view));
  let version = "1";
  source.useVersions(() => version);
  assert.equal(await source.view("t", "gpu"), await source.view("t", "gpu"));
  assert.equal(asked.length, 1);
  version = "2";
  await source.view("t", "gpu");
  assert.equal(asked.length, 2);
});

test("Only the latest answers are kept", async () => {
  const { source, asked } = served(() => json(view));
  for (let number = 0; number < 40; ++number) await source.view(`t${number}`, "gpu");
  await source.view("t39", "gpu");
  assert.equal(asked.length, 40);
  await source.view("t0", "gpu");
  assert.equal(asked.length, 41);
});

test("Large answers do not fill the memory", async () => {
  const large = JSON.stringify({ ...view, filling: "x".repeat(30e6) });
  const { source, asked } = served(() => new Response(large));
  for (const trace of ["a", "b", "c", "c", "b", "a"]) await source.view(trace, "gpu");
  assert.equal(asked.length, 4);
});

test("The sentence of the server is the message", async () => {
  const { source, asked } = served(() => json({ error: "The file is cut." }, 422));
  await assert.rejects(source.view("t", "gpu"), { message: "The file is cut.", mayPass: false });
  await assert.rejects(source.view("t", "gpu"), /cut/);
  assert.equal(asked.length, 2);  // failures are not kept
});

test("Whatever answers, there is a sentence", async () => {
  await assert.rejects(served(() => new Response("<html>", { status: 502, statusText: "Bad Gateway" })).source.runs(),
    { message: "TensorBoard answered with 502 Bad Gateway.", mayPass: true });
  await assert.rejects(served(() => { throw new TypeError("Failed to fetch"); }).source.view("t", "gpu"),
    { message: /TensorBoard does not answer/, mayPass: true });
  await assert.rejects(served(() => new Response('{"schema":')).source.view("t", "gpu"),
    { message: /was cut/, mayPass: true });
  await assert.rejects(served(() => json({ schema: "tbtrace.view/9" })).source.view("t", "gpu"),
    /This page knows tbtrace.view\/1 and/);
});

test("An answer that nobody waits for is given up", async () => {
  const { source, asked, given, answerAll } = waiting();
  const first = new AbortController();
  const second = new AbortController();
  const one = source.view("t", "gpu", first.signal);
  const two = source.view("t", "gpu", second.signal);
  assert.equal(asked.length, 1);
  first.abort();
  await assert.rejects(one, /no longer wanted/);
  assert.deepEqual(given, []);
  answerAll();
  assert.equal((await two).view, "kernels");
  second.abort();
  assert.equal((await source.view("t", "gpu")).view, "kernels");
  assert.equal(asked.length, 1);
});

test("What was given up is asked for again", async () => {
  const { source, asked, given, answerAll } = waiting();
  const life = new AbortController();
  const one = source.view("t", "gpu", life.signal);
  life.abort();
  await assert.rejects(one, /no longer wanted/);
  assert.equal(given.length, 1);
  const again = source.view("t", "gpu");
  answerAll();
  assert.equal((await again).view, "kernels");
  assert.equal(asked.length, 2);
});

test("Parts and ranges of a timeline", async () => {
  const timeline = { schema: "tbtrace.timeline/1", ranges: 0 };
  const { source, asked } = served((address) => json(address.includes("/range?")
    ? { schema: "tbtrace.range/1", arguments: [{ key: "grid", unit: "", value: [1, 1, 1] }] } : timeline));
  assert.deepEqual(await source.part("t", -5, 100), timeline);
  const range = { track: 1, start_ns: 2, duration_ns: 3, name: "a&b", nth: 0 };
  assert.deepEqual((await source.range("t", range)).arguments,
                   [{ key: "grid", unit: "", value: [1, 1, 1] }]);
  assert.deepEqual(asked, ["timeline?trace=t&from_ns=-5&to_ns=100",
    "range?trace=t&track=1&start_ns=2&duration_ns=3&name=a%26b&nth=0"]);
});
