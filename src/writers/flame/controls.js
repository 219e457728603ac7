// Makes the flame graph around it interactive: zoom, search, callers, details, keys, and the
// fragment of the address, which restores all of these.
import { stackPath, stackSearch } from "../../../web/data/stacks.js";
import { stackCallers } from "../../../web/data/stacks_callers.js";
import { stackFrameAt, stackNeighbour } from "../../../web/data/stacks_layout.js";
import { difference_of_matches, read_picture } from "./model.js";
import { new_view } from "./view.js";

const svg = (document.currentScript && document.currentScript.ownerSVGElement) ||
    document.documentElement;
const find = (selector) => svg.querySelector(selector);
const ui = {
  reset: find(".reset"), callers: find(".callers"), open: find(".open"), field: find(".field"),
  pattern: find(".pattern"), match_case: find(".match-case"), clear: find(".clear"),
  matched: find(".matched"), name: find(".name"), figures: find(".figures"),
};
const picture = read_picture(find(".data").textContent);
const texts = picture.texts;
const difference = picture.difference;
const view = new_view(svg, texts, difference);
const state = {
  model: picture.model,
  function: -1,    // the text whose callers are shown; -1: none
  callers: null,   // of it: {isCut, cut}
  zoomed: 0,
  current: 0,      // the frame that keys act on
  pointed: -1,     // the frame under the mouse; -1: none
  pattern: "", match_case: false,
};

// ---- figures

// As tables have them.
function weight_text(exact) {
  const plain = exact + " " + picture.unit;
  const short = short_weight_text(exact);
  return short === plain ? plain : short + " (" + plain + ")";
}

