#!/usr/bin/env python3
"""Programs that `tbtrace replay` writes: what is in them, and that they run.

    replay_test.py PROGRAM [PYTHON_WITH_TORCH] [NAME...]
"""
import ast
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
TORCH = ""
ROOT = pathlib.Path(__file__).resolve().parents[2]
# Builds for sanitizers take some of what others take all of.
EVERY = max(1, 100 // int(os.environ.get("TBTRACE_RANDOM_PERCENT", "100")))
RESNET = ROOT / "examples/traces/resnet18_training.json.gz"

# Runs programs one after another, since torch takes long to load.
RUN_ALL = """
import pathlib, runpy, sys
sys.argv[1:] = ["--repeats", "1", "--threads", "1"]
for path in pathlib.Path(sys.argv[0]).parent.glob("op_*.py"):
    print(path.name)
    runpy.run_path(str(path), run_name="__main__")
"""


def replay(*arguments):
    return subprocess.run([PROGRAM, "replay", *map(str, arguments)], capture_output=True, text=True)


def values_of(program):
    """What the program assigns to names."""
    return {node.targets[0].id: ast.literal_eval(node.value) for node in ast.parse(program).body
            if isinstance(node, ast.Assign)}


def operators(path):
    with gzip.open(path) as file:
        return [event for event in json.load(file)["traceEvents"] if event.get("cat") == "cpu_op"]


class Replay(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def trace(self, events):
        path = self.folder / "trace.json"
        path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
        return path

    def op(self, name, **arguments):
        return {"ph": "X", "cat": "cpu_op", "name": name, "ts": 1, "dur": 5, "pid": 1, "tid": 1, "args": arguments}

    def test_replayed_calls_are_those_of_the_trace(self):
        name = "aten::convolution_backward"
        wanted = {}
        for event in operators(RESNET):
            if event["name"] == name:
                inputs = event["args"]
                key = json.dumps([inputs[each] for each in ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")])
                wanted.setdefault(key, []).append(event["dur"])
        written = values_of(replay(RESNET, "--operator", name, "--row-limit", "1000").stdout)
        self.assertEqual(written["OPERATOR"], name)
        self.assertEqual(len(written["CALLS"]), len(wanted))
        totals = []
        for call in written["CALLS"]:
            times = sorted(wanted[json.dumps([call["dims"], call["types"], call["strides"], call["values"]])])
            self.assertEqual(call["calls"], len(times))
            self.assertAlmostEqual(call["least_us"], times[0], delta=1e-3)
            self.assertAlmostEqual(call["median_us"], times[(len(times) - 1) // 2], delta=1e-3)
            totals.append(sum(times))
        self.assertEqual(totals, sorted(totals, reverse=True))
        self.assertEqual(len(values_of(replay(RESNET, "--operator", name).stdout)["CALLS"]), 5)

    def test_replayed_programs_run_for_all_operators_of_a_network(self):
        if not TORCH:
            self.skipTest("needs a Python with torch")
        names = sorted({event["name"] for event in operators(RESNET) if event["name"].startswith("aten::")})
        self.assertGreater(len(names), 40)
        for number, name in enumerate(names[::EVERY]):
            made = replay(RESNET, "--operator", name, "--row-limit", "3", "-o", self.folder / f"op_{number}.py")
            self.assertEqual(made.returncode, 0, made.stderr)
        (self.folder / "all.py").write_text(RUN_ALL)
        run = subprocess.run([TORCH, self.folder / "all.py"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout[-300:] + run.stderr)

    def test_replays_of_some_inputs_go_on_after_others_that_cannot_run(self):
        if not TORCH:
            self.skipTest("needs a Python with torch")
        types = ["float", "long int", "Scalar", "Scalar", "Scalar"]
        bad, good = ({**self.op("aten::embedding", **{"Input Dims": [weight, [7], [], [], []], "Input type": types,
                                                      "Concrete Inputs": ["", "", "-1", "False", "False"]}), "ts": at}
                     for at, weight in ((1, [5, 8, 2]), (9, [5, 8])))
        made = replay(self.trace([bad, good]), "--operator", "aten::embedding", "-o", self.folder / "op.py")
        self.assertEqual(made.returncode, 0, made.stderr)
        run = subprocess.run([TORCH, self.folder / "op.py", "--repeats", "1"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertRegex(run.stdout, r"(?m)^ +- .*\n +cannot run: ")
        self.assertRegex(run.stdout, r"(?m)^ +[\d.]+ .*\[5, 8\].*\n +values of `indices` are not recorded$")

    def test_replayed_calls_within_calls_count_once(self):
        types = {"Input Dims": [[2]], "Input type": ["float"]}
        inner = {**self.op("aten::to", **types), "ts": 2, "dur": 1}
        written = values_of(replay(self.trace([self.op("aten::to", **types), inner]), "--operator", "aten::to").stdout)
        self.assertEqual([call["calls"] for call in written["CALLS"]], [1])

    def test_replayed_device_work_counts_where_there_is_some(self):
        written = values_of(replay(ROOT / "tests/data/gpu_step.json", "--operator", "aten::linear").stdout)
        self.assertEqual(written["DEVICE"], "cuda")

    def test_replayed_texts_of_a_trace_are_not_run(self):
        hostile = 'x"""\n__import__("os").system("touch ran")\n\\" \u2028 \U0001f600'
        path = self.trace([
            self.op(f"aten::{hostile}", **{"Input Dims": [[2]], "Input type": [hostile], "Concrete Inputs": [hostile]}),
            {**self.op(f"aten::{hostile}", **{"Input Dims": "[print(1)]", "Input type": ["float"]}), "ts": 9},
        ])
        made = replay(path, "--operator", f"aten::{hostile}")
        self.assertEqual(made.returncode, 0, made.stderr)
        written = values_of(made.stdout)
        self.assertEqual(written["OPERATOR"], f"aten::{hostile}")
        self.assertEqual([call["types"] for call in written["CALLS"] if call["values"]], [[hostile]])
        self.assertEqual(ast.get_docstring(ast.parse(made.stdout)).count("Runs an operator"), 1)

    def test_replays_that_cannot_be_are_refused(self):
        path = self.trace([self.op("aten::mm")])
        for arguments, words in (((path,), "say which operator"),
                                 ((path, "--operator", "aten::mm"), "record_shapes=True"),
                                 ((path, "--operator", "aten::add"), "no operator 'aten::add'"),
                                 ((RESNET, "--operator", "aten::mm", "--shapes", "[[1]]"), "with the shapes [[1]]"),
                                 ((RESNET, "--operator", "aten::mm", "--row-limit", "0"), "from 1 on")):
            done = replay(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)
        shapes = replay(RESNET, "--operator", "aten::mm", "--shapes", "[[4,10], [10, 512]]")
        self.assertEqual([call["dims"] for call in values_of(shapes.stdout)["CALLS"]], [[[4, 10], [10, 512]]])


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    if len(sys.argv) > 1 and "python" in pathlib.Path(sys.argv[1]).name:
        TORCH = sys.argv.pop(1)
    sys.argv[1:] = [f"Replay.test_{name}" for name in sys.argv[1:]]
    unittest.main()
