#!/usr/bin/env python3
"""Do partials say of a job, byte for byte, what the traces of its ranks say: collectives, clocks, who holds it up?

    job_partials_test.py PROGRAM [NAME...]

Each method is a CTest test cli.NAME. The jobs are made ones (tests/jobs/made_jobs), and recorded ones where
../shared/traces is there. Needs a build with protobuf.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/jobs"))
import made_jobs  # noqa: E402
from made_jobs.settings import KINDS  # noqa: E402

PROGRAM = ""
SHARED = ROOT.parent / "shared/traces"
SMALL = {"steps": 4, "layers": 2}
MOST_BYTES = 8 << 20  # of a recorded trace
MOST = 2000  # collectives of a rank in a partial


def run(arguments, code=0):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, timeout=300, check=False)
    if done.returncode != code:
        raise AssertionError(f"tbtrace {' '.join(map(str, arguments))} ended with {done.returncode}: {done.stderr.decode()}")
    return done


def printed(inputs, form="json", verb="collectives"):
    return run([verb, *inputs, "--format", form, "-q"]).stdout


class JobPartials(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tbtrace-job-partials-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def made(self, seed, **given):
        folder = self.path / f"job{seed}"
        truth = made_jobs.make(folder, seed, **(SMALL | given))
        return [folder / name for _, name in sorted(truth["files"].items(), key=lambda one: int(one[0]))]

    def partials(self, traces):
        """Of each trace one."""
        places = []
        for number, trace in enumerate(traces):
            place = self.path / f"{len(list(self.path.glob('*.tbp')))}_{number}.tbp"
            run(["save", trace, "-o", place, "-q"])
            places.append(place)
        return places

    def check(self, traces):
        """The JSON of the traces, which that of their partials has to be, unless they have to leave something out."""
        wanted = {form: printed(traces, form) for form in ("json", "csv", "text", "md")}
        parts = self.partials(traces)
        random.Random(len(traces)).shuffle(parts)
        merged = self.path / f"merged_{parts[0].stem}.tbp"
        run(["add", *parts, "-o", merged, "-q"])
        together = self.path / f"together_{parts[0].stem}.tbp"
        run(["save", *traces, "-o", together, "-q"])
        self.assertEqual(merged.read_bytes(), together.read_bytes())
        document = json.loads(wanted["json"])
        if json.loads(printed([merged]))["sampled"]:
            self.assertTrue(any(row["collectives"] > MOST for row in document["by_rank"]) or document["totals"]["unmatched"] > MOST)
            return document
        for form, expected in wanted.items():
            self.assertEqual(printed([merged], form), expected)
        self.assertEqual(printed(parts), wanted["json"])
        first = self.partials(traces[:1])
        self.assertEqual(printed([*first, *traces[1:]]), wanted["json"])  # both kinds of input
        summary = json.loads(printed([merged], verb="summary"))
        of_traces = json.loads(printed(traces, verb="summary"))
        for member in ("stragglers", "compared_steps", "why_not_compared"):
            self.assertEqual(summary.get(member), of_traces.get(member))
        accused = [one for one in of_traces["findings"] if one["id"] == "straggler"]
        self.assertEqual([{**one, "trace": None} for one in summary["findings"]], [{**one, "trace": None} for one in accused])
        return document

    def test_partials_of_made_jobs_say_what_their_traces_say(self):
        for number, kind in enumerate(KINDS):
            with self.subTest(kind=kind):
                sizes = {"tp_dp": {"world_size": 8, "tensor_ranks": 4}, "pp_dp": {"world_size": 8}}.get(kind, {"world_size": 4})
                if kind in ("tp_dp", "pp_dp"):  # several groups: older versions of torch do not name them
                    sizes["dialect"] = "torch_2_10"
                document = self.check(self.made(70 + number, kind=kind, **sizes))
                self.assertGreater(len(document["rows"]), 5)
                self.assertIsNone(document["sampled"])

    def test_partials_of_damaged_jobs_say_what_their_traces_say(self):
        for number, (damage, words) in enumerate({
                "missing_rank": "has no trace", "versions": "", "two_jobs": "of 2 jobs"}.items()):
            with self.subTest(damage=damage):
                folder = self.path / damage
                made_jobs.make(folder, 90 + number, kind="ddp", world_size=4, damage=damage, **SMALL)
                traces = sorted((folder / "jobs").rglob("*.json*"))
                self.check(traces)
                job = self.path / f"{damage}.tbp"
                run(["save", *traces, "-o", job, "-q"])
                said = run(["collectives", job, "--format", "json"]).stderr.decode()
                self.assertIn(words, said)
                self.assertIn(words, run(["summary", job, "--format", "json"]).stderr.decode())

    def test_partials_of_recorded_jobs_say_what_their_traces_say(self):
        if not SHARED.exists():
            self.skipTest("no recorded traces")
        jobs = {}
        contents = set()
        for file in sorted(SHARED.rglob("*.json*")):
            if "plugin_out" in file.parts or file.stat().st_size > MOST_BYTES or file.read_bytes() in contents:
                continue
            contents.add(file.read_bytes())
            done = subprocess.run([PROGRAM, "save", file, "-o", "-", "-q"], capture_output=True, check=False)
            if done.returncode == 0:
                jobs.setdefault(file.parent, []).append(file)
        with_collectives = 0
        for folder, traces in jobs.items():
            with self.subTest(str(folder)):
                document = self.check(traces)
                with_collectives += bool(document["rows"] or document["totals"]["unmatched"])
        self.assertGreater(with_collectives, 2)

    def test_a_source_in_two_partials_counts_once(self):
        traces = self.made(71, kind="ddp", world_size=4)
        parts = self.partials(traces)
        some = self.path / "some.tbp"
        run(["save", *traces[:2], "-o", some])
        done = run(["collectives", some, *parts, "--format", "json"])
        self.assertEqual(done.stdout, printed(traces))
        self.assertIn("is in another partial too; it counts once", done.stderr.decode())

    def test_an_older_partial_says_that_it_has_no_ranks(self):
        old = ROOT / "tests/data/two_ranks.tbp"
        for verb in ("collectives", "summary"):
            self.assertIn(b"older version of tbtrace, has no collectives", run([verb, old], code=2).stderr)

    def test_a_long_job_is_a_sample_in_partials(self):
        traces = self.made(72, kind="fsdp", world_size=2, steps=60, layers=12, clean=False, cause_names=("compute",))
        whole = json.loads(printed(traces))
        job = self.path / "job.tbp"
        run(["save", *traces, "-o", job, "-q"])
        sampled = json.loads(printed([job]))
        self.assertEqual(sampled["sampled"], {"collectives": 4000, "recorded": 2 * len(whole["rows"])})
        self.assertGreater(len(whole["rows"]), 2200)
        self.assertEqual(len(sampled["rows"]), 2000)
        self.assertEqual((sampled["totals"]["unmatched"], whole["totals"]["unmatched"]), (0, 0))
        keys = [json.dumps([row["sequence"], row["group"], row["name"], row["bytes"], row["step"]]) for row in whole["rows"]]
        for row in sampled["rows"]:
            self.assertIn(json.dumps([row["sequence"], row["group"], row["name"], row["bytes"], row["step"]]), keys)
        self.assertEqual([(one["rank"], one["cause"], one["steps"]) for one in sampled["stragglers"]],
                         [(one["rank"], one["cause"], one["steps"]) for one in whole["stragglers"]])
        for one, other in zip(sampled["stragglers"], whole["stragglers"]):  # drift of clocks is from the sample
            self.assertAlmostEqual(one["excess_per_step_ns"] / other["excess_per_step_ns"], 1, places=5)
        for one, other in zip(sampled["by_rank"], whole["by_rank"]):
            if one["clock_offset_ns"] is not None:
                self.assertLess(abs(one["clock_offset_ns"] - other["clock_offset_ns"]), 5000)
        self.assertIn("4000 of ", run(["collectives", job]).stdout.decode())


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    unittest.main(argv=[sys.argv[0]] + [f"JobPartials.test_{name}" for name in sys.argv[2:]])