function short_weight_text(exact) {
  const plain = exact + " " + picture.unit;
  const [step, digits, units] = picture.unit === "ns" ? [1000, 3, ["ns", "us", "ms", "s"]] :
      [1024, 2, ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"]];
  let value = Number(exact);
  if (value < step || units[0] !== picture.unit) return plain;
  let unit = 0;
  do {
    value /= step;
    ++unit;
  } while (value + (digits === 3 ? 0.0005 : 0.005) >= step && unit + 1 < units.length);
  return value.toFixed(digits) + " " + units[unit];
}

function share_text(part, whole) {
  const percent = 100 * part / whole;
  return part > 0 && percent < 0.005 ? "< 0.01 %" : percent.toFixed(2) + " %";
}

function change_text(change) {
  if (change === 0) return "0 ns";
  return (change < 0 ? "-" : "+") + short_weight_text(Math.abs(change));
}

function times_text(base, now) {
  return short_weight_text(base) + " before, " + short_weight_text(now) + " now, " +
      change_text(now - base);
}

function share_of_whole(change) {
  const percent = difference.whole > 0 ? 100 * change / difference.whole : 0;
  if (change !== 0 && Math.abs(percent) < 0.005) return change < 0 ? "> -0.01 %" : "< 0.01 %";
  return (percent < 0 ? "" : "+") + percent.toFixed(2) + " %";
}

// One line about a frame of a difference, as in the writer.
function difference_of(frame) {
  const base = difference.bases[frame], now = difference.news[frame];
  const base_self = difference.base_selves[frame], new_self = difference.new_selves[frame];
  let text = frame === 0 ? "" : ["", "gone: ", "new: "][difference.sides[frame]];
  text += times_text(base, now) + " (" + share_of_whole(now - base) + difference.of_whole + ")";
  if (base !== base_self || now !== new_self) text += "; self " + times_text(base_self, new_self);
  if (frame in difference.was) text += "; before: " + difference.was[frame];
  return text;
}

function left_out_text(count) {
  return "; too many to show: the callers of the " + count.toLocaleString("en-US") +
      (count === 1 ? " narrowest frame are left out" : " narrowest frames are left out");
}

// One line about a frame.
function figures_of(frame) {
  const { model, zoomed } = state;
  if (difference !== null) return difference_of(frame);
  const share = (weight) => share_text(weight, picture.model.total[0]) + " of all";
  const total = weight_text(state.function >= 0 ? model.total[frame] : picture.totals[frame]) + ", " + share(model.total[frame]);
  let text = total;
  if (state.function >= 0) {
    const whole = picture.unit === "ns" ? " of its time" : " of its memory";
    if (frame > 0) text += ", " + share_text(model.total[frame], model.total[0]) + whole;
    if (state.callers.isCut[frame]) text += "; its callers are left out";
    else if (frame === 0 && state.callers.cut > 0) text += left_out_text(state.callers.cut);
    else if (model.self[frame] > 0 && model.self[frame] === model.total[frame]) {
      text += "; nothing calls it";
    }
  } else if (model.self[frame] === model.total[frame]) {
    text += "; all of it self";
  } else if (model.self[frame] === 0) {
    text += "; self 0";
  } else {
    text += "; self " + weight_text(picture.selves[frame]) + ", " + share(model.self[frame]);
  }
  if (zoomed !== 0 && frame >= zoomed && frame < model.end[zoomed]) {
    text += "; " + share_text(model.total[frame], model.total[zoomed]) + " of the zoomed frame";
  }
  return text;
}

function name_of(frame) {
  return texts[state.model.text[frame]].name;
}

function about(frame) {
  return frame < 0 ? "" : name_of(frame) + "\n" + figures_of(frame);
}

// Without its middle if there is no room for it, because a path says most at its end.
function shortened(text, room) {
  const whole = view.fitted(text, room);
  if (whole === text || room < 20 || !/^[\x20-\x7e]*$/.test(text)) return whole;
  const head = Math.floor(room / 4);
  return text.slice(0, head) + "\u2026" + text.slice(text.length - (room - head - 1));
}

function show_details(frame) {
  if (frame < 0 && (state.zoomed !== 0 || state.function >= 0)) frame = state.zoomed;
  const room = view.columns();
  const show = (name, figures) => {
    ui.name.textContent = name;
    ui.figures.textContent = view.fitted(figures, room);
  };
  if (frame < 0) {
    const callers = difference === null;
    const hint = "Click a frame to zoom, " + (callers ? "Shift+click for its callers, " : "") +
        "hover for figures.";
    show(view.fitted(hint, room), "Ctrl+F or / searches, arrow keys walk, " +
         (callers ? "c shows callers, " : "") + "Esc goes back.");
    return;
  }
  const is_function = state.function >= 0 && frame === 0;
  show(shortened((is_function ? "Callers of " : "") + name_of(frame), room), figures_of(frame));
}

// ---- what is shown

function matches() {
  ui.matched.classList.remove("wrong");
  ui.matched.textContent = "";
  if (state.pattern === "") return null;
  try {
    const expression = new RegExp(state.pattern, state.match_case ? "" : "i");
    // The first test may throw as well: some patterns are too large only when they are used.
    const found = stackSearch(state.model, picture.names, (name) => expression.test(name));
    const count = found.count + (found.count === 1 ? " frame" : " frames");
    if (difference === null) {
      ui.matched.textContent = "matched: " + (100 * found.weight / state.model.total[0]).toFixed(1) + " % (" + count + ")";
    } else {
      const { base, now } = difference_of_matches(state.model, difference, found.matches);
      ui.matched.textContent = "matched: " + count + ", " + times_text(base, now);
    }
    return found.matches;
  } catch (error) {
    ui.matched.classList.add("wrong");
    ui.matched.textContent = "not a regular expression";
    return null;
  }
}

function show() {
  view.show(state.model, state.zoomed, matches());
  if (view.box_of(state.current) === null) state.current = state.zoomed;
  view.focus_on(state.current, about(state.current));
  point_at(-1);
  ui.reset.disabled = state.zoomed === 0;
  ui.callers.textContent = state.function >= 0 ? "All frames" : "Callers";
  ui.callers.disabled = state.function < 0 && state.zoomed === 0 && state.current === 0;
}

function point_at(frame) {
  state.pointed = frame;
  view.point_at(frame, about(frame));
  show_details(frame);
}

function zoom(frame) {
  if (frame < 0 || frame === state.zoomed) return;
  state.zoomed = frame;
  state.current = frame;
  show();
  if (frame !== 0) view.reveal(frame);
  write_fragment(true);
}

// `text` -1: back to all frames.
function show_callers(text) {
  if (text === state.function || text === 0 || difference !== null) return;
  set_function(text);
  show();
  write_fragment(true);
}

function set_function(text) {
  // What a frame took before and now is not known by caller.
  if (text === state.function || difference !== null) return;
  state.callers = text < 0 ? null : stackCallers(picture.model, text, "weight", []);
  state.model = text < 0 ? picture.model : state.callers.model;
  state.function = text;
  state.zoomed = 0;
  state.current = 0;
}

// ---- search

function open_search() {
  ui.field.hidden = false;
  ui.open.setAttribute("aria-expanded", "true");
  ui.pattern.focus();
  ui.pattern.select();
}

function set_search(pattern, match_case) {
  state.pattern = pattern;
  state.match_case = match_case;
  show();
  view.reveal_match();
  write_fragment(false);
}

function clear_search() {
  ui.pattern.value = "";
  set_search("", state.match_case);
  ui.field.hidden = true;
  ui.open.setAttribute("aria-expanded", "false");
  ui.open.focus();
}

// ---- the fragment of the address: c is the function whose callers are shown, x and y are the
// ---- start and depth of the zoomed frame, s is the pattern, m=1 matches the case

function write_fragment(is_step) {
  if (!view.owns_page) return;
  const parts = [];
  const { model, zoomed } = state;
  if (state.function >= 0) parts.push("c=" + encoded(texts[state.function].name));
  if (zoomed !== 0) parts.push("x=" + model.start[zoomed], "y=" + model.depth[zoomed]);
  if (state.pattern !== "") parts.push("s=" + encoded(state.pattern));
  if (state.pattern !== "" && state.match_case) parts.push("m=1");
  const address = location.href.split("#")[0] + (parts.length > 0 ? "#" + parts.join("&") : "");
  try {
    if (is_step) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
  } catch (error) {
    // Some sandboxes forbid it; the picture works without.
  }
}

function encoded(text) {
  try {
    return encodeURIComponent(text);
  } catch (error) {
    return "";  // half a surrogate pair
  }
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    return "";
  }
}

