// The tab's state in TensorBoard's address.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pluginForm } from "../tab_address.js";

const form = pluginForm("tbtrace");

/** As TensorBoard 2.21 reads and writes the part after `#`. */
function throughTensorBoard(hash, tab) {
  const values = {};
  for (const part of hash.slice(1).split("&")) {
    const [key, value, more] = part.split("=");
    if (value !== undefined && more === undefined) values[decodeURIComponent(key)] = decodeURIComponent(value);
  }
  return `#${[tab, ...Object.entries(values).map(([key, value]) =>
    `${encodeURIComponent(key)}=${encodeURIComponent(value)}`)].join("&")}`;
}

test("The state survives what TensorBoard does with an address", () => {
  const values = new Map([["view", "kernels"], ["trace", "a b/c=d&e%2F+\u00e9.json"],
                          ["b.kernels.search", "x, y: #z"]]);
  const hash = form.write("#tbtrace", values);
  assert.deepEqual(form.read(hash), values);
  const away = throughTensorBoard(hash, "scalars");
  assert.deepEqual(form.read(away), values);
  assert.equal(throughTensorBoard(away, "tbtrace"), hash);
});

test("What is not the tab's own stays as it was", () => {
  const hash = "#scalars&tagFilter=a%2Fb&p.other.view=x&p.tbtrace.view=gpu&odd=1=2";
  assert.deepEqual(form.read(hash), new Map([["view", "gpu"]]));
  assert.equal(form.write(hash, new Map([["view", "steps"]])),
               "#scalars&tagFilter=a%2Fb&p.other.view=x&odd=1=2&p.tbtrace.view=steps");
});

test("An address without a tab leads to this one", () => {
  assert.equal(form.write("", new Map()), "#tbtrace");
  assert.equal(form.write("#a=b", new Map([["view", "gpu"]])), "#tbtrace&a=b&p.tbtrace.view=gpu");
});

test("Addresses by hand are read, whatever they are", () => {
  assert.deepEqual(form.read("#tbtrace&p.tbtrace.=x&p.tbtrace.view=%zz&p.tbtrace.&%&=&"),
                   new Map([["view", "%zz"]]));
  assert.deepEqual(form.read("#p.tbtrace.a=b=c"), new Map([["a", "b=c"]]));
});
