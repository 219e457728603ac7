#!/usr/bin/env python3
"""Looks at log directories of `tbtrace convert` on torch-tb-profiler's page in TensorBoard, in headless Chromium.

    python3 -m e2e.plugin.page_test --tbtrace PATH [--output DIR] [--views NAME,...] TRACE...

TRACE is a file, a folder of one run's files, or files of one run joined by `+`; each is a run of one log directory.
Every view that the plugin offers for a run is chosen on the page and has to show what belongs to it without an error of
the page; with --views the runs together have to offer these. --output takes screenshots.

The page loads its charts and the Trace view's web components from the Internet; here a stand-in answers for the charts
(it only draws a box with their size), and the same web components from another package. No network is used. Needs the
packages of requirements.txt and a Chromium. Prints a line for each failure and 'N passed, M failed'.
"""
import argparse
import pathlib
import re
import sys
import tempfile
import time

from playwright.sync_api import Error, sync_playwright

from e2e.consumers import (CHARTS_LOADER, WEB_COMPONENTS, Report, TensorBoard, convert, launch_chromium,
                           run_name, strict_json, web_components)
from e2e.plugin.log_directory_test import inputs_of

# As much of the charts library as the page touches.
CHARTS = """
(function () {
  const any = (base) => new Proxy(base, { get: (target, key) => key in target ? target[key]
    : typeof key === "symbol" ? undefined : function () {} });
  function Chart(element) {
    return any({
      draw(data) {
        const box = document.createElement("div");
        box.className = "chart";
        box.style.cssText = "border: 1px solid #999; padding: 8px; margin: 4px; display: inline-block";
        const rows = data && data.rows ? data.rows : [];
        box.textContent = "[chart of " + rows.length + " rows]";
        box.title = rows.map((row) => row[0]).join(" ");
        if (element) element.replaceChildren(box);
      },
      getSelection: () => [],
    });
  }
  function DataTable() {
    const table = {
      cols: [], rows: [],
      addColumn(column) { table.cols.push(column); },
      addRows(rows) { table.rows = table.rows.concat(rows); },
      addRow(row) { table.rows.push(row); },
      getNumberOfRows: () => table.rows.length,
      getNumberOfColumns: () => table.cols.length,
      getValue(row, column) {
        const value = table.rows[row][column];
        return value && value.v !== undefined ? value.v : value;
      },
      getColumnRange: () => ({ min: 0, max: 1 }),
    };
    return any(table);
  }
  const visualization = new Proxy({
    DataTable, events: any({}),
    arrayToDataTable(rows) { const table = new DataTable(); table.addRows(rows.slice(1)); return table; },
  }, { get: (target, key) => key in target ? target[key] : Chart });
  window.google = { charts: { load() {}, setOnLoadCallback(then) { setTimeout(then, 0); } }, visualization };
})();
"""
# What is on the page when a view has loaded; text is compared without regard to case.
SIGNS = {
    "Overview": ["Execution Summary", "Step Time Breakdown", "Performance Recommendation"],
    "Operator": ["Host Self Time", "Calls"],
    "Kernel": ["Total Time", "[chart of"],
    "Trace": [],
    "Distributed": ["Computation/Communication Overview", "Synchronizing/Communication Overview",
                    "Communication Operations Stats"],
    "Memory": ["Memory View", "Search by Name", "Size Increase (KB)"],
    "Module": ["Module Name", "Occurences"],
    "Lightning": ["Module Name", "Occurences"],
}


LABELS = {"Kernel": "GPU Kernel"}  # where the page calls a view otherwise


