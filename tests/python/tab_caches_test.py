#!/usr/bin/env python3
"""What the TensorBoard tab keeps: traces in memory, views on the disk, one answer for many who ask.

    tab_caches_test.py [NAME...]

Each method is a CTest test python.NAME. Needs TensorBoard.
"""

import os
import shutil
import stat
import subprocess
import sys
import threading
import time
import unittest

import tbtrace
from tab_folder import STEP, Tab, TabTest, trace_name
from tbtrace.tab.disk_cache import DiskCache, default_folder
from tbtrace.tab.single_flight import SingleFlight
from tbtrace.tab.trace_memory import TraceMemory


class Caches(TabTest):
    def setUp(self):
        super().setUp()
        self.trace = self.add("run/" + trace_name())
        self.tab = Tab(self.logs)
        self.tab.runs()

    def view(self, tab=None, name="operators", **query):
        return (tab or self.tab).body("view", trace=self.trace, view=name, **query)

    def test_tab_computes_once_for_twenty_users(self):
        read = self.count_reads(lambda: time.sleep(0.2))
        answers = []
        views = ["operators"] * 20 + ["kernels"] * 5
        threads = [
            threading.Thread(target=lambda name=name: answers.append((name, self.view(name=name)))) for name in views
        ]
        made = self.patch_value(DiskCache, "put", unittest.mock.Mock())
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((1, 2, 25, 2), (read.call_count, made.call_count, len(answers), len(set(answers))))

    def test_tab_reads_a_trace_once_for_all_views(self):
        read = self.count_reads()
        for name, _ in tbtrace.views():
            self.view(name=name)
        self.tab.body("timeline", trace=self.trace, from_ns=0, to_ns=5)
        self.assertEqual(1, read.call_count)

    def test_tab_shares_an_error_with_all_who_wait(self):
        flight, results = SingleFlight(), []
        go_on = threading.Event()

        def make():
            go_on.wait(10)
            raise ValueError("no")

        def ask():
            try:
                flight.do("key", make)
            except ValueError as problem:
                results.append(str(problem))

        threads = [threading.Thread(target=ask) for _ in range(5)]
        for thread in threads:
            thread.start()
        time.sleep(0.1)
        go_on.set()
        for thread in threads:
            thread.join()
        self.assertEqual(["no"] * 5, results)
        self.assertEqual(7, flight.do("key", lambda: 7))  # the next one tries again

    def test_tab_keeps_views_for_the_next_tensorboard(self):
        expected = self.view()
        read = self.count_reads()
        self.assertEqual(expected, self.view(Tab(self.logs)))
        shutil.copytree(self.logs, self.folder / "moved", copy_function=shutil.copy2)
        self.assertEqual(expected, self.view(Tab(self.folder / "moved")))  # by content, not by place
        self.assertEqual(0, read.call_count)
        self.assertEqual({0o700}, {stat.S_IMODE(self.cache.stat().st_mode)})
        self.assertEqual({0o600}, {stat.S_IMODE(file.stat().st_mode) for file in self.cache.iterdir()})

    def test_tab_makes_other_views_of_another_content(self):
        before = self.view()
        state = (self.logs / self.trace).stat()
        text = STEP.read_text().replace("aten::", "atom::")
        (self.logs / self.trace).write_text(text)
        os.utime(self.logs / self.trace, ns=(state.st_atime_ns, state.st_mtime_ns))  # same size, same time
        self.assertNotEqual(before, self.view())
        self.assertNotEqual(before, self.view(Tab(self.logs)))

    def test_tab_makes_damaged_cache_entries_again(self):
        expected = self.view()
        (entry,) = self.cache.iterdir()
        good = entry.read_bytes()
        for bad in (
            b"",
            good[:-1],
            good[:30],
            good[:40] + bytes([good[40] ^ 1]) + good[41:],
            b"x" + good,
            bytes(len(good)),
        ):
            entry.write_bytes(bad)
            self.assertEqual(expected, self.view(Tab(self.logs)))
            self.assertEqual(good, entry.read_bytes())

    def test_tab_does_without_a_cache_folder(self):
        for folder in ("/proc/nothing", str(STEP), str(STEP / "below")):
            self.patch(os.environ, TBTRACE_TAB_CACHE=folder)
            tab = Tab(self.logs)
            with self.assertLogs("tbtrace", "WARNING") as logged:
                self.view(tab)
                self.view(tab, name="steps")
            self.assertEqual(1, len(logged.output))  # once

    def test_cache_folder_is_that_of_the_user(self):
        self.assertEqual(str(self.cache), default_folder())
        self.patch(os.environ, TBTRACE_TAB_CACHE="", XDG_CACHE_HOME="/caches", HOME="/home/me")
        self.assertEqual("/caches/tbtrace/tab", default_folder())
        self.patch(os.environ, XDG_CACHE_HOME="relative")
        self.assertEqual("/home/me/.cache/tbtrace/tab", default_folder())

    def test_cache_stays_below_its_limit(self):
        cache = DiskCache(str(self.cache), most_bytes=100_000)
        self.cache.mkdir()
        strangers = [self.cache / "precious.txt", self.cache / ("0" * 64), self.cache / "x.view"]
        for stranger in strangers:
            stranger.write_bytes(bytes(200_000))
            os.utime(stranger, (1, 1))
        abandoned = self.cache / ("1" * 64 + ".view.7-7.tmp")
        abandoned.touch()
        os.utime(abandoned, (1, 1))
        for number in range(300):
            cache.put(f"key {number}", bytes([number % 256]) * 1000)
            self.assertIsNotNone(cache.get("key 0"))  # stays, because it is used
            time.sleep(0.0005)
        kept = [number for number in range(300) if cache.get(f"key {number}")]
        self.assertEqual(0, kept[0])
        self.assertEqual(list(range(300 - len(kept) + 1, 300)), kept[1:])
        files = [file for file in self.cache.iterdir() if file not in strangers]
        self.assertTrue(70_000 < sum(file.stat().st_size for file in files) <= 100_000)
        self.assertTrue(all(stranger.exists() for stranger in strangers))
        self.assertFalse(abandoned.exists())
        cache.put("huge", bytes(200_000))
        self.assertIsNone(cache.get("huge"))

    def test_cache_is_shared_by_processes(self):
        script = (
            "import sys; from tbtrace.tab.disk_cache import DiskCache; c = DiskCache(sys.argv[1], 50_000)\n"
            "for n in range(2000):\n  k = f'{n % 100}'; c.put(k, k.encode() * 500); v = c.get(k)\n"
            "  assert v is None or v == k.encode() * 500, k\n"
        )
        running = [subprocess.Popen([sys.executable, "-c", script, str(self.cache)]) for _ in range(4)]
        self.assertEqual([0] * 4, [process.wait(120) for process in running])
        total = sum(file.stat().st_size for file in self.cache.iterdir())
        self.assertLessEqual(total, 55_000)
        self.assertEqual([], list(self.cache.glob("*.tmp")))

    def test_memory_of_traces_is_bounded(self):
        one = tbtrace.read(STEP)
        memory = TraceMemory(most_bytes=(100_000 + len(one) * 500) * 3)
        for number in range(10):
            memory.put(number, one)
            self.assertIsNotNone(memory.get(0))
        self.assertEqual([0, 8, 9], [number for number in range(10) if memory.get(number)])
        small = TraceMemory(most_bytes=1)
        small.put("a", one)
        self.assertIsNotNone(small.get("a"))  # the last one stays, however large it is

    def test_traces_that_nobody_uses_are_forgotten(self):
        memory = TraceMemory(kept_seconds=0.2)
        memory.put("a", tbtrace.read(STEP))
        end = time.monotonic() + 10
        while len(memory) and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual(0, len(memory))

    def test_tab_reads_a_trace_again_that_changed_meanwhile(self):
        path = self.logs / self.trace
        version = self.tab.windows()[self.trace]["version"]
        changes = [STEP.read_text() + "\n"]

        def change():
            if changes:
                path.write_text(changes.pop())

        read = self.count_reads(change)
        answer = self.tab.get("view", trace=self.trace, view="summary", version=version)
        self.assertEqual((200, 2, "no-store"), (answer.status_code, read.call_count, answer.headers["Cache-Control"]))
        self.assertEqual(1, len(list(self.cache.iterdir())))  # of the second reading
        version = self.tab.windows()[self.trace]["version"]
        self.assertIn(
            "immutable",
            self.tab.get("view", trace=self.trace, view="summary", version=version).headers["Cache-Control"],
        )

    def test_tab_keeps_nothing_of_a_trace_that_always_changes(self):
        path = self.logs / self.trace
        read = self.count_reads(lambda: path.write_text(path.read_text() + "\n"))
        for _ in range(2):
            version = self.tab.windows()[self.trace]["version"]
            answer = self.tab.get("view", trace=self.trace, view="summary", version=version)
            self.assertEqual((200, "no-store"), (answer.status_code, answer.headers["Cache-Control"]))
        self.assertEqual((4, False), (read.call_count, self.cache.exists()))

    def test_tab_reads_for_one_view_only_what_it_needs(self):
        view = self.patch_value(tbtrace.Trace, "view", unittest.mock.Mock(return_value=b"{}"))
        self.view(name="steps")
        view.assert_called_once_with("steps")

    def test_package_does_not_import_tensorboard(self):
        code = (
            "import sys, tbtrace, tbtrace.tab\n"
            "sys.exit(any(name.split('.')[0] in ('tensorboard', 'werkzeug') for name in sys.modules))"
        )
        self.assertEqual(0, subprocess.run([sys.executable, "-c", code], check=False).returncode)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(f"Caches.test_{name}" for name in sys.argv[1:])])
