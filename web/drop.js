// The entry of the page that a trace is dropped on. The program in it is the command line's, as WebAssembly.
import { h } from "./parts/dom.js";
import { applyTheme, listenToSystemTheme, themeOf } from "./parts/theme.js";
import { itemOfDrop, itemsOfFiles, outputPath, placed, savedName, sizeOf } from "./drop/inputs.js";
import { Program } from "./drop/run.js";
import { dropArea, failureOf, pairBox, ProgressBox, remarksOf, reportFrame } from "./drop/view.js";

/** @typedef {import("./drop/inputs.js").DroppedItem} Items */

class DropPage {
  /** @param {HTMLElement} root where the page is drawn */
  constructor(root) {
    /** @private */
    this.program = new Program(document);
    /** @private */
    this.area = dropArea((files) => this.take(itemsOfFiles(files)));
    /** @private */
    this.main = h("main", { id: "main" }, this.area);
    /** @private */
    this.tools = h("span", { class: "drop-tools" });
    /** @private */
    this.title = h("bdi", { class: "title quiet" });
    /** @private */
    this.address = "";
    root.append(h("div", { class: "drop-page" }, h("header", { class: "top" }, h("span", { class: "brand" }, "tbtrace"), this.title,
      h("span", { class: "space" }), this.tools), this.main));
    this.listen();
  }

  /** @private */
  listen() {
    const showTheme = () => applyTheme(themeOf(null));
    showTheme();
    listenToSystemTheme(showTheme);
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
    if (items.length !== 2) {
      this.ask(items, "report");
      return;
    }
    this.begin();
    this.main.prepend(pairBox(items, (question, ordered) => this.ask(ordered, question)));
    this.main.querySelector("button")?.focus();
  }

  /** Back to where files are dropped.
   * @private
   */
  begin() {
    this.program.stop();
    if (this.address !== "") URL.revokeObjectURL(this.address);
    this.address = "";
    document.title = "tbtrace";
    this.title.textContent = "";
    this.tools.replaceChildren();
    this.main.classList.remove("with-report");
    this.main.replaceChildren(this.area);
  }

  /**
   * @private
   * @param {Items[]} items
   * @param {"report" | "compare"} question
   */
  async ask(items, question) {
    this.begin();
    const name = items.map((item) => item.name).join(", ").slice(0, 200);
    const progress = new ProgressBox(name, sizeOf(items), () => {
      this.begin();
      this.area.querySelector("input")?.focus();
    });
    this.main.prepend(progress.element);
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
    this.main.prepend(failureOf(name, lines));
  }

  /**
   * @private
   * @param {string} name
   * @param {string} file that it is saved as
   * @param {ArrayBuffer} page
   * @param {string[]} lines
   */
  show(name, file, page, lines) {
    this.address = URL.createObjectURL(new Blob([page], { type: "text/html" }));
    document.title = `${name} - tbtrace`;
    this.title.textContent = name;
    const remarks = remarksOf(lines);
    this.tools.replaceChildren(...(remarks ? [remarks] : []),
      h("a", { class: "button", href: this.address, download: file }, "Save this page"),
      h("button", { type: "button", onclick: () => this.begin() }, "Another trace"));
    this.main.classList.add("with-report");
    this.main.replaceChildren(reportFrame(this.address, name));
  }
}

new DropPage(/** @type {HTMLElement} */ (document.getElementById("app")));
