#!/usr/bin/env python3
"""Trains a model whose operators also keep a GPU busy that is not there, and shows the log directory to TensorBoard
with torch-tb-profiler.

    python3 -m e2e.recorded.gpu_test --tbtrace PATH --program libtorch_train_on_fake_gpu

The program prints what its GPU did, which is what the file, `tbtrace ops` and the plugin's views have to say. Needs the
packages of requirements.txt. Prints a line for each failure and 'N passed, M failed'.
"""
import collections
import gzip
import json
import math
import subprocess
import sys

from e2e.consumers import Report
from e2e.plugin.log_directory_test import check_run
from e2e.recorded.logs_test import Recorded
from e2e.recorded.program import files_in, log_directory, on_tensorboard, read_options, recorded

DEMANGLED = {"_Z14sgemm_128x128nPfS_": "sgemm_128x128n(float*, float*)", "_Z4reluPf": "relu(float*)",
             "_Z3addPfS_f": "add(float*, float*, float)"}
ROUNDING = 4  # ns of a range: both its ends are rounded to ticks, and to nanoseconds


def near(got_ns, calls_and_ns):
    calls, expected_ns = calls_and_ns
    return abs(got_ns - expected_ns) <= ROUNDING * max(calls, 1)


def check_file(report, path, truth):
    text = gzip.open(path, "rt").read() if path.suffix == ".gz" else path.read_text()
    trace = json.loads(text)
    report(trace["deviceProperties"][0]["name"] == "NVIDIA H200", f"devices {trace['deviceProperties']}")
    report(trace["cupti_version"] == 130001 and trace["cuda_driver_version"] == 13000, "versions")
    check = trace["tbtrace_launch_check"]
    report(check["different"] == 0 and check["calls"] > 20, f"links and what the driver was told: {check}")
    kernels = collections.defaultdict(lambda: [0, 0])
    for event in trace["traceEvents"]:
        if str(event.get("cat", "")).lower() == "kernel":
            kernels[event["name"]][0] += 1
            kernels[event["name"]][1] += round(event["dur"] * 1000)
            report("External id" in event["args"] or "external id" in event["args"], f"unlinked {event}")
    report(kernels.keys() == truth["kernels"].keys(), f"kernels {dict(kernels)}")
    for name, (calls, total_ns) in kernels.items():
        report(calls == truth["kernels"][name][0] and near(total_ns, truth["kernels"][name]),
               f"{name}: {calls} in {total_ns} ns, expected {truth['kernels'][name]}")


def check_ops(report, tbtrace, path, truth):
    done = subprocess.run([tbtrace, "ops", str(path), "--format", "json"], capture_output=True, timeout=60)
    rows = {row["key"]: row for row in json.loads(done.stdout)["rows"] if row["device_type"] == "CPU"}
    for name, (calls, total_ns) in truth["operators"].items():
        got = rows[name]["self_device_time_total_ns"]
        report(near(got, (calls, total_ns)), f"{name}: {got} ns on the device, expected {total_ns}")


def check_views(report, span, truth):
    kernels = dict(span.get("kernel")["total"]["rows"])
    for name, expected in truth["kernels"].items():
        report(near(kernels.get(name, 0) * 1000, expected), f"Kernel view: {name} {kernels.get(name)} us")
    table = {row["name"]: row for row in span.get("operation/table", group_by="Operation")["data"]}
    for name, expected in truth["operators"].items():
        got = table.get(name, {}).get("device_self_duration", 0)
        report(near(got * 1000, expected), f"Operator view: {name} {got} us on the device, expected {expected}")
    overview = span.get("overview")
    gpus = {row["title"]: row["value"] for row in overview.get("gpu_metrics", {}).get("data", [])}
    report(gpus.get("Name") == "NVIDIA H200" and gpus.get("Compute Capability") == "9.0", f"GPU summary {gpus}")
    # The time in which the GPU did anything: kernels one after another on one stream, and copies.
    busy_ns = sum(total for _, total in truth["kernels"].values())
    names = [column.get("name") for column in overview["steps"]["columns"]]
    steps = overview["steps"]["rows"]
    report(len(steps) == truth["steps"], f"steps {steps}")
    at = names.index("Kernel")
    kernel_us = math.fsum(row[at] for row in steps if not isinstance(row[at], str))
    report(kernel_us > 0 and kernel_us * 1000 <= busy_ns * 1.001, f"Kernel in steps: {kernel_us} us of {busy_ns} ns")
    curve = span.get("memory_curve", time_metric="ms", memory_metric="MB")
    report(curve["rows"].get("CPU"), "no curve of memory")
    of_gpu = curve["rows"].get("GPU0", [])
    peak = max((row[1] for row in of_gpu), default=0)
    report(abs(peak - truth["peak_bytes"] / 2**20) < 0.01, f"Memory view: peak {peak} MB, expected {truth['peak_bytes']} B")
    by_operator = {row[0]: row for row in span.get("memory", memory_metric="KB")["rows"].get("GPU0", [])}
    for name, (calls, _) in truth["operators"].items():
        # A block of 1 MiB for each call, given back at once.
        got = by_operator.get(name, [name] + [0] * 7)
        report(got[5] == calls and got[7] == 1024 * calls and got[3] == 0, f"Memory view: {got} for {calls} calls")
    got = by_operator.get("aten::ones", [0] * 8)
    report(got[3] == 2048 * truth["steps"], f"Memory view: {got}, expected 2048 KB for each of {truth['steps']} steps")


def main():
    options = read_options(__doc__)
    report = Report()
    with log_directory() as logdir:
        truth = json.loads(recorded(report, options.program, logdir / "gpu"))
        truth["kernels"] = {DEMANGLED.get(name, name): counts for name, counts in truth["kernels"].items()}
        files = files_in(logdir / "gpu")
        report(len(files) == 1, f"files {files}")
        check_file(report, files[0], truth)
        check_ops(report, options.tbtrace, files[0], truth)
        run = Recorded(files, "gpu")
        with on_tensorboard(report, logdir, run):
            report(run.views == ["Overview", "Operator", "Kernel", "Trace", "Memory"], f"views {run.views}")
            check_run(report, options.tbtrace, run)
            check_views(report, run.spans[0], truth)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
