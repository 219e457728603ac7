// One trace on the page: its heading and the view that is chosen. The tab has up to two.
import { h } from "./dom.js";
import { emptyBox } from "./empty.js";
import { rendererOf } from "../views/list.js";

/** @typedef {import("../data/source.js").Source} ColumnSource */
/** @typedef {import("../data/source.js").Page} ColumnPage */
/** @typedef {import("../data/source.js").View} ColumnView */
/**
 * What a column shows.
 * @typedef {object} ChosenTrace
 * @property {string} trace the source's name of it
 * @property {string} input its name for people
 * @property {string} view
 * @property {string} title of the view
 * @property {(view: string) => boolean} has
 * @property {(view: string) => string | null} [why] a view has no data; null: it has some
 * @property {() => Promise<string[]>} [job] sentences about the job whose rank it is
 * @property {() => Promise<import("../data/source.js").JobOfPage>} [ranks] that job
 * @property {(trace: string, view: string) => boolean} [hasOf] whether another trace has a view
 */
/**
 * What a column needs of the page around it.
 * @typedef {object} ColumnOwner
 * @property {ColumnSource} source
 * @property {import("./state.js").AddressState} state
 * @property {(column: TraceColumn) => ChosenTrace | HTMLElement} chosen what it shows, or why
 *   there is nothing to show
 * @property {(column: TraceColumn, view: string, params?: {[key: string]: string | null},
 *   also?: {[key: string]: string | null}) => void} go also: state of the page
 * @property {(message: string) => void} say
 */

/** A view that takes longer than this is announced, in milliseconds. */
const patience = 120;

export class TraceColumn {
  /**
   * @param {ColumnOwner} owner
   * @param {string} prefix of its state in the address
   * @param {string} [label] for people who hear the page
   */
  constructor(owner, prefix, label) {
    /** @private */
    this.owner = owner;
    this.prefix = prefix;
    /**
     * Above the heading: what chooses the trace.
     * @type {HTMLElement | null}
     */
    this.bar = null;
    this.element = h(label ? "section" : "div", { class: "trace", "aria-label": label });
    /** Which drawing is the latest: earlier ones that end later are dropped. @private */
    this.drawing = 0;
    /** Ends when another drawing begins. @private */
    this.life = new AbortController();
  }

  /**
   * What is being read is no longer wanted.
   * @returns {void}
   */
  stop() {
    ++this.drawing;
    this.life.abort();
    this.life = new AbortController();
  }

  /**
   * What a view gets.
   * @protected
   * @param {ChosenTrace} chosen
   * @param {boolean} [isOther] it is not the one on the page
   * @returns {ColumnPage}
   */
  page({ trace, input, view: name, has, job, ranks, hasOf }, isOther = false) {
    const { owner } = this;
    const { source, state } = owner;
    const { signal } = this.life;
    const key = (/** @type {string} */ own) => `${this.prefix}${name}.${own}`;
    return {
      get: (own) => state.get(key(own)),
      set: (own, value, push = false) => state.change({ [key(own)]: value }, push),
      go: (view, params = {}) => owner.go(this, view, params, isOther ? { trace } : {}),
      of: (other) => this.page({ trace: other, input: other, view: name, title: "", has: (view) => hasOf?.(other, view) ?? false }, true),
      view: (view) => source.view(trace, view, signal),
      range: source.range && ((range) => /** @type {any} */ (source).range(trace, range, signal)),
      part: source.part && ((from_ns, to_ns) =>
        /** @type {any} */ (source).part(trace, from_ns, to_ns, signal)),
      say: (message) => owner.say(message), link: () => state.link(),
      trace, name, input, has, job, ranks,
    };
  }

  /**
   * @private
   * @param {number} number of the drawing
   * @param {Node[]} content
   */
  show(number, content) {
    if (number !== this.drawing) return;
    // The bar stays where it is: somebody may be choosing a trace while a view is read.
    for (const node of [...this.element.childNodes]) if (node !== this.bar) node.remove();
    if (this.bar && this.bar.parentNode !== this.element) this.element.append(this.bar);
    this.element.append(...content);
  }

  /**
   * @param {boolean} [focus] the heading: keys go on there
   * @returns {Promise<void>}
   */
  async draw(focus = false) {
    this.stop();
    const number = this.drawing;
    const chosen = this.owner.chosen(this);
    if (chosen instanceof HTMLElement) return this.show(number, [chosen]);
    const heading = h("header", null, h("h1", { tabindex: -1 }, chosen.title));
    const stopWaiting = this.wait(number, heading);
    /** @type {Node[]} */
    let content;
    try {
      if (!chosen.has(chosen.view)) {
        content = [emptyBox("The report was made without this view of this trace.")];
      } else {
        const { about, make } = await this.content(chosen, this.life.signal);
        if (number !== this.drawing) return;
        heading.append(h("p", null, about));
        content = [make()];
      }
    } catch (error) {
      content = [failureBox(error, () => this.draw(focus))];
    } finally {
      stopWaiting();
    }
    this.show(number, [heading, ...content]);
    if (focus && number === this.drawing) {
      heading.querySelector("h1")?.focus({ preventScroll: true });
    }
  }

  /**
   * Reads what is shown.
   * @protected
   * @param {ChosenTrace} chosen
   * @param {AbortSignal} signal
   * @returns {Promise<{about: string, make: () => HTMLElement}>} make: called if it is still wanted
   */
  async content(chosen, signal) {
    const view = await this.owner.source.view(chosen.trace, chosen.view, signal);
    return { about: view.about, make: () => rendererOf(chosen.view)(view, this.page(chosen)) };
  }

  /**
   * Says that the view is being read, and for how long.
   * @private
   * @param {number} number of the drawing
   * @param {HTMLElement} heading
   * @returns {() => void} ends it
   */
  wait(number, heading) {
    const begin = performance.now();
    const seconds = h("span", { "aria-hidden": true });
    const timer = setTimeout(() => this.show(number, [heading,
      h("p", { class: "loading", role: "status" }, "Reading the view \u2026", seconds)]), patience);
    const clock = setInterval(() => {
      const passed = Math.round((performance.now() - begin) / 1000);
      if (passed >= 3) seconds.textContent = ` ${passed} s. Large traces take a while.`;
    }, 1000);
    return () => {
      clearTimeout(timer);
      clearInterval(clock);
    };
  }
}

/**
 * @param {unknown} error
 * @param {() => void} [again] what to do if trying again may help
 * @returns {HTMLElement}
 */
export function failureBox(error, again) {
  const text = error instanceof Error ? error.message : String(error);
  const mayPass = /** @type {any} */ (error)?.mayPass === true;
  return h("div", { class: "failure", role: "alert" },
    h("h2", null, "This cannot be shown"), h("p", null, text),
    mayPass && again ? h("button", { type: "button", onclick: again }, "Try again") : null);
}
