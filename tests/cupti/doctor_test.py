#!/usr/bin/env python3
"""What `tbtrace --version --verbose` says of machines that have a GPU, or have not.

    doctor_test.py TBTRACE FAKE_DRIVER FAKE_CUPTI_124 FAKE_CUPTI_130

The libraries stand in for the driver and for CUPTI; the program finds them as it would find the real ones. Python 3,
nothing besides. Prints a line for each failure and 'N passed, M failed'.
"""
import json
import os
import pathlib
import subprocess
import sys

passed = failed = 0


def check(condition, what):
    global passed, failed
    passed, failed = passed + bool(condition), failed + (not condition)
    if not condition:
        print("FAIL", what)


def doctor(program, libraries, *arguments, **more):
    folders = [str(pathlib.Path(library).parent) for library in libraries]
    environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(folders), "ASAN_OPTIONS": "detect_leaks=0", **more}
    return subprocess.run([program, "--version", "--verbose", *arguments], capture_output=True, text=True, timeout=60, env=environment)


def main():
    program, driver, cupti_124, cupti_130 = sys.argv[1:]
    done = doctor(program, [driver, cupti_130])
    check(done.returncode == 0 and "GPU tracing   yes\n" in done.stdout, done)
    check("  driver      CUDA 13.0\n" in done.stdout and "  GPU 0       NVIDIA H200\n" in done.stdout, done.stdout)
    check(f"  CUPTI       CUDA 13.0 (130001), {cupti_130}\n" in done.stdout, done.stdout)
    check(doctor(program, [driver, cupti_130], "--strict").returncode == 0, "strict, with a GPU")

    tracing = json.loads(doctor(program, [driver, cupti_124], "--format", "json").stdout)["device_tracing"]
    check(tracing["available"] and tracing["problem"] == "" and tracing["cupti"] == "CUDA 12 (22)", tracing)
    check(tracing["devices"] == ["NVIDIA H200"], tracing)

    done = doctor(program, [driver], TBTRACE_CUPTI="/nowhere/libcupti.so")
    check(done.returncode == 0 and "GPU tracing   no: " in done.stdout and "/nowhere/libcupti.so" in done.stdout, done)
    check(doctor(program, [driver], "--strict", TBTRACE_CUPTI="/nowhere/libcupti.so").returncode == 1, "strict")
    done = doctor(program, [driver], TBTRACE_CUPTI="\x1b[31m")
    check("\x1b" not in done.stdout, repr(done.stdout))

    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
