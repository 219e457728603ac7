#!/usr/bin/env python3
"""Drops traces on the page of tools/page.sh in headless Chromium, from a file and without a network, and compares what it
saves with what the command line writes.

usage: python3 -m e2e.pages.drop_test --tbtrace PATH --page INDEX.html [--screenshots DIR] FILE...

With a tbtrace that compresses by zlib, as the page does, saved pages of a trace are equal byte by byte; with others, and of
jobs and comparisons, the documents in them are. Fails with an AssertionError that says what is wrong.
"""
import argparse
import base64
import gzip
import pathlib
import re
import subprocess
import tempfile
from random import Random

from playwright.sync_api import sync_playwright

from e2e.flame_graphs.page import CHROMIUM_ARGUMENTS, check
from e2e.pages.hostile import write_hostile_trace
from e2e.pages.page_test import AXE, DESK, PHONE, ROOT, VIOLATIONS

DATA = ROOT / "tests/data"
FOREIGN = ("empty.json", "no_trace.json", "text.txt", "page.html", "two_ranks.tar.gz", "execution_trace.json", "two_ranks.tbp")
NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
SECTION = re.compile(r'(<script type="text/plain" id="(?!index)[\w-]+">)([^<]*)<')
# What a page could try to send, from itself and from a report in its frame.
SENDS = """async () => {
  const tries = [() => fetch("https://example.invalid/"), () => fetch("data:text/plain,x"),
                 () => new Promise((done, failed) => { const image = new Image(); image.onload = done;
                                                       image.onerror = failed; image.src = "https://example.invalid/"; }),
                 () => new Promise((done, failed) => { const socket = new WebSocket("wss://example.invalid/");
                                                       socket.onopen = done; socket.onerror = failed; })];
  const sent = [];
  for (const one of tries) await one().then(() => sent.push(String(one)), () => {});
  return sent;
}"""


class Page:
    """The page, with what it says and asks for."""

    def __init__(self, browser, index, size=DESK, theme="light"):
        self.context = browser.new_context(viewport=size, offline=True, color_scheme=theme, accept_downloads=True)
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.said, self.asked, self.refused = [], [], []
        # The report's help has a heading with `autofocus`, which Chromium does not heed in a frame.
        self.page.on("console", lambda message: message.text.startswith("Blocked autofocusing") or self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append("a dialog"), dialog.dismiss()))
        self.context.on("request", lambda request: self.asked.append(request.url))
        self.context.on("requestfailed", lambda request: request.failure == "csp" and self.refused.append(request.url))
        self.page.goto(index.as_uri())
        self.page.wait_for_selector(".drop")

    def choose(self, *files):
        """In the field for files, or for a folder."""
        is_folder = pathlib.Path(files[0]).is_dir()
        self.page.set_input_files("input[webkitdirectory]" if is_folder else "input[multiple]", files[0] if is_folder else files)

    def drag(self, *files):
        """As a file manager does, with their paths, and no faster than a hand: a report that is hidden takes drops for a moment."""
        self.page.wait_for_timeout(300)
        session = self.context.new_cdp_session(self.page)
        for kind in ("dragEnter", "dragOver", "drop"):
            session.send("Input.dispatchDragEvent", {
                "type": kind, "x": 300, "y": 300,
                "data": {"items": [], "files": [str(file) for file in files], "dragOperationsMask": 1}})
        session.detach()

    def report(self):
        """The frame of the report, when all of it is drawn: the summary is there before."""
        self.page.wait_for_selector("a[download], .failure")
        check(self.page.is_visible("a[download]"), f"no report: {self.page.inner_text('main')[:500]}")
        self.page.wait_for_selector("iframe.waiting", state="detached")
        frame = self.page.wait_for_selector("iframe.report").content_frame()
        frame.wait_for_selector("#main h1")
        return frame

    def saved(self):
        self.report()
        with self.page.expect_download() as download:
            self.page.click("a[download]")
        return download.value.suggested_filename, pathlib.Path(download.value.path()).read_bytes()

    def failure(self):
        return self.page.wait_for_selector(".failure").inner_text()

    def check_quiet(self, where):
        check(not self.said, f"{where}: on the console: {self.said[:3]}")
        away = [url for url in self.asked[1:] if not url.startswith("blob:")]
        check(not away, f"{where}: asked for {away[:3]}")

    def close(self, where):
        self.check_quiet(where)
        self.context.close()


