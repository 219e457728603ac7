#!/usr/bin/env python3
"""Runs `tbtrace check` on all traces of DIR... and compares its errors and warnings with those that were looked at.

    check_alarms.py --tbtrace PATH DIR...

A trace that is not listed below must have none. The last line is 'N passed, N failed'.
"""
import argparse
import json
import pathlib
import subprocess
import sys

# By the end of the path: what was found right when looking at the trace.
ALARMS = {
    # MTIA's waits and some copies have no correlation: 26 % of the device time.
    "mtia_inference_rank_0.json.gz": {"kernels_without_launch"},
    # 614 copies whose launch is not in the file: 6 % of the device time.
    "trace_diff/test/test.json.gz": {"kernels_without_launch"},
    # Recorded with profile_all_threads, with which torch records no allocations.
    "/threads/trace.json.gz": {"option_without_data"},
    # Made by hand, with a kernel whose launch is missing or later, ids that repeat, or steps without kernels.
    "test_build_module_hierarchy.0.worker0.pt.trace.json": {"repeated_external_ids"},
    "test_distributed_gloo_gpu.0.worker0.pt.trace.json": {"kernels_without_launch"},
    "test_distributed_gloo_gpu.1.worker1.pt.trace.json": {"kernels_without_launch"},
    "test_distributed_nccl.0.worker0.pt.trace.json": {"kernels_without_launch"},
    "test_distributed_nccl.1.worker1.pt.trace.json": {"kernels_without_launch"},
    "test_external_id.0.worker0.pt.trace.json": {"work_before_launch"},
    "test_group_by_kernel_columns.0.worker0.pt.trace.json": {"work_before_launch"},
    "test_last_steps_no_kernel.0.worker0.pt.trace.json": {"kernels_without_launch"},
    "test_memory_view.0.worker0.pt.trace.json": {"repeated_external_ids"},
    "test_multiple_profilersteps_with_overlap.0.worker0.pt.trace.json": {"kernels_without_launch"},
}


def alarms_of(program, trace):
    """None: not a trace."""
    done = subprocess.run([program, "check", str(trace), "--format", "json"], capture_output=True, timeout=300)
    if done.returncode == 3:
        return None
    found = {row["id"] for row in json.loads(done.stdout)["rows"] if row["severity"] != "info"}
    if done.returncode != (1 if found else 0):
        raise RuntimeError(f"{trace}: exit {done.returncode} with {sorted(found)}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    passed, failed, listed = 0, 0, set()
    for folder in options.folders:
        for trace in sorted([*folder.rglob("*.json"), *folder.rglob("*.json.gz")]):
            if "plugin_out" in trace.parts:
                continue
            found = alarms_of(options.tbtrace, trace)
            if found is None:
                continue
            names = [name for name in ALARMS if str(trace).endswith(name)]
            listed.update(names)
            expected = ALARMS[names[0]] if names else set()
            passed += found == expected
            if found != expected:
                failed += 1
                print(f"{trace}: {sorted(found)}, expected {sorted(expected)}")
    for name in sorted(set(ALARMS) - listed):
        failed += 1
        print(f"{name}: not found")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
