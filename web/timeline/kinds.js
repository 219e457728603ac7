// What ranges are: words and colours by kind.

/**
 * @typedef {object} TimelineKind
 * @property {string} word
 * @property {string} color a property of the style sheet
 * @property {number} frame kind of frame whose short names it has (stackKinds)
 */
/** @type {TimelineKind[]} */
export const timelineKinds = [
  { word: "operator", color: "--op", frame: 0 },
  { word: "annotation", color: "--data", frame: 6 },
  { word: "Python function", color: "--python", frame: 1 },
  { word: "module", color: "--module", frame: 3 },
  { word: "runtime call", color: "--runtime", frame: 4 },
  { word: "profiler overhead", color: "--host-wait", frame: 6 },
  { word: "kernel", color: "--kernel", frame: 5 },
  { word: "collective", color: "--communication", frame: 5 },
  { word: "memcpy", color: "--memcpy", frame: 6 },
  { word: "memset", color: "--memset", frame: 6 },
  { word: "other GPU activity", color: "--other", frame: 6 },
  { word: "GPU annotation", color: "--data", frame: 6 },
  { word: "trace span", color: "--idle", frame: 6 },
  { word: "other", color: "--other", frame: 6 },
];
const timelineKindNames = ["cpu_op", "user_annotation", "python_function", "module", "runtime",
                           "overhead", "kernel", "collective", "gpu_memcpy", "gpu_memset",
                           "device_other", "gpu_user_annotation", "trace_span", "other"];
/** Libraries of collectives name their kernels. */
const timelineCollective = /nccl|rccl|mscclpp|oneccl|xccl/i;

/**
 * @param {string} text name of a range
 * @param {string} kind of its category
 * @returns {number} place in timelineKinds
 */
export function timelineKindOf(text, kind) {
  if (kind === "python_function" && text.startsWith("nn.Module: ")) kind = "module";
  if (kind === "kernel" && timelineCollective.test(text)) kind = "collective";
  const place = timelineKindNames.indexOf(kind);
  return place < 0 ? timelineKindNames.length - 1 : place;
}

/**
 * @param {number} kind place in timelineKinds
 * @returns {boolean} whether it names a part of time and does nothing itself
 */
export function timelineIsAnnotation(kind) {
  return timelineKindNames[kind].endsWith("user_annotation");
}

/**
 * @param {number} kind place in timelineKinds
 * @returns {string} as the document calls it, with `module` and `collective`
 */
export function timelineKindName(kind) {
  return timelineKindNames[kind];
}
