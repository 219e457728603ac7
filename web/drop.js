// The entry of the page that a trace is dropped on. The program in it is the command line's, as WebAssembly.
import { h } from "./parts/dom.js";
import { applyTheme, listenToSystemTheme, themeButton, themeOf } from "./parts/theme.js";
import { itemOfDrop, itemsOfFiles, outputPath, pageSizes, placed, savedName, sizeOf } from "./drop/inputs.js";
import { Program } from "./drop/run.js";
import { dropArea, failureOf, pairBox, ProgressBox, remarksOf, reportFrame, sizeField } from "./drop/view.js";

/** @typedef {import("./drop/inputs.js").DroppedItem} Items */
/**
 * @typedef {object} ShownReport
 * @property {number} number of the question that it answers
 * @property {string} name
 * @property {HTMLElement[]} tools
 * @property {string} address
 * @property {string} hash what it shows
 * @property {HTMLIFrameElement} frame
 * @property {() => void} drawn
 */

class DropPage {
  /** @param {HTMLElement} root where the page is drawn */
  constructor(root) {
    /** @private */
    this.program = new Program(document);
    /** @private */
    this.area = dropArea((files) => this.take(itemsOfFiles(files)));
    /** What is said above it. @private */
    this.above = h("div", { class: "above" });
    /** @private */
    this.main = h("main", { id: "main" }, this.above, this.area);
    /** @private */
    this.tools = h("span", { class: "drop-tools" });
    /** @private @type {import("./parts/theme.js").Theme | null} null: as the system has it */
    this.theme = null;
    /** @private */
    this.button = h("button", { type: "button", class: "icon", onclick: () => this.showTheme(themeOf(this.theme) === "dark" ? "light" : "dark") });
    /** @private Entries of the browser's history are of a question. */
    this.number = 0;
    /** @private @type {ShownReport | null} the last one */
    this.report = null;
    this.page = h("div", { class: "drop-page" }, h("header", { class: "top" }, h("span", { class: "brand" }, "tbtrace"),
      h("span", { class: "space" }), this.tools, this.button), this.main);
    root.append(this.page);
    this.listen();
  }

  /**
   * @private
   * @param {import("./parts/theme.js").Theme | null} theme
   */
  showTheme(theme) {
    this.theme = theme;
    applyTheme(themeOf(theme));
    themeButton(this.button, themeOf(theme));
  }

