// A section of the page: base64 of gzip of a document. No text of a trace is ever markup this way.
// A document is JSON, or, if it begins with `TBTL`, JSON with columns after it.

/** What documents with columns begin with. */
const columnsMark = "TBTL";

/**
 * @param {string} text base64
 * @returns {Promise<Uint8Array>}
 */
export async function unpackSection(text) {
  const Decompression = /** @type {any} */ (globalThis).DecompressionStream;
  if (Decompression === undefined) {
    throw new Error("This browser cannot decompress the data of the page. It needs Chrome 80, " +
                    "Firefox 113 or Safari 16.4, or a later version.");
  }
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  const plain = new Blob([bytes]).stream().pipeThrough(new Decompression("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

/**
 * The document in these bytes. One with columns has them in `bytes`.
 * @param {Uint8Array} bytes
 * @param {string[]} schemas those that the caller knows
 * @returns {any}
 */
export function readDocument(bytes, schemas) {
  const decoder = new TextDecoder();
  if (decoder.decode(bytes.subarray(0, 4)) !== columnsMark) {
    return checkSchema(JSON.parse(decoder.decode(bytes)), schemas);
  }
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
  const header = checkSchema(JSON.parse(decoder.decode(bytes.subarray(8, 8 + length))), schemas);
  header.bytes = bytes.subarray(8 + length);
  return header;
}

/**
 * @param {any} value a document
 * @param {string[]} schemas those that the caller knows
 * @returns {any} the same document
 */
export function checkSchema(value, schemas) {
  const found = value && typeof value === "object" ? value.schema : undefined;
  if (schemas.includes(found)) return value;
  throw new Error(`This page knows ${schemas.join(" and ")}, but the data are ${
    typeof found === "string" ? found : "something else"}. Make the page again with one ` +
    "version of tbtrace.");
}
