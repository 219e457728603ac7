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

    def test_threads_do_not_keep_strings_of_their_own(self):
        """15 MB of names, each of which every thread meets."""
        operator = '{{"ph": "X", "cat": "cpu_op", "name": "{} {}", "pid": 1, "tid": 1, "ts": {}, "dur": 5}}'
        names = 50_000
        trace = self.trace_of(operator.format("long " * 50, 7919 * n % names, 10 * n) for n in range(3 * names))
        alone = peak("ops", trace, "--threads", "1")
        self.assertLess(peak("ops", trace, "--threads", "8"), alone + 40 * MIB)

    def test_lines_of_stacks_are_not_kept(self):
        """100 frames in each other, and 6,000 operators in the innermost: 34 MB of lines of 1 MB of events."""
        def events(depth=100, operators=6000):
            frame = ('{{"ph": "X", "cat": "python_function", '
                     '"name": "site-packages/model/layer.py({0}): forward of layer {0}", '
                     '"pid": 1, "tid": 1, "ts": {0}, "dur": {1}, "args": {{"Python id": {0}}}}}')
            operator = '{{"ph": "X", "cat": "cpu_op", "name": "op {}", "pid": 1, "tid": 1, "ts": {}, "dur": 1}}'
            yield from (frame.format(level, 100_000 - 2 * level) for level in range(depth))
            yield from (operator.format(number, 200 + 2 * number) for number in range(operators))

        trace = self.trace_of(events())
        summary = peak("ops", trace, "--threads", "1")
        for output in ("-", self.folder / "stacks.folded"):
            stacks = self.folder / "stacks.folded"
            stacks.unlink(missing_ok=True)
            folded = peak("flamegraph", trace, "--threads", "1", "--format", "folded", "-o", str(output),
                          output=stacks if output == "-" else "/dev/null")
            with open(stacks, "rb") as lines:
                self.assertEqual(sum(1 for _ in lines), 6000 + 100)
            self.assertGreater(stacks.stat().st_size, 30_000_000)
            self.assertLess(folded, summary + 8 * MIB)

    def test_lines_of_exported_stacks_are_not_kept(self):
        stack = "".join(f"site-packages/model/layer.py({level}): forward of layer {level};" for level in range(60))
        operator = ('{{"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": {}, "dur": 1, '
                    '"args": {{"Call stack": "' + stack + '"}}}}')
        trace = self.trace_of(operator.format(2 * number) for number in range(10_000))
        summary = peak("ops", trace, "--threads", "1")
        lines = self.folder / "lines"
        exported = peak("flamegraph", trace, "--threads", "1", "--compat", "torch", output=lines)
        self.assertGreater(lines.stat().st_size, 25_000_000)
        self.assertLess(exported, summary + 8 * MIB)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=[sys.argv[0], *(f"Memory.test_{name}" for name in sys.argv[2:])])
