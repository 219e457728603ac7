// Columns of a timeline from their bytes: byte planes, zigzag, differences.

/**
 * @typedef {object} TimelineColumn
 * @property {string} name
 * @property {number} count
 * @property {number} planes bytes of each integer; the lowest byte of all comes first
 * @property {"none" | "previous" | "track"} delta
 * @property {boolean} signed zigzag
 */
/** @typedef {{column: TimelineColumn, offset: number}} TimelinePlace */

/**
 * Where each column begins.
 * @param {TimelineColumn[]} columns
 * @param {number} length of all bytes
 * @returns {Map<string, TimelinePlace>}
 */
export function timelinePlaces(columns, length) {
  /** @type {Map<string, TimelinePlace>} */
  const places = new Map();
  let offset = 0;
  for (const column of columns) {
    places.set(column.name, { column, offset });
    offset += column.count * column.planes;
  }
  if (offset > length) {
    throw new Error("The timeline is shorter than its header says. The page may have been cut " +
                    "when it was saved.");
  }
  return places;
}

/**
 * The values of a column; zeros without it.
 * @param {Uint8Array} bytes of all columns
 * @param {TimelinePlace | undefined} place
 * @param {ArrayLike<number>} trackRanges how many ranges each track has
 * @param {number} count values if there is no such column
 * @returns {Float64Array}
 */
export function timelineColumn(bytes, place, trackRanges, count = 0) {
  if (!place) return new Float64Array(count);
  const { column, offset } = place;
  const length = column.count;
  const values = new Float64Array(length);
  let weight = 1;
  for (let plane = 0; plane < column.planes; plane++, weight *= 256) {
    const from = offset + plane * length;
    for (let i = 0; i < length; i++) values[i] += bytes[from + i] * weight;
  }
  if (column.signed) {
    for (let i = 0; i < length; i++) {
      const value = values[i];
      values[i] = value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
  }
  if (column.delta === "none") return values;
  let before = 0;
  let track = 0;
  let next = column.delta === "track" ? 0 : length;
  for (let i = 0; i < length; i++) {
    while (i === next) {
      // Tracks without ranges end where they begin.
      before = 0;
      next = track < trackRanges.length ? next + trackRanges[track++] : length;
    }
    before += values[i];
    values[i] = before;
  }
  return values;
}

/**
 * One value of a column without differences: decimal text, exact beyond 2^53.
 * @param {Uint8Array} bytes
 * @param {TimelinePlace} place
 * @param {number} i
 * @returns {string}
 */
export function timelineInteger(bytes, { column, offset }, i) {
  let value = 0n;
  for (let plane = column.planes - 1; plane >= 0; plane--) {
    value = value * 256n + BigInt(bytes[offset + plane * column.count + i]);
  }
  if (column.signed) value = value % 2n === 0n ? value / 2n : -(value + 1n) / 2n;
  return String(value);
}
