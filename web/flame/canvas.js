// Draws a flame graph on a canvas: the boxes in sight, their texts, and what is selected.
import { h, onPrint, paperWidth, setVariable } from "../parts/dom.js";
import { onTheme } from "../parts/theme.js";
import { stackBoxes, stackFrameAt } from "../data/stacks_layout.js";
import { stackKinds, stackPath } from "../data/stacks.js";
import { stackBareName, stackShortName } from "../data/stacks_names.js";

/**
 * @typedef {object} FlameState
 * @property {import("../data/stacks.js").StackModel} model
 * @property {string[]} texts
 * @property {number[]} kinds by text
 * @property {string} rootName what the box of the root says
 * @property {number} zoomed
 * @property {number} selected
 * @property {Uint8Array|null} matches by frame; null without a search
 * @property {boolean} isUp whether the root is at the bottom
 * @property {FlameSides} [sides] of a difference: what frames look like instead of their kinds
 */

/**
 * @typedef {object} FlameSides
 * @property {Uint8Array} shade by frame, 0 much faster to 6 much slower
 * @property {Uint8Array} side by frame: 0 both, 1 gone, 2 new
 */

/**
 * @typedef {object} FlameEvents
 * @property {(frame: number, isShift: boolean) => void} click
 * @property {(frame: number, x: number, y: number) => void} hover frame -1: nothing there
 * @property {(event: KeyboardEvent) => void} key
 */

// Of a level, in px.
const flameRow = 19;
// Size of the font, in px.
const flameText = 12;
// Left and right of a text.
const flamePad = 4;
// Before the names of frames of a difference, by side.
const flameSigns = ["", "\u2212 ", "+ "];

/**
 * @typedef {object} FlameCanvas
 * @property {HTMLElement} element
 * @property {(state: FlameState) => void} show
 * @property {(frame: number) => void} reveal scrolls to a frame's level
 * @property {() => void} focus
 */

/**
 * @param {string} name for screen readers
 * @param {FlameEvents} events
 * @returns {FlameCanvas}
 */
