#!/usr/bin/env python3
"""Do memory, open files and threads of the TensorBoard tab stay flat while a job writes traces?

    tab_growth_test.py [ROUNDS]

In each round (2,000 if not said) a window comes, one changes and one vanishes, and people look at the list and at
views, also at wrong ones. Compares the process after a fifth of the rounds with the end. Needs TensorBoard.
"""

import gc
import os
import pathlib
import sys
import threading
import time
import unittest

from tab_folder import DATA, Tab, TabTest, trace_name
from tbtrace.tab.disk_cache import DiskCache
from tbtrace.tab.trace_memory import TraceMemory

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
WINDOWS = 20  # at a time
MOST_GROWTH = 4 << 20  # bytes; if something of each window stayed, it would be a hundred times as much
SOURCES = [DATA / name for name in ("gpu_step.json", "cpu_steps.json", "stacks.json", "damaged.json", "no_trace.json")]


def state():
    gc.collect()
    resident = int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096
    return resident, len(os.listdir("/proc/self/fd")), threading.active_count()


class Growth(TabTest):
    def test_growth(self):
        tab = Tab(self.logs)
        self.set_caches(tab, DiskCache(str(self.cache), 2_000_000), TraceMemory(1_000_000, kept_seconds=60))
        before = None
        for number in range(ROUNDS):
            trace = self.add(f"run{number // 100 % 3}/" + trace_name("host", number), SOURCES[number % len(SOURCES)])
            (self.logs / f"run{number // 100 % 3}/other{number % 50}.json").write_text(f'{{"round": {number}}}')
            listed = list(tab.windows())
            end = time.monotonic() + 60
            while trace not in listed and time.monotonic() < end:  # a pass that began before it was added
                listed = list(tab.windows())
            self.assertIn(trace, listed)
            for name in ("summary", "timeline"):
                self.assertIn(tab.get("view", trace=trace, view=name).status_code, (200, 422))
            with open(self.logs / listed[0], "a", encoding="utf-8") as file:
                file.write("\n")
            tab.get("view", trace=listed[0], view="steps")
            tab.get("view", trace=f"gone{number}.json", view="steps")
            tab.get("timeline", trace=trace, from_ns=number, to_ns=number + 100)
            if len(listed) > WINDOWS:
                os.unlink(self.logs / listed[number % WINDOWS])
            if number == ROUNDS // 5:
                before = state()
        after = state()
        print(
            f"{ROUNDS} rounds: {after[0] - before[0]} bytes more than after a fifth, {before[0]} then; "
            f"files and threads {before[1:]}, then {after[1:]}"
        )
        self.assertLess(after[0] - before[0], MOST_GROWTH)
        self.assertLessEqual(after[1], before[1] + 2)
        self.assertLessEqual(after[2], before[2] + 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
