#!/usr/bin/env python3
"""Do tables arrive in data frames as the command line prints them?

    tables_test.py PROGRAM [NAME...]
    tables_test.py PROGRAM FOLDER

Each method is a CTest test python.NAME, with the project's own traces; with FOLDER those below it are taken too. The
oracle is the program's JSON, read by Python's own json.
"""

import contextlib
import gzip
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import unittest

import duckdb
import nanoarrow
import pandas
import polars
import pyarrow

import tbtrace

PROGRAM = ""
PLAIN = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # a sanitizer for the module
ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = sorted((ROOT / "examples/traces").glob("*.json.gz")) + [
    ROOT / "tests/data" / name
    for name in ("gpu_step.json", "gpu_step_rank1.json", "cpu_steps.json", "stacks.json", "hostile_names.json",
                 "old_dialect.json", "damaged.json", "cut.json.gz")]

# A table of a trace, and the words of the command line that print the same.
TABLES = [
    (lambda trace: trace.operators(), "ops"),
    (lambda trace: trace.operators(("shape",), figures="exact"), "ops --strict-totals --group-by-input-shape"),
    (lambda trace: trace.operators("stack"), "ops --group-by-stack-n 5 --stack-source auto"),
    (lambda trace: trace.operators(figures="plugin"), "ops --compat plugin"),
    (lambda trace: trace.kernels(), "kernels"),
    (lambda trace: trace.kernels("launch"), "kernels --group-by launch"),
    (lambda trace: trace.kernels(("family", "device")), "kernels --group-by family,device"),
    (lambda trace: trace.kernels(("operator", "stream")), "kernels --group-by operator,stream"),
    (lambda trace: trace.kernels(("operator", "name")), "kernels --group-by operator,name"),
    (lambda trace: trace.kernels(figures="plugin"), "kernels --compat plugin"),
    (lambda trace: trace.steps(), "steps"),
    (lambda trace: trace.steps(infer_steps=True, keep_tail_steps=True), "steps --infer-steps --keep-tail-steps"),
    (lambda trace: trace.steps(figures="plugin"), "steps --compat plugin"),
    (lambda trace: trace.modules(), "modules"),
    (lambda trace: trace.modules("type", depth=1), "modules --group-by type --depth 1"),
    (lambda trace: trace.modules("layer"), "modules --group-by layer"),
    (lambda trace: trace.modules(figures="plugin"), "modules --compat plugin"),
    (lambda trace: trace.lines(), "lines"),
    (lambda trace: trace.lines(libraries=True), "lines --all-code"),
    (lambda trace: trace.lines(view="memory"), "lines --view memory"),
    (lambda trace: trace.lines(source_root=ROOT / "examples"), f"lines --source-root {ROOT}/examples"),
    (lambda trace: trace.gpu(), "gpu"),
    (lambda trace: trace.gpu("stream", kernel_wait_limit_ns=1000), "gpu --group-by stream --kernel-wait-limit 1000"),
    (lambda trace: trace.gpu(figures="plugin"), "gpu --compat plugin"),
    (lambda trace: trace.memory(), "memory"),
    (lambda trace: trace.memory("alive"), "memory --view alive"),
    (lambda trace: trace.memory("curve"), "memory --view curve"),
    (lambda trace: trace.memory("allocations", figures="plugin"), "memory --view allocations --compat plugin"),
    (lambda trace: trace.flops(by_input_shape=True), "model --by operator --group-by-input-shape"),
    (lambda trace: trace.checks(), "check"),
]


def printed(words, *traces):
    done = subprocess.run([PROGRAM, *words.split(), *traces, "--format", "json", "-q"], capture_output=True, timeout=100,
                          check=False, env=PLAIN)
    if done.returncode not in (0, 1):
        return None
    return json.loads(done.stdout)


def sums_of(rows):
    """For each column with numbers: how many values it has, and their sum."""
    sums = {}
    for row in rows:
        for name, value in row.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                count, total = sums.get(name, (0, 0))
                sums[name] = (count + 1, total + value)
    return sums


