// The entry of the page in a file.
import { h } from "./parts/dom.js";
import { emptyBox } from "./parts/empty.js";
import { AddressState } from "./parts/state.js";
import { themeOf, applyTheme, listenToSystemTheme } from "./parts/theme.js";
import { failureBox } from "./parts/trace_column.js";
import { EmbeddedSource } from "./data/source.js";
import { App } from "./app.js";

/** @typedef {import("./data/source.js").ReportIndex} Index */

/** The page with its own theme, and a field that chooses the trace if it has several. */
class ReportApp extends App {
  /**
   * @param {EmbeddedSource} source
   * @param {AddressState} state
   * @param {HTMLElement} root
   */
  constructor(source, state, root) {
    super(source, state, root);
    /** @private */
    this.embedded = source;
    /** @private @type {Index | null} */
    this.index = null;
    /** @private @type {HTMLSelectElement | null} */
    this.chooser = null;
    /** @private */
    this.themeButton = h("button", { type: "button", class: "icon",
                                     onclick: () => this.switchTheme() });
  }

  /** @returns {Promise<void>} */
  async start() {
    applyTheme(this.theme());
    try {
      this.index = await this.embedded.index();
    } catch (error) {
      this.root.replaceChildren(h("main", null, failureBox(error)));
      return;
    }
    this.views = this.index.views;
    document.title = this.index.title;
    listenToSystemTheme(() => this.draw());
    await this.open(this.index.version, true, this.header(this.index));
  }

  /** @override */
  theme() {
    return themeOf(this.state.get("theme"));
  }

  /** @override */
  title() {
    return this.index?.title ?? "";
  }

  /**
   * @private
   * @param {Index} index
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

  /** @override */
  chosen() {
    const traces = this.index?.traces ?? [];
    const wanted = Number(this.state.get("trace") ?? 0);
    const number = Number.isInteger(wanted) && wanted >= 0 && wanted < traces.length ? wanted : 0;
    const trace = traces[number];
    if (!trace) return emptyBox("The page has no trace.");
    return {
      trace: String(number), input: trace.name, view: this.viewName(), title: this.viewTitle(),
      has: (/** @type {string} */ view) => view in trace.sections,
    };
  }

  /** @override */
  async draw(/** @type {import("./parts/trace_column.js").TraceColumn | undefined} */ focus) {
    const theme = this.theme();
    const other = theme === "dark" ? "light" : "dark";
    this.themeButton.textContent = theme === "dark" ? "\u2600" : "\u263e";
    this.themeButton.setAttribute("aria-label", `Switch to the ${other} theme`);
    this.themeButton.title = `Switch to the ${other} theme (t)`;
    const chosen = this.chosen();
    if (this.chooser && !(chosen instanceof HTMLElement)) this.chooser.value = chosen.trace;
    await super.draw(focus);
  }

  /** @override */
  switchTheme() {
    this.state.change({ theme: this.theme() === "dark" ? "light" : "dark" });
    this.draw();
  }
}

new ReportApp(new EmbeddedSource(document), new AddressState(window),
              /** @type {HTMLElement} */ (document.getElementById("app"))).start();
