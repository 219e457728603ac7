#!/usr/bin/env python3
"""Do the tools for assistants answer any question without failing, within its budget, and read no foreign file?

    assistants_fuzz_test.py [--seconds N | --minutes N] [--seed N]

Arguments are random, crafted, or what answers before had, while files change, vanish and become links.
"""

import json
import os
import pathlib
import random
import re
import shutil
import tempfile
import time
import unittest

import fuzz_options
import tbtrace
from assistants_folder import DATA, SECRET, made_folder, made_tools
from tbtrace.assistants import answer
from tbtrace.assistants.tools import TOOLS
from tbtrace.tab.trace_memory import TraceMemory

TEXTS = [
    "",
    ".",
    "..",
    "/",
    "../outside/secret.json",
    "away/secret.json",
    "linked.json",
    "/etc/passwd",
    "\0",
    "x\0.json",
    "\ud800",
    "\u202e.json",
    "a" * 900,
    "\u4f8b" * 900,
    "\u202e" * 900,
    "\U000e0001" * 900,
    "!?" * 450,
    "b" * 5000,
    "job/../gpu_step.json",
    "job//rank0.json",
    "job/",
    "*",
    "%",
    "'",
    '"',
    "\n",
    "{}",
    "t:000000000000",
    "t:",
    "f:",
    "e:-1",
    "e:99999999999",
    "e:1/9",
    "step:99",
    "gap:0@0",
    "k:zzzzzzzz",
    "f:low_gpu_utilization/9",
    "select * from read_text('/etc/passwd')",
    "select 1; drop table kernels",
]
NUMBERS = [0, 1, -1, 2, 7, 300, 299, 20_000, 20_001, 10**6, 2**31, 2**63, -(2**63), 10**30, 310000, 460000]
OTHERS = [None, True, False, 0.5, float("nan"), [], {}, ["x"], {"x": 1}]
NAMES = [
    "operators",
    "kernels",
    "steps",
    "gpu",
    "gaps",
    "memory",
    "modules",
    "lines",
    "flops",
    "model",
    "threads",
    "checks",
    "serving",
    "marks",
    "occupancy",
    "collectives",
    "stragglers",
    "clocks",
    "kernels_by_operator",
    "memory_alive",
    "operators_by_shape",
    "kernels_by_step",
    "events",
    "kernels_by_",
    "quantities",
]
COLUMNS = ["*", "", "id", "name,total_ns", "id,,", "key", "nothing", "start_ns,duration_ns"]
QUERIES = [
    "select count(*) from kernels",
    "select * from events",
    "select",
    "with",
    "select 1 as a, 2 as a",
    "select repeat('\u4f8b', 400) from events",
]
PATHS = [
    "gpu_step.json",
    "cpu_steps.json",
    "job",
    "job/rank0.json",
    "before.json.gz",
    "after.json.gz",
    "hostile.json.gz",
    "stacks.json",
    "serving.json",
    "damaged.json",
    "empty.json",
    "late/secret.json",
]
SEEN = re.compile(r'"((?:t|f|k|op|m|l|step|gap|e):[^"\\]{1,100})"')


