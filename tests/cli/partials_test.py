#!/usr/bin/env python3
"""Do partials give, byte for byte, the tables of the traces that they were made from?

    partials_test.py PROGRAM [NAME...]
    partials_test.py PROGRAM FOLDER

Each method is a CTest test cli.NAME, with the project's own traces (under sanitizers some of them one by one); with
FOLDER the traces below it are taken instead.
Needs a build with protobuf.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
from support.sampling import share_of

PROGRAM = ""
OWN = sorted((ROOT / "examples/traces").glob("*.json.gz")) + [
    ROOT / "tests/data" / name for name in ("gpu_step.json", "gpu_step_rank1.json", "cpu_steps.json", "stacks.json",
                                            "hostile_names.json", "old_dialect.json", "cuda_graph.json")]
FOLDER = None
MOST_BYTES = 8 << 20  # of a trace below FOLDER

# What a partial has of each source, and what it has of all together.
OF_EACH = ["steps", "gpu", "gpu --group-by stream", "memory", "memory --view alive", "check --threads"]
OF_ALL = ["kernels", "kernels --group-by launch", "kernels --group-by operator", "kernels --group-by family",
          "kernels --group-by label", "modules", "modules --group-by layer", "modules --group-by type",
          "lines", "lines --all-code"]
GROUPINGS = ["", "--group-by-input-shape", "--group-by-overload-name --group-by-input-shape", "--group-by-stack-n 5",
             "--group-by-stack-n 5 --group-by-input-shape"]
WEIGHTS = ["self_cpu_time_total", "self_device_time_total", "cpu_memory"]


def run(arguments, code=0):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, timeout=100, check=False)
    if done.returncode != code:
        raise AssertionError(f"tbtrace {' '.join(map(str, arguments))} ended with {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def traces_below(folder):
    """Sets of traces: those of a folder together, each content once. Issues of a trace depend on what is read of it, so
    those that have some are left out."""
    sets = {}
    contents = set()
    for file in sorted(folder.rglob("*.json*")):
        if not file.is_file() or file.stat().st_size > MOST_BYTES or file.read_bytes() in contents:
            continue
        contents.add(file.read_bytes())
        if subprocess.run([PROGRAM, "save", file, "-o", "-", "--strict", "-q"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0:
            sets.setdefault(file.parent, []).append(file)
    return list(sets.values())


class Partials(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tbtrace-partials-")
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def partial(self, name, traces):
        path = self.path / name
        run(["save", *traces, "-o", path, "--overwrite", "-q"])
        return path

    def same(self, verb, options, traces, partial, with_traces=()):
        for form in ("json", "text", "csv") if FOLDER is None else ("json",):
            chosen = [*options, "--format", form, "-q"]
            self.assertEqual(run([verb, partial, *chosen]), run([verb, *traces, *with_traces, *chosen]),
                             f"{verb} {chosen} of {[str(trace) for trace in traces]}")

    def check(self, traces):
        partial = self.partial("sum.tbp", traces)
        for words in OF_EACH:
            verb, *options = words.split()
            self.same(verb, options, traces, partial)
        for words in OF_ALL:
            verb, *options = words.split()
            self.same(verb, options, traces, partial, ["--sum-inputs"] if len(traces) > 1 else [])
        for words in GROUPINGS:
            options = words.split()
            source = ["--stack-source", "auto"] if "--group-by-stack-n" in options else []
            self.same("ops", options, traces, partial, ["--strict-totals", *source])
        for weight in WEIGHTS:
            options = ["--weight", weight, "--format", "folded", "-q"]
            self.assertEqual(run(["flamegraph", partial, *options]),
                             run(["flamegraph", *traces, "--sum-inputs", *options]))

    def check_figures(self, traces):
        """Tables whose texts say more of a trace: what was recorded, and how to set peaks."""
        partial = self.partial("figures.tbp", traces)
        for verb in ("model --by operator", "check"):
            words = ["--format", "json", "-q"]
            done = [subprocess.run([PROGRAM, *verb.split(), *inputs, *words], capture_output=True, timeout=100, check=False)
                    for inputs in (traces, [partial])]
            self.assertEqual(done[0].stdout, done[1].stdout, verb)
            self.assertEqual(done[0].returncode, done[1].returncode, verb)
            self.assertIn(done[0].returncode, (0, 1))
            if len(traces) > 1:
                self.assertTrue(json.loads(done[0].stdout)["rows"])

    def test_partials_have_flops_and_findings(self):
        self.check_figures(OWN)
        self.check_figures(OWN[:1])
        ranks = [ROOT / f"tests/data/slow_loader_job/rank{rank}.json" for rank in (0, 3)]
        parts = [self.partial(f"{trace.stem}.tbp", [trace]) for trace in ranks]
        words = ["--format", "json", "-q"]
        found = run(["check", *parts, *words], code=1)
        self.assertEqual(found, run(["check", *ranks, *words], code=1))
        self.assertIn("missing_ranks", [row["id"] for row in json.loads(found)["rows"]])

    def test_partial_of_each_own_trace_gives_its_tables(self):
        for trace in share_of(OWN):
            with self.subTest(trace.name):
                self.check([trace])

    def test_partial_of_all_own_traces_gives_their_tables(self):
        self.check(OWN)

    def recorded_traces(self):
        sets = traces_below(FOLDER)
        self.assertGreater(len(sets), 5)
        for traces in sets:
            with self.subTest(str(traces[0].parent)):
                self.check([traces[0]])
                if len(traces) > 1:
                    self.check(traces)

    def test_merged_partials_are_the_partial_of_all_in_any_order(self):
        expected = self.partial("all.tbp", OWN).read_bytes()
        parts = [self.partial(f"part{number}.tbp", [trace]) for number, trace in enumerate(OWN)]
        shuffle = random.Random(1)
        for tree in range(5):
            left = list(parts)
            while len(left) > 1:
                shuffle.shuffle(left)
                taken = left[: shuffle.randint(2, len(left))]
                merged = self.path / f"tree{tree}_{len(left)}.tbp"
                run(["add", *taken, "-o", merged])
                left = [part for part in left if part not in taken] + [merged]
            self.assertEqual(left[0].read_bytes(), expected)

    def test_merged_partials_of_a_folder_are_those_in_it(self):
        parts = self.path / "parts"
        parts.mkdir()
        for number, trace in enumerate(OWN[:3]):
            run(["save", trace, "-o", parts / f"{number}.tbp"])
        (parts / "notes.txt").write_text("not a partial")
        run(["add", parts, "-o", self.path / "sum.tbp"])
        self.assertEqual((self.path / "sum.tbp").read_bytes(), self.partial("all.tbp", OWN[:3]).read_bytes())

    def test_partials_and_traces_are_added_up_together(self):
        first = self.partial("first.tbp", OWN[:2])
        for words in ("kernels --sum-inputs", "lines --sum-inputs", "ops"):
            verb, *options = words.split()
            everything = ["--strict-totals"] if verb == "ops" else []
            self.assertEqual(run([verb, first, *OWN[2:4], *options, "--format", "json", "-q"]),
                             run([verb, *OWN[:4], *options, *everything, "--format", "json", "-q"]))

    def test_partial_goes_through_a_pipe(self):
        written = run(["save", OWN[0], "-o", "-"])
        merged = subprocess.run([PROGRAM, "add", "-", "-o", "-"], input=written, capture_output=True, check=True)
        self.assertEqual(merged.stdout, written)

    def test_partial_of_what_cannot_be_read_names_it_and_has_the_rest(self):
        broken = self.path / "broken.json"
        broken.write_text("nothing")
        run(["save", OWN[0], broken, "-o", self.path / "rest.tbp", "-q"], code=4)
        self.assertEqual((self.path / "rest.tbp").read_bytes(), self.partial("one.tbp", [OWN[0]]).read_bytes())
        run(["save", broken, "-o", self.path / "none.tbp", "-q"], code=3)
        self.assertFalse((self.path / "none.tbp").exists())


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    names = [f"test_{name}" for name in sys.argv[2:]]
    if sys.argv[2:] and pathlib.Path(sys.argv[2]).is_dir():
        FOLDER = pathlib.Path(sys.argv[2])
        names = ["recorded_traces"]
    unittest.main(argv=[sys.argv[0]] + [f"Partials.{name}" for name in names])
