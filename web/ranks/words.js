// Words of the view of ranks.
import { formatValue } from "../parts/format.js";

/**
 * @param {number} ns
 * @returns {string} with its sign
 */
export function signedTime(ns) {
  return (ns > 0 ? "+" : "") + formatValue(ns, "ns");
}

/**
 * @param {number | null} perSecond
 * @returns {string} `154 GB/s`
 */
export function bandwidthText(perSecond) {
  return perSecond === null ? "\u2013" : formatValue(perSecond, "per_s").replace("/s", "B/s");
}

/**
 * @param {import("./document.js").RankRow[]} rows
 * @param {number} place
 * @returns {string} `rank 3`
 */
export function rankAt(rows, place) {
  return `rank ${rows[place]?.rank ?? "?"}`;
}
