#!/usr/bin/env python3
"""Do verbs agree on what `--steps`, `--rank` and `--name` choose?

    chosen_steps_test.py PROGRAM [NAME...]

Each method is a CTest test cli.NAME.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ""
TRACE = ROOT / "tests/data/h200/perceptron.json.gz"
JOB = ROOT / "tests/data/slow_loader_job"


def run(*words, code=0):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != code:
        raise AssertionError(f"tbtrace {' '.join(map(str, words))} ended with {done.returncode}: {done.stderr}")
    return done


def result(*words):
    return json.loads(run(*words, "--format", "json").stdout)


class ChosenSteps(unittest.TestCase):
    def setUp(self):
        self.numbers = [row["step"] for row in result("steps", TRACE, "--keep-tail-steps")["rows"]]
        self.first = self.numbers[0]

    def test_rows_of_chosen_steps_add_up(self):
        ops = result("ops", TRACE, "--strict-totals", "--steps", self.first)
        self.assertEqual((ops["first_step"], ops["last_step"]), (self.first, self.first))
        for key in ("self_cpu_time_total_ns", "self_device_time_total_ns"):
            # Kernels have rows of their own beside the operators that launched them.
            rows = [row for row in ops["rows"] if row["device_type"] == "CPU"]
            self.assertEqual(sum(row[key] for row in rows), ops["totals"][key] if "totals" in ops else ops[key], key)
        whole = result("ops", TRACE, "--strict-totals")
        of = lambda table: sum(row["self_device_time_total_ns"] for row in table["rows"] if row["device_type"] == "CPU")
        self.assertLess(of(ops), of(whole))

    def test_verbs_agree_on_chosen_steps(self):
        steps = f"{self.first}-{self.first}"
        summary = result("summary", TRACE, "--steps", steps)
        kernels = result("kernels", TRACE, "--steps", steps, "--row-limit", -1)
        ops = result("ops", TRACE, "--strict-totals", "--steps", steps, "--kind", "kernels")
        gpu = result("gpu", TRACE, "--steps", steps)["rows"][0]
        of_steps = result("steps", TRACE, "--steps", steps)["rows"][0]
        kernel_rows = {row["key"]: row["self_device_time_total_ns"] for row in ops["rows"]}
        for row in kernels["rows"]:
            self.assertEqual(kernel_rows[row["name"]], row["total_ns"], row["name"])
        self.assertEqual(summary["gpu"][0]["idle_ns"], gpu["idle_ns"])
        self.assertEqual(summary["gpu"][0]["window_ns"], gpu["window_ns"])
        self.assertEqual(summary["steps"][0]["duration_ns"], of_steps["duration_ns"])
        self.assertEqual(summary["kernels"][0]["total_ns"], kernels["rows"][0]["total_ns"])
        self.assertEqual((summary["run"][0]["first_step"], summary["run"][0]["last_step"]), (self.first, self.first))

    def test_results_say_which_steps_they_are_of(self):
        one = f"step {self.first}"
        self.assertIn(one, run("ops", TRACE, "--steps", self.first, "--row-limit", 1).stdout)
        self.assertIn(f"only {one}", run("ops", TRACE, "--steps", self.first, "--format", "csv").stderr)
        self.assertIn(f"only {one}", run("summary", TRACE, "--steps", self.first).stdout)
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.html"
            run("report", TRACE, "--steps", self.first, "-o", page)
            self.assertIn(f"perceptron.json.gz, {one}", page.read_text(encoding="utf-8"))

    def test_steps_that_are_not_there_are_refused(self):
        for verb in ("ops", "summary", "report", "kernels", "check --threads"):
            done = run(*verb.split(), TRACE, "--steps", "900-901", "-o", "-", code=2)
            self.assertRegex(done.stderr, r"cannot select steps 900 to 901: the trace has steps? \d+", verb)

    def test_one_rank_of_a_job(self):
        chosen = run("ops", JOB, "--rank", 2, "--row-limit", 3).stdout
        self.assertEqual(chosen, run("ops", JOB / "rank2.json", "--row-limit", 3).stdout)
        self.assertIn("no input is of rank 77", run("ops", JOB, "--rank", 77, code=2).stderr)

    def test_names_choose_rows_of_each_table(self):
        for verb, pattern in (("kernels", "gemm"), ("modules", "."), ("flops", "mm"), ("occupancy", "gemm")):
            words = ["model", "--by", "operator"] if verb == "flops" else [verb]
            whole = result(*words, TRACE)
            some = result(*words, TRACE, "--name", pattern)
            self.assertEqual(some["totals"], whole["totals"], verb)
            named = [row for row in whole["rows"] if re.search(pattern, str(row.get("path") or row["name"]))]
            self.assertEqual(some["rows"], named, verb)
        self.assertIn(" rows match; totals are those of all rows", run("kernels", TRACE, "--name", "gemm").stderr)
        self.assertIn("not a valid regular expression", run("kernels", TRACE, "--name", "(", code=2).stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *(f"ChosenSteps.test_{name}" for name in sys.argv[2:])])