class Native:
    """The command line, in the folder of the files, so that it names them as the page does."""

    def __init__(self, program, folder):
        self.program, self.output = program, folder / "native.html"
        version = subprocess.run([program, "--version", "--verbose"], check=True, capture_output=True, text=True).stdout
        self.has_zlib = re.search(r"^gzip.*zlib", version, re.MULTILINE) is not None

    def page(self, folder, verb, *words):
        done = subprocess.run([self.program, *verb, "-o", self.output, "--overwrite", "-q", *words], cwd=folder, capture_output=True)
        check(done.returncode in (0, 4), f"tbtrace {verb} {words}: {done.stderr.decode()}")
        return self.output.read_bytes()

    def check_same(self, saved, wanted, where, is_exact=False):
        """`is_exact`: byte by byte, if this program compresses by zlib too."""
        if not (is_exact and self.has_zlib):
            saved, wanted = unpacked(saved), unpacked(wanted)
        check(saved == wanted, f"{where}: the saved page has {len(saved)} bytes and differs from the command line's {len(wanted)}")


def unpacked(page):
    """A page with its documents as text. Logarithms and powers differ in their last digit between C libraries."""
    def as_text(found):
        document = gzip.decompress(base64.b64decode(found[2]))
        if document.startswith(b"TBTL"):
            return found[1] + document.hex() + "<"
        return found[1] + NUMBER.sub(lambda number: f"{float(number[0]):.14g}", document.decode()) + "<"
    return SECTION.sub(as_text, page.decode())


def check_traces(browser, index, native, files):
    """One after the other on one page."""
    opened = Page(browser, index)
    for file in files:
        opened.choose(file)
        name, saved = opened.saved()
        check(name.endswith(".html"), f"{file}: saved as {name}")
        native.check_same(saved, native.page(file.parent, ["report"], file.name), file, is_exact=True)
        opened.page.click("text=Another trace")
        opened.page.wait_for_selector(".drop")
    opened.close("traces")


def check_jobs_and_pairs(browser, index, native):
    opened = Page(browser, index)
    job = DATA / "slow_loader_job"
    for take in (opened.choose, opened.drag):
        take(job)
        frame = opened.report()
        frame.wait_for_selector("nav.views a:has-text('Ranks')")
        native.check_same(opened.saved()[1], native.page(DATA, ["report"], job.name), job)
        opened.page.click("text=Another trace")
    ranks = sorted(path for path in job.iterdir() if path.is_file())
    opened.drag(*ranks)
    if len(ranks) == 2:
        opened.page.click("text=Show both")
    native.check_same(opened.saved()[1], native.page(job, ["report"], *(rank.name for rank in ranks)), "ranks")
    opened.page.click("text=Another trace")
    pair = DATA / "compare"
    for base, changed in (("before.json.gz", "after.json.gz"), ("after.json.gz", "before.json.gz")):
        opened.drag(pair / "before.json.gz", pair / "after.json.gz")
        opened.page.click(f"button:has-text('{base} (before)')")
        name, saved = opened.saved()
        check(name == "compare.html", f"a comparison is saved as {name}")
        native.check_same(saved, native.page(pair, ["diff", "--format", "html"], base, changed), f"{base} {changed}")
        opened.page.click("text=Another trace")
    opened.close("jobs and pairs")


