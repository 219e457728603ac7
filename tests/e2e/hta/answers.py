"""What HolisticTraceAnalysis says of traces as they are, recorded (recorded_answers.py). See traces_test.py for the figures."""
import argparse
import collections
import json
import pathlib
import subprocess
import tempfile

from e2e.consumers import Report, expect_option, run_name
from e2e.hta.traces_test import CANNOT_LOAD, figures, with_known_name
from e2e.recorded_answers import RecordedAnswers


def rows_of(program, verb, trace, *options):
    """The rows that the verb gives with --compat hta."""
    done = subprocess.run([program, verb, str(trace), "--compat", "hta", "--format", "json", "-q", *options],
                          capture_output=True, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")
    return json.loads(done.stdout)["rows"]


def chosen(table, columns):
    """Some columns of a table that starts with their names."""
    places = [table[0].index(column) for column in columns]
    return [[row[place] for place in places] for row in table[1]]


def answers(traces, report):
    """Each trace that it can load, with its figures; for others the reason has to be known."""
    on_file = RecordedAnswers("hta", "requirements.txt", "requirements_hta.txt", "hta/traces_test.py")
    for trace in traces:
        try:
            expected = on_file.of([trace])
            if expected is None:
                with tempfile.TemporaryDirectory() as scratch:
                    expected = figures(with_known_name(trace, pathlib.Path(scratch)))
                on_file.record([trace], expected)
        except Exception as error:
            where = run_name(trace)
            report(where in CANNOT_LOAD, f"{where}: HTA cannot load it: {type(error).__name__}: {error}")
            continue
        yield trace, expected


def compare_all(description, compare):
    """Calls compare(program, trace, expected, report, compared) for each trace of the command line. `compared` counts
    what was compared. Returns the exit code."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    expect_option(parser)
    parser.add_argument("traces", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    report = Report()
    compared = collections.Counter()
    for trace, expected in answers(options.traces, report):
        try:
            compare(options.tbtrace, trace, expected, report, compared)
        except Exception as error:
            report(False, f"{run_name(trace)}: {type(error).__name__}: {str(error)[:300]}")
    report.expect_counts(options.expect, compared)
    return report.end()