function read_fragment() {
  const values = new Map();
  for (const part of view.owns_page ? location.hash.slice(1).split("&") : []) {
    const equals = part.indexOf("=");
    if (equals > 0) values.set(part.slice(0, equals), decoded(part.slice(equals + 1)));
  }
  const is_known = (entry, which) => which > 0 && entry.name === values.get("c");
  set_function(values.has("c") ? texts.findIndex(is_known) : -1);
  const { model } = state;
  const frame = stackFrameAt(model, Number(values.get("y") || NaN), Number(values.get("x") || NaN));
  const is_exact = frame > 0 && String(model.start[frame]) === values.get("x");
  state.zoomed = is_exact ? frame : 0;
  state.current = state.zoomed;
  state.pattern = values.get("s") || "";
  state.match_case = values.get("m") === "1";
  ui.pattern.value = state.pattern;
  ui.match_case.checked = state.match_case;
  if (state.pattern !== "") ui.field.hidden = false;
  ui.open.setAttribute("aria-expanded", String(!ui.field.hidden));
  show();
  if (state.zoomed !== 0) view.reveal(state.zoomed);
  else view.reveal_match();
}

// ---- keys

// -1 if there is none.
function neighbour(frame, key) {
  const { model, zoomed } = state;
  const depth = model.depth[frame];
  if (key === (view.is_inverted ? "ArrowUp" : "ArrowDown")) return model.parent[frame];
  if (key === "ArrowUp" || key === "ArrowDown") {
    // On an ancestor of the zoomed frame the only frame that is shown is the one towards it.
    if (depth < model.depth[zoomed]) return stackPath(model, zoomed)[depth + 1];
    return model.end[frame] > frame + 1 ? frame + 1 : -1;
  }
  if (depth <= model.depth[zoomed]) return -1;
  return stackNeighbour(model, frame, key === "ArrowRight" ? 1 : -1);
}

