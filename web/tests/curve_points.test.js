// Thinned curves keep the lowest and the highest value of each column of pixels.
import { test } from "node:test";
import assert from "node:assert/strict";
import { curveAfter, curveColumns } from "../data/curve_points.js";

function randomCurve(seed, size) {
  let state = seed;
  const random = (below) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor(state / 2147483648 * below);
  };
  const x = [], y = [];
  let at = random(50);
  for (let place = 0; place < size; ++place) {
    at += random(4) === 0 ? random(300) : random(3);
    x.push(at);
    y.push(random(8) === 0 ? NaN : random(1000));
  }
  return { x, y };
}

test("Columns have the lowest, highest and last value", () => {
  for (let seed = 1; seed <= 80; ++seed) {
    const { x, y } = randomCurve(seed, seed * 9);
    const from = seed % 4 === 0 ? x[0] : x[Math.floor(x.length / 3)] - 1;
    const to = Math.max(from + 10, x[Math.floor(x.length * (seed % 5 === 0 ? 1 : 0.8)) - 1]);
    const columns = 5 + seed;
    const found = curveColumns(x, y, from, to, columns);
    const expected = [];  // [column, first, low, high, last]
    let held = NaN;
    x.forEach((at, place) => {
      if (at > to || Number.isNaN(y[place])) return;
      if (at <= from) {
        held = y[place];
        expected[0] = [0, held, held, held, held];
        return;
      }
      const column = Math.min(columns - 1, Math.floor((at - from) * (columns / (to - from))));
      const row = expected.find((one) => one[0] === column);
      if (row === undefined) {
        const all = Number.isNaN(held) ? [y[place]] : [held, y[place]];
        expected.push([column, held, Math.min(...all), Math.max(...all), y[place]]);
      } else {
        row[2] = Math.min(row[2], y[place]);
        row[3] = Math.max(row[3], y[place]);
        row[4] = y[place];
      }
      held = y[place];
    });
    const actual = [...found.column].map((column, at) => [column, found.first[at], found.low[at],
                                                          found.high[at], found.last[at]]);
    assert.deepEqual(actual, expected);
  }
});

test("The place after a value", () => {
  assert.equal(curveAfter([], 3), 0);
  assert.equal(curveAfter([1, 3, 3, 5], 3), 3);
  assert.equal(curveAfter([1, 3, 3, 5], 0), 0);
  assert.equal(curveAfter([1, 3, 3, 5], 5), 4);
});
