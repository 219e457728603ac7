// A section of the page: base64 of gzip of JSON. No text of a trace is ever markup this way.

/**
 * The JSON of a section.
 * @param {string} text base64
 * @param {string} schema the one that the caller knows
 * @returns {Promise<any>}
 */
export async function decodeSection(text, schema) {
  const Decompression = /** @type {any} */ (globalThis).DecompressionStream;
  if (Decompression === undefined) {
    throw new Error("This browser cannot decompress the data of the page. It needs Chrome 80, " +
                    "Firefox 113 or Safari 16.4, or a later version.");
  }
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  const plain = new Blob([bytes]).stream().pipeThrough(new Decompression("gzip"));
  return checkSchema(JSON.parse(await new Response(plain).text()), schema);
}

/**
 * @param {any} value a document
 * @param {string} schema the one that the caller knows
 * @returns {any} the same document
 */
export function checkSchema(value, schema) {
  const found = value && typeof value === "object" ? value.schema : undefined;
  if (found === schema) return value;
  throw new Error(`This page knows ${schema}, but the data are ${
    typeof found === "string" ? found : "something else"}. Make the page again with one ` +
    "version of tbtrace.");
}
