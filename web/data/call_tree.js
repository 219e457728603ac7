// Which rows of a tree of calls are in sight, without any drawing.

/** @typedef {import("./stacks.js").StackModel} CallModel */

/** From this share of the frame around it on, the heaviest frame is opened at first. */
const callTreeMost = 0.5;

/** Frames that are open or closed. Those below a frame are ordered as in the model. */
export class CallTree {
  /** @param {CallModel} model ordered by weight */
  constructor(model) {
    this.model = model;
    /** By frame, 1 if it is open. The root always is: it has no row. */
    this.opened = new Uint8Array(model.size);
  }

  /**
   * @param {number} frame
   * @returns {boolean} whether frames are below it
   */
  hasInner(frame) {
    return this.model.end[frame] > frame + 1;
  }

  /**
   * @param {number} frame
   * @returns {boolean}
   */
  isOpen(frame) {
    return this.opened[frame] === 1;
  }

  /**
   * @param {number} frame
   * @param {boolean} open
   * @returns {boolean} whether anything changed
   */
  setOpen(frame, open) {
    if (!this.hasInner(frame) || this.isOpen(frame) === open) return false;
    this.opened[frame] = open ? 1 : 0;
    return true;
  }

  /**
   * @param {boolean} open
   * @returns {void}
   */
  setAll(open) {
    this.opened.fill(0);
    if (!open) return;
    for (let frame = 1; frame < this.model.size; ++frame) {
      if (this.hasInner(frame)) this.opened[frame] = 1;
    }
  }

  /**
   * The frames in sight, from top to bottom. Closed frames cost nothing.
   * @returns {Uint32Array}
   */
  rows() {
    const { end, size } = this.model;
    const rows = new Uint32Array(size);
    let count = 0;
    for (let frame = 1; frame < size; frame = this.opened[frame] ? frame + 1 : end[frame]) {
      rows[count++] = frame;
    }
    return rows.slice(0, count);
  }

  /**
   * Opens the frames around a frame.
   * @param {number} frame
   * @returns {void}
   */
  reveal(frame) {
    for (let above = this.model.parent[frame]; above > 0; above = this.model.parent[above]) {
      this.opened[above] = 1;
    }
  }

  /**
   * Opens the heaviest frame, the heaviest one below it, and so on.
   * @param {number} top where the path begins; 0: at the root
   * @param {number} [least] the path ends where the heaviest frame has a smaller share of the
   *     frame around it
   * @returns {number} the last frame of the path; 0 if there is none
   */
  openHeaviest(top, least = 0) {
    const { model } = this;
    let frame = top;
    while (this.hasInner(frame)) {
      if (frame > 0) this.opened[frame] = 1;
      // Frames are ordered by weight: the next one is the heaviest below.
      const next = frame + 1;
      if (model.total[next] === 0 || model.total[next] < least * model.total[frame]) break;
      frame = next;
    }
    return frame;
  }

  /** What is open before anybody opened anything: the path that has most of the weight. */
  openFirst() {
    this.setAll(false);
    this.openHeaviest(0, callTreeMost);
  }

  /**
   * Closes everything, and opens what is around the matches.
   * @param {Uint8Array} matches by frame
   * @returns {void}
   */
  openMatches(matches) {
    this.setAll(false);
    // From the last frame on: a frame's parent comes before it.
    for (let frame = this.model.size - 1; frame > 0; --frame) {
      const above = this.model.parent[frame];
      if (above > 0 && (matches[frame] || this.opened[frame])) this.opened[above] = 1;
    }
  }
}

/**
 * How often each text is in the tree.
 * @param {CallModel} model
 * @param {number} texts how many there are
 * @returns {Uint32Array} by text
 */
export function callPlaces(model, texts) {
  const places = new Uint32Array(texts);
  for (let frame = 1; frame < model.size; ++frame) ++places[model.text[frame]];
  return places;
}

/**
 * How far a row is indented, in levels: deep stacks become narrower, so that names keep their room.
 * @param {number} level from 0
 * @returns {number}
 */
export function callIndent(level) {
  return Math.min(level, 10) * 0.86 + Math.min(Math.max(level - 10, 0), 60) * 0.22;
}
