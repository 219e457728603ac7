#!/usr/bin/env python3
"""What `tbtrace slice` keeps, against a search of all rows that shares no code with it.

    slice_test.py PROGRAM [NAME...]

Each method is a CTest test cli.NAME. Python's standard library has what it takes.
"""

import gzip
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""
DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
HOST = {"cpu_op", "user_annotation", "python_function", "cuda_runtime", "Trace"}
DEVICE = {"kernel", "gpu_memcpy", "gpu_user_annotation"}
KINDS = {"cpu_op": "operators", "user_annotation": "annotations", "gpu_user_annotation": "annotations",
         "python_function": "frames", "cuda_runtime": "calls", "kernel": "kernels", "gpu_memcpy": "kernels",
         "Trace": "other"}


def run(*words, text=None):
    done = subprocess.run([PROGRAM, *map(str, words)], input=text, capture_output=True, timeout=120)
    return done.returncode, done.stdout, done.stderr.decode()


def made_trace(seed):
    """Steps of two threads that launch ahead of a device, with frames, flows, allocations, counters and instants."""
    chance = random.Random(seed)
    rows = [{"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "ts": 0, "args": {"name": "python"}},
            {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler",
             "ts": 1000.0, "dur": 20000.0}]
    correlation, device, total = 0, 1500.0, 100000
    for thread in (11, 12):
        rows.append({"ph": "X", "cat": "python_function", "name": "train.py(1): main", "pid": 7, "tid": thread,
                     "ts": 1100.0, "dur": 19000.0, "args": {"Python id": thread}})
    at = 1200.0
    for step in range(6):
        begin = at
        for part in range(chance.randint(2, 5)):
            thread = chance.choice((11, 12))
            length = chance.randint(200, 400) + 0.5
            name = chance.choice(["aten::mm", "aten::add", "optimizer"])
            external = step * 100 + part + 1
            rows.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 7, "tid": thread, "ts": at, "dur": length,
                         "args": {"External id": external}})
            for offset in sorted(chance.sample(range(5, 150, 5), chance.randint(0, 3))):
                correlation += 1
                launch = at + offset
                device = max(device, launch + 3) + chance.choice((0, 5))
                rows.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": thread,
                             "ts": launch, "dur": 2, "args": {"External id": external, "correlation": correlation}})
                rows.append({"ph": "X", "cat": "kernel", "name": f"k{correlation % 3}", "pid": 0, "tid": 7, "ts": device,
                             "dur": 100 + correlation % 7 * 40, "args": {"External id": external, "correlation": correlation,
                                                                      "device": 0, "stream": 7}})
                device += rows[-1]["dur"]
                for phase, row in (("s", rows[-2]), ("f", rows[-1])):
                    rows.append({"ph": phase, "id": correlation, "cat": "ac2g", "name": "ac2g", "pid": row["pid"],
                                 "tid": row["tid"], "ts": row["ts"]} | ({"bp": "e"} if phase == "f" else {}))
            if chance.random() < 0.7:
                total += chance.choice((512, 1024, -512))
                rows.append({"ph": "i", "s": "t", "name": "[memory]", "cat": "cpu_instant_event", "pid": 7, "tid": thread,
                             "ts": at + 20, "args": {"Total Allocated": total, "Total Reserved": 4096, "Bytes": 512,
                                                     "Addr": 1, "Device Type": 0, "Device Id": -1}})
            at += length + chance.randint(5, 60)
        rows.append({"ph": "C", "name": "temperature", "pid": 7, "ts": at, "args": {"value": step}})
        rows.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 7, "tid": 11, "ts": begin,
                     "dur": at - begin})
        for phase, moment in (("s", begin + 1), ("f", at + chance.randint(-30, 30))):
            rows.append({"ph": phase, "id": step + 1, "cat": "fwdbwd", "name": "fwdbwd", "pid": 7, "tid": 12, "ts": moment}
                        | ({"bp": "e"} if phase == "f" else {}))
        at += chance.randint(10, 50)
    chance.shuffle(rows)
    return {"schemaVersion": 1, "baseTimeNanoseconds": 1700000000000000000, "traceEvents": rows,
            "distributedInfo": {"rank": 3, "world_size": 4}, "traceName": "made"}


def is_memory(row):
    return row["name"] == "[memory]"


