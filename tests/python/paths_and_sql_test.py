#!/usr/bin/env python3
"""Do paths as people write them, file objects and queries in SQL give what plain paths and methods give?

    paths_and_sql_test.py [NAME...]

Each method is a CTest test python.NAME.
"""

import errno
import importlib.util
import io
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import tbtrace
from tbtrace import _sql

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests/data"
STEP = DATA / "gpu_step.json"


class Pieces(io.RawIOBase):
    """A file object that gives a few bytes at a time."""

    def __init__(self, content, fails_at=None):
        self.content = content
        self.at = 0
        self.fails_at = fails_at

    def read(self, size=-1):
        assert size > 0, "read to its end at once"
        if self.fails_at is not None and self.at >= self.fails_at:
            raise ConnectionError("the line is cut")
        piece = self.content[self.at:self.at + 700]
        self.at += len(piece)
        return piece


class PathsAndSql(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tbtrace-paths-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.wanted = tbtrace.read(STEP).events().to_dicts()

    def test_missing_files_are_named_by_every_function(self):
        one, other = (str(self.folder / name) for name in ("one.json", "other.json"))
        out = self.folder / "out"
        for call, missing in (
                (lambda: tbtrace.read(one), [one]),
                (lambda: tbtrace.Partial.read(one), [one]),
                (lambda: tbtrace.TraceSet.open(one), [one]),
                (lambda: tbtrace.TraceSet.open([one, other]), [one, other]),
                (lambda: tbtrace.convert([one, STEP], out), [one]),
                (lambda: tbtrace.diff(one, other), [one, other]),
                (lambda: tbtrace.diff([STEP, one], other), [one, other]),
                (lambda: tbtrace.compare_report(one, other), [one, other]),
                (lambda: tbtrace.write_baseline(out / "b.tbb", [STEP, one]), [one]),
                (lambda: tbtrace.local.summarize([one, other]), [one, other]),
                (lambda: tbtrace.local.rows([STEP, one], "steps"), [one])):
            with self.assertRaises(tbtrace.TraceFileNotFoundError) as raised:
                call()
            for problem in (raised.exception, pickle.loads(pickle.dumps(raised.exception))):
                self.assertIsInstance(problem, FileNotFoundError)
                self.assertEqual((problem.errno, problem.filename), (errno.ENOENT, missing[0]))
                for path in missing:
                    self.assertIn(path, str(problem))
                self.assertNotIn("Errno", str(problem))
        with self.assertRaisesRegex(tbtrace.TraceFileNotFoundError, "^rank 0: ") as raised:
            tbtrace.read(one, name="rank 0")
        self.assertEqual(raised.exception.filename, one)
        for call in (lambda: tbtrace.read(b"text", name=one), lambda: tbtrace.TraceSet.open({one: b"text"}),
                     lambda: tbtrace.read(DATA / "text.txt")):
            with self.assertRaises(tbtrace.TraceError) as raised:
                call()
            self.assertNotIsInstance(raised.exception, FileNotFoundError)

    def test_read_takes_the_only_trace_of_a_pattern(self):
        ranks = DATA / "slow_loader_job"
        wanted = str(ranks / "rank1.json")
        with tempfile.TemporaryDirectory() as folder:
            alone = pathlib.Path(folder, "a[1].json")
            alone.write_bytes(STEP.read_bytes())
            for source, path in (([wanted], wanted), ((ranks / "rank1.json",), wanted), (ranks / "rank[1].json", wanted),
                                 (str(ranks / "*1.json"), wanted), (folder, str(alone)), (alone, str(alone))):
                self.assertEqual(tbtrace.read(source).path, path)
        for source in (ranks, str(ranks / "rank*.json"), [ranks / "rank0.json", ranks / "rank1.json"]):
            with self.assertRaisesRegex(ValueError, r"one trace, and there are [24]: .*rank0.json, .*rank1.json.*TraceSet.open"):
                tbtrace.read(source)
        with self.assertRaisesRegex(tbtrace.TraceFileNotFoundError, "rank7"):
            tbtrace.read(ranks / "rank7*.json")
        with self.assertRaisesRegex(ValueError, "the list is empty"):
            tbtrace.read([])

    @unittest.skipUnless(importlib.util.find_spec("duckdb"), "duckdb is not installed")
    def test_sql_knows_groupings_and_views(self):
        trace = tbtrace.read(STEP)
        by_two = trace.operators(("overload_name", "shape"), figures="exact")
        for name, table in (("kernels_by_operator", trace.kernels("operator")),
                            ("kernels_by_step_name", trace.kernels(("step", "name"))),
                            ("operators_by_overload_name_shape", by_two),
                            ("gpu_by_stream", trace.gpu("stream")), ("modules_by_type", trace.modules("type")),
                            ("memory_curve", trace.memory("curve")), ("lines_memory", trace.lines(view="memory")),
                            ("KERNELS_BY_DEVICE", trace.kernels("device"))):
            relation = trace.sql(f"select * from {name}")
            self.assertEqual(relation.columns, table.columns, name)
            self.assertEqual(len(relation.fetchall()), len(table), name)
        for key in _sql._OPERATOR_KEYS:
            self.assertEqual(trace.sql(f"select count(*) from operators_by_{key}").fetchall(),
                             [(len(trace.operators(key, figures="exact")),)])
        hint = str(tbtrace.Trace.operators.__annotations__["group_by"])
        self.assertEqual(set(re.findall(r"'(\w+)'", hint)), set(_sql._OPERATOR_KEYS))
        for wrong in ("kernels_by_colour", "gpu_by_device_stream", "memory_by_device", "kernels_"):
            self.assertRaises(ValueError, trace.sql, f"select * from {wrong}")
        with self.assertRaisesRegex(ValueError, "a partial has the kernels of all devices"):
            trace.partial().sql("select * from kernels_by_step")

    @unittest.skipUnless(importlib.util.find_spec("duckdb"), "duckdb is not installed")
    def test_sql_knows_the_tables_of_a_comparison(self):
        folder = DATA / "compare"
        diff = tbtrace.diff(folder / "before.json.gz", folder / "after.json.gz")
        for name in ("part", "operator", "shape", "kernel", "module", "line"):
            relation = diff.sql(f"select * from {name}")
            self.assertEqual(relation.columns, diff.table(name).columns, name)
            self.assertEqual(len(relation.fetchall()), len(diff.table(name)), name)
        self.assertEqual(diff.sql("select name from quantities").fetchall(),
                         [(row["name"],) for row in diff.quantities()])
        with self.assertRaisesRegex(ValueError, "the tables are part, operator, shape, kernel, module, line, quantities"):
            diff.sql("select * from kernels")

    def test_profilers_are_read(self):
        class Profiler:
            """As torch.profiler.profile."""

            def __init__(self, content=STEP.read_bytes(), problem=None):
                self.content, self.problem, self.path = content, problem, None

            def export_chrome_trace(self, path):
                self.path = path
                if self.problem:
                    raise self.problem
                if self.content is not None:
                    pathlib.Path(path).write_bytes(self.content)

        profiler = Profiler()
        trace = tbtrace.read(profiler)
        self.assertEqual((trace.events().to_dicts(), trace.path), (self.wanted, "<profile>"))
        self.assertFalse(os.path.exists(os.path.dirname(profiler.path)))
        self.assertEqual(tbtrace.read(profiler, name="cycle 1").path, "cycle 1")
        self.assertEqual(len(tbtrace.TraceSet.open([Profiler(), STEP])), 2)
        saved = RuntimeError("Trace is already saved.")
        for profiler, message in ((Profiler(b"text"), "^<profile>: is not a trace"),
                                  (Profiler(None), "exported no trace; a profiler exports"),
                                  (Profiler(problem=saved), "could not export its trace: Trace is already saved;")):
            with self.assertRaisesRegex(tbtrace.TraceError, message):
                tbtrace.read(profiler)
            self.assertFalse(os.path.exists(os.path.dirname(profiler.path)))

    def test_file_objects_are_streamed(self):
        content = STEP.read_bytes()
        self.assertEqual(tbtrace.read(Pieces(content)).events().to_dicts(), self.wanted)
        with self.assertRaisesRegex(ConnectionError, "the line is cut"):
            tbtrace.read(Pieces(content, fails_at=2000))

    def test_traces_have_names(self):
        self.assertEqual(tbtrace.read(STEP.read_bytes(), name="rank 0").path, "rank 0")
        with open(STEP, "rb") as file:
            self.assertEqual(tbtrace.read(file).path, str(STEP))
        for source in (b"no trace", io.BytesIO(b"no trace")):
            with self.assertRaisesRegex(tbtrace.TraceError, "^rank 0: "):
                tbtrace.read(source, name="rank 0")

    def test_home_is_a_path(self):
        (self.folder / "step.json").write_bytes(STEP.read_bytes())
        with mock.patch.dict(os.environ, HOME=str(self.folder)):
            trace = tbtrace.read("~/step.json")
        self.assertEqual(trace.path, str(self.folder / "step.json"))

    def test_remote_paths_are_streamed(self):
        if importlib.util.find_spec("fsspec") is None:
            with self.assertRaisesRegex(ModuleNotFoundError, r"pip install fsspec$"):
                tbtrace.read("memory://ranks/rank0.json")
            return
        import fsspec

        with fsspec.open("memory://ranks/rank0.json", "wb") as file:
            file.write(STEP.read_bytes())
        for path in ("memory://ranks/rank0.json", f"file://{STEP}"):
            trace = tbtrace.read(path)
            self.assertEqual((trace.path, trace.events().to_dicts()), (path, self.wanted))
        with self.assertRaises(FileNotFoundError):
            tbtrace.read("memory://ranks/missing.json")

    def test_without_fsspec_the_extra_is_named(self):
        with mock.patch.dict(sys.modules, {"fsspec": None}):
            with self.assertRaisesRegex(ModuleNotFoundError, r"memory://x: .*pip install fsspec$"):
                tbtrace.read("memory://x")

    def test_queries_see_the_tables(self):
        trace = tbtrace.read(STEP)
        total = sum(row["total_ns"] for row in trace.kernels().to_dicts())
        self.assertEqual(trace.sql("select sum(total_ns) from kernels").fetchall(), [(total,)])
        joined = trace.sql("select count(*) from events e join steps s on e.step = s.step").fetchall()[0][0]
        steps = {row["step"] for row in trace.steps().to_dicts()}
        self.assertEqual(joined, sum(row["step"] in steps for row in self.wanted))
        self.assertEqual(trace.sql("select sum(self_cpu_time_total_ns) from operators").fetchall()[0][0],
                         sum(row["self_cpu_time_total_ns"] for row in trace.operators(figures="exact").to_dicts()))
        ranks = tbtrace.TraceSet.open([STEP, DATA / "gpu_step_rank1.json"])
        self.assertEqual(ranks.sql("select distinct rank from steps order by 1").fetchall(), [(0,), (1,)])
        self.assertEqual(ranks.partial().sql("select count(*) from kernels").fetchall()[0][0], len(ranks.partial().kernels()))

    def test_wrong_queries_are_wrong_arguments(self):
        trace = tbtrace.read(STEP)
        for query, says in (("select * from kernel", "the tables are operators"), ("selekt", "syntax"),
                            ("select nothing from steps", "nothing")):
            with self.assertRaisesRegex(ValueError, says):
                trace.sql(query)
        small = tbtrace.read(STEP, arguments=[])
        with self.assertRaisesRegex(ValueError, "arguments that were not read"):
            small.sql("select * from modules")
        with mock.patch.dict(sys.modules, {"duckdb": None}):
            with self.assertRaisesRegex(ModuleNotFoundError, r"pip install duckdb$"):
                trace.sql("select 1")

    def test_the_command_answers(self):
        command = [sys.executable, "-m", "tbtrace", "sql"]
        done = subprocess.run([*command, STEP, "select 6 * 7 as answer, count(*) from steps"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("42", done.stdout)
        for words, code in (([STEP, "select * from nowhere"], 2), ([self.folder / "missing.json", "select 1"], 3)):
            done = subprocess.run([*command, *words], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (code, ""))
            self.assertTrue(done.stderr.startswith("tbtrace: "), done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(f"PathsAndSql.test_{name}" for name in sys.argv[1:])])
