#!/usr/bin/env python3
"""The TensorBoard tab's answers through TensorBoard itself, with PyTorch's plugin beside it.

    python3 -m e2e.tensorboard.tab_server_test --tbtrace PATH --package FOLDER

FOLDER has the Python package with the tab, and its entry point. TensorBoard runs with each of its readers of event
files, below a path prefix, and with log directories that the tab does not read. Prints a line for each failure and 'N
passed, M failed'.
"""

import argparse
import concurrent.futures
import gzip
import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from e2e.consumers import Report, StartedTensorBoard, TensorBoard, convert

check = Report()
ROOT = pathlib.Path(__file__).parents[3]
EXAMPLE, STEP = ROOT / "examples/traces/resnet18_training.json.gz", ROOT / "tests/data/gpu_step.json"
WINDOW = "host_1.1700000000000000000.pt.trace.json"


class Board:
    """What a TensorBoard answers, headers included."""

    def __init__(self, board, prefix=""):
        self.board, self.prefix = board, prefix

    def ask(self, path, method="GET", accepts="gzip"):
        """Status, headers and the body as it was sent; `path` is sent as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.board.port, timeout=120)
        try:
            connection.request(method, f"{self.prefix}/data/{path}", headers={"Accept-Encoding": accepts})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def tab(self, route, **query):
        return self.ask(f"plugin/tbtrace/{route}?{urllib.parse.urlencode(query)}")

    def body(self, route, **query):
        status, headers, body = self.tab(route, **query)
        check(status == 200 and headers["Content-Encoding"] == "gzip", f"{route} {query}: {status} {body[:200]}")
        return gzip.decompress(body)

    def runs(self):
        return json.loads(self.body("runs"))

    def windows(self):
        return {
            window["trace"]: window
            for run in self.runs()["runs"]
            for worker in run["workers"]
            for window in worker["windows"]
        }

    def listed(self, wanted=None):
        """The plugins with their tabs; waits until the tab's entry is as `wanted` says."""
        end = time.monotonic() + 60
        while True:
            try:
                plugins = json.loads(self.ask("plugins_listing", accepts="")[2])
                if wanted is None or plugins["tbtrace"]["enabled"] == wanted or time.monotonic() > end:
                    return plugins
            except OSError:
                if time.monotonic() > end:
                    raise
            time.sleep(0.1)


def look_at_listing(board):
    plugins = board.listed(True)
    tab = plugins["tbtrace"]
    check(tab["enabled"] and tab["tab_name"] == "Profile (tbtrace)", f"the tab is listed: {tab}")
    check(
        tab["loading_mechanism"] == {"type": "IFRAME", "module_path": f"{board.prefix}/data/plugin/tbtrace/index.js"},
        f"{tab}",
    )
    check("pytorch_profiler" in plugins and "scalars" in plugins, "other tabs stay")
    for route, kind in (("index.js", "text/javascript; charset=utf-8"), ("tab.css", "text/css; charset=utf-8")):
        status, headers, body = board.tab(route)
        check(
            status == 200 and headers["Content-Type"] == kind and len(gzip.decompress(body)) > 1000,
            f"{route}: {status} {headers}",
        )


def look_at_views(board, tbtrace):
    trace = tbtrace.read(EXAMPLE, arguments=tbtrace.ARGUMENT_GROUPS)
    path = f"runs/{EXAMPLE.name}"
    window = board.windows()[path]
    for name, _ in tbtrace.views():
        status, headers, body = board.tab("view", trace=path, view=name, version=window["version"])
        check(status == 200 and gzip.decompress(body) == trace.view(name), f"{name} is what the library makes")
        check(
            headers.get_all("Content-Encoding") == ["gzip"] and headers["Content-Length"] == str(len(body)),
            f"{name}: {headers}",
        )
        check(headers.get_all("Cache-Control") == ["private, max-age=31536000, immutable"], f"{name}: {headers}")
        check("nosniff" in headers.get_all("X-Content-Type-Options", []), f"{name}: {headers}")
        plain = board.ask(
            f"plugin/tbtrace/view?{urllib.parse.urlencode({'trace': path, 'view': name})}", accepts="identity"
        )
        check(
            plain[0] == 200 and plain[1]["Content-Encoding"] is None and plain[2] == trace.view(name),
            f"{name} without gzip",
        )
    check(
        board.body("timeline", trace=path, from_ns=0, to_ns=10**6) == trace.timeline(0, 10**6), "part of the timeline"
    )


def look_at_refusals(board, outside):
    for path, method, status in (
        ("view", "GET", 400),
        ("view?trace=x.json&view=summary", "GET", 404),
        (f"view?trace=runs/{EXAMPLE.name}&view=none", "GET", 400),
        (f"view?trace={outside}&view=summary", "GET", 404),
        ("view?trace=../outside/secret.json&view=summary", "GET", 404),
        ("view?trace=%2e%2e%2foutside%2fsecret.json&view=summary", "GET", 404),
        ("view?trace=away/secret.json&view=summary", "GET", 404),
        ("view?trace=%00&view=summary", "GET", 404),
        ("view?trace=%ff&view=summary", "GET", 404),
        ("view?trace=text.pt.trace.json&view=summary", "GET", 422),
        ("runs", "POST", 405),
        ("range?trace=x", "GET", 404),
    ):
        code, headers, body = board.ask(f"plugin/tbtrace/{path}", method)
        check(
            code == status
            and headers["Content-Type"] == "application/json"
            and json.loads(body)["error"].endswith("."),
            f"{method} {path}: {code} {body[:300]}",
        )
        check(headers["Cache-Control"] == "no-store", f"{path}: {headers}")
    for path in (
        "../../outside/secret.json",
        "static/index.js",
        "..%2f..%2fplugin.py",
        "index.js/../../x",
        "plugin.py",
    ):
        status = board.ask(f"plugin/tbtrace/{path}")[0]
        check(status == 404, f"{path}: {status}")