def times(row):
    return round(row["ts"] * 1000), round((row["ts"] + row.get("dur", 0)) * 1000)


def overlaps(row, time):
    start, end = times(row)
    return start < time[1] and (start >= time[0] or end > time[0])


def whole(row):
    """A row as it was before it was cut."""
    row = json.loads(json.dumps(row))
    args = row.get("args", {})
    if "uncut_ts" in args:
        row["ts"], row["dur"] = args.pop("uncut_ts"), args.pop("uncut_dur")
        if not args:
            del row["args"]
    for key in ("ts", "dur"):
        if key in row:
            row[key] = float(row[key])
    return json.dumps(row, sort_keys=True)


def chosen(trace, time=None, devices=None, thread=None, kinds=None):
    """The rows of the part, by trying each one on its own."""
    rows = trace["traceEvents"]
    launches = {row["args"]["correlation"]: row for row in rows if row.get("cat") == "cuda_runtime"}
    operators = {row["args"]["External id"]: row for row in rows if row.get("cat") == "cpu_op"}

    def on_host(row):
        return (time is None or overlaps(row, time)) and thread in (None, row["tid"])

    def on_device(row):
        launch = launches.get(row.get("args", {}).get("correlation"))
        if launch is not None and on_host(launch):
            return True
        return thread is None and (time is None or overlaps(row, devices))

    def in_time(row):
        return time is None or time[0] <= times(row)[0] < time[1]

    last_memory = max((times(row)[0] for row in rows if time and is_memory(row) and times(row)[0] < time[0]), default=None)
    taken = []
    for row in rows:
        category = row.get("cat")
        if row["ph"] == "M":
            takes = True
        elif category == "Trace":
            takes = True
        elif category in DEVICE:
            takes = on_device(row)
        elif category in HOST:
            is_cut = time is not None and (times(row)[0] < time[0] or times(row)[1] > time[1])
            takes = on_host(row) and not (is_cut and row["name"].startswith("ProfilerStep#"))
            mine = [other for other in rows if other.get("cat") in DEVICE and on_device(other)]
            if category == "cuda_runtime":
                takes = takes or any(other["args"]["correlation"] == row["args"]["correlation"] for other in mine)
            if category == "cpu_op":
                takes = takes or any(operators[other["args"]["External id"]] is row for other in mine)
        elif category == "ac2g":
            takes = any(other.get("cat") in DEVICE and other["args"]["correlation"] == row["id"] and on_device(other)
                        for other in rows)
        elif category == "fwdbwd":
            ends = [other for other in rows if other.get("cat") == "fwdbwd" and other["id"] == row["id"]]
            takes = all(in_time(end) and thread in (None, end["tid"]) for end in ends)
        elif is_memory(row):
            takes = thread in (None, row["tid"]) and (in_time(row) or times(row)[0] == last_memory)
        else:
            takes = in_time(row)
        if kinds is not None and row["ph"] != "M":
            kind = KINDS.get(category, "memory" if is_memory(row) else "other")
            if category == "ac2g":
                takes = takes and {"calls", "kernels"} <= kinds
            elif category == "fwdbwd":
                takes = takes and "operators" in kinds
            else:
                takes = takes and kind in kinds
        if takes:
            taken.append(row)
    return taken


