#!/usr/bin/env python3
"""How fast the page of `tbtrace report` is, in headless Chromium without a GPU.

usage: .venv/bin/python benchmarks/page_speed.py --tbtrace build/tools/tbtrace TRACE

Of a trace: the size of the page, how long until something is drawn, and each view. Of a table of 100,000 rows (made:
as many operators with different names): its first picture, sorting by numbers and by texts, a search. Milliseconds from
the click to the picture after it; the median of five.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests"))
from e2e.flame_graphs.page import CHROMIUM_ARGUMENTS  # noqa: E402
from e2e.pages.page_test import DESK, GO  # noqa: E402

ROWS = 100_000
AFTER = """async (act) => {
  const before = performance.now();
  eval(act);
  await new Promise((next) => requestAnimationFrame(() => setTimeout(next, 0)));
  return performance.now() - before;
}"""


def made_trace(path):
    events = [{"ph": "X", "cat": "cpu_op", "name": f"operator_{number * 7919 % ROWS}", "pid": 1, "tid": 1,
               "ts": number * 10, "dur": 1 + number * 31 % 9} for number in range(ROWS)]
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}), encoding="utf-8")


def opened(browser, page_file):
    page = browser.new_page(viewport=DESK, bypass_csp=True)
    before = time.perf_counter()
    page.goto(page_file.as_uri())
    page.wait_for_selector("#main h1")
    return page, (time.perf_counter() - before) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("trace")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = pathlib.Path(name)
        browser = playwright.chromium.launch(executable_path=options.chromium, args=CHROMIUM_ARGUMENTS)
        file = folder / "report.html"
        subprocess.run([options.tbtrace, "report", options.trace, "-o", file, "-q"], check=True)
        starts = []
        for _ in range(5):
            page, took = opened(browser, file)
            starts.append(took)
            if len(starts) < 5:
                page.close()
        views = [link.removeprefix("#view=") for link in page.eval_on_selector_all(
            "nav.views a", "links => links.map((link) => link.getAttribute('href'))")]
        took = {view: page.evaluate(GO, view) for view in views}
        print(f"{pathlib.Path(options.trace).name}: {file.stat().st_size / 1e6:.2f} MB, first view "
              f"{statistics.median(starts):.0f} ms, views " + ", ".join(f"{view} {ms:.0f}" for view, ms in took.items()))
        page.close()

        trace, file = folder / "many.json", folder / "many.html"
        made_trace(trace)
        subprocess.run([options.tbtrace, "report", trace, "-o", file, "--views", "summary,operators", "--limit", "100MB",
                        "-q"], check=True)
        page, _ = opened(browser, file)
        first = []
        for _ in range(5):
            page.evaluate(GO, "summary")
            first.append(page.evaluate(GO, "operators"))
        headers = "[...document.querySelectorAll('#main [role=columnheader]')].map((cell) => cell.querySelector('button') ?? cell)"
        names = page.evaluate(f"{headers}.map((button) => button.textContent.trim())")
        def clicked(label):
            at = next(number for number, text in enumerate(names) if text.lower().startswith(label))
            return [page.evaluate(AFTER, f"{headers}[{at}].click()") for _ in range(5)]
        assert "100,000" in page.inner_text("#main").replace("\u202f", ",").replace("\u2009", ","), "all rows are there"
        numbers, texts = clicked("self cpu time"), clicked("name")
        search = [page.evaluate(
            AFTER.replace("await new Promise((next) => requestAnimationFrame", """
              await new Promise((next) => setTimeout(next, 100));
              await new Promise((next) => requestAnimationFrame""", 1),
            "const box = document.querySelector('#main input[type=search]'); box.value = '%d'; "
            "box.dispatchEvent(new Event('input', {bubbles: true}))" % number) for number in range(77, 82)]
        print(f"{ROWS} rows: first {statistics.median(first):.0f} ms, sort by numbers {statistics.median(numbers):.0f}, by "
              f"texts {statistics.median(texts):.0f}, search {statistics.median(search):.0f} (100 of it waits for the next key)")
        browser.close()


if __name__ == "__main__":
    main()
