#!/usr/bin/env python3
"""Are tables what people expect of data: columns, rows, slices, arrays, frames of pandas 2 and 3, Polars and pyarrow?

    frames_test.py [NAME...]

Each method is a CTest test python.NAME; python.frames_with_few_packages runs all with TensorBoard's Python, which has
pandas 2 and neither Polars nor pyarrow. The oracle is to_dicts(), which tables_test.py holds against the command line.
"""

import copy
import datetime
import gzip
import importlib.util
import json
import os
import pathlib
import pickle
import signal
import stat
import sys
import tempfile
import threading
import time
import unittest

import tbtrace

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = [ROOT / name for name in ("examples/traces/transformer_modules.json.gz", "examples/traces/encoder_memory.json.gz",
                                   "tests/data/gpu_step.json", "tests/data/cpu_steps.json", "tests/data/hostile_names.json",
                                   "tests/data/damaged.json", "tests/data/stacks.json")]


def has(package):
    return importlib.util.find_spec(package) is not None


def tables_of(trace):
    yield from (trace.operators(("shape", "stack")), trace.operators(figures="exact"), trace.kernels(), trace.kernels(per_event=True),
                trace.steps(), trace.modules(), trace.lines(), trace.gpu(), trace.gaps(), trace.memory(), trace.memory("curve"),
                trace.memory("allocations"), trace.threads(), trace.flops(), trace.checks(), trace.events())


def every_table():
    for path in TRACES:
        for table in tables_of(tbtrace.read(path)):
            yield table, f"{table.schema} of {path.name}"


def plain(value, name):
    """A value of a frame as to_dicts() has it."""
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return None
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, str) and name in JSON_COLUMNS and value.startswith("["):
        return json.loads(value)
    return list(value) if isinstance(value, (list, tuple)) else value


JSON_COLUMNS = ("input_shapes", "grid", "block", "alive", "idle_causes")


def expected(rows, name):
    """Texts that are not UTF-8 have U+FFFD in frames."""
    def valid(value):
        if isinstance(value, list):
            return [valid(item) for item in value]
        if isinstance(value, str) and name in JSON_COLUMNS and value.startswith("["):
            return json.loads(value)  # events have them as text
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace") if isinstance(value, str) else value

    return [valid(row[name]) for row in rows]


