// Segments of an allocator side by side, each with its blocks: where memory is free, and in what pieces.
import { h, onWidth, s } from "./dom.js";
import { formatValue } from "./format.js";

/**
 * @typedef {object} MapSegment
 * @property {string} address
 * @property {number} bytes
 * @property {string} about
 */
/**
 * @typedef {object} MapBlock
 * @property {string} address of its segment
 * @property {number} offset
 * @property {number} bytes
 * @property {string} kind the class `part-<kind>` gives its colour
 * @property {string} about
 */

const segmentRow = 16;
const segmentRows = 16;
const segmentGap = 2;

/**
 * @param {MapSegment[]} segments in the order in which they are drawn
 * @param {MapBlock[]} blocks that are in use
 * @param {string} name what it shows, for screen readers
 * @returns {HTMLElement}
 */
export function segmentMap(segments, blocks, name) {
  const svg = s("svg", { class: "segment-map", role: "img", "aria-label": name });
  const board = h("div", { class: "segment-board" }, svg);
  const total = segments.reduce((sum, { bytes }) => sum + bytes, 0);
  const largest = segments.reduce((most, { bytes }) => Math.max(most, bytes), 1);
  // So many bytes are a row.
  const rowBytes = Math.max(largest, total / segmentRows);
  /** @type {Map<string, MapBlock[]>} */
  const bySegment = new Map();
  for (const block of blocks) {
    const list = bySegment.get(block.address) ?? [];
    list.push(block);
    bySegment.set(block.address, list);
  }
  onWidth(board, (width) => {
    const scale = width / rowBytes;
    let x = 0, y = 0;
    const parts = [];
    for (const { address, bytes, about } of segments) {
      const wide = Math.max(1, bytes * scale - segmentGap);
      if (x > 0 && x + wide > width) {
        x = 0;
        y += segmentRow + segmentGap;
      }
      parts.push(s("rect", { class: "segment-free", x: x.toFixed(1), y, width: wide.toFixed(1), height: segmentRow },
                   s("title", null, about)));
      for (const block of bySegment.get(address) ?? []) {
        const left = Math.min(block.offset * scale, wide - 0.5);
        parts.push(s("rect", { class: "part part-" + block.kind, x: (x + left).toFixed(1), y,
                               width: Math.max(0.5, Math.min(block.bytes * scale, wide - left)).toFixed(1),
                               height: segmentRow },
                     s("title", null, block.about + ", in a segment of " + formatValue(bytes, "bytes"))));
      }
      x += wide + segmentGap;
    }
    svg.setAttribute("width", String(width));
    svg.setAttribute("height", String(y + segmentRow));
    svg.replaceChildren(...parts);
  });
  return board;
}
