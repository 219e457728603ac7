// A part of a view with state of its own.

/** @typedef {import("../data/source.js").Page} ScopedPage */

/**
 * The state under a name of its own, so that two tables of a view do not share their order.
 * @param {ScopedPage} page
 * @param {string} prefix
 * @returns {ScopedPage}
 */
export function scopedPage(page, prefix) {
  return { ...page, get: (key) => page.get(`${prefix}.${key}`),
           set: (key, value, push) => page.set(`${prefix}.${key}`, value, push) };
}
