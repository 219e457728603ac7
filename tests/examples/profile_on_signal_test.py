#!/usr/bin/env python3
"""Does a program record when it is asked to, and only then?

    profile_on_signal_test.py PROGRAM
"""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time


def main():
    with tempfile.TemporaryDirectory() as folder:
        logs = pathlib.Path(folder)
        with subprocess.Popen([sys.argv[1], folder, "20"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == f"kill -USR1 {process.pid}\n"
            time.sleep(0.5)
            assert not list(logs.glob("*.json")), "it records before it is asked to"
            for count in (1, 2):
                process.send_signal(signal.SIGUSR1)
                while len(list(logs.glob("*.pt.trace.json"))) < count:
                    assert process.poll() is None, "it ended before it had recorded"
                    time.sleep(0.1)
            _, warnings = process.communicate(timeout=120)
            assert process.returncode == 0, process.returncode
            assert "schedule" not in warnings, warnings
        traces = sorted(logs.glob("*.pt.trace.json"))
        assert len(traces) == 2, traces
        for trace in traces:
            names = [event["name"] for event in json.loads(trace.read_bytes())["traceEvents"]]
            assert sum(name.startswith("ProfilerStep#") for name in names) == 3, names
            assert names.count("Optimizer.step#SGD.step") == 3, names
        # Nobody asks: no files, and no warning that nothing was recorded.
        quiet = subprocess.run([sys.argv[1], folder + "/quiet", "1"], capture_output=True, text=True, check=True)
        assert not quiet.stderr and not pathlib.Path(folder, "quiet").exists(), quiet.stderr
    print("2 requests, 2 recordings of 3 steps")


if __name__ == "__main__":
    main()
