#!/usr/bin/env python3
"""Do help(), inspect.signature() and editors say what each function and method takes, and do the examples work?

    docstrings_test.py [NAME...]

Each method is a CTest test python.NAME. An example is an indented line of a docstring. It runs in a folder with a trace,
a folder of ranks and a comparison, after `trace`, `ranks`, `partial`, `table`, `graph`, `summary`, `diff` and `snapshot` were made.
"""

import contextlib
import inspect
import io
import json
import os
import pathlib
import pydoc
import shutil
import sys
import tempfile
import unittest

import tbtrace

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data"
CLASSES = [value for name, value in vars(tbtrace).items() if isinstance(value, type) and not name.startswith("_")
           and not issubclass(value, Exception)]
# What the arguments of these may be does not go wrong, or another one's docstring says it.
QUIET = {"Trace.timeline", "Table.to_pandas", "tables", "views", "find", "ranks", "rank_record"}


def functions():
    """(name, function) of all that is public and made of C++."""
    for name in tbtrace.__all__:
        value = getattr(tbtrace, name)
        if inspect.isfunction(value):
            yield name, value
    for owner in CLASSES:
        for name, value in vars(owner).items():
            if not name.startswith("_") and callable(getattr(owner, name)):
                yield f"{owner.__name__}.{name}", getattr(owner, name)


def examples(text):
    return [line[4:] for line in (text or "").splitlines() if line.startswith("    ")]


class Docstrings(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="tbtrace-docstrings-")))
        self.enterContext(contextlib.chdir(folder))
        (folder / "ranks").mkdir()
        for rank, name in enumerate(("gpu_step.json", "gpu_step_rank1.json")):
            shutil.copy(DATA / name, folder / f"ranks/rank{rank}.json")
        shutil.copy(ROOT / "examples/traces/resnet18_training.json.gz", folder / "rank0.json.gz")
        for name in ("before.json.gz", "after.json.gz"):
            shutil.copy(DATA / "compare" / name, folder / name)
        shutil.copy(DATA / "failed_training.pickle", folder / "snapshot.pickle")
        tbtrace.read(DATA / "gpu_step.json").partial().save("rank0.tbp")

    def values(self):
        trace = tbtrace.read(DATA / "gpu_step.json")
        ranks = tbtrace.TraceSet.open("ranks/")
        snapshot = tbtrace.read_memory_snapshot("snapshot.pickle")
        return {"snapshot": snapshot, "before": snapshot, "after": snapshot, "json": json, "tbtrace": tbtrace, "trace": trace, "ranks": ranks, "partial": ranks.partial(),
                "table": trace.kernels(), "graph": trace.flame_graph(), "summary": trace.summary(),
                "diff": tbtrace.diff("before.json.gz", "after.json.gz", run_noise=0.05)}

    def test_examples_in_docstrings_work(self):
        values = self.values()
        count = 0
        for name, function in functions():
            found = examples(function.__doc__)
            if function.__module__ != "tbtrace":
                continue  # classes of Python's own
            self.assertTrue(found, f"the docstring of {name} has no example")
            for example in found:
                for place in ("job.tbp", "flame.svg", "report.html", "stacks.txt", "copy.json.gz", "base.tbb",
                              "compare.html", "events.parquet"):
                    pathlib.Path(place).unlink(missing_ok=True)
                with contextlib.redirect_stdout(io.StringIO()):
                    try:
                        exec(compile(example, name, "exec"), dict(values))
                    except ModuleNotFoundError as missing:
                        self.assertIn(missing.name, ("pandas", "polars", "pyarrow", "duckdb", "numpy"))
                    except Exception as problem:
                        self.fail(f"the example of {name} fails: {example}: {problem!r}")
                count += 1
        self.assertGreater(count, 80)

    def test_examples_of_jobs_work(self):
        from tbtrace import _job

        values = self.values() | {"job": tbtrace.local.summarize("ranks/")}
        methods = [method for name, method in vars(_job.Job).items() if inspect.isfunction(method) and not name.startswith("_")]
        self.assertGreater(len(methods), 15)
        for function in [*methods, tbtrace.local.summarize, tbtrace.local.rows]:
            indentation = " " * (8 if function in methods else 4)
            found = examples("\n".join(line.removeprefix(indentation) for line in function.__doc__.splitlines()))
            self.assertTrue(found, f"the docstring of {function.__qualname__} has no example")
            for example in found:
                with self.subTest(example), contextlib.redirect_stdout(io.StringIO()):
                    with contextlib.suppress(ModuleNotFoundError):
                        exec(compile(example, function.__qualname__, "exec"), dict(values))

    def test_docstrings_name_units_and_errors(self):
        for name, function in functions():
            text = function.__doc__ or ""
            self.assertGreater(len(text), 20, name)
            if function.__module__ != "tbtrace":
                continue
            signature = inspect.signature(function)
            takes = [each for each in signature.parameters if each != "self"]
            says = any(word in text for word in ("Raises", "; raises ", "rguments as", "rguments are", "rguments of"))
            if takes and name not in QUIET and "datetimes" not in takes:
                self.assertTrue(says, f"{name} takes {takes} and does not say what it raises")
            if signature.return_annotation == "Table" and name.split(".")[0] in ("Trace", "TraceSet", "Partial"):
                if not name.endswith(("checks", "collectives")):
                    self.assertRegex(text, r"\bns\b", f"{name} does not say in what times are")

    def test_methods_have_signatures(self):
        for name, function in functions():
            signature = inspect.signature(function)
            for parameter in signature.parameters.values():
                self.assertNotIn(parameter.kind, (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD), f"{name}{signature}")
        kernels = inspect.signature(tbtrace.Trace.kernels)
        self.assertEqual(list(kernels.parameters), ["self", "group_by", "per_event", "steps", "figures"])
        self.assertEqual(kernels.parameters["group_by"].default, "name")
        trace = tbtrace.read(DATA / "gpu_step.json")
        self.assertEqual(list(inspect.signature(trace.kernels).parameters), ["group_by", "per_event", "steps", "figures"])
        self.assertEqual(list(inspect.signature(tbtrace.TraceSet.open).parameters), ["inputs", "workers", "strict", "arguments"])
        self.assertEqual(tbtrace.Trace.kernels.__qualname__, "Trace.kernels")
        shown = pydoc.plain(pydoc.render_doc(tbtrace.Trace.kernels))
        self.assertIn("per_event: bool = False", shown)
        self.assertNotIn('"', shown.split("->")[0])

    def test_arguments_of_methods_are_those_of_the_module(self):
        """Positions, names, defaults and mistakes: as without the signatures."""
        trace = tbtrace.read(DATA / "gpu_step.json")
        self.assertEqual(trace.kernels("operator").to_dicts(), trace.kernels(group_by="operator").to_dicts())
        self.assertEqual(len(trace.kernels(per_event=True)), len(trace.kernels("name", per_event=True)))
        for call in (lambda: trace.kernels("name", group_by="name"), lambda: trace.kernels(colour=1), lambda: trace.gpu(1, 2),
                     lambda: trace.kernels(group_by=1), lambda: trace.events(columns=1)):
            self.assertRaises(TypeError, call)
        self.assertRaisesRegex(ValueError, "exclude each other", trace.kernels, "operator", per_event=True)
        self.assertEqual(tbtrace.TraceSet.open("ranks/").partial().kernels("operator").totals["count"], 8)


if __name__ == "__main__":
    os.environ["COLUMNS"] = "120"
    unittest.main(argv=[sys.argv[0], *(f"Docstrings.test_{name}" for name in sys.argv[1:])])