class Tables(unittest.TestCase):
    def assertSameSums(self, found, wanted, where):
        self.assertEqual(set(found), set(wanted), where)
        for name, (count, total) in wanted.items():
            self.assertEqual(found[name][0], count, (where, name))
            self.assertTrue(math.isclose(found[name][1], total, rel_tol=1e-12, abs_tol=1e-9), (where, name, found[name], total))

    def each(self, traces=None):
        for path in traces or TRACES:
            trace = tbtrace.read(path)
            for made, words in TABLES:
                wanted = printed(words, path)
                if wanted is None:
                    self.assertRaises((ValueError, tbtrace.TraceError), made, trace)
                else:
                    yield made(trace), wanted, f"{words} of {path.name}"

    def test_rows_are_those_of_the_command_line(self):
        for table, wanted, where in self.each():
            rows = table.to_dicts()
            for row in wanted["rows"]:  # the name of the input is the path that was asked for
                row.pop("input", None)
            for row in rows:
                row.pop("input", None)
            self.assertEqual(rows, wanted["rows"], where)
            self.assertEqual(len(table), len(rows))
            self.assertEqual(json.loads(table.to_json())["schema"], table.schema)

    def test_data_frames_have_the_same_sums(self):
        for table, wanted, where in self.each():
            sums = sums_of(wanted["rows"])
            arrow = pyarrow.table(table)
            self.assertSameSums(sums_of(arrow.to_pylist()), sums, where)
            arrow.validate(full=True)
            self.assertSameSums(sums_of(polars.DataFrame(table).to_dicts()), sums, where)
            self.assertSameSums(sums_of(nanoarrow.Array(table).to_pylist()), sums, where)
            frame = pandas.DataFrame.from_arrow(table)
            self.assertSameSums({name: (int(frame[name].count()), frame[name].sum()) for name in sums}, sums, where)
            for name, (count, total) in sums.items():
                found = duckdb.sql(f'select count("{name}"), sum("{name}") from arrow').fetchall()[0]
                self.assertSameSums({name: found}, {name: (count, total)}, where)

    def test_a_column_has_one_type_in_all_traces(self):
        types = {}
        for table, _, where in self.each():
            schema = pyarrow.table(table).schema
            for field in schema:
                known = types.setdefault((where.split(" of ")[0], field.name), (field.type, where))
                self.assertEqual(field.type, known[0], f"{field.name} of {where}, and of {known[1]}")

    def test_empty_tables_have_the_types_of_full_ones(self):
        empty = tbtrace.read(b'{"traceEvents": []}')
        full = tbtrace.read(ROOT / "tests/data/gpu_step.json")
        for made, words in TABLES:
            with contextlib.suppress(ValueError, tbtrace.TraceError):
                schema = pyarrow.table(made(full)).schema
                for field in pyarrow.table(made(empty)).schema:
                    if field.name in schema.names:
                        self.assertEqual(field.type, schema.field(field.name).type, f"{field.name} of {words}")

    def test_results_of_several_traces_have_types(self):
        job = tbtrace.TraceSet.open(ROOT / "tests/data/slow_loader_job")
        paths = [ROOT / "tests/data" / name for name in ("gpu_step.json", "gpu_step_rank1.json")]
        diff = tbtrace.diff(*paths)
        for table, column, wanted in ((job.clocks(), "offset_ns", pyarrow.float64()),
                                      (job.stragglers(), "steps", pyarrow.large_string()),
                                      (diff.table("operator"), "low_ns", pyarrow.float64()),
                                      (diff.quantities(), "low", pyarrow.float64()),
                                      (tbtrace.read(paths[0]).summary().table(), "trace", pyarrow.int64())):
            self.assertEqual(pyarrow.table(table).schema.field(column).type, wanted, column)

    def test_ranks_of_a_job_are_replayed_together(self):
        job = tbtrace.TraceSet.open(ROOT / "tests/data/slow_loader_job")
        path = job.critical_path(group_by="kind")
        self.assertEqual(path.totals["steps"], 4)  # of the job, not of each of its ranks
        self.assertEqual(sum(row["on_path_ns"] for row in path.to_dicts()), path.totals["on_path_ns"])
        self.assertEqual({row["rank"] for row in path.to_dicts()}, {0, 1, 2, 3})
        self.assertEqual(job.whatif("rank:2 =others").totals["steps"], 4)
        self.assertRaisesRegex(ValueError, "the job has no rank 9", job.whatif, "rank:9 x0.5")
        self.assertRaisesRegex(ValueError, "recordings of all ranks", job[2].whatif, "rank:2 x0.5")

    def test_texts_and_types_survive(self):
        trace = tbtrace.read(ROOT / "tests/data/hostile_names.json")
        table = trace.operators(("shape", "stack"))
        rows = table.to_dicts()
        arrow = pyarrow.table(table).to_pylist()
        self.assertEqual([row["key"] for row in arrow], [row["key"] for row in rows])
        self.assertEqual([row["stack"] for row in arrow], [row["stack"] for row in rows])
        self.assertEqual([json.loads(row["input_shapes"]) for row in arrow], [row["input_shapes"] for row in rows])
        self.assertEqual(pyarrow.table(table).schema.metadata, {b"tbtrace.schema": b"tbtrace.ops/1"})

    def test_the_list_of_tables_is_that_of_the_methods(self):
        trace = tbtrace.read(ROOT / "tests/data/gpu_step.json")
        partial = trace.partial()
        for described in tbtrace.tables():
            name = {"check": "checks", "ops": "operators"}.get(described["name"], described["name"])
            if name == "collectives":  # of several traces together
                table = tbtrace.TraceSet.open(ROOT / "tests/data/slow_loader_job").collectives()
            else:
                table = getattr(trace, name)()
            self.assertEqual(table.schema, described["schema"])
            self.assertEqual(table.columns, [column["name"] for column in described["columns"]])
            self.assertEqual(list(table.totals), [total["name"] for total in described["totals"]])
            self.assertEqual(hasattr(partial, name), described["in_partials"] is not None)
            for option in described["options"]:
                if option["choices"]:
                    for choice in option["choices"]:
                        with contextlib.suppress(ValueError):  # device and stream go with another choice too
                            getattr(trace, name)(**{option["name"]: choice})
                    self.assertRaisesRegex(ValueError, "not 'wrong'", getattr(trace, name), **{option["name"]: "wrong"})
        units = {column["name"]: column["unit"] for column in next(
            table for table in tbtrace.tables() if table["name"] == "gpu")["columns"]}
        self.assertEqual((units["busy_ns"], units["copied_bytes"], units["device"]), ("ns", "bytes", ""))

    def test_methods_of_tables_take_their_arguments_only(self):
        trace = tbtrace.read(ROOT / "tests/data/gpu_step.json")
        for call in (lambda: trace.gpu("device", "stream"), lambda: trace.gpu(depth=1), lambda: trace.gpu(group_by=None),
                     lambda: trace.steps("exact"), lambda: trace.steps(infer_steps=1.5), lambda: trace.lines(libraries="no"),
                     lambda: trace.kernels("name", group_by="name"), lambda: trace.modules(depth="1")):
            self.assertRaisesRegex(TypeError, "incompatible function arguments|positional argument|unexpected keyword|multiple values", call)
        self.assertEqual(trace.modules(depth=None).to_dicts(), trace.modules().to_dicts())

    def test_html_escapes_hostile_names(self):
        trace = tbtrace.read(ROOT / "tests/data/hostile_names.json")
        for table in (trace.operators(), trace.events()):
            html = table._repr_html_()
            names = "".join(str(value) for row in table.to_dicts() for value in row.values())
            self.assertIn("<", names)
            for tag in html.replace("</", "<").split("<")[1:]:
                self.assertRegex(tag, r"^(table|thead|tbody|tr|th|td|p)\b")

    def test_a_stream_can_be_taken_several_times(self):
        table = tbtrace.read(TRACES[0]).kernels()
        one, other = pyarrow.table(table), pyarrow.table(table)
        self.assertEqual(one, other)
        capsule = table.__arrow_c_stream__()
        reader = pyarrow.RecordBatchReader.from_stream(table)
        del table, capsule
        self.assertEqual(reader.read_all(), one)
        self.assertEqual(pyarrow.schema(tbtrace.read(TRACES[0]).kernels()), one.schema)

    def test_arrow_keeps_the_trace_alive(self):
        def made(duration):
            rows = [{"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": 9 * at, "dur": duration}
                    for at in range(2000)]
            return json.dumps({"traceEvents": rows}).encode()

        other = made(2)
        trace = tbtrace.read(made(1), threads=1)
        events = pyarrow.table(trace.events(["start_ns", "duration_ns"]))
        del trace
        others = [tbtrace.read(other, threads=1) for _ in range(20)]  # would reuse memory that was freed
        self.assertEqual(set(events["duration_ns"].to_pylist()), {1000})
        del others

    def test_times_of_all_tables_have_one_origin(self):
        for path in TRACES:
            trace = tbtrace.read(path)
            starts = {row["start_ns"] for row in trace.events("start_ns").to_dicts()}
            for step in trace.steps().to_dicts():
                self.assertIn(step["start_ns"], starts, path)

    def test_times_and_the_base_give_unix_time(self):
        rows = [{"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": ts, "dur": 3} for ts in (50, 70)]
        for base in (None, 1_700_000_000_000_000_000):
            document = {"traceEvents": rows} | ({} if base is None else {"baseTimeNanoseconds": base})
            trace = tbtrace.read(json.dumps(document).encode())
            self.assertEqual(trace.base_time_ns, (base or 0) + 50_000)
            self.assertEqual(trace.window_ns, 23_000)
            self.assertEqual([row["start_ns"] for row in trace.events("start_ns").to_dicts()], [0, 20_000])

    def test_events_are_those_of_the_file(self):
        for path in TRACES:
            data = path.read_bytes()
            try:
                document = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
            except (json.JSONDecodeError, EOFError, UnicodeDecodeError):
                continue  # a damaged file
            trace = tbtrace.read(path)
            if trace.issues:
                continue
            rows = document["traceEvents"] if isinstance(document, dict) else document
            ranges = [row for row in rows if row.get("ph") == "X"]
            found = trace.events(["name", "category", "thread", "duration_ns"]).to_dicts()
            if any(row.get("ph") in ("B", "E") for row in rows):
                continue
            memory_free = [row for row in ranges if row.get("name") != "[memory]"]
            self.assertEqual(len(found), len(memory_free), path.name)
            self.assertEqual([row["name"] for row in found], [row["name"] for row in memory_free], path.name)
            self.assertEqual([row["category"] for row in found], [row.get("cat", "") for row in memory_free], path.name)
            self.assertEqual([row["thread"] for row in found], [str(row["tid"]) for row in memory_free], path.name)
            for row, wanted in zip(found, memory_free):
                self.assertAlmostEqual(row["duration_ns"], wanted.get("dur", 0) * 1000, delta=1.01)

    def test_the_page_lists_the_columns_of_events(self):
        page = (ROOT / "docs/python.md").read_text().split("\n## Events\n")[1].split("\n## ")[0]
        listed = [name for row in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)]
        self.assertEqual(listed, tbtrace.read(TRACES[0]).events().columns)

    def test_relations_of_events_hold(self):
        trace = tbtrace.read(ROOT / "examples/traces/resnet18_training.json.gz")
        rows = trace.events().to_dicts()
        for row in rows:
            if row["parent"] is not None:
                parent = rows[row["parent"]]
                self.assertEqual(parent["thread"], row["thread"])
                self.assertLessEqual(parent["start_ns"], row["start_ns"])
            if row["operator"] is not None:
                self.assertEqual(rows[row["operator"]]["name"], row["operator_name"])
                self.assertEqual(rows[row["operator"]]["kind"], "cpu_op")
            if row["step"] is not None:
                self.assertGreaterEqual(row["step"], 0)
        self.assertTrue(any(row["step"] is not None for row in rows))
        gpu = tbtrace.read(ROOT / "tests/data/gpu_step.json").events().to_dicts()
        launched = [row for row in gpu if row["launch"] is not None]
        self.assertGreater(len(launched), 0)
        for row in launched:
            self.assertEqual(gpu[row["launch"]]["correlation"], row["correlation"])
            self.assertEqual(gpu[row["launch"]]["kind"], "runtime")




if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    if len(sys.argv) > 2 and pathlib.Path(sys.argv[2]).is_dir():
        contents = {}
        for file in sorted(pathlib.Path(sys.argv[2]).rglob("*.json*")):
            if file.is_file() and "expected" not in file.name and file.stat().st_size < 8 << 20:
                contents.setdefault(file.read_bytes(), file)
        TRACES = list(contents.values())
        names = ["rows_are_those_of_the_command_line", "data_frames_have_the_same_sums", "a_column_has_one_type_in_all_traces"]
    else:
        names = sys.argv[2:]
    unittest.main(argv=[sys.argv[0], *(f"Tables.test_{name}" for name in names)] if names else [sys.argv[0]])
