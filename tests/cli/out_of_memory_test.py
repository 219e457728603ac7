#!/usr/bin/env python3
"""What the program does where memory runs out.

    out_of_memory_test.py PROGRAM [NAME...]

Each method is a CTest test cli.NAME. Each runs a verb under 30 limits of its address space, from one at which the
program just starts to one at which it succeeds.
"""

import gzip
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib

PROGRAM = ""
SIZES = 30
KIB = 1024
MOST = 8 << 20  # KiB; more than anything here takes
STEP = 64       # KiB; what is searched for is found to within it


def run(words, folder, limit):
    """The call's end under a limit in KiB. `folder` is empty before, and its working directory."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return subprocess.run([PROGRAM, *words], cwd=folder, capture_output=True, timeout=60,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit * KIB, limit * KIB)))


def files(folder):
    """The sizes of all files, but of compressed ones a checksum of their text: their own sizes and the order of some
    entries of event files are left to chance."""
    def content(path):
        return zlib.crc32(gzip.decompress(path.read_bytes())) if path.suffix == ".gz" else path.stat().st_size
    return {str(path.relative_to(folder)): content(path) for path in folder.rglob("*") if path.is_file()}


class OutOfMemory(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.work = self.folder / "work"

    def trace(self, name="trace.json", count=25_000):
        """Some MB of operators with all that verbs look at."""
        event = ('{{"ph": "X", "cat": "cpu_op", "name": "aten::op_{}", "pid": 1, "tid": {}, "ts": {}, "dur": {}, '
                 '"args": {{"External id": {}, "Input Dims": [[{}, 64], []], "Input type": ["float", "Scalar"], '
                 '"Call stack": "model.py({}): forward;train.py(3): main"}}}}')
        path = self.folder / name
        path.write_text('{"schemaVersion": 1, "with_stack": 1, "record_shapes": 1, "traceEvents": [\n' + ",\n".join(
            event.format(n % 997, n % 5, 10 * n, n % 17, n, n % 50, n % 300) for n in range(count)) + "\n]}\n")
        return str(path)

    def trace_of_kernels(self):
        """Some MB of steps, launches, kernels and memory events."""
        rows = []
        for n in range(6000):
            start = 10 * n
            if n % 600 == 0:
                rows.append(f'"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{n // 600}", "pid": 1, '
                            f'"tid": 1, "ts": {start}, "dur": 6000, "args": {{}}')
                rows.append(f'"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": {start}, '
                            f'"dur": 6000, "args": {{}}')
            rows.append(f'"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, '
                        f'"ts": {start}, "dur": 3, "args": {{"correlation": {n + 1}}}')
            rows.append(f'"ph": "X", "cat": "kernel", "name": "kernel_{n % 97}", "pid": 0, "tid": 7, '
                        f'"ts": {start + 4}, "dur": 5, "args": {{"device": 0, "stream": 7, "correlation": {n + 1}}}')
            rows.append(f'"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 1, "tid": 1, '
                        f'"ts": {start}, "args": {{"Addr": {4096 * (n // 2)}, "Bytes": {512 if n % 2 == 0 else -512}, '
                        f'"Device Type": 0, "Device Id": -1, "Total Allocated": 512, "Total Reserved": 0}}')
        path = self.folder / "kernels.json"
        path.write_text('{"schemaVersion": 1, "traceEvents": [\n' +
                        ",\n".join(f"{{{row}}}" for row in rows) + "\n]}\n")
        return str(path)

    def least(self, words):
        """The lowest limit at which a call succeeds."""
        low, high = 0, MOST
        self.assertEqual(run(words, self.work, high).returncode, 0, words)
        while high - low > STEP:
            middle = (low + high) // 2
            try:
                succeeds = run(words, self.work, middle).returncode == 0
            except (OSError, subprocess.SubprocessError):  # too little even for the program to be loaded
                succeeds = False
            low, high = (low, middle) if succeeds else (middle, high)
        return high

    def check(self, *calls, inputs=1, failing=True):
        """`failing`: the call takes so much more than the start of the program that it can fail."""
        start = self.least(["--version"])
        for words in calls:
            one_thread = any(words[at:at + 2] in (["-j", "1"], ["--threads", "1"]) for at in range(len(words)))
            whole = run(words, self.work, MOST)
            expected = files(self.work)
            enough = self.least(words)
            failed = succeeded = 0
            # With several threads what was enough may be too little another time.
            steps = [start + (enough - start) * size // (SIZES - 2) for size in range(SIZES - 2)]
            for limit in [*steps, enough, MOST]:
                with self.subTest(words=words, limit=limit):
                    end = run(words, self.work, limit)
                    lines = end.stderr.decode().splitlines()
                    if end.returncode == 0:
                        succeeded += 1
                        self.assertEqual(lines, [])
                        # Threads decide which of several inputs is told first.
                        self.assertEqual(sorted(end.stdout.splitlines()), sorted(whole.stdout.splitlines()))
                        self.assertEqual(files(self.work), expected, "nothing was left out for want of memory")
                        continue
                    failed += 1
                    self.assertIn(end.returncode, (3, 5) if inputs == 1 else (3, 4, 5), lines)
                    if inputs > 1:  # one may be finished before the call ends
                        waiting = [line for line in lines if re.search(r"has \d+ finished files .* --skip-existing", line)]
                        self.assertLessEqual(len(waiting), 1)
                        lines = [line for line in lines if line not in waiting]
                    # What prints a line may run out of memory, too, while other threads read; that ends the call.
                    self.assertTrue(1 <= len(lines) <= inputs + (inputs > 1), lines)
                    for line in lines:
                        self.assertRegex(line, r"^tbtrace: .*memory.*; .+$")
                        if one_thread:
                            self.assertNotIn("threads", line)
                    if inputs == 1:
                        self.assertEqual(files(self.work), {})
                    self.assertEqual([name for name in files(self.work) if ".tmp-" in name or ".partial" in name], [])
            self.assertGreater(succeeded, 0, words)
            self.assertGreaterEqual(failed, 1 if failing else 0, words)

    def test_out_of_memory_in_summaries(self):
        trace = self.trace()
        for threads in READING_THREADS:
            self.check(["ops", trace, "--threads", threads],
                       ["ops", trace, "--threads", threads, "--group-by-stack-n", "2", "-o", "operators.csv"],
                       ["ops", trace, "--threads", threads, "--strict-totals", "--format", "json"])

    def test_out_of_memory_in_event_lists(self):
        trace = self.trace()
        for threads in READING_THREADS:
            self.check(["ops", trace, "--threads", threads, "--per-event", "--sort-by", "key", "-o", "events.json"],
                       ["ops", trace, "--threads", threads, "--per-event", "-o", "events.md"])

    def test_out_of_memory_in_analyses(self):
        trace = self.trace_of_kernels()
        for threads in READING_THREADS:
            self.check(*([verb, trace, "--threads", threads] for verb in
                         ("summary", "steps", "kernels", "gpu", "memory", "check")))

    def test_out_of_memory_in_flame_graphs(self):
        trace = self.trace()
        for threads in READING_THREADS:
            self.check(["flamegraph", trace, "--threads", threads, "-o", "flame.svg"],
                       ["flamegraph", trace, "--threads", threads, "-o", "stacks.folded"],
                       ["flamegraph", trace, "--threads", threads, "--compat", "torch"])

    def test_out_of_memory_in_pictures(self):
        picture = ["flamegraph", self.trace(), "--threads", "1", "-o", "flame.png"]
        self.check(picture)

    def test_out_of_memory_in_conversions(self):
        trace = self.trace()
        for threads in READING_THREADS:
            self.check(["convert", trace, "-j", threads, "-o", "logs", "--to", "plugin"])

    def test_out_of_memory_in_event_files(self):
        trace = self.trace()
        for threads in READING_THREADS:
            self.check(["convert", trace, "-j", threads, "-o", "logs", "--to", "tensorboard"])

    def test_out_of_memory_in_traces_and_event_files(self):
        trace = self.trace()
        for threads in READING_THREADS:
            self.check(["convert", trace, "-j", threads, "-o", "logs"])

    def test_out_of_memory_in_conversions_of_several(self):
        traces = [self.trace(f"rank{rank}.json", 10_000 + 5000 * rank) for rank in range(3)]
        for threads in ("1", "2", "8"):
            self.check(["convert", *traces, "-j", threads, "-o", "logs", "--to", "plugin"], inputs=len(traces))

    def test_max_memory_ends_with_a_sentence(self):
        trace = self.trace(count=400_000)
        for verb in (["ops"], ["slice", "--time", "0-1s", "-o", "part.json"]):
            for limit, code in (("32MB", 3), ("4GB", 0), ("1KB", 2)):
                with self.subTest(verb=verb, limit=limit):
                    ended = run([*verb, trace, "--max-memory", limit], self.work, MOST)
                    self.assertEqual(ended.returncode, code, ended.stderr)
                    if code == 3:
                        self.assertIn(b"needs more memory than there is", ended.stderr)
                        self.assertEqual(files(self.work), {})

    def test_out_of_memory_in_a_look_at_the_machine(self):
        self.check(["--version", "--verbose"], failing=False)


READING_THREADS = ("1", "2", "8")

if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=[sys.argv[0], *(f"OutOfMemory.test_{name}" for name in sys.argv[2:])])