class Fuzz(unittest.TestCase):
    seconds = 4.0
    seed = 1

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = made_folder(pathlib.Path(folder.name))
        self.outside = self.folder.parent / "outside"
        self.random = random.Random(self.seed)
        self.seen = ["f:low_gpu_utilization"]
        # What the library opens is no event of Python: each file comes by a descriptor.
        read = tbtrace.read

        def watched(path, **options):
            real = os.readlink(path).removesuffix(" (deleted)")
            self.assertTrue(real.startswith(f"{os.path.realpath(self.folder)}/"), real)
            return read(path, **options)

        tbtrace.read = watched
        self.addCleanup(setattr, tbtrace, "read", read)

    def change_something(self):
        path = self.folder / self.random.choice(PATHS[:-3] + PATHS[-1:] * 3)
        kind = self.random.randrange(5)
        if path.is_dir() and not path.is_symlink():
            return
        late = self.folder / "late"
        if path.parent == late and late.is_symlink():
            late.unlink()
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        if kind == 0:
            path.symlink_to(self.outside / "secret.json")
        elif kind == 1 and path.parent == late:
            shutil.rmtree(late)
            late.symlink_to(self.outside)
        elif kind < 4:
            source = self.random.choice(["gpu_step.json", "cpu_steps.json", "hostile_names.json", "counters.json"])
            path.write_bytes((DATA / source).read_bytes()[: self.random.choice([None, None, 3000])])

    def value(self, name, parameter):
        choice = self.random
        if choice.random() < 0.04:
            return choice.choice(OTHERS)
        if parameter.kind is int:
            if name == "budget":
                return choice.choice([300, 301, 400, 1000, 2000, 20000, *NUMBERS])
            return choice.choice(NUMBERS) if choice.random() < 0.5 else choice.randrange(10**6)
        known = {
            "trace": PATHS,
            "path": PATHS,
            "base": PATHS,
            "new": PATHS,
            "what": NAMES,
            "columns": COLUMNS,
            "query": QUERIES,
            "by": ["operator", "kernel", "part", "line", "module", "shape"],
            "sort_by": ["count", "total_ns", "duration_ns"],
            "filter": ["aten", "gemm", "step"],
        }
        if choice.random() < 0.12:
            return choice.choice(TEXTS)
        if name in ("id", "trace", "base", "new", "filter") and choice.random() < 0.6:
            mine = [text for text in self.seen if text.startswith("t:") != (name in ("id", "filter"))]
            if mine:
                return choice.choice(mine)
        return choice.choice(known.get(name, TEXTS))

    def test_assistants_fuzz(self):
        tools = made_tools(self.folder, memory=TraceMemory(most_bytes=2_000_000))
        self.addCleanup(tools.close)
        counts = {}
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            if self.random.random() < 0.05:
                self.change_something()
            # SQL starts a process each time: seldom.
            name = self.random.choice([*TOOLS, *TOOLS, *[name for name in TOOLS if name != "sql"] * 8, "nothing"])
            given = {}
            if name in TOOLS:
                for key, parameter in TOOLS[name].all_parameters.items():
                    if (parameter.is_needed and self.random.random() < 0.97) or self.random.random() < 0.3:
                        given[key] = self.value(key, parameter)
            if self.random.random() < 0.02:
                given[self.random.choice(TEXTS)] = 1
            text, is_answer = tools.call(name, given)
            counts[name, is_answer] = counts.get((name, is_answer), 0) + 1
            self.look_at(text, is_answer, f"{name} {given!r:.300}", given)
        print(f"seed {self.seed}: {sum(counts.values())} calls")
        for is_answer in (True, False):
            self.assertGreater(
                len({name for name, kind in counts if kind is is_answer}), 5, "all kinds of answers came"
            )

    def look_at(self, text, is_answer, question, given):
        found = json.loads(text)
        self.assertNotIn(SECRET, text, question)
        self.assertNotIn("Traceback", text, question)
        self.assertNotIn("/proc/", text, question)
        text.encode()
        if is_answer:
            self.assertLessEqual(answer.tokens_of(text), given.get("budget") or answer.TOKENS, question)
            self.assertNotIn("error", found)
            self.look_at_next(found, question, given)
            self.seen = [*self.seen[-60:], *self.random.choices(SEEN.findall(text) or self.seen, k=3)]
        else:
            self.assertEqual(["error"], list(found))
            self.assertLess(answer.tokens_of(text), 300, question)
            self.assertGreater(len(found["error"]), 10, question)

    def look_at_next(self, found, question, given):
        """What was left out can be had, by another call than this one."""
        calls = [call for call in found.get("next", []) if call.startswith("the same")]
        if "left" in found and given.get("budget") != answer.MOST_TOKENS:
            self.assertTrue(calls, f"{question}: {found['left']}")
        for call in calls:
            key, number = re.fullmatch(r"the same with (after|budget)=(\d+)|the same for fewer columns", call).groups()
            if key:
                before = given.get(key) or (0 if key == "after" else answer.TOKENS)
                self.assertGreater(int(number), before, question)


if __name__ == "__main__":
    fuzz_options.run(Fuzz, __doc__)
