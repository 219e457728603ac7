"""The TensorBoard tab in a browser: its log directories, its TensorBoard, and its page as users have it."""
import os
import pathlib
import re
import shutil
import sys
import time
import urllib.parse

from playwright.sync_api import TimeoutError as Late

from e2e.consumers import Report, TensorBoard, convert
from e2e.pages.page_test import AXE, VIOLATIONS

check = Report()
ROOT = pathlib.Path(__file__).parents[3]
EXAMPLES, DATA = ROOT / "examples" / "traces", ROOT / "tests" / "data"
DESK, NARROW = {"width": 1400, "height": 900}, {"width": 600, "height": 800}
MARKUP = "<img src=x onerror=alert(1)>"
PYTHON, CPP, JOB = "trainings/python", "trainings/cpp", "trainings/job"
# TensorBoard without PyTorch's plugin, which is installed beside it.
ALONE = """
import sys
from tensorboard import default, main
everything = default.get_dynamic_plugins
default.get_dynamic_plugins = lambda: [each for each in everything() if each.__module__.startswith("tbtrace.")]
sys.argv[0] = "tensorboard"
main.run_main()
"""
DRAWN = """([title, columns]) => {
  const drawn = [...document.querySelectorAll("#main .trace")].filter((trace) =>
    trace.querySelector("h1")?.textContent === title && !trace.querySelector(".loading"));
  return drawn.length === columns;
}"""


def duckdb_beside(folder):
    """A folder with DuckDB, which this Python does not have, of the Python that has it; None without that one."""
    folder.mkdir()
    versions = (ROOT / ".venv-python" / "lib").glob(f"python{sys.version_info.major}.{sys.version_info.minor}")
    for packages in (version / "site-packages" for version in versions):
        for path in (packages / "duckdb", *packages.glob("_duckdb.*"), *packages.glob("duckdb-*.dist-info")):
            if path.exists():
                (folder / path.name).symlink_to(path)
    return folder if (folder / "duckdb").exists() else None