class Page:
    def __init__(self, browser, url):
        self.url = url
        self.trouble = []
        self.busy = set()
        self.page = browser.new_page(viewport={"width": 1600, "height": 1100})
        self.page.set_default_timeout(60_000)
        self.page.on("pageerror", lambda error: self.trouble.append(f"error: {str(error)[:300]}"))
        self.page.on("response", self._response)
        self.page.on("request", self._request)
        for event in ("requestfinished", "requestfailed"):
            self.page.on(event, lambda request: self.busy.discard(request))
        self.page.route(CHARTS_LOADER, lambda route: route.fulfill(content_type="application/javascript", body=CHARTS))
        self.page.route(WEB_COMPONENTS, lambda route: route.fulfill(
            content_type="application/javascript", body=web_components()))
        self.page.goto(f"{url}/#pytorch_profiler")
        self.page.wait_for_function(
            "document.querySelector('iframe')?.contentDocument?.querySelector('.MuiSelect-root')")
        self.frame = next(frame for frame in self.page.frames if frame is not self.page.main_frame)
        self.settle()

    def _request(self, request):
        if request.url.startswith(self.url + "/data/plugin/pytorch_profiler"):
            self.busy.add(request)
        if not (request.url.startswith((self.url, "data:", "blob:", "about:")) or request.url == CHARTS_LOADER
                or WEB_COMPONENTS.match(request.url)):
            self.trouble.append(f"asked for {request.url}")

    def _response(self, response):
        if response.status >= 400 and "/data/plugin/pytorch_profiler" in response.url:
            self.trouble.append(f"status {response.status}: {response.url}")

    def settle(self):
        """Waits until no answer is outstanding and no spinner turns for a moment."""
        quiet_since = None
        end = time.monotonic() + 60
        while time.monotonic() < end:
            spinners = self.frame.locator(".MuiCircularProgress-root").count()
            if self.busy or spinners:
                quiet_since = None
            elif quiet_since is None:
                quiet_since = time.monotonic()
            elif time.monotonic() - quiet_since > 0.4:
                return
            self.page.wait_for_timeout(50)
        raise TimeoutError(f"still loading: {[request.url for request in self.busy][:3]}")

    def choose(self, number, label):
        """Of the selects at the left: runs, views, workers, spans."""
        select = self.frame.locator(".MuiSelect-root").nth(number)
        if select.inner_text().strip() == label:
            return
        select.click()
        self.frame.locator("li[role=option]", has_text=re.compile(f"^{re.escape(label)}$")).first.click()
        self.settle()

    def text(self):
        return re.sub(r"\s+", " ", self.frame.locator("body").inner_text())

    def traced(self):
        """Slices in the embedded trace viewer."""
        frame = next((frame for frame in self.page.frames if "trace_embedding" in frame.url), None)
        assert frame, "no trace viewer"
        frame.wait_for_function("document.querySelector('#trace-viewer')?.model?.bounds.isEmpty === false",
                                timeout=60_000)
        return frame.evaluate("""() => document.querySelector('#trace-viewer').model.getAllProcesses().reduce(
            (sum, process) => Object.values(process.threads).reduce((n, t) => n + t.sliceGroup.length, sum), 0)""")


    def fit_trace(self):
        """The whole trace in the width of the page; a viewer that is made while hidden does not do that by itself."""
        frame = next(frame for frame in self.page.frames if "trace_embedding" in frame.url)
        frame.locator("body").press("0")
        self.page.wait_for_timeout(300)


def check_run(report, page, run, views, output):
    page.choose(0, run)
    for view in views:
        where = f"{run} {view}"
        page.trouble.clear()
        try:
            page.choose(1, LABELS.get(view, view))
            page.settle()
            if view == "Trace":
                report(page.traced() > 0, f"{where}: no slices")
                page.fit_trace()
            else:
                text = page.text()
                missing = [sign for sign in SIGNS[view] if sign.lower() not in text.lower()]
                report(not missing, f"{where}: does not show {missing}: {text[:300]}")
            if view in ("Operator", "Module", "Lightning"):
                report(page.frame.locator("tr.ant-table-row").count() > 0, f"{where}: no rows")
            if output:
                page.page.screenshot(path=output / f"{run}.{view}.png")
        except (Error, AssertionError, TimeoutError) as error:
            report(False, f"{where}: {type(error).__name__}: {str(error)[:300]}")
        report(not page.trouble, f"{where}: {page.trouble[:3]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--output", type=pathlib.Path, help="a folder for screenshots")
    parser.add_argument("--views", default="", help="views that the runs have to offer, joined by commas")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("traces", nargs="+")
    options = parser.parse_args()
    report = Report()
    started = time.monotonic()
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        logdir = pathlib.Path(scratch) / "logs"
        logdir.mkdir()
        runs = []
        for argument in options.traces:
            inputs = inputs_of(argument)
            run = run_name(inputs[0]) if len(inputs) == 1 else inputs[0].parent.name
            runs.append(run)
            convert(options.tbtrace, inputs, logdir, run)
        with TensorBoard(logdir, pathlib.Path(scratch) / "log") as server, sync_playwright() as playwright:
            loaded = server.wait_for(runs, 240)
            report(set(runs) <= set(loaded), f"loaded only {loaded}")
            browser = launch_chromium(playwright, options.chromium)
            page = Page(browser, server.url)
            offered = set()
            for run in runs:
                views = strict_json(server.get("views", run=run)[1])
                offered.update(views)
                check_run(report, page, run, views, options.output)
            missing = set(filter(None, options.views.split(","))) - offered
            report(not missing, f"no run offers {sorted(missing)}")
            browser.close()
    print(f"{len(runs)} runs, {time.monotonic() - started:.1f} s")
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
