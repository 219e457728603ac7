// The menu of tracks: which are shown, pinned and in which order, and the ranks beside each other.
import { h } from "../parts/dom.js";
import { keepInWindow, popupMenu } from "../parts/popup.js";

/** Tracks in the menu, at most. */
const menuMost = 200;

/**
 * @typedef {object} MenuTrack
 * @property {string} key
 * @property {string} name
 * @property {string} group
 */
/**
 * @typedef {object} MenuOwner
 * @property {() => MenuTrack[]} tracks as they are shown, with the hidden ones
 * @property {import("./arrange.js").TimelineArrangement} arrangement
 * @property {() => string[]} keys in the usual order
 * @property {() => void} changed
 * @property {HTMLElement | null} ranks the choice of ranks
 * @property {() => Promise<void> | undefined} opened
 */

/**
 * @param {MenuOwner} owner
 * @returns {HTMLElement}
 */
export function timelineTracksMenu({ tracks, arrangement, keys, changed, ranks, opened }) {
  const list = h("div", { class: "track-list" });
  /** @param {string} [focus] the button that was pressed */
  const draw = (focus) => {
    const all = tracks();
    /**
     * @param {string} key of the track
     * @param {string} text
     * @param {string} label
     * @param {boolean | null} pressed
     * @param {() => void} act
     */
    const button = (key, text, label, pressed, act) => h("button", {
      type: "button", class: "plain icon", title: label, "aria-label": label, "aria-pressed": pressed, "data-of": `${text} ${key}`,
      onclick: () => {
        act();
        changed();
        draw(`${text} ${key}`);
      } }, text);
    list.replaceChildren(...all.slice(0, menuMost).map(({ key, name, group }) => {
      const isPinned = arrangement.pinned.has(key);
      const box = /** @type {HTMLInputElement} */ (h("input", {
        type: "checkbox", checked: !arrangement.hidden.has(key), onchange: () => {
          arrangement.set("hidden", key, !box.checked);
          changed();
        } }));
      return h("div", { class: "track-choice" },
        h("label", { title: `${name}, ${group}` }, box, h("b", null, name), h("i", { class: "quiet" }, group)),
        button(key, "\u2912", `Pin ${name}, ${group}`, isPinned, () => arrangement.set("pinned", key, !isPinned)),
        button(key, "\u2191", `Move up ${name}, ${group}`, null, () => arrangement.move(keys(), key, -1)),
        button(key, "\u2193", `Move down ${name}, ${group}`, null, () => arrangement.move(keys(), key, 1)));
    }), all.length > menuMost ? h("p", { class: "quiet" }, `${all.length - menuMost} more tracks; their names open and close them.`) : "",
    h("button", { type: "button", onclick: () => {
      arrangement.reset(keys());
      changed();
      draw();
    } }, "As at first"));
    // The buttons are new: keys go on at the same one.
    keepInWindow(/** @type {HTMLElement} */ (list.parentElement));
    if (focus) [...list.querySelectorAll("button")].find((one) => one.dataset.of === focus)?.focus();
  };
  const menu = popupMenu("Tracks", ranks, list);
  menu.classList.add("tracks-menu");
  menu.addEventListener("toggle", () => {
    if (!(/** @type {HTMLDetailsElement} */ (menu).open)) return;
    draw();
    opened()?.then(() => keepInWindow(/** @type {HTMLElement} */ (list.parentElement)));
  });
  // Another choice of ranks has other tracks.
  menu.addEventListener("tracks", () => draw());
  return menu;
}
