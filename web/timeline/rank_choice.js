// Which ranks stand below the own one in a timeline, and how their traces become one model.
import { h } from "../parts/dom.js";
import { countOf, formatValue } from "../parts/format.js";
import { timelineIdleOf } from "./idle.js";
import { TogetherMatches, TogetherModel, togetherMap } from "./together.js";

/** Ranks beside the own one, at most. */
const ranksMost = 16;

/** @typedef {import("../data/source.js").Page} ChoicePage */
/** @typedef {import("../data/source.js").JobOfPage} ChoiceJob */
/**
 * @typedef {object} ChoiceOwner
 * @property {ChoicePage} page
 * @property {import("./model.js").TimelineModel} all the own timeline
 * @property {(source: any) => import("./model.js").TimelineModel} modelOf
 * @property {(model: import("./model.js").TimelineModel, matches: TogetherMatches | null) => void} use
 * @property {(idle: import("./idle.js").TimelineIdle) => void} addIdle
 */

export class TimelineRankChoice {
  /** @param {ChoiceOwner} owner */
  constructor(owner) {
    /** @private */
    this.owner = owner;
    /** @private @type {ChoiceJob | null} */
    this.job = null;
    /** Which choice is the latest. @private */
    this.asked = 0;
    /** @type {string[]} sentences about the clocks */
    this.notes = [];
    this.element = h("fieldset", { class: "rank-choice" });
    this.fill(h("p", { class: "quiet", role: "status" }, "Reading the ranks \u2026"));
    if (this.chosen().length > 0) this.apply();
  }

  /** @private @returns {number[]} */
  chosen() {
    return (this.owner.page.get("ranks") ?? "").split(",").filter(Boolean).map(Number).filter(Number.isInteger).slice(0, ranksMost);
  }

  /** @private */
  async read() {
    const read = this.owner.page.ranks;
    return this.job ??= read ? await read() : null;
  }

  /** @private @param {...Node} content */
  fill(...content) {
    this.element.replaceChildren(h("legend", null, "Ranks in this timeline"), ...content);
  }

  /** Shows what can be chosen. */
  async draw() {
    const { page } = this.owner;
    try {
      const job = await this.read();
      if (!job) return;
      const own = job.placeOf(page.trace);
      const chosen = this.chosen();
      const boxes = job.ranks.map((rank, place) => {
        const box = /** @type {HTMLInputElement} */ (h("input", {
          type: "checkbox", checked: place === own?.place || chosen.includes(rank), disabled: place === own?.place || !job.has(rank),
          "data-rank": rank, onchange: () => {
            const next = chosen.filter((one) => one !== rank);
            if (box.checked) next.push(rank);
            if (next.length > ranksMost) {
              box.checked = false;
              page.say(`At most ${ranksMost} other ranks fit.`);
              return;
            }
            this.choose(next);
          } }));
        return h("label", { title: place === own?.place ? "the rank of this trace" : null }, box, String(rank));
      });
      const others = job.ranks.filter((rank, place) => place !== own?.place && job.has(rank)).slice(0, ranksMost);
      this.fill(h("div", { class: "rank-boxes" }, boxes),
        h("button", { type: "button", onclick: () => this.choose(chosen.length === others.length ? [] : others) },
          chosen.length === others.length ? "This rank alone" : others.length < job.ranks.length - 1 ? `The first ${others.length}` : "All ranks"),
        h("p", { class: "quiet" }, this.notes.join(" ")));
    } catch (error) {
      this.fill(h("p", null, `The ranks could not be read: ${/** @type {Error} */ (error).message}`));
    }
  }

  /** @private @param {number[]} ranks */
  choose(ranks) {
    this.owner.page.set("ranks", ranks.sort((a, b) => a - b).join(",") || null);
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.rank;
    this.apply().then(() => this.draw()).then(() => {
      // The boxes are new: keys go on at the same one.
      if (focused !== undefined) /** @type {HTMLElement | null} */ (this.element.querySelector(`[data-rank="${focused}"]`))?.focus();
    });
  }

  /** Reads the timelines of the chosen ranks, and shows them. */
  async apply() {
    const { owner } = this;
    const { page } = owner;
    const number = ++this.asked;
    const ranks = this.chosen();
    this.notes = [];
    if (ranks.length === 0) return owner.use(owner.all, null);
    try {
      const job = await this.read();
      const own = job?.placeOf(page.trace);
      if (!job || !own) return;
      const { source } = owner.all;
      const ownRank = job.ranks[own.place];
      /** @type {import("./together.js").TogetherPart[]} */
      const parts = [{ rank: ownRank, model: owner.all, trace: own, map: (time) => time, isAligned: true }];
      const unknown = [], missing = [];
      let error = 0;
      for (const rank of ranks.filter((one) => one !== ownRank)) {
        const place = job.ranks.indexOf(rank);
        const found = place < 0 ? null : job.find(rank, this.timeIn(job, own, place, source.to_ns / 2));
        const other = found && page.of ? await page.of(found.trace).view("timeline") : null;
        if (number !== this.asked) return;
        if (!found || !other || (/** @type {any} */ (other)).ranges === 0) {
          missing.push(rank);
          continue;
        }
        const trace = { place, start_ns: found.start_ns };
        const map = togetherMap(job.recordings, own, trace);
        if (map === null) unknown.push(rank);
        else error = Math.max(error, job.recordings.error_ns[place] ?? 0);
        parts.push({ rank, model: owner.modelOf(other), trace, map: map ?? ((time) => time), isAligned: map !== null, name: found.trace });
      }
      const model = parts.length > 1 ? new TogetherModel(parts) : owner.all;
      this.notes = [`Times are those of rank ${ownRank}.`,
        ...error > 0 ? [`The clocks of the others are known to within ${formatValue(error, "ns")}.`] : [],
        ...unknown.length > 0 ? [`Nothing connects the clock of ${wordsOf(unknown)} with it: drawn from the start of the recording.`] : [],
        ...missing.length > 0 ? [`${wordsOf(missing)}: no timeline here.`] : [],
        ...job.matches.left_out > 0 ? [`${countOf(job.matches.left_out, "short collective")} not connected across ranks, to limit the size.`] : []];
      owner.use(model, model instanceof TogetherModel ? new TogetherMatches(model, job.matches) : null);
      for (const part of parts.slice(1)) {
        const other = page.of?.(part.name ?? "");
        if (!other || !other.has?.("gpu")) continue;
        other.view("gpu").then((view) => {
          if (number === this.asked) owner.addIdle(timelineIdleOf(view, part.rank, part.map));
        }, () => {});  // the view itself says why it cannot be read
      }
    } catch (error) {
      if (number === this.asked) page.say(`The ranks could not be read: ${/** @type {Error} */ (error).message}`);
    }
  }

  /**
   * A time of the own trace in the recordings of another rank.
   * @private
   * @param {ChoiceJob} job
   * @param {import("./together.js").TogetherTrace} own
   * @param {number} place
   * @param {number} time
   */
  timeIn(job, own, place, time) {
    const map = togetherMap(job.recordings, { place, start_ns: 0 }, own);
    return map === null ? time + own.start_ns : map(time);
  }
}

/** @param {number[]} ranks */
function wordsOf(ranks) {
  return `rank${ranks.length > 1 ? "s" : ""} ${ranks.join(", ")}`;
}
