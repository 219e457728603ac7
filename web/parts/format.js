// Numbers and names as people read them. The arithmetic here is for display only.

/** Between groups of three digits: narrow and without a line break. */
const digitGap = "\u202f";
/** Between a number and its unit: without a line break. */
const unitGap = "\u00a0";
const minus = "\u2212";
const noValue = "\u2013";

/**
 * @param {string} digits
 * @returns {string}
 */
function groupDigits(digits) {
  return digits.replace(/\B(?=(\d{3})+(?!\d))/g, digitGap);
}

/**
 * A number with at least three significant digits and at most two decimals.
 * @param {number} value
 * @returns {string}
 */
function shortNumber(value) {
  const size = Math.abs(value);
  let text;
  if (size >= 99.95 || size === 0) text = groupDigits(size.toFixed(0));
  else if (size >= 9.995) text = size.toFixed(1);
  else if (size >= 0.005) text = size.toFixed(2);
  else text = size.toPrecision(2);
  return value < 0 ? minus + text : text;
}

/**
 * @param {number} value
 * @param {[number, string][]} scale largest first: from which size on, and the unit there
 * @returns {string}
 */
function scaled(value, scale) {
  const size = Math.abs(value);
  const smallest = scale[scale.length - 1][1];
  if (size < 1000 * 0.9995 && Number.isInteger(value)) {
    return formatWhole(String(value)) + unitGap + smallest;
  }
  // 999.96 us would be printed as 1 000 us: the next unit begins where rounding reaches it.
  for (const [least, unit] of scale) {
    if (size >= least * 0.9995) return shortNumber(value / least) + unitGap + unit;
  }
  const [least, unit] = scale[scale.length - 1];
  return shortNumber(value / least) + unitGap + unit;
}

/** @type {[number, string][]} */
export const timeScale = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]];
/** @type {[number, string][]} */
export const byteScale = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"],
                   [1, "B"]];
/** @type {[number, string][]} */
const rateScale = [[1e12, "T/s"], [1e9, "G/s"], [1e6, "M/s"], [1e3, "k/s"], [1, "/s"]];
/** @type {[number, string][]} */
const flopScale = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

/**
 * A value for people: `12.3 ms`, `1.50 GiB`, `45.1 %`. Texts stay as they are.
 * @param {unknown} value as a column holds it; decimal text of an `integer` column too
 * @param {string} [unit] of the column: `ns`, `us`, `bytes`, `percent`, `share`, `per_s`, empty
 * @returns {string}
 */
export function formatValue(value, unit = "") {
  if (value === null || value === undefined) return noValue;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") {
    if (/^-?\d+$/.test(value)) {
      return unit === "" ? formatWhole(value) : formatValue(Number(value), unit);
    }
    return value;
  }
  if (typeof value !== "number") return JSON.stringify(value);
  switch (unit) {
    case "ns": return scaled(value, timeScale);
    case "us": return scaled(value * 1000, timeScale);
    case "bytes": return scaled(value, byteScale);
    case "percent": return formatPercent(value);
    case "share": return formatPercent(value * 100);
    case "per_s": return scaled(value, rateScale);
    case "flop": return formatFlops(value);
    default:
      return Number.isInteger(value) ? formatWhole(String(value)) : shortNumber(value);
  }
}

/**
 * @param {number} value a number of operations
 * @returns {string}
 */
function formatFlops(value) {
  const scale = flopScale.find(([least]) => Math.abs(value) >= least * 0.99995);
  return scale ? (value / scale[0]).toFixed(1) + unitGap + scale[1] : formatValue(value);
}

/**
 * @param {number} value 0 to 100
 * @returns {string}
 */
function formatPercent(value) {
  if (value !== 0 && Math.abs(value) < 0.05) {
    return `${value < 0 ? ">" : "<"}${unitGap}${value < 0 ? minus : ""}0.1${unitGap}%`;
  }
  return (value < 0 ? minus : "") + Math.abs(value).toFixed(1) + unitGap + "%";
}

/**
 * @param {string} digits a whole number, possibly with a sign
 * @returns {string}
 */
function formatWhole(digits) {
  return digits.startsWith("-") ? minus + groupDigits(digits.slice(1)) : groupDigits(digits);
}

/**
 * A count of things: `1 234 rows`, `1 row`.
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 * @returns {string}
 */
export function countOf(count, one, many = `${one}s`) {
  return `${formatValue(count)} ${count === 1 ? one : many}`;
}

/**
 * The full number with its unit, for tooltips and for copying: `12345678 ns`.
 * @param {unknown} value
 * @param {string} [unit]
 * @returns {string}
 */