class Board(TensorBoard):
    def __init__(self, logdir, package, log, with_torch, duckdb=None):
        super().__init__(logdir, log)
        self.logdir = logdir
        start = ["-m", "tensorboard.main"] if with_torch else ["-c", ALONE]
        self.command = [sys.executable, *start, "--logdir", str(logdir), "--host", "127.0.0.1", "--port", str(self.port),
                        "--load_fast=false"]
        self.environment = {**os.environ, "PYTHONPATH": f"{package}:{duckdb}" if duckdb else str(package), "XDG_CACHE_HOME": f"{self.log}.cache"}

    def wait_until_up(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            try:
                return self.fetch("plugin/tbtrace/runs")[0] == 200
            except OSError:
                time.sleep(0.1)
        return False


def copy_trace(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def write_logs(logdir, tbtrace):
    """As the writers of each lay them out."""
    python, cpp = logdir / PYTHON, logdir / CPP
    copy_trace(EXAMPLES / "perceptron_stacks.json.gz", python / "host_4711.1700000000000000000.pt.trace.json.gz")
    copy_trace(EXAMPLES / "transformer_modules.json.gz", python / "host_4711.1700000060000000000.pt.trace.json.gz")
    copy_trace(EXAMPLES / "transformer_modules.json.gz", python / "host_4712.1700000060000000000.pt.trace.json.gz")
    copy_trace(DATA / "h200" / "perceptron.json.gz", cpp / "node-1_99.1700000000000000000.pt.trace.json.gz")
    for rank in range(4):
        copy_trace(DATA / "slow_loader_job" / f"rank{rank}.json", logdir / JOB / f"node_{rank}.1700000000000000000.pt.trace.json")
    copy_trace(DATA / "text.txt", logdir / "damaged" / "host_1.1700000000000.pt.trace.json")
    copy_trace(DATA / "hostile_names.json", logdir / MARKUP / "host_1.1700000000000.pt.trace.json")
    (logdir / "outside").symlink_to("/etc")
    for number in range(1000):
        copy_trace(DATA / "gpu_step.json", logdir / "sweep" / f"run_{number}" / "host_1.1600000000000.pt.trace.json")
    convert(tbtrace, [EXAMPLES / "encoder_memory.json.gz"], logdir, "converted")


class Tab:
    """A page of TensorBoard with the tab, and what it says and asks for."""

    def __init__(self, browser, board, fragment="#tbtrace", **options):
        self.context = browser.new_context(viewport=DESK, **options)
        self.context.route("**/*", self._route)
        self.url, self.outside, self.said = board.url, [], []
        self.has_touch = options.get("has_touch", False)
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append("a dialog"), dialog.dismiss()))
        self.open(fragment)

    def _route(self, route):
        if route.request.url.startswith(self.url + "/"):
            return route.continue_()
        self.outside.append(route.request.url)
        return route.abort()

    def _console(self, message):
        if message.type == "error" or "/plugin/tbtrace/" in (message.location or {}).get("url", ""):
            self.said.append(message.text)

    def open(self, fragment):
        self.page.goto(f"{self.url}/{fragment}")
        self.find()

    def reload(self):
        self.page.reload()
        self.find()

    def find(self):
        self.page.wait_for_selector("iframe[src*='name=tbtrace']", state="attached")
        self.frame = self.page.query_selector("iframe[src*='name=tbtrace']").content_frame()
        self.frame.wait_for_selector("#app h1, #app .failure, #app .nothing")

    def go(self, view, columns=1):
        """Draws the view that has this title; what went wrong, else an empty text."""
        self.frame.click(f"nav.views a >> text=/^{view}/")
        return self.wait(view, columns)

    def wait(self, view, columns=1):
        try:
            self.frame.wait_for_function(DRAWN, arg=[view, columns])
        except Late:
            return "is not drawn: " + self.frame.inner_text("#app")[:300]
        failure = self.frame.query_selector("#main .failure")
        return f"says {failure.inner_text()}" if failure else ""

    def titles(self):
        return self.frame.eval_on_selector_all("nav.views a", "links => links.map((link) => link.firstChild.textContent)")

    def state(self):
        """Of the tab in the address."""
        parts = urllib.parse.urlsplit(self.page.url).fragment.split("&")
        pairs = [part.split("=", 1) for part in parts if "=" in part]
        return {urllib.parse.unquote(key)[len("p.tbtrace."):]: urllib.parse.unquote(value) for key, value in pairs}

    def check_state(self, holds, what):
        """The address follows what a user does: TensorBoard writes it after the frame asked for that."""
        end = time.monotonic() + 60
        while not (is_so := holds(self.state())) and time.monotonic() < end:
            self.page.wait_for_timeout(20)
        check(is_so, f"{what}: {self.state()}")

    def check_accessible(self, where):
        if not self.frame.evaluate("typeof axe === 'object'"):
            self.frame.evaluate(AXE)
        self.frame.wait_for_function("[...document.querySelectorAll('.grid-header')].every((row) => row.firstChild)")
        found = self.frame.evaluate(VIOLATIONS)
        check(not found, f"{where}: axe: {found}")

    def tab(self, name):
        """Goes to another tab of TensorBoard."""
        self.page.click(f"[role=tab] >> text=/^\\s*{name}/i >> nth=0")

    def pick(self, what, text, nth=0):
        """Chooses by keys, as from the button's own place."""
        self.frame.locator(".picker-button", has_text=what).nth(nth).focus()
        self.page.keyboard.press("ArrowDown")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")

    def press(self, target):
        """Presses an element of the frame with the pointer that the browser has."""
        target = self.frame.locator(target) if isinstance(target, str) else target
        target.first.tap() if self.has_touch else target.first.click()

    def press_around(self):
        """Presses TensorBoard's own bar, outside of the tab."""
        target = self.page.locator("[role=tab][aria-selected=true]").first
        target.tap() if self.has_touch else target.click()

    def pick_by_pointer(self, what, text, nth=0):
        self.press(self.frame.locator(".picker-button", has_text=what).nth(nth))
        self.page.keyboard.type(text)  # of a thousand, not all are drawn
        self.press(self.frame.locator(".picker-sheet:not([hidden]) [role=option]"))

    def shot(self, folder, name):
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=folder / f"{name}.png")

    def close(self, where):
        check(not self.said, f"{where}: on the console: {self.said[:3]}")
        check(not self.outside, f"{where}: asked for {self.outside[:3]}")
        self.context.close()


def address(**state):
    return "#tbtrace" + "".join(f"&p.tbtrace.{key}={urllib.parse.quote(value, safe='')}" for key, value in state.items())
