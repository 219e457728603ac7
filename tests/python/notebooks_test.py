#!/usr/bin/env python3
"""Do the notebooks of docs/notebooks/ run, and do they show the right figures?

    notebooks_test.py [--html FOLDER] [NAME...]

Each method is a CTest test python.NAME. The cells of a notebook run in order in one namespace, as in Jupyter, which is
not needed. A second run has other recordings, of ../shared/traces, in place of the project's own. The oracle reads the
same traces with Python's json. With --html, pages with the outputs are written for people.
"""

import ast
import collections
import contextlib
import gzip
import html
import io
import json
import os
import math
import pathlib
import random
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "docs/notebooks"
DATA = ROOT / "tests/data"
SHARED = ROOT.parent / "shared/traces"
HTML = None
# By notebook: what its first lines name, and other recordings for it.
OTHERS = {
    "kernels_per_operator": {"TRACE": "hta/trace_filter/sampled_rank-0.json.gz"},
    "idle_per_step": {"TRACE": "hta/trace_filter/sampled_rank-0.json.gz"},
    "communication_overlap": {"RANKS": "hta/trace_filter/"},
    "launch_delays": {"TRACE": "hta/trace_filter/sampled_rank-0.json.gz"},
    "memory_growth": {"TRACE": "minimal/all_views/node0_100.1700000000000.pt.trace.json"},
    "modules": {"TRACE": "minimal/all_views/node0_100.1700000000000.pt.trace.json"},
    "compare_two_traces": {"BASE": "hta/trace_diff/control/control.json.gz", "NEW": "hta/trace_diff/test/test.json.gz"},
    "per_rank": {"RANKS": "hta/trace_filter/"},
    "questions": {
        "TRACE": "hta/trace_filter/sampled_rank-0.json.gz", "STACKS": "minimal/all_views/node0_100.1700000000000.pt.trace.json",
        "RANKS": "hta/trace_filter/", "BASE": "hta/trace_diff/control/control.json.gz", "NEW": "hta/trace_diff/test/test.json.gz"},
}
STYLE = """body { font: 14px/1.5 sans-serif; max-width: 1200px; margin: 2em auto; padding: 0 1em }
pre { background: #f3f3f3; padding: 8px; overflow-x: auto } table { border-collapse: collapse; font-size: 12px }
td, th { padding: 2px 8px; text-align: right } .output { margin: 0 0 1.5em 2em; overflow-x: auto }"""


def events_of(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        return [event for event in json.load(file)["traceEvents"] if event.get("ph") == "X"]


def kernels_of(path):
    return [event for event in events_of(path) if event.get("cat") == "kernel"]


def made_ranks(folder, count):
    """Ranks of a job, each at a speed of its own. A part of the collectives runs beside computation."""
    random.seed(count)
    examples = [json.loads(path.read_bytes()) for path in sorted((DATA / "slow_loader_job").glob("rank*.json"))]
    for rank in range(count):
        document = json.loads(json.dumps(examples[rank % len(examples)]))
        document["distributedInfo"] |= {"rank": rank, "world_size": count}
        first = min(event["ts"] for event in document["traceEvents"] if "dur" in event)
        speed = random.uniform(0.9, 1.1)
        for event in document["traceEvents"]:
            if "ts" in event:
                event["ts"] = round(first + (event["ts"] - first) * speed, 3)
            if "dur" in event:
                event["dur"] = round(event["dur"] * speed, 3)
            if event.get("cat") == "kernel" and "nccl" in event["name"]:
                event["ts"] = round(event["ts"] - event["dur"] * random.uniform(0.2, 0.5), 3)
                event["tid"] = event["args"]["stream"] = 20
        pathlib.Path(folder, f"rank{rank}.json").write_text(json.dumps(document))


def rows_of(answer):
    """(columns, rows) of a data frame or of DuckDB's relation, in no order."""
    if hasattr(answer, "fetchall"):
        columns, rows = answer.columns, answer.fetchall()
    else:
        columns, rows = list(answer.columns), answer.astype(object).where(answer.notna(), None).values.tolist()
    return columns, sorted((tuple(row) for row in rows), key=lambda row: [(value is None, value or 0) for value in row])


class Run:
    """The cells of a notebook, run; with `others` in place of its recordings."""

    def __init__(self, name, others=None, page_kept=True):
        self.cells = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
        self.values = {"__name__": "__main__"}
        self.outputs = []
        self.said = ""
        page = [f"<meta charset=utf-8><title>{name}</title><style>{STYLE}</style>"]
        for number, cell in enumerate(self.cells):
            text = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                page.append(f"<p>{html.escape(text)}</p>")
                continue
            for variable, place in (others or {}).items():
                text = re.sub(rf"^{variable} = .*$", f"{variable} = {str(SHARED / place)!r}", text, flags=re.MULTILINE)
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                shown = self.run(text, f"{name}, cell {number}")
            self.outputs.append(shown)
            self.said += said.getvalue()
            page.append(f"<pre>{html.escape(text)}</pre><div class=output><pre>{html.escape(said.getvalue())}</pre>")
            page.append(self.html_of(shown) + "</div>")
        if HTML and page_kept:
            (HTML / f"{name}{'.other' if others else ''}.html").write_text("\n".join(page), encoding="utf-8")

    def run(self, text, name):
        """Its last expression, which a notebook shows."""
        tree = ast.parse(text, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), self.values)
        if last is None:
            return None
        return eval(compile(ast.Expression(last.value), name, "eval"), self.values)

    def html_of(self, shown):
        if shown is None:
            return ""
        for method in ("_repr_html_", "_repr_svg_"):
            if hasattr(shown, method):
                return str(getattr(shown, method)())
        return f"<pre>{html.escape(repr(shown))}</pre>"


