#!/usr/bin/env python3
"""How much memory the program takes.

    memory_test.py PROGRAM [NAME...]

Each method is a CTest test cli.NAME.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
MIB = 1 << 20


def peak(*words, output="/dev/null"):
    """The largest resident set in bytes, of a call that succeeds. The kernel counts this process's own in, so that no
    large text may be in memory here."""
    with (open(output, "wb") as out,
          subprocess.Popen([PROGRAM, *words], stdout=out, stderr=subprocess.PIPE) as process):
        shown = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert (process.returncode, shown) == (0, b""), (words, process.returncode, shown)
    return usage.ru_maxrss * 1024


class Memory(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def trace_of(self, events):
        path = self.folder / "trace.json"
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"schemaVersion": 1, "traceEvents": [\n')
            for number, event in enumerate(events):
                file.write((",\n" if number else "") + event)
            file.write("\n]}\n")
        return str(path)

    def test_rows_of_events_are_not_kept(self):
        operator = ('{{"ph": "X", "cat": "cpu_op", "name": "aten::{}", "pid": 1, "tid": 140737353971520, "ts": {}, '
                    '"dur": {}, "args": {{"External id": {}, "Input Dims": [[{}, 64], []], '
                    '"Input type": ["float", "Scalar"]}}}}')
        count = 150_000
        names = ["multi_head_attention_forward", "add", "mul"]
        trace = self.trace_of(operator.format(names[n % 3], 10 * n, n % 9, n, n % 50) for n in range(count))
        summary = peak("ops", trace, "--threads", "1", "--group-by-input-shape")
        for form in ("text", "csv", "json", "md"):
            for sort in ([], ["--sort-by", "self_cpu_time_total"], ["--sort-by", "key"]):
                with self.subTest(form=form, sort=sort):
                    table = self.folder / "table"
                    listed = peak("ops", trace, "--threads", "1", "--per-event", "--row-limit", "-1", "--format", form,
                                  *sort, output=table)
                    with open(table, "rb") as lines:
                        self.assertGreater(sum(1 for _ in lines), count, "all rows are there")
                    self.assertLess(listed, summary + 16 * MIB)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=[sys.argv[0], *(f"Memory.test_{name}" for name in sys.argv[2:])])
