// Thins a step curve to what the columns of pixels can show.

/**
 * The first place whose x is greater than `value`.
 * @param {ArrayLike<number>} x ascending
 * @param {number} value
 */
export function curveAfter(x, value) {
  let low = 0;
  let high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle] > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * A column of pixels: the curve comes in at `first`, leaves at `last`, and is between `low` and
 * `high` inside.
 * @typedef {object} CurveColumns
 * @property {Uint32Array} column numbers of columns with records, ascending
 * @property {Float64Array} first NaN: nothing was recorded before
 * @property {Float64Array} low
 * @property {Float64Array} high
 * @property {Float64Array} last
 */

/**
 * Columns without a record are left out: there the curve stays at the last value before. Values
 * that are NaN (not recorded) are skipped.
 * @param {ArrayLike<number>} x ascending
 * @param {ArrayLike<number>} y
 * @param {number} from value of x at the left edge
 * @param {number} to value of x at the right edge
 * @param {number} columns
 * @returns {CurveColumns}
 */
export function curveColumns(x, y, from, to, columns) {
  /** @type {number[]} */ const column = [];
  /** @type {number[]} */ const first = [];
  /** @type {number[]} */ const low = [];
  /** @type {number[]} */ const high = [];
  /** @type {number[]} */ const last = [];
  const scale = columns / (to - from);
  let place = curveAfter(x, from);
  let held = NaN;
  for (let before = place - 1; before >= 0; --before) {
    if (y[before] === y[before]) {
      held = y[before];
      break;
    }
  }
  if (held === held) {
    column.push(0);
    first.push(held);
    low.push(held);
    high.push(held);
    last.push(held);
  }
  for (; place < x.length && x[place] <= to; ++place) {
    const value = y[place];
    if (value !== value) continue;
    const at = Math.min(columns - 1, Math.floor((x[place] - from) * scale));
    /** @type {number} */
    const end = column.length - 1;
    if (end < 0 || column[end] !== at) {
      column.push(at);
      first.push(held);
      low.push(held === held ? Math.min(held, value) : value);
      high.push(held === held ? Math.max(held, value) : value);
      last.push(value);
    } else {
      if (value < low[end]) low[end] = value;
      if (value > high[end]) high[end] = value;
      last[end] = value;
    }
    held = value;
  }
  return {
    column: Uint32Array.from(column), first: Float64Array.from(first), low: Float64Array.from(low),
    high: Float64Array.from(high), last: Float64Array.from(last),
  };
}
