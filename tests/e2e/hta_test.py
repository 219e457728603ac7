#!/usr/bin/env python3
"""Compares HolisticTraceAnalysis on Kineto-dialect files of `tbtrace convert` with itself on the originals.

    hta_test.py --tbtrace PATH TRACE...

Time by type of kernel and by kernel, and the steps, have to be the same for each trace that it can load as it is. It
runs without its rounding of times to whole microseconds, which depends on where a trace's times start. What it said
of an original is recorded (recorded_answers.py).

Needs the packages of requirements_hta.txt. Prints a line for each failure and 'N passed, M failed'.
"""
import argparse
import logging
import math
import os
import pathlib
import shutil
import sys
import tempfile
import time
import warnings

from consumers import Report, convert, run_name
from recorded_answers import RecordedAnswers

os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

from hta.trace_analysis import TraceAnalysis  # noqa: E402: it logs and warns while it is imported

EVERYTHING = 1_000_000

# Traces that it cannot load as they are: they are not JSON, have a step without a number, or no duration at all.
CANNOT_LOAD = {
    "frame_names.trace", "frame_names_quoted.trace", "names_quoted.trace",
    "names_hard.trace", "names_python_export.trace",
    "test_inline.test_memory_curve_no_step_plot.0.worker0", "test_inline.test_memory_curve_step_plot.0.worker0",
}


def figures(path):
    """What it says about a trace: time by type, sum and longest and shortest by kernel, steps."""
    analysis = TraceAnalysis(trace_files={0: str(path)}, trace_dir="/", include_last_profiler_step=True)
    types, kernels = analysis.get_gpu_kernel_breakdown(
        visualize=False, duration_ratio=1.0, num_kernels=EVERYTHING, include_memory_kernels=True)
    work = analysis.t.traces[0]
    work = work[work["stream"].ne(-1)]
    return {
        # Times by type are of unions, for which it rounds each start and end to a microsecond.
        "rounding": len(work) if ((work["ts"] % 1 != 0) | (work["dur"] % 1 != 0)).any() else 0,
        "types": {row["kernel_type"]: float(row["sum"]) for _, row in types.iterrows()},
        "kernels": {f"{row['kernel_type']}: {row['name']}": [float(row[f"{which} (us)"]) for which in ("sum", "max", "min")]
                    for _, row in kernels.iterrows()},
        "steps": sorted(int(step) for step in analysis.get_profiler_steps()),
    }


def with_known_name(path, folder):
    """It takes names in .json and .gz for what they say; packed or not, a trace is found here under the right one."""
    data = path.read_bytes()
    name = folder / ("original.json.gz" if data[:2] == b"\x1f\x8b" else "original.json")
    shutil.copy(path, name)
    return name


def near(left, right, tolerance):
    if isinstance(left, list):
        return isinstance(right, list) and all(near(*pair, tolerance) for pair in zip(left, right, strict=True))
    return left is not None and right is not None and math.isclose(left, right, rel_tol=1e-9, abs_tol=tolerance)


def difference(expected, got):
    for what, tolerance in (("types", expected["rounding"]), ("kernels", 1e-3)):
        for key in expected[what].keys() | got[what].keys():
            if not near(expected[what].get(key), got[what].get(key), tolerance):
                return f"{what}: {key}: {got[what].get(key)}, expected {expected[what].get(key)}"
    if expected["steps"] != got["steps"]:
        return f"steps {got['steps']}, expected {expected['steps']}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("traces", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    report = Report()
    started = time.monotonic()
    compared = 0
    on_file = RecordedAnswers("hta", "requirements.txt", "requirements_hta.txt", "hta_test.py")
    for trace in options.traces:
        where = run_name(trace)
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            try:
                expected = on_file.of([trace])
                if expected is None:
                    expected = figures(with_known_name(trace, folder))
                    on_file.record([trace], expected)
            except Exception as error:  # whatever it cannot do with the original is not asked of the converted
                report(where in CANNOT_LOAD, f"{where}: it cannot load the original: {type(error).__name__}: {error}")
                continue
            report(where not in CANNOT_LOAD, f"{where}: it can load the original now")
            try:
                convert(options.tbtrace, [trace], folder / "logs", "run", "--to", "plugin", "--dialect", "kineto")
                file = next((folder / "logs" / "run").iterdir())
                wrong = difference(expected, figures(file))
                report(not wrong, f"{where}: {wrong}")
                compared += len(expected["kernels"])
            except Exception as error:
                report(False, f"{where}: {type(error).__name__}: {str(error)[:300]}")
    report(compared > 0, "no kernels compared")
    print(f"{compared} kernels compared, {time.monotonic() - started:.1f} s")
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
