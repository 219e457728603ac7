// Bands on top of each other, as outlines of steps.
import { curveAfter } from "./curve_points.js";

/**
 * @typedef {object} BandLayer
 * @property {string} label
 * @property {string} kind the class `part-<kind>` gives its colour
 * @property {ArrayLike<number>} values at each x, until the next one
 */

/**
 * The outline of each layer as an SVG path, the first one at the bottom. Empty: nothing in sight.
 * @param {ArrayLike<number>} x ascending
 * @param {BandLayer[]} layers
 * @param {number} from
 * @param {number} to
 * @param {(x: number) => number} xOf
 * @param {(y: number) => number} yOf
 * @returns {string[]}
 */
export function bandPaths(x, layers, from, to, xOf, yOf) {
  const first = Math.max(0, curveAfter(x, from) - 1);
  const end = curveAfter(x, to);
  /** @type {(at: number) => string} */
  const left = (at) => xOf(Math.max(x[at], from)).toFixed(1);
  const right = xOf(to).toFixed(1);
  const below = new Float64Array(Math.max(end - first, 0));
  return layers.map(({ values }) => {
    const above = below.map((value, place) => value + values[first + place]);
    if (!above.some((value, place) => value > below[place])) return "";
    const parts = [];
    for (let place = 0; place < above.length; ++place) {
      const y = yOf(above[place]).toFixed(1);
      parts.push(place === 0 ? `M${left(first)} ${y}` : `H${left(first + place)}V${y}`);
    }
    parts.push("H" + right);
    for (let place = above.length - 1; place >= 0; --place) {
      parts.push(`V${yOf(below[place]).toFixed(1)}H${left(first + place)}`);
    }
    below.set(above);
    return parts.join("") + "Z";
  });
}

/**
 * The largest layers at a place, and the sum of the others.
 * @param {BandLayer[]} layers
 * @param {number} place
 * @param {number} most that have their names
 * @returns {{label: string, value: number}[]}
 */
export function bandsAt(layers, place, most) {
  const held = layers.map(({ label, values }) => ({ label, value: values[place] }))
    .filter(({ value }) => value > 0).sort((a, b) => b.value - a.value);
  const rest = held.length <= most + 1 ? [] : held.splice(most);
  return [...held, ...rest.length === 0 ? []
    : [{ label: `${rest.length} others`, value: rest.reduce((sum, { value }) => sum + value, 0) }]];
}
