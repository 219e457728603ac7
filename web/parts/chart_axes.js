// Where an axis has its ticks, and what they say.
import { byteScale, timeScale } from "./format.js";

/**
 * @typedef {object} AxisTick
 * @property {number} value
 * @property {string} text
 */

const axisPrefixes = /** @type {[number, string][]} */ (
  [[1e18, "E"], [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]);

/**
 * The step between ticks: 1, 2 or 5 times a power of ten; of bytes times a power of 1024 as well.
 * @param {number} range greater than 0
 * @param {number} most ticks
 * @param {string} unit `ns`, `bytes` or anything else
 */
export function axisStep(range, most, unit) {
  const least = range / Math.max(1, most);
  let base = 1;
  if (unit === "bytes") {
    // 512 KiB is a better step than 1,000 KiB.
    if (least <= 1) return 1;
    return 2 ** Math.ceil(Math.log2(least));
  }
  base = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5, 10]) {
    const step = factor * base;
    if (step >= least * (1 - 1e-12)) return unit === "ns" ? Math.max(1, step) : step;
  }
  return 10 * base;
}

/**
 * Ticks from `from` to `to`, both included; all in the same unit, with as many digits as it takes
 * to tell them apart.
 * @param {number} from
 * @param {number} to
 * @param {number} most about how many
 * @param {string} unit
 * @returns {AxisTick[]}
 */
export function axisTicks(from, to, most, unit) {
  if (!(to > from)) return [{ value: from, text: axisText(from, Math.abs(from) || 1, 1, unit) }];
  const step = axisStep(to - from, most, unit);
  const largest = Math.max(Math.abs(from), Math.abs(to));
  const ticks = [];
  const slack = step * 1e-9;
  for (let which = Math.ceil((from - slack) / step); which * step <= to + slack; ++which) {
    const value = which * step;
    ticks.push({ value, text: axisText(value, largest, step, unit) });
    if (ticks.length > 1000) break;
  }
  return ticks;
}

/**
 * @param {number} value
 * @param {number} largest value of the axis, which decides the unit
 * @param {number} step between ticks, which decides the digits
 * @param {string} unit
 */
export function axisText(value, largest, step, unit) {
  const list = unit === "ns" ? timeScale : unit === "bytes" ? byteScale : axisPrefixes;
  const [size, name] = list.find(([least]) => largest >= least) || [1, unit === "ns" ? "ns" :
    unit === "bytes" ? "B" : ""];
  if (value === 0) return name && unit !== "" ? "0 " + name : "0";
  const blank = name === "" ? "" : unit === "" ? "" : " ";
  return (value / size).toFixed(axisDigits(step / size)).replace("-", "\u2212") + blank + name;
}

/**
 * How many digits after the point a number needs, 9 at most.
 * @param {number} value
 */
function axisDigits(value) {
  for (let digits = 0; digits < 9; ++digits) {
    const scaled = value * 10 ** digits;
    if (scaled > 0.5 && Math.abs(scaled - Math.round(scaled)) < 1e-9 * scaled) return digits;
  }
  return 9;
}

/**
 * The power of ten at or below `low` and at or above `high`, at least one power apart.
 * @param {number} low greater than 0
 * @param {number} high
 * @returns {[number, number]} exponents
 */
export function axisDecades(low, high) {
  const first = Math.floor(Math.log10(low) + 1e-9);
  const last = Math.ceil(Math.log10(high) - 1e-9);
  return [first, Math.max(last, first + 1)];
}

/**
 * Ticks of a logarithmic axis at powers of ten, `most` at most.
 * @param {number} first exponent
 * @param {number} last exponent
 * @param {number} most
 * @returns {AxisTick[]}
 */
export function axisLogTicks(first, last, most) {
  const every = Math.max(1, Math.ceil((last - first + 1) / Math.max(1, most)));
  const ticks = [];
  for (let exponent = first; exponent <= last; ++exponent) {
    if ((((exponent - first) % every) + every) % every !== 0) continue;
    ticks.push({ value: 10 ** exponent, text: axisPower(exponent) });
  }
  return ticks;
}

/**
 * @param {number} exponent
 */
function axisPower(exponent) {
  if (exponent < -3) return "1e" + exponent;
  if (exponent < 0) return (10 ** exponent).toFixed(-exponent);
  const prefix = axisPrefixes.find(([size]) => 10 ** exponent >= size * 0.999);
  if (prefix === undefined) return String(10 ** exponent);
  return String(Math.round(10 ** exponent / prefix[0])) + " " + prefix[1];
}
