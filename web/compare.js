// The entry of the page of a comparison.
import { h } from "./parts/dom.js";
import { AddressState } from "./parts/state.js";
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
    this.showTheme();
    try {
      const text = document.getElementById("index")?.textContent ?? "";
      this.index = checkSchema(JSON.parse(text), ["tbtrace.compare/1"]);
    } catch (error) {
      this.root.replaceChildren(h("main", null, failureBox(error)));
      return;
    }
    this.root.classList.add("one-view");
    await this.open(this.index?.version ?? "", true, this.header(null));
  }

  /** @override */
  title() {
    return this.index?.title ?? "";
  }

  /** @override */
  chosen() {
    return { trace: "0", input: "compare", view: "compare", title: "Compare", has: () => true };
  }
}

new CompareApp(new AddressState(window),
               /** @type {HTMLElement} */ (document.getElementById("app"))).start();
