// Where tracks and ticks of a timeline are, without any drawing.

/** Height of a line with a text, in px. */
export const timelineRow = 18;
/** Of the curve of a counter. */
const counterHeight = 40;
/** Between tracks. */
const trackGap = 7;
/** Of a group's heading. */
export const timelineHeading = 19;
/** Of the causes of idle time, below the streams of a device. */
export const timelineIdleRow = 15;

/**
 * @typedef {object} TimelineBox a track, or a counter below the tracks
 * @property {number} id of the track; of a counter its number after those of the tracks
 * @property {number} track -1: a counter
 * @property {number} counter -1: a track
 * @property {number} top of its label
 * @property {number} lines where its lines begin
 * @property {number} row height of a line
 * @property {number} rows lines that are shown
 * @property {number} height all of it, with the label
 * @property {string} heading above it, of a group that begins with it; empty: none
 * @property {number} idle where the causes of idle time begin; 0: they are not here
 */
/**
 * @typedef {object} TimelineLook how a track differs from others
 * @property {number} row height of a line that has room
 * @property {string} heading
 * @property {boolean} hasIdle
 */
/** @typedef {"closed" | "fit" | "full"} TimelineSize */
/** @typedef {{boxes: TimelineBox[], at: Int32Array, height: number}} TimelineLayout at: by id its box; -1: it is hidden */

/**
 * @param {number[]} trackRows lines by track
 * @param {number} counters how many
 * @param {(id: number) => TimelineSize} sizeOf
 * @param {(id: number) => number} room height that a deep track gets if it is not shown in full
 * @param {number} head height of a label that stands above its lines; 0: it is beside them
 * @param {(id: number, place: number) => TimelineLook} [lookOf]
 * @param {number[]} [order] ids of those that are shown, from top to bottom
 * @returns {TimelineLayout}
 */
export function timelineLayout(trackRows, counters, sizeOf, room, head, lookOf = plainLook,
                               order = Array.from({ length: trackRows.length + counters }, (_, id) => id)) {
  /** @type {TimelineBox[]} */
  const boxes = [];
  const at = new Int32Array(trackRows.length + counters).fill(-1);
  let top = 0;
  for (const [place, id] of order.entries()) {
    const isTrack = id < trackRows.length;
    const size = sizeOf(id);
    const isOpen = size !== "closed";
    const look = lookOf(id, place);
    if (look.heading !== "") top += timelineHeading;
    const rows = isTrack ? (isOpen ? trackRows[id] : Math.min(1, trackRows[id])) : 1;
    const row = !isTrack ? (isOpen ? counterHeight : timelineRow)
      : !isOpen ? timelineRow : size === "fit" ? timelineFit(rows, room(id), look.row) : look.row;
    // A thread of instants only has room for them, too.
    const lines = Math.max(Math.max(rows, 1) * row, head ? 0 : timelineRow);
    const idle = look.hasIdle ? top + head + lines + 2 : 0;
    const height = head + lines + (look.hasIdle ? timelineIdleRow + 2 : 0);
    at[id] = place;
    boxes.push({ id, track: isTrack ? id : -1, counter: isTrack ? -1 : id - trackRows.length,
                 top, lines: top + head, row, rows, height, heading: look.heading, idle });
    top += height + trackGap;
  }
  return { boxes, at, height: top };
}

/** @returns {TimelineLook} */
function plainLook() {
  return { row: timelineRow, heading: "", hasIdle: false };
}

/**
 * @param {number} rows
 * @param {number} room
 * @param {number} [most] height of a line that has room
 * @returns {number} height of a line, so that they fit if that leaves them visible
 */
export function timelineFit(rows, room, most = timelineRow) {
  return Math.max(4, Math.min(most, Math.floor(room / Math.max(1, rows))));
}

/**
 * @param {TimelineBox[]} boxes
 * @param {number} y
 * @returns {number} the first box that ends below y
 */
export function timelineBoxAt(boxes, y) {
  let low = 0;
  let high = boxes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (boxes[middle].top + boxes[middle].height <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The visible part after a zoom that keeps a time where it is.
 * @param {{from: number, to: number}} view
 * @param {number} time
 * @param {number} factor below 1: closer
 * @param {{from: number, to: number}} whole
 * @returns {{from: number, to: number}}
 */
export function timelineZoom(view, time, factor, whole) {
  const all = Math.max(whole.to - whole.from, 1);
  const long = Math.max(5, Math.min((view.to - view.from) * factor, all * 1.05));
  const share = (time - view.from) / (view.to - view.from);
  return timelineClamp({ from: time - share * long, to: time + (1 - share) * long }, whole);
}

/**
 * Nobody gets lost: some of the trace stays in sight.
 * @param {{from: number, to: number}} view
 * @param {{from: number, to: number}} whole
 * @returns {{from: number, to: number}}
 */
export function timelineClamp(view, whole) {
  const long = view.to - view.from;
  const isAll = long >= whole.to - whole.from;
  const rim = isAll ? 0 : Math.min(long * 0.1, (whole.to - whole.from) * 0.02);
  // A view that is longer than the trace has all of it.
  const ends = [whole.from - rim, whole.to + rim - long];
  const from = Math.max(Math.min(...ends), Math.min(view.from, Math.max(...ends)));
  return { from, to: from + long };
}
