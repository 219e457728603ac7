// What the page of dropped traces asks the program, and how it names what is saved.
import assert from "node:assert/strict";
import { test } from "node:test";

import { itemOfDrop, itemsOfFiles, outputPath, placed, savedName, sizeOf } from "../drop/inputs.js";
import { plainLine } from "../drop/view.js";

const file = (name, path = "", size = 1) => ({ name, webkitRelativePath: path, size });
const item = (name) => itemsOfFiles([file(name)])[0];

function entry(name, children) {
  if (children === undefined) return { name, isFile: true, isDirectory: false, file: (done) => done(file(name)) };
  const rest = [...children];
  // As browsers do: some entries at a time, then none.
  return { name, isFile: false, isDirectory: true,
           createReader: () => ({ readEntries: (done) => done(rest.splice(0, 2)) }) };
}

function handle(children) {
  if (children === undefined) return { kind: "file", getFile: async () => file("x") };
  return { kind: "directory", entries: async function* () {
    for (const [name, grandchildren] of children) yield [name, handle(grandchildren)];
  } };
}

test("a field's files are items of their own, and those of a folder are one", () => {
  const items = itemsOfFiles([file("a.json"), file("0.json", "ranks/0.json"), file("1.json", "ranks/deep/1.json")]);
  assert.deepEqual(items.map(({ name, isFolder, files }) => [name, isFolder, files.map(({ path }) => path)]),
                   [["a.json", false, ["a.json"]], ["ranks", true, ["ranks/0.json", "ranks/deep/1.json"]]]);
  assert.equal(sizeOf(items), 3);
});

const wanted = ["ranks/0", "ranks/1", "ranks/2", "ranks/more/3"];
const folder = entry("ranks", [entry("0"), entry("1"), entry("2"), entry("more", [entry("3")])]);

test("a dropped folder gives all its files, by entries or by handles", async () => {
  const dropped = { getAsFile: () => null, webkitGetAsEntry: () => folder };
  assert.deepEqual((await itemOfDrop(dropped)).files.map(({ path }) => path), wanted);
  const children = [["0"], ["1"], ["2"], ["more", [["3"]]]];
  const other = { ...dropped, webkitGetAsEntry: () => ({ name: "ranks", isDirectory: true }),
                  getAsFileSystemHandle: async () => handle(children) };
  assert.deepEqual((await itemOfDrop(other)).files.map(({ path }) => path), wanted);
});

test("a dropped file is a file, and what is neither is nothing", async () => {
  const found = await itemOfDrop({ getAsFile: () => file("a.json"), webkitGetAsEntry: () => ({ isDirectory: false }) });
  assert.deepEqual([found.name, found.isFolder], ["a.json", false]);
  assert.equal(await itemOfDrop({ getAsFile: () => null, webkitGetAsEntry: () => null }), null);
});

test("the words are those of the command line", () => {
  const { files, words } = placed([item("b.json"), item("a.json")], "report");
  assert.deepEqual(words, ["report", "--limit", "2MB", "-o", outputPath, "--threads", "1", "--color", "never", "--progress", "off", "--",
                           "a.json", "b.json"]);
  assert.deepEqual(files.map(({ name }) => name), ["a.json", "b.json"]);
  assert.deepEqual(placed([item("b.json"), item("a.json")], "compare").words.slice(0, 3), ["diff", "--format", "html"]);
  assert.deepEqual(placed([item("b.json"), item("a.json")], "compare").words.slice(-2), ["b.json", "a.json"]);
});

test("names are no options and no standard input", () => {
  assert.deepEqual(placed([item("--help")], "report").words.slice(-2), ["--", "--help"]);
  assert.equal(placed([item("-")], "report").words.at(-1), "./-");
});

test("two files of one name stay two", () => {
  const { files, words } = placed([item("trace.json"), item("trace.json")], "compare");
  assert.deepEqual(files.map(({ name }) => name), ["1/trace.json", "2/trace.json"]);
  assert.deepEqual(words.slice(-2), ["1/trace.json", "2/trace.json"]);
});

test("a saved page has the name of its trace", () => {
  assert.equal(savedName([item("worker0.123.pt.trace.json.gz")], "report"), "worker0.123.html");
  assert.equal(savedName([item(".json")], "report"), "report.html");
  assert.equal(savedName([item("a.json"), item("b.json")], "report"), "job.html");
  assert.equal(savedName([item("a.json"), item("b.json")], "compare"), "compare.html");
});

test("what the program says of a file is a sentence", () => {
  assert.equal(plainLine("tbtrace: a: b.txt: is not a trace, since it is empty: is it"), "a: b.txt is not a trace, since it is empty: is it");
  assert.equal(plainLine("tbtrace: warning: x.json: 3 events were skipped"), "warning: x.json: 3 events were skipped");
});
