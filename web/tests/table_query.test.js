// The box above a table: texts, conditions, groups; figures against sums of this file's own.
import assert from "node:assert/strict";
import { test } from "node:test";
import { matchingRows } from "../data/table.js";
import { groupedTable, parseQuery, queryExamples, queryRows } from "../data/table_query.js";

const names = ["void gemm<4, float>(int*)", "aten::mm", "Add | by", null, "nccl AllReduce"];
const families = ["GEMM", "GEMM", "elementwise", "other", null];
function textColumn(key, values) {
  const texts = [...new Set(values.filter((value) => value !== null))];
  return { key, type: "text", unit: "", meaning: "", texts, values: values.map((value) => value === null ? null : texts.indexOf(value)) };
}
const number = (key, values, unit = "", type = "number") => ({ key, type, unit, meaning: "what it is", values });
const table = (more = {}) => ({
  name: "kernels", title: "Kernels", command: null, rows: 5, left_out: 0, names_cut: 0, sort_by: "total_ns", shown: [], tree: null,
  totals: {}, totals_label: "", notes: [], empty: null,
  columns: [textColumn("name", names), textColumn("family", families),
            number("total_ns", [5e6, 1e6, 2000, 10, null], "ns"), number("self_cpu_time_total_ns", [1, 2, 3, 4, 5], "ns"),
            number("bytes", [2048, 1024, 0, null, 7], "bytes"), number("busy_share", [0.5, 0.25, 0, 1, null], "share"),
            number("count", [3, 1, 2, 2, 2]), number("address", ["9007199254740993", "9007199254740992", null, "1", "2"], "", "integer"),
            { key: "used", type: "flag", unit: "", meaning: "", values: [true, false, null, true, false] }], ...more });

/** The rows that a query leaves; a problem is an error. */
function rowsOf(text, of = table()) {
  const query = parseQuery(of, text);
  assert.deepEqual(query.problems, [], text);
  return [...queryRows(of, query)];
}
const problemOf = (text, of = table()) => parseQuery(of, text).problems[0] ?? "";

test("a text is what it was: any text that contains it, with its spaces", () => {
  for (const text of ["", "gemm", "GEMM", "aten::mm", "gemm<4, float>", "void gemm<4, float>(int*)", "nccl AllReduce", "none of them", "a  b"]) {
    assert.deepEqual(rowsOf(text), [...matchingRows(table(), text)], text);
  }
  assert.deepEqual(rowsOf('"Add | by"'), [2]);
});

test("conditions on texts", () => {
  assert.deepEqual(rowsOf("name:gemm"), [0]);
  assert.deepEqual(rowsOf("family:gemm"), [0, 1]);
  assert.deepEqual(rowsOf("-family:gemm"), [2, 3, 4], "rows without a family are not of this one");
  assert.deepEqual(rowsOf("family=elementwise"), [2]);
  assert.deepEqual(rowsOf("family!=gemm"), [2, 3], "a row without a value has no other one");
  assert.deepEqual(rowsOf('name:"nccl all"'), [4]);
  assert.deepEqual(rowsOf("fam:gemm aten"), [1], "the only column that begins so, and a text");
  assert.deepEqual(rowsOf("name:"), [0, 1, 2, 3, 4], "while it is written");
});

test("conditions may have spaces; a column that there is not is named", () => {
  assert.deepEqual(rowsOf("total > 1ms"), [0]);
  assert.deepEqual(rowsOf("family = elementwise"), [2]);
  assert.deepEqual(rowsOf("total >= 1ms  total <2s aten"), [1]);
  const hintOf = (text) => parseQuery(table(), text).hints[0] ?? "";
  assert.equal(hintOf("nonsense>3"), "There is no column nonsense.");
  assert.equal(hintOf("nonsense > 3"), "There is no column nonsense.");
  assert.match(hintOf("by family: count"), /^Groups are written \|/);
  assert.match(hintOf("| by"), /^Groups are written \|/);
  for (const text of ["gemm<4, float>", "aten::mm", "total>1ms", "| by family", "baby steps"]) assert.equal(hintOf(text), "", text);
});

test("conditions on numbers have units", () => {
  assert.deepEqual(rowsOf("total>1ms"), [0]);
  assert.deepEqual(rowsOf("total>=1ms"), [0, 1]);
  assert.deepEqual(rowsOf("total_ns<2us"), [3]);
  assert.deepEqual(rowsOf("total<=2us"), [2, 3]);
  assert.deepEqual(rowsOf("total>0"), [0, 1, 2, 3], "zero has no unit");
  assert.deepEqual(rowsOf("total>0.001s total<1000000ns"), []);
  assert.deepEqual(rowsOf("self_CPU_time>=4ns"), [3, 4], "as the heading says");
  assert.deepEqual(rowsOf("bytes>=1KiB"), [0, 1]);
  assert.deepEqual(rowsOf("bytes>=1.1kB"), [0]);
  assert.deepEqual(rowsOf("busy>=50%"), [0, 3]);
  assert.deepEqual(rowsOf("count=2"), [2, 3, 4]);
  assert.deepEqual(rowsOf("count:2"), [2, 3, 4]);
  assert.deepEqual(rowsOf("count!=2"), [0, 1]);
  assert.deepEqual(rowsOf("-count=2"), [0, 1]);
  assert.deepEqual(rowsOf("address=9007199254740993"), [0], "beyond 2^53");
  assert.deepEqual(rowsOf("used:yes"), [0, 3]);
});

