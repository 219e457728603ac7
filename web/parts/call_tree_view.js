// The operators and frames as a tree that opens and closes, with the numbers of each frame.
import { h } from "./dom.js";
import { countOf, formatValue } from "./format.js";
import { Grid } from "./grid.js";
import { flameLegend, flameNotes, flameShare } from "../flame/words.js";
import { emptyBox } from "./empty.js";
import { stackMatcher, stackModel, stackSearch, stackKindNames,
         stackKinds } from "../data/stacks.js";
import { stackBareName, stackShortName } from "../data/stacks_names.js";
import { CallTree, callIndent, callPlaces } from "../data/call_tree.js";

/** @typedef {import("../data/source.js").Page} CallPage */
/** @typedef {import("../data/source.js").Stacks} CallStacks */

/** Of all stacks of the view, those of time. */
const callStackNames = ["cpu", "device"];

/**
 * The panel: it reads the view of the flame graph when it is opened.
 * @param {CallPage} page with a state of its own
 * @returns {HTMLElement}
 */
export function callTreePanel(page) {
  const body = h("div", { class: "call-tree" },
    h("p", { class: "loading", role: "status" }, "Reading the stacks \u2026"));
  page.view("flame_graph").then((view) => {
    const stacks = view.stacks.filter((one) => callStackNames.includes(one.name));
    body.replaceChildren(...callTreeChoices(stacks, page));
  }).catch((error) => {
    body.replaceChildren(emptyBox(error instanceof Error ? error.message : String(error),
                                  "This cannot be shown"));
  });
  return body;
}

/**
 * @param {CallStacks[]} stacks
 * @param {CallPage} page
 * @returns {HTMLElement[]}
 */
function callTreeChoices(stacks, page) {
  const filled = stacks.find((one) => one.total > 0) ?? stacks[0];
  if (filled === undefined) return [emptyBox("there are no stacks in this report")];
  const names = stacks.map((one) => one.name);
  let chosen = Math.max(0, names.indexOf(page.get("stack") ?? filled.name));
  const body = h("div", null);
  const show = () => body.replaceChildren(stacks[chosen].self.length < 2
    ? emptyBox(stacks[chosen].empty) : new CallTreeView(stacks[chosen], page).element);
  const buttons = stacks.map((one, which) => h("button", {
    type: "button", class: "choice", "aria-pressed": which === chosen,
    onclick: () => {
      chosen = which;
      for (const key of ["frame", "search"]) page.set(key, null);
      page.set("stack", one.name);
      buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(at === which)));
      show();
    },
  }, one.title));
  show();
  return [buttons.length > 1 ? h("div", { class: "choices", role: "group",
                                          "aria-label": "Which time" }, buttons) : h("span"), body];
}

