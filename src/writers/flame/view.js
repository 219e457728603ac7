// Draws what is shown of a model: the frames in the window that are wide enough. Equal boxes share
// one <path>, so that a zoom makes few elements however many frames there are.
import { stackPath } from "../../../web/data/stacks.js";
import { stackFrameAt, stackPlaceAt } from "../../../web/data/stacks_layout.js";

const kSvg = "http://www.w3.org/2000/svg";

function new_element(name, attributes = {}) {
  const element = document.createElementNS(kSvg, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

// `svg`: the picture. `texts`, `difference`: see read_picture().
export function new_view(svg, texts, difference) {
  const find = (selector) => svg.querySelector(selector);
  const value = (name) => Number(svg.dataset[name]);
  const margin = value("margin"), padding = value("padding"), gap = value("gap");
  const level_height = value("level"), box_height = value("box"), rise = value("rise");
  const is_inverted = svg.dataset.inverted === "true";
  const owns_page = svg === document.documentElement;
  const fits_window = svg.dataset.fit === "true" && owns_page;
  const kRowsBesideView = 5;   // levels that are drawn above and below the window
  const kNarrowest = 1;        // px; narrower neighbours are drawn as one box
  const kFaintest = 0.1;       // px; what is narrower is not seen
  const kTypes = ["inside", "inside match", "around", "around match"];

  const board = find(".frames"), bar = find(".bar"), details = find(".details");
  const ground = new_element("rect", { class: "ground" });
  const boxes = new_element("g", { class: "boxes" });
  const labels = new_element("g", { class: "labels" });
  const outline = new_outline("pointed");
  const focus = new_outline("current");
  focus.group.setAttribute("role", "button");
  focus.group.setAttribute("tabindex", "0");
  find(".still").remove();
  board.append(ground, boxes, outline.group, focus.group, labels);

  // Of a difference: over the colour of a frame, and before its name.
  const kPatterns = ["", "url(#gone)", "url(#added)"];
  const kSigns = ["", "- ", "+ "];
  const side_of = (frame) => difference === null || frame === 0 ? 0 : Number(difference.sides[frame]);
  const color_of = (frame) => difference === null ? texts[shown.model.text[frame]].color
                                                  : difference.palette[difference.shades[frame]];

  const column = column_width();  // px of one character
  const geometry = { width: value("width"), top: 0, bottom: 0, height: 0, extra: 0 };
  let shown = null;               // {model, zoomed, path, matches}
  let drawn = [0, 0];             // levels

  function new_outline(name) {
    const group = new_element("g", { class: name, display: "none" });
    const title = new_element("title");
    const rect = new_element("rect", { height: box_height });
    group.append(title, rect);
    return { group, title, rect };
  }

  // ---- places

  function level_count() {
    return shown.model.levelStart.length - 1;
  }

  // Where the window gives the width, controls may need more rows than in the still picture.
  function measure(levels) {
    const rows = (width) => width >= 900 ? 1 : width >= 470 ? 2 : 4;  // as in the writer
    const full = geometry.width + 2 * margin;
    geometry.extra = (rows(full) - rows(value("width") + 2 * margin)) * value("controls");
    geometry.top = value("top") + geometry.extra;
    geometry.bottom = geometry.top + levels * level_height;
    geometry.height = geometry.bottom + value("below");
    svg.setAttribute("height", geometry.height);
    svg.setAttribute("viewBox", "0 0 " + full + " " + geometry.height);
    const controls = find(".bar foreignObject");
    const height = value("controls") * rows(full);
    controls.setAttribute("width", geometry.width);
    controls.setAttribute("height", height);
    find(".bar .panel").setAttribute("height", height);
    ground.setAttribute("y", geometry.top);
    ground.setAttribute("width", geometry.width);
    ground.setAttribute("height", geometry.bottom - geometry.top);
  }

  function fit(levels) {
    if (!fits_window) return measure(levels);
    svg.setAttribute("width", "100%");
    for (let time = 0; time < 2; ++time) {  // a first height can bring a scroll bar
      geometry.width = Math.max(200, svg.getBoundingClientRect().width) - 2 * margin;
      measure(levels);
    }
  }

  function y_of(level) {
    return is_inverted ? geometry.top + level * level_height
                       : geometry.bottom - (level + 1) * level_height;
  }

  // In px of the picture. Not by getScreenCTM(): in Firefox it leaves out how far the document is
  // scrolled.
  function place_of_window() {
    const box = svg.getBoundingClientRect();
    if (box.height === 0) return { left: 0, top: 0, bottom: geometry.height, scale: 1 };
    const scale = geometry.height / box.height;
    return { left: -box.left * scale, top: -box.top * scale,
             bottom: (window.innerHeight - box.top) * scale, scale };
  }

  function levels_in_window(beside) {
    const { top, bottom } = place_of_window();
    const last_level = level_count() - 1;
    const at = (y) => is_inverted ? Math.floor((y - geometry.top) / level_height)
                                  : Math.floor((geometry.bottom - y) / level_height);
    const [one, other] = is_inverted ? [at(top), at(bottom)] : [at(bottom), at(top)];
    return [Math.min(Math.max(0, one - beside), last_level),
            Math.min(Math.max(0, other + beside), last_level)];
  }

  // The frame at a place in the window, -1 if there is none.
  function hit(client_x, client_y) {
    const { left, top, scale } = place_of_window();
    const x = client_x * scale + left - margin;
    const y = client_y * scale + top;
    if (x < 0 || x >= geometry.width || y < geometry.top || y >= geometry.bottom) return -1;
    const level = is_inverted ? Math.floor((y - geometry.top) / level_height)
                              : Math.ceil((geometry.bottom - y) / level_height) - 1;
    const { model, zoomed, path } = shown;
    if (level < path.length) return path[level];
    return stackFrameAt(model, level, model.start[zoomed] + x * model.total[zoomed] / geometry.width);
  }

  // The box of a frame, in px from the left of the root's; null if it is not shown.
  function box_of(frame) {
    const { model, zoomed, path } = shown;
    if (path[model.depth[frame]] === frame) return { x: 0, width: geometry.width };
    if (frame < zoomed || frame >= model.end[zoomed]) return null;
    const scale = geometry.width / model.total[zoomed];
    return { x: (model.start[frame] - model.start[zoomed]) * scale,
             width: model.total[frame] * scale };
  }

  // ---- text that fits

  // The estimate of the writer, or more where this browser's font is wider.
  function column_width() {
    const probe = new_element("text");
    probe.textContent = "0".repeat(100);
    svg.append(probe);
    const measured = probe.getComputedTextLength() / 100;
    probe.remove();
    return Math.max(value("column"), measured);
  }

  // Same rule as in the writer: CJK, emoji and the like take two columns.
  function columns_of(character) {
    return character.codePointAt(0) < 0x1100 ? 1 : 2;
  }

  // Cut with an ellipsis to `room` columns; empty if hardly anything would be left.
  function fitted(text, room) {
    let used = 0;
    let kept = 0;  // length of the longest prefix that leaves a column for the ellipsis
    let at = 0;
    for (const character of text) {
      used += columns_of(character);
      if (used > room) return room < 3 ? "" : text.slice(0, kept) + "\u2026";
      at += character.length;
      if (used < room) kept = at;
    }
    return text;
  }

  // The longest label that fits, or what fits of the shortest one.
  function label_of(text, room) {
    let label = "";
    for (const form of text.labels) {
      label = text.is_ascii && form.length <= room ? form : fitted(form, room);
      if (label === form) break;
    }
    return label;
  }

  // Glyphs that come from other fonts can be of any width. Measured all before any is changed, so
  // that the browser lays out once.
  function squeeze(unsure) {
    const lengths = unsure.map(([element]) => element.getComputedTextLength());
    unsure.forEach(([element, room], which) => {
      if (lengths[which] <= room) return;
      element.setAttribute("textLength", room.toFixed(2));
      element.setAttribute("lengthAdjust", "spacingAndGlyphs");
    });
  }

  // ---- drawing

  class Drawing {
    constructor() {
      this.paths = new Map();  // by fill, then by type
      this.labels = [];
    }

    box(x, y, width, fill, type) {
      let of_fill = this.paths.get(fill);
      if (of_fill === undefined) this.paths.set(fill, of_fill = []);
      if (of_fill[type] === undefined) of_fill[type] = [];
      const drawn_width = round(width > 4 * gap ? width - gap : width);
      of_fill[type].push("M" + round(x) + " " + y + "h" + drawn_width + "v" + box_height + "h-" +
                         drawn_width + "z");
    }

    frame(frame, x, y, width, is_around) {
      const text = texts[shown.model.text[frame]];
      const is_match = shown.matches !== null && shown.matches[frame] === 1;
      const side = side_of(frame);
      this.box(x, y, width, color_of(frame), type_of(is_match, is_around));
      if (side !== 0) this.box(x, y, width, kPatterns[side], type_of(false, is_around));
      const room = Math.floor(((width > 4 * gap ? width - gap : width) - 2 * padding) / column) -
          kSigns[side].length;
      const label = room < 1 ? "" : label_of(text, room);
      if (label === "") return;
      this.labels.push({ label: kSigns[side] + label, x: x + padding, y: y + rise,
                         room: room + kSigns[side].length, text });
    }

    show() {
      const paths = [];
      // Patterns lie over colours.
      const fills = [...this.paths].sort(([a], [b]) => kPatterns.indexOf(a) - kPatterns.indexOf(b));
      for (const [fill, of_fill] of fills) {
        const over = kPatterns.includes(fill) ? " over" : "";
        of_fill.forEach((parts, type) => {
          paths.push(new_element("path", { class: kTypes[type] + over, fill, d: parts.join("") }));
        });
      }
      boxes.replaceChildren(...paths);
      while (labels.childElementCount > this.labels.length) labels.lastElementChild.remove();
      while (labels.childElementCount < this.labels.length) labels.append(new_element("text"));
      const unsure = [];
      let element = labels.firstElementChild;
      for (const { label, x, y, room, text } of this.labels) {
        if (element.firstChild) element.firstChild.data = label;
        else element.textContent = label;
        element.setAttribute("x", round(x));
        element.setAttribute("y", y);
        element.removeAttribute("textLength");
        if (!text.is_ascii) unsure.push([element, room * column]);
        element = element.nextElementSibling;
      }
      squeeze(unsure);
    }
  }

  function round(px) {
    return Math.round(px * 100) / 100;
  }

  function type_of(is_match, is_around) {
    return (is_around ? 2 : 0) + (is_match ? 1 : 0);
  }

  function draw_level(drawing, level, from, to, scale) {
    const { model, matches } = shown;
    const y = y_of(level);
    let run = null;  // narrow neighbours
    const draw_run = () => {
      if (run !== null && run.end - run.start >= kFaintest) {
        drawing.box(run.start, y, run.end - run.start, run.color, type_of(run.is_match, false));
      }
      run = null;
    };
    for (let place = stackPlaceAt(model, level, from); place < model.levelStart[level + 1]; ++place) {
      const frame = model.levelFrames[place];
      if (model.start[frame] >= to) break;
      const x = (model.start[frame] - from) * scale;
      const width = model.total[frame] * scale;
      if (width >= kNarrowest) {
        draw_run();
        drawing.frame(frame, x, y, width, false);
        continue;
      }
      if (run !== null && (run.end - run.start >= kNarrowest || x - run.end > kNarrowest / 2)) {
        draw_run();
      }
      if (run === null) run = { start: x, end: x, is_match: false, color: "" };
      run.end = x + width;
      run.color = color_of(frame);
      run.is_match = run.is_match || (matches !== null && matches[frame] === 1);
    }
    draw_run();
  }

  function draw(levels = levels_in_window(kRowsBesideView)) {
    const { model, zoomed, path } = shown;
    const [first, last] = drawn = levels;
    const from = model.start[zoomed];
    const to = from + model.total[zoomed];
    const scale = geometry.width / model.total[zoomed];
    const drawing = new Drawing();
    boxes.classList.toggle("searched", shown.matches !== null);
    for (let level = first; level <= last; ++level) {
      if (level < path.length) {
        const is_around = level + 1 < path.length;
        drawing.frame(path[level], 0, y_of(level), geometry.width, is_around);
      } else {
        draw_level(drawing, level, from, to, scale);
      }
    }
    drawing.show();
  }

  // Controls and details stay in the window while a tall picture scrolls below them.
  function keep_in_view() {
    const { top, bottom } = place_of_window();
    const moved = geometry.bottom - value("bottom");
    const most = geometry.bottom - geometry.top;
    const down = Math.min(Math.max(0, top - Number(bar.dataset.y)), most);
    const end = Number(details.dataset.end) + moved;
    const up = Math.min(Math.max(0, end - bottom), most);
    bar.setAttribute("transform", "translate(0 " + down.toFixed(2) + ")");
    details.setAttribute("transform", "translate(0 " + (moved - up).toFixed(2) + ")");
  }

  // How far a level is outside of what can be seen between controls and details, in px; 0 if it is
  // seen.
  function distance_to(level) {
    const { top, bottom } = place_of_window();
    const first = top + Number(find(".bar .panel").getAttribute("height"));
    const last = bottom - value("below");
    const y = y_of(level);
    if (y < first) return y - first - level_height;
    return y + level_height > last ? y + 2 * level_height - last : 0;
  }

  function scroll_to(level) {
    const distance = distance_to(level);
    if (!owns_page || distance === 0) return;
    window.scrollBy(0, distance / place_of_window().scale);
    scrolled();
  }

  function has_match(level) {
    const { model, zoomed, path, matches } = shown;
    if (level < path.length) return matches[path[level]] === 1;
    const least = kNarrowest * model.total[zoomed] / geometry.width;
    return model.levelFrames.subarray(model.levelStart[level], model.levelStart[level + 1])
      .some((frame) => matches[frame] === 1 && frame > zoomed && frame < model.end[zoomed] &&
                       model.total[frame] >= least);
  }

  function scrolled() {
    const [first, last] = levels_in_window(0);
    if (first < drawn[0] || last > drawn[1]) draw();
    keep_in_view();
  }

  function put_outline(which, frame, about) {
    const box = frame < 0 ? null : box_of(frame);
    if (box === null) return which.group.setAttribute("display", "none");
    which.group.removeAttribute("display");
    which.rect.setAttribute("x", round(box.x));
    which.rect.setAttribute("y", y_of(shown.model.depth[frame]));
    which.rect.setAttribute("width", round(Math.max(box.width - gap, 1)));
    if (which.title.textContent !== about) which.title.textContent = about;
  }

  return {
    board, focus: focus.group, is_inverted, owns_page, fitted, hit, box_of, scrolled,
    columns: () => Math.floor(geometry.width / column),

    // `matches`: by frame, null without a search.
    show(model, zoomed, matches) {
      const is_new = shown === null || shown.model !== model;
      shown = { model, zoomed, matches, path: stackPath(model, zoomed) };
      if (is_new) fit(level_count());
      if (is_new && owns_page) window.scrollTo(0, is_inverted ? 0 : geometry.height);
      draw();
      keep_in_view();
    },

    resize() {
      fit(level_count());
      draw();
      keep_in_view();
    },

    // For paper, which has no window.
    draw_all() {
      draw([0, level_count() - 1]);
      details.setAttribute("transform",
                           "translate(0 " + (geometry.bottom - value("bottom")) + ")");
    },

    // Scrolls the level of a frame into the window.
    reveal: (frame) => scroll_to(shown.model.depth[frame]),

    // The same for the lowest level with a match that is wide enough, if none is in the window.
    reveal_match() {
      if (shown.matches === null || !owns_page) return;
      const levels = [...Array(level_count()).keys()].filter(has_match);
      if (levels.length > 0 && !levels.some((level) => distance_to(level) === 0)) {
        scroll_to(levels[0]);
      }
    },

    point_at: (frame, about) => put_outline(outline, frame, about),
    focus_on(frame, about) {
      put_outline(focus, frame, about);
      focus.group.setAttribute("aria-label", about);
    },
  };
}
