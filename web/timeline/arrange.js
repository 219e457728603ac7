// Which tracks are pinned, hidden and moved, without any drawing. The address remembers it.

/** @typedef {Pick<import("../data/source.js").Page, "get" | "set">} ArrangePage */

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

  /** Whether anything differs from the usual picture. */
  isChanged() {
    return this.pinned.size + this.hidden.size + this.moved.length > 0;
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
    this.moved = list;
    this.write();
    return true;
  }

  reset() {
    this.pinned.clear();
    this.hidden.clear();
    this.moved = [];
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
