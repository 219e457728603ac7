// The panel below the tracks: details, visible slices, notes. Its height and its tab are in the address.
import { h, setVariable } from "../parts/dom.js";

/** @typedef {{name: string, title: string, element: HTMLElement}} DockPanel */

/** Heights of the panel, in px. */
const dockFirst = 240;
const dockLeast = 80;
/** What the arrow keys move its edge by. */
const dockStep = 24;
/** What stays of the tracks at least. */
const tracksLeast = 160;
let docks = 0;

/** A panel with tabs that a press closes, and an edge to drag. */
export class TimelineDock {
  /**
   * @param {import("../data/source.js").Page} page
   * @param {DockPanel[]} panels
   * @param {HTMLElement} legend beside the tabs
   * @param {(name: string) => void} shown after another panel is open; empty: none
   */
  constructor(page, panels, legend, shown) {
    /** @private */
    this.page = page;
    /** @private */
    this.panels = panels;
    /** @private @type {(name: string) => void} */
    this.changed = () => {};
    /** The open panel; empty: none. */
    this.open = "";
    const id = `dock-${++docks}`;
    /** @private */
    this.tabs = panels.map(({ name, title }) => h("button", {
      type: "button", role: "tab", id: `${id}-${name}`, "aria-controls": id, "aria-selected": false,
      title: "Opens or closes the panel",
      onclick: () => this.choose(this.open === name ? "" : name),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
    }, title));
    /** @private */
    this.body = h("div", { class: "dock-body", role: "tabpanel", id, tabindex: -1 });
    /** @private */
    this.edge = h("div", {
      class: "dock-edge", role: "separator", tabindex: 0, "aria-label": "Height of the panel", "aria-orientation": "horizontal",
      "aria-valuemin": dockLeast, onkeydown: (/** @type {KeyboardEvent} */ event) => {
        const by = event.key === "ArrowUp" ? dockStep : event.key === "ArrowDown" ? -dockStep : 0;
        if (by === 0) return;
        event.preventDefault();
        event.stopPropagation();
        this.resize(this.height + by);
      },
    });
    this.edge.addEventListener("pointerdown", (event) => this.drag(event));
    this.element = h("section", { class: "timeline-dock", "aria-label": "Panel" }, this.edge,
      h("div", { class: "dock-bar" }, h("div", { class: "tabs", role: "tablist", "aria-label": "Panel" }, this.tabs), legend),
      this.body);
    /** @private */
    this.height = dockFirst;
    this.resize(Number(page.get("dock")) || dockFirst);
    this.show(page.get("panel") ?? "");
    this.changed = shown;
  }

  /**
   * @private
   * @param {KeyboardEvent} event
   */
  key(event) {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const at = this.tabs.indexOf(/** @type {HTMLButtonElement} */ (event.currentTarget));
    this.tabs[(at + step + this.tabs.length) % this.tabs.length].focus();
  }

  /**
   * A tab that people press stays open.
   * @private
   * @param {string} name
   */
  choose(name) {
    this.page.set("panel", name || null);
    this.show(name);
  }

  /**
   * @param {string} name of a panel; empty closes it
   * @returns {void}
   */
  show(name) {
    const panel = this.panels.find((one) => one.name === name);
    const next = panel ? name : "";
    const isNew = next !== this.open;
    this.open = next;
    this.panels.forEach((one, at) => {
      this.tabs[at].setAttribute("aria-selected", String(one === panel));
      this.tabs[at].tabIndex = one === panel || (!panel && at === 0) ? 0 : -1;
    });
    this.element.classList.toggle("is-open", panel !== undefined);
    this.edge.hidden = this.body.hidden = panel === undefined;
    if (panel && isNew) this.body.replaceChildren(panel.element);
    if (panel) this.body.setAttribute("aria-labelledby", this.tabs[this.panels.indexOf(panel)].id);
    if (isNew) this.changed(next);
  }

  /**
   * Details open when something is selected, and close after it, unless people opened another panel.
   * @param {boolean} has
   */
  follow(has) {
    if (has && this.open === "") this.show("details");
    else if (!has && this.open === "details" && this.page.get("panel") !== "details") this.show("");
  }

  /**
   * @param {number} index
   * @param {string} title
   * @returns {void}
   */
  rename(index, title) {
    this.tabs[index].textContent = title;
  }

  /**
   * @private
   * @param {number} height in px
   */
  resize(height) {
    const most = Math.max(dockLeast, (this.element.parentElement?.clientHeight ?? 2000) - tracksLeast);
    this.height = Math.round(Math.max(dockLeast, Math.min(height, most)));
    setVariable(this.element, "--dock", `${this.height}px`);
    this.edge.setAttribute("aria-valuenow", String(this.height));
    if (this.element.isConnected) this.page.set("dock", this.height === dockFirst ? null : String(this.height));
  }

  /**
   * @private
   * @param {PointerEvent} event
   */
  drag(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    this.edge.setPointerCapture(event.pointerId);
    const begin = { y: event.clientY, height: this.height };
    const life = new AbortController();
    this.edge.addEventListener("pointermove", (now) =>
      this.resize(begin.height + begin.y - now.clientY), { signal: life.signal });
    for (const end of ["pointerup", "pointercancel"]) {
      this.edge.addEventListener(end, () => life.abort(), { signal: life.signal });
    }
  }
}
