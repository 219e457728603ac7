#!/usr/bin/env python3
"""Does the module read, fail and work beside other threads as it says?

    traces_test.py PROGRAM [NAME...]

Each method is a CTest test python.NAME.
"""

import gzip
import inspect
import io
import json
import os
import pathlib
import pickle
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import tbtrace

PROGRAM = ""
PLAIN = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # a sanitizer for the module
ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = ROOT / "examples/traces"
DATA = ROOT / "tests/data"


def said(*arguments):
    """What the program says on stderr, without its name."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False, env=PLAIN)
    return done.stderr.removeprefix("tbtrace: ").strip()


class Traces(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tbtrace-python-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_counters_and_instants_are_a_table(self):
        document = json.loads((DATA / "counters.json").read_bytes())
        steps = {int(event["name"][13:]): (event["ts"], event["ts"] + event["dur"]) for event in document["traceEvents"]
                 if event["name"].startswith("ProfilerStep#")}

        def step_at(time):
            return next((step for step, (start, end) in steps.items() if start <= time < end), None)

        wanted = []
        for event in document["traceEvents"]:
            mark = {"at_ns": round(event.get("ts", 0) * 1000), "step": step_at(event.get("ts", 0)), "name": event["name"],
                    "process": str(event["pid"])}
            if event["ph"] == "C":
                wanted += [mark | {"kind": "counter", "series": series, "value": float(value), "thread": None}
                           for series, value in event["args"].items()]
            elif event["ph"] == "i":
                wanted.append(mark | {"kind": "instant", "series": None, "value": None, "thread": str(event["tid"])})
        trace = tbtrace.read(DATA / "counters.json")
        table = trace.marks()
        self.assertEqual(sorted(({key: row[key] for key in wanted[0]} for row in table), key=str), sorted(wanted, key=str))
        self.assertEqual(table["at_ns"].to_list(), sorted(table["at_ns"]))
        self.assertEqual(table.totals["counters"] + table.totals["instants"], len(wanted))
        self.assertEqual(tbtrace.read(DATA / "gpu_step.json").marks().notes, ["the trace has no counters and no instants"])

    def test_torchs_tables_are_those_of_torch(self):
        for text in TRACES.glob("*.txt"):
            if text.name.endswith(".stacks.txt"):
                continue
            trace = tbtrace.read(text.with_suffix(".json.gz"))
            self.assertIn(text.read_text(), (trace.key_averages(torch="2.13").table(sort_by=sort_by, row_limit=limit)
                                             for sort_by in ("self_cpu_time_total", "cpu_time_total", None)
                                             for limit in (10, 15, 20, 100)), text.name)

    def test_paths_bytes_and_files_give_the_same(self):
        path = TRACES / "resnet18_training.json.gz"
        wanted = tbtrace.read(path).operators().to_dicts()
        data = path.read_bytes()
        for source in (str(path), bytes(str(path), "utf-8"), io.BytesIO(data), open(path, "rb"), gzip.open(path)):
            with self.subTest(type(source)):
                if isinstance(source, bytes):
                    source = gzip.decompress(data)
                self.assertEqual(tbtrace.read(source, threads=1).operators().to_dicts(), wanted)
                if hasattr(source, "close"):
                    source.close()
        with open(path, encoding="latin-1") as text:
            self.assertRaisesRegex(ValueError, "mode 'rb'", tbtrace.read, text)

    def test_failures_have_the_sentences_of_the_command_line(self):
        missing = self.folder / "missing.json"
        for path in (missing, DATA / "empty.json", DATA / "no_trace.json", DATA / "text.txt"):
            with self.assertRaises(tbtrace.TraceError) as raised:
                tbtrace.read(path)
            self.assertEqual(str(raised.exception), said("ops", path))
            self.assertEqual(isinstance(raised.exception, FileNotFoundError), path == missing)
        for read in (tbtrace.read, tbtrace.Partial.read):
            self.assertRaises(tbtrace.TraceFileNotFoundError, read, missing)
        with self.assertRaisesRegex(tbtrace.TraceError, "damaged.json: ") as raised:
            tbtrace.read(DATA / "damaged.json", strict=True)
        self.assertEqual(tbtrace.read(DATA / "damaged.json").issues[0]["severity"], "data_loss")
        kept = tbtrace.read(TRACES / "perceptron_stacks.json.gz").flame_graph()
        place = self.folder / "flame.svg"
        kept.save(place)
        self.assertRaises(FileExistsError, kept.save, place)
        kept.save(place, overwrite=True)
        self.assertRaises(OSError, kept.save, self.folder / "missing" / "flame.svg")

    def test_wrong_arguments_are_value_errors(self):
        trace = tbtrace.read(TRACES / "resnet18_training.json.gz", arguments=[])
        for call, sentence in (
            (lambda: tbtrace.read("x", threads=0), "threads and workers take a number from 1, or None"),
            (lambda: tbtrace.read("x", arguments=["shapes"]), "unknown group 'shapes'; there are 'autograd'"),
            (lambda: tbtrace.read("a\0b"), "null"),
            (lambda: trace.operators(), "\\(autograd, inputs, call_stacks\\); read the trace with these groups"),
            (lambda: trace.kernels(), "kernels\\(\\) needs arguments"),
            (lambda: trace.events(["name", "colour"]), "no column 'colour'; they have event, name"),
            (lambda: trace.events([]), "columns is empty"),
            (lambda: trace.flame_graph(weight="colour"), "colour"),
            (lambda: trace.flame_graph().save(self.folder / "flame.gif"), "ends in .svg"),
            (lambda: tbtrace.merge([]), "at least one"),
            (lambda: tbtrace.key_averages([]), "at least one"),
            (lambda: tbtrace.convert("x", "y", to="pdf"), "to takes 'both'"),
            (lambda: tbtrace.convert("x", "y", overwrite=True, skip_existing=True), "exclude each other"),
        ):
            self.assertRaisesRegex(ValueError, sentence, call)
        whole = tbtrace.read(TRACES / "resnet18_training.json.gz")
        for call, sentence in (
            (lambda: whole.steps(figures="torch"), "figures takes 'exact', 'plugin', not 'torch'"),
            (lambda: whole.steps(steps=(5, 2)), "steps takes a number or two of them"),
            (lambda: whole.kernels(("name", "colour")), "group_by takes .*not 'colour'"),
            (lambda: whole.kernels(()), "group_by is empty"),
            (lambda: whole.partial().kernels(("name", "operator")), "partial"),
            (lambda: whole.operators().table(sort_by="colour"), "colour"),
            (lambda: whole.operators().to_text(sort_by="colour"), "colour"),
            (lambda: whole.operators().table(time_unit="h"), "h"),
            (lambda: whole.kernels().to_text(row_limit=-2), "row_limit"),
        ):
            self.assertRaisesRegex(ValueError, sentence, call)

    def test_other_threads_run_while_a_trace_is_read(self):
        events = [{"ph": "X", "cat": "cpu_op", "name": f"aten::op{at % 50}", "pid": 1, "tid": 1, "ts": at, "dur": 1}
                  for at in range(600_000)]
        data = json.dumps({"traceEvents": events}).encode()
        begun, stopped = threading.Event(), threading.Event()
        turns = []

        def count():
            begun.set()
            while not stopped.is_set():
                turns.append(time.monotonic())
                time.sleep(0.0005)

        other = threading.Thread(target=count)
        other.start()
        begun.wait()
        before = time.monotonic()
        trace = tbtrace.read(data, threads=1)
        after = time.monotonic()
        stopped.set()
        other.join()
        self.assertEqual(len(trace), 600_000)
        self.assertGreater(sum(before < turn < after for turn in turns), 5)

    def test_threads_may_share_a_trace(self):
        trace = tbtrace.read(TRACES / "transformer_modules.json.gz")
        calls = [lambda: trace.operators().to_csv(), lambda: trace.modules().to_csv(), lambda: trace.lines().to_csv(),
                 lambda: trace.steps().to_csv(), lambda: trace.flame_graph().folded(), lambda: str(trace.summary()),
                 lambda: trace.events().to_csv(row_limit=100), lambda: trace.partial().to_bytes(), lambda: trace.links]
        wanted = [call() for call in calls]
        found = []

        def work(seed):
            order = list(range(len(calls)))
            random.Random(seed).shuffle(order)
            found.extend((at, calls[at]()) for at in order)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(found), 6 * len(calls))
        for at, result in found:
            self.assertEqual(result, wanted[at])

    def test_ctrl_c_ends_a_reading(self):
        program = (
            "import json, signal, sys, threading, time, tbtrace\n"
            "events = [{'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::op', 'pid': 1, 'tid': 1, 'ts': at, 'dur': 1} for at in range(200000)]\n"
            "data = json.dumps({'traceEvents': events}).encode()\n"
            "data = data[:-2] + (b',' + data[len('{\"traceEvents\": ['):-2]) * 40 + b']}'\n"
            "started = time.process_time()\n"
            "tbtrace.read(data, threads=1)\n"
            "whole = time.process_time() - started\n"
            "threading.Timer(whole / 10, lambda: signal.raise_signal(signal.SIGINT)).start()\n"
            "started = time.process_time()\n"
            "try:\n"
            "    tbtrace.read(data, threads=1)\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted', time.process_time() - started < 0.7 * whole)\n")
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("interrupted True\n", "", 0))

    def test_partials_add_up_and_travel(self):
        paths = [DATA / "gpu_step.json", DATA / "gpu_step_rank1.json", DATA / "cpu_steps.json"]
        partials = [tbtrace.read(path).partial(str(path)) for path in paths]
        whole = tbtrace.merge(partials)
        self.assertEqual(tbtrace.merge(partials[::-1]).to_bytes(), whole.to_bytes())
        travelled = pickle.loads(pickle.dumps(partials[0]))
        self.assertEqual(tbtrace.merge([partials[1], tbtrace.merge([partials[2], travelled])]).to_bytes(), whole.to_bytes())
        self.assertRaisesRegex(ValueError, "gpu_step.json", tbtrace.merge, [partials[0], whole])
        self.assertEqual(len(whole), 3)
        place = self.folder / "whole.tbp"
        whole.save(place)
        self.assertEqual(tbtrace.Partial.read(place).to_bytes(), whole.to_bytes())
        for table, words in ((whole.kernels(), "kernels"), (whole.steps(), "steps"), (whole.operators(), "ops"),
                             (whole.gpu("stream"), "gpu --group-by stream")):
            verb, *options = words.split()
            done = subprocess.run([PROGRAM, verb, place, *options, "--format", "json"], capture_output=True, check=True, env=PLAIN)
            self.assertEqual(table.to_dicts(), json.loads(done.stdout)["rows"])
        self.assertRaisesRegex(ValueError, "partial", whole.steps, figures="plugin")
        self.assertRaises(tbtrace.TraceError, tbtrace.Partial.read, DATA / "cut.tbp")
        self.assertRaises(tbtrace.TraceError, tbtrace.Partial.from_bytes, b"nothing")

    def test_sets_of_traces_have_the_rows_of_all(self):
        for name in ("gpu_step.json", "gpu_step_rank1.json"):
            (self.folder / name).write_bytes((DATA / name).read_bytes())
        broken = self.folder / "broken"
        broken.write_text("{")
        ranks = tbtrace.TraceSet.open([self.folder, broken], workers=2)
        self.assertEqual((len(ranks), ranks.ranks), (2, [0, 1]))
        self.assertEqual([pathlib.Path(path).name for path, _ in ranks.unread], ["broken"])
        self.assertEqual(len(ranks[-1]), len(tbtrace.read(DATA / "gpu_step_rank1.json")))
        self.assertRaises(IndexError, ranks.__getitem__, 2)
        names = [self.folder / "gpu_step.json", self.folder / "gpu_step_rank1.json"]
        for table, words in ((ranks.kernels("family"), "kernels --group-by family"), (ranks.steps(), "steps"),
                             (ranks.gpu(), "gpu"), (ranks.operators(), "ops --strict-totals"), (ranks.checks(), "check")):
            verb, *options = words.split()
            done = subprocess.run([PROGRAM, verb, *names, *options, "--format", "json"], capture_output=True, check=False, env=PLAIN)
            self.assertEqual(table.to_dicts(), json.loads(done.stdout)["rows"])
        done = subprocess.run([PROGRAM, "summary", *names], capture_output=True, text=True, check=True, env=PLAIN)
        self.assertEqual(str(ranks.summary()), done.stdout)

    def test_a_copy_in_a_folder_counts_once(self):
        for name in ("rank0.json", "rank1.json"):
            (self.folder / name).write_bytes((DATA / "slow_loader_job" / name).read_bytes())
        alone = tbtrace.TraceSet.open(self.folder)
        (self.folder / "again.json").write_bytes((self.folder / "rank1.json").read_bytes())
        subprocess.run([PROGRAM, "merge", self.folder / "rank0.json", self.folder / "rank1.json", "-o", self.folder / "timeline.json"],
                       check=True, capture_output=True, env=PLAIN)
        ranks = tbtrace.TraceSet.open(self.folder)
        self.assertEqual(ranks.ranks, [0, 1])
        self.assertEqual(ranks.operators().to_dicts(), alone.operators().to_dicts())
        self.assertEqual(dict(ranks.unread), {
            str(self.folder / "rank1.json"): f"has the same content as {self.folder / 'again.json'}, which counts",
            str(self.folder / "timeline.json"): "is a merged timeline of ranks"})
        named = tbtrace.TraceSet.open([self.folder / "rank1.json", self.folder / "again.json"])
        self.assertEqual((named.ranks, named.unread), ([1, 1], []))

    def test_jobs_are_those_of_the_command_line(self):
        folder = DATA / "slow_loader_job"
        job = tbtrace.TraceSet.open(folder)
        done = subprocess.run([PROGRAM, "collectives", folder, "--format", "json"], capture_output=True, check=True, env=PLAIN)
        said = json.loads(done.stdout)
        self.assertEqual(job.collectives().to_dicts(), said["rows"])
        self.assertEqual([row["offset_ns"] for row in job.clocks().to_dicts()],
                         [row["clock_offset_ns"] for row in said["by_rank"]])
        self.assertEqual(job.stragglers().to_dicts(), [{key: row[key] for key in job.stragglers().columns}
                                                       for row in said["stragglers"]])
        self.assertEqual(len(job.stragglers()), 1)
        done = subprocess.run([PROGRAM, "summary", folder], capture_output=True, text=True, check=True, env=PLAIN)
        self.assertEqual(str(job.summary()), done.stdout)

    def test_flame_graphs_and_summaries_are_those_of_the_command_line(self):
        path = TRACES / "transformer_modules.json.gz"
        trace = tbtrace.read(path)
        def printed(*words):
            return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True, env=PLAIN).stdout

        self.assertEqual(trace.flame_graph().folded(), printed("flamegraph", path, "--format", "folded"))
        summary = trace.summary()
        self.assertEqual(str(summary), printed("summary", path))
        self.assertEqual(summary.to_dict(), json.loads(printed("summary", path, "--format", "json")))
        self.assertEqual(summary.findings, summary.to_dict()["findings"])
        self.assertTrue(trace.flame_graph()._repr_svg_().startswith("<?xml") or "<svg" in trace.flame_graph()._repr_svg_())
        self.assertEqual(trace.flame_graph("cpu_memory").unit, "bytes")
        trace.flame_graph().save(self.folder / "stacks.folded")
        self.assertEqual((self.folder / "stacks.folded").read_text(), trace.flame_graph().folded())
        trace.export_chrome_trace(self.folder / "again.json.gz")
        self.assertEqual(len(tbtrace.read(self.folder / "again.json.gz")), len(trace))
        tbtrace.read(path, arguments=tbtrace.ARGUMENT_GROUPS).export(self.folder / "trace.pftrace")
        subprocess.run([PROGRAM, "convert", path, "--to", "perfetto", "-o", self.folder / "printed"], check=True, env=PLAIN)
        self.assertEqual((self.folder / "trace.pftrace").read_bytes(), (self.folder / "printed").read_bytes())
        trace.export(self.folder / "any.name", format="perfetto")
        trace.export(self.folder / "exported.folded")
        self.assertEqual((self.folder / "exported.folded").read_text(), trace.flame_graph().folded())
        with self.assertRaises(ValueError):
            trace.export(self.folder / "trace.csv")
        with self.assertRaises(FileExistsError):
            trace.export(self.folder / "trace.pftrace")
        stacks = tbtrace.read(TRACES / "perceptron_stacks.json.gz")
        stacks.export_stacks(self.folder / "stacks.txt")
        self.assertEqual((self.folder / "stacks.txt").read_text(), (TRACES / "perceptron_stacks.stacks.txt").read_text())

    def test_reports_are_those_of_the_command_line(self):
        path = TRACES / "perceptron_stacks.json.gz"
        page = self.folder / "page.html"
        options = ["--limit", "600KB", "--views", "summary,lines", "--title", "Two views", "--source-root", ROOT / "examples"]
        subprocess.run([PROGRAM, "report", path, "-o", page, *map(str, options)], check=True, env=PLAIN)
        trace = tbtrace.read(path)
        report = trace.report(title="Two views", views=["summary", "lines"], source_root=ROOT / "examples", limit=600_000)
        self.assertEqual(report.html, page.read_text(encoding="utf-8"))
        with self.assertRaises(FileExistsError):
            report.save(page)
        report.save(page, overwrite=True)
        self.assertIn("srcdoc=\"&lt;!DOCTYPE html>".replace("&lt;", "<"), report._repr_html_())
        self.assertNotIn("\"", report._repr_html_().split("srcdoc=\"")[1].removesuffix("\"></iframe>"))
        view = json.loads(trace.view("lines"))
        self.assertEqual((view["schema"], view["view"]), ("tbtrace.view/1", "lines"))
        self.assertEqual(view["tables"][1]["rows"], len(trace.lines(libraries=True)))
        gpu = tbtrace.read(DATA / "h200/perceptron.json.gz")
        columns = {column["key"]: column for column in json.loads(gpu.view("kernels"))["tables"][0]["columns"]}
        def texts(key):
            return [None if value is None else columns[key]["texts"][value] for value in columns[key]["values"]]
        origins = dict(zip(texts("name"), zip(texts("operator"), columns["origin_ns"]["values"])))
        kernels = gpu.summary().to_dict()["kernels"]
        self.assertEqual([origins[row["name"]] for row in kernels], [(row["operator"], row["origin_ns"]) for row in kernels])
        ranks = tbtrace.TraceSet.open([DATA / "gpu_step.json", DATA / "gpu_step_rank1.json"])
        self.assertIn("gpu_step.json and 1 more", ranks.report(views="checks").html)
        for wrong, said_why in ((dict(views="kernel"), "did you mean 'kernels'"), (dict(limit=0), "limit"),
                                (dict(source_root="missing"), "is not a directory")):
            with self.assertRaisesRegex(ValueError, said_why):
                trace.report(**wrong)
        with self.assertRaisesRegex(ValueError, "no view 'nothing'"):
            trace.view("nothing")

    def test_a_set_has_a_page_with_its_traces(self):
        hostile = self.folder / "<b>1.json"
        hostile.write_bytes((DATA / "gpu_step_rank1.json").read_bytes())
        broken = self.folder / "broken.json"
        broken.write_text("no trace")
        page = tbtrace.TraceSet.open([DATA / "gpu_step.json", hostile, broken])._repr_html_()
        self.assertEqual(page.count("<tr>"), 3)
        self.assertIn("&lt;b&gt;1.json", page)
        self.assertNotIn("<b>", page)
        self.assertRegex(page, "<p>not read: .*broken.json: is not a trace")

    def test_conversions_name_what_failed(self):
        good, bad = DATA / "gpu_step.json", DATA / "no_trace.json"
        manifest = tbtrace.convert(good, self.folder / "one", run="run")
        self.assertEqual([entry["state"] for entry in manifest["inputs"]], ["written"])
        self.assertTrue(list((self.folder / "one/run").glob("*.pt.trace.json.gz")))
        with self.assertRaisesRegex(tbtrace.TraceError, "1 of 2 inputs failed, the others are done: .*no_trace.json: "):
            tbtrace.convert([good, bad], self.folder / "two")
        self.assertTrue(list((self.folder / "two").rglob("*.pt.trace.json.gz")))
        manifest = tbtrace.convert([good, bad], self.folder / "three", on_error="return")
        self.assertEqual(sorted(entry["state"] for entry in manifest["inputs"]), ["failed", "written"])
        with self.assertRaises(FileExistsError):
            tbtrace.convert(good, self.folder / "one", run="run")
        self.assertEqual(tbtrace.convert(good, self.folder / "one", run="run", skip_existing=True)["inputs"][0]["state"], "skipped")

    def test_facts_are_those_of_the_file(self):
        path = DATA / "gpu_step_rank1.json"
        document = json.loads(path.read_bytes())
        trace = tbtrace.read(path)
        for name, value in trace.metadata.items():
            self.assertEqual(document[name], value)
        self.assertEqual(set(trace.metadata), set(document) - {"traceEvents"})
        self.assertEqual(trace.identity["rank"], document["distributedInfo"]["rank"])
        self.assertEqual(trace.path, str(path))
        links = trace.links
        work = sum(row["kind"] in ("kernel", "gpu_memcpy", "gpu_memset") for row in trace.events(["kind"]).to_dicts())
        self.assertEqual(links["launch_by_correlation"] + links["launch_by_flow"] + links["launch_unknown"], work)
        self.assertEqual(repr(trace), f"<tbtrace.Trace: {path.name}, rank 1 of 2, 1 step, {len(trace)} events>")

    def test_functions_have_signatures(self):
        for name in tbtrace.__all__:
            function = getattr(tbtrace, name)
            if not callable(function) or isinstance(function, type):
                continue
            text = str(inspect.signature(function))
            if hasattr(tbtrace._tbtrace, name):
                given = getattr(tbtrace._tbtrace, name).__nb_signature__[0][0].removeprefix("def " + name)
                self.assertEqual(text.replace("'", "").replace('"', ""), given.replace("'", "").replace('"', ""))
            self.assertTrue(function.__doc__)
        self.assertEqual(list(inspect.signature(tbtrace.read).parameters), ["source", "threads", "strict", "arguments", "name"])
        self.assertRaisesRegex(TypeError, "thread", tbtrace.read, "a", thread=1)

    def test_the_package_lists_what_users_want(self):
        self.assertEqual(set(dir(tbtrace)), {*tbtrace.__all__, "ray", "spark"})
        self.assertEqual(tbtrace.local.__name__, "tbtrace.local")
        program = ("import sys; sys.modules['ray'] = None; import tbtrace\n"
                   "try: tbtrace.ray\n"
                   "except AttributeError as missing: print(missing)\n"
                   "print(tbtrace.spark.__name__)\n")
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "tbtrace.ray needs ray: pip install ray\ntbtrace.spark\n")

    def test_traces_and_summaries_have_pages(self):
        trace = tbtrace.read(DATA / "gpu_step_rank1.json")
        page = trace._repr_html_()
        for fact in ("gpu_step_rank1.json", "1 of 2", "node-a", "Example GPU", "2026-11-20 21:36:15 UTC", "900.000 us"):
            self.assertIn(f"{fact}</td>", page)
        self.assertIn("input_truncated, 1 x: ", tbtrace.read(DATA / "damaged.json")._repr_html_())
        summary = trace.summary()
        self.assertIn(summary.findings[0]["title"], summary._repr_html_().split("<pre>")[0])
        self.assertIn(summary.findings[0]["remedy"].split("<")[0], summary._repr_html_().split("<pre>")[0])
        hostile = tbtrace.read(DATA / "hostile_names.json")
        for page in (hostile._repr_html_(), hostile.summary()._repr_html_()):
            for tag in page.replace("</", "<").split("<")[1:]:
                self.assertRegex(tag, r"^(table|thead|tbody|tfoot|tr|th|td|p|pre)\b")
        odd = self.folder / "a<b>\x1b.json"
        odd.write_bytes((DATA / "gpu_step.json").read_bytes())
        self.assertIn("a&lt;b&gt;\\x1b.json", tbtrace.read(odd)._repr_html_())

    def test_importing_takes_little(self):
        loaded = subprocess.run([sys.executable, "-c", "import sys, tbtrace; print(*sys.modules)"], capture_output=True,
                                text=True, check=True).stdout.split()
        for heavy in ("numpy", "pandas", "pyarrow", "multiprocessing", "concurrent.futures", "logging", "inspect", "ray", "pyspark"):
            self.assertNotIn(heavy, loaded)

    def test_hints_name_what_there_is(self):
        for name in tbtrace.__all__:
            self.assertTrue(hasattr(tbtrace, name), name)
        for kind in (tbtrace.Trace, tbtrace.TraceSet, tbtrace.Partial, tbtrace.Table, tbtrace.Operators,
                     tbtrace.FlameGraph, tbtrace.Summary, tbtrace.Report):
            for name, member in vars(kind).items():
                if not name.startswith("_"):
                    self.assertTrue(member.__doc__, f"{kind.__name__}.{name} has no docstring")
        self.assertRegex(tbtrace.__version__, re.compile(r"^\d+\.\d+\.\d+$"))


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *(f"Traces.test_{name}" for name in sys.argv[2:])])
