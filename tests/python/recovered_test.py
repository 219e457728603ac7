#!/usr/bin/env python3
"""Is what readers say of a recovered trace what its JSON says?

    recovered_test.py PROGRAM [NAME...]

Each method is a CTest test python.NAME. Traces are made at random: nested ranges of which some did not end, and members
`tbtrace_recovered` with keys that are missing or of another kind. The oracle reads the JSON with Python's own json and
shares nothing with the program.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import tbtrace

PROGRAM = ""
PLAIN = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # a sanitizer for the module
ROOT = pathlib.Path(__file__).resolve().parents[2]
BASE_NS = 1795858000000000000
ODD_VALUES = [None, "", "soon", -1, 0, 1.5, 2**70, [], {}, True, [1], {"a": 1}]
GOOD_VALUES = {"process_id": 4711, "host": "node3", "last_sign_of_life_ns": BASE_NS + 12345678901, "unfinished_ranges": 7,
               "window_was_open": True, "lost_records": 5}


def made_trace(chance):
    """A trace of some threads; each has nested ranges that ended, then a chain of ranges that did not."""
    end_us = 1000 + chance.randrange(10**7)
    rows = []
    starts = chance.sample(range(500, end_us), min(80, end_us - 500))  # no two innermost ranges begin together
    for thread in range(1, 2 + chance.randrange(9)):
        for _ in range(chance.randrange(6)):
            start = chance.randrange(400)
            rows.append((f"ended {chance.randrange(5)}", thread, start, chance.randrange(1, 100), True))
        begun = sorted(starts.pop() for _ in range(chance.choice([0, 0, 1, 2, 5, 16]) if len(starts) > 20 else 0))
        for start in begun:
            rows.append((f"open {chance.randrange(5)}", thread, start, end_us - start, False))
    chance.shuffle(rows)
    events = []
    for name, thread, start, duration, ends in rows:
        row = {"ph": "X", "cat": chance.choice(["cpu_op", "user_annotation"]), "name": name, "pid": 4711, "tid": thread,
               "ts": start, "dur": duration, "args": {}}
        if not ends:
            row["args"]["finished"] = "false"
        events.append(row)
    member = {}
    for key, value in GOOD_VALUES.items():
        what = chance.randrange(4)
        if what > 0:
            member[key] = value if what > 1 else chance.choice(ODD_VALUES)
    return {"baseTimeNanoseconds": BASE_NS, "tbtrace_recovered": member, "traceEvents": events}


def whole(value):
    """A number above 0 as the readers take it: a whole one of 64 bits."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**63 else None


def expected(trace):
    """What a summary has of it, by brute force."""
    member = trace["tbtrace_recovered"]
    events = trace["traceEvents"]
    last = whole(member.get("last_sign_of_life_ns"))
    first_us = min((row["ts"] for row in events), default=0)
    is_open = [row for row in events if row["args"].get("finished") == "false"]
    threads = []
    for thread in {row["tid"] for row in is_open}:
        of_thread = [row for row in is_open if row["tid"] == thread]
        innermost = max(of_thread, key=lambda row: row["ts"])
        chain = [row["name"] for row in sorted(of_thread, key=lambda row: row["ts"])
                 if row["ts"] <= innermost["ts"] and row["ts"] + row["dur"] >= innermost["ts"] + innermost["dur"]]
        threads.append({"thread": f"thread {thread}", "ranges": chain if len(chain) <= 12 else chain[:3] + chain[-9:],
                        "ranges_left_out": max(0, len(chain) - 12), "start_ns": (innermost["ts"] - first_us) * 1000,
                        "open_ns": innermost["dur"] * 1000})
    threads.sort(key=lambda one: -one["start_ns"])
    was_open = member.get("window_was_open")
    host = member.get("host")
    return {"trace": 0, "rank": None, "process_id": whole(member.get("process_id")),
            "host": host if isinstance(host, str) and host else None, "last_sign_of_life_ns": last,
            "last_sign_after_start_ns": None if last is None or not events else last - BASE_NS - first_us * 1000,
            "window_was_open": was_open if isinstance(was_open, bool) else None,
            "lost_records": whole(member.get("lost_records")) or 0, "unfinished_ranges": len(is_open),
            "threads": threads[:5], "threads_left_out": max(0, len(threads) - 5)}


def printed(path, *words):
    done = subprocess.run([PROGRAM, words[0], path, *words[1:], "-q"], capture_output=True, timeout=100, check=False,
                          env=PLAIN, text=True)
    if done.returncode not in (0, 1):
        raise AssertionError(done.stderr)
    return done.stdout


class Recovered(unittest.TestCase):
    def each(self, count):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json"
            for seed in range(count):
                trace = made_trace(random.Random(seed))
                path.write_text(json.dumps(trace))
                yield path, trace, f"seed {seed}"

    def test_summaries_have_what_the_json_of_a_recovered_trace_has(self):
        for path, trace, where in self.each(150):
            wanted = expected(trace)
            if not trace["traceEvents"]:
                continue
            summary = tbtrace.read(path).summary()
            found = summary.to_dict()["recovered"][0]
            self.assertTrue(found.pop("sentence").startswith("This trace was recovered from a journal: "), where)
            self.assertEqual(found, wanted, where)
            first = summary.findings[0]
            self.assertEqual((first["id"], first["severity"], first["share"]), ("recovered_trace", "warning", None), where)
            opened = [one["value"] for one in first["evidence"] if one["what"] == "open for at least"]
            self.assertEqual(opened, [one["open_ns"] for one in wanted["threads"]], where)
            self.assertTrue(str(summary).startswith("This trace was recovered from a journal: "), where)
            self.assertIn("This trace was recovered", summary._repr_html_().split("</tr>")[1], where)

    def test_the_command_line_says_first_that_a_trace_was_recovered(self):
        for path, trace, where in self.each(12):
            if not trace["traceEvents"]:
                continue
            self.assertEqual(list(json.loads(printed(path, "summary", "--format", "json")))[1], "recovered", where)
            self.assertIn("recovered", printed(path, "summary", "--format", "md").splitlines()[2], where)
            rows = json.loads(printed(path, "check", "--format", "json"))["rows"]
            self.assertEqual((rows[0]["id"], rows[0]["severity"]), ("recovered_trace", "info"), where)
            self.assertTrue(printed(path, "check").startswith("info recovered_trace"), where)
            lost = whole(trace["tbtrace_recovered"].get("lost_records"))
            self.assertEqual([row["id"] for row in rows[1:]], ["lost_records"] if lost else [], where)

    def test_steps_that_did_not_end_are_in_no_mean_of_a_recovered_trace(self):
        path = ROOT / "tests/data/recovered.json"
        trace = json.loads(path.read_text())
        ended = [row["dur"] * 1000 for row in trace["traceEvents"]
                 if row["name"].startswith("ProfilerStep#") and "finished" not in row["args"]]
        report = json.loads(printed(path, "steps", "--format", "json"))
        self.assertEqual([row["host_duration_ns"] for row in report["rows"]], ended)
        self.assertEqual(report["totals"]["host_duration_ns"], sum(ended) / len(ended))
        self.assertEqual(report["unfinished_steps"], [4])
        steps = tbtrace.read(path).summary().to_dict()["steps"][0]
        self.assertEqual((steps["steps"], steps["host_duration_ns"]), (3, sum(ended) / 3))
        self.assertEqual(steps["unfinished"], [{"name": "ProfilerStep#4", "step": 4, "duration_ns": 9275000000}])


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *(f"Recovered.test_{name}" for name in sys.argv[2:])])
