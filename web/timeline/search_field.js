// The search of a timeline: which names match.
import { h } from "../parts/dom.js";
import { countOf, formatValue } from "../parts/format.js";
import { stackMatcher } from "../data/stacks.js";

/**
 * @param {string} pattern text, /expression/, or "the whole name"
 * @returns {((text: string) => boolean) | null} null: not a valid expression
 */
export function timelineMatcher(pattern) {
  if (pattern.length > 2 && pattern.startsWith("\"") && pattern.endsWith("\"")) {
    const whole = pattern.slice(1, -1);
    return (text) => text === whole;
  }
  return stackMatcher(pattern);
}

/**
 * @param {(pattern: string) => void} onChange
 * @param {(forward: boolean) => void} onNext
 */
export function timelineSearchField(onChange, onNext) {
  const field = /** @type {HTMLInputElement} */ (h("input", {
    type: "search", class: "flame-search", autocomplete: "off",
    spellcheck: "false", placeholder: "Search names (/)",
    "aria-label": "Search names; between slashes as a regular expression",
    title: "Text in a name; /text/ is a regular expression, \"text\" the whole name. Enter: next " +
      "match, Shift+Enter: previous",
    oninput: () => onChange(field.value),
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter") onNext(!event.shiftKey);
      else if (event.key === "Escape" && field.value !== "") onChange(field.value = "");
      else return;
      event.preventDefault();
      event.stopPropagation();
    },
  }));
  const status = h("span", { class: "flame-matched", role: "status" });
  const buttons = [["\u2039", "Previous match", false], ["\u203a", "Next match", true]].map(
    ([text, label, forward]) => /** @type {HTMLButtonElement} */ (h("button", {
      type: "button", class: "icon", "aria-label": label, title: label, disabled: true,
      onclick: () => onNext(Boolean(forward)),
    }, String(text))));
  return {
    field,
    elements: [field, ...buttons, status],
    /**
     * @param {import("./queries.js").TimelineMatches | null} found
     * @param {boolean} isValid
     * @param {import("./model.js").TimelineModel} model
     * @param {number} at which match is selected, from 1; 0: none
     */
    tell(found, isValid, { source, ranks }, at) {
      for (const button of buttons) button.disabled = !found || found.count === 0;
      status.textContent = !isValid ? "This is not a valid regular expression."
        : !found ? "" : found.count === 0 ? "No range matches."
          : `${at ? `${formatValue(at)} of ` : ""}${countOf(found.count, "match", "matches")}${ranks > 1 ? ` on ${ranks} ranks` : ""}, ${formatValue(found.total, "ns")}${source.part ? " in this part" : ""}`;
    },
  };
}
