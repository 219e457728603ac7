// What was dropped or chosen, as the files and the words of the program's command line.

/**
 * A file, or a folder with all files in it.
 * @typedef {object} DroppedItem
 * @property {string} name
 * @property {boolean} isFolder
 * @property {{path: string, data: Blob}[]} files `path` begins with the name
 */

/** @typedef {{name: string, data: Blob}} PlacedFile */

/** @typedef {"report" | "compare"} Question */

/** Where the program writes its page. */
export const outputPath = "/report.html";
/** How large it may be; the first is the program's own choice. */
export const pageSizes = ["2MB", "10MB", "50MB"];

/**
 * @param {Iterable<File>} files of a field that takes files
 * @returns {DroppedItem[]}
 */
export function itemsOfFiles(files) {
  /** @type {Map<string, DroppedItem>} */
  const folders = new Map();
  /** @type {DroppedItem[]} */
  const items = [];
  for (const file of files) {
    const path = file.webkitRelativePath || file.name;
    const name = path.split("/")[0];
    const isFolder = path !== name;
    const item = (isFolder ? folders.get(name) : undefined) ?? { name, isFolder, files: [] };
    if (item.files.length === 0) items.push(item);
    if (isFolder) folders.set(name, item);
    item.files.push({ path, data: file });
  }
  return items;
}

/**
 * What is dropped, asked for while the event lasts: afterwards it is gone.
 * @param {DataTransferItem} item
 * @returns {Promise<DroppedItem | null>}
 */
export async function itemOfDrop(item) {
  const file = item.getAsFile();
  const entry = item.webkitGetAsEntry();
  if (entry === null || !entry.isDirectory) return file && itemsOfFiles([file])[0];
  // Chromium does not read entries for a page that is opened from disk, and Firefox has no handles.
  const handle = await /** @type {any} */ (item).getAsFileSystemHandle?.();
  /** @type {{path: string, data: Blob}[]} */
  const files = [];
  await (handle ? addFilesOfHandle(handle, entry.name, files) : addFiles(entry, entry.name, files));
  return { name: entry.name, isFolder: true, files };
}

/**
 * @param {any} folder a FileSystemDirectoryHandle
 * @param {string} path
 * @param {{path: string, data: Blob}[]} files
 * @returns {Promise<void>}
 */
async function addFilesOfHandle(folder, path, files) {
  for await (const [name, child] of folder.entries()) {
    if (child.kind === "directory") await addFilesOfHandle(child, `${path}/${name}`, files);
    else files.push({ path: `${path}/${name}`, data: await child.getFile() });
  }
}

/**
 * @param {FileSystemEntry} entry
 * @param {string} path
 * @param {{path: string, data: Blob}[]} files
 * @returns {Promise<void>}
 */
async function addFiles(entry, path, files) {
  if (entry.isFile) {
    const file = /** @type {FileSystemFileEntry} */ (entry);
    files.push({ path, data: await new Promise((done, failed) => file.file(done, failed)) });
    return;
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  for (;;) {
    // A reader gives some entries at a time, and none when there are no more.
    /** @type {FileSystemEntry[]} */
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (some.length === 0) return;
    for (const one of some) await addFiles(one, `${path}/${one.name}`, files);
  }
}

/**
 * The files as the program sees them, and the command line that asks about them. Two items of one name are in folders
 * `1` and `2`.
 * @param {DroppedItem[]} items
 * @param {Question} question
 * @param {string} [size] of the page at most
 * @returns {{files: PlacedFile[], words: string[]}}
 */
export function placed(items, question, size = pageSizes[0]) {
  const hasDoubles = new Set(items.map(({ name }) => name)).size < items.length;
  const ordered = items.map((item, number) => ({ item, prefix: hasDoubles ? `${number + 1}/` : "" }));
  if (question === "report") ordered.sort((a, b) => byName(a.prefix + a.item.name, b.prefix + b.item.name));
  const files = ordered.flatMap(({ item, prefix }) =>
    item.files.map(({ path, data }) => ({ name: prefix + path, data })));
  // A lone `-` would be the standard input.
  const inputs = ordered.map(({ item, prefix }) => `${prefix}${item.name}`)
    .map((path) => (path === "-" ? "./-" : path));
  const verb = question === "report" ? ["report", "--limit", size] : ["diff", "--format", "html"];
  return { files, words: [...verb, "-o", outputPath, "--threads", "1", "--color", "never", "--progress", "off", "--", ...inputs] };
}

/**
 * As a shell orders the names that a pattern matches: by their bytes.
 * @param {string} a
 * @param {string} b
 */
function byName(a, b) {
  return a < b ? -1 : Number(a > b);
}

/**
 * The name of the file that is saved.
 * @param {DroppedItem[]} items
 * @param {Question} question
 * @returns {string}
 */
export function savedName(items, question) {
  if (question === "compare") return "compare.html";
  const stem = items.length === 1 ? items[0].name.replace(/(\.pt)?(\.trace)?\.json(\.gz|\.zst)?$/i, "") : "job";
  return `${stem || "report"}.html`;
}

/**
 * @param {DroppedItem[]} items
 * @returns {number} bytes of all files
 */
export function sizeOf(items) {
  return items.reduce((sum, { files }) => sum + files.reduce((all, { data }) => all + data.size, 0), 0);
}
