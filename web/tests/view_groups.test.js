// The list of views, and names that lead to rows.
import { test } from "node:test";
import assert from "node:assert/strict";
import { groupedViews, viewOfKey } from "../parts/view_groups.js";
import { namedRow, rowNamed, viewOfName } from "../parts/name_link.js";

const views = (...names) => names.map((name) => ({ name, title: name }));

test("a view's key does not depend on the others", () => {
  assert.equal(viewOfKey(views("summary", "gpu"), "6").name, "gpu");
  assert.equal(viewOfKey(views("ranks", "summary", "gpu"), "6").name, "gpu");
  assert.equal(viewOfKey(views("summary"), "6"), null);
  assert.equal(viewOfKey(views("model"), ""), null);
});

test("groups have the views that there are, also those that no group names", () => {
  const groups = groupedViews(views("memory", "compare", "summary"));
  assert.deepEqual(groups.map((group) => group.views.map(({ name }) => name)), [["summary", "compare"], ["memory"]]);
});

test("the row of a name", () => {
  const table = { columns: [{ key: "operator", texts: ["aten::mm"], values: [0, 0] },
                            { key: "name", texts: ["long a", "long b"], values: [0, 1] },
                            { key: "short_name", texts: ["a", "b"], values: [0, 1] }] };
  assert.equal(rowNamed(table, "long b"), 1);
  assert.equal(rowNamed(table, "b"), 1);
  assert.equal(rowNamed(table, "aten::mm"), 0);
  assert.equal(rowNamed(table, "c"), -1);
});

test("where the texts of a column lead", () => {
  const page = { name: "kernels", has: (view) => view !== "lines" };
  assert.equal(viewOfName(page, "operator", "aten::mm"), "operators");
  assert.equal(viewOfName(page, "operator", "[unknown]"), null, "that is not a name");
  assert.equal(viewOfName(page, "source_line", "a.py(1): f"), null, "the page has no such view");
  assert.equal(viewOfName({ ...page, name: "operators" }, "operator", "aten::mm"), null, "it is here");
  assert.deepEqual(namedRow("a.*", "layers"), { table: "layers", "layers.name": "a.*", "layers.row": null, "layers.search": null });
});
