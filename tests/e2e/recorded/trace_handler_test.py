#!/usr/bin/env python3
"""Shows what tbtrace.tensorboard_trace_handler() wrote in torch.profiler to both TensorBoards, in headless Chromium.

    python3 -m e2e.recorded.trace_handler_test --tbtrace PATH [--output DIR] plugin|summaries|dashboards LOG_DIR

LOG_DIR is written by train_with_handler.py; TensorBoard serves it unchanged.

- plugin: torch-tb-profiler's answers are what an independent reading finds in the traces. On its page both workers and
  both cycles can be selected, each with its steps, and every view shows what belongs to it.
- summaries: each worker is a run; both loaders of plain TensorBoard give all values back, at the steps of both cycles.
- dashboards: those of plain TensorBoard show scalars of both workers, tables of both cycles, charts and pictures.

The pages ask the network for nothing but what plugin/page_test.py has stand-ins for. --output takes screenshots. Prints
a line for each failure and 'N passed, M failed'.
"""
import argparse
import os
import pathlib
import re
import sys
import tempfile

from playwright.sync_api import sync_playwright

from e2e.consumers import TensorBoard, launch_chromium, strict_json
from e2e.plugin import log_directory_test, page_test
from e2e.recorded.program import files_in
from e2e.tensorboard.event_answers import take_pictures
from e2e.tensorboard.profile_summaries_test import DASHBOARDS, check, check_both_loaders, trace_rows

WORKERS = ["node_0", "node_1"]
CYCLES = {"1": [2, 3], "2": [6, 7]}  # spans of the plugin, with their steps
VIEWS = ["Overview", "Operator", "Trace", "Memory", "Module"]


def check_selections(page, run):
    """Worker by worker and span by span the Overview shows the steps."""
    page.choose(0, run)
    page.choose(1, "Overview")
    selects = page.frame.locator(".MuiSelect-root")
    for worker in reversed(WORKERS):
        for span, steps in CYCLES.items():
            page.choose(2, worker)
            page.choose(3, span)
            shown = [text.strip() for text in selects.all_inner_texts()]
            check(shown == [run, "Overview", worker, span], f"selected are {shown}")
            charts = page.frame.locator(".chart").evaluate_all("charts => charts.map((chart) => chart.title)")
            check(" ".join(map(str, steps)) in charts, f"{worker}, span {span}: charts {charts}")
            check(not page.trouble, f"{worker}, span {span}: {page.trouble[:3]}")


def check_plugin(options, logdir, log):
    files = files_in(logdir)
    check(len(files) == len(WORKERS) * len(CYCLES), f"files {files}")
    run = log_directory_test.Run(files, logdir.name)  # the plugin calls it like the folder
    run.folder = str(logdir)
    with TensorBoard(logdir, log) as server, sync_playwright() as playwright:
        check(server.wait_for([run.name], 60) == [run.name], "the only run is the folder")
        check(strict_json(server.get("workers", run=run.name, view="Overview")[1]) == WORKERS, "workers")
        run.ask(server)
        check(sorted(run.views) == sorted(VIEWS), f"views {run.views}")
        check([(span.query["worker"], span.query["span"]) for span in run.spans] ==
              [(worker, span) for worker in WORKERS for span in CYCLES], f"spans of {len(run.spans)}")
        for span in run.spans:
            steps = [int(row[0]) for row in span.get("overview")["steps"]["rows"]]
            check(steps == CYCLES.get(span.query["span"]), f"{span.query}: steps {steps}")
            shapes = [row["input_shape"] for row in span.get("operation/table", group_by="OperationAndInputShape")["data"]
                      if row["name"] == "aten::conv2d"]
            check(len(shapes) == 1 and "[16, 3, 16, 16]" in str(shapes), f"{span.query}: shapes {shapes}")
            curve = span.get("memory_curve", time_metric="ms", memory_metric="MB")["rows"]
            check(curve.get("CPU"), f"{span.query}: no curve of memory")
            allocations = span.get("memory_events", time_metric="ms", memory_metric="KB")["rows"].get("CPU", [])
            check(len(allocations) > 20, f"{span.query}: {len(allocations)} events of memory")
        log_directory_test.check_run(check, options.tbtrace, run)
        log_directory_test.check_log(check, log, [run])  # now, because TensorBoard warns of the plugin's page
        browser = launch_chromium(playwright, options.chromium)
        page = page_test.Page(browser, server.url)
        check_selections(page, run.name)
        page_test.check_run(check, page, run.name, run.views, options.output)
        browser.close()


def check_summaries(logdir, folder):
    written = check_both_loaders(logdir, folder)
    check(sorted(written.tags) == WORKERS, f"runs {sorted(written.tags)}")
    for worker, tags in written.tags.items():
        steps = [(int(name[1]), row["dur"] / 1e3) for path in files_in(logdir) if path.name.startswith(worker + ".")
                 for row in trace_rows(path) if row.get("ph") == "X"
                 and (name := re.fullmatch(r"ProfilerStep#(\d+)", row["name"]))]
        shown = [(step, tensor.float_val[0]) for step, _, tensor in tags["profile/step_time_ms"]]
        check([step for step, _ in shown] == [*CYCLES["1"], *CYCLES["2"]], f"steps {shown}")
        check(len(shown) == len(steps) and all(a[0] == b[0] and abs(a[1] - b[1]) < 1e-3 for a, b in zip(shown, steps)),
              f"step times of {worker}: {shown} and {steps}")
        for tag in ("profile/operators/text_summary", "profile/memory/text_summary", "profile/steps/text_summary",
                    "profile_flame_graph/cpu"):
            check([step for step, _, _ in tags[tag]] == [last for _, last in CYCLES.values()], f"{tag} of each cycle")
        check(sum(tensor.float_val[0] for _, _, tensor in tags["profile/step_part/data_loader_ms"]) > 0, "data is loaded")


def check_dashboards(logdir, output, log):
    tables = {f"Steps{first}to{last}" for first, last in CYCLES.values()}
    signs = {name: {DASHBOARDS[name]} for name in ("scalars", "timeseries", "custom_scalars", "images", "text")}
    signs["scalars"] |= {*WORKERS}
    signs["text"] |= {*tables, *WORKERS}
    take_pictures(check, logdir, WORKERS, signs, output, log)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--output", type=pathlib.Path, help="a folder for screenshots")
    parser.add_argument("--chromium", default=os.environ.get("CHROMIUM", "/usr/bin/chromium"))
    parser.add_argument("part", choices=["plugin", "summaries", "dashboards"])
    parser.add_argument("logdir", type=pathlib.Path, metavar="LOG_DIR")
    options = parser.parse_args()
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        if options.part == "plugin":
            check_plugin(options, options.logdir, folder / "log")
        elif options.part == "summaries":
            check_summaries(options.logdir, folder)
        else:
            check_dashboards(options.logdir, options.output or folder, folder / "log")
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
