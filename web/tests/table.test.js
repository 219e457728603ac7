import test from "node:test";
import assert from "node:assert/strict";
import { countedReads } from "./counted_reads.js";
import { allRows, cellOf, columnOf, hasValues, matchingRows, recordsOf, sortedRows,
         TreeModel } from "../data/table.js";
import { fileName, shellWord, toCsv, toTsv } from "../data/table_export.js";

/** A table of columns, with what the contract says about texts. */
function tableOf(columns, more = {}) {
  return {
    name: "t", title: "T", command: null, left_out: 0, names_cut: 0, sort_by: null, shown: [],
    tree: null, totals: {}, totals_label: "", notes: [], empty: null, ...more,
    rows: columns[0].values.length,
    columns: columns.map((column) => ({ unit: "", meaning: "", ...column })),
  };
}

function textColumn(key, values, type = "text") {
  const texts = [...new Set(values.filter((value) => value !== null))].sort();
  return { key, type, texts,
           values: values.map((value) => value === null ? null : texts.indexOf(value)) };
}

const small = () => tableOf([
  textColumn("name", ["gemm", "Add", null, "relu"]),
  { key: "total_ns", type: "number", unit: "ns", values: [5, 10, 10, null] },
  { key: "address", type: "integer",
    values: ["9007199254740993", "9007199254740992", null, "-18446744073709551615"] },
  { key: "used", type: "flag", values: [true, null, false, true] },
  textColumn("shapes", ["[[1, 2]]", null, null, "[]"], "json"),
]);

test("Cells: texts by their number, null without a value", () => {
  const table = small();
  assert.equal(cellOf(columnOf(table, "name"), 1), "Add");
  assert.equal(cellOf(columnOf(table, "name"), 2), null);
  assert.equal(cellOf(columnOf(table, "total_ns"), 0), 5);
  assert.equal(columnOf(table, "nothing"), null);
  assert.deepEqual(recordsOf(table)[0], { name: "gemm", total_ns: 5, used: true,
    address: "9007199254740993", shapes: [[1, 2]] });
});

test("A column without any value is known", () => {
  const table = tableOf([{ key: "a", type: "number", values: [null, null] },
                         { key: "b", type: "number", values: [null, 0] }]);
  assert.equal(hasValues(table.columns[0]), false);
  assert.equal(hasValues(table.columns[1]), true);
});

test("Sorting: nulls come last both ways, equal rows keep their order", () => {
  const table = small();
  assert.deepEqual([...sortedRows(table, "total_ns", true)], [1, 2, 0, 3]);
  assert.deepEqual([...sortedRows(table, "total_ns", false)], [0, 1, 2, 3]);
  assert.deepEqual([...sortedRows(table, "name", false)], [1, 0, 3, 2]);
  assert.deepEqual([...sortedRows(table, "name", true)], [3, 0, 1, 2]);
});

test("Sorting: integers beyond 2^53 are exact", () => {
  assert.deepEqual([...sortedRows(small(), "address", true)], [0, 1, 3, 2]);
  assert.deepEqual([...sortedRows(small(), "address", false)], [3, 1, 0, 2]);
});

test("Sorting: an unknown column leaves the table's order", () => {
  assert.deepEqual([...sortedRows(small(), "nothing", true)], [0, 1, 2, 3]);
});

test("Sorting: only some rows", () => {
  assert.deepEqual([...sortedRows(small(), "total_ns", true, [0, 2])], [2, 0]);
});

test("Search: case does not matter, numbers are not searched", () => {
  const table = small();
  assert.deepEqual([...matchingRows(table, "aDD")], [1]);
  assert.deepEqual([...matchingRows(table, "5")], []);
  assert.deepEqual([...matchingRows(table, "[1")], [0]);
  assert.deepEqual([...matchingRows(table, "  ")], [0, 1, 2, 3]);
});

const tree = () => tableOf([
  textColumn("name", ["net", "a", "a1", "b", "[unattributed]"]),
  textColumn("path", ["net", "net.a", "net.a.a1", "net.b", null]),
  { key: "depth", type: "number", values: [0, 1, 2, 1, null] },
], { tree: { name: "name", path: "path", depth: "depth" } });