class Frames(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tbtrace-frames-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_columns_rows_and_slices_are_those_of_the_table(self):
        for table, where in every_table():
            rows = table.to_dicts()
            self.assertEqual(list(table), rows, where)
            for name in table.columns:
                column = table[name]
                values = [row[name] for row in rows]
                self.assertEqual((column.to_list(), list(column), len(column), column.name), (values, values, len(rows), name), where)
                self.assertEqual(column[1:3].to_list(), values[1:3], where)
            for part in (slice(0, 2), slice(1, None), slice(-3, -1), slice(5, 2), slice(100_000, None)):
                cut = table[part]
                self.assertIs(type(cut), tbtrace.Table)
                self.assertEqual((cut.to_dicts(), len(cut), cut.totals), (rows[part], len(rows[part]), {}), where)
                self.assertEqual((cut.columns, cut.schema, cut.notes, cut.issues),
                                 (table.columns, table.schema, table.notes, table.issues), where)
                self.assertEqual(cut[1:][:1].to_dicts(), rows[part][1:][:1], where)
            if rows:
                self.assertEqual((table[0], table[-1]), (rows[0], rows[-1]), where)
                self.assertEqual(table[table.columns[0]][-1], rows[-1][table.columns[0]])
            self.assertRaises(IndexError, lambda: table[len(rows)])
            self.assertRaises(IndexError, lambda: table[table.columns[0]][len(rows)])
        self.assertRaisesRegex(KeyError, "no column 'colour'; it has ", lambda: table["colour"])
        self.assertRaisesRegex(ValueError, "no step", lambda: table[::2])

    def test_rows_that_are_iterated_are_those_of_large_tables(self):
        rows = [{"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": at, "dur": 1} for at in range(9000)]
        events = tbtrace.read(json.dumps({"traceEvents": rows}).encode()).events(["start_ns"])
        self.assertEqual([row["start_ns"] for row in events], [1000 * at for at in range(9000)])

    def test_arguments_of_events_are_those_of_the_file(self):
        keys = {"grid": "grid", "block": "block", "occupancy": "est. achieved occupancy %", "stream": "stream", "copied_bytes": "bytes",
                "sequence_number": "Sequence number", "input_types": "Input type", "registers_per_thread": "registers per thread"}
        seen = set()
        for path in (ROOT / "tests/data/h200/perceptron.json.gz", ROOT / "tests/data/gpu_step.json"):
            data = path.read_bytes()
            document = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
            file = [row for row in document["traceEvents"] if row.get("ph") == "X" and row["name"] != "[memory]"]
            trace = tbtrace.read(path)
            table = trace.events(["name", "start_ns"], arguments=list(keys))
            self.assertEqual(table.columns, ["name", "start_ns", *keys])
            self.assertEqual(len(table), len(file))
            for row, wanted in zip(table, file):
                for name, key in keys.items():
                    value = row[name]
                    if name in ("grid", "block", "input_types") and value is not None:
                        value = json.loads(value)
                    self.assertEqual(value, wanted.get("args", {}).get(key), (name, wanted))
                    seen |= {name} if value is not None else set()
        self.assertEqual(seen, set(keys))
        if has("pyarrow"):
            types = {field.name: str(field.type) for field in table.to_arrow().schema}
            self.assertEqual((types["occupancy"], types["copied_bytes"]), ("double", "int64"))
            none = trace.events(["name"], arguments=["group_size", "bandwidth", "group_name"])
            self.assertEqual(pickle.loads(pickle.dumps(none)).to_arrow(), none.to_arrow())
        self.assertEqual(trace.events(["stream"], arguments="stream").columns, ["stream"])
        self.assertEqual(trace.events(arguments=["grid", "grid"]).columns[-2:], ["input_shapes", "grid"])
        for arguments, sentence in (("gird", "did you mean 'grid'"), ("address", "no argument 'address'"), ("finished", "no argument")):
            self.assertRaisesRegex(ValueError, sentence, trace.events, arguments=arguments)
        few = tbtrace.read(ROOT / "tests/data/gpu_step.json", arguments="inputs")
        self.assertRaisesRegex(ValueError, r"not read \(strides\)", few.events, arguments="input_strides")

    def test_tables_say_what_is_missing_as_the_command_line_does(self):
        cpu = tbtrace.read(ROOT / "tests/data/cpu_steps.json")
        said = {"kernels": "the trace has no kernels; record CUDA activities too",
                "modules": "the trace has no modules; record with with_stack=True, or in C++ with attach()",
                "lines": "the trace has no lines of the program's own; record with with_stack=True"}
        for owner in (cpu, tbtrace.TraceSet.open([ROOT / "tests/data/cpu_steps.json"])):
            for name, sentence in said.items():
                table = getattr(owner, name)()
                self.assertEqual((len(table), table.notes), (0, [sentence]))
                self.assertEqual((str(table), repr(table)), (sentence + "\n", sentence + "\n"))
                self.assertEqual(table._repr_html_(), f"<p>no rows</p>\n<p>{sentence}</p>\n")
        self.assertIn("record CUDA activities too", cpu.partial().kernels().notes[0])
        self.assertEqual(cpu.steps().notes, [])
        mixed = tbtrace.TraceSet.open([ROOT / "tests/data/cpu_steps.json", ROOT / "tests/data/gpu_step.json"])
        self.assertEqual(mixed.kernels().notes, [])

    def test_notebooks_see_units_totals_and_notes(self):
        gpu = tbtrace.read(ROOT / "tests/data/gpu_step.json")
        kernels = gpu.kernels()
        html = kernels._repr_html_()
        total = next(line for line in str(kernels).splitlines() if line.startswith("total")).split()
        self.assertIn("<td>120.500 us</td>", html)
        self.assertNotIn("120500", html)
        self.assertIn(f"<tfoot><tr><th>{total[0]}</th>", html)
        self.assertIn(f"<td>{' '.join(total[2:4])}</td>", html.split("<tfoot>")[1])
        self.assertIn("<p>1 of 4 rows</p>", html.replace("50 of", "1 of") if len(kernels) > 50 else "<p>1 of 4 rows</p>")
        flops = tbtrace.read(ROOT / "tests/data/cpu_steps.json").flops()
        self.assertIn(f"<p>{flops.notes[0]}</p>", flops._repr_html_())
        many = tbtrace.read(TRACES[0]).events()
        self.assertIn(f"<p>50 of {len(many)} rows</p>", many._repr_html_())

    def test_pickled_and_copied_tables_are_the_same(self):
        for table, where in every_table():
            for other in (pickle.loads(pickle.dumps(table)), copy.copy(table), copy.deepcopy(table)):
                self.assertIs(type(other), type(table), where)
                self.assertEqual(other.to_dicts(), table.to_dicts(), where)
                self.assertEqual((other.schema, other.columns, other.totals, other.notes, other.issues, other.base_time_ns),
                                 (table.schema, table.columns, table.totals, table.notes, table.issues, table.base_time_ns), where)
                self.assertEqual((other.to_json(), other._repr_html_()), (table.to_json(), table._repr_html_()), where)
                if table.schema != "tbtrace.events/1" or len(table) <= 20:
                    self.assertEqual(str(other), str(table), where)
                if has("pyarrow"):
                    self.assertEqual(other.to_arrow(), table.to_arrow(), where)
            for column in (table[table.columns[-1]], table[1:3][table.columns[0]], table[table.columns[0]][:2]):
                other = pickle.loads(pickle.dumps(column))
                self.assertEqual((other.name, other.to_list()), (column.name, column.to_list()))
            cut = pickle.loads(pickle.dumps(table[1:3]))
            self.assertEqual((cut.to_dicts(), cut.totals), (table[1:3].to_dicts(), {}), where)
        trace = tbtrace.read(ROOT / "tests/data/gpu_step.json")
        averages = pickle.loads(pickle.dumps(trace.key_averages(group_by_input_shape=True)))
        self.assertEqual(averages.table(sort_by="cuda_time_total"),
                         trace.key_averages(group_by_input_shape=True).table(sort_by="cuda_time_total"))
        state = list(trace.kernels().__getstate__())
        state[0] = "0.0.1"
        self.assertRaisesRegex(ValueError, "another version", tbtrace.Table.__new__(tbtrace.Table).__setstate__, tuple(state))

    def test_pickled_summaries_and_flame_graphs_are_the_same(self):
        for path in TRACES:
            trace = tbtrace.read(path)
            summary = trace.summary()
            for other in (pickle.loads(pickle.dumps(summary)), copy.deepcopy(summary)):
                self.assertEqual((str(other), other.to_dict(), other.findings, other.table().to_json(), other._repr_html_()),
                                 (str(summary), summary.to_dict(), summary.findings, summary.table().to_json(), summary._repr_html_()))
            for graph in (trace.flame_graph(), trace.flame_graph(in_time_order=True), trace.flame_graph("cpu_memory")):
                for other in (pickle.loads(pickle.dumps(graph)), copy.copy(graph)):
                    self.assertEqual((other.folded(), other.svg(order="time"), other.total, other.unit, repr(other)),
                                     (graph.folded(), graph.svg(order="time"), graph.total, graph.unit, repr(graph)))
            report = pickle.loads(pickle.dumps(trace.report(views="summary")))
            self.assertEqual(report.html, trace.report(views="summary").html)
            self.assertIs(copy.deepcopy(trace), trace)
            with self.assertRaisesRegex(TypeError, r"send their paths and read them there, or ranks.partial\(\)"):
                pickle.dumps(tbtrace.TraceSet.open(path))
            with self.assertRaisesRegex(TypeError, r"send its path and read it there, or trace.partial\(\)"):
                pickle.dumps(trace)

    @unittest.skipUnless(has("pandas"), "pandas is not there")
    def test_pandas_keeps_ids_whole(self):
        import pandas

        for table, where in every_table():
            rows = table.to_dicts()
            frame = table.to_pandas()
            self.assertEqual((list(frame.columns), len(frame)), (table.columns, len(rows)), where)
            for name in table.columns:
                self.assertEqual([plain(value, name) for value in frame[name]], expected(rows, name), (where, name))
                self.assertNotEqual(str(frame[name].dtype), "float64", (where, name))
            self.assertEqual(len(table[1:3].to_pandas()), len(rows[1:3]))
        events = tbtrace.read(ROOT / "tests/data/gpu_step.json").events().to_pandas()
        types = events.dtypes.astype(str).to_dict()
        self.assertEqual({types[name] for name in ("event", "parent", "launch", "correlation", "bytes", "step")}, {"Int64"})
        self.assertEqual(types["name"], "category")
        self.assertTrue(events["launch"].isna().any() and events["launch"].notna().any())
        joined = events.merge(events, left_on="launch", right_on="event", suffixes=("", "_of_call"))
        self.assertEqual(len(joined), events["launch"].notna().sum())
        frame = pandas.DataFrame(tbtrace.read(ROOT / "tests/data/gpu_step.json").kernels())
        self.assertEqual(frame["total_ns"].tolist(), tbtrace.read(ROOT / "tests/data/gpu_step.json").kernels()["total_ns"].to_list())

    @unittest.skipUnless(has("numpy"), "NumPy is not there")
    def test_arrays_have_fields_and_numbers(self):
        import numpy

        for table, where in every_table():
            rows = table.to_dicts()
            array = table.to_numpy()
            self.assertEqual(numpy.asarray(table).shape, (len(rows),), where)
            self.assertEqual((array.dtype.names, array.shape), (tuple(table.columns), (len(rows),)), where)
            for name in table.columns:
                wanted = expected(rows, name)
                self.assertEqual([plain(value, name) for value in array[name].tolist()], wanted, (where, name))
                self.assertEqual([plain(value, name) for value in numpy.asarray(table[name]).tolist()], wanted, (where, name))
        kernels = tbtrace.read(ROOT / "tests/data/gpu_step.json").kernels()
        self.assertEqual(numpy.asarray(kernels["total_ns"]).dtype, numpy.int64)
        self.assertEqual(numpy.asarray(kernels["total_ns"], dtype=float).sum(), 280_000.0)

    @unittest.skipUnless(has("polars") and has("pyarrow"), "Polars or pyarrow is not there")
    def test_polars_and_pyarrow_have_the_same_rows(self):
        import polars
        import pyarrow

        for table, where in every_table():
            for made in (table, table[1:3], table[2:][:5]):
                rows = made.to_dicts()
                made.to_arrow().validate(full=True)
                for name in table.columns:
                    wanted = expected(rows, name)
                    for values in (made.to_arrow()[name].to_pylist(), pyarrow.array(made[name]).to_pylist(),
                                   made.to_polars()[name].to_list(), polars.Series(made[name]).to_list()):
                        self.assertEqual([plain(value, name) for value in values], wanted, (where, name))
            self.assertEqual(table[1:3].to_arrow().schema, table.to_arrow().schema, where)

    @unittest.skipUnless(has("polars") and has("pyarrow") and has("pandas"), "a package is not there")
    def test_datetimes_are_of_the_recording(self):
        trace = tbtrace.read(ROOT / "tests/data/gpu_step.json")
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        for table, name in ((trace.steps(), "start_ns"), (trace.events(), "start_ns"), (trace.memory("curve"), "at_ns"),
                            (trace.memory("allocations"), "freed_at_ns")):
            wanted = [None if at is None else (trace.base_time_ns + at) // 1000 for at in table[name]]
            for values in (table.to_arrow(datetimes=True)[name].cast("int64").to_pylist(), table.to_polars(datetimes=True)[name].cast(int),
                           [None if at is None or at != at else at.value for at in table.to_pandas(datetimes=True)[name]]):
                self.assertEqual([None if at is None else at // 1000 for at in values], wanted)
            first = table.to_polars(datetimes=True)[name].min()
            self.assertEqual((first - epoch) // datetime.timedelta(microseconds=1), min(at for at in wanted if at is not None))
            frame = table.to_pandas(datetimes=True)
            self.assertEqual(str(frame[name].dtype), "datetime64[ns, UTC]")
            if "duration_ns" in frame:
                self.assertEqual(str(frame["duration_ns"].dtype), "Int64")
        job = tbtrace.TraceSet.open([ROOT / "tests/data/gpu_step.json", ROOT / "tests/data/gpu_step_rank1.json"])
        both = [job[0].steps(), job[1].steps()]
        for table, tables in ((job.steps(), both), (job.steps()[1:], both[1:]), (pickle.loads(pickle.dumps(job.steps())), both)):
            wanted = [at + part.base_time_ns for part in tables for at in part["start_ns"]]
            self.assertEqual(table.to_arrow(datetimes=True)["start_ns"].cast("int64").to_pylist(), wanted)
            self.assertEqual(table.to_polars(datetimes=True)["start_ns"].cast(int).to_list(), wanted)
            self.assertEqual([at.value for at in table.to_pandas(datetimes=True)["start_ns"]], wanted)
        for table in (job.steps(figures="plugin"), trace.partial().steps(), trace.operators(), trace.memory("curve", figures="plugin")):
            for made in (table.to_pandas, table.to_polars, table.to_arrow):
                self.assertRaisesRegex(ValueError, "of the tables of traces", made, datetimes=True)
        data = json.loads((ROOT / "tests/data/gpu_step.json").read_bytes())
        data["baseTimeNanoseconds"] = 0
        undated = tbtrace.read(json.dumps(data).encode()).steps()
        self.assertRaisesRegex(ValueError, "does not say when it was recorded", undated.to_polars, datetimes=True)
        self.assertEqual(undated[:0].to_polars(datetimes=True).height, 0)

    @unittest.skipUnless(has("pyarrow"), "pyarrow is not there")
    def test_parquet_files_are_complete_or_not_there(self):
        import pyarrow.parquet

        events = tbtrace.read(ROOT / "tests/data/gpu_step.json").events()
        place = self.folder / "events.parquet"
        events.to_parquet(place)
        self.assertEqual(pyarrow.parquet.read_table(place).to_pylist(), events.to_arrow().to_pylist())
        self.assertEqual(pyarrow.parquet.read_table(place).schema.metadata[b"tbtrace.schema"], b"tbtrace.events/1")
        self.assertTrue(place.stat().st_mode & stat.S_IRGRP or not os.umask(os.umask(0o022)) ^ 0o022)
        with self.assertRaisesRegex(FileExistsError, "exists already; overwrite=True replaces it"):
            events.to_parquet(str(place))
        events[:2].to_parquet(place, overwrite=True, datetimes=True)
        self.assertEqual(str(pyarrow.parquet.read_table(place).schema.field("start_ns").type), "timestamp[ns, tz=UTC]")
        self.assertEqual([file.name for file in self.folder.iterdir()], ["events.parquet"])
        self.assertRaises(OSError, events.to_parquet, self.folder / "none/events.parquet")

    def test_missing_packages_are_named(self):
        table = tbtrace.read(ROOT / "tests/data/gpu_step.json").kernels()
        for package, method, call in (("pandas", "to_pandas", table.to_pandas), ("polars", "to_polars", table.to_polars),
                                      ("pyarrow", "to_arrow", table.to_arrow),
                                      ("pyarrow", "to_parquet", lambda: table.to_parquet(self.folder / "a.parquet"))):
            kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == package}
            sys.modules[package] = None  # as if it was not installed
            try:
                with self.assertRaisesRegex(ImportError, rf"^{method}\(\) needs {package}: pip install {package}$"):
                    call()
            finally:
                del sys.modules[package]
                sys.modules.update(kept)

    @unittest.skipUnless(has("pyarrow"), "pyarrow is not installed")
    def test_arrow_fields_have_units(self):
        units = {table["name"]: {column["name"]: column["unit"] for column in table["columns"]} for table in tbtrace.tables()}
        trace = tbtrace.read(TRACES[2])
        for name, table in (("kernels", trace.kernels()), ("gpu", trace.gpu()), ("steps", trace.steps()), ("memory", trace.memory())):
            for field in table.to_arrow().schema:
                self.assertEqual((field.metadata or {}).get(b"unit", b"").decode(), units[name][field.name], (name, field.name))
        with tempfile.TemporaryDirectory() as folder:
            trace.kernels().to_parquet(pathlib.Path(folder) / "kernels.parquet")
            import pyarrow.parquet
            field = pyarrow.parquet.read_schema(pathlib.Path(folder) / "kernels.parquet").field("total_ns")
            self.assertEqual(field.metadata[b"unit"], b"ns")

    def test_wrong_keys_are_a_sentence(self):
        table = tbtrace.read(TRACES[2]).kernels()
        with self.assertRaisesRegex(TypeError, "^a table takes the name of a column, .* not list; data frames"):
            table[["name", "count"]]

    def test_many_traces_are_shown_shortly(self):
        content = TRACES[2].read_bytes()
        traces = tbtrace.TraceSet.open({f"rank {number}": content for number in range(50)})
        self.assertEqual(traces._repr_html_().count("<tr"), 21)
        self.assertIn("20 of 50 rows", traces._repr_html_())
        with tempfile.TemporaryDirectory() as folder:
            for number in range(40):
                (pathlib.Path(folder) / f"{number}.json").write_bytes(b"")
            (pathlib.Path(folder) / "whole.json").write_bytes(content)
            self.assertEqual(tbtrace.TraceSet.open(folder)._repr_html_().count("not read: "), 21)
            self.assertEqual(repr(tbtrace.local.summarize(folder)), "<tbtrace.Job: 1 trace, 40 of 41 files failed>")

    def test_csv_goes_to_a_file_in_parts(self):
        names = ["plain", "with, comma", 'with "quotes"', "with\nline", "\u00e4"]
        events = [{"ph": "X", "cat": "cpu_op", "name": names[at % 5], "pid": 1, "tid": 1, "ts": at, "dur": 1} for at in range(9000)]
        table = tbtrace.read(json.dumps({"traceEvents": events}).encode()).events()
        whole = table.to_csv()
        self.assertEqual(whole, table._csv(None, -1))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "events.csv"
            for options in ({}, {"row_limit": 5000}, {"row_limit": 7}, {"sort_by": "start_ns", "row_limit": 4500}):
                self.assertIsNone(table.to_csv(path, overwrite=True, **options))
                self.assertEqual(path.read_bytes().decode(), table.to_csv(**options))
                self.assertEqual(table.to_csv(**options), table._csv(options.get("sort_by"), options.get("row_limit", -1)))
            with self.assertRaisesRegex(FileExistsError, "overwrite=True replaces it"):
                table.to_csv(path)
            self.assertEqual(os.listdir(folder), ["events.csv"])
        with self.assertRaisesRegex(ValueError, "writes to a local path"):
            table.to_csv("s3://bucket/events.csv")
        with self.assertRaises(ValueError):
            table.to_csv(row_limit=-2)
        for table, where in every_table():
            self.assertEqual(table.to_csv(), table._csv(None, -1), where)

    def test_lists_of_rows_let_other_threads_run_and_can_be_ended(self):
        events = [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": at, "dur": 1} for at in range(120_000)]
        table = tbtrace.read(json.dumps({"traceEvents": events}).encode()).events()
        pauses, stop = [0.0], threading.Event()

        def tick():
            last = time.perf_counter()
            while not stop.wait(0.001):
                now = time.perf_counter()
                pauses.append(now - last)
                last = now

        for make in (table.to_dicts, table.to_csv):
            with self.subTest(make.__name__):
                took = time.perf_counter()
                thread = threading.Thread(target=tick)
                thread.start()
                rows = make()
                took = time.perf_counter() - took
                stop.set()
                thread.join()
                self.assertGreater(len(rows), 0)
                self.assertLess(max(pauses), max(0.15, took * 0.6))
                pauses[:] = [0.0]
                stop.clear()
                timer = threading.Timer(took / 10, signal.raise_signal, (signal.SIGINT,))
                timer.start()
                began = time.perf_counter()
                with self.assertRaises(KeyboardInterrupt):
                    make()
                    time.sleep(1)
                self.assertLess(time.perf_counter() - began, max(0.5, took * 0.8))

    def test_times_of_events_steps_and_memory_join(self):
        for path in TRACES:
            trace = tbtrace.read(path)
            starts = set(trace.events(["start_ns"])["start_ns"])
            for name in ("steps", "kernels"):
                table = trace.steps() if name == "steps" else trace.kernels(per_event=True)
                self.assertLessEqual(set(table["start_ns"]), starts, path)
            for view, name in (("curve", "at_ns"), ("allocations", "allocated_at_ns"), ("allocations", "freed_at_ns"), ("peak", "peak_at_ns")):
                times = [at for at in trace.memory(view)[name] if at is not None]
                self.assertTrue(all(0 <= at <= trace.window_ns for at in times), (path, view, name))
            self.assertIn(trace.steps().base_time_ns, (trace.base_time_ns,))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(f"Frames.test_{name}" for name in sys.argv[1:])])
