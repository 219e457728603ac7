// Wheel, pointers and fingers on a timeline, as what they mean.

/**
 * @typedef {object} TimelineInput
 * @property {(x: number, factor: number) => void} zoom at a place
 * @property {(x: number, y: number) => void} pan by pixels
 * @property {(from: number, to: number, isLast: boolean) => void} span pixels
 * @property {(x: number, y: number) => void} click
 * @property {(x: number, y: number) => void} twice
 * @property {(x: number, y: number, event: MouseEvent | null) => void} hover null: the pointer left
 * @property {() => boolean} wheelZooms else it scrolls
 */

/** From so many pixels on a press is a drag. */
const dragLeast = 4;

/**
 * @param {HTMLElement} target
 * @param {boolean} isAxis drags select a span
 * @param {TimelineInput} input
 * @returns {void}
 */
export function timelineInput(target, isAxis, input) {
  /** @type {Map<number, {x: number, y: number}>} */
  const down = new Map();
  let begin = { x: 0, y: 0 };
  /** @type {"" | "pan" | "span" | "pinch"} */
  let doing = "";
  let isSpan = false;

  /** @param {MouseEvent} event */
  const place = (event) => {
    const box = target.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  target.addEventListener("wheel", (event) => {
    const { x, y } = place(event);
    const unit = event.deltaMode === 1 ? 16 : 1;
    const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const zooms = input.wheelZooms();
    // Alt+wheel does what the wheel alone does not.
    if (event.ctrlKey || event.metaKey || (!isSideways && zooms !== event.altKey)) {
      event.preventDefault();
      const delta = (event.deltaY || event.deltaX) * unit;
      // Pinching sends small steps, a wheel sends about 100.
      input.zoom(x, Math.exp(Math.max(-60, Math.min(delta, 60)) * (Math.abs(delta) < 40 ? 0.01
        : 0.005)));
      input.hover(x, y, event);
    } else if (isSideways) {
      event.preventDefault();
      input.pan((event.deltaX || event.deltaY) * unit, 0);
      input.hover(x, y, event);
    }
  }, { passive: false });

  target.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const at = place(event);
    down.set(event.pointerId, at);
    if (down.size === 1) {
      begin = at;
      doing = "";
      isSpan = isAxis || event.shiftKey;
    } else {
      doing = "pinch";
    }
  });

  target.addEventListener("pointermove", (event) => {
    const at = place(event);
    const before = down.get(event.pointerId);
    if (before === undefined) {
      if (event.pointerType !== "touch") input.hover(at.x, at.y, event);
      return;
    }
    if (doing === "pinch") {
      const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
      if (other !== undefined) {
        const old = Math.max(20, Math.abs(before.x - other.x));
        const now = Math.max(20, Math.abs(at.x - other.x));
        input.zoom((at.x + other.x) / 2, old / now);
        input.pan((before.x - at.x) / 2, 0);
      }
    } else {
      if (doing === "" && Math.hypot(at.x - begin.x, at.y - begin.y) >= dragLeast) {
        doing = isSpan ? "span" : "pan";
        // Only drags need the pointer beyond the canvas.
        target.setPointerCapture(event.pointerId);
        input.hover(0, 0, null);
      }
      if (doing === "pan") {
        input.pan(before.x - at.x, event.pointerType === "touch" ? 0 : before.y - at.y);
      } else if (doing === "span") {
        input.span(begin.x, at.x, false);
      }
    }
    down.set(event.pointerId, at);
  });

  /** @param {PointerEvent} event */
  const up = (event) => {
    if (!down.delete(event.pointerId)) return;
    const at = place(event);
    if (event.type === "pointerup" && down.size === 0) {
      if (doing === "span") input.span(begin.x, at.x, true);
      else if (doing === "") input.click(at.x, at.y);
    }
    if (down.size === 0) doing = "";
  };
  target.addEventListener("pointerup", up);
  target.addEventListener("pointercancel", up);
  target.addEventListener("pointerleave", () => input.hover(0, 0, null));
  target.addEventListener("dblclick", (event) => {
    const { x, y } = place(event);
    input.twice(x, y);
  });
}
