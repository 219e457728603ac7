// Notes of people on spans of time: how the address has them, and how they are drawn.
import { h } from "../parts/dom.js";
import { countOf, formatValue } from "../parts/format.js";

/** @typedef {{from: number, to: number, text: string}} TimelineNote */

/** An address has room for so many, of so many characters. */
const notesMost = 40;
const noteLongest = 200;

/**
 * Notes from an address, which may be damaged.
 * @param {string | null} text
 * @returns {TimelineNote[]}
 */
export function timelineReadNotes(text) {
  try {
    const list = JSON.parse(text ?? "[]");
    return !Array.isArray(list) ? [] : list.filter((one) => Array.isArray(one) && Number.isFinite(one[0]) &&
      Number.isFinite(one[1]) && one[1] >= one[0] && typeof one[2] === "string" && one[2] !== "").slice(0, notesMost)
      .map(([from, to, note]) => ({ from, to, text: note.slice(0, noteLongest) }));
  } catch {
    return [];
  }
}

/**
 * @param {TimelineNote[]} notes
 * @returns {string | null}
 */
export function timelineNotesText(notes) {
  return notes.length === 0 ? null : JSON.stringify(notes.map(({ from, to, text }) => [from, to, text]));
}

/**
 * The notes with that on a span, which replaces the one that was there; without a text there is none.
 * @param {TimelineNote[]} notes
 * @param {[number, number]} span
 * @param {string} text
 * @returns {TimelineNote[] | null} by time; null: there are too many
 */
export function timelineWithNote(notes, [from, to], text) {
  const others = notes.filter((note) => note.from !== from || note.to !== to);
  const said = text.trim().replaceAll(/\s+/g, " ").slice(0, noteLongest);
  if (said === "") return others;
  if (others.length >= notesMost) return null;
  return [...others, { from, to, text: said }].sort((a, b) => a.from - b.from || a.to - b.to);
}

/**
 * A field for the note on a span.
 * @param {string} text the one that is there
 * @param {(text: string) => void} write
 * @returns {HTMLElement}
 */
export function timelineNoteField(text, write) {
  const field = /** @type {HTMLInputElement} */ (h("input", {
    type: "text", class: "note-field", value: text, maxlength: noteLongest, autocomplete: "off",
    placeholder: "What happens here?", "aria-label": "Note on this span",
  }));
  // No form: the frame of a page that shows others may not send any.
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") write(field.value);
  });
  return h("div", { class: "timeline-actions" }, field, h("button", { type: "button", onclick: () => write(field.value), title: "The note travels in the address of the page" }, text === "" ? "Add note" : "Change note"),
  text === "" ? null : h("button", { type: "button", onclick: () => write("") }, "Remove note"));
}

/** Whether others can open the address: not that of a page which another one shows. */
const isAddressOfPage = () => !["blob:", "about:"].includes(globalThis.location?.protocol);

/**
 * All notes, as ways to their spans.
 * @param {TimelineNote[]} notes
 * @param {(note: TimelineNote) => void} show
 * @param {() => void} copy the address
 * @returns {HTMLElement}
 */
export function timelineNoteList(notes, show, copy) {
  if (notes.length === 0) {
    return h("p", { class: "quiet" }, "No notes. Shift+drag marks a span, a click on the track \"idle: why\" a gap; its details have a field for a note. ",
      isAddressOfPage() ? "Notes are in the address: who opens it sees them." : "Save the page and open it to send notes to others: they are in its address.");
  }
  return h("div", null, h("p", { class: "quiet" }, `${countOf(notes.length, "note")}${isAddressOfPage() ? " in the address of this page. " : ", until this page is closed."}`,
    isAddressOfPage() ? h("button", { type: "button", onclick: copy }, "Copy the address") : null),
  h("ul", { class: "note-list" }, notes.map((note) => h("li", null,
    h("button", { type: "button", class: "link", onclick: () => show(note) }, note.text),
    h("span", { class: "quiet" }, ` ${formatValue(note.to - note.from, "ns")} at ${formatValue(note.from, "ns")}`)))));
}

/**
 * A line over each span with a note, and as much of its text as it has room for.
 * @param {CanvasRenderingContext2D} context
 * @param {import("./paint.js").TimelinePicture} picture
 * @param {{accent: string, text: string, ground: string}} colors
 */
export function timelinePaintNotes(context, { notes, from, to, top, width, height }, colors) {
  const scale = width / (to - from);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  for (const [at, note] of notes.entries()) {
    const left = (note.from - from) * scale, right = Math.max((note.to - from) * scale, left + 2);
    if (right < 0 || left > width) continue;
    const y = top + height - 20;
    context.fillStyle = colors.accent;
    context.globalAlpha = 0.35;
    context.fillRect(left, top, 1, height);
    context.fillRect(right, top, 1, height);
    context.globalAlpha = 1;
    context.fillRect(left, y, right - left, 2);
    // Up to where the next one begins.
    const next = notes[at + 1];
    const x = Math.max(2, left);
    const room = Math.min(width, next ? (next.from - from) * scale : Infinity) - x - 8;
    const letters = Math.floor(room / 5.6);
    if (letters < 3) continue;
    const text = note.text.length <= letters ? note.text : `${note.text.slice(0, letters - 1)}\u2026`;
    context.fillStyle = colors.ground;
    context.globalAlpha = 0.85;
    context.fillRect(x, y + 3, context.measureText(text).width + 8, 16);
    context.globalAlpha = 1;
    context.fillStyle = colors.text;
    context.fillText(text, x + 4, y + 11);
  }
}
