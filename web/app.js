// The frame: the choice of the view, the keys, messages. Columns draw the traces; report.js and
// tab_app.js add what chooses them.
import { h } from "./parts/dom.js";
import { applyTheme, listenToSystemTheme, printInLight, themeButton, themeOf } from "./parts/theme.js";
import { fullSentence } from "./parts/empty.js";
import { helpDialog } from "./parts/help.js";
import { groupedViews, viewOfKey } from "./parts/view_groups.js";
import { TraceColumn } from "./parts/trace_column.js";

/** @typedef {import("./data/source.js").Source} AppSource */
/** @typedef {import("./parts/state.js").AddressState} AppState */
/** @typedef {import("./parts/trace_column.js").ChosenTrace} AppChosen */

/** The page. Call open() when the views are known. */
export class App {
  /**
   * @param {AppSource} source
   * @param {AppState} state
   * @param {HTMLElement} root where the page is drawn
   */
  constructor(source, state, root) {
    this.source = source;
    this.state = state;
    this.root = root;
    /** @type {{name: string, title: string}[]} */
    this.views = [];
    /** @type {TraceColumn[]} */
    this.columns = [new TraceColumn(this, "")];
    this.main = h("main", { id: "main", tabindex: -1 });
    /** @private */
    this.nav = h("nav", { class: "views", "aria-label": "Views" });
    /** @private */
    this.toast = h("div", { class: "toast", role: "status", hidden: true });
    /** @private */
    this.toastTimer = 0;
    /** @type {HTMLDialogElement | null} */
    this.help = null;
    /** @private */
    this.themeButton = h("button", { type: "button", class: "icon", onclick: () => this.switchTheme() });
  }

  /**
   * @param {string} version of tbtrace
   * @param {boolean} isAlone the page is in a file
   * @param {HTMLElement | null} header above everything
   * @returns {Promise<void>} when all is drawn
   */
  open(version, isAlone, header) {
    this.help = helpDialog(version, isAlone, this.views.map(({ name }) => name));
    this.root.replaceChildren(h("div", { class: "frame" },
      h("a", { class: "skip", href: "#main", onclick: (/** @type {Event} */ event) => {
        // The address is the page's state: the link must not replace it.
        event.preventDefault();
        this.main.focus();
      } }, "Skip to the view"),
      header, this.nav, this.main), this.toast, this.help);
    this.state.listen(() => this.draw());
    printInLight(() => this.theme());
    document.addEventListener("keydown", (event) => this.key(event));
    return this.draw();
  }

  /**
   * The header of a page that is alone in a file. It follows the theme of the system.
   * @param {HTMLElement | null} chooser of the trace
   * @returns {HTMLElement}
   */
  header(chooser) {
    listenToSystemTheme(() => this.showTheme());
    return h("header", { class: "top" },
      h("span", { class: "brand" }, "tbtrace"),
      h("span", { class: "title quiet", title: this.title() }, this.title()),
      h("span", { class: "space" }), chooser, this.themeButton,
      h("button", { type: "button", class: "icon", title: "Shortcuts (?)", "aria-label": "Help",
                    onclick: () => this.help?.showModal() }, "?"));
  }

  /** @returns {"light" | "dark"} */
  theme() {
    return themeOf(this.state.get("theme"));
  }

  /** Nothing is drawn anew: the focus stays where it is. */
  showTheme() {
    const theme = this.theme();
    applyTheme(theme);
    themeButton(this.themeButton, theme, " (t)");
    this.tell(false);
  }

  /**
   * The page that traces are dropped on has a bar around this one.
   * @private
   * @param {boolean} isDrawn
   */
  tell(isDrawn) {
    if (location.protocol === "blob:") parent.postMessage({ hash: location.hash, isDrawn }, "*");
  }

  /** @returns {void} */
  switchTheme() {
    this.state.change({ theme: this.theme() === "dark" ? "light" : "dark" });
    this.showTheme();
  }

  /**
   * @param {TraceColumn} _column
   * @returns {AppChosen | HTMLElement} what it shows, or why there is nothing to show
   */
  chosen(_column) {
    throw new Error("no trace");
  }

  /** @returns {string} for the title of the window */
  title() {
    return "tbtrace";
  }

  /**
   * @param {string} view
   * @returns {string} the address of a view
   */
  addressOf(view) {
    return `#view=${view}`;
  }

  /**
   * @param {TraceColumn[]} columns from now on
   * @returns {void}
   */
  show(columns) {
    this.columns = columns;
  }

