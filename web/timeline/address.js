// What the address has of a timeline: the part in sight, the selection, the search, the span.

/**
 * @typedef {object} TimelineShown
 * @property {{from: number, to: number} | null} view null: the whole trace
 * @property {string} range as timelineKey() writes it; empty without one
 * @property {string} find
 * @property {[number, number] | null} span a moment if both are the same
 */

/** Until the address follows, in ms: browsers limit how often it may change. */
const writeAfter = 180;
/** Writes what the view before this one has not written yet. */
let writeNow = () => {};

/** @returns {void} */
export function timelineFlush() {
  writeNow();
}

/**
 * @param {import("../data/source.js").Page} page
 * @returns {TimelineShown}
 */
export function timelineRead(page) {
  const from = Number(page.get("from") ?? NaN);
  const to = Number(page.get("to") ?? NaN);
  const span = (page.get("span") ?? "").split(":").map(Number);
  return { view: to > from ? { from, to } : null, range: page.get("range") ?? "",
           find: page.get("find") ?? "",
           span: span.length === 2 && span[1] >= span[0] ? [span[0], span[1]] : null };
}

/**
 * The address follows when people stop moving.
 * @param {import("../data/source.js").Page} page
 * @param {() => boolean} isShown
 * @param {() => TimelineShown} read
 * @returns {void}
 */
export function timelineWrite(page, isShown, read) {
  const write = () => {
    clearTimeout(timer);
    writeNow = () => {};
    const { view, range, find, span } = read();
    // At high zoom a part of a nanosecond matters.
    const isFine = view !== null && view.to - view.from < 1000;
    /** @param {number} time */
    const round = (time) => String(isFine ? Number(time.toFixed(2)) : Math.round(time));
    /** @type {[string, string | null][]} */
    const values = [["from", view && round(view.from)], ["to", view && round(view.to)],
                    ["range", range || null], ["find", find || null],
                    ["span", span && span.map(round).join(":")]];
    for (const [key, value] of values) if (page.get(key) !== value) page.set(key, value);
  };
  const timer = setTimeout(() => {
    if (isShown() && writeNow === write) write();
  }, writeAfter);
  writeNow = write;
}
