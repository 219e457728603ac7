// Bands lie on each other without gaps, cut to what is in sight.
import { test } from "node:test";
import assert from "node:assert/strict";
import { bandPaths, bandsAt } from "../data/band_points.js";

const same = (value) => value;

test("Layers are outlines of steps on top of each other", () => {
  const layers = [{ label: "a", kind: "a", values: [1, 2] }, { label: "none", kind: "b", values: [0, 0] },
                  { label: "c", kind: "c", values: [3, 0] }];
  assert.deepEqual(bandPaths([0, 10], layers, 0, 20, same, same), [
    "M0.0 1.0H10.0V2.0H20.0V0.0H10.0V0.0H0.0Z", "", "M0.0 4.0H10.0V2.0H20.0V2.0H10.0V1.0H0.0Z"]);
});

test("Layers begin and end at the edges of what is in sight", () => {
  const layers = [{ label: "a", kind: "a", values: [1, 2, 3, 4] }];
  assert.deepEqual(bandPaths([0, 10, 20, 30], layers, 15, 25, same, same), ["M15.0 2.0H20.0V3.0H25.0V0.0H20.0V0.0H15.0Z"]);
  assert.deepEqual(bandPaths([0, 10], layers, 12, 25, same, same), ["M12.0 2.0H25.0V0.0H12.0Z"]);
  assert.deepEqual(bandPaths([], layers, 0, 1, same, same), [""]);
});

test("The largest layers have their names, and the others are counted", () => {
  const layers = [1, 0, 9, 3, 2, 7].map((value, at) => ({ label: "abcdef"[at], kind: "", values: [value] }));
  const shown = (most) => bandsAt(layers, 0, most).map(({ label, value }) => label + value);
  assert.deepEqual(shown(3), ["c9", "f7", "d3", "2 others3"]);
  assert.deepEqual(shown(4), ["c9", "f7", "d3", "e2", "a1"], "the name of one takes no more room than its count");
});
