// The collectives that cost most, one by one, with the order in which ranks arrived.
import { h, setVariable } from "../parts/dom.js";
import { countOf, exactValue, formatValue } from "../parts/format.js";
import { emptyBox } from "../parts/empty.js";
import { rankRows } from "./document.js";
import { bandwidthText } from "./words.js";

/** How many are shown at first. */
const costliestAtFirst = 5;

/**
 * @param {import("./document.js").Ranks} ranks
 * @returns {HTMLElement}
 */
export function costliestCollectives(ranks) {
  const { costliest } = ranks;
  if (costliest.length === 0) return emptyBox("no collective of one rank could be matched with that of another");
  const rows = rankRows(ranks);
  const list = h("ol", { class: "costliest" });
  const more = h("button", { type: "button", onclick: () => fill(costliest.length) });
  const fill = (/** @type {number} */ count) => {
    list.replaceChildren(...costliest.slice(0, count).map((one) => costlyItem(one, rows)));
    more.hidden = count >= costliest.length;
    more.textContent = `Show all ${costliest.length}`;
  };
  fill(costliestAtFirst);
  return h("div", null, list, more);
}

/**
 * @param {import("./document.js").CostlyCollective} one
 * @param {import("./document.js").RankRow[]} rows
 * @returns {HTMLElement}
 */
function costlyItem(one, rows) {
  const longest = Math.max(1, one.duration_ns);
  const facts = [one.step === null ? "" : `step ${one.step}`, one.bytes === null ? "" : formatValue(one.bytes, "bytes"),
    one.last_rank === null ? "last rank unknown" : `rank ${one.last_rank} arrived last`,
    one.bus_bandwidth_bytes_per_s === null ? "" : bandwidthText(one.bus_bandwidth_bytes_per_s)].filter(Boolean).join(", ");
  const summary = h("summary", null, h("b", { title: exactValue(one.exposed_ns, "ns") }, formatValue(one.exposed_ns, "ns")), " ",
    h("span", { class: "costly-name" }, one.name), " ", h("span", { class: "quiet" }, facts));
  const details = h("details", null, summary);
  // Drawn when somebody opens it.
  details.addEventListener("toggle", () => {
    if (details.childElementCount > 1) return;
    details.append(
      one.group ? h("p", { class: "quiet costly-group" }, `Group ${one.group}`) : "",
      one.members.length === 0 ? h("p", { class: "quiet" }, "When ranks arrived is not known: the clocks are not.")
        : h("table", { class: "small-table arrivals", "aria-label": "Ranks in the order in which they arrived" },
          h("thead", null, h("tr", null, ["Rank", "Arrived after the first", "Waited", ""].map((name, at) =>
            at === 3 ? h("td") : h("th", { scope: "col", class: at > 0 ? "number" : null }, name)))),
          h("tbody", null, one.members.map((place, at) => {
            const bar = h("div", { class: "arrival-bar", "aria-hidden": true });
            setVariable(bar, "--from", `${(100 * one.arrival_ns[at] / longest).toFixed(2)}%`);
            setVariable(bar, "--wait", `${(100 * (one.wait_ns[at] ?? 0) / longest).toFixed(2)}%`);
            return h("tr", null, h("td", null, String(rows[place]?.rank ?? "?")),
              h("td", { class: "number" }, formatValue(one.arrival_ns[at], "ns")),
              h("td", { class: "number" }, formatValue(one.wait_ns[at] ?? null, "ns")), h("td", { class: "arrival" }, bar));
          }))),
      one.members_left_out > 0 ? h("p", { class: "quiet" }, `${countOf(one.members_left_out, "rank")} between the first and the last ones are left out.`) : "");
  });
  return h("li", null, details);
}
