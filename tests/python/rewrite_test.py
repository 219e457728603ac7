#!/usr/bin/env python3
"""Do slice(), repair(), anonymise() and replay_program() write what the command line writes, and fail as they say?

    rewrite_test.py PROGRAM [NAME...]

Each method is a CTest test python.NAME.
"""

import gzip
import json
import os
import pathlib
import re
import signal
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
DATA = ROOT / "tests/data"
TRAINING = ROOT / "examples/traces/resnet18_training.json.gz"
KEY = b"our own secret!!"
WRITERS = {"slice": {"steps": 2}, "repair": {}, "anonymise": {"key": KEY}}


class Rewrite(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="tbtrace-rewrite-")))
        self.out = self.folder / "out.json"

    def printed(self, *words):
        """What the program writes to its standard output."""
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, check=True, timeout=60, env=PLAIN)
        return done.stdout

    def check_slice(self, options, **arguments):
        self.out.unlink(missing_ok=True)
        report = tbtrace.slice(TRAINING, self.out, **arguments)
        self.assertEqual(self.out.read_bytes(), self.printed("slice", TRAINING, "-o", "-", *options), arguments)
        member = json.loads(self.out.read_bytes())["tbtrace_slice"]
        for key in ("events", "left_out", "cut", "steps"):
            self.assertEqual(report[key], member[key], arguments)
        self.assertEqual((report["start_ns"], report["end_ns"]), (member.get("start_ns"), member.get("end_ns")))
        self.assertLess(0, self.out.stat().st_size - report["bytes"])
        return report

    def test_slices_are_those_of_the_command_line(self):
        self.check_slice(["--steps", "2"], steps=2)
        self.check_slice(["--steps", "2-3"], steps=(2, 3))
        self.assertEqual(self.check_slice(["--slowest-step"], slowest_step=True)["steps"], [2])
        self.check_slice(["--time", "100ms-200ms"], from_ns=100_000_000, to_ns=200_000_000)
        self.check_slice(["--time", "2s-9s"], from_ns=2_000_000_000)
        self.check_slice(["--time", "0s-50ms"], to_ns=50_000_000)
        self.assertLessEqual(self.check_slice(["--max-size", "200KB"], max_size=200_000)["bytes"], 200_000)
        self.check_slice(["--name", "conv|^aten::mm$"], name="conv|^aten::mm$")
        self.check_slice(["--name", "backward"], name=re.compile("backward"))
        thread = tbtrace.read(TRAINING).threads()[0]["thread"]
        self.check_slice(["--thread", thread], thread_ids=thread)
        self.check_slice(["--kinds", "operators,annotations"], kinds=["operators", "annotations"])
        self.check_slice(["--without", "other", "--steps", "3"], without="other", steps=3)

    def test_slices_of_names_that_are_not_texts(self):
        rows = [{"ph": "X", "cat": "cpu_op", "name": "NAME", "pid": 1, "tid": 1, "ts": at, "dur": 1} for at in range(3)]
        text = json.dumps({"traceEvents": rows}).encode()
        for name in (b"\xff\xfe", b"a\xffb", "\U0001f525".encode(), b"\\ud800", b"x" * 100_000):
            source = self.folder / "odd.json"
            source.write_bytes(text.replace(b"NAME", b"mm", 1).replace(b"NAME", name))
            report = tbtrace.slice(source, self.out, name="^mm$", overwrite=True)
            self.assertEqual(report["events"], 1, name)
            self.assertEqual(tbtrace.slice(source, self.out, name="(?s)^.+$", overwrite=True)["events"], 3, name)

    def test_wrong_arguments_of_slices_are_refused_before_reading(self):
        for wrong, arguments in {
            "takes which part, such as steps=": {},
            "exclude each other": {"steps": 1, "slowest_step": True},
            "a time from from_ns to to_ns": {"from_ns": 1, "steps": 2},
            "the earlier one first": {"from_ns": 2, "to_ns": 2},
            "times from 0 on": {"from_ns": -1},
            "max_size takes": {"max_size": 0},
            "not a regular expression: ": {"name": "("},
            "for texts, not for bytes": {"name": b"mm"},
            "kinds takes 'operators'": {"kinds": "kernel"},
            "without takes 'operators'": {"without": ["frames", "stacks"]},
            "steps takes": {"steps": (3, 2)},
            "threads and workers": {"steps": 1, "threads": 0},
            "slice\\(\\) writes to a local path": {"steps": 1, "output": "memory://out.json"},
        }.items():
            place = arguments.pop("output", self.out)
            with self.assertRaisesRegex(ValueError, wrong):
                tbtrace.slice(self.folder / "missing.json", place, **arguments)
        for arguments in ({"steps": 99}, {"name": "no range is called so"}, {"max_size": 10}, {"thread_ids": "no thread"},
                          {"kinds": "kernels"}):
            with self.assertRaisesRegex(ValueError, f"^{re.escape(str(TRAINING))}: "):
                tbtrace.slice(TRAINING, self.out, **arguments)
        with self.assertRaises(TypeError):
            tbtrace.slice(TRAINING, self.out, thread=3)
        self.assertFalse(self.out.exists())

    def test_receipts_of_repairs_are_those_of_the_command_line(self):
        for name in ("damaged.json", "cut.json.gz", "hostile_names.json", "gpu_step.json"):
            receipt = tbtrace.repair(DATA / name, self.out, overwrite=True)
            printed = self.folder / "receipt.json"
            written = self.printed("repair", DATA / name, "-o", "-", "--receipt", printed, "--overwrite")
            self.assertEqual(receipt, json.loads(printed.read_bytes()), name)
            self.assertEqual(self.out.read_bytes(), written, name)
            json.loads(written)
        self.assertEqual(receipt["damages"], [])
        self.assertEqual(self.out.read_bytes(), (DATA / "gpu_step.json").read_bytes())  # a copy
        tbtrace.repair(DATA / "cut.json.gz", self.folder / "out.json.gz")
        self.assertEqual(gzip.decompress((self.folder / "out.json.gz").read_bytes())[:1], b"{")

    def test_a_strict_repair_refuses_what_is_damaged(self):
        tbtrace.repair(DATA / "gpu_step.json", self.folder / "copy.json", strict=True)
        with self.assertRaisesRegex(tbtrace.TraceError, "damaged.json: strict repairing failed"):
            tbtrace.repair(DATA / "damaged.json", self.out, strict=True)
        self.assertFalse(self.out.exists())

    def test_anonymised_traces_are_those_of_the_command_line(self):
        (self.folder / "key").write_bytes(KEY)
        for name in ("hostile_names.json", "gpu_step.json", "stacks.json"):
            report = tbtrace.anonymise(DATA / name, self.out, key=KEY, overwrite=True)
            names = self.folder / "names.json"
            written = self.printed("anonymise", DATA / name, "-o", "-", "--key-file", self.folder / "key", "--names", names, "--overwrite")
            self.assertEqual(self.out.read_bytes(), written, name)
            self.assertEqual(report["names"], json.loads(names.read_bytes())["names"], name)
            member = json.loads(written)["tbtrace_anonymise"]
            self.assertEqual({**{key: report[key] for key in ("events", "arguments_left_out", "members_left_out")},
                              "names": len(report["names"])}, {key: member[key] for key in member if key != "schema"})
            found = tbtrace.find_private_names(DATA / name)
            self.assertEqual(found["names"], list(report["names"]))
            self.assertEqual(found["members_left_out"], report["members_left_out"])
            again = tbtrace.find_private_names(self.out)
            self.assertEqual((again["names"], again["arguments_left_out"], again["members_left_out"]), ([], 0, 0))

    def test_keys_decide_replacements(self):
        made = [tbtrace.anonymise(DATA / "hostile_names.json", self.out, key=key, overwrite=True)["names"]
                for key in (KEY, KEY, bytes(16), None, None)]
        self.assertEqual(made[0], made[1])
        for other, another in ((0, 2), (2, 3), (3, 4)):
            self.assertNotEqual(made[other], made[another])
        for key in (b"", b"fifteen bytes..", "a text, not bytes"):
            with self.assertRaises((ValueError, TypeError)):
                tbtrace.anonymise(DATA / "gpu_step.json", self.folder / "other.json", key=key)
        self.assertFalse((self.folder / "other.json").exists())

    def test_files_that_are_not_there_or_are_there_already(self):
        for name, arguments in WRITERS.items():
            write = getattr(tbtrace, name)
            missing = self.folder / "missing.json"
            with self.assertRaises(tbtrace.TraceFileNotFoundError) as raised:
                write(missing, self.out, **arguments)
            self.assertEqual(raised.exception.filename, str(missing))
            with self.assertRaisesRegex(tbtrace.TraceError, "^/.*text.txt: is not a trace"):
                write(DATA / "text.txt", self.out, **arguments)
            with self.assertRaisesRegex(tbtrace.TraceError, "is a directory"):
                write(self.folder, self.out, **arguments)
            self.assertFalse(self.out.exists())
            self.out.write_bytes(b"mine")
            with self.assertRaisesRegex(FileExistsError, f"^{re.escape(str(self.out))}: exists"):
                write(TRAINING, self.out, **arguments)
            self.assertEqual(self.out.read_bytes(), b"mine")
            with self.assertRaisesRegex(OSError, "no/such"):
                write(TRAINING, self.folder / "no/such/out.json", **arguments)
            write(TRAINING, self.out, overwrite=True, **arguments)
            self.assertGreater(len(tbtrace.read(self.out)), 1000)
            self.out.unlink()
            self.assertEqual(list(self.folder.iterdir()), [])
        with self.assertRaises(tbtrace.TraceFileNotFoundError):
            tbtrace.find_private_names(self.folder / "missing.json")

    def test_a_trace_can_take_the_place_of_its_input(self):
        source = self.folder / "trace.json"
        for name, arguments in WRITERS.items():
            source.write_bytes(gzip.decompress(TRAINING.read_bytes()))
            getattr(tbtrace, name)(source, source, overwrite=True, **arguments)
            self.assertGreater(len(tbtrace.read(source)), 1000, name)

    def large_trace(self):
        row = b'{"ph": "X", "cat": "cpu_op", "name": "acme::op%d", "pid": 1, "tid": 1, "ts": %d, "dur": 1}'
        path = self.folder / "large.json"
        with open(path, "wb") as file:
            file.write(b'{"traceEvents": [')
            for at in range(0, 600_000, 20_000):
                file.write(b",\n".join([row % (each % 50, each) for each in range(at, at + 20_000)]) + b",\n")
            file.write(row % (1, 600_000) + b"]}")
        return path

    def test_other_threads_run_and_interrupts_end_writing(self):
        path = self.large_trace()
        calls = {**WRITERS, "slice": {"to_ns": 10**12}}
        for name, arguments in calls.items():
            write, ticks, ended = getattr(tbtrace, name), [], threading.Event()

            def tick(ticks=ticks, ended=ended):
                while not ended.wait(0.001):
                    ticks.append(1)

            ticking = threading.Thread(target=tick)
            ticking.start()
            started = time.monotonic()
            write(path, self.out, overwrite=True, **arguments)
            took = time.monotonic() - started
            ended.set()
            ticking.join()
            self.assertGreater(len(ticks), took / 0.001 / 50, name)  # with the GIL held, at most two
            self.out.unlink()
            timer = threading.Timer(took / 20, signal.raise_signal, (signal.SIGINT,))
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                write(path, self.out, overwrite=True, **arguments)
            timer.join()
            self.assertFalse(self.out.exists(), name)

    def test_what_a_search_raises_ends_slicing(self):
        source = self.folder / "trace.json"
        source.write_text(json.dumps({"traceEvents": [
            {"ph": "X", "cat": "cpu_op", "name": "a" * 40 + "!", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]}))
        before = signal.signal(signal.SIGALRM, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with self.assertRaises(KeyboardInterrupt):  # it would take an hour
            tbtrace.slice(source, self.out, name="^(a+)+$")
        self.assertFalse(self.out.exists())

    def test_programs_of_operators_are_those_of_the_command_line(self):
        trace = tbtrace.read(TRAINING)
        program = trace.replay_program("aten::addmm")
        self.assertEqual(program.encode(), self.printed("replay", TRAINING, "--operator", "aten::addmm"))
        compile(program, "addmm.py", "exec")
        shapes = next(row["input_shapes"] for row in trace.operators("shape").to_dicts() if row["key"] == "aten::convolution")
        wanted = self.printed("replay", TRAINING, "--operator", "aten::convolution", "--shapes", json.dumps(shapes), "--row-limit", "1")
        for given in (shapes, json.dumps(shapes), tuple(map(tuple, shapes))):
            self.assertEqual(trace.replay_program("aten::convolution", shapes=given, row_limit=1).encode(), wanted)
        for wrong, arguments in {
            "no operator 'aten::nothing'": {"operator": "aten::nothing"},
            "a node of autograd's graph": {"operator": "ConvolutionBackward0"},
            "no calls of 'aten::addmm' with the shapes": {"operator": "aten::addmm", "shapes": [[1]]},
            "row_limit takes": {"operator": "aten::addmm", "row_limit": 0},
        }.items():
            with self.assertRaisesRegex(ValueError, wrong):
                trace.replay_program(**arguments)
        with self.assertRaisesRegex(ValueError, "arguments that were not read \\(inputs, strides, placement\\)"):
            tbtrace.read(TRAINING, arguments=[]).replay_program("aten::addmm")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main(argv=[sys.argv[0], *(f"Rewrite.test_{name}" for name in sys.argv[1:])])
