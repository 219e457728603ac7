#!/usr/bin/env python3
"""Compiles a model with AOTInductor, runs it with examples/infer_aot_inductor.cc, and reads what this says and records.

    infer_aot_inductor_test.py PROGRAM PYTHON

PYTHON has torch of the version that the program is linked with, and compiles for 20 s.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

RUNS = 4  # that the program's schedule records
COMPILE = pathlib.Path(__file__).resolve().parents[2] / "examples/compile_aot_inductor.py"


def infer(program, *arguments):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=100)


def main():
    program, python = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        model, logs = folder / "model.pt2", folder / "logs"
        environment = os.environ | {"TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")}
        subprocess.run([python, COMPILE, model], check=True, env=environment, stderr=subprocess.DEVNULL, timeout=250)

        done = infer(program, logs, model, 16, 256)
        assert done.returncode == 0, done.stderr
        assert "MACs, FLOPs             not recorded, not recorded" in done.stdout, done.stdout
        assert "Operators without a rule" in done.stdout, done.stdout
        (path,) = logs.glob("*.pt.trace.json")
        events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
        calls = collections.Counter(event["name"] for event in events if event["ph"] == "X")
        assert calls["model_inference"] == RUNS, calls
        assert calls["aoti_torch_cpu_addmm_out"] == 2 * RUNS, calls
        kernels = [name for name in calls if "cpp_fused" in name]
        assert len(kernels) == 2 and all(calls[name] == RUNS for name in kernels), calls
        assert "aoti_torch_cpu_addmm_out" in done.stdout and "Self CPU time total" in done.stdout, done.stdout

        missing = infer(program, logs, folder / "missing.pt2", 16, 256)
        assert missing.returncode == 1 and missing.stderr, missing
    print(f"{len(kernels)} kernels, each in {RUNS} runs; 1 model refused")


if __name__ == "__main__":
    main()
