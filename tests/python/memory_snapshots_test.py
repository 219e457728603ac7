#!/usr/bin/env python3
"""Does `read_memory_snapshot()` take what people have, and are its tables those of the command line?

    memory_snapshots_test.py PROGRAM [NAME...]

Each method is a CTest test python.NAME.
"""

import copy
import gzip
import io
import json
import os
import pathlib
import pickle
import random
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/snapshots"))
import allocator as model  # noqa: E402
from undoing import states  # noqa: E402

import tbtrace  # noqa: E402

PROGRAM = ""
FAILED = ROOT / "tests/data/failed_training.pickle"
VIEWS = ("alive", "peak", "oom", "segments", "growth", "curve", "allocations")


class MemorySnapshots(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def printed(self, *arguments):
        run = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=True)
        return run.stdout

    def test_tables_of_memory_snapshots_are_those_of_the_command_line(self):
        path = self.folder / "rank3_memory_snapshot.pickle"
        path.write_bytes(model.pickled(model.snapshot(model.random_program(6)), 5))
        snapshot = tbtrace.read_memory_snapshot(path)
        self.assertEqual((snapshot.rank, snapshot.path, snapshot.issues), (3, str(path), []))
        for options in (*({"view": view} for view in VIEWS), {"at": "end"}, {"by": ["stack", "size"]}, {"by": "pool"}):
            with self.subTest(options):
                table = snapshot.memory(**options)
                flags = [f"--{name}={value if isinstance(value, str) else ','.join(value)}"
                         for name, value in options.items()]
                printed = json.loads(self.printed("memory", path, "--format=json", "-q", *flags))
                self.assertEqual(table.to_dicts(), printed["rows"])
        self.assertEqual(snapshot.memory("peak").to_dicts(), snapshot.memory(view="peak").to_dicts())
        lines = self.printed("summary", path).split("\n")[1:]
        words = " ".join(" ".join(lines).split())
        self.assertEqual(" ".join(snapshot.summary().split()), words)

    def test_bytes_by_stack_at_random_moments_are_those_of_undoing_entries(self):
        for seed in range(int(os.environ.get("SNAPSHOTS", "20"))):
            allocators = model.random_program(seed)
            made = model.snapshot(allocators, old=seed % 5 == 4)
            snapshot = tbtrace.read_memory_snapshot(model.pickled(made, (2, 3, 4, 5)[seed % 4]))
            for device in range(len(allocators)):
                entries = made["device_traces"][device]
                expected = states(made, device)
                for moment in random.Random(seed).choices(range(1, len(entries) + 1), k=50):
                    at_ns = 1000 * (entries[moment - 1]["time_us"] - entries[0]["time_us"])
                    table = snapshot.memory(at_ns=at_ns, by=("stack", "line"))
                    found = {(row["stack"], row["source_line"]): (row["bytes"], row["allocations"])
                             for row in table.to_dicts() if row["device"] == device}
                    sums = {}
                    for size, line, stack in expected[moment].values():
                        before = sums.get((stack, line), (0, 0))
                        sums[stack, line] = (before[0] + size, before[1] + 1)
                    self.assertEqual(found, sums, (seed, device, moment))
            graph = snapshot.flame_graph(at_ns=at_ns)
            self.assertEqual((graph.total, graph.unit), (snapshot.memory(at_ns=at_ns).totals["bytes"], "bytes"))
            if len(allocators) == 1:
                sums = {}
                for size, _, stack in expected[moment].values():
                    folded = ";".join(reversed(stack.split(" < ")))
                    sums[folded] = sums.get(folded, 0) + size
                lines = [line.rsplit(" ", 1) for line in graph.folded().splitlines()]
                self.assertEqual({stack: int(size) for stack, size in lines}, sums)
        self.assertEqual(set(table["moment"]), {"time"})
        self.assertEqual(snapshot.memory(at_ns=1 << 60).totals, snapshot.memory(at="end").totals)
        with self.assertRaisesRegex(ValueError, "a name or a time"):
            snapshot.memory(at="end", at_ns=3)

    def test_memory_snapshots_come_from_paths_bytes_files_and_torch(self):
        made = model.snapshot(model.random_program(7))
        content = model.pickled(made, 4)
        expected = tbtrace.read_memory_snapshot(content).memory().to_dicts()
        path = self.folder / "snapshot.pickle.gz"
        path.write_bytes(gzip.compress(content))
        with open(path, "rb") as file:
            sources = [path, str(path), bytearray(content), memoryview(content), io.BytesIO(content), file, made]
            for source in sources:
                rows = tbtrace.read_memory_snapshot(source).memory().to_dicts()
                self.assertEqual([row | {"rank": None} for row in rows], expected)
        of_segments = tbtrace.read_memory_snapshot(made["segments"], name="rank4")
        self.assertEqual((of_segments.rank, len(of_segments)), (4, 0))
        self.assertIn("rank4", repr(of_segments))
        with self.assertRaisesRegex(ValueError, "mode 'rb'"):
            tbtrace.read_memory_snapshot(io.StringIO("{}"))

    def test_memory_snapshots_are_compared(self):
        allocator = model.Allocator()
        before = tbtrace.read_memory_snapshot(model.snapshot([allocator]))
        allocator.alloc(3 * model.MIB, frames=[model.frame("train.py", 7, "step")])
        after = tbtrace.read_memory_snapshot(model.snapshot([allocator]))
        row, = before.diff(after, at="end").to_dicts()
        self.assertEqual((row["source_line"], row["difference_bytes"]), ("train.py(7): step", 3 * model.MIB))
        row, = after.diff(before, by="size").to_dicts()
        self.assertEqual((row["size_bytes"], row["difference_bytes"]), (3 * model.MIB, -3 * model.MIB))
        with self.assertRaisesRegex(ValueError, r"before\.diff\(after\)"):
            tbtrace.diff(before, after)

    def test_memory_snapshots_have_a_page(self):
        snapshot = tbtrace.read_memory_snapshot(FAILED)
        page = snapshot.report(title="out of memory", views="memory").html
        self.assertIn("<title>out of memory", page)
        self.assertIn('id="view-0-memory"', page)
        self.assertNotIn('id="view-0-flame_graph"', page)
        with self.assertRaisesRegex(ValueError, "only the views"):
            snapshot.report(views="kernels")

    def test_what_is_wrong_with_a_memory_snapshot_is_said(self):
        with self.assertRaisesRegex(tbtrace.TraceError, r"tbtrace\.read_memory_snapshot\(\)"):
            tbtrace.read(FAILED)
        with self.assertRaisesRegex(tbtrace.TraceError, "is not a memory snapshot"):
            tbtrace.read_memory_snapshot(ROOT / "tests/data/cpu_steps.json")
        with self.assertRaises(tbtrace.TraceFileNotFoundError):
            tbtrace.read_memory_snapshot(self.folder / "none.pickle")
        marker = self.folder / "ran"

        class Harmful:
            def __reduce__(self):
                return (pathlib.Path.touch, (marker,))
        with self.assertRaisesRegex(tbtrace.TraceError, "makes Python run code"):
            tbtrace.read_memory_snapshot(pickle.dumps({"segments": [], "device_traces": [[Harmful()]]}))
        self.assertFalse(marker.exists())
        cut = FAILED.read_bytes()[:-400]
        snapshot = tbtrace.read_memory_snapshot(cut)
        self.assertEqual([issue["id"] for issue in snapshot.issues], ["input_truncated"])
        with self.assertRaisesRegex(tbtrace.TraceError, "strict"):
            tbtrace.read_memory_snapshot(cut, strict=True)
        snapshot = tbtrace.read_memory_snapshot(FAILED)
        for wrong in ({"view": "colour"}, {"at": "noon"}, {"by": "colour"}):
            with self.assertRaises(ValueError):
                snapshot.memory(**wrong)
        with self.assertRaisesRegex(TypeError, "send its path"):
            pickle.dumps(snapshot)
        self.assertIs(copy.deepcopy(snapshot), snapshot)


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *(f"MemorySnapshots.test_{name}" for name in sys.argv[2:])])
