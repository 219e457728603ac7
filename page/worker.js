// Runs the program once, on files of the page. openTbtrace() is Emscripten's; it stands before this text.
"use strict";

onmessage = async ({ data: { module, files, words, output } }) => {
  const lines = [];
  const say = (line) => {
    if (lines.length < 200) lines.push(line);
  };
  try {
    const program = await openTbtrace({
      instantiateWasm: (imports, done) => {
        WebAssembly.instantiate(module, imports).then((instance) => done(instance, module));
        return {};
      },
      print: say,
      printErr: say,
    });
    const { FS, WORKERFS } = program;
    countReading(WORKERFS);
    sendFirst(FS);
    FS.mkdir("/traces");
    FS.mount(WORKERFS, { blobs: files }, "/traces");
    FS.chdir("/traces");
    const code = program.callMain(words);
    const page = FS.analyzePath(output).exists ? FS.readFile(output).buffer : null;
    postMessage({ code, page, lines }, page === null ? [] : [page]);
  } catch (error) {
    postMessage({ code: -1, page: null, lines: [...lines, `the program stopped: ${error?.message ?? "it may have needed more memory than a browser gives"}`] });
  }
};

// Says ten times a second how far files were read; their beginnings are read twice.
function countReading(files) {
  const read = files.stream_ops.read;
  const furthest = new Map();
  let sum = 0;
  let next = 0;
  files.stream_ops.read = (stream, buffer, offset, length, position) => {
    const got = read(stream, buffer, offset, length, position);
    const before = furthest.get(stream.node) ?? 0;
    if (position + got > before) {
      furthest.set(stream.node, position + got);
      sum += position + got - before;
    }
    if (performance.now() > next) {
      next = performance.now() + 100;
      postMessage({ read: sum });
    }
    return got;
  };
}

// Sends the page of the summary, which commands.cc writes before the rest is made. Files appear by rename.
function sendFirst(files) {
  const rename = files.rename;
  files.rename = (from, to) => {
    rename(from, to);
    if (to !== "/first.html") return;
    const first = files.readFile(to).buffer;
    files.unlink(to);
    postMessage({ first }, [first]);
  };
}