export function exactValue(value, unit = "") {
  if (value === null || value === undefined) return "";
  if (typeof value === "object") return JSON.stringify(value);
  if (typeof value === "boolean") return String(value);
  const names = /** @type {{[unit: string]: string}} */ (
    { ns: "ns", us: "us", bytes: "bytes", percent: "%", per_s: "per second" });
  if (typeof value === "string" && !/^-?\d+$/.test(value)) return value;
  return unit in names ? `${value} ${names[unit]}` : String(value);
}

/** Endings of names that a value's unit already says, longest first. */
const unitEndings = /** @type {[string, string][]} */ ([
  ["_per_s", "per_s"], ["_percent", "percent"], ["_bytes", "bytes"], ["_share", "share"],
  ["_ns", "ns"], ["_us", "us"],
]);

/**
 * The unit that a name ends in; empty without one.
 * @param {string} key such as `total_ns`
 * @returns {string}
 */
export function unitOf(key) {
  if (key === "bytes") return key;
  if (/(^|_)(flops|macs)$/.test(key)) return "flop";
  if (key.endsWith("_utilization")) return "share";
  for (const [ending, unit] of unitEndings) if (key.endsWith(ending)) return unit;
  return "";
}

/** Names that are no words. */
const wholeNames = /** @type {{[name: string]: string}} */ ({
  key: "name", cpu_op: "cpu_operators", unphased: "no_phase",
});
const wordForms = /** @type {{[word: string]: string}} */ ({
  cpu: "CPU", gpu: "GPU", gpus: "GPUs", id: "ID", macs: "MACs", flops: "FLOPs", flop: "FLOP",
  sm: "SM", stddev: "standard deviation", cuda: "CUDA", nccl: "NCCL", p90: "P90", p99: "P99",
  pid: "process ID", tid: "thread ID", io: "I/O", ns: "ns",
});

/**
 * A column's name for people: `self_cpu_time_total_ns` is `self CPU time`.
 * @param {string} key
 * @returns {string}
 */
export function labelOf(key) {
  let name = key;
  for (const [ending, unit] of unitEndings) {
    if (!name.endsWith(ending)) continue;
    // The word stays where it is the whole name or what the number is about.
    if (unit === "share" || unit === "percent") {
      if (name === ending.slice(1)) break;
      name = `${name.slice(0, -ending.length)}_${unit === "share" ? "share" : "%"}`;
    } else {
      name = name.slice(0, -ending.length);
    }
    if (unit === "per_s") name += "_/s";
    break;
  }
  name = name.replace(/_time_total$/, "_time").replace(/_usage$/, "")
    .replace(/\bdevice(?=_(time|memory|activities)\b)|(?<=_)device(?=_(time|memory)\b)/, "gpu");
  name = wholeNames[name] ?? name;
  return name.split("_").filter((word) => word !== "").map((word) => wordForms[word] ?? word)
    .join(" ").replace(" /s", "/s");
}

const shownUnits = /** @type {{[unit: string]: string}} */ ({
  ns: "ns to s", us: "\u00b5s to s", bytes: "B to TiB", percent: "%", share: "%",
  per_s: "per second", flop: "k, M, G, T",
});

/**
 * @param {string} unit of a column
 * @returns {string} as its values are shown; empty without one
 */
export function shownUnit(unit) {
  return shownUnits[unit] ?? "";
}

/**
 * What a column means, without marks: each second part is a name.
 * @param {{meaning: string, unit: string}} column
 * @returns {string[]}
 */
export function meaningParts({ meaning, unit }) {
  const text = unit === "share" ? meaning.replace(/, 0 to 1\b/, "")
    : meaning.replace(/,? in nanoseconds\b/, "");
  return text.replace(/\bdevice (?=time|memory)/g, "GPU ").split("`").map((part, i) => i % 2 && unitOf(part) ? labelOf(part) : part);
}

/**
 * @param {string} json a list of frames, the innermost one first
 * @returns {string[] | null}
 */
export function framesOf(json) {
  try {
    const frames = JSON.parse(json);
    return Array.isArray(frames) ? frames.map(String) : null;
  } catch {
    return null;
  }
}

/**
 * The text of a JSON value for people: lists of shapes as `[32, 64] [64, 8]`.
 * @param {string} json
 * @returns {string}
 */
export function formatJson(json) {
  try {
    const value = JSON.parse(json);
    if (Array.isArray(value)) {
      if (value.every((item) => Array.isArray(item))) {
        return value.map((item) => `[${item.join(", ")}]`).join(" ");
      }
      if (value.every((item) => typeof item !== "object" || item === null)) {
        return `[${value.map((item) => String(item)).join(", ")}]`;
      }
    }
  } catch {
    // Shown as it is.
  }
  return json;
}