function walk(key) {
  const next = neighbour(state.current, key);
  if (next < 0) return;
  state.current = next;
  view.reveal(next);
  view.focus_on(next, about(next));
  view.focus.focus({ preventScroll: true });
  show_details(next);
  ui.callers.disabled = state.function < 0 && next === 0;
}

function go_back() {
  if (state.zoomed !== 0) zoom(0);
  else if (state.function >= 0) show_callers(-1);
  else if (state.pattern !== "" || !ui.field.hidden) clear_search();
}

// Whether someone types into the page around the picture.
function is_of_page(target) {
  return !svg.contains(target) &&
      (target.isContentEditable || /^(input|textarea|select)$/i.test(target.localName));
}

function on_key(event) {
  if (is_of_page(event.target)) return;
  const typing = event.target === ui.pattern;
  const on_frame = event.target === view.focus;
  const key = event.key;
  const is_plain = !event.ctrlKey && !event.metaKey && !event.altKey;
  const is_find = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey &&
      key.toLowerCase() === "f";
  const act = (action) => {
    event.preventDefault();
    action();
  };
  if (key === "Escape") {
    if (typing) clear_search();
    else go_back();
  } else if (typing) {
    return;  // a second Ctrl+F is the browser's own
  } else if (is_find || (key === "/" && is_plain)) {
    act(open_search);
  } else if (key === "c" && is_plain) {
    const frame = state.pointed >= 0 && !on_frame ? state.pointed : state.current;
    act(() => show_callers(state.model.text[frame]));
  } else if (on_frame && is_plain && (key === "Enter" || key === " ")) {
    act(() => zoom(state.current));
  } else if (on_frame && is_plain && key.startsWith("Arrow")) {
    act(() => walk(key));
  }
}

// ---- start

view.board.addEventListener("click", (event) => {
  const frame = view.hit(event.clientX, event.clientY);
  if (frame < 0) return;
  if (event.shiftKey) show_callers(state.model.text[frame]);
  else zoom(frame);
});
view.board.addEventListener("mousemove", (event) => {
  const frame = view.hit(event.clientX, event.clientY);
  if (frame !== state.pointed) point_at(frame);
});
view.board.addEventListener("mouseleave", () => point_at(-1));
ui.reset.addEventListener("click", () => zoom(0));
ui.callers.addEventListener("click", () => {
  if (state.function >= 0) show_callers(-1);
  else show_callers(state.model.text[state.current !== 0 ? state.current : state.zoomed]);
});
ui.open.addEventListener("click", open_search);
ui.clear.addEventListener("click", clear_search);
for (const control of [ui.pattern, ui.match_case]) {
  control.addEventListener("input", () => set_search(ui.pattern.value, ui.match_case.checked));
}
// Not on an element of the picture: Chromium would let a click focus that element then.
window.addEventListener("focusin", (event) => {
  if (event.target === view.focus) show_details(state.current);
});
window.addEventListener("keydown", on_key);
if (view.owns_page) window.addEventListener("hashchange", read_fragment);
window.addEventListener("scroll", view.scrolled, { passive: true });
window.addEventListener("beforeprint", view.draw_all);
window.addEventListener("afterprint", view.resize);
window.addEventListener("resize", () => {
  view.resize();
  view.focus_on(state.current, about(state.current));
  point_at(-1);
});

ui.callers.hidden = difference !== null;
find(".bar").removeAttribute("display");
read_fragment();