def check_failures(browser, index, folder):
    """A sentence for each, and the page goes on."""
    opened = Page(browser, index)
    cut = folder / "cut.json.gz"
    cut.write_bytes(b"\x1f\x8b\x08\x00")
    odd = folder / "--help"
    odd.write_text("no trace")
    for file in (*(DATA / name for name in FOREIGN), cut, odd):
        opened.choose(file)
        said = opened.failure()
        check(file.name in said and 30 < len(said) < 1500, f"{file.name}: {said}")
        check("the program stopped" not in said and "\x1b" not in said, f"{file.name}: {said}")
        check(opened.page.is_visible(".drop"), f"{file.name}: nothing can be dropped any more")
    opened.choose(DATA / "damaged.json")
    opened.report()
    check("remark" in opened.page.inner_text(".remarks"), "what is damaged is not said")
    opened.close("failures")


def check_hostile(browser, index, folder):
    """Names run nowhere, neither in the report nor in the page around it."""
    name = "<img src=x onerror=\"document.title='run'\">.json"
    trace = write_hostile_trace(folder / name)
    opened = Page(browser, index)
    opened.choose(trace)
    frame = opened.report()
    check(opened.page.query_selector("header img") is None, "the name of a file is markup")
    links = frame.locator("nav.views a")
    for number in range(links.count()):
        links.nth(number).click()
        frame.wait_for_selector("#main h1")
    check(not opened.page.title().startswith("run"), "a name ran")
    check(frame.evaluate("(() => { try { return parent.document.title } catch { return null } })()") is None,
          "the report reaches the page around it")
    opened.close("hostile names")


def check_policy(browser, index):
    """Nothing can be sent, from nowhere."""
    opened = Page(browser, index)
    opened.choose(DATA / "gpu_step.json")
    frame = opened.report()
    before = len(opened.asked)
    for where in (opened.page, frame):
        sent = where.evaluate(SENDS)
        check(not sent, f"sent: {sent}")
    check(len(opened.said) >= 4, "the policy was not asked")
    check(opened.asked[before:] == opened.refused, f"asked for {opened.asked[before:]}, and the policy refused {opened.refused}")
    opened.context.close()


def check_stop(browser, index, folder):
    """A long run is stopped, and the next one works."""
    large = folder / "large.json"
    event = '{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":%d.%03d,"dur":%d.%03d},\n'
    random = Random(1)  # times that cannot be packed well: not all ranges fit into 2 MB
    with large.open("w") as out:
        out.write('{"traceEvents":[\n')
        for number in range(400_000):
            out.write(event % (number * 1000, random.randrange(1000), random.randrange(900), random.randrange(1000)))
        out.write("{}]}")
    opened = Page(browser, index)
    opened.choose(large)
    opened.page.wait_for_selector(".progress:has-text('Reading')")
    opened.page.click("text=Stop")
    opened.page.wait_for_selector(".progress", state="detached")
    # The summary is there before the rest.
    opened.choose(large)
    opened.page.wait_for_selector("header [role=status]:has-text('Making the other views')")
    frame = opened.page.wait_for_selector("iframe.report").content_frame()
    frame.wait_for_selector("#main h1:has-text('Summary')")
    check(frame.locator("nav.views a").count() == 1, "the first page has the summary alone")
    check(opened.report().locator("nav.views a").count() > 5, "the whole page takes its place")
    check(opened.page.locator("iframe.report").count() == 1, "the first page stays")
    # A larger page has the ranges that were left out.
    said = [opened.report().evaluate("document.getElementById('view-0-timeline').textContent.length")]
    opened.page.select_option("header select", "10MB")
    said.append(opened.report().evaluate("document.getElementById('view-0-timeline').textContent.length"))
    check(said[1] > said[0], f"{said[1]} bytes are not more than {said[0]}")
    opened.close("stop and summary first")


def check_looks(browser, index, screenshots):
    """In both themes and as wide as a phone: nothing is wider than the window, and axe-core finds nothing."""
    for size in (DESK, PHONE):
        for theme in ("light", "dark"):
            opened = Page(browser, index, size, theme)
            page, where = opened.page, f"{size['width']} px, {theme}"
            states = {"empty": lambda: None,
                      "failure": lambda: (opened.choose(DATA / "text.txt"), opened.failure()),
                      "pair": lambda: (opened.drag(DATA / "compare/before.json.gz", DATA / "compare/after.json.gz"),
                                       page.wait_for_selector(".pair")),
                      "report": lambda: (opened.choose(DATA / "damaged.json"), opened.report(), page.click(".remarks summary"))}
            for state, reach in states.items():
                reach()
                wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                check(wider <= 0, f"{state}, {where}: {wider} px wider than the window")
                if screenshots:
                    page.screenshot(path=screenshots / f"drop_{state}_{size['width']}_{theme}.png")
                if state != "report":  # axe would reach into the frame, which page_test.py looks at
                    page.evaluate(AXE)
                    found = page.evaluate(VIOLATIONS)
                    check(not found, f"{state}, {where}: axe: {found}")
            opened.close(where)