def look_at_users(board):
    with concurrent.futures.ThreadPoolExecutor(20) as users:
        bodies = set(users.map(lambda _: board.body("view", trace=f"runs/{EXAMPLE.name}", view="kernels"), range(60)))
    check(len(bodies) == 1, "20 users at once get the same")


def look_at_growth(board, logs):
    later = f"runs/{WINDOW.replace('17', '18', 1)}"
    shutil.copy(STEP, logs / later)
    end = time.monotonic() + 15
    while later not in board.windows() and time.monotonic() < end:
        time.sleep(0.2)
    check(later in board.windows(), "a new window is listed within seconds")
    before = board.body("view", trace=later, view="operators")
    (logs / later).write_text(STEP.read_text().replace("aten::addmm", "aten::later"))
    after = board.body("view", trace=later, view="operators")
    check(before != after and b"aten::later" in after, "a window that was written again is read again")


def made_logs(folder, program):
    logs = folder / "logs"
    convert(program, [STEP], logs, "converted")
    (logs / "runs").mkdir()
    shutil.copy(EXAMPLE, logs / "runs")
    shutil.copy(STEP, logs / "runs" / WINDOW)
    (logs / "text.pt.trace.json").write_text("no JSON")
    outside = folder / "outside"
    outside.mkdir()
    shutil.copy(STEP, outside / "secret.json")
    (logs / "away").symlink_to(outside)
    return logs, outside / "secret.json"


def look_at_printed_address(tbtrace, logs, log):
    """`tbtrace tensorboard` prints where the tab is, ready to be opened, also for a port that the system chose."""
    with StartedTensorBoard([tbtrace, "tensorboard", logs, "--port", "0"], log, TBTRACE_PYTHON=sys.executable):
        found, end = None, time.monotonic() + 120
        while not found and time.monotonic() < end:
            time.sleep(0.1)
            found = re.search(r"^tbtrace: tensorboard: the tab is at (\S+)$", log.read_text(errors="replace"), re.M)
        address = found[1] if found else ""
        if check(re.fullmatch(r"http://localhost:\d+/#tbtrace", address), f"the printed address: {log.read_text()}"):
            with urllib.request.urlopen(address, timeout=60) as answer:
                check(answer.status == 200, f"{address} answers {answer.status}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--package", required=True, type=pathlib.Path)
    options = parser.parse_args()
    package = options.package.resolve()
    sys.path.insert(0, str(package))
    import tbtrace

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        os.environ.update(PYTHONPATH=str(package), XDG_CACHE_HOME=str(folder / "caches"))
        os.environ.pop("TBTRACE_TAB_CACHE", None)
        logs, outside = made_logs(folder, options.tbtrace)
        with TensorBoard(logs, folder / "log", options=["--path_prefix", "/some/where"]) as process:
            board = Board(process, "/some/where")
            look_at_listing(board)
            windows = board.windows()
            check(
                {f"runs/{WINDOW}", f"runs/{EXAMPLE.name}", "text.pt.trace.json"} < set(windows) and len(windows) == 4,
                f"{list(windows)}",
            )
            check([problem["path"] for problem in board.runs()["problems"]] == ["away"], "the link is named")
            look_at_views(board, tbtrace)
            look_at_refusals(board, outside)
            look_at_users(board)
            look_at_growth(board, logs)
            check((folder / "caches/tbtrace/tab").is_dir(), "views are kept below the user's caches")
        look_at_printed_address(options.tbtrace, logs, folder / "printed")
        with TensorBoard(logs, folder / "log", load_fast=True) as process:
            board = Board(process)
            look_at_listing(board)
            check("converted" in process.wait_for(["converted"], 60), "PyTorch's plugin reads the same log directory")
            look_at_views(board, tbtrace)
            started = time.monotonic()
        check(time.monotonic() - started < 10, "TensorBoard ends at once")
        (folder / "empty").mkdir()
        with TensorBoard(folder / "empty", folder / "log") as process:
            board = Board(process)
            check(board.listed(False)["tbtrace"]["enabled"] is False, "without traces the tab is inactive")
            shutil.copy(STEP, folder / "empty" / WINDOW)
            check(board.listed(True)["tbtrace"]["enabled"] is True, "with the first trace it becomes active")
        with TensorBoard("", folder / "log", options=["--logdir_spec", f"a:{logs},b:{folder}/empty"]) as process:
            board = Board(process)
            board.listed(False)
            check(
                "--logdir_spec" in board.runs()["problems"][0]["sentence"],
                "the tab says that it does not read --logdir_spec",
            )
        said = (folder / "log").read_text(errors="replace")
        check("tbtrace/tab" not in said, f"nothing failed in the tab: {said[-2000:]}")
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
