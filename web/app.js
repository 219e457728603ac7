// The frame: the choice of the trace and the view, the keys, messages. Views draw the rest.
import { h } from "./parts/dom.js";
import { themeOf, applyTheme, listenToSystemTheme, printInLight } from "./parts/theme.js";
import { emptyBox } from "./parts/empty.js";
import { helpDialog } from "./parts/help.js";
import { rendererOf } from "./views/list.js";

/** @typedef {import("./data/source.js").Source} AppSource */
/** @typedef {import("./data/source.js").ReportIndex} AppIndex */
/** @typedef {import("./parts/state.js").AddressState} AppState */

/** Keys of the views, in their order. */
const viewKeys = "1234567890-=";
/** A view that takes longer than this is announced, in milliseconds. */
const patience = 120;

/** The page. Call start(). */
export class App {
  /**
   * @param {AppSource} source
   * @param {AppState} state
   * @param {HTMLElement} root where the page is drawn
   */
  constructor(source, state, root) {
    /** @private */
    this.source = source;
    /** @private */
    this.state = state;
    /** @private */
    this.root = root;
    /** @private @type {AppIndex | null} */
    this.index = null;
    /** @private */
    this.main = h("main", { id: "main", tabindex: -1 });
    /** @private */
    this.nav = h("nav", { class: "views", "aria-label": "Views" });
    /** @private */
    this.toast = h("div", { class: "toast", role: "status", hidden: true });
    /** @private */
    this.toastTimer = 0;
    /** Which drawing is the latest: earlier ones that end later are dropped. @private */
    this.drawing = 0;
    /** @private @type {HTMLSelectElement | null} */
    this.chooser = null;
    /** @private @type {HTMLDialogElement | null} */
    this.help = null;
    /** @private */
    this.themeButton = h("button", { type: "button", class: "icon",
                                     onclick: () => this.switchTheme() });
  }

  /** @returns {Promise<void>} */
  async start() {
    applyTheme(this.theme());
    try {
      this.index = await this.source.index();
    } catch (error) {
      this.root.replaceChildren(h("main", null, failureBox(error)));
      return;
    }
    document.title = this.index.title;
    this.help = helpDialog(this.index.version);
    this.root.replaceChildren(h("div", { class: "frame" },
      h("a", { class: "skip", href: "#main", onclick: (/** @type {Event} */ event) => {
        // The address is the page's state: the link must not replace it.
        event.preventDefault();
        this.main.focus();
      } }, "Skip to the view"),
      this.header(this.index), this.nav, this.main), this.toast, this.help);
    this.state.listen(() => this.draw());
    listenToSystemTheme(() => this.draw());
    printInLight(() => this.theme());
    document.addEventListener("keydown", (event) => this.key(event));
    await this.draw();
  }

  /** @private */
  theme() {
    return themeOf(this.state.get("theme"));
  }

  /**
   * @private
   * @param {AppIndex} index
   */
  header(index) {
    if (index.traces.length > 1) {
      this.chooser = /** @type {HTMLSelectElement} */ (h("select", {
        "aria-label": "Trace", onchange: () => {
          this.state.change({ trace: this.chooser?.value ?? "0" }, true);
          this.draw();
        },
      }, index.traces.map((trace, number) => h("option", { value: number },
        trace.rank === null || trace.rank === undefined ? trace.name
          : `rank ${trace.rank}: ${trace.name}`))));
    }
    return h("header", { class: "top" },
      h("span", { class: "brand" }, "tbtrace"),
      h("span", { class: "title quiet", title: index.title }, index.title),
      h("span", { class: "space" }), this.chooser, this.themeButton,
      h("button", { type: "button", class: "icon", title: "Keys (?)", "aria-label": "Help",
                    onclick: () => this.help?.showModal() }, "?"));
  }

  /** @private */
  trace() {
    const number = Number(this.state.get("trace") ?? 0);
    return Number.isInteger(number) && number >= 0 &&
      number < (this.index?.traces.length ?? 0) ? number : 0;
  }

  /** @private */
  viewName() {
    const views = this.index?.views ?? [];
    const name = this.state.get("view");
    return views.some((view) => view.name === name) ? String(name) : views[0]?.name ?? "";
  }

  /**
   * What a view gets.
   * @private
   * @param {string} name
   * @returns {import("./data/source.js").Page}
   */
  page(name) {
    const trace = this.trace();
    return {
      get: (key) => this.state.get(`${name}.${key}`),
      set: (key, value, push = false) => this.state.change({ [`${name}.${key}`]: value }, push),
      go: (view, params = {}) => this.go(view, params),
      has: (view) => this.index !== null && this.index.views.some((one) => one.name === view) &&
        view in this.index.traces[this.trace()].sections,
      view: (view) => this.source.view(trace, view),
      trace, name, input: this.index?.traces[trace]?.name ?? "", theme: this.theme(),
      say: (message) => this.say(message),
    };
  }

