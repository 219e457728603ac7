#!/usr/bin/env python3
"""Opens what programs record of themselves in all that such files are made for.

    python3 -m e2e.recorded.viewers_test --tbtrace PATH --programs PROGRAM... [--output DIR] [--chromium PATH]

Each program is given a folder and writes runs below it, as train_resnet18 and record_dialects do. Perfetto's engine
and Catapult have to show every row without an error or a dropped slice. HolisticTraceAnalysis has to load each file of
the Kineto dialect with all of its ranges and steps. On the page of torch-tb-profiler every view of each other run has
to show what belongs to it; --output takes screenshots.

Needs the packages of requirements.txt and requirements_hta.txt, and a Chromium; no network. Prints a line for each
failure and 'N passed, M failed'.
"""
import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

from playwright.sync_api import sync_playwright

from e2e.consumers import Report, TensorBoard, launch_chromium, strict_json
from e2e.hta.traces_test import TraceAnalysis
from e2e.plugin.page_test import Page, check_run
from e2e.viewers.opened_viewers import opened_viewers
from e2e.viewers.viewers_test import open_file

# What each run has to offer, besides what all have that are without devices.
VIEWS = {"train_resnet18": {"Memory", "Module"}, "record_dialects/plugin": {"Memory"},
         "train_two_processes": {"Distributed"}}
VIEWS_OF_ALL = {"Overview", "Operator", "Trace"}
KINETO = "kineto"  # the name of runs in that dialect


def record(programs, logdir):
    for program in programs:
        folder = logdir / pathlib.Path(program).stem.removeprefix("example_").removeprefix("libtorch_")
        subprocess.run([program, str(folder)], check=True, timeout=300, stdout=subprocess.DEVNULL)
    return sorted(logdir.rglob("*.pt.trace.json*"))


def check_viewers(report, browser, logdir, files):
    with opened_viewers(browser) as viewers:
        for file in files:
            viewers.check(report, str(file.relative_to(logdir)), file)


def check_hta(report, logdir, file):
    where = f"{file.relative_to(logdir)} HTA"
    expected = collections.Counter(
        (event["name"], round(event["dur"] * 1000)) for event in strict_json(open_file(file))["traceEvents"]
        if event["ph"] == "X" and event["cat"] in ("cpu_op", "user_annotation"))
    try:
        analysis = TraceAnalysis(trace_files={0: str(file)}, trace_dir="/", include_last_profiler_step=True)
        rows, symbols = analysis.t.traces[0], analysis.t.symbol_table.sym_table
        rows = rows[rows["cat"].map(lambda number: symbols[number] in ("cpu_op", "user_annotation"))]
        got = collections.Counter((symbols[name], round(duration * 1000))
                                  for name, duration in zip(rows["name"], rows["dur"]))
        report(len(expected) > 100 and got == expected,
               f"{where}: {sum(got.values())} ranges, expected {sum(expected.values())}: "
               f"{list((got - expected).items())[:3]}, {list((expected - got).items())[:3]}")
        steps = {name for name, _ in expected if name.startswith("ProfilerStep#")}
        report({f"ProfilerStep#{number}" for number in analysis.get_profiler_steps()} == steps,
               f"{where}: steps {analysis.get_profiler_steps()}, expected {sorted(steps)}")
    except Exception as error:
        report(False, f"{where}: {type(error).__name__}: {str(error)[:300]}")


def check_page(report, browser, logdir, runs, log, output):
    with TensorBoard(logdir, log) as server:
        loaded = server.wait_for(runs, 240)
        report(set(runs) <= set(loaded), f"loaded only {loaded}")
        page = Page(browser, server.url)
        for run in runs:
            views = strict_json(server.get("views", run=run)[1])
            report(VIEWS_OF_ALL | VIEWS[run] <= set(views), f"{run}: views {views}")
            check_run(report, page, run, views, output)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", help="not needed")
    parser.add_argument("--programs", nargs="+", required=True)
    parser.add_argument("--output", type=pathlib.Path, help="a folder for screenshots")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    report = Report()
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        logdir = pathlib.Path(scratch) / "logs"
        files = record(options.programs, logdir)
        browser = launch_chromium(playwright, options.chromium)
        check_viewers(report, browser, logdir, files)
        of_kineto = [file for file in files if file.parent.name == KINETO]
        report(of_kineto, "no program wrote a run in the Kineto dialect")
        for file in of_kineto:
            check_hta(report, logdir, file)
        runs = sorted({str(file.parent.relative_to(logdir)) for file in files} -
                      {str(file.parent.relative_to(logdir)) for file in of_kineto})
        check_page(report, browser, logdir, runs, pathlib.Path(scratch) / "log", options.output)
        browser.close()
    print(f"{len(files)} files, {len(runs)} runs on the page")
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
