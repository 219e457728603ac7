// The first row of the summary: the figures that people ask for first.
import { h } from "../parts/dom.js";
import { countOf, exactValue, formatValue } from "../parts/format.js";
import { recordsOf } from "../data/table.js";
import { modelFigure } from "./model.js";

/** @typedef {{[key: string]: any}} FiguresRecord */
/** @typedef {import("../data/source.js").Page} FiguresPage */

/**
 * One figure. It leads to the view that has more about it.
 * @param {FiguresPage} page
 * @param {string | null} view
 * @param {string} label
 * @param {string} value
 * @param {string} detail
 * @param {string} [title]
 * @returns {HTMLElement}
 */
function figureTile(page, view, label, value, detail, title = "") {
  const parts = [h("span", { class: "figure-label" }, label), h("b", { class: value.length > 12 ? "long" : null }, value),
                 h("span", { class: "figure-detail" }, detail || "\u00a0")];
  const about = [title, detail].filter(Boolean).join("\n") || null;
  if (view === null || !page.has?.(view)) return h("div", { class: "figure-tile", title: about }, parts);
  return h("button", { type: "button", class: "figure-tile", title: about,
                       onclick: () => page.go(view) }, parts);
}

/**
 * The smallest and the largest share of several devices.
 * @param {number[]} shares
 * @returns {string}
 */
function sharesText(shares) {
  const [least, most] = [Math.min(...shares), Math.max(...shares)].map((share) => formatValue(share, "share"));
  return least === most ? least : `${least} to ${most}`;
}

/**
 * How long a step takes; the window of a recording without steps.
 * @param {FiguresRecord | undefined} run
 * @param {FiguresRecord | undefined} steps
 * @param {FiguresPage} page
 * @returns {HTMLElement | null}
 */
function timeTile(run, steps, page) {
  const window = run ? formatValue(run.window_ns, "ns") : "";
  if (steps && steps.steps > 0) {
    return figureTile(page, "steps", steps.steps > 1 ? "Mean step" : "Step",
      formatValue(steps.duration_ns, "ns"),
      steps.steps > 1 ? `of ${countOf(Number(steps.steps), "step")}` : window && `of ${window} recorded`,
      exactValue(steps.duration_ns, "ns"));
  }
  return run ? figureTile(page, null, "Recorded", window, "no steps", exactValue(run.window_ns, "ns")) : null;
}

/**
 * @param {FiguresRecord[]} gpus
 * @param {FiguresPage} page
 * @returns {(HTMLElement | null)[]}
 */
function gpuTiles(gpus, page) {
  const known = gpus.filter((gpu) => gpu.window_ns > 0);
  if (known.length === 0) return [];
  const talking = known.filter((gpu) => gpu.communication_ns > 0 || gpu.exposed_communication_ns > 0);
  return [
    figureTile(page, "gpu", known.length > 1 ? "GPUs busy" : "GPU busy",
      sharesText(known.map((gpu) => gpu.busy_ns / gpu.window_ns)),
      known.length > 1 ? countOf(known.length, "GPU") : `${formatValue(known[0].busy_ns, "ns")} of ${
        formatValue(known[0].window_ns, "ns")}`),
    talking.length === 0 ? null : figureTile(page, "gpu", "Exposed communication",
      sharesText(talking.map((gpu) => gpu.exposed_communication_ns / gpu.window_ns)),
      talking.length > 1 ? "of the GPUs' time"
        : formatValue(talking[0].exposed_communication_ns, "ns")),
  ];
}

/**
 * The highest peak, of a GPU if one has any.
 * @param {FiguresRecord[]} memory
 * @param {FiguresRecord[]} devices
 * @param {FiguresPage} page
 * @returns {HTMLElement | null}
 */
function memoryTile(memory, devices, page) {
  const onGpu = memory.filter((row) => row.device !== null && row.device !== undefined);
  const [peak] = (onGpu.length ? onGpu : memory).slice().sort((a, b) => b.peak_bytes - a.peak_bytes);
  if (!peak) return null;
  const device = devices.find((one) => String(one.id) === String(peak.device));
  const all = typeof device?.memory_bytes === "number" ? `of ${formatValue(device.memory_bytes, "bytes")}` : "";
  return figureTile(page, "memory", "Peak memory", formatValue(peak.peak_bytes, "bytes"),
    [all, `on ${peak.device_name}`].filter(Boolean).join(" "), exactValue(peak.peak_bytes, "bytes"));
}

