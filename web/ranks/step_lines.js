// A step of a few ranks beside each other, on one clock: what each did, and its collectives.
import { h } from "../parts/dom.js";
import { countOf, formatValue } from "../parts/format.js";
import { rankParts, rankRows } from "./document.js";
import { labelledSelect } from "../parts/choices.js";
import { StepPicture } from "./step_picture.js";
import { barsLegend } from "../parts/bars.js";

/** Ranks beside each other, at most. */
const mostRanks = 4;
const whyWords = /** @type {{[why: string]: string}} */ ({
  latest: "a rank was latest", usual: "a usual one", costliest_collective: "a costly collective",
});

/**
 * @param {import("./document.js").Ranks} ranks
 * @param {import("../data/source.js").Page} page
 * @returns {HTMLElement}
 */
export function stepLines(ranks, page) {
  if (ranks.timelines.length === 0) {
    return h("p", { class: "quiet" }, "No two ranks have steps in common that end in a collective.");
  }
  const rows = rankRows(ranks);
  const board = h("div");
  const chooser = h("div", { class: "rank-choices", role: "group", "aria-label": "Ranks" });
  const stepOf = () => ranks.timelines.find(({ step }) => String(step) === page.get("step")) ?? ranks.timelines[0];
  /** @returns {number[]} places of ranks */
  const chosenRanks = () => {
    const here = new Set(stepOf().ranks.map(({ rank }) => rank));
    const wanted = (page.get("ranks") ?? "").split(",").filter(Boolean).map((rank) =>
      rows.findIndex((row) => String(row.rank) === rank)).filter((place) => here.has(place));
    return wanted.length > 0 ? wanted.slice(0, mostRanks) : stepOf().ranks.slice(0, mostRanks).map(({ rank }) => rank);
  };
  /** @type {StepPicture | null} */
  let shown = null;
  const draw = () => {
    const step = stepOf();
    const chosen = chosenRanks();
    const lines = step.ranks.filter(({ rank }) => chosen.includes(rank)).sort((a, b) => a.rank - b.rank);
    const picture = new StepPicture(step, lines, rows);
    picture.resume(shown);
    shown = picture;
    const leftOut = lines.reduce((sum, line) => sum + line.collectives_left_out, 0);
    const unaligned = lines.filter((line) => !line.is_aligned);
    board.replaceChildren(picture.element,
      h("p", { class: "quiet" }, "Above: what the rank did, in 500 parts of the step, each in the colour of what took most of it. ",
        "Below: its collectives, waiting (striped) and transfer; \u25be is where the last rank arrived. ",
        unaligned.length > 0 ? `${unaligned.map(({ rank }) => `Rank ${rows[rank].rank}`).join(", ")}: the clock is unknown; the step is drawn as if it began with the others. `
          : "All are on one clock. ",
        leftOut > 0 ? `${countOf(leftOut, "short collective")} left out.` : ""));
    drawChooser(chosen);
  };
  /** @param {number[]} chosen */
  const drawChooser = (chosen) => {
    const step = stepOf();
    const boxes = [...step.ranks].sort((a, b) => a.rank - b.rank).map(({ rank }) => {
      const box = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", checked: chosen.includes(rank),
        disabled: !chosen.includes(rank) && chosen.length >= mostRanks, onchange: () => {
          const next = chosen.includes(rank) ? chosen.filter((one) => one !== rank) : [...chosen, rank];
          if (next.length === 0) {
            box.checked = true;
            page.say("At least one rank has to be chosen.");
            return;
          }
          page.set("ranks", next.map((place) => rows[place].rank).join(","));
          draw();
          // The boxes are drawn again: keys go on at the same one.
          /** @type {HTMLElement | null} */ (chooser.querySelector(`[data-rank="${rank}"]`))?.focus();
        }, "data-rank": rank }));
      return h("label", null, box, String(rows[rank].rank));
    });
    chooser.replaceChildren(h("span", { class: "quiet" }, `Ranks (up to ${mostRanks})`), ...boxes,
      step.ranks_left_out > 0 ? h("span", { class: "quiet" }, `${countOf(step.ranks_left_out, "rank")} left out`) : "");
  };
  const steps = labelledSelect("Step", ranks.timelines.map(({ step, why }) => [String(step), `${step}: ${whyWords[why] ?? why}`]),
    String(stepOf().step), (step) => {
      page.set("step", step);
      draw();
    });
  draw();
  return h("div", { class: "step-lines" }, h("div", { class: "tools" }, steps, chooser), board,
    barsLegend(rankParts.map(([, label, kind]) => ({ label, kind }))));
}