test("what is not clear has no answer", () => {
  assert.match(problemOf("total>5"), /unit/);
  assert.match(problemOf("total>5MiB"), /units/);
  assert.match(problemOf("busy>5"), /%/);
  assert.match(problemOf("| by nothing"), /no column nothing/);
  assert.match(problemOf("| by family: sum(name)"), /not a number/);
  assert.match(problemOf("| by family: total"), /not a figure/);
  const two = table();
  two.columns.push(number("total_calls", [1, 1, 1, 1, 1]), number("total_count", [1, 1, 1, 1, 1]));
  assert.equal(problemOf("total>1ms", two), "", "the whole name is that of one");
  assert.match(problemOf("total_c>1", two), /may be total calls, total count/);
  for (const text of ["kernel<float>", "std::vector<int>", "a=b", "x>5", "count<int>", "total<T>", "-", ":", "|", "| by", "\"", "a\"b"]) {
    rowsOf(text);
  }
  const tree = table({ tree: { name: "name", path: "name", depth: "count" } });
  assert.match(problemOf("| by family: sum(total)", tree), /contain each other/);
  assert.equal(problemOf("| by family: sum(self_cpu), mean(total)", tree), "");
});

test("groups have the figures of their rows", () => {
  const of = table({ left_out: 7 });
  const query = parseQuery(of, "count>0 | by family: count, sum(total), mean(bytes), median(count), p90(count), max(total), min(count)");
  assert.deepEqual(query.problems, []);
  const made = groupedTable(of, queryRows(of, query), query.group);
  const value = (key) => made.columns.find((column) => column.key === key).values;
  const family = made.columns[0];
  assert.deepEqual(family.values.map((at) => at === null ? null : family.texts[at]), ["GEMM", "elementwise", "other", null]);
  assert.deepEqual(value("rows"), [2, 1, 1, 1]);
  assert.deepEqual(value("sum_total_ns"), [6e6, 2000, 10, null], "without a value there is no sum");
  assert.deepEqual(value("mean_bytes"), [1536, 0, null, 7]);
  assert.deepEqual(value("median_count"), [2, 2, 2, 2]);
  assert.deepEqual(value("p90_count").map((one) => Number(one.toFixed(9))), [2.8, 2, 2, 2], "between neighbours, as numpy has it");
  assert.deepEqual(value("max_total_ns"), [5e6, 2000, 10, null]);
  assert.deepEqual(value("min_count"), [1, 2, 2, 2]);
  assert.equal(made.columns.find(({ key }) => key === "sum_total_ns").unit, "ns");
  assert.match(made.notes[0], /7 more are left out/);
  const short = parseQuery(of, "gemm | by family, used");
  assert.deepEqual(short.group.figures.map(({ name, column }) => [name, column?.key]), [["count", undefined], ["sum", "total_ns"]]);
  assert.equal(groupedTable(of, queryRows(of, short), short.group).rows, 2);
});

test("sums of all groups are the sum of all rows, in random tables", () => {
  let state = 7;
  const random = (below) => { state = (state * 1664525 + 1013904223) % 4294967296; return Math.floor(state / 4294967296 * below); };
  for (let round = 0; round < 50; round++) {
    const rows = 1 + random(200);
    const of = table({ rows, columns: [textColumn("name", Array.from({ length: rows }, () => `n${random(9)}`)),
                                       number("total_ns", Array.from({ length: rows }, () => random(5) ? random(1000) : null), "ns")] });
    const query = parseQuery(of, `total<${random(1000)}ns | by name: count, sum(total)`);
    const left = [...queryRows(of, query)];
    const made = groupedTable(of, Uint32Array.from(left), query.group);
    const sum = (values) => values.reduce((all, value) => all + (value ?? 0), 0);
    assert.equal(sum(made.columns[1].values), left.length);
    assert.equal(sum(made.columns[2].values), sum(left.map((row) => of.columns[1].values[row])));
  }
});

test("examples are queries", () => {
  for (const of of [table(), table({ tree: { name: "name", path: "name", depth: "count" } }), table({ columns: [number("n", [1, 2, 3, 4, 5])] })]) {
    const examples = queryExamples(of, of.columns.map(({ key }) => key));
    assert.ok(examples.length > 0);
    for (const [query] of examples) assert.equal(problemOf(query, of), "", query);
    const [text] = examples.map(([query]) => query).filter((query) => /^[^|]*:/.test(query));
    if (text) assert.ok(queryRows(of, parseQuery(of, text)).length > 0, `${text} is in the table`);
  }
});