class Slices(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "part.json"

    def sliced(self, path, *options):
        code, said, errors = run("slice", path, *options, "-o", self.out, "--overwrite")
        self.assertEqual((code, said), (0, b""), errors)
        return json.loads(self.out.read_text())

    def whole_trace(self, seed):
        trace = made_trace(seed)
        path = self.folder / f"whole{seed}.json"
        path.write_text(json.dumps(trace))
        return trace, path

    def check_rows(self, part, wanted, message):
        got = sorted(whole(row) for row in part["traceEvents"])
        wanted = sorted(whole(row) for row in wanted)
        self.assertEqual((sorted(set(wanted) - set(got)), sorted(set(got) - set(wanted))), ([], []), message)
        self.assertEqual(got, wanted, message)

    def test_slices_have_the_rows_of_a_time_and_what_belongs_to_them(self):
        for seed in range(40):
            trace, path = self.whole_trace(seed)
            start, end = sorted(random.Random(seed).sample(range(0, 12000), 2))
            part = self.sliced(path, "--time", f"{start}us-{end}us")
            time = ((1000 + start) * 1000, (1000 + end) * 1000)
            wanted = chosen(trace, time, time)
            self.check_rows(part, wanted, f"seed {seed}, {start} to {end}")
            self.assertEqual(part["tbtrace_slice"]["events"], len(wanted))
            self.assertEqual(part["tbtrace_slice"]["left_out"], len(trace["traceEvents"]) - len(wanted))
            self.assertEqual({key: value for key, value in part.items() if key not in ("tbtrace_slice", "traceEvents")},
                             {key: value for key, value in trace.items() if key != "traceEvents"})

    def test_slices_cut_ranges_of_the_host_at_the_ends_of_the_time(self):
        for seed in range(10):
            _, path = self.whole_trace(seed)
            part = self.sliced(path, "--time", "2ms-3ms")
            cut = 0
            for row in part["traceEvents"]:
                if "uncut_ts" in row.get("args", {}):
                    cut += 1
                    before = json.loads(whole(row))
                    self.assertEqual(times(row), (max(times(before)[0], 3000000), min(times(before)[1], 4000000)))
                elif row.get("cat") in HOST and row["name"] not in ("cudaLaunchKernel",) and overlaps(row, (3000000, 4000000)):
                    self.assertTrue(3000000 <= times(row)[0] and times(row)[1] <= 4000000, row)
            self.assertEqual(part["tbtrace_slice"]["cut"], cut)
            self.assertGreaterEqual(cut, 3)  # both frames of main, and the recording's window
            again = self.folder / "again.json"
            self.assertEqual(run("slice", self.out, "--time", "0ms-1ms", "-o", again, "--overwrite")[0], 0)
            twice = json.loads(again.read_text())
            self.assertEqual(sorted(map(str, twice["traceEvents"])), sorted(map(str, part["traceEvents"])))
            self.assertEqual(twice["tbtrace_slice"]["part_of"], part["tbtrace_slice"])

    def test_slices_by_thread_and_kind(self):
        for seed in range(10):
            trace, path = self.whole_trace(seed)
            self.check_rows(self.sliced(path, "--thread", "12"), chosen(trace, thread=12), f"seed {seed}")
            kinds = {"operators", "kernels", "other"}
            self.check_rows(self.sliced(path, "--kinds", ",".join(kinds)), chosen(trace, kinds=kinds), f"seed {seed}")
            self.check_rows(self.sliced(path, "--kinds", "memory"), chosen(trace, kinds={"memory"}), f"seed {seed}")
            kinds = set(KINDS.values()) | {"memory"}
            self.check_rows(self.sliced(path, "--without", "frames,memory"),
                            chosen(trace, kinds=kinds - {"frames", "memory"}), f"seed {seed}")

    def test_slices_by_name_have_what_runs_in_the_ranges(self):
        trace, path = self.whole_trace(3)
        rows = trace["traceEvents"]
        part = self.sliced(path, "--name", "^optimizer$")
        around = [row for row in rows if row["name"] == "optimizer"]
        self.assertTrue(around)

        def is_inside(row):
            return any(row["tid"] == other["tid"] and times(other)[0] <= times(row)[0] and times(row)[1] <= times(other)[1]
                       for other in around)

        calls = {row["args"]["correlation"] for row in rows if row.get("cat") == "cuda_runtime" and is_inside(row)}
        got = {(row.get("cat"), row["name"], row["ts"]) for row in part["traceEvents"]
               if row.get("cat") in HOST | DEVICE and row["cat"] != "Trace"}
        self.assertEqual(got, {(row["cat"], row["name"], row["ts"]) for row in rows
                               if (row.get("cat") in HOST and row["cat"] != "Trace" and is_inside(row)) or
                               (row.get("cat") in DEVICE and row["args"]["correlation"] in calls)})

    def test_slices_keep_threads_of_processes_apart(self):
        """A second process has threads, flows and times like those of the first, and no range of the name."""
        trace, _ = self.whole_trace(3)
        first = [row for row in trace["traceEvents"] if row.get("cat") not in ("kernel", "cuda_runtime", "ac2g")]
        second = [row | {"pid": 8, "name": row["name"].replace("optimizer", "aten::sub").replace("ProfilerStep", "Lap")}
                  for row in first if row["pid"] == 7 and row["ph"] != "M"]
        path = self.folder / "two.json"
        path.write_text(json.dumps(trace | {"traceEvents": first + second}))
        part = self.sliced(path, "--name", "^optimizer$")
        self.assertEqual({row["pid"] for row in part["traceEvents"] if row["ph"] == "X"}, {7, "Spans"})
        self.assertEqual({row["pid"] for row in part["traceEvents"] if row["ph"] in "isf"} - {7}, set())

    def test_ends_of_ranges_are_not_counted(self):
        rows = [{"ph": phase, "name": f"op{number}", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 10 * number + at}
                for number in range(20) for phase, at in (("B", 0), ("E", 5))]
        path = self.folder / "pairs.json"
        path.write_text(json.dumps({"traceEvents": rows}))
        part = self.sliced(path, "--time", "50us-70us")
        self.assertEqual(len(part["traceEvents"]), 2)
        self.assertEqual((part["tbtrace_slice"]["events"], part["tbtrace_slice"]["left_out"]), (2, 18))

    def test_a_part_that_begins_later_has_no_cold_start(self):
        """A first call that takes long is compared with later ones; the first of a part is not the first."""
        rows, at = [], 1000
        for step in range(8):
            begin = at
            for part in range(6):
                rows.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": at,
                             "dur": 3000 if part == 1 else 5, "args": {"correlation": len(rows) + 1}})
                rows.append({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": at + rows[-1]["dur"],
                             "dur": 10, "args": {"correlation": len(rows), "device": 0, "stream": 7}})
                at += rows[-2]["dur"] + 30
            rows.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 7, "tid": 7, "ts": begin,
                         "dur": at - begin})
            at += 20
        path = self.folder / "whole.json"
        path.write_text(json.dumps({"traceEvents": rows}))
        self.sliced(path, "--steps", "5")
        causes = json.loads(run("gpu", "--gaps", self.out, "--format", "json")[1])["totals"]
        self.assertGreater(causes["idle_ns"], 2_000_000)
        self.assertEqual(causes["cold_start_ns"], 0)

    def test_tables_of_steps_are_those_of_the_whole(self):
        """Those that depend on nothing outside of the steps."""
        examples = pathlib.Path(__file__).resolve().parents[2] / "examples/traces/resnet18_training.json.gz"
        for path, steps in ((DATA / "h200/perceptron.json.gz", "3-4"), (DATA / "slow_loader_job/rank1.json", "13-14"),
                            (examples, "2"), (DATA / "cpu_steps.json", "8")):
            self.sliced(path, "--steps", steps)
            for table in (["ops", "--strict-totals"], ["kernels"], ["modules"], ["lines"], ["occupancy"],
                          ["model", "--by", "operator"]):
                whole_code, of_whole, _ = run(*table, path, "--steps", steps, "--format", "json")
                code, of_part, errors = run(*table, self.out, "--steps", steps, "--format", "json")
                self.assertEqual(code, whole_code, errors)
                if code == 0:
                    self.assertEqual(json.loads(of_part)["rows"], json.loads(of_whole)["rows"], (path, table))

    def test_what_slicing_left_out_is_not_asked_for(self):
        stacks = pathlib.Path(__file__).resolve().parents[2] / "examples/traces/perceptron_stacks.json.gz"
        gpu = DATA / "h200/perceptron.json.gz"
        for path, kind, verbs in ((stacks, "frames", ("modules",)), (gpu, "memory", ("memory",)),
                                  (gpu, "kernels", ("kernels", "gpu")), (gpu, "operators", ()), (gpu, "calls", ())):
            whole = {finding["id"] for finding in json.loads(run("check", path, "--format", "json")[1])["rows"]}
            self.sliced(path, "--without", kind)
            again = self.folder / "again.json"
            self.assertEqual(run("slice", self.out, "--time", "0-1000s", "-o", again, "--overwrite")[0], 0)
            for part in (self.out, again):
                part_of = json.loads(part.read_text())["tbtrace_slice"]
                self.assertEqual(part_of["without"], kind)
                found = {finding["id"] for finding in json.loads(run("check", part, "--format", "json")[1])["rows"]}
                self.assertEqual(found - whole, {"part_of_a_trace"}, (path, kind))
                for verb in verbs:
                    code, said, errors = run(verb, part)
                    self.assertIn(f"slicing left out the {kind}", said.decode() + errors, (verb, kind, code))
                said = run("summary", part)[1].decode()
                self.assertIn(f"this is a part of a trace, without {kind}", said)
                for option in re.findall("record with (\\w+)=True", said):
                    self.assertIn(f"record with {option}=True", run("summary", path)[1].decode(), (kind, option))
        self.sliced(gpu, "--slowest-step")
        self.assertNotIn("part of a trace", run("summary", self.out)[1].decode())

    def test_the_slowest_step_is_found(self):
        _, path = self.whole_trace(5)
        steps = json.loads(run("steps", path, "--format", "json", "--keep-tail-steps")[1])["rows"]
        slowest = max(steps, key=lambda step: step["duration_ns"])["number"]
        self.assertEqual(self.sliced(path, "--slowest-step")["tbtrace_slice"]["steps"], [slowest])

    def test_slices_are_as_large_as_they_may_be(self):
        for path in (DATA / "h200/perceptron.json.gz", DATA / "slow_loader_job/rank1.json"):
            self.sliced(path, "--kinds", "operators,annotations,frames,calls,kernels,memory,other", "--time", "0-1000s")
            all_of_it = self.out.stat().st_size
            for share in (0.9, 0.5, 0.3):
                most = int(all_of_it * share)
                self.sliced(path, "--max-size", most)
                size = self.out.stat().st_size
                self.assertLessEqual(size, most)
                self.assertGreater(size, most * 0.8 - 6000)
            self.sliced(path, "--max-size", "1GB")
            self.assertGreater(self.out.stat().st_size, all_of_it * 0.99)
        code, _, errors = run("slice", path, "--max-size", 100, "-o", self.folder / "tiny.json")
        self.assertEqual(code, 2, errors)
        self.assertIn("no part of it is as small as that", errors)
        self.assertFalse((self.folder / "tiny.json").exists())

    def test_slices_of_pipes_and_of_damaged_files(self):
        trace, path = self.whole_trace(2)
        text = path.read_bytes()
        code, out, errors = run("slice", "-", "--time", "1ms-2ms", "-o", "-", text=text)
        self.assertEqual(code, 0, errors)
        time = (2000000, 3000000)
        self.check_rows(json.loads(out), chosen(trace, time, time), "a pipe")
        compressed = self.folder / "part.json.gz"
        self.assertEqual(run("slice", path, "--time", "1ms-2ms", "-o", compressed)[0], 0)
        self.assertEqual(json.loads(gzip.decompress(compressed.read_bytes()))["traceEvents"], json.loads(out)["traceEvents"])
        broken = self.folder / "broken.json"
        broken.write_bytes(text[:len(text) * 2 // 3])
        self.sliced(broken, "--time", "0-1000s")
        _, _, errors = run("slice", broken, "--time", "0-1000s", "-o", self.out, "--overwrite")
        self.assertIn("the file ends too early", errors)
        self.assertEqual(run("slice", broken, "--time", "0-1000s", "-o", self.out, "--overwrite", "--strict")[0], 1)

    def test_wrong_slices_are_refused(self):
        _, path = self.whole_trace(1)
        for options, code, text in ((("--steps", "70-80"), 2, "cannot select steps 70 to 80: the trace has steps 0 to 5"),
                                    (("--time", "5ms"), 2, "--time takes two times"),
                                    (("--time", "3ms-2ms"), 2, "--time takes two times"),
                                    (("--time", "90s-91s", "--without", "other"), 2, "nothing is left"),
                                    (("--name", "nothing has this name", "--without", "other"), 2, "nothing is left"),
                                    (("--name", "("), 2, "not a valid regular expression"),
                                    (("--steps", "1", "--slowest-step"), 2, "exclude each other"),
                                    (("--slowest-step", "--time", "0-1s"), 2, "exclude each other"),
                                    ((), 2, "say which part")):
            got, said, errors = run("slice", path, *options, "-o", self.out)
            self.assertEqual((got, said), (code, b""), errors)
            self.assertIn(text, errors)
            self.assertFalse(self.out.exists())
        self.out.write_text("mine")
        self.assertEqual(run("slice", path, "--steps", "1", "-o", self.out)[0], 5)
        self.assertEqual(self.out.read_text(), "mine")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    sys.argv[1:] = [f"Slices.test_{name}" for name in sys.argv[1:]]
    unittest.main()