test("Tree: collapsing hides all that is inside", () => {
  const model = new TreeModel(tree());
  assert.deepEqual([...model.rows()], [0, 1, 2, 3, 4]);
  assert.equal(model.hasInner(0), true);
  assert.equal(model.hasInner(3), false);
  assert.equal(model.setOpen(3, false), false);
  assert.equal(model.setOpen(1, false), true);
  assert.equal(model.setOpen(1, false), false);
  assert.deepEqual([...model.rows()], [0, 1, 3, 4]);
  model.setOpen(0, false);
  assert.deepEqual([...model.rows()], [0, 4]);
  model.setOpen(0, true);
  assert.deepEqual([...model.rows()], [0, 1, 3, 4]);
  model.collapseFrom(0);
  assert.deepEqual([...model.rows()], [0, 4]);
  model.collapseFrom(Infinity);
  assert.deepEqual([...model.rows()], [0, 1, 2, 3, 4]);
  assert.equal(model.parent(2), 1);
  assert.equal(model.parent(0), -1);
});

test("CSV: quotes, empty cells, exact numbers", () => {
  const table = tableOf([textColumn("name", ["a,b", "say \"x\"", "two\nlines", null]),
                         { key: "n", type: "number", values: [-1, 0.5, null, 3] }]);
  assert.equal(toCsv(table, allRows(table), ["name", "n"]),
    "name,n\r\n\"a,b\",-1\r\n\"say \"\"x\"\"\",0.5\r\n\"two\nlines\",\r\n,3\r\n");
});

test("CSV: texts that a spreadsheet would run get an apostrophe, numbers do not", () => {
  const table = tableOf([
    textColumn("name", ["=HYPERLINK(\"http://x\")", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "x=1"]),
    { key: "n", type: "number", values: [-1, -2, -3, -4, -5, -6, -7] }]);
  const lines = toCsv(table, [0, 1, 2, 3, 6], ["name", "n"]).split("\r\n");
  assert.equal(lines[1], "\"'=HYPERLINK(\"\"http://x\"\")\",-1");
  assert.deepEqual(lines.slice(2, 6), ["'+1,-2", "'-1,-3", "'@SUM(A1),-4", "x=1,-7"]);
  assert.equal(toCsv(table, [4], ["name"]), "name\r\n'\tx\r\n");
  assert.equal(toCsv(table, [5], ["name"]), "name\r\n\"'\rx\"\r\n");
});

test("Text for the clipboard: one line per row", () => {
  const table = tableOf([textColumn("name", ["a\tb\nc", "=1"]),
                         { key: "n", type: "number", values: [1, 2] }]);
  assert.equal(toTsv(table, [1, 0], ["n", "name"]), "n\tname\n2\t'=1\n1\ta b c\n");
});

test("Names of traces in commands and files", () => {
  assert.equal(shellWord("runs/a-1.json.gz"), "runs/a-1.json.gz");
  assert.equal(shellWord("it's $(x).json"), "'it'\\''s $(x).json'");
  assert.equal(shellWord("-x"), "./-x");
  assert.equal(shellWord(""), "''");
  assert.equal(fileName("../a b<c>", "kernels", "by_name.csv"), "_a_b_c__kernels_by_name.csv");
});

test("A sort and a search read each value and each text once", () => {
  const rows = 100000;
  const names = Array.from({ length: rows }, (_, i) => `kernel_${i % 5000}`);
  const texts = [...new Set(names)].sort();
  const places = new Map(texts.map((text, place) => [text, place]));
  const counted = { texts: countedReads(texts), values: countedReads(names.map((name) => places.get(name))),
                    numbers: countedReads(names.map((_, i) => (i * 7919) % 100003)) };
  const table = tableOf([
    { key: "name", type: "text", texts: counted.texts.list, values: counted.values.list },
    { key: "n", type: "number", values: counted.numbers.list }]);
  sortedRows(table, "n", true);
  // Twice: whether it is null, and its value.
  assert.ok(counted.numbers.reads() <= 2 * rows);
  assert.equal(counted.values.reads(), 0);
  assert.equal(matchingRows(table, "kernel_499").length, 11 * 20);
  assert.ok(counted.texts.reads() <= 5000);
  assert.ok(counted.values.reads() <= rows);
  // The next letter of a search lowers no text again; a word that no text has reads no row.
  assert.equal(matchingRows(table, "kernel_4999").length, 20);
  assert.equal(matchingRows(table, "conv").length, 0);
  assert.equal(counted.texts.reads(), 0);
  assert.ok(counted.values.reads() <= rows);
});
