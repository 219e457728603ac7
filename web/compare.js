// The entry of the page of a comparison.
import { h } from "./parts/dom.js";
import { AddressState } from "./parts/state.js";
import { themeOf, applyTheme, listenToSystemTheme } from "./parts/theme.js";
import { failureBox } from "./parts/trace_column.js";
import { checkSchema, unpackSection } from "./data/section.js";
import { readComparison } from "./compare/document.js";
import { CompareColumn } from "./compare/column.js";
import { EmbeddedSource } from "./data/source.js";
import { App } from "./app.js";

/** @typedef {{schema: string, version: string, title: string}} CompareIndex */

class CompareApp extends App {
  /**
   * @param {AddressState} state
   * @param {HTMLElement} root
   */
  constructor(state, root) {
    super(new EmbeddedSource(document), state, root);
    /** @private @type {CompareIndex | null} */
    this.index = null;
    this.views = [{ name: "compare", title: "Compare" }];
    /** @private @type {Promise<import("./compare/document.js").Comparison> | null} */
    this.comparison = null;
    this.columns = [new CompareColumn(this, () => this.read())];
    /** @private */
    this.themeButton = h("button", { type: "button", class: "icon",
                                     onclick: () => this.switchTheme() });
  }

  /**
   * @private
   * @returns {Promise<import("./compare/document.js").Comparison>}
   */
  read() {
    const text = document.getElementById("comparison")?.textContent;
    if (!text) {
      return Promise.reject(new Error("This page has no data. It may have been cut when it was saved."));
    }
    return this.comparison ??= unpackSection(text).then(readComparison);
  }

  /** @returns {Promise<void>} */
  async start() {
    applyTheme(this.theme());
    try {
      const text = document.getElementById("index")?.textContent ?? "";
      this.index = checkSchema(JSON.parse(text), ["tbtrace.compare/1"]);
    } catch (error) {
      this.root.replaceChildren(h("main", null, failureBox(error)));
      return;
    }
    listenToSystemTheme(() => this.draw());
    this.root.classList.add("one-view");
    await this.open(this.index?.version ?? "", true, h("header", { class: "top" },
      h("span", { class: "brand" }, "tbtrace"),
      h("span", { class: "title quiet", title: this.title() }, this.title()),
      h("span", { class: "space" }), this.themeButton,
      h("button", { type: "button", class: "icon", title: "Keys (?)", "aria-label": "Help",
                    onclick: () => this.help?.showModal() }, "?")));
  }

  /** @override */
  theme() {
    return themeOf(this.state.get("theme"));
  }

  /** @override */
  title() {
    return this.index?.title ?? "";
  }

  /** @override */
  chosen() {
    return { trace: "0", input: "compare", view: "compare", title: "Compare", has: () => true };
  }

  /** @override */
  async draw(/** @type {import("./parts/trace_column.js").TraceColumn | undefined} */ focus) {
    const theme = this.theme();
    const other = theme === "dark" ? "light" : "dark";
    this.themeButton.textContent = theme === "dark" ? "\u2600" : "\u263e";
    this.themeButton.setAttribute("aria-label", `Switch to the ${other} theme`);
    this.themeButton.title = `Switch to the ${other} theme (t)`;
    await super.draw(focus);
  }

  /** @override */
  switchTheme() {
    this.state.change({ theme: this.theme() === "dark" ? "light" : "dark" });
    this.draw();
  }
}

new CompareApp(new AddressState(window),
               /** @type {HTMLElement} */ (document.getElementById("app"))).start();
