// What is missing or contradictory in the trace, as text to read.
import { h } from "../parts/dom.js";
import { formatValue, countOf } from "../parts/format.js";
import { recordsOf } from "../data/table.js";
import { fullSentence } from "../parts/empty.js";
import { timelineLink, timelinePart } from "../parts/timeline_link.js";
import { tableView } from "../parts/table.js";
import { tableFooter, tableNotes } from "../parts/table_tools.js";

/**
 * A label of a severity.
 * @param {string} severity `error`, `warning`, `info`
 * @returns {HTMLElement}
 */
export function severityBadge(severity) {
  const known = ["error", "warning", "info", "good"].includes(severity);
  return h("span", { class: `badge${known ? ` ${severity}` : ""}` }, severity);
}

/**
 * One check as a card.
 * @param {{[key: string]: any}} check a row of the table
 * @param {string} [heading] the element of its title, by what is around it
 * @param {import("../data/source.js").Page} [page] for the way to its place in the timeline
 * @returns {HTMLElement}
 */
export function checkCard(check, heading = "h3", page = undefined) {
  const known = ["error", "warning", "info"].includes(check.severity) ? check.severity : "info";
  const where = [];
  if (check.count !== null && check.count !== undefined) {
    where.push(`found ${countOf(Number(check.count), "time")}`);
  }
  if (check.example) where.push(`first: ${check.example}`);
  if (typeof check.example_at_ns === "number") {
    where.push(`at ${formatValue(check.example_at_ns, "ns")}`);
  }
  if (typeof check.example_offset === "number") {
    where.push(`byte ${formatValue(check.example_offset)} of the file`);
  }
  return h("article", { class: `card ${known}` },
    h("div", { class: "headline" }, severityBadge(check.severity ?? "info"),
      h(heading, null, fullSentence(String(check.cause ?? check.id))),
      h("code", { class: "quiet" }, check.id)),
    check.remedy ? h("p", { class: "remedy" }, h("b", null, "What to do: "),
                                                fullSentence(String(check.remedy))) : null,
    where.length ? h("p", { class: "quiet" }, fullSentence(where.join(", ")), " ",
      page && typeof check.example_at_ns === "number" ? timelineLink(page, timelinePart(
        check.example_at_ns, check.example_at_ns), "Show in the timeline", "link") : null) : null,
    check.input ? h("p", { class: "quiet" }, "In ", h("code", null, check.input)) : null);
}

/**
 * @param {import("../data/source.js").View} view
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement}
 */
export function renderChecks(view, page) {
  const [table, ...others] = view.tables;
  if (!table || table.rows === 0) {
    return h("div", null, tableNotes(table?.notes ?? []), h("div", { class: "card good" },
      h("div", { class: "headline" }, severityBadge("good"),
        h("h2", null, fullSentence(table?.empty ??
          "nothing is missing, and nothing contradicts")))),
      table ? tableFooter(table, page) : null);
  }
  const checks = recordsOf(table);
  // Thousands of checks would be thousands of cards: a table carries them better.
  if (checks.length > 200) return tableView(table, page);
  const counts = ["error", "warning", "info"].map((severity) =>
    [severity, checks.filter((check) => check.severity === severity).length]);
  return h("div", null, tableNotes(table.notes),
    h("p", { class: "tools" }, counts.filter(([, count]) => count).map(([severity, count]) =>
      h("span", { class: `badge ${severity}` }, countOf(Number(count), String(severity))))),
    h("div", { class: "cards" }, checks.map((check) => checkCard(check, "h2", page))),
    // The counts are above.
    tableFooter({ ...table, totals: {} }, page),
    others.map((other) => h("section", { class: "section" }, h("h2", null, other.title),
                            tableView(other, page))));
}
