// Ticks are few, even, inside the axis and different from each other.
import { test } from "node:test";
import assert from "node:assert/strict";
import { axisDecades, axisLogTicks, axisStep, axisText, axisTicks } from "../parts/chart_axes.js";

test("Ticks are inside the axis, evenly apart, and have texts of their own", () => {
  for (const unit of ["ns", "bytes", "", "per_s"]) {
    for (let exponent = 0; exponent < 15; ++exponent) {
      for (const factor of [1, 1.7, 3, 4.9, 8, 9.99]) {
        const range = factor * 10 ** exponent;
        for (const from of [0, range * 0.37, range * 12]) {
          for (const most of [3, 5, 8]) {
            const ticks = axisTicks(from, from + range, most, unit);
            const texts = new Set(ticks.map((tick) => tick.text));
            assert.equal(texts.size, ticks.length, JSON.stringify([unit, from, range, ticks]));
            assert.ok(ticks.length <= most + 1);
            const step = axisStep(range, most, unit);
            ticks.forEach(({ value }, at) => {
              assert.ok(value >= from - step * 1e-6 && value <= from + range + step * 1e-6);
              if (at > 0) assert.ok(Math.abs(value - ticks[at - 1].value - step) < step * 1e-6);
            });
          }
        }
      }
    }
  }
});

test("Texts have the unit that fits", () => {
  assert.deepEqual(axisTicks(0, 2e6, 4, "ns").map((tick) => tick.text),
                   ["0 ms", "0.5 ms", "1.0 ms", "1.5 ms", "2.0 ms"]);
  assert.deepEqual(axisTicks(0, 3 * 2 ** 30, 4, "bytes").map((tick) => tick.text),
                   ["0 GiB", "1 GiB", "2 GiB", "3 GiB"]);
  assert.deepEqual(axisTicks(5, 5, 4, "bytes").map((tick) => tick.text), ["5 B"]);
  assert.equal(axisText(-2e9, 3e9, 1e9, "ns"), "\u22122 s");
  assert.equal(axisText(12345678901, 12345678901, 1, "ns"), "12.345678901 s");
});

test("Logarithmic axes have powers of ten", () => {
  assert.deepEqual(axisDecades(0.5, 320), [-1, 3]);
  assert.deepEqual(axisDecades(100, 100), [2, 3]);
  assert.deepEqual(axisLogTicks(-1, 3, 10).map((tick) => tick.text),
                   ["0.1", "1", "10", "100", "1 k"]);
  assert.ok(axisLogTicks(0, 15, 4).length <= 4);
});
