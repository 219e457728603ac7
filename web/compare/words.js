// What people read about changes.
import { exactValue, formatValue } from "../parts/format.js";

/**
 * A difference with its sign.
 * @param {number} change
 * @param {string} unit
 * @returns {string}
 */
export function signedValue(change, unit) {
  const text = formatValue(change, unit);
  return change > 0 && /^\d/.test(text) ? `+${text}` : text;
}

/**
 * `1.20 ms before, 1.90 ms now, +0.70 ms`.
 * @param {number} base
 * @param {number} now
 * @param {string} [unit]
 * @returns {string}
 */
export function beforeAndNow(base, now, unit = "ns") {
  return `${formatValue(base, unit)} before, ${formatValue(now, unit)} now, ${
    signedValue(now - base, unit)}`;
}

/**
 * `+12.3 %` of what it was; without a base there is no share.
 * @param {number} base
 * @param {number} now
 * @returns {string}
 */
export function relativeChange(base, now) {
  return base > 0 ? signedValue((now - base) / base, "share") : "";
}

/**
 * Both exact values, for tooltips.
 * @param {number} base
 * @param {number} now
 * @returns {string}
 */
export function exactSides(base, now) {
  return `${exactValue(Math.round(base), "ns")} before, ${exactValue(Math.round(now), "ns")} now`;
}

const verdictWords = /** @type {{[verdict: string]: [string, string, string]}} */ ({
  slower: ["\u25b2", "slower", "error"], faster: ["\u25bc", "faster", "good"],
  same: ["=", "same", "info"], inconclusive: ["?", "inconclusive", ""],
});

/**
 * The sign, the word and the kind of a verdict.
 * @param {string} verdict
 * @returns {[string, string, string]}
 */
export function wordsOfVerdict(verdict) {
  return verdictWords[verdict] ?? ["?", verdict, ""];
}