def check_keys(browser, index):
    """By keys alone: the fields are reached by Tab, and a pair's question has the focus."""
    opened = Page(browser, index)
    page, reached = opened.page, []
    for _ in range(3):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.ariaLabel ?? document.activeElement.parentElement.textContent"))
    check(reached == ["Switch to the dark theme", "Choose files", "Choose a folder"], f"Tab reaches {reached}")
    opened.choose(DATA / "compare/before.json.gz", DATA / "compare/after.json.gz")
    page.wait_for_selector(".pair")
    page.keyboard.press("Enter")
    opened.report()
    page.keyboard.press("t")
    page.wait_for_selector("html[data-theme=dark]")
    opened.close("keys")


def check_history(browser, index):
    """Back is where files are dropped and Forward the report as it was left; its theme is that of the page around it."""
    opened = Page(browser, index)
    page = opened.page
    page.click("header button[aria-label*='dark theme']")
    opened.choose(DATA / "gpu_step.json")
    frame = opened.report()
    check(frame.evaluate("document.documentElement.dataset.theme") == "dark", "the report has the theme of the page")
    check(page.locator("header.top .brand").is_hidden(), "two headers of one name stand above each other")
    frame.click("header button[aria-label*='light theme']")
    page.wait_for_selector("html[data-theme=light]")
    frame.click("nav.views a:has-text('Kernels')")
    frame.wait_for_selector("#main h1:has-text('Kernels')")
    page.evaluate("history.back()")
    frame.wait_for_selector("#main h1:has-text('Summary')")
    page.evaluate("history.forward()")
    frame.wait_for_selector("#main h1:has-text('Kernels')")
    page.click("text=Another trace")
    check(page.is_visible(".drop") and not page.is_visible("iframe.report"), "another trace can be dropped")
    page.evaluate("history.back()")
    page.wait_for_selector("iframe.report")
    frame.wait_for_selector("#main h1:has-text('Kernels')")
    page.evaluate("history.back()")
    frame.wait_for_selector("#main h1:has-text('Summary')")
    page.evaluate("history.back()")
    page.wait_for_selector(".drop")
    check(not page.is_visible("iframe.report"), "Back leads to where files are dropped")
    # The next report takes the place of the first one.
    opened.choose(DATA / "counters.json")
    opened.report()
    check("counters.json" in page.title(), page.title())
    page.evaluate("history.back()")
    page.wait_for_selector(".drop")
    opened.close("history")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tbtrace", required=True, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--page", required=True, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("files", nargs="+", type=lambda text: pathlib.Path(text).resolve())
    options = parser.parse_args()
    if options.screenshots:
        options.screenshots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        folder = pathlib.Path(name)
        native = Native(options.tbtrace, folder)
        browser = driver.chromium.launch(executable_path=options.chromium, args=CHROMIUM_ARGUMENTS)
        check_traces(browser, options.page, native, options.files)
        check_jobs_and_pairs(browser, options.page, native)
        check_failures(browser, options.page, folder)
        check_hostile(browser, options.page, folder)
        check_policy(browser, options.page)
        check_stop(browser, options.page, folder)
        check_keys(browser, options.page)
        check_history(browser, options.page)
        check_looks(browser, options.page, options.screenshots)
        browser.close()
    how = "byte by byte" if native.has_zlib else "document by document: this tbtrace does not compress by zlib"
    print(f"{len(options.files)} traces, compared {how}; {check.count} checks")


if __name__ == "__main__":
    main()