  /** @private */
  listen() {
    this.showTheme(null);
    listenToSystemTheme(() => this.showTheme(this.theme));
    addEventListener("message", ({ source, data }) => {
      const { report } = this;
      if (!report || source !== report.frame.contentWindow) return;
      report.hash = String(data?.hash ?? "");
      const [, theme = null] = /[#&]theme=(light|dark)/.exec(report.hash) ?? [];
      this.showTheme(/** @type {import("./parts/theme.js").Theme | null} */ (theme));
      if (data?.isDrawn) report.drawn();
    });
    addEventListener("popstate", ({ state }) => {
      if (!this.report || state !== this.report.number) return this.begin();
      this.reveal(this.report);
      this.focus(this.report);
    });
    // A file that is dragged over the report would be the frame's. Where it comes from has the focus then.
    setInterval(() => this.main.classList.toggle("away", !document.hasFocus()), 250);
    addEventListener("dragover", (event) => {
      event.preventDefault();
      this.area.classList.add("over");
    });
    addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) this.area.classList.remove("over");
    });
    addEventListener("drop", (event) => {
      event.preventDefault();
      this.area.classList.remove("over");
      const dropped = [...event.dataTransfer?.items ?? []].filter(({ kind }) => kind === "file");
      if (dropped.length === 0) return;
      Promise.all(dropped.map(itemOfDrop)).then(
        (items) => this.take(/** @type {Items[]} */ (items.filter((item) => item !== null))),
        (error) => this.fail("What was dropped", [String(error.message ?? error)]));
    });
  }

  /**
   * @private
   * @param {Items[]} items
   */
  take(items) {
    if (items.length === 0) return;
    if (items.length !== 2 || items.some(({ name }) => /\.pickle$/i.test(name))) {
      this.ask(items, "report");
      return;
    }
    this.begin();
    this.above.append(pairBox(items, (question, ordered) => this.ask(ordered, question)));
    this.above.querySelector("button")?.focus();
  }

  /**
   * Back to where files are dropped. The last report stays, for the browser's history.
   * @private
   */
  begin() {
    if (this.program.stop() && this.report?.number === this.number) {
      this.report.tools = [h("span", { class: "quiet" }, "Stopped: this is the summary alone.")];
    }
    document.title = "tbtrace";
    this.tools.replaceChildren();
    this.page.classList.remove("with-report");
    this.above.replaceChildren();
  }

  /**
   * @private
   * @param {Items[]} items
   * @param {"report" | "compare"} question
   * @param {string} [size] of the page at most
   * @param {string} [hash] what it shows at first
   */
  async ask(items, question, size = pageSizes[0], hash = "") {
    this.begin();
    // Back is where files are dropped.
    const number = ++this.number;
    if (history.state === null) history.pushState(number, "");
    else history.replaceState(number, "");
    const name = items.map((item) => item.name).join(", ").slice(0, 200);
    const progress = new ProgressBox(name, sizeOf(items), () => {
      this.begin();
      this.area.querySelector("input")?.focus();
    });
    this.above.append(progress.element);
    /** @type {(page: ArrayBuffer, makeTools: (report: ShownReport) => HTMLElement[]) => void} */
    const show = (page, makeTools) => this.show(number, name, hash, page, makeTools);
    try {
      const { files, words } = placed(items, question, size);
      const result = await this.program.run(files, words, outputPath, (read) => progress.show(read),
        (first) => show(first, () => [h("span", { class: "quiet", role: "status" }, "Making the other views \u2026")]));
      if (result === null) return;
      const remarks = remarksOf(result.lines);
      if (result.page !== null) {
        show(result.page, (report) => [...remarks ? [remarks] : [],
          ...question === "report" ? [sizeField(size, (other) => this.ask(items, question, other, report.hash))] : [],
          h("a", { class: "button", href: report.address, download: savedName(items, question) }, "Save this page")]);
      } else if (this.report?.number === number && remarks) {
        remarks.setAttribute("open", "");
        this.report.tools = [h("span", null, "The other views cannot be made."), remarks];
        this.reveal(this.report);
      } else this.fail(name, result.lines);
    } catch (error) {
      this.fail(name, [error instanceof Error ? error.message : String(error)]);
    }
  }

  /**
   * @private
   * @param {string} name
   * @param {string[]} lines
   */
  fail(name, lines) {
    this.begin();
    this.above.append(failureOf(name, lines));
  }

  /**
   * @private
   * @param {number} number of the question
   * @param {string} name
   * @param {string} hash what the page shows at first, if it does not replace one
   * @param {ArrayBuffer} page
   * @param {(report: ShownReport) => HTMLElement[]} makeTools
   */
  show(number, name, hash, page, makeTools) {
    const before = this.report;
    const isSame = before?.number === number;
    const address = URL.createObjectURL(new Blob([page], { type: "text/html" }));
    const shown = isSame ? before.hash : hash || (this.theme ? `#theme=${this.theme}` : "");
    const report = this.report = { number, name, address, hash: shown, frame: reportFrame(address + shown, name),
                                   tools: /** @type {HTMLElement[]} */ ([]), drawn: () => {} };
    report.tools = makeTools(report);
    const remove = () => {
      before?.frame.remove();
      if (before) URL.revokeObjectURL(before.address);
      report.frame.classList.remove("waiting");
    };
    // The summary stays until all of the page is drawn.
    if (isSame) report.frame.classList.add("waiting");
    else remove();
    report.drawn = () => {
      if (isSame) remove();
      report.drawn = () => {};
      this.focus(report);
    };
    setTimeout(() => report.drawn(), 3000);
    this.main.append(report.frame);
    this.reveal(report);
  }

  /**
   * Keys are the report's, unless they are used beside it.
   * @private
   * @param {ShownReport} report
   */
  focus({ frame }) {
    if (!this.tools.contains(document.activeElement)) frame.focus();
  }

  /**
   * @private
   * @param {ShownReport} report
   */
  reveal({ name, tools }) {
    this.above.replaceChildren();
    document.title = `${name} - tbtrace`;
    this.tools.replaceChildren(h("button", { type: "button", onclick: () => {
      history.pushState(null, "");
      this.begin();
      this.area.querySelector("input")?.focus();
    } }, "Another trace"), h("span", { class: "space" }), ...tools);
    this.page.classList.add("with-report");
  }
}

new DropPage(/** @type {HTMLElement} */ (document.getElementById("app")));