class Notebooks(unittest.TestCase):
    def setUp(self):
        self.enterContext(contextlib.chdir(NOTEBOOKS))

    def runs(self, name):
        """(the run, path of its recordings by variable)."""
        run = Run(name)
        yield run, {key: NOTEBOOKS / run.values[key] for key in OTHERS[name]}
        if SHARED.exists():
            yield Run(name, OTHERS[name]), {key: SHARED / place for key, place in OTHERS[name].items()}

    def test_notebooks_are_stripped_and_complete(self):
        self.assertEqual({path.stem for path in NOTEBOOKS.glob("*.ipynb")}, set(OTHERS))
        page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
        for name in OTHERS:
            document = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))
            self.assertEqual((document["nbformat"], document["nbformat_minor"]), (4, 5))
            self.assertEqual(len({cell["id"] for cell in document["cells"]}), len(document["cells"]))
            self.assertEqual(document["cells"][0]["cell_type"], "markdown")
            for cell in document["cells"]:
                if cell["cell_type"] == "code":
                    self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None), name)
            self.assertTrue(f"notebooks/{name}.ipynb" in page, name)

    def run_on(self, name, path):
        return Run(name, dict.fromkeys(OTHERS[name], path), page_kept=False)

    def test_notebooks_say_what_was_not_recorded(self):
        wanted = {"idle_per_step": "no GPU activities", "launch_delays": "no kernels", "communication_overlap":
                  "No communication", "per_rank": "without a rank"}
        # The host only: without steps, and with them. Then neither steps nor operators.
        for file in ("stacks.json", "cpu_steps.json", "devtools.json"):
            for name in OTHERS:
                with self.subTest(name=name, file=file):
                    self.assertIn(wanted.get(name, ""), self.run_on(name, DATA / file).said)
        self.assertIn("no range", self.run_on("compare_two_traces", DATA / "devtools.json").said)
        rocprof = self.run_on("idle_per_step", DATA / "rocprof.json")  # a GPU without steps
        self.assertIn("no steps", rocprof.said)
        self.assertEqual(list(rocprof.values["idle"]["step"]), [None] * len(rocprof.values["idle"]))
        self.assertGreater(len(rocprof.values["idle"]), 0)

    def test_notebooks_have_no_deviation_of_one_kernel(self):
        delays = self.run_on("launch_delays", DATA / "recovered.json").outputs[1]
        self.assertTrue(delays.loc[delays["count"] == 1, "std"].isna().all())
        self.assertTrue((delays["count"] == 1).any())

    def test_notebooks_read_a_rank_twice(self):
        with tempfile.TemporaryDirectory() as folder:
            content = (DATA / "slow_loader_job/rank1.json").read_bytes()
            for end in (b"", b"\n"):  # the same bytes would count once
                pathlib.Path(folder, f"{len(end)}.json").write_bytes(content + end)
            run = self.run_on("per_rank", folder)
        self.assertEqual(run.outputs[2].shape, (4, 2))
        self.assertEqual(list(run.outputs[-1].columns), [1])

    def answers_in(self, run):
        """(question, answer of pandas, answer of SQL)."""
        answers = iter(zip([cell for cell in run.cells if cell["cell_type"] == "code"], run.outputs, strict=True))
        next(answers)  # reads the recordings
        questions = [cell["source"][0].strip() for cell in run.cells if cell["source"][0].startswith("## ")]
        self.assertEqual([question.split()[1] for question in questions], [f"{number}." for number in range(1, 11)])
        for question in questions:
            (cell, by_pandas), (sql_cell, by_sql) = next(answers), next(answers)
            self.assertLessEqual(max(len(cell["source"]), len(sql_cell["source"])), 5, question)
            self.assertRegex("".join(sql_cell["source"]), r"^\w+\.sql\(", question)
            yield question, by_pandas, by_sql

    def assertAnswersAreEqual(self, run):
        """Returns how many rows there are in all."""
        count = 0
        for question, by_pandas, by_sql in self.answers_in(run):
            with self.subTest(question):
                (columns, rows), (sql_columns, sql_rows) = rows_of(by_pandas), rows_of(by_sql)
                self.assertEqual(columns, sql_columns)
                self.assertEqual(len(rows), len(sql_rows))
                for row, sql_row in zip(rows, sql_rows):
                    for one, other in zip(row, sql_row):
                        if not (isinstance(one, float) and isinstance(other, float) and math.isclose(one, other)):
                            self.assertEqual(one, other)
                count += len(rows)
        return count

    def test_questions_have_one_answer(self):
        run = Run("questions")
        self.assertGreater(self.assertAnswersAreEqual(run), 40)
        for question, by_pandas, _ in self.answers_in(run):
            self.assertGreater(len(by_pandas), 0, question)
        slow = next(by_pandas for question, by_pandas, _ in self.answers_in(run) if "rank is slow" in question)
        self.assertEqual(slow["rank"].iloc[0], 2)
        kernels = kernels_of(NOTEBOOKS / run.values["TRACE"])
        self.assertEqual(int(run.values["kernels"]["total_ns"].sum()), round(sum(kernel["dur"] for kernel in kernels) * 1000))

    def test_questions_have_one_answer_for_many_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            made_ranks(folder, 200)
            run = Run("questions", {"RANKS": folder}, page_kept=False)
        self.assertAnswersAreEqual(run)
        self.assertEqual((len(run.values["job"].partial), run.values["job"].failed), (200, []))
        self.assertEqual(len(run.values["gpu"]), 200)
        self.assertTrue((run.values["gpu"]["hidden_share"] > 0.1).all())

    def test_notebook_of_questions(self):
        if SHARED.exists():
            self.assertGreater(self.assertAnswersAreEqual(Run("questions", OTHERS["questions"])), 40)

    def test_notebook_of_kernels_per_operator(self):
        for run, paths in self.runs("kernels_per_operator"):
            kernels = kernels_of(paths["TRACE"])
            wanted = round(sum(kernel["dur"] for kernel in kernels) * 1000)
            self.assertEqual(int(run.values["operators"]["total_ns"].sum()), wanted)
            self.assertEqual(int(run.values["top"]["count"].sum()), len(kernels))
            pivot = run.outputs[3]
            self.assertGreater(len(pivot.columns), 1)

    def test_notebook_of_idle_time_per_step(self):
        for run, paths in self.runs("idle_per_step"):
            idle = run.values["idle"]
            numbers = {int(event["name"].partition("#")[2]) for event in events_of(paths["TRACE"])
                       if event["name"].startswith("ProfilerStep#") and event.get("cat") == "user_annotation"
                       or event["name"].startswith("ProfilerStep#") and event.get("cat") == "cpu_op"}
            self.assertEqual(set(idle["step"]), numbers)
            self.assertTrue((idle["busy_ns"] + idle["idle_ns"] == idle["window_ns"]).all())
            self.assertTrue((idle["idle_host_wait_ns"] + idle["idle_kernel_wait_ns"] + idle["idle_other_ns"]
                             == idle["idle_ns"]).all())
            self.assertEqual(int(run.outputs[3]["sum"].sum()), int(run.values["gaps"]["duration_ns"].sum()))

    def test_notebook_of_overlap(self):
        for run, paths in self.runs("communication_overlap"):
            gpu = run.values["gpu"]
            self.assertTrue((gpu["overlap_ns"] + gpu["exposed_communication_ns"] == gpu["communication_ns"]).all())
            self.assertTrue((gpu["communication_ns"] > 0).all())
            self.assertGreater(len(run.values["communication"]), 0)
            folder = paths["RANKS"]
            self.assertEqual(len(gpu), len([path for path in folder.iterdir() if ".json" in path.name]))
            path = pathlib.Path(run.values["trace"].path)
            names = set(run.values["communication"]["short_name"])
            wanted = sum(kernel["dur"] for kernel in kernels_of(path) if "nccl" in kernel["name"].lower())
            self.assertEqual(int(run.values["communication"]["total_ns"].sum()), round(wanted * 1000), names)

    def test_notebook_of_launch_delays(self):
        for run, paths in self.runs("launch_delays"):
            launches = run.values["launches"]
            events = events_of(paths["TRACE"])
            calls = {event["args"]["correlation"]: event for event in events
                     if event.get("cat") in ("cuda_runtime", "cuda_driver") and event["args"].get("correlation")}
            delays = collections.Counter()
            for kernel in kernels_of(paths["TRACE"]):
                call = calls.get(kernel["args"].get("correlation"))
                if call:
                    delays[round(max(0, kernel["ts"] - call["ts"] - call["dur"]) * 1000, -1)] += 1
            found = collections.Counter(round(int(delay), -1) for delay in launches["launch_delay_ns"])
            self.assertEqual(sum(found.values()), sum(delays.values()))
            near = sum((found & delays).values())
            self.assertGreaterEqual(near, 0.9 * len(launches))  # doubles of the file are rounded differently
            self.assertEqual(run.values["share"], len(run.values["host_bound"]) / len(launches))

    def test_notebook_of_memory_growth(self):
        for run, _ in self.runs("memory_growth"):
            peak = max(row["peak_bytes"] for row in run.values["peaks"])
            self.assertGreater(peak, 0)
            self.assertLessEqual(max((row["highest_bytes"] for row in run.values["growth"]), default=0),
                                 int(run.values["curve"]["allocated_bytes"].max()))
            kept = run.values["kept"]
            self.assertEqual(int(kept["bytes"].sum()),
                             int(sum(row["bytes"] for row in run.values["trace"].memory("allocations")
                                     if row["freed_at_ns"] is None)))

    def test_notebook_of_modules(self):
        for run, paths in self.runs("modules"):
            names = {event["name"] for event in events_of(paths["TRACE"]) if event["name"].startswith("nn.Module: ")}
            found = set(run.values["frame"]["module"].dropna().unique())
            self.assertGreater(len(found), 0)
            self.assertLessEqual(found, names)
            plain = run.values["trace"].operators(figures="exact")
            self.assertEqual(run.values["operators"].totals, plain.totals)
            self.assertIn("<svg", run.outputs[-1]._repr_svg_())

    def test_notebook_of_a_comparison(self):
        for run, paths in self.runs("compare_two_traces"):
            diff = run.values["diff"]
            self.assertIn(diff.verdict, ("slower", "faster", "same", "inconclusive"))
            self.assertEqual(run.values["operators"]["key"].is_unique, True)
            for side, name in (("base", "BASE"), ("new", "NEW")):
                steps = [event["dur"] for event in events_of(paths[name]) if event["name"].startswith("ProfilerStep#")]
                self.assertLess(abs(run.values["step"][f"{side}_ns"] / 1000 - sum(steps) / len(steps)),
                                max(steps), "a mean step is not longer than the longest one")

    def test_notebook_of_ranks(self):
        for run, paths in self.runs("per_rank"):
            steps = run.values["steps"]
            paths = [path for path in paths["RANKS"].iterdir() if ".json" in path.name]
            self.assertEqual(steps["rank"].nunique(), len(paths))
            self.assertEqual(set(run.values["operators"]["rank"].dropna()), set(steps["rank"]))
            for path in paths:
                opened = gzip.open if path.suffix == ".gz" else open
                rank = json.loads(opened(path).read())["distributedInfo"]["rank"]
                count = sum(event["name"].startswith("ProfilerStep#") and event.get("cat") in ("user_annotation", "cpu_op")
                            for event in events_of(path))
                self.assertEqual(int((steps["rank"] == rank).sum()), count)


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[:1] == ["--html"]:
        HTML = pathlib.Path(words[1]).resolve()
        words = words[2:]
    os.environ["COLUMNS"] = "120"
    unittest.main(argv=[sys.argv[0], *(f"Notebooks.test_{name}" for name in words)])
