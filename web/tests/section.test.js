import test from "node:test";
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { readDocument, unpackSection } from "../data/section.js";
import { EmbeddedSource } from "../data/source.js";

const section = (value) => gzipSync(JSON.stringify(value)).toString("base64");

const decoded = async (text, schema) => readDocument(await unpackSection(text), [schema]);

/** A document with elements that have texts only. */
const pageOf = (texts) => ({
  getElementById: (id) => id in texts ? { textContent: texts[id] } : null,
});

test("A section is base64 of gzip of JSON", async () => {
  const value = { schema: "x/1", text: "\u00e9 \u{1f600} </script>" };
  assert.deepEqual(await decoded(`\n${section(value)}\n`, "x/1"), value);
});

test("A document with columns has their bytes", () => {
  const header = new TextEncoder().encode(JSON.stringify({ schema: "x/1", name: "\u00e9" }));
  const bytes = new Uint8Array(8 + header.length + 3);
  bytes.set(new TextEncoder().encode("TBTL"));
  new DataView(bytes.buffer).setUint32(4, header.length, true);
  bytes.set(header, 8);
  bytes.set([1, 2, 3], 8 + header.length);
  const document = readDocument(bytes, ["x/1"]);
  assert.equal(document.name, "\u00e9");
  assert.deepEqual([...document.bytes], [1, 2, 3]);
  assert.throws(() => readDocument(bytes, ["x/2"]), /This page knows x\/2, but the data are x\/1/);
});

test("An unknown schema is refused with a sentence", async () => {
  await assert.rejects(decoded(section({ schema: "x/2" }), "x/1"),
    /This page knows x\/1, but the data are x\/2\./);
  await assert.rejects(decoded(section(null), "x/1"), /something else/);
});

test("Embedded views are read once", async () => {
  const view = { schema: "tbtrace.view/1", view: "kernels", tables: [], stacks: [] };
  const source = new EmbeddedSource(pageOf({
    index: JSON.stringify({ schema: "tbtrace.report/1", views: [], traces: [] }),
    "view-1-kernels": section(view),
  }));
  assert.deepEqual((await source.index()).views, []);
  assert.deepEqual(await source.view(1, "kernels"), view);
  assert.equal(await source.view(1, "kernels"), await source.view(1, "kernels"));
  await assert.rejects(source.view(0, "kernels"), /not in the page/);
});

test("A page without its index says so", async () => {
  await assert.rejects(new EmbeddedSource(pageOf({})).index(), /This page has no data/);
});
