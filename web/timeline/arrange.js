// Which tracks are pinned, hidden and moved, without any drawing. The address remembers it.

/** @typedef {Pick<import("../data/source.js").Page, "get" | "set">} ArrangePage */

/**
 * What the address calls a track or counter. Numbers of tracks are those of one trace.
 * @param {string} trace the source's name of it: a number, or a path
 * @param {number | string} of
 * @returns {string}
 */
export function timelineTrackKey(trace, of) {
  if (trace === "0") return String(of);
  const mark = /^\d+$/.test(trace) ? trace
    : [...trace].reduce((sum, letter) => (sum * 31 + Number(letter.codePointAt(0))) % 2 ** 32, 7).toString(36);
  return `${mark}.${of}`;
}

export class TimelineArrangement {
  /** @param {ArrangePage} page */
  constructor(page) {
    /** @private */
    this.page = page;
    /** @param {string} name */
    const list = (name) => (page.get(name) ?? "").split(",").filter(Boolean);
    /** Keys of tracks. */
    this.pinned = new Set(list("pinned"));
    this.hidden = new Set(list("hidden"));
    /** @private All keys in the order of the tracks; empty: the usual one. */
    this.moved = list("moved");
  }

  /**
   * Keys as people ordered them, pinned ones first. What is new stands after what is usually before it.
   * @param {string[]} keys in the usual order
   * @returns {string[]} with the hidden ones
   */
  order(keys) {
    const known = new Set(keys);
    const list = this.moved.filter((key) => known.has(key));
    if (list.length < keys.length) {
      const placed = new Set(list);
      keys.forEach((key, at) => {
        if (!placed.has(key)) list.splice(at === 0 ? 0 : list.indexOf(keys[at - 1]) + 1, 0, key);
      });
    }
    return [...list.filter((key) => this.pinned.has(key)), ...list.filter((key) => !this.pinned.has(key))];
  }

  /**
   * @param {"pinned" | "hidden"} what
   * @param {string} key
   * @param {boolean} is
   */
  set(what, key, is) {
    const set = what === "pinned" ? this.pinned : this.hidden;
    if (is) set.add(key);
    else set.delete(key);
    this.write();
  }

  /**
   * Moves a track by one, among those that are pinned or not as it is.
   * @param {string[]} keys in the usual order
   * @param {string} key
   * @param {1 | -1} by 1: down
   * @returns {boolean} whether it could be moved
   */
  move(keys, key, by) {
    const list = this.order(keys);
    const at = list.indexOf(key);
    const other = list[at + by];
    if (at < 0 || other === undefined || this.pinned.has(other) !== this.pinned.has(key)) return false;
    list[at] = other;
    list[at + by] = key;
    // What is moved in other traces stays so.
    this.moved = [...list, ...this.moved.filter((one) => !list.includes(one))];
    this.write();
    return true;
  }

  /** @param {string[]} keys of all that is shown or hidden now */
  reset(keys) {
    for (const key of keys) {
      this.pinned.delete(key);
      this.hidden.delete(key);
    }
    this.moved = this.moved.filter((key) => !keys.includes(key));
    this.write();
  }

  /** @private */
  write() {
    for (const [name, keys] of /** @type {[string, Iterable<string>][]} */ ([
      ["pinned", this.pinned], ["hidden", this.hidden], ["moved", this.moved]])) {
      this.page.set(name, [...keys].join(",") || null);
    }
  }
}
