import test from "node:test";
import assert from "node:assert/strict";
import { AddressState, formatState, parseState } from "../parts/state.js";

/** A window with an address and a history, as far as the state needs them. */
function fakeWindow(hash = "") {
  const owner = new EventTarget();
  const entries = [hash];
  const go = (hash) => Object.assign(owner.location, { hash, href: `file:///page.html${hash}` });
  const put = (address, push) => {
    const { hash: next } = new URL(address);
    if (push) entries.push(next);
    else entries[entries.length - 1] = next;
    go(next);
  };
  return Object.assign(owner, {
    location: { hash, href: `file:///page.html${hash}` }, entries,
    history: { pushState: (_a, _b, address) => put(address, true),
               replaceState: (_a, _b, address) => put(address, false) },
    back() {
      entries.pop();
      go(entries[entries.length - 1]);
      owner.dispatchEvent(new Event("popstate"));
      owner.dispatchEvent(new Event("hashchange"));
    },
  });
}

test("The state survives the way through the address", () => {
  const values = new Map([["view", "kernels"], ["kernels.search", "a+b & c=d #%"],
                          ["kernels.sort", "-total_ns"], ["k.columns", "name,total_ns"]]);
  const hash = formatState(values);
  assert.deepEqual(parseState(hash), values);
  assert.match(hash, /k\.columns=name,total_ns/);
});

test("Addresses by hand are read, whatever they are", () => {
  assert.deepEqual(parseState(""), new Map());
  assert.deepEqual(parseState("#"), new Map());
  assert.deepEqual(parseState("#view"), new Map([["view", ""]]));
  assert.deepEqual(parseState("#=x&a=%zz"), new Map([["a", "%zz"]]));
});

test("Changes replace the entry of the history or add one", () => {
  const owner = fakeWindow("#view=summary");
  const state = new AddressState(owner);
  assert.equal(state.get("view"), "summary");
  assert.equal(state.get("nothing"), null);
  state.change({ "summary.sort": "x" });
  assert.deepEqual(owner.entries, ["#view=summary&summary.sort=x"]);
  state.change({ view: "kernels", "summary.sort": null }, true);
  assert.deepEqual(owner.entries, ["#view=summary&summary.sort=x", "#view=kernels"]);
  state.change({ view: "kernels" }, true);
  assert.equal(owner.entries.length, 2);
});

test("The back button is heard once, own changes are not", () => {
  const owner = fakeWindow("#view=summary");
  const state = new AddressState(owner);
  let calls = 0;
  state.listen(() => { calls++; });
  state.change({ view: "kernels" }, true);
  assert.equal(calls, 0);
  owner.back();
  assert.equal(calls, 1);
  assert.equal(state.get("view"), "summary");
});

test("A link has the present state, or another one", () => {
  const owner = fakeWindow("#view=kernels&kernels.sort=-total_ns");
  const state = new AddressState(owner);
  assert.equal(state.link(), "file:///page.html#view=kernels&kernels.sort=-total_ns");
  assert.equal(state.link({ view: "gpu", trace: null }), "file:///page.html#view=gpu");
  assert.deepEqual(state.all(), { view: "kernels", "kernels.sort": "-total_ns" });
});

test("A browser that refuses does not stop the page", () => {
  const owner = fakeWindow("");
  owner.history.replaceState = () => { throw new Error("too often"); };
  const state = new AddressState(owner);
  state.change({ view: "kernels" });
  assert.equal(state.get("view"), "kernels");
});
