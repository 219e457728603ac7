// Shorter forms of frames' names, for boxes that the whole name does not fit.

/**
 * What says most about a frame, without what is the same for many: folders, arguments of C++
 * templates, results and parameters.
 * @param {string} text
 * @param {number} kind see stackKinds
 * @returns {string} the text itself if nothing can be left out
 */
export function stackShortName(text, kind) {
  if (kind === 1) {
    const python = /^(?:.*[\\/])?([^\\/]+\(\d+\): .*)$/s.exec(text);
    return python === null ? text : python[1];
  }
  if (kind === 3) return text.replace(/^nn\.Module: /, "");
  if (kind === 2 || kind === 5) return stackShortCpp(text);
  return text;
}

/**
 * The name alone: `vectorized_elementwise_kernel` or `forward`.
 * @param {string} text
 * @param {number} kind
 * @returns {string}
 */
export function stackBareName(text, kind) {
  const short = stackShortName(text, kind);
  if (kind === 1) return short.replace(/^.*\(\d+\): /s, "") || short;
  if (kind === 0) return short.replace(/^autograd::engine::evaluate_function: /, "")
    .replace(/^aten::/, "") || short;
  if (kind === 2 || kind === 5) return short.slice(short.lastIndexOf("::") + 1).replace(/^:/, "") ||
    short;
  return short;
}

/** @param {string} text */
function stackShortCpp(text) {
  let short = "";
  let depth = 0;
  const plain = text.replaceAll("(anonymous namespace)::", "");
  for (const character of plain) {
    if (character === "<" || character === "(") ++depth;
    if (depth === 0) short += character;
    if ((character === ">" || character === ")") && depth > 0) --depth;
  }
  short = short.trim().replace(/^(?:void|bool|int|float|double|auto|static|const)\s+/, "");
  // A name such as `operator()` or `<lambda>` has nothing else.
  return short === "" || depth > 0 ? text : short;
}