export function flameCanvas(name, events) {
  const canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "flame-canvas",
                                                                 "aria-hidden": true }));
  const space = h("div", { class: "flame-space" }, canvas);
  const swatches = flameSwatches();
  const board = h("div", { class: "flame-board", tabindex: 0, role: "group", "aria-label": name },
                  space);
  const element = h("div", { class: "flame-frame" }, board, swatches);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  /** @type {FlameState|null} */
  let state = null;
  let hovered = -1;
  let width = 0;
  let pending = 0;
  let isPaper = false;
  /** Widths of short names by text, in px; NaN: not measured yet. */
  let measured = new Float32Array(0);
  /** @type {import("../data/stacks_layout.js").StackBoxes|null} */
  let boxes = null;

  /** Levels down to the deepest frame below the zoomed one. */
  let deepest = 0;

  const levels = () => deepest;
  /** @param {number} level */
  const yOf = (level) => (state !== null && state.isUp
    ? (levels() - 1 - level) * flameRow : level * flameRow);

  function soon() {
    if (pending === 0) pending = requestAnimationFrame(draw);
  }

  function draw() {
    pending = 0;
    width = isPaper ? paperWidth : board.clientWidth;
    if (state === null || width === 0) return;
    const all = levels() * flameRow;
    setVariable(space, "height", all + "px");
    const height = isPaper ? all : Math.min(board.clientHeight, all);
    const scale = globalThis.devicePixelRatio || 1;
    const wide = Math.round(width * scale), tall = Math.round(height * scale);
    if (canvas.width !== wide || canvas.height !== tall) {
      canvas.width = wide;
      canvas.height = tall;
      setVariable(canvas, "width", width + "px");
      setVariable(canvas, "height", height + "px");
    }
    const top = isPaper ? 0 : board.scrollTop;
    const rows = [Math.floor(top / flameRow), Math.ceil((top + height) / flameRow)];
    const [first, last] = state.isUp
      ? [Math.max(0, levels() - 1 - rows[1]), levels() - 1 - rows[0]] : rows;
    boxes = stackBoxes(state.model, state.zoomed, width, first, last);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    context.translate(0, -top);
    paint(state, boxes);
  }

  /**
   * @param {FlameState} shown
   * @param {import("../data/stacks_layout.js").StackBoxes} drawn
   */
  function paint(shown, drawn) {
    const colors = flameColors(swatches);
    const zoomedLevel = shown.model.depth[shown.zoomed];
    // Boxes of one colour are filled in a row: changing the colour costs more than a box.
    /** @type {Map<string, number[]>} */
    const byColor = new Map();
    for (let box = 0; box < drawn.count; ++box) {
      const frame = drawn.frame[box];
      const text = shown.model.text[frame];
      const isMatch = shown.matches !== null && shown.matches[frame] === 1;
      const color = isMatch ? colors.match : frame === 0 ? colors.root
        : shown.sides ? colors.shades[shown.sides.shade[frame]] : colors.kinds[shown.kinds[text] ?? 6][text % 3];
      const list = byColor.get(color);
      if (list === undefined) byColor.set(color, [box]);
      else list.push(box);
    }
    for (const [color, list] of byColor) {
      context.fillStyle = color;
      for (const box of list) {
        const isDim = drawn.level[box] < zoomedLevel ||
          (shown.matches !== null && color !== colors.match);
        context.globalAlpha = drawn.merged[box] > 1 ? 0.6 : isDim ? 0.45 : 1;
        const wide = drawn.width[box];
        context.fillRect(drawn.x[box], yOf(drawn.level[box]), wide > 3 ? wide - 1 : wide,
                         flameRow - 1);
      }
    }
    context.globalAlpha = 1;
    if (shown.sides) paintSides(shown.sides, drawn, colors.text);
    context.font = flameText + "px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.fillStyle = colors.text;
    for (let box = 0; box < drawn.count; ++box) {
      if (drawn.width[box] < 22 || drawn.merged[box] > 1) continue;
      const label = labelOfBox(shown, drawn.frame[box], drawn.width[box] - 2 * flamePad - 1);
      if (label === "") continue;
      context.fillText(label, drawn.x[box] + flamePad, yOf(drawn.level[box]) + flameRow / 2);
    }
    if (hovered >= 0) outline(shown, hovered, colors.text, 1);
    if (shown.selected > 0 || document.activeElement === board) {
      outline(shown, shown.selected, colors.text, 2);
    }
  }

  /**
   * Stripes over what is gone, dots over what is new: they need no colour to be seen.
   * @param {FlameSides} sides
   * @param {import("../data/stacks_layout.js").StackBoxes} drawn
   * @param {string} color
   */
  function paintSides(sides, drawn, color) {
    const patterns = [null, flameStripes(context, color), flameDots(context, color)];
    for (let box = 0; box < drawn.count; ++box) {
      const pattern = patterns[sides.side[drawn.frame[box]]];
      if (!pattern || drawn.merged[box] > 1) continue;
      const wide = drawn.width[box];
      context.fillStyle = pattern;
      context.fillRect(drawn.x[box], yOf(drawn.level[box]), wide > 3 ? wide - 1 : wide,
                       flameRow - 1);
    }
  }

  /**
   * @param {FlameState} shown
   * @param {number} frame
   * @param {string} color
   * @param {number} thick
   */
  function outline(shown, frame, color, thick) {
    const { model, zoomed } = shown;
    let x = 0, wide = width;
    if (frame > zoomed && frame < model.end[zoomed]) {
      const scale = model.total[zoomed] > 0 ? width / model.total[zoomed] : 0;
      x = (model.start[frame] - model.start[zoomed]) * scale;
      wide = Math.max(model.total[frame] * scale, 2);
    } else if (frame !== zoomed && model.end[frame] <= zoomed || frame > zoomed) {
      return;
    }
    context.strokeStyle = color;
    context.lineWidth = thick;
    context.strokeRect(x + thick / 2, yOf(model.depth[frame]) + thick / 2,
                       Math.max(1, wide - 1 - thick), flameRow - 1 - thick);
  }

  /**
   * @param {FlameState} shown
   * @param {number} frame
   * @param {number} room
   */
  function labelOfBox(shown, frame, room) {
    if (frame === 0 && shown.rootName !== "") return flameCut(context, shown.rootName, room);
    const text = shown.model.text[frame];
    const kind = shown.kinds[text] ?? 6;
    const sign = flameSigns[shown.sides?.side[frame] ?? 0];
    if (sign !== "") {
      return flameCut(context, sign + stackBareName(shown.texts[text], kind), room);
    }
    const short = stackShortName(shown.texts[text], kind);
    if (measured.length !== shown.texts.length) {
      measured = new Float32Array(shown.texts.length).fill(NaN);
    }
    if (measured[text] !== measured[text]) {
      measured[text] = context.measureText(short.slice(0, 300)).width;
    }
    if (measured[text] <= room) return short.slice(0, 300);
    const bare = stackBareName(shown.texts[text], kind);
    return flameCut(context, bare.length < short.length ? bare : short, room);
  }

  // The frame at a place of the window, -1 without one.
  /** @param {MouseEvent} event */
  function hit(event) {
    if (state === null) return -1;
    const box = canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const row = Math.floor((event.clientY - box.top + board.scrollTop) / flameRow);
    const level = state.isUp ? levels() - 1 - row : row;
    const { model, zoomed } = state;
    if (x < 0 || x >= width || level < 0 || level >= levels()) return -1;
    if (level <= model.depth[zoomed]) return stackPath(model, zoomed)[level];
    // Narrow boxes are one with their neighbours: the widest of them is meant.
    if (boxes !== null) {
      for (let at = 0; at < boxes.count; ++at) {
        if (boxes.level[at] === level && boxes.merged[at] > 1 && boxes.x[at] <= x &&
            x < boxes.x[at] + Math.max(1, boxes.width[at])) return boxes.frame[at];
      }
    }
    return stackFrameAt(model, level, model.start[zoomed] + x * model.total[zoomed] / width);
  }

  /** @param {MouseEvent|null} event */
  function hover(event) {
    const frame = event === null ? -1 : hit(event);
    if (frame !== hovered) soon();
    hovered = frame;
    canvas.classList.toggle("is-pointing", frame >= 0);
    events.hover(frame, event === null ? 0 : event.clientX, event === null ? 0 : event.clientY);
  }

  canvas.addEventListener("mousemove", hover);
  canvas.addEventListener("mouseleave", () => hover(null));
  canvas.addEventListener("click", (event) => {
    // Below the second press of a double click is another frame by now.
    const frame = event.detail > 1 ? -1 : hit(event);
    if (frame < 0) return;
    // On a phone nothing else would hide the tooltip again.
    hover(null);
    events.click(frame, event.shiftKey);
  });
  board.addEventListener("keydown", events.key);
  board.addEventListener("focus", soon);
  board.addEventListener("blur", soon);
  board.addEventListener("scroll", () => { hover(null); soon(); }, { passive: true });
  new ResizeObserver(soon).observe(board);
  onPrint(board, (begins) => {
    isPaper = begins;
    draw();
  });
  onTheme(canvas, draw);

  return {
    element,
    show(next) {
      const isOther = state === null || state.model !== next.model || state.isUp !== next.isUp;
      const { model, zoomed } = next;
      if (isOther || state === null || state.zoomed !== zoomed) {
        deepest = 1 + model.depth.subarray(zoomed, model.end[zoomed])
          .reduce((most, depth) => Math.max(most, depth), 0);
      }
      if (state === null || state.texts !== next.texts) measured = new Float32Array(0);
      state = next;
      if (hovered >= 0) events.hover(-1, 0, 0);
      hovered = -1;
      setVariable(space, "height", levels() * flameRow + "px");
      if (isOther) {
        board.scrollTop = state.isUp ? levels() * flameRow : 0;
      }
      soon();
    },
    reveal(frame) {
      if (state === null) return;
      const y = yOf(state.model.depth[frame]);
      const tall = board.clientHeight;
      if (y < board.scrollTop) board.scrollTop = y - flameRow;
      else if (y + flameRow > board.scrollTop + tall) board.scrollTop = y + 3 * flameRow - tall;
      soon();
    },
    focus: () => board.focus({ preventScroll: true }),
  };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} room in px
 * @returns {string} cut with an ellipsis; empty if hardly anything would be left
 */
