// SQL over the tables of a trace: a query, what can be asked for, and the answer as a table.
import { h } from "./parts/dom.js";
import { TraceColumn } from "./parts/trace_column.js";
import { scopedPage } from "./parts/scoped_page.js";
import { tableView } from "./parts/table.js";
import { rendererOf } from "./views/list.js";

/** @typedef {{has_duckdb: boolean, tables: {name: string, columns: string[]}[]}} SqlTables */
/** @typedef {import("./data/source.js").Page} SqlPage */
/** @typedef {import("./parts/trace_column.js").ChosenTrace} SqlChosen */

/** The view, beside those of the server. */
export const sqlView = { name: "sql", title: "SQL" };

/** @type {[string, string][]} what people ask first */
const sqlExamples = [
  ["Kernels of a family per step", "select step, family, sum(count)::bigint as kernels, sum(total_ns)::bigint as total_ns\nfrom kernels_by_step_name\ngroup by all order by step, total_ns desc"],
  ["Longest operators", "select name, step, start_ns, duration_ns\nfrom events where kind = 'cpu_op'\norder by duration_ns desc limit 20"],
  ["Idle time by cause", "select why, count(*) as gaps, sum(duration_ns)::bigint as total_ns\nfrom gaps group by why order by total_ns desc"],
];

/** A trace, or a query about it. */
export class TabTraceColumn extends TraceColumn {
  /**
   * @param {import("./parts/trace_column.js").ColumnOwner} owner
   * @param {string} prefix
   * @param {string} label
   * @param {import("./data/http_source.js").HttpSource} server
   * @param {(trace: string) => void} viewed after a view of a trace was read
   */
  constructor(owner, prefix, label, server, viewed) {
    super(owner, prefix, label);
    /** @private */
    this.viewed = viewed;
    /** @private */
    this.server = server;
  }

  /** @override */
  async content(/** @type {SqlChosen} */ chosen, /** @type {AbortSignal} */ signal) {
    if (chosen.view !== sqlView.name) {
      const view = await this.server.view(chosen.trace, chosen.view, signal);
      this.viewed(chosen.trace);
      return { about: view.about, make: () => rendererOf(chosen.view)(view, this.page(chosen)) };
    }
    const tables = await this.server.sqlTables();
    return { about: "Any question about the tables of this trace.",
             make: () => renderSql(tables, this.page(chosen), (query) => this.server.sql(chosen.trace, query)) };
  }
}

/**
 * @param {SqlTables} tables
 * @param {SqlPage} page
 * @param {(query: string) => Promise<import("./data/source.js").Table>} ask
 * @returns {HTMLElement}
 */
function renderSql({ has_duckdb: hasDuckdb, tables }, page, ask) {
  const field = /** @type {HTMLTextAreaElement} */ (h("textarea", {
    class: "sql-query", rows: 5, spellcheck: "false", autocomplete: "off", "aria-label": "Query in SQL",
    placeholder: "select short_name, total_ns from kernels order by total_ns desc", maxlength: 10000,
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      run();
    },
    onchange: () => page.set("query", field.value),
  }));
  field.value = page.get("query") ?? "";
  const status = h("p", { class: "quiet", role: "status" });
  const answer = h("div");
  let asked = 0;
  const run = async () => {
    const query = field.value.trim();
    if (query === "") return;
    const number = ++asked;
    page.set("query", query);
    status.textContent = "Asking \u2026";
    const begin = performance.now();
    try {
      const table = await ask(query);
      if (number !== asked) return;
      status.textContent = `${((performance.now() - begin) / 1000).toFixed(1)} s`;
      answer.replaceChildren(tableView(table, scopedPage(page, "answer")));
    } catch (error) {
      if (number !== asked) return;
      status.textContent = "";
      answer.replaceChildren(h("div", { class: "failure", role: "alert" },
        h("h2", null, "No answer"), h("p", null, /** @type {Error} */ (error).message)));
    }
  };
  /** @param {string} text */
  const put = (text) => {
    field.value = text;
    page.set("query", text);
    field.focus();
  };
  return h("div", { class: "sql" },
    hasDuckdb ? null : h("div", { class: "notes" }, h("p", null,
      "SQL needs DuckDB beside TensorBoard: run `pip install duckdb` in its environment, then restart TensorBoard.")),
    field,
    h("div", { class: "tools" }, h("button", { type: "button", class: "primary", onclick: run, title: "Ctrl+Enter" }, "Run"),
      sqlExamples.map(([label, query]) => h("button", { type: "button", onclick: () => put(query) }, label)), status),
    answer,
    h("details", { class: "meanings" }, h("summary", null, "Tables and their columns"),
      h("p", { class: "quiet" }, "Also kernels_by_operator, kernels_by_step_name, memory_curve and so on: a table, \"by\" and its keys. Times are in ns. ",
        "Queries run in a process of their own for at most 10 s with 512 MB, and reach nothing but these tables."),
      h("dl", null, tables.flatMap(({ name, columns }) => [
        h("dt", null, h("button", { type: "button", class: "link", onclick: () => put(`select * from ${name} limit 100`) }, name)),
        h("dd", { class: "code" }, columns.join(", "))]))));
}
