// The flame graph of a comparison: a frame is as wide as the longer of its two sides, its colour
// says how its own time changed.
import { h } from "../parts/dom.js";
import { countOf, formatValue } from "../parts/format.js";
import { FlameViewer, flameChoices } from "../flame/viewer.js";
import { emptyBox } from "../parts/empty.js";
import { changedFrames, differenceModel, matchedTimes } from "./document.js";
import { beforeAndNow, exactSides, relativeChange, signedValue } from "./words.js";

/** @type {[number, string][]} */
const shadeWords = [[0, "faster by 5 %"], [1, "by 1 %"], [2, "by 0.1 %"], [3, "less"],
                    [4, "slower by 0.1 %"], [5, "by 1 %"], [6, "by 5 %"]];

/**
 * What the colours and patterns mean.
 * @param {string} whole what shares are of
 */
function differenceLegend(whole) {
  return h("ul", { class: "chart-legend difference-legend" },
    h("li", { class: "quiet" }, `Own time, of the ${whole}:`),
    shadeWords.map(([shade, words]) => h("li", null,
      h("span", { class: `swatch shade shade-${shade}`, "aria-hidden": true }), words)),
    h("li", null, h("span", { class: "swatch side-gone", "aria-hidden": true }), "\u2212 gone"),
    h("li", null, h("span", { class: "swatch side-new", "aria-hidden": true }), "+ new"));
}

/** @extends {FlameViewer<import("./document.js").DifferenceStacks>} */
class DifferenceGraph extends FlameViewer {
  /**
   * @param {import("./document.js").DifferenceStacks} stacks
   * @param {import("../data/source.js").Page} page
   */
  constructor(stacks, page) {
    const sides = differenceModel(stacks);
    super(stacks, page, sides.model, `Flame graph of the difference, ${stacks.title}: arrow keys move, ` +
      "Enter zooms. The table below has the frames that changed.",
      h("h3", null, "Visible frames whose own time changed "));
    this.whole = stacks.is_per_step ? "step" : "total";
    this.sides = sides;
    /** The matches are not those of a search. */
    this.isMarked = false;
    this.open(h("p", { class: "quiet" }, this.about()),
      h("div", { class: "flame-tools" }, this.search, this.matched, this.resetButton),
      differenceLegend(this.whole), this.path, this.canvas.element, this.details,
      h("p", { class: "quiet flame-notes" }, this.notes()), this.tip, this.table.element);
  }

  about() {
    const { stacks } = this;
    const of = stacks.is_per_step ? " per step" : ", of everything that was recorded, because not " +
      "all recordings have steps";
    return `${stacks.title}${of}: ${beforeAndNow(stacks.base_ns, stacks.new_ns)}. A frame is as ` +
      "wide as the longer of before and now, so that frames that are gone have their place.";
  }

  notes() {
    const { left_out, names_cut } = this.stacks;
    const notes = [];
    if (left_out > 0) {
      notes.push(`${countOf(left_out, "narrow frame is", "narrow frames are")} left out; ` +
                 "their times count for the frames around them.");
    }
    if (names_cut > 0) {
      notes.push(`${countOf(names_cut, "name is", "names are")} cut to 500 characters.`);
    }
    return notes.join(" ");
  }

  /** @override */
  find() {
    this.isMarked = false;
    super.find();
  }

  /** @override */
  foundWords(/** @type {{matches: Uint8Array}} */ { matches }) {
    const times = matchedTimes(this.sides, matches);
    return `: ${beforeAndNow(times.base, times.now)}`;
  }

  /**
   * Marks the frames with one of these names, until a search or another mark.
   * @param {(string | null)[]} names
   * @returns {number} how many there are
   */
  mark(names) {
    const wanted = new Set(names.filter((name) => name !== null));
    if (wanted.size === 0 && !this.isMarked) return 0;
    this.search.value = this.pattern = "";
    this.find();
    this.isMarked = wanted.size > 0;
    const count = this.isMarked ? this.match((text) => wanted.has(text)) : 0;
    if (count === 0) this.matched.textContent = "";
    this.show();
    return count;
  }

  /**
   * @override
   * @param {number} frame
   */
  linesOf(frame) {
    const { base, now, baseSelf, newSelf, side, was } = this.sides;
    const change = now[frame] - base[frame];
    const relative = relativeChange(base[frame], now[frame]);
    const share = this.stacks.whole_ns > 0
      ? `, ${signedValue(change / this.stacks.whole_ns, "share")} of the ${this.whole}` : "";
    const lines = [["", "Gone: ", "New: "][side[frame]] + beforeAndNow(base[frame], now[frame]) +
      (side[frame] === 0 && relative !== "" ? ` (${relative})` : "") + share];
    if (baseSelf[frame] !== base[frame] || newSelf[frame] !== now[frame]) {
      lines.push(`Own time: ${beforeAndNow(baseSelf[frame], newSelf[frame])}`);
    }
    if (was[frame] >= 0) lines.push(`Before, it was ${this.stacks.texts[was[frame]]}`);
    return lines;
  }

  /** @override */
  exactOf(/** @type {number} */ frame) {
    return exactSides(this.sides.base[frame], this.sides.now[frame]);
  }

  /** @override */
  hint() {
    return "Click a frame to zoom in. Keys: arrows move, Enter zooms, Esc goes back, / searches.";
  }

  /** @override */
  look() {
    const { base_ns, new_ns } = this.stacks;
    return { rootName: `all: ${beforeAndNow(base_ns, new_ns)}`, isUp: false, sides: this.sides };
  }

  /** @override */
  rows() {
    const { whole_ns } = this.stacks;
    const number = (/** @type {string} */ text) => h("td", { class: "number" }, text);
    return {
      about: "", texts: [], numbers: ["Change", "Share", "Before", "Now", "Places"],
      rows: changedFrames(this.sides, this.zoomed), most: 25,
      cells: (/** @type {import("./document.js").ChangedFrame} */ { base, now, places }) => [
        h("td", { class: `number ${now > base ? "slower" : "faster"}`, title: exactSides(base, now) },
          signedValue(now - base, "ns")),
        number(whole_ns > 0 ? signedValue((now - base) / whole_ns, "share") : ""),
        number(formatValue(base, "ns")), number(formatValue(now, "ns")), number(formatValue(places))],
    };
  }
}

/**
 * The flame graphs of a comparison, one of which is shown.
 * @param {import("./document.js").Comparison} comparison
 * @param {import("../data/source.js").Page} page
 * @returns {{element: HTMLElement, mark: (names: (string | null)[]) => number, reveal: () => void}}
 */
export function differenceGraphs(comparison, page) {
  const filled = comparison.stacks.filter((stacks) => stacks.empty === null);
  if (filled.length === 0) {
    return { element: emptyBox(comparison.no_stacks ?? comparison.stacks[0]?.empty ?? null),
             mark: () => 0, reveal: () => {} };
  }
  /** @type {DifferenceGraph} */
  let graph;
  const { element, choose, shown } = flameChoices(filled, comparison.first_stacks, page, (stacks) =>
    (graph = new DifferenceGraph(stacks, page)).element);
  return {
    element,
    mark(names) {
      const has = (/** @type {import("./document.js").DifferenceStacks} */ stacks) =>
        stacks.texts.some((text) => names.includes(text));
      // A kernel is in the stacks of the GPU alone.
      const other = names.length > 0 && !has(shown()) ? filled.find(has) : undefined;
      if (other) choose(other);
      return graph.mark(names);
    },
    reveal() {
      element.scrollIntoView({ block: "start" });
    },
  };
}