class CallTreeView {
  /**
   * @param {CallStacks} stacks
   * @param {CallPage} page
   */
  constructor(stacks, page) {
    this.stacks = stacks;
    this.page = page;
    this.model = stackModel(stacks, "weight");
    this.tree = new CallTree(this.model);
    /** @type {Uint8Array | null} */
    this.matches = null;
    /** @type {number[]} */
    this.found = [];
    this.at = -1;
    this.timer = 0;
    this.rows = new Uint32Array(0);
    this.columns = this.makeColumns();
    this.grid = new Grid(`Call tree of ${stacks.title}; arrows open and close, f goes to the ` +
                         "flame graph", {
      sort: () => {},
      open: (frame) => this.toggle(frame),
      branch: (frame, open) => {
        if (!this.tree.setOpen(frame, open)) return false;
        // The address has a frame in sight: of an open frame the first one below it.
        this.remember(open ? frame + 1 : frame);
        this.show(true);
        return true;
      },
    });
    this.grid.element.classList.add("calls");
    this.grid.element.addEventListener("keydown", (event) => this.key(event));
    this.search = /** @type {HTMLInputElement} */ (h("input", {
      type: "search", autocomplete: "off", spellcheck: "false",
      placeholder: "Search frames", "aria-label": "Search frames; between slashes as a regular " +
        "expression", title: "Opens the matches (/); Enter goes to the next one",
      oninput: () => {
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => {
          page.set("search", this.search.value || null);
          this.find();
        }, this.model.size > 20000 ? 120 : 30);
      },
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "ArrowDown") {
          event.preventDefault();
          this.grid.element.focus();
          if (this.grid.activeRow() < 0) this.grid.goTo(0);
        }
        if (event.key !== "Enter" || this.found.length === 0) return;
        event.preventDefault();
        this.goToMatch(this.at + (event.shiftKey ? -1 : 1));
      },
    }));
    this.count = h("span", { class: "count", role: "status" });
    /**
     * @param {string} text
     * @param {string} title
     * @param {() => void} onclick
     */
    const button = (text, title, onclick) =>
      h("button", { type: "button", title, onclick }, text);
    const notes = flameNotes(stacks, 0);
    this.element = h("div", { class: "table" },
      h("div", { class: "tools" }, this.search, this.count,
        button("Heaviest path", "Opens the heaviest frame, the heaviest below it, and so on, " +
               "from the selected row (h)", () => this.openHeaviest()),
        button("Expand all", "", () => this.setAll(true)),
        button("Collapse all", "", () => this.setAll(false))),
      this.grid.element,
      h("div", { class: "below" }, flameLegend(stacks), notes ? h("p", null, notes) : null,
        h("p", null, "Total: the frame and all that it called. Self: the frame alone. Places: " +
          "how often the frame is in this tree. Calls from the same frames are one row.")));
    this.restore();
  }

  /** @private */
  makeColumns() {
    const { stacks, model } = this;
    const all = model.total[0] || 1;
    const places = callPlaces(model, stacks.texts.length);
    /**
     * @param {string} key
     * @param {string} unit
     * @param {any} values
     * @param {string} meaning
     */
    const column = (key, unit, values, meaning) =>
      ({ key, unit, values, meaning, type: /** @type {"number"} */ ("number") });
    return [
      { key: "frame", unit: "", meaning: "an operator, a Python function, a kernel",
        type: /** @type {"text"} */ ("text"), values: /** @type {any} */ (model.text),
        texts: stacks.texts },
      column("total", stacks.unit, model.total, "the frame and all that it called"),
      column("self", stacks.unit, model.self, "the frame alone"),
      column("share", "share", model.total.map((total) => total / all), "total, of all stacks"),
      column("places", "", Uint32Array.from(model.text, (text) => places[text]),
             "how often the frame is in this tree"),
    ];
  }

  /** @private */
  restore() {
    const frame = Number(this.page.get("frame") ?? NaN);
    this.search.value = this.page.get("search") ?? "";
    this.tree.openFirst();
    if (this.search.value) this.find();
    else if (Number.isInteger(frame) && frame > 0 && frame < this.model.size) {
      const place = this.model.place[frame];
      this.tree.setAll(false);
      this.tree.reveal(place);
      this.show();
      // Before it is on the page, the grid has no height.
      requestAnimationFrame(() => this.goTo(place));
    } else this.show();
  }

  /**
   * @private
   * @param {number} frame
   */
  remember(frame) {
    this.page.set("frame", String(this.model.origin[frame]));
  }

  /**
   * @private
   * @param {number} frame
   */
  toggle(frame) {
    const open = !this.tree.isOpen(frame);
    if (!this.tree.setOpen(frame, open)) return;
    this.remember(open ? frame + 1 : frame);
    this.show(true);
  }

  /**
   * @private
   * @param {boolean} open
   */
  setAll(open) {
    this.tree.setAll(open);
    this.page.set("frame", null);
    this.show();
  }

  /** @private */
  openHeaviest() {
    const top = Math.max(0, this.grid.activeRow());
    const last = this.tree.openHeaviest(top);
    if (last <= 0) return;
    this.remember(last);
    this.show(true);
    this.goTo(last);
    this.grid.element.focus();
  }

  /** @private */
  find() {
    this.matches = null;
    this.found = [];
    this.at = -1;
    const pattern = this.search.value;
    if (pattern === "") {
      this.show(true);
      return;
    }
    const matcher = stackMatcher(pattern);
    if (matcher === null) {
      this.count.textContent = "This is not a valid regular expression.";
      return;
    }
    const { matches, count, weight } = stackSearch(this.model, this.stacks.texts, matcher);
    this.matches = matches;
    this.tree.openMatches(matches);
    for (let frame = 1; frame < matches.length; ++frame) if (matches[frame]) this.found.push(frame);
    this.show();
    this.count.textContent = count === 0 ? "No frame matches." :
      `${countOf(count, "match", "matches")}, ${formatValue(weight, this.stacks.unit)}, ${
        flameShare(weight, this.model.total[0])}`;
    if (count > 0) requestAnimationFrame(() => this.goToMatch(0));
  }

  /**
   * @private
   * @param {number} which
   */
  goToMatch(which) {
    if (this.found.length === 0) return;
    this.at = (which + this.found.length) % this.found.length;
    this.goTo(this.found[this.at]);
  }

  /**
   * @private
   * @param {number} frame in sight
   */
  goTo(frame) {
    // Rows are ordered as frames are.
    let low = 0, high = this.rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.rows[middle] < frame) low = middle + 1;
      else high = middle;
    }
    if (this.rows[low] === frame) this.grid.goTo(low, true);
  }

  /**
   * @private
   * @param {boolean} [keep] the place in the rows
   */
  show(keep = false) {
    const { model, tree, stacks } = this;
    const narrow = innerWidth < 760;
    this.rows = tree.rows();
    this.grid.show({
      columns: this.columns, labels: ["frame", "total", "self", "share of all", "places"],
      widths: narrow ? [190, 80, 80, 76, 66] : [400, 130, 96, 116, 80],
      weights: [9, 1, 1, 1, 1],
      rows: this.rows, sorted: "total", descending: true, largest: model.total[0],
      branch: (frame) => ({
        depth: callIndent(model.depth[frame] - 1) * (narrow ? 0.6 : 1),
        level: model.depth[frame] - 1, inner: tree.hasInner(frame), open: tree.isOpen(frame),
      }),
      branchKey: "frame", totals: null, totalsLabel: "", fixed: true,
      dress: (column, frame) => this.dress(column, frame),
    }, keep);
    if (this.matches === null) {
      this.count.textContent = `${formatValue(this.rows.length)} of ${
        countOf(model.size - 1, "frame")} visible, ${formatValue(model.total[0], stacks.unit)}`;
    }
  }

  /**
   * @private
   * @param {import("./grid_cell.js").GridColumn} column
   * @param {number} frame
   */
  dress(column, frame) {
    if (column.key !== "frame") return null;
    const { stacks, model } = this;
    const text = stacks.texts[model.text[frame]];
    const kind = stacks.kinds[model.text[frame]] ?? 6;
    return {
      // A phone has no room for files and lines.
      text: innerWidth < 760 ? stackBareName(text, kind) : stackShortName(text, kind),
      name: this.matches !== null && this.matches[frame] ? "match" : "",
      before: h("span", { class: `dot flame-swatch-${stackKinds[kind]}`, role: "img",
                          "aria-label": stackKindNames[kind], title: stackKindNames[kind] }),
      after: h("a", {
        class: "to-flame", tabindex: -1, href: "#view=flame_graph",
        title: "Show in the flame graph (f)", "aria-label": "Show in the flame graph",
        onclick: (/** @type {MouseEvent} */ event) => {
          event.preventDefault();
          event.stopPropagation();
          this.goToFlame(frame);
        },
      }, flameIcon()),
    };
  }

  /**
   * @private
   * @param {number} frame
   */
  goToFlame(frame) {
    this.page.go("flame_graph", {
      stack: this.stacks.name, zoom: String(this.model.origin[frame]), frame: null, callers: null,
      search: null,
    });
  }

  /**
   * @private
   * @param {KeyboardEvent} event
   */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const frame = this.grid.activeRow();
    if (event.key === "f" && frame > 0) this.goToFlame(frame);
    else if (event.key === "h") this.openHeaviest();
    else return;
    event.preventDefault();
  }
}

/** A flame: three boxes on each other. */
function flameIcon() {
  return h("span", { class: "flame-icon", "aria-hidden": true }, h("span"), h("span"), h("span"));
}
