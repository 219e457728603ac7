#!/usr/bin/env python3
"""What `tbtrace convert` leaves when it is killed: all outputs of before are readable, and the next call finishes.

    killed_conversion_test.py PROGRAM [NAME...]

Each method is a CTest test cli.NAME. TBTRACE_KILLS=N kills each command N times instead of 6 times. Moments are
spread over the time that an undisturbed call takes. Outputs are read by Python's own gzip and JSON, and by
tests/golden/tfrecords.py.
"""

import gzip
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "golden"))
from tfrecords import records  # noqa: E402

PROGRAM = ""
KILLS = int(os.environ.get("TBTRACE_KILLS", "6"))
RANKS = 8
EVENT = '{{"ph": "X", "cat": "cpu_op", "name": "{name}", "pid": 1, "tid": 1, "ts": {ts}, "dur": 1}}'


def write_ranks(folder, name):
    """Traces of about 150 kB, in which every operator is called `name`."""
    folder.mkdir(exist_ok=True)
    for rank in range(RANKS):
        events = ",".join(EVENT.format(name=name, ts=1000 + 2 * row) for row in range(2000))
        text = f'{{"baseTimeNanoseconds": 1790857026000000000, "traceEvents": [{events}]}}'
        (folder / f"rank{rank}.json").write_text(text, encoding="utf-8")


def name_in(path):
    """The operator's name in an output, which has to be whole."""
    data = path.read_bytes()
    if "tfevents" in path.name:
        found = set(re.findall(rb"operator_of_\w+", b"".join(records(data))))
        assert len(found) == 1, (path, found)
        return found.pop().decode()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    names = {event["name"] for event in json.loads(data)["traceEvents"] if event["ph"] == "X"}
    assert len(names) == 1, (path, names)
    return names.pop()


def outputs(logs):
    """By run, worker and kind, whatever the file is called: the names in it."""
    found = {}
    for path in sorted(logs.rglob("*")):
        if path.is_dir() or path.name == ".lock" or ".tbtrace-partial" in str(path):
            continue
        place = path.relative_to(logs)
        is_summary = "tfevents" in path.name
        worker = place.parent.name if is_summary else path.name.split(".")[0]
        found.setdefault((worker, is_summary), []).append(name_in(path))
    return found


class KilledConversion(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.moments = random.Random(7)

    def run_whole(self, *words):
        begun = time.monotonic()
        done = subprocess.run([PROGRAM, "convert", "ranks", "-o", "logs", *words], cwd=self.folder, capture_output=True,
                              timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return time.monotonic() - begun

    def run_and_kill(self, seconds, *words):
        process = subprocess.Popen([PROGRAM, "convert", "ranks", "-o", "logs", *words], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(seconds)
        process.kill()
        process.wait(timeout=60)

    def check(self, *target):
        logs, kept = self.folder / "logs", self.folder / "kept"
        write_ranks(self.folder / "ranks", "operator_of_before")
        self.run_whole(*target)
        before = outputs(logs)
        shutil.copytree(logs, kept)
        write_ranks(self.folder / "ranks", "operator_of_now")
        # The other form of the traces, so that files get other names than those they replace.
        now = [*target, "--overwrite", *(["--no-gzip"] if target != ("--to", "tensorboard") else [])]
        whole = self.run_whole(*now)
        after = outputs(logs)
        self.assertEqual(set(after), set(before))
        self.assertEqual({name for names in after.values() for name in names}, {"operator_of_now"})

        for number in range(KILLS):
            seconds = whole * (number + self.moments.random()) / KILLS
            with self.subTest(seconds=seconds, command=now):
                shutil.rmtree(logs)
                shutil.copytree(kept, logs)
                self.run_and_kill(seconds, *now)
                self.assertEqual(set(outputs(logs)), set(before), "nothing of before is gone")
                self.run_whole(*now)
                self.assertEqual(outputs(logs), after)
                self.assertEqual(list(self.folder.glob(".logs*")), [])
            fresh = list(target)
            with self.subTest(seconds=seconds, command=fresh):
                shutil.rmtree(logs)
                self.run_and_kill(seconds, *fresh)
                if logs.exists():
                    outputs(logs)  # each of them is whole
                self.run_whole(*fresh, "--skip-existing")
                self.assertEqual(outputs(logs), {place: ["operator_of_now"] for place in before})
                self.assertEqual(list(self.folder.glob(".logs*")), [])

    def test_killed_conversion_to_traces(self):
        self.check("--to", "plugin")

    def test_killed_conversion_to_event_files(self):
        self.check("--to", "tensorboard")

    def test_killed_conversion_to_traces_and_event_files(self):
        self.check("--to", "both")


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *(f"KilledConversion.test_{name}" for name in sys.argv[2:])])