function flameCut(context, text, room) {
  const wide = context.measureText(text.slice(0, 300)).width;
  if (wide <= room) return text.slice(0, 300);
  let length = Math.floor(Math.min(text.length, 300) * room / wide);
  while (length > 1 && context.measureText(text.slice(0, length) + "\u2026").width > room) --length;
  return length < 3 ? "" : text.slice(0, length) + "\u2026";
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} color
 * @param {(tile: CanvasRenderingContext2D, size: number) => void} draw
 * @returns {CanvasPattern | null}
 */
function flamePattern(context, color, draw) {
  const size = 6;
  const tile = /** @type {HTMLCanvasElement} */ (h("canvas", { width: size, height: size }));
  const brush = /** @type {CanvasRenderingContext2D} */ (tile.getContext("2d"));
  brush.strokeStyle = brush.fillStyle = color;
  draw(brush, size);
  return context.createPattern(tile, "repeat");
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} color
 */
function flameStripes(context, color) {
  return flamePattern(context, color, (brush, size) => {
    brush.globalAlpha = 0.3;
    brush.lineWidth = 1.5;
    brush.beginPath();
    for (const from of [-size, 0, size]) {
      brush.moveTo(from, size);
      brush.lineTo(from + size, 0);
    }
    brush.stroke();
  });
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} color
 */
function flameDots(context, color) {
  return flamePattern(context, color, (brush) => {
    brush.globalAlpha = 0.38;
    brush.fillRect(1, 1, 1.6, 1.6);
  });
}

/** Elements that are not seen and carry the colours: a canvas cannot read style sheets. */
function flameSwatches() {
  const names = ["flame-text", "flame-match", "flame-root"];
  for (const kind of stackKinds) {
    for (const shade of [0, 1, 2]) names.push(`flame-${kind}-${shade}`);
  }
  for (let shade = 0; shade < 7; ++shade) names.push(`flame-shade${shade}`);
  return h("div", { class: "flame-swatches", "aria-hidden": true },
           names.map((name) => h("span", { class: name })));
}

/**
 * @param {HTMLElement} swatches
 * @returns {{text: string, match: string, root: string, kinds: string[][], shades: string[]}}
 */
function flameColors(swatches) {
  /** @param {number} which */
  const color = (which) =>
    getComputedStyle(swatches.children[which]).color;
  return {
    text: color(0), match: color(1), root: color(2),
    kinds: stackKinds.map((_, kind) => [0, 1, 2].map((shade) => color(3 + 3 * kind + shade))),
    shades: [0, 1, 2, 3, 4, 5, 6].map((shade) => color(3 + 3 * stackKinds.length + shade)),
  };
}
