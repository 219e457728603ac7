#!/usr/bin/env python3
"""Are the tables of a job those of one process over all its files, whatever happens to files and workers?

    jobs_test.py ENGINE PROGRAM [NAME...]      ENGINE: local, ray, spark
    jobs_test.py ENGINE PROGRAM few            those of which a cluster can get something wrong
    jobs_test.py ENGINE PROGRAM ranks COUNT    with so many ranks, a damaged file, an empty one, killed workers

Each method is a CTest test python.ENGINE_NAME for local; of ray and spark one test runs few, and one all.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import tbtrace
from job_engines import Engine, made_ranks, made_troubled_ranks

ENGINE = ""
PROGRAM = ""
SHARED = pathlib.Path(__file__).resolve().parents[3] / "shared/traces"
ROOT = pathlib.Path(__file__).resolve().parents[2]
RANKS = 12
KILLS = 0


def printed(words, paths):
    verb, *options = words.split()
    done = subprocess.run([PROGRAM, verb, *paths, *options, "--format", "json", "-q"], capture_output=True, timeout=600,
                          check=True)
    return json.loads(done.stdout)["rows"]


class Jobs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tbtrace-bucket-")
        cls.addClassCleanup(folder.cleanup)
        cls.bucket = pathlib.Path(folder.name)
        cls.engine = Engine(ENGINE, cls.bucket)
        cls.addClassCleanup(cls.engine.close)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tbtrace-jobs-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def assertIsTheSumOf(self, job, paths):
        for table, words in ((job.operators(), "ops --strict-totals"), (job.kernels("launch"), "kernels --group-by launch --sum-inputs"),
                             (job.modules(), "modules --sum-inputs"), (job.lines(), "lines --sum-inputs")):
            self.assertEqual(table.to_dicts(), printed(words, paths), words)
        for table, words in ((job.steps(), "steps"), (job.gpu(), "gpu"), (job.memory(), "memory")):
            self.assertEqual(table.to_dicts(), printed(words, paths), words)

    def test_a_job_is_the_sum_of_its_files(self):
        paths = made_ranks(self.folder, RANKS)
        (self.folder / "copy.json").write_bytes(paths[3].read_bytes())
        (self.folder / "damaged.json.gz").write_bytes((ROOT / "tests/data/stacks.json.gz").read_bytes()[:20])
        (self.folder / "empty.json").write_bytes(b"")
        inputs = [self.folder, self.folder / "damaged.json.gz", self.folder / "empty.json", self.folder / "missing.json"]
        cache = self.folder / "cache"
        job = self.engine.summarize(inputs, cache=cache)
        failed = dict(job.failed)
        self.assertEqual(sorted(pathlib.Path(path).name for path in failed),
                         ["damaged.json.gz", "empty.json", "missing.json", "rank_0003.json"])
        self.assertIn("same content as", failed[str(paths[3])])
        self.assertIn("is empty", failed[str(self.folder / "empty.json")])
        self.assertEqual((len(job.partial), job.reused), (RANKS, 0))
        kept = [self.folder / "copy.json" if path == paths[3] else path for path in paths]
        self.assertIsTheSumOf(job, kept)

        paths[5].write_text(paths[5].read_text() + "\n")
        padded = paths[7].read_text()[:-1] + " " * 200_000 + "}"
        paths[7].write_text(padded)
        self.assertEqual(self.engine.summarize(inputs, cache=cache).reused, RANKS - 2)  # not those that changed
        self.assertEqual(self.engine.summarize(inputs, cache=cache).reused, RANKS)
        paths[7].write_text(padded[:-100_000] + "\t" + padded[-99_999:])  # of the same size, with the same ends
        again = self.engine.summarize(inputs, cache=cache)
        self.assertEqual(again.reused, RANKS - 1)
        self.assertEqual(again.partial.to_bytes(), self.engine.summarize(inputs).partial.to_bytes())

    def test_ranks_of_a_job_are_compared(self):
        folder = ROOT / "tests/data/slow_loader_job"
        job = self.engine.summarize(folder)
        traces = tbtrace.TraceSet.open(folder)
        for table in ("collectives", "clocks", "stragglers"):
            one, other = getattr(job, table)(), getattr(traces, table)()
            self.assertEqual(one.to_dicts(), other.to_dicts(), table)
            self.assertEqual((one.columns, one.totals, one.notes), (other.columns, other.totals, other.notes), table)
        self.assertEqual([row["cause"] for row in job.stragglers().to_dicts()], ["input"])
        done = subprocess.run([PROGRAM, "collectives", folder, "--format", "json", "-q"], capture_output=True, check=True)
        job.partial.save(self.folder / "job.tbp")
        of_job = subprocess.run([PROGRAM, "collectives", self.folder / "job.tbp", "--format", "json", "-q"], capture_output=True, check=True)
        self.assertEqual(of_job.stdout, done.stdout)
        self.assertEqual(job.remarks, [])
        some = self.engine.summarize([folder / "rank0.json", folder / "rank2.json"])
        self.assertIn("ranks 1, 3 have no trace", some.remarks[0])

    def test_a_job_names_what_is_wrong_with_its_files(self):
        paths = made_troubled_ranks(self.folder)
        ranks = self.folder / "ranks"
        self.assertEqual(len(list(ranks.iterdir())), 65)

        job = self.engine.summarize(ranks)
        sources = {pathlib.Path(source["path"]).name: source for source in job.sources}
        self.assertEqual(len(sources), 65)
        wrong = {name: source for name, source in sources.items() if source["state"] != "whole"}
        self.assertEqual({name: (source["state"], source["in_tables"]) for name, source in wrong.items()}, {
            "rank_0001.json": ("empty", False), "rank_0002.json": ("unreadable", False), "rank_0003.json": ("damaged", True),
            "rank_0004.json": ("empty", True), "rank_0010.json": ("doubled", False),
            "rank_0012_again.json": ("doubled", True), "rank_0064.json": ("unreadable", False)})
        self.assertIn("same content as " + str(ranks / "a_copy.json"), wrong["rank_0010.json"]["message"])
        self.assertIn("rank and the start of " + str(paths[12]), wrong["rank_0012_again.json"]["message"])
        self.assertIn("is a link to " + str(self.folder / "nowhere.json"), wrong["rank_0064.json"]["message"])
        self.assertIn("input_truncated", wrong["rank_0003.json"]["issues"])
        self.assertEqual(wrong["rank_0004.json"]["events"], 0)
        first = sources["rank_0000.json"]
        self.assertEqual((first["rank"], first["message"], first["bytes"], first["events"]),
                         (0, None, paths[0].stat().st_size, len(tbtrace.read(paths[0]))))
        self.assertEqual({pathlib.Path(path).name for path, _ in job.failed},
                         {name for name, source in wrong.items() if not source["in_tables"]})
        self.assertEqual(job.missing_ranks, [1, 2, 7, 41, 64])
        self.assertTrue(any("rank 12 is there twice" in remark for remark in job.remarks), job.remarks)
        self.assertTrue(any("only a part of each is in the tables" in remark for remark in job.remarks), job.remarks)
        self.assertFalse(any("jobs: " in remark for remark in job.remarks), job.remarks)
        self.assertEqual(len(job.summary().to_dict()["run"]), len(job.partial))
        page = job._repr_html_()
        self.assertIn(f"<p>{len(job.partial)} of 65 files are in the tables.</p>", page)
        self.assertEqual(page.count("<tr>"), 1 + len(wrong))
        self.assertIn("<td>damaged</td>", page)

        traces = tbtrace.TraceSet.open(ranks)
        self.assertEqual(traces.partial().to_bytes(), job.partial.to_bytes())
        one_each = tbtrace.TraceSet.open([source["path"] for source in job.sources if source["in_tables"]])
        for table in ("checks", "flops", "threads"):
            made, wanted = getattr(job, table)(), getattr(one_each, table)()
            self.assertEqual((made.to_dicts(), made.totals), (wanted.to_dicts(), wanted.totals), table)
        said = {(row["input"], row["id"]) for row in job.checks()}
        self.assertLessEqual({(None, "missing_ranks"), (None, "repeated_ranks"), (str(paths[3]), "input_truncated")}, said)

        # The same from s3://, which has no links.
        shutil.copytree(ranks, self.bucket / "ranks", ignore_dangling_symlinks=True)
        far = self.engine.summarize("s3://here/ranks")

        def as_far(value):
            return json.loads(json.dumps(value).replace(str(ranks), "s3://here/ranks"))

        self.assertEqual(far.sources, as_far([source for source in job.sources if source["path"] != str(paths[64])]))
        self.assertEqual((far.missing_ranks, far.remarks), (job.missing_ranks, as_far(job.remarks)))
        for table in ("operators", "kernels", "steps", "checks", "flops"):
            self.assertEqual(getattr(far, table)().to_dicts(), as_far(getattr(job, table)().to_dicts()), table)

    def test_rows_are_those_of_each_trace(self):
        paths = made_ranks(self.folder, RANKS)
        traces = tbtrace.TraceSet.open(self.folder)
        more = [("kernels", {}), ("steps", {}), ("checks", {})] if ENGINE == "local" else []
        for table, options in [("kernels", {"group_by": "operator"}), *more]:
            made = self.engine.rows(self.folder, table, **options)
            wanted = [{"input": row["input"], "rank": row.get("rank")} | row for row in getattr(traces, table)(**options).to_dicts()]
            if table == "checks":  # those among the traces are of none; a table has no ranks
                wanted = [row | {"rank": int(row["input"][-9:-5])} for row in wanted if row["input"]]
            for row in [*made, *wanted]:
                for name in ("grid", "block", "idle_causes"):
                    row.pop(name, None)  # as texts and as lists
            self.assertEqual(made, sorted(wanted, key=str), (table, options))
        operators = self.engine.rows(self.folder, "operators")
        for trace, rank in zip(traces, traces.ranks):
            own = {row["key"]: row["self_cpu_time_total_ns"] for row in trace.operators(figures="exact")}
            self.assertEqual({row["key"]: row["self_cpu_time_total_ns"] for row in operators if row["rank"] == rank}, own)
        self.assertEqual(sum(row["self_cpu_time_total_ns"] for row in operators if row["key"].startswith("[")),
                         sum(row["self_cpu_time_total_ns"] for row in traces.operators() if row["key"].startswith("[")))

        with self.assertRaisesRegex(ValueError, r"tbtrace.local.rows\(inputs, 'kernels'\)"):
            tbtrace.local.summarize(paths[:1]).kernels(("rank", "name"))
        paths[3].write_bytes(b"")
        inputs = [self.folder, self.folder / "missing.json"]
        with self.assertRaisesRegex(Exception, "rank_0003.json: is empty|missing.json: "):
            self.engine.rows(inputs, "kernels")
        made = self.engine.rows(inputs, "kernels", on_error="row")
        wrong = {row["input"]: row for row in made if row["problem"] is not None}
        self.assertEqual(set(wrong), {str(paths[3]), str(self.folder / "missing.json")})
        self.assertIn("is empty", wrong[str(paths[3])]["problem"])
        self.assertEqual((wrong[str(paths[3])]["name"], wrong[str(paths[3])]["rank"]), (None, None))
        for wrong_call in (lambda: self.engine.rows(inputs, "collectives"), lambda: self.engine.rows(inputs, "kernels", group_by="x"),
                           lambda: self.engine.rows(inputs, "kernels", on_error="skip")):
            self.assertRaises(ValueError, wrong_call)

    def test_rows_are_what_a_function_makes_of_each_trace(self):
        paths = made_ranks(self.folder, RANKS)
        traces = tbtrace.TraceSet.open(self.folder)
        ranks = {str(path): rank for path, rank in zip(sorted(paths), traces.ranks)}

        def wanted(make):
            rows = [{"input": path, "rank": ranks[path]} | row for path in ranks for row in make(tbtrace.read(path))]
            return sorted(rows, key=str)

        made = self.engine.rows(self.folder, lambda trace: trace.gaps())
        self.assertGreater(len(made), RANKS)
        self.assertEqual(made, wanted(lambda trace: trace.gaps()))
        # Not of a trace without events, and with an argument.
        def of_first_step(trace, by):
            return trace.kernels(by, steps=trace.steps()[0]["step"])

        made = self.engine.rows(self.folder, of_first_step, by="operator")
        self.assertEqual(made, wanted(lambda trace: of_first_step(trace, "operator")))
        paths[1].write_bytes(b"")
        made = self.engine.rows(self.folder, lambda trace: trace.steps(), on_error="row")
        self.assertEqual([row["input"] for row in made if row["problem"] is not None], [str(paths[1])])
        self.assertEqual(len({row["input"] for row in made}), RANKS)
        if ENGINE == "local":
            with self.assertRaisesRegex(ValueError, "has to give a table"):
                self.engine.rows(paths[0], lambda trace: len(trace))
            with self.assertRaisesRegex(ValueError, "leave out cache"):
                self.engine.rows(paths[0], lambda trace: trace.gaps(), cache=self.folder / "cache")
            with self.assertRaises(ZeroDivisionError):
                self.engine.rows(paths[0], lambda trace: 1 / 0)
            import pandas
            frames = self.engine.rows(paths[0], lambda trace: pandas.DataFrame({"events": [len(trace)], "name": ["a"]}))
            self.assertEqual(frames, [{"input": str(paths[0]), "rank": ranks[str(paths[0])],
                                       "events": len(tbtrace.read(paths[0])), "name": "a"}])

    def test_rows_go_to_few_files(self):
        import pyarrow.dataset

        made_ranks(self.folder, RANKS)
        place = self.folder / "kernels"
        if ENGINE == "local":
            import pyarrow.parquet

            place.mkdir()
            pyarrow.parquet.write_table(tbtrace.local.rows(self.folder), place / "all.parquet")
        elif ENGINE == "ray":
            tbtrace.ray.rows(self.folder).write_parquet(str(place))
        else:
            tbtrace.spark.rows(self.engine.session, self.folder).write.parquet(str(place))
        files = list(place.rglob("*.parquet"))
        self.assertLessEqual(len(files), 4)  # two for each of two cores
        stored = pyarrow.dataset.dataset([str(file) for file in files]).to_table()
        wanted = tbtrace.TraceSet.open(self.folder).kernels()
        self.assertEqual((len(stored), sum(stored["total_ns"].to_pylist())), (len(wanted), sum(wanted["total_ns"])))
        self.assertEqual(set(stored["rank"].to_pylist()), {row["rank"] for row in wanted})

    def test_nothing_that_can_be_read_is_an_error(self):
        (self.folder / "empty.json").write_bytes(b"")
        with self.assertRaisesRegex(tbtrace.TraceError, "empty.json: is empty"):
            self.engine.summarize([self.folder / "empty.json"])
        with self.assertRaises(tbtrace.TraceError):
            self.engine.summarize([])

    def test_a_job_goes_to_parquet(self):
        import pyarrow.dataset

        made_ranks(self.folder, 4)
        job = self.engine.summarize(self.folder)
        place = self.folder / "tables"
        job.write_parquet(place, run="first")
        job.write_parquet(place, run="second")
        self.assertRaises(FileExistsError, job.write_parquet, place, run="first")
        self.assertRaises(ValueError, job.write_parquet, place, run="../out")
        steps = pyarrow.dataset.dataset(place / "steps", partitioning="hive").to_table().to_pylist()
        self.assertEqual(len(steps), 2 * len(job.steps()))
        self.assertEqual({(row["run"], row["rank"]) for row in steps},
                         {(run, row["rank"]) for run in ("first", "second") for row in job.steps().to_dicts()})
        kernels = pyarrow.dataset.dataset(place / "kernels", partitioning="hive").to_table(filter=pyarrow.dataset.field("run") == "first")
        self.assertEqual(sum(kernels["total_ns"].to_pylist()), sum(row["total_ns"] for row in job.kernels().to_dicts()))
        self.assertEqual([path.name for path in place.iterdir() if path.name.startswith(".")], [])
        self.assertEqual([len(list(run.rglob("*.parquet"))) for run in place.glob("*/run=*")], [1] * 2 * len(list(place.iterdir())))
        self.assertNotIn("rank", kernels.column_names)
        with self.assertRaisesRegex(ValueError, "writes to a local path"):
            job.write_parquet("memory://t", run="first")
        self.assertFalse(os.path.exists("memory:"))

    def test_runs_in_parquet_have_the_same_columns(self):
        import pyarrow.compute
        import pyarrow.dataset
        import pyarrow.parquet

        place = self.folder / "tables"
        gpu = [ROOT / "tests/data/gpu_step.json", ROOT / "tests/data/gpu_step_rank1.json"]  # without modules and lines
        for run, inputs in (("ranks", gpu), ("one", gpu[:1]), ("cpu", ROOT / "examples/traces"),  # without kernels
                            ("bare", ROOT / "tests/data/bare_array.json")):
            self.engine.summarize(inputs).write_parquet(place, run=run)
        for table in ("operators", "kernels", "modules", "lines", "steps", "gpu", "memory"):
            files = sorted((place / table).rglob("*.parquet"))
            schemas = {str(pyarrow.parquet.read_schema(file).remove_metadata()) for file in files}
            self.assertEqual(len(schemas), 1, table)
            self.assertEqual({file.relative_to(place / table).parts[0] for file in files},
                             {"run=ranks", "run=one", "run=cpu", "run=bare"}, table)
            rows = pyarrow.dataset.dataset(place / table, partitioning="hive").to_table()
            self.assertEqual(len(rows), sum(pyarrow.parquet.read_metadata(file).num_rows for file in files))
            if table in ("steps", "gpu", "memory"):
                ranks = set(rows.filter(pyarrow.compute.equal(rows["run"], "ranks"))["rank"].to_pylist())
                self.assertEqual(ranks, {0, 1}, table)

    def test_ranks_survive_killed_workers(self):
        paths = made_ranks(self.folder, RANKS)
        if RANKS > 50 and SHARED.exists():  # real ones among them
            for number, file in enumerate(sorted(SHARED.rglob("*.json*"))):
                if file.stat().st_size < 8 << 20:
                    shutil.copy(file, self.folder / f"real_{number}_{file.name}")
        big = self.folder / "big.json"
        events = json.loads((ROOT / "tests/data/cpu_steps.json").read_bytes())
        row = {"ph": "X", "cat": "cpu_op", "name": "aten::op", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
        events["traceEvents"] += [row | {"ts": at} for at in range(1_000_000 if ENGINE == "local" else 300_000)]
        big.write_text(json.dumps(events))
        wanted = tbtrace.merge([tbtrace.Partial.from_bytes(row.data) for row in self.rows_alone()])
        stop = threading.Event()
        killed = []

        def kill():
            lines = set()
            while not stop.wait(0.2) and len(killed) < max(1, KILLS):
                for process, line in self.engine.working_processes():
                    if ENGINE == "local" and line in lines:
                        continue  # a file that kills twice is another test
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
                        killed.append(process)
                        lines.add(line)
                        break

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            job = self.engine.summarize(self.folder)
        finally:
            stop.set()
            killer.join()
        print(f"{ENGINE}: killed {len(killed)} workers, {len(job.failed)} files failed")
        self.assertGreater(len(killed), 0)
        self.assertEqual([path for path, message in job.failed if "killed" in message], [])
        self.assertEqual(job.partial.to_bytes(), wanted.to_bytes())

    def test_a_file_that_kills_its_process_costs_itself_only(self):
        paths = made_ranks(self.folder, 3)
        poison = self.folder / "poison.json"
        os.mkfifo(poison)  # nobody writes to it
        stop = threading.Event()

        def kill():
            while not stop.wait(0.05):
                for line in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
                    with contextlib.suppress(OSError):
                        if f"save\0{poison}\0".encode() in line.read_bytes():
                            os.kill(int(line.parent.name), signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            job = self.engine.summarize([*paths, poison])
        finally:
            stop.set()
            killer.join()
        self.assertEqual(len(job.partial), 3)
        self.assertEqual([path for path, _ in job.failed], [str(poison)])
        self.assertIn("killed twice (signal 9)", job.failed[0][1])

    def rows_alone(self):
        from tbtrace._partials import Options, row_of

        rows = {}
        for path in tbtrace.find(self.folder)[0]:
            row = row_of(path, Options())
            if row.data is not None:
                rows.setdefault(row.digests[0], row)
        return rows.values()


if __name__ == "__main__":
    ENGINE, PROGRAM, *names = sys.argv[1:]
    if names[:1] == ["ranks"]:
        RANKS, KILLS = int(names[1]), 3
        names = ["ranks_survive_killed_workers"]
    elif names == ["few"]:  # what an engine can do wrong; each job of a cluster takes seconds
        names = ["a_job_names_what_is_wrong_with_its_files", "ranks_survive_killed_workers", "rows_go_to_few_files",
                 "rows_are_what_a_function_makes_of_each_trace"]
    unittest.main(argv=[sys.argv[0], *(f"Jobs.test_{name}" for name in names)])
