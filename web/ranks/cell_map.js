// A map of cells: rows and columns with names, a colour for each cell, a cursor for mouse, touch and keys.
import { h, onWidth } from "../parts/dom.js";
import { onTheme } from "../parts/theme.js";

/**
 * @typedef {object} CellMapData
 * @property {string} name for people who hear the page
 * @property {string[]} rows names
 * @property {string[]} columns names
 * @property {string} rowTitle
 * @property {string} columnTitle
 * @property {string[]} shades classes of the scale of colours
 * @property {(row: number, column: number) => number | null} shade its place in the scale; null: there is nothing
 * @property {(row: number, column: number) => string} words
 * @property {(row: number, column: number) => boolean} [isMarked]
 * @property {(row: number) => boolean} [isStrong] a row whose name stands out
 * @property {(row: number, column: number, isTouch: boolean) => void} [pick] without it a click does nothing
 * @property {[number, number]} [first] where the cursor is first
 */

/** Sizes in pixels. */
const mapFont = 11;
const mapFoot = 34;
const mapTallest = 24;
const mapLowest = 2;
const mapWidest = 64;
const mapHighest = 620;

/**
 * @param {CellMapData} data
 * @returns {HTMLElement}
 */
export function cellMap(data) {
  const { rows, columns } = data;
  const canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "cell-canvas", "aria-hidden": true }));
  const readout = h("p", { class: "chart-readout", "aria-live": "polite" });
  const board = h("div", {
    class: data.pick ? "cell-board picks" : "cell-board", tabindex: 0, role: "slider", "aria-label": data.name, "aria-valuemin": 1,
    "aria-valuemax": rows.length * columns.length,
  }, canvas);
  let [row, column] = data.first ?? [0, 0];
  let width = 0;
  let colors = colorsOf(data.shades);
  const tall = Math.max(mapLowest, Math.min(mapTallest, Math.floor(mapHighest / rows.length)));
  const left = Math.min(150, 16 + 6.4 * rows.reduce((most, { length }) => Math.max(most, length), 0));
  const wide = () => Math.max(3, Math.min(mapWidest, (width - left) / columns.length));
  const gap = () => (wide() > 8 && tall > 8 ? 1 : 0);

  function paint() {
    const scale = devicePixelRatio || 1;
    const all = left + wide() * columns.length;
    const height = tall * rows.length + mapFoot;
    canvas.width = Math.round(all * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.setProperty("width", `${all}px`);
    canvas.style.setProperty("height", `${height}px`);
    const context = canvas.getContext("2d");
    if (!context) return;
    context.scale(scale, scale);
    const style = getComputedStyle(board);
    const text = style.getPropertyValue("--text"), quiet = style.getPropertyValue("--quiet");
    context.font = `${mapFont}px ${style.fontFamily}`;
    for (let y = 0; y < rows.length; y++) {
      for (let x = 0; x < columns.length; x++) {
        const shade = data.shade(y, x);
        if (shade === null) continue;
        context.fillStyle = colorBetween(colors, shade);
        context.fillRect(left + x * wide(), y * tall, wide() - gap(), tall - gap());
        if (!data.isMarked?.(y, x) || tall < 9) continue;
        context.fillStyle = text;
        context.beginPath();
        context.arc(left + (x + 0.5) * wide() - gap() / 2, (y + 0.5) * tall - gap() / 2,
                    Math.min(2.5, wide() / 3), 0, 7);
        context.fill();
      }
    }
    // As many names as fit.
    const everyRow = Math.ceil((mapFont + 2) / tall);
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (let y = 0; y < rows.length; y++) {
      const isStrong = data.isStrong?.(y) ?? false;
      if (y % everyRow !== 0 && !isStrong) continue;
      // A name that stands out keeps others away.
      if (!isStrong && tall < mapFont + 2) {
        const near = Array.from({ length: 2 * everyRow - 1 }, (_, at) => y - everyRow + 1 + at);
        if (near.some((other) => other !== y && other >= 0 && other < rows.length && data.isStrong?.(other))) continue;
      }
      context.fillStyle = isStrong ? text : quiet;
      context.font = `${isStrong ? "bold " : ""}${mapFont}px ${style.fontFamily}`;
      context.fillText(rows[y], left - 6, (y + 0.5) * tall, left - 8);
    }
    context.font = `${mapFont}px ${style.fontFamily}`;
    context.fillStyle = quiet;
    context.textAlign = "center";
    const longest = columns.reduce((most, { length }) => Math.max(most, length), 1);
    const everyColumn = Math.ceil((longest * 6.6 + 8) / wide());
    for (let x = 0; x < columns.length; x += everyColumn) {
      context.fillText(columns[x], left + (x + 0.5) * wide(), rows.length * tall + 10);
    }
    context.textAlign = "left";
    context.fillText(data.columnTitle, left, rows.length * tall + 26);
    context.strokeStyle = text;
    context.lineWidth = 2;
    context.strokeRect(left + column * wide(), row * tall, Math.max(3, wide() - gap()), Math.max(3, tall - gap()));
  }

  function show() {
    const words = data.words(row, column);
    readout.textContent = words;
    board.setAttribute("aria-valuenow", String(row * columns.length + column + 1));
    board.setAttribute("aria-valuetext", words);
    paint();
  }

  /**
   * @param {number} toRow
   * @param {number} toColumn
   */
  function move(toRow, toColumn) {
    row = Math.max(0, Math.min(rows.length - 1, toRow));
    column = Math.max(0, Math.min(columns.length - 1, toColumn));
    show();
    const x = left + column * wide();
    if (x < board.scrollLeft + left) board.scrollLeft = x - left;
    else if (x + wide() > board.scrollLeft + board.clientWidth) board.scrollLeft = x + wide() - board.clientWidth;
  }

  /** @param {MouseEvent} event */
  function cellAt(event) {
    const frame = canvas.getBoundingClientRect();
    const x = Math.floor((event.clientX - frame.left - left) / wide());
    const y = Math.floor((event.clientY - frame.top) / tall);
    return x >= 0 && x < columns.length && y >= 0 && y < rows.length ? [y, x] : null;
  }

  board.addEventListener("pointermove", (event) => {
    const cell = event.pointerType === "mouse" ? cellAt(event) : null;
    if (cell && (cell[0] !== row || cell[1] !== column)) {
      [row, column] = cell;
      show();
    }
  });
  let isTouch = false;
  board.addEventListener("pointerdown", (event) => { isTouch = event.pointerType !== "mouse"; });
  board.addEventListener("click", (event) => {
    const cell = cellAt(event);
    if (!cell) return;
    [row, column] = cell;
    show();
    data.pick?.(row, column, isTouch);
  });
  board.addEventListener("keydown", (event) => {
    const moves = /** @type {{[key: string]: [number, number]}} */ ({
      ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1], ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column], Home: [row, 0], End: [row, columns.length - 1],
      PageUp: [row - 10, column], PageDown: [row + 10, column],
    });
    if (event.key === "Enter" || event.key === " ") data.pick?.(row, column, false);
    else if (moves[event.key]) move(...moves[event.key]);
    else return;
    event.preventDefault();
  });
  onWidth(board, (next) => {
    width = next;
    show();
  });
  onTheme(board, () => {
    colors = colorsOf(data.shades);
    paint();
  });
  return h("div", { class: "cell-map" },
    h("p", { class: "cell-title quiet", "aria-hidden": true }, data.rowTitle), board, readout);
}

/**
 * The colours of a scale, from the style sheet.
 * @param {string[]} classes
 * @returns {string[]} `rgb(...)`
 */
function colorsOf(classes) {
  const probe = h("div", { class: "offscreen" }, classes.map((name) => h("span", { class: name })));
  document.body.append(probe);
  const colors = [...probe.children].map((child) => getComputedStyle(child).backgroundColor);
  probe.remove();
  return colors;
}

/**
 * A colour between those of a scale.
 * @param {string[]} colors `rgb(...)`
 * @param {number} place 0 to colors.length - 1
 * @returns {string}
 */
export function colorBetween(colors, place) {
  const below = Math.max(0, Math.min(colors.length - 1, Math.floor(place)));
  const above = Math.min(colors.length - 1, below + 1);
  const parts = [colors[below], colors[above]].map((color) => (color.match(/[\d.]+/g) ?? []).map(Number));
  const mixed = parts[0].slice(0, 3).map((value, at) =>
    Math.round(value + (parts[1][at] - value) * Math.min(1, Math.max(0, place - below))));
  return `rgb(${mixed.join(",")})`;
}
