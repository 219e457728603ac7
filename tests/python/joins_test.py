#!/usr/bin/env python3
"""Do tables join by the columns that they share, in pandas, Polars and SQL, with no row lost?

    joins_test.py [NAME...]

Each method is a CTest test python.NAME. Joins with traces of 2021 need the reference traces beside the checkout.
"""

import collections
import contextlib
import json
import pathlib
import sys
import unittest

import tbtrace

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data"
REFERENCE = ROOT.parent / "shared/traces"
INTEGERS = ("rank", "device", "stream", "line", "step")


def resnet():
    return next((REFERENCE / "tb_plugin/samples/resnet50_num_workers_0").glob("*.json.gz"), None)


def work(trace):
    return trace.events(["name", "kind", "device", "stream", "step", "duration_ns"]).to_pandas().query("kind == 'kernel'")


def joins():
    """Of each: its name, the left table, the right one, and what they are joined by."""
    gpu = tbtrace.read(DATA / "gpu_step.json")
    old = tbtrace.read(DATA / "old_dialect.json")  # its streams are `stream 7`
    stacks = tbtrace.read(ROOT / "examples/traces/transformer_modules.json.gz")
    yield "streams of events", gpu.events(["kind", "device", "stream"]), gpu.gpu("stream"), ["device", "stream"]
    yield "streams of kernels", gpu.kernels("stream"), gpu.gpu("stream"), ["device", "stream"]
    yield "each kernel", gpu.kernels(per_event=True), gpu.kernels("stream"), ["device", "stream"]
    yield "operators by stream", gpu.operators("stream", figures="exact"), gpu.gpu("stream"), ["device", "stream"]
    yield "streams that are texts", old.events(["kind", "device", "stream"]), old.kernels("stream"), ["device", "stream"]
    yield "memory by device", gpu.memory(), gpu.gpu(), ["device"]
    yield "kernels by step", gpu.kernels("step"), gpu.steps(), ["step"]
    yield "gaps by step", gpu.gaps(), gpu.steps(), ["step"]
    yield "operators by line", stacks.operators("line", figures="exact"), stacks.lines(libraries=False), ["source_line"]
    yield "memory by line", stacks.memory("allocations"), stacks.lines(libraries=False, view="memory"), ["source_line"]
    if resnet():
        sample = tbtrace.read(resnet())
        yield "ResNet-50", sample.events(["kind", "device", "stream"]), sample.kernels("stream"), ["device", "stream"]
        yield "ResNet-50 by step", sample.kernels(("step", "stream")), sample.steps(), ["step"]


