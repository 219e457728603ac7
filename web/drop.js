// The entry of the page that a trace is dropped on. The program in it is the command line's, as WebAssembly.
import { h } from "./parts/dom.js";
import { applyTheme, listenToSystemTheme, themeButton, themeOf } from "./parts/theme.js";
import { itemOfDrop, itemsOfFiles, outputPath, placed, savedName, sizeOf } from "./drop/inputs.js";
import { Program } from "./drop/run.js";
import { dropArea, failureOf, pairBox, ProgressBox, remarksOf, reportFrame } from "./drop/view.js";

/** @typedef {import("./drop/inputs.js").DroppedItem} Items */
/**
 * @typedef {object} ShownReport
 * @property {number} question that it answers
 * @property {string} name
 * @property {string} file that it is saved as
 * @property {string[]} lines what the program said
 * @property {string} address
 * @property {HTMLIFrameElement} frame
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
    this.question = 0;
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
      if (this.report && source === this.report.frame.contentWindow) this.showTheme(data?.theme === "dark" ? "dark" : "light");
    });
    addEventListener("popstate", ({ state }) => {
      if (this.report && state === this.report.question) this.reveal(this.report);
      else this.begin();
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
    this.program.stop();
    document.title = "tbtrace";
    this.tools.replaceChildren();
    this.page.classList.remove("with-report");
    this.above.replaceChildren();
  }

  /**
   * @private
   * @param {Items[]} items
   * @param {"report" | "compare"} question
   */
  async ask(items, question) {
    this.begin();
    // Back is where files are dropped.
    const number = ++this.question;
    if (history.state === null) history.pushState(number, "");
    else history.replaceState(number, "");
    const name = items.map((item) => item.name).join(", ").slice(0, 200);
    const progress = new ProgressBox(name, sizeOf(items), () => {
      this.begin();
      this.area.querySelector("input")?.focus();
    });
    this.above.append(progress.element);
    try {
      const { files, words } = placed(items, question);
      const result = await this.program.run(files, words, outputPath, (read) => progress.show(read));
      if (result === null) return;
      if (result.page === null) this.fail(name, result.lines);
      else this.show(name, savedName(items, question), result.page, result.lines);
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
   * @param {string} name
   * @param {string} file that it is saved as
   * @param {ArrayBuffer} page
   * @param {string[]} lines
   */
  show(name, file, page, lines) {
    if (this.report) {
      this.report.frame.remove();
      URL.revokeObjectURL(this.report.address);
    }
    const address = URL.createObjectURL(new Blob([page], { type: "text/html" }));
    const frame = reportFrame(address + (this.theme ? `#theme=${this.theme}` : ""), name);
    this.main.append(frame);
    this.reveal(this.report = { question: this.question, name, file, lines, address, frame });
  }

  /**
   * @private
   * @param {ShownReport} report
   */
  reveal({ name, file, lines, address }) {
    this.begin();
    document.title = `${name} - tbtrace`;
    const remarks = remarksOf(lines);
    this.tools.append(h("button", { type: "button", onclick: () => {
      history.pushState(null, "");
      this.begin();
      this.area.querySelector("input")?.focus();
    } }, "Another trace"), h("span", { class: "space" }), ...(remarks ? [remarks] : []),
    h("a", { class: "button", href: address, download: file }, "Save this page"));
    this.page.classList.add("with-report");
  }
}

new DropPage(/** @type {HTMLElement} */ (document.getElementById("app")));