/**
 * @param {FiguresRecord | undefined} run
 * @param {FiguresRecord[]} gpus
 * @param {FiguresPage} page
 * @returns {HTMLElement | null}
 */
function deviceTile(run, gpus, page) {
  if (!run || !Array.isArray(run.devices)) return null;
  const names = [...new Set(run.devices.map((device) => device.name).filter(Boolean))];
  const count = gpus.length;
  const rank = typeof run.rank === "number" ? `rank ${run.rank}${run.world_size ? ` of ${run.world_size}` : ""}` : "";
  const detail = [count > 1 ? countOf(count, "GPU") : "", rank, `${formatValue(run.window_ns, "ns")} recorded`]
    .filter(Boolean).join(", ");
  const name = names.length ? names.join(", ") : count > 0 ? "GPU, name not recorded" : "CPU only";
  return figureTile(page, null, "Device", name, detail, name);
}

/**
 * What only the view of the model has: it is read when the page is there.
 * @param {FiguresPage} page
 * @param {HTMLElement | null} time
 * @returns {HTMLElement | null}
 */
function speedTile(page, time) {
  if (!page.has?.("model")) return null;
  const tile = h("button", { type: "button", class: "figure-tile", hidden: true, onclick: () => page.go("model") });
  page.view("model").then((view) => {
    const table = view.tables.find(({ name }) => name === "figures");
    const figures = new Map((table ? recordsOf(table) : []).filter((row) => row.value !== null)
      .map((row) => [String(row.figure), row]));
    /** @param {string} name */
    const text = (name) => figures.has(name) ? modelFigure(name, figures.get(name)?.value) : "";
    const [least, most] = [text("latency_min_ns"), text("latency_max_ns")];
    const steps = figures.get("steps")?.value;
    const spread = time?.querySelector(".figure-detail");
    if (spread && least && most && steps > 1) {
      spread.textContent = `${least} to ${most} in ${countOf(Number(steps), "step")}`;
      if (time) time.title = `${time.title.split("\n")[0]}\n${spread.textContent}`;
    }
    const [speed, share] = [text("achieved_flops_per_s"), text("mfu")];
    if (speed === "") return;
    tile.replaceChildren(h("span", { class: "figure-label" }, share ? "MFU" : "Computed"),
      h("b", null, share || speed), h("span", { class: "figure-detail" }, share ? speed : "no peak known"));
    tile.title = String(figures.get("mfu")?.note ?? "Floating-point operations per second, by input shapes");
    tile.hidden = false;
  }, () => {});  // the view itself says why it cannot be read
  return tile;
}

/**
 * @param {{run?: FiguresRecord, steps?: FiguresRecord, gpus: FiguresRecord[], communication: FiguresRecord[],
 *          memory: FiguresRecord[]}} parts
 * @param {FiguresPage} page
 * @returns {HTMLElement}
 */
export function figuresRow({ run, steps, gpus, communication, memory }, page) {
  const time = timeTile(run, steps, page);
  const byDevice = new Map(communication.map((row) => [row.device, row]));
  return h("div", { class: "figures", role: "group", "aria-label": "Key figures" }, time,
    gpuTiles(gpus.map((gpu) => ({ ...byDevice.get(gpu.device), ...gpu })), page),
    speedTile(page, time), memoryTile(memory, run && Array.isArray(run.devices) ? run.devices : [], page),
    deviceTile(run, gpus, page));
}

/**
 * What was not recorded, in a line; null if everything was.
 * @param {FiguresRecord | undefined} run
 * @returns {HTMLElement | null}
 */
export function missingLine(run) {
  const missing = (run && Array.isArray(run.recorded) ? run.recorded : []).filter(
    (/** @type {FiguresRecord} */ option) => option.is_missing);
  if (missing.length === 0) return null;
  return h("p", { class: "quiet missing-line" }, "Not recorded: ", missing.flatMap((
    /** @type {FiguresRecord} */ option, /** @type {number} */ at) => [at ? ", " : "", h("span", {
    title: Array.isArray(option.unlocks) ? `It would show: ${option.unlocks.join("; ")}` : null,
  }, `${option.data} (`, h("code", null, `${option.option}=True`), ")")]), ".");
}