class Joins(unittest.TestCase):
    def expected(self, left, right, by):
        """Rows of a left join and an inner one, counted by hand."""
        keys = [tuple(row[key] for key in by) for row in right]
        mine = [tuple(row[key] for key in by) for row in left]
        return sum(keys.count(key) for key in mine if None not in key)

    def test_joins_of_data_frames_find_their_rows(self):
        import pandas
        import polars
        for name, left, right, by in joins():
            with self.subTest(name):
                rows = self.expected(left, right, by)
                self.assertGreater(rows, 0)
                found = left.to_pandas().dropna(subset=by).merge(right.to_pandas().dropna(subset=by), on=by)
                self.assertIsInstance(found, pandas.DataFrame)
                self.assertEqual(len(found), rows)
                found = left.to_polars().join(right.to_polars(), on=by)
                self.assertIsInstance(found, polars.DataFrame)
                self.assertEqual(len(found), rows)

    def test_joins_in_sql_find_their_rows(self):
        import duckdb
        for name, left, right, by in joins():
            with self.subTest(name):
                query = f"select count(*) from l join r using ({', '.join(by)})"
                connection = duckdb.connect()
                connection.register("l", left.to_arrow())
                connection.register("r", right.to_arrow())
                self.assertEqual(connection.sql(query).fetchall()[0][0], self.expected(left, right, by))

    def test_kernels_of_streams_are_all_found(self):
        for path in filter(None, (DATA / "gpu_step.json", DATA / "old_dialect.json", resnet())):
            trace = tbtrace.read(path)
            kernels = work(trace)
            found = kernels.merge(trace.kernels("stream").to_pandas(), on=["device", "stream"])
            self.assertEqual(len(found), len(kernels))
            count = trace.kernels("stream").to_pandas().set_index(["device", "stream"])["count"]
            self.assertEqual(kernels.groupby(["device", "stream"]).size().to_dict(), count.to_dict())

    def check_launched(self, source, name):
        """`launched` of each step is the number of GPU events that have this step. Returns it for all steps."""
        trace = tbtrace.read(source)
        of_events = collections.Counter(
            event["step"] for event in trace.events(["kind", "step"])
            if event["kind"] in ("kernel", "gpu_memcpy", "gpu_memset"))
        of_steps = collections.Counter()
        for step in trace.steps():
            if step["step"] is not None:  # else the only row, of a trace without steps
                of_steps[step["step"]] += step["launched"]
        for step, launched in of_steps.items():
            self.assertEqual(launched, of_events[step], f"{name}, step {step}")
        of_kernels = collections.Counter({row["step"]: row["count"] for row in trace.kernels("step")})
        for step in of_kernels:
            self.assertLessEqual(of_kernels[step], of_events[step], f"{name}, step {step}")
        return of_steps

    def test_launches_of_steps_are_those_of_events(self):
        paths = [*DATA.glob("*.json"), *DATA.glob("*/*.json.gz"), *DATA.glob("*/rank*.json"),
                 *REFERENCE.glob("minimal/*/*.json"), *REFERENCE.glob("hta/*/*.json.gz")]
        total = 0
        for path in paths:
            with contextlib.suppress(tbtrace.TraceError):
                total += self.check_launched(path, path.name).total()
        self.assertGreater(total, 200)

        # The step has another process id than the launches, as in a container; a launch begins before the step ends.
        document = json.loads((DATA / "gpu_step.json").read_bytes())
        step = next(event for event in document["traceEvents"] if event["name"].startswith("ProfilerStep#")
                    and event["cat"] == "user_annotation")
        process, step["pid"] = step["pid"], 99
        launch = max((event for event in document["traceEvents"] if "Launch" in event["name"]), key=lambda event: event["ts"])
        content = json.dumps(document).encode()
        self.assertEqual(self.check_launched(content, "another process"), {1: 5})
        step["pid"] = process
        step["dur"] = launch["ts"] + launch["dur"] / 2 - step["ts"]
        content = json.dumps(document).encode()
        self.assertEqual(self.check_launched(content, "an open launch"), {1: 4})

    def test_numbers_of_places_are_integers_in_all_tables(self):
        for table in tbtrace.tables():
            columns = [*table["columns"], *(column for more in table.get("more_columns", ()) for column in more["columns"])]
            for column in columns:
                if column["name"] in INTEGERS:
                    self.assertIn(column["type"], ("integer", "integer or null"), f"{table['name']}: {column['name']}")
        for path in (DATA / "gpu_step.json", DATA / "old_dialect.json", DATA / "stacks.json"):
            trace = tbtrace.read(path)
            for made in (trace.kernels(("line", "stream", "step")), trace.operators(("line", "stream", "step"), figures="exact"),
                         trace.memory(), trace.memory("alive"), trace.memory("curve"), trace.memory(figures="plugin"),
                         trace.lines(), trace.lines(view="memory"), trace.gpu("stream"), trace.gaps(), trace.steps(),
                         trace.kernels(per_event=True), trace.events(), trace.model()):
                types = {field.name: str(field.type) for field in made.to_arrow().schema}
                for name in INTEGERS:
                    self.assertIn(types.get(name, "int64"), ("int64",), f"{made.schema} of {path.name}: {name}")


if __name__ == "__main__":
    program = sys.argv[:1]
    names = sys.argv[1:]
    unittest.main(argv=program + [f"Joins.test_{name}" for name in names])
