#!/usr/bin/env python3
"""Opens traces of `tbtrace merge` in Perfetto's engine, in Catapult's importer, and in HolisticTraceAnalysis.

    python3 -m e2e.merged.viewers_test --tbtrace PATH [--chromium PATH] [--expect WHAT=COUNT]... FOLDER...

Each folder has the ranks of a job. The viewers have to load all slices, and complain of nothing more often than of the
ranks alone. In Perfetto no flow may lead from one rank to another, there have to be as many flows as in the ranks together,
and the processes have the names of their ranks. HolisticTraceAnalysis has to find as many kernels
as in the ranks together, with the same sum of their times.

Needs the packages of requirements.txt and requirements_hta.txt, and a Chromium; no network. Prints a line for each failure
and 'N passed, M failed'.
"""
import argparse
import collections
import logging
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

from playwright.sync_api import sync_playwright

from e2e.consumers import Report, expect_option, launch_chromium
from e2e.viewers.opened_viewers import opened_viewers

os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

from hta.trace_analysis import TraceAnalysis  # noqa: E402: it logs and warns while it is imported

FLOWS = """select (select count(*) from flow), (select count(*) from flow
  join slice a on flow.slice_out = a.id join thread_track ta on a.track_id = ta.id join thread ha on ta.utid = ha.utid
  join process pa on ha.upid = pa.upid
  join slice b on flow.slice_in = b.id join thread_track tb on b.track_id = tb.id join thread hb on tb.utid = hb.utid
  join process pb on hb.upid = pb.upid
  where substr(pa.name, 1, instr(pa.name, ':')) != substr(pb.name, 1, instr(pb.name, ':')))"""
NAMES = """select process.name, count(*) from slice join thread_track on slice.track_id = thread_track.id
  join thread using (utid) join process using (upid) group by process.name order by process.name"""


def kernels(paths):
    """How many kernels of a name there are, and their time."""
    count = collections.Counter()
    for path in paths:
        analysis = TraceAnalysis(trace_files={0: str(path)}, trace_dir="/", include_last_profiler_step=True)
        frame = analysis.t.get_trace(0)
        work = frame[frame["stream"] >= 0]
        names = analysis.t.symbol_table.get_sym_table()
        for name, duration in zip(work["name"], work["dur"]):
            count[names[name], "count"] += 1
            count[names[name], "time"] += round(float(duration), 3)
    return {key: round(value, 1) for key, value in count.items()}


def check(report, viewers, tbtrace, folder, scratch, compared):
    parts = sorted(path for path in folder.iterdir() if path.name.endswith((".json", ".json.gz")))
    merged = pathlib.Path(scratch) / f"{folder.name}.json.gz"
    done = subprocess.run([tbtrace, "merge", str(folder), "-o", str(merged)], capture_output=True, timeout=300)
    if not report(done.returncode == 0, f"{folder}: exit {done.returncode}: {done.stderr.decode()[-300:]}"):
        return
    together = {"dropped": 0, "bad": collections.Counter(), "warnings": collections.Counter(), "flows": 0}
    flows = 0
    for part in parts:
        said = viewers.answers(part)
        together["dropped"] += said["dropped"]
        together["flows"] += said["flows"]
        together["bad"].update(said["bad"])
        together["warnings"].update(said["warnings"])
        flows += viewers.perfetto.evaluate("(sql) => engine.query(sql)", FLOWS)[0][0]
    viewers.check(report, folder.name, merged, together)
    [[all_flows, between_ranks]] = viewers.perfetto.evaluate("(sql) => engine.query(sql)", FLOWS)
    report(between_ranks == 0, f"{folder.name}: {between_ranks} flows between ranks")
    report(all_flows == flows, f"{folder.name}: {all_flows} flows, {flows} in the ranks")
    compared["flows"] += all_flows
    names = viewers.perfetto.evaluate("(sql) => engine.query(sql)", NAMES)
    # Processes with a text as their id, such as `Spans`, have that for a name in Perfetto.
    report(all(name and re.fullmatch(r"rank \d+: .*|\w* \d+", name) for name, _ in names), f"{folder.name}: processes {names}")
    compared["processes"] += len(names)
    alone, mixed = kernels(parts), kernels([merged])
    report(alone == mixed, f"{folder.name}: HolisticTraceAnalysis: {mixed} instead of {alone}"[:600])
    compared["kernels"] += sum(value for (_, what), value in mixed.items() if what == "count")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    expect_option(parser)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    report = Report()
    compared = collections.Counter()
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        browser = launch_chromium(playwright, options.chromium)
        with opened_viewers(browser) as viewers:
            for folder in options.folders:
                check(report, viewers, options.tbtrace, folder, scratch, compared)
        browser.close()
    report.expect_counts(options.expect, compared)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
