// Makes the flame graph around it interactive: zoom, search, details. What it works on is in the
// document already: a <g> per frame with numbers in data-*, the full text in its <title>, and boxes
// in an order where a frame comes before those on it. Texts of frames are hostile: they are only
// ever compared and set as text.
(function () {
  "use strict";

  const svg = (document.currentScript && document.currentScript.ownerSVGElement) ||
      document.documentElement;
  const find = (selector) => svg.querySelector(selector);
  const width = Number(svg.dataset.width);      // px of the root's box
  const padding = Number(svg.dataset.padding);  // px between the edge of a box and its text
  const gap = Number(svg.dataset.gap);          // px between neighbours
  const board = find(".frames");
  const ui = {
    bar: find(".bar"), reset: find(".reset"), open: find(".open"), field: find(".field"),
    pattern: find(".pattern"), ignore_case: find(".ignore-case"), clear: find(".clear"),
    matched: find(".matched"), details: find(".details"), name: find(".name"),
    figures: find(".figures"),
  };

  const frames = read_frames();
  const frame_by_element = new Map(frames.map((frame) => [frame.element, frame]));
  const column = column_width();  // px of one character
  const state = { zoomed: 0, pattern: "", ignore_case: false };
  let reachable = null;  // the frame that the Tab key leads to

  // ---- frames

  function read_frames() {
    const all = [];
    const path = [];  // the frames below the next one
    for (const element of board.children) {
      const [title, rect, text] = element.children;
      const about = title.textContent;
      const cut = about.lastIndexOf("\n");  // names may have line breaks, figures have none
      const frame = {
        element, rect, text, index: all.length, parent: null, end: 0,
        name: about.slice(0, cut), figures: about.slice(cut + 1),
        start_text: element.dataset.start,
        start: Number(element.dataset.start), total: Number(element.dataset.total),
        depth: Number(element.dataset.depth),
      };
      frame.ascii = /^[\x20-\x7e]*$/.test(frame.name);
      while (path.length > frame.depth) path.pop().end = all.length;
      if (path.length > 0) frame.parent = path[path.length - 1];
      path.push(frame);
      all.push(frame);
    }
    while (path.length > 0) path.pop().end = all.length;  // frames on it: index + 1 to end
    return all;
  }

  function frame_of(node) {
    const element = node instanceof Element ? node.closest(".frames > g") : null;
    return frame_by_element.get(element) || null;
  }

  // ---- text that fits

  function new_text() {
    return document.createElementNS("http://www.w3.org/2000/svg", "text");
  }

  // The estimate of the writer, or more where this browser's font is wider.
  function column_width() {
    const probe = new_text();
    probe.textContent = "0".repeat(100);
    svg.append(probe);
    const measured = probe.getComputedTextLength() / 100;
    probe.remove();
    return Math.max(Number(svg.dataset.column), measured);
  }

  // Same rule as in the writer: CJK, emoji and the like take two columns.
  function columns_of(character) {
    return character.codePointAt(0) < 0x1100 ? 1 : 2;
  }

  function fitted(name, room) {
    let used = 0;
    let kept = 0;  // length of the longest prefix that leaves a column for the ellipsis
    let at = 0;
    for (const character of name) {
      used += columns_of(character);
      if (used > room) return room < 3 ? "" : name.slice(0, kept) + "\u2026";
      at += character.length;
      if (used < room) kept = at;
    }
    return name;
  }

  // ---- drawing

  function draw() {
    const top = frames[state.zoomed];
    const scale = width / top.total;
    const unsure = [];  // boxes whose text may be wider than reckoned
    for (const frame of frames) {
      const inside = frame.index >= top.index && frame.index < top.end;
      const around = !inside && frame.index < top.index && frame.end > top.index;
      frame.element.classList.toggle("hidden", !inside && !around);
      frame.element.classList.toggle("around", around);
      if (inside) place(frame, (frame.start - top.start) * scale, frame.total * scale, unsure);
      if (around) place(frame, 0, width, unsure);
    }
    squeeze(unsure);
    if (reachable === null || reachable.element.classList.contains("hidden")) make_reachable(top);
    ui.reset.disabled = state.zoomed === 0;
  }

  function place(frame, x, box_width, unsure) {
    const drawn = box_width > 4 * gap ? box_width - gap : box_width;
    frame.rect.setAttribute("x", x.toFixed(2));
    frame.rect.setAttribute("width", drawn.toFixed(2));
    const room = Math.floor((drawn - 2 * padding) / column);
    const label = room < 1 ? "" : fitted(frame.name, room);
    if (!frame.text) {
      if (label === "") return;
      frame.text = new_text();
      frame.text.setAttribute("y", Number(frame.rect.getAttribute("y")) + Number(svg.dataset.rise));
      frame.element.append(frame.text);
    }
    frame.text.textContent = label;
    frame.text.setAttribute("x", (x + padding).toFixed(2));
    frame.text.removeAttribute("textLength");
    if (!frame.ascii && label !== "") unsure.push([frame.text, room * column]);
  }

  // Glyphs that come from other fonts can be of any width. Measured all before any is changed, so
  // that the browser lays out once.
  function squeeze(texts) {
    const lengths = texts.map(([text]) => text.getComputedTextLength());
    texts.forEach(([text, room], which) => {
      if (lengths[which] <= room) return;
      text.setAttribute("textLength", room.toFixed(2));
      text.setAttribute("lengthAdjust", "spacingAndGlyphs");
    });
  }

  function show_details(frame) {
    const room = Math.floor(width / column);
    const top = frames[state.zoomed];
    if (frame === null && state.zoomed !== 0) frame = top;
    if (frame === null) {
      ui.name.textContent = fitted("Click a frame to zoom, hover for figures.", room);
      ui.figures.textContent = fitted("Ctrl+F or / searches, Esc goes back, arrow keys walk.", room);
      return;
    }
    let figures = frame.figures;
    if (state.zoomed !== 0 && frame.index >= top.index && frame.index < top.end) {
      figures += "; " + percent(frame.total / top.total, 2) + " of the zoomed frame";
    }
    ui.name.textContent = fitted(frame.name, room);
    ui.figures.textContent = fitted(figures, room);
  }

  function percent(share, digits) {
    return (100 * share).toFixed(digits) + " %";
  }

  // Controls and details stay in the window while a tall picture scrolls below them.
  function keep_in_view() {
    // Not getScreenCTM(): in Firefox it leaves out how far the document is scrolled.
    const box = svg.getBoundingClientRect();
    if (box.height === 0) return;
    const scale = Number(svg.getAttribute("height")) / box.height;
    const window_top = -box.top * scale;
    const window_bottom = (window.innerHeight - box.top) * scale;
    const most = Number(svg.dataset.bottom) - Number(svg.dataset.top);
    const down = Math.min(Math.max(0, window_top - Number(ui.bar.dataset.y)), most);
    const up = Math.min(Math.max(0, Number(ui.details.dataset.end) - window_bottom), most);
    ui.bar.setAttribute("transform", "translate(0 " + down.toFixed(2) + ")");
    ui.details.setAttribute("transform", "translate(0 " + (-up).toFixed(2) + ")");
  }

  // ---- search

  // Distinct texts are tried once, and a match inside a match adds nothing to the share.
  function search() {
    for (const frame of frames) frame.element.classList.remove("match");
    board.classList.toggle("searched", state.pattern !== "");
    ui.matched.classList.remove("wrong");
    ui.matched.textContent = "";
    if (state.pattern === "") return;
    const known = new Map();  // text: whether it matches
    try {
      const expression = new RegExp(state.pattern, state.ignore_case ? "i" : "");
      for (const { name } of frames) {
        // The first test may throw as well: some patterns are too large only when they are used.
        if (!known.has(name)) known.set(name, expression.test(name));
      }
    } catch (error) {
      board.classList.remove("searched");
      ui.matched.classList.add("wrong");
      ui.matched.textContent = "not a regular expression";
      return;
    }
    let matched = 0;
    let count = 0;
    let covered = 0;
    for (const frame of frames) {
      if (frame.index === 0) continue;  // "all" is not a name from the program
      if (!known.get(frame.name)) continue;
      frame.element.classList.add("match");
      ++count;
      if (frame.index < covered) continue;
      matched += frame.total;
      covered = frame.end;
    }
    ui.matched.textContent = "matched: " + percent(matched / frames[0].total, 1) +
        " (" + count + (count === 1 ? " frame)" : " frames)");
  }

  function open_search() {
    ui.field.hidden = false;
    ui.open.setAttribute("aria-expanded", "true");
    ui.pattern.focus();
    ui.pattern.select();
  }

  function set_search(pattern, ignore_case) {
    state.pattern = pattern;
    state.ignore_case = ignore_case;
    search();
    write_fragment(false);
  }

  function clear_search() {
    ui.pattern.value = "";
    set_search("", state.ignore_case);
    ui.field.hidden = true;
    ui.open.setAttribute("aria-expanded", "false");
    ui.open.focus();
  }

  // ---- zoom

  function zoom(frame) {
    if (frame.index === state.zoomed) return;
    state.zoomed = frame.index;
    draw();
    show_details(null);
    write_fragment(true);
  }

  // ---- the fragment of the address: x and y are the start and depth of the zoomed frame, s is the
  // ---- pattern, i=1 ignores case

  function write_fragment(is_step) {
    const parts = [];
    const top = frames[state.zoomed];
    if (state.zoomed !== 0) parts.push("x=" + top.start_text, "y=" + top.depth);
    if (state.pattern !== "") parts.push("s=" + encoded(state.pattern));
    if (state.pattern !== "" && state.ignore_case) parts.push("i=1");
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
    for (const part of location.hash.slice(1).split("&")) {
      const equals = part.indexOf("=");
      if (equals > 0) values.set(part.slice(0, equals), decoded(part.slice(equals + 1)));
    }
    const zoomed = frames.find((frame) =>
        frame.start_text === values.get("x") && String(frame.depth) === values.get("y"));
    state.zoomed = zoomed ? zoomed.index : 0;
    state.pattern = values.get("s") || "";
    state.ignore_case = values.get("i") === "1";
    ui.pattern.value = state.pattern;
    ui.ignore_case.checked = state.ignore_case;
    if (state.pattern !== "") ui.field.hidden = false;
    ui.open.setAttribute("aria-expanded", String(!ui.field.hidden));
    draw();
    search();
    show_details(null);
  }

  // ---- keys

  function neighbour(frame, key) {
    const towards_root = svg.dataset.inverted === "true" ? "ArrowUp" : "ArrowDown";
    const top = frames[state.zoomed];
    if (key === towards_root) return frame.parent;
    if (key === "ArrowUp" || key === "ArrowDown") {
      // On an ancestor of the zoomed frame the only frame that is shown is the one towards it.
      const on_it = frames[frame.index + 1];
      if (frame.index < top.index && frame.end > top.index) {
        let next = top;
        while (next.parent !== frame) next = next.parent;
        return next;
      }
      return on_it && on_it.parent === frame ? on_it : null;
    }
    if (frame.index <= top.index) return null;
    if (key === "ArrowRight") {
      const next = frames[frame.end];
      return next && next.parent === frame.parent ? next : null;
    }
    let before = frames[frame.index - 1];
    while (before.depth > frame.depth) before = before.parent;
    return before.parent === frame.parent ? before : null;
  }

  // One box at a time is a stop of the Tab key; arrows move it.
  function make_reachable(frame) {
    if (reachable === frame) return;
    if (reachable !== null) reachable.element.removeAttribute("tabindex");
    frame.element.setAttribute("tabindex", "0");
    frame.element.setAttribute("role", "button");
    reachable = frame;
  }

  function on_board_key(event) {
    const frame = frame_of(event.target);
    if (frame === null || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      zoom(frame);
    } else if (event.key.startsWith("Arrow")) {
      event.preventDefault();
      const next = neighbour(frame, event.key);
      if (next === null) return;
      make_reachable(next);
      next.element.focus();
    }
  }

  function on_key(event) {
    const typing = event.target === ui.pattern;
    const is_find = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey &&
        event.key.toLowerCase() === "f";
    const is_slash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!typing && (is_find || is_slash)) {  // a second Ctrl+F is the browser's own
      event.preventDefault();
      open_search();
    } else if (event.key === "Escape") {
      if (typing) clear_search();
      else if (state.zoomed !== 0) zoom(frames[0]);
      else if (state.pattern !== "" || !ui.field.hidden) clear_search();
    }
  }

  // ---- start

  const on_frame = (act) => (event) => {
    const frame = frame_of(event.target);
    if (frame !== null) act(frame);
  };
  board.addEventListener("click", on_frame(zoom));
  board.addEventListener("mouseover", on_frame(show_details));
  board.addEventListener("mouseleave", () => show_details(null));
  board.addEventListener("keydown", on_board_key);
  ui.reset.addEventListener("click", () => zoom(frames[0]));
  ui.open.addEventListener("click", open_search);
  ui.clear.addEventListener("click", clear_search);
  for (const control of [ui.pattern, ui.ignore_case]) {
    control.addEventListener("input", () => set_search(ui.pattern.value, ui.ignore_case.checked));
  }
  // Not on an element of the picture: Chromium would let a click focus that element then.
  window.addEventListener("focusin", on_frame(show_details));
  window.addEventListener("keydown", on_key);
  window.addEventListener("hashchange", read_fragment);
  window.addEventListener("scroll", keep_in_view, { passive: true });
  window.addEventListener("resize", keep_in_view);

  ui.bar.removeAttribute("display");
  read_fragment();
  if (svg.dataset.inverted !== "true") window.scrollTo(0, Number(svg.getAttribute("height")));
  keep_in_view();
})();