  viewName() {
    const name = this.state.get("view");
    return this.views.some((view) => view.name === name) ? String(name) : this.views[0]?.name ?? "";
  }

  viewTitle() {
    const name = this.viewName();
    return this.views.find((view) => view.name === name)?.title ?? name;
  }

  /**
   * @param {TraceColumn} column whose state `params` is
   * @param {string} view
   * @param {{[key: string]: string | null}} [params] the view's own state
   * @param {{[key: string]: string | null}} [also] of the page
   * @returns {void}
   */
  go(column, view, params = {}, also = {}) {
    /** @type {{[key: string]: string | null}} */
    const changes = { ...also, view };
    for (const [key, value] of Object.entries(params)) {
      changes[`${column.prefix}${view}.${key}`] = value;
    }
    this.state.change(changes, true);
    scrollTo(0, 0);
    this.draw(column);
  }

  /**
   * @param {string} message
   * @returns {void}
   */
  say(message) {
    this.toast.textContent = message;
    this.toast.hidden = false;
    clearTimeout(this.toastTimer);
    this.toastTimer = window.setTimeout(() => { this.toast.hidden = true; }, 3500);
  }

  /** @returns {void} */
  drawNavigation() {
    const current = this.viewName();
    const chosen = this.chosen(this.columns[0]);
    const has = chosen instanceof HTMLElement ? () => true : chosen.has;
    const why = chosen instanceof HTMLElement ? () => null : chosen.why ?? (() => null);
    this.nav.replaceChildren(h("div", null, groupedViews(this.views).map(({ title, views }) => {
      const heading = title === "" ? null : h("h2", null, title);
      return [heading, h("ul", { "aria-label": title || null }, views.map((view) => h("li", null, h("a", {
        href: this.addressOf(view.name), class: has(view.name) && why(view.name) === null ? null : "absent",
        title: why(view.name) === null ? null : fullSentence(String(why(view.name))),
        "aria-current": view.name === current ? "page" : null,
        onclick: (/** @type {MouseEvent} */ event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          this.go(this.columns[0], view.name);
        },
      }, view.title, view.key ? h("kbd", { "aria-hidden": true }, view.key) : null))))];
    }).flat()));
    const link = this.nav.querySelector("[aria-current]");
    // On a phone the row of views scrolls sideways.
    if (link && this.nav.scrollWidth > this.nav.clientWidth) {
      link.scrollIntoView({ block: "nearest", inline: "center" });
    }
  }

  /**
   * @param {TraceColumn} [focus] its heading: keys go on there
   * @returns {Promise<void>}
   */
  async draw(focus) {
    this.showTheme();
    this.drawNavigation();
    const elements = this.columns.map((column) => column.element);
    if (elements.some((element) => element.parentNode !== this.main) ||
        this.main.childNodes.length !== elements.length) this.main.replaceChildren(...elements);
    this.main.classList.toggle("two", elements.length > 1);
    const title = this.viewTitle();
    await Promise.all(this.columns.map((column) => column.draw(column === focus)));
    this.tell(true);
    if (title === this.viewTitle()) document.title = `${title} \u2013 ${this.title()}`;
  }

  /**
   * @private
   * @param {KeyboardEvent} event
   */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented ||
        document.querySelector("dialog[open]")) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) {
      if (event.key !== "Escape") return;
      // The browser empties it after it has lost the focus, and sends no `input` event.
      if (target instanceof HTMLInputElement && target.type === "search" && target.value !== "") {
        target.value = "";
        target.dispatchEvent(new Event("input"));
        event.preventDefault();
      }
      target.blur();
      return;
    }
    const column = this.columns.find(({ element }) => element.contains(target)) ?? this.columns[0];
    const view = viewOfKey(this.views, event.key);
    if (view) this.go(column, view.name);
    else if (event.key === "?") this.help?.showModal();
    else if (event.key === "t") this.switchTheme();
    else if (event.key === "ArrowDown" && target.tagName === "H1") {
      const grid = /** @type {HTMLElement | null} */ (column.element.querySelector(".grid"));
      if (!grid) return;
      grid.focus();
      grid.dispatchEvent(new KeyboardEvent("keydown", { key: event.key }));
    } else if (event.key === "/") {
      // Closed menus have fields too.
      const search = [.../** @type {NodeListOf<HTMLElement>} */ (
        column.element.querySelectorAll("input[type=search]"))].find((field) => field.offsetParent);
      if (!search) return;
      search.focus();
    } else return;
    event.preventDefault();
  }
}
