"""tbtrace.diff(): runs as paths and objects, its tables, baselines."""
import json
import pathlib
import pickle
import sys
import tempfile
import unittest

import tbtrace

PROJECT = pathlib.Path(__file__).resolve().parents[2]
BEFORE = PROJECT / "tests/data/compare/before.json.gz"
AFTER = PROJECT / "tests/data/compare/after.json.gz"
BASELINE = PROJECT / "tests/data/compare/base.tbb"


def merged_timeline(folder):
    path = pathlib.Path(folder) / "job.json"
    event = {"ph": "X", "name": "aten::mm", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
    made = {"mergedRanks": {"parts": [{"rank": 0}, {"rank": 1}]}, "traceEvents": [event]}
    path.write_text(json.dumps(made))
    return path


class Diffs(unittest.TestCase):
    def test_paths_give_what_traces_give(self):
        by_paths = tbtrace.diff(str(BEFORE), AFTER, run_noise=0.05).to_dict()
        by_traces = tbtrace.diff(tbtrace.read(BEFORE), tbtrace.read(AFTER), run_noise=0.05).to_dict()
        for found in (by_paths, by_traces):
            self.assertTrue(found.pop("base") and found.pop("new"))
        self.assertEqual(by_paths, by_traces)

    def test_a_folder_is_one_run(self):
        with tempfile.TemporaryDirectory() as folder:
            for rank in range(2):
                (pathlib.Path(folder) / f"rank{rank}.json.gz").write_bytes(BEFORE.read_bytes())
            found = tbtrace.diff(folder, AFTER)
        self.assertEqual(found.base, [folder])
        self.assertIn("Another number of recordings a run: 2 before, 1 now.", found.reasons)

    def test_each_match_of_a_pattern_is_a_run(self):
        with tempfile.TemporaryDirectory() as folder:
            for run in ("run1", "run2"):
                for rank in range(2):
                    path = pathlib.Path(folder) / run / f"rank{rank}.json.gz"
                    path.parent.mkdir(exist_ok=True)
                    path.write_bytes(BEFORE.read_bytes())
            found = tbtrace.diff(f"{folder}/run*", AFTER)
            self.assertEqual(found.base, [f"{folder}/run1", f"{folder}/run2"])
            self.assertIn("Another number of recordings a run: 2 before, 1 now.", found.reasons)

    def test_a_merged_timeline_is_no_run(self):
        with tempfile.TemporaryDirectory() as folder:
            path = merged_timeline(folder)
            for call in (
                lambda: tbtrace.diff(path, AFTER),
                lambda: tbtrace.read(path),
                lambda: tbtrace.read(path.read_bytes()),
                lambda: tbtrace.TraceSet.open([path], strict=True),
                lambda: tbtrace.convert(path, pathlib.Path(folder) / "logs", strict=True),
            ):
                with self.assertRaisesRegex(tbtrace.TraceError, "is a merged timeline of 2 traces"):
                    call()

    def test_a_baseline_has_its_runs(self):
        found = tbtrace.diff(BASELINE, AFTER)
        self.assertEqual(found.base, ["tests/data/compare/before.json.gz"])
        self.assertEqual(found.new, [str(AFTER)])

    def test_write_baseline_keeps_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "base.tbb"
            tbtrace.write_baseline(path, [BEFORE, tbtrace.read(AFTER)])
            self.assertEqual(len(tbtrace.diff(path, AFTER).base), 2)
            with self.assertRaises(FileExistsError):
                tbtrace.write_baseline(path, BEFORE)
            tbtrace.write_baseline(path, BEFORE, overwrite=True)
            self.assertEqual(tbtrace.diff(path, AFTER).base, [str(BEFORE)])

    def test_what_is_no_run(self):
        with self.assertRaises(ValueError):
            tbtrace.diff(3, AFTER)
        with self.assertRaises((tbtrace.TraceError, FileNotFoundError)):
            tbtrace.diff("no such file.json", AFTER)

    @staticmethod
    def pair():
        return tbtrace.diff(BEFORE, AFTER, run_noise=0.05)

    def test_step_and_quantities_are_those_of_the_document(self):
        document = self.pair().to_dict()
        self.assertEqual(self.pair().step, document["step"])
        self.assertEqual([(row["name"], row["base"], row["new"]) for row in self.pair().quantities().to_dicts()],
                         [(row["name"], row["base"], row["new"]) for row in document["quantities"]])

    def test_rows_of_every_division_add_up(self):
        change = self.pair().step["new_ns"] - self.pair().step["base_ns"]
        for by in ("part", "operator", "shape", "kernel", "module", "line"):
            with self.subTest(by):
                rows = self.pair().table(by).to_dicts()
                self.assertAlmostEqual(sum(row["change_ns"] for row in rows), change, delta=1)
        with self.assertRaises(ValueError):
            self.pair().table("colour")

    def test_jobs_are_compared_and_have_a_page(self):
        ranks = PROJECT / "tests/data/slow_loader_job"
        with tempfile.TemporaryDirectory() as folder:
            for name in ("rank0.json", "rank1.json"):
                (pathlib.Path(folder) / name).write_bytes((ranks / name).read_bytes())
            (pathlib.Path(folder) / "copy.json").write_bytes((ranks / "rank0.json").read_bytes())
            (pathlib.Path(folder) / "rank9.json").write_bytes(b"")
            base, new = tbtrace.local.summarize(folder), tbtrace.local.summarize(ranks)
            diff = tbtrace.diff(base, new)
            by_traces = tbtrace.diff(tbtrace.TraceSet.open([source["path"] for source in base.sources if source["in_tables"]]),
                                     tbtrace.TraceSet.open(ranks))
            self.assertEqual(diff.step, by_traces.step)
            self.assertEqual(diff.table("operator").to_dicts(), by_traces.table("operator").to_dicts())
            self.assertIn("two jobs", tbtrace.compare_report(base, new, title="two jobs").html)
            page = base.report(title="two ranks", views="summary").html
            self.assertIn("two ranks", page)
            self.assertEqual(pickle.loads(pickle.dumps(base.report())).html, base.report().html)
            for name in ("rank1.json", "rank0.json"):
                (pathlib.Path(folder) / name).unlink()
            with self.assertRaisesRegex(tbtrace.TraceFileNotFoundError, "rank1.json"):
                base.report()
            with self.assertRaisesRegex(ValueError, "view"):
                base.report(views="colours")
        sums = tbtrace.read(PROJECT / "tests/data/gpu_step.json").partial()
        with self.assertRaisesRegex(ValueError, "a partial has sums only: pass the traces, the job"):
            tbtrace.diff(sums, PROJECT / "tests/data/gpu_step.json")
        with self.assertRaisesRegex(TypeError, r"send diff.to_dict\(\)"):
            pickle.dumps(diff)

    def test_the_document_is_json(self):
        self.assertEqual(json.loads(json.dumps(self.pair().to_dict()))["schema"], "tbtrace.diff/1")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(f"Diffs.test_{name}" for name in sys.argv[1:])])
