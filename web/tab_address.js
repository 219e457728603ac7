// The tab's state in TensorBoard's address: `#tbtrace&p.tbtrace.view=kernels`. TensorBoard keeps
// such parts when people go to another tab and back, and loses a part with a second `=`. It writes
// them anew by encodeURIComponent(): written otherwise, each change of the tab would add an entry
// to the history.

/**
 * @param {string} text
 * @returns {string}
 */
function decodedPart(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * @param {string} plugin the name of the plugin
 * @returns {import("./parts/state.js").StateForm}
 */
export function pluginForm(plugin) {
  const prefix = `p.${plugin}.`;
  /** @param {string} hash */
  const partsOf = (hash) => hash.replace(/^#/, "").split("&").filter(Boolean);
  /** @param {string} part */
  const isOwn = (part) => part.includes("=") && decodedPart(part.split("=", 1)[0]).startsWith(prefix);
  return {
    read(hash) {
      /** @type {Map<string, string>} */
      const values = new Map();
      for (const part of partsOf(hash).filter(isOwn)) {
        const place = part.indexOf("=");
        const key = decodedPart(part.slice(0, place)).slice(prefix.length);
        if (key !== "") values.set(key, decodedPart(part.slice(place + 1)));
      }
      return values;
    },
    write(hash, values) {
      const others = partsOf(hash).filter((part) => !isOwn(part));
      if (!others.some((part) => !part.includes("="))) others.unshift(plugin);
      const own = [...values].map(([key, value]) =>
        `${encodeURIComponent(prefix + key)}=${encodeURIComponent(value)}`);
      return `#${[...others, ...own].join("&")}`;
    },
  };
}