  /**
   * @private
   * @param {string} view
   * @param {{[key: string]: string | null}} [params] the view's own state
   */
  go(view, params = {}) {
    /** @type {{[key: string]: string | null}} */
    const changes = { view };
    for (const [key, value] of Object.entries(params)) changes[`${view}.${key}`] = value;
    this.state.change(changes, true);
    scrollTo(0, 0);
    this.draw(true);
  }

  /**
   * @private
   * @param {string} message
   */
  say(message) {
    this.toast.textContent = message;
    this.toast.hidden = false;
    clearTimeout(this.toastTimer);
    this.toastTimer = window.setTimeout(() => { this.toast.hidden = true; }, 3500);
  }

  /** @private */
  drawNavigation() {
    const index = /** @type {AppIndex} */ (this.index);
    const current = this.viewName();
    const { sections } = index.traces[this.trace()] ?? { sections: {} };
    this.nav.replaceChildren(h("ul", null, index.views.map((view, place) => h("li", null, h("a", {
      href: `#view=${view.name}`, class: view.name in sections ? null : "absent",
      "aria-current": view.name === current ? "page" : null,
      onclick: (/** @type {MouseEvent} */ event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        this.go(view.name);
      },
    }, view.title, viewKeys[place] ? h("kbd", { "aria-hidden": true }, viewKeys[place]) : null)))));
    const link = this.nav.querySelector("[aria-current]");
    // On a phone the row of views scrolls sideways.
    if (link && this.nav.scrollWidth > this.nav.clientWidth) {
      link.scrollIntoView({ block: "nearest", inline: "center" });
    }
  }

  /**
   * @private
   * @param {boolean} [focus] the heading: keys go on there
   */
  async draw(focus = false) {
    const index = /** @type {AppIndex} */ (this.index);
    const number = ++this.drawing;
    const theme = this.theme();
    applyTheme(theme);
    const other = theme === "dark" ? "light" : "dark";
    this.themeButton.textContent = theme === "dark" ? "\u2600" : "\u263e";
    this.themeButton.setAttribute("aria-label", `Switch to the ${other} theme`);
    this.themeButton.title = `Switch to the ${other} theme (t)`;
    if (this.chooser) this.chooser.value = String(this.trace());
    this.drawNavigation();
    const name = this.viewName();
    const trace = this.trace();
    const title = index.views.find((view) => view.name === name)?.title ?? name;
    const heading = h("header", null, h("h1", { tabindex: -1 }, title));
    const timer = setTimeout(() => {
      if (number === this.drawing) {
        this.main.replaceChildren(heading, h("p", { class: "loading", role: "status" },
          "Reading the view \u2026"));
      }
    }, patience);
    /** @type {Node[]} */
    let content;
    try {
      if (!index.traces.length) content = [emptyBox("The page has no trace.")];
      else if (!(name in index.traces[trace].sections)) {
        content = [emptyBox("The report was made without this view of this trace.")];
      } else {
        const view = await this.source.view(trace, name);
        if (number !== this.drawing) return;
        heading.append(h("p", null, view.about));
        content = [rendererOf(name)(view, this.page(name))];
      }
    } catch (error) {
      content = [failureBox(error)];
    } finally {
      clearTimeout(timer);
    }
    if (number !== this.drawing) return;
    this.main.replaceChildren(heading, ...content);
    if (focus) heading.querySelector("h1")?.focus({ preventScroll: true });
    document.title = `${title} \u2013 ${index.title}`;
  }

  /** @private */
  switchTheme() {
    this.state.change({ theme: this.theme() === "dark" ? "light" : "dark" });
    this.draw();
  }

  /**
   * @private
   * @param {KeyboardEvent} event
   */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented ||
        this.help?.open) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) {
      if (event.key === "Escape") target.blur();
      return;
    }
    const place = event.key.length === 1 ? viewKeys.indexOf(event.key) : -1;
    const view = place >= 0 ? this.index?.views[place] : undefined;
    if (view) this.go(view.name);
    else if (event.key === "?") this.help?.showModal();
    else if (event.key === "t") this.switchTheme();
    else if (event.key === "ArrowDown" && target.tagName === "H1") {
      const grid = /** @type {HTMLElement | null} */ (this.main.querySelector(".grid"));
      if (!grid) return;
      grid.focus();
      grid.dispatchEvent(new KeyboardEvent("keydown", { key: event.key }));
    } else if (event.key === "/") {
      const search = /** @type {HTMLElement | null} */ (
        this.main.querySelector("[data-search], input[type=search]"));
      if (!search) return;
      search.focus();
    } else return;
    event.preventDefault();
  }
}

/**
 * @param {unknown} error
 * @returns {HTMLElement}
 */
function failureBox(error) {
  const text = error instanceof Error ? error.message : String(error);
  return h("div", { class: "failure", role: "alert" },
    h("h2", null, "This cannot be shown"), h("p", null, text));
}
