// The names of tracks beside or above their lines: buttons that open and close them.
import { h, setVariable } from "../parts/dom.js";
import { countOf } from "../parts/format.js";
import { timelineFit, timelineRow } from "./layout.js";
import { timelineMarksOf, timelineScaleText } from "./moments.js";
import { timelineTrackLabel } from "./words.js";

/** @typedef {import("./layout.js").TimelineBox} LabelBox */
/** @typedef {import("./layout.js").TimelineSize} LabelSize */

/** Elements only for tracks in sight: a trace may have thousands. */
export class TimelineTrackLabels {
  /**
   * @param {(box: number, size: LabelSize) => void} onSize
   * @param {(box: number, forward: boolean) => boolean} onStep to the next moment of a track or
   *     counter; false: it has none
   * @param {(box: number) => void} onHide
   */
  constructor(onSize, onStep, onHide) {
    /** @private */
    this.onHide = onHide;
    /** @private */
    this.onSize = onSize;
    /** @private */
    this.onStep = onStep;
    this.element = h("div", { class: "timeline-labels" });
    /** @private @type {Map<number, {element: HTMLElement, text: string}>} */
    this.shown = new Map();
  }

  /**
   * @param {import("./model.js").TimelineModel} model
   * @param {LabelBox[]} boxes
   * @param {number} first
   * @param {number} last one after
   * @param {(box: number) => LabelSize} sizeOf
   * @param {(box: number) => number} roomOf height of a deep track
   */
  show(model, boxes, first, last, sizeOf, roomOf) {
    for (const [place, { element }] of this.shown) {
      if (place >= first && place < last) continue;
      // The focus does not jump away while people scroll.
      if (element.contains(document.activeElement)) continue;
      element.remove();
      this.shown.delete(place);
    }
    for (let place = first; place < last; place++) {
      const box = boxes[place];
      const size = sizeOf(box.id);
      const room = roomOf(box.id);
      const text = `${box.id} ${size} ${box.top} ${box.height} ${room} ${box.heading} ${box.idle}`;
      const before = this.shown.get(place);
      if (before?.text === text) continue;
      const element = this.label(model, box, size, room);
      const hadFocus = before?.element.contains(document.activeElement);
      const which = hadFocus && before ? [...before.element.querySelectorAll("button")].indexOf(
        /** @type {HTMLButtonElement} */ (document.activeElement)) : -1;
      if (before) before.element.replaceWith(element);
      else this.element.append(element);
      const buttons = element.querySelectorAll("button");
      if (which >= 0) (buttons[which] ?? buttons[0]).focus({ preventScroll: true });
      this.shown.set(place, { element, text });
    }
  }

  clear() {
    this.shown.clear();
    this.element.replaceChildren();
  }

  /**
   * @private
   * @param {import("./model.js").TimelineModel} model
   * @param {LabelBox} box
   * @param {LabelSize} size
   * @param {number} room
   */
  label(model, box, size, room) {
    const { id } = box;
    const isOpen = size !== "closed";
    const counter = box.counter < 0 ? null : model.source.counters[box.counter];
    const track = counter ? null : model.source.tracks[box.track];
    const rows = track ? model.trackRows[box.track] : 1;
    const name = counter ? counter.name : track ? timelineTrackLabel(track) : "";
    const rank = track ? model.rankOf(track.rank) : undefined;
    // Pinned tracks of several ranks stand side by side.
    const detail = counter ? timelineScaleText(counter)
      : [...rank === undefined ? [] : [`rank ${rank}`], ...track?.process ? [track.process] : []].join(", ");
    const [firstMark, lastMark] = counter ? [0, 0]
      : timelineMarksOf(model.source, box.track);
    const moments = counter ? (counter.process ? `\n${counter.process}` : "") +
      `\n${countOf(counter.samples ?? counter.times_ns.length, "value")}; arrow keys read them`
      : firstMark === lastMark ? ""
        : `\n${countOf(lastMark - firstMark, "instant")}; arrow keys read them`;
    const hidden = !isOpen && rows > 1 ? `1 of ${rows} lines` : "";
    const isDeep = isOpen && rows > 0 && timelineFit(rows, room) < timelineRow;
    const isTall = (box.idle || box.top + box.height) - box.lines >= 34 && box.lines === box.top;
    const element = h("div", { class: `timeline-label${isTall ? " tall" : ""}` }, h("button", {
      type: "button", class: "plain", "aria-expanded": isOpen,
      title: `${name}\n${detail}${track ? `\n${countOf(track.ranges, "range")} in ${
        countOf(rows, "line")}` : ""}${moments}`,
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        const isArrow = event.key === "ArrowLeft" || event.key === "ArrowRight";
        if (!isArrow || event.ctrlKey || event.metaKey || event.altKey) return;
        if (!this.onStep(id, event.key === "ArrowRight")) return;
        event.preventDefault();
        event.stopPropagation();
      },
      onclick: () => this.onSize(id, isOpen ? "closed" : "fit"),
    }, h("span", { class: "twist", "aria-hidden": true }, isOpen ? "\u25be" : "\u25b8"),
      h("span", null, h("b", null, name), " ", h("span", { class: "quiet" }, hidden || detail))),
    isDeep ? h("button", {
      type: "button", class: "plain icon", "aria-pressed": size === "full",
      "aria-label": `${name}: all ${rows} lines with texts`,
      title: size === "full" ? "Lower lines" : `All ${rows} lines with texts`,
      onclick: () => this.onSize(id, size === "full" ? "fit" : "full"),
    }, "\u2195") : null,
    // The menu of tracks has it for keys.
    h("button", { type: "button", class: "plain icon track-hide", tabindex: -1, "aria-hidden": true, title: `Hide ${name}; the menu Tracks has it`,
                  onclick: () => this.onHide(id) }, "\u00d7"));
    if (box.heading !== "") element.append(h("span", { class: "timeline-heading" }, box.heading));
    if (box.idle) {
      const why = h("span", { class: "timeline-idle", title: "Why the GPU was idle, by the account of the view GPU" }, "idle: why");
      setVariable(why, "top", `${box.idle - box.top}px`);
      element.append(why);
    }
    setVariable(element, "top", `${box.top}px`);
    return element;
  }
}
