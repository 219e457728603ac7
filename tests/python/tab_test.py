#!/usr/bin/env python3
"""Does the TensorBoard tab find traces, and answer as docs/formats/tab.md says?

    tab_test.py [NAME...]

Each method is a CTest test python.NAME. Needs TensorBoard.
"""

import gzip
import json
import os
import shutil
import stat
import sys
import threading
import time
import unittest

import tbtrace
from tab_folder import START, STEP, Tab, TabTest, trace_name
from tbtrace.tab import names, scan

NO_TRACE = '{"name": "a manifest", "runs": [1, 2]}'


class Scans(TabTest):
    def test_tab_lists_runs_workers_and_windows(self):
        for path in (
            "b/" + trace_name("host_10"),
            "b/" + trace_name("host_9", 3),
            "b/" + trace_name("host_9", 1, ".json.gz"),
            "b/deep/er/rank0.json",
            "a/" + trace_name("", 7),
            trace_name("host.example.org_1"),
        ):
            self.add(path)
        tab = Tab(self.logs)
        document = tab.runs()
        self.assertEqual(
            ("tbtrace.runs/1", tbtrace.__version__, str(self.logs), True),
            tuple(document[key] for key in ("schema", "version", "logdir", "is_complete")),
        )
        self.assertEqual(
            [(name, title) for name, title in tbtrace.views()],
            [(view["name"], view["title"]) for view in document["views"]],
        )
        found = [
            (window["run"], window["worker"], window["name"], window["start_ns"]) for window in tab.windows().values()
        ]
        self.assertEqual(
            [
                (".", "host.example.org_1", str(START), START),
                ("a", f".{START + 7 * 10**9}", f".{START + 7 * 10**9}.pt.trace.json", None),
                ("b", "host_9", str(START + 10**9), START + 10**9),
                ("b", "host_9", str(START + 3 * 10**9), START + 3 * 10**9),
                ("b", "host_10", str(START), START),
                ("b/deep/er", "rank0", "rank0.json", None),
            ],
            found,
        )
        window = tab.windows()["b/deep/er/rank0.json"]
        state = (self.logs / "b/deep/er/rank0.json").stat()
        self.assertEqual((state.st_size, state.st_mtime_ns), (window["bytes"], window["modified_ns"]))
        self.assertEqual([], document["problems"])

    def test_tab_orders_windows_by_start_not_by_name(self):
        early, late, unknown = "w.9999999999.pt.trace.json", "w.1700000000000.pt.trace.json", "w.15.pt.trace.json"
        for path in (late, unknown, early, f"w.{START + 5}.pt.trace.json", f"w.{START // 1000 + 1}.pt.trace.json.gz"):
            self.add(path)
        starts = [window["start_ns"] for window in Tab(self.logs).windows().values()]
        self.assertEqual([START, START + 5, START + 1000, None, None], starts)  # ms, ns, us, and two that are not times

    def test_tab_gives_windows_of_one_name_different_ones(self):
        self.add(trace_name())
        self.add(trace_name(ending=".json.gz"))
        self.assertEqual(
            [str(START), trace_name(ending=".json.gz")], [w["name"] for w in Tab(self.logs).windows().values()]
        )

    def test_tab_lists_the_same_files_as_find(self):
        plain, packed = STEP.read_bytes(), gzip.compress(STEP.read_bytes())
        other = NO_TRACE.encode()
        files = {
            "a.json": plain,
            "B.JSON": plain,
            "c.json.gz": packed,
            "d.Json.GZIP": packed,
            "e.pt.trace.json": plain,
            "f.pt.trace.json": other,
            "g.json": other,
            "h.json.gz": gzip.compress(other),
            "i.json": b"",
            "j.json": b"no",
            ".k.json": plain,
            ".l.json": b"\0\5\x16\7",
            "._m.1.pt.trace.json": b"\0\5\x16\7",
            "n.txt": plain,
            "o.jsonl": plain,
            "p.json.txt": plain,
            "q.j\u017fon": plain,
            "r.json.tmp": plain,
            "s.json.4711": plain,
            ".json": plain,
            "t.json.gz": b"\x1f\x8b",
            "u.json": b'\xef\xbb\xbf  {"traceEvents": []}',
            "bom.json": b'\xef\xbb\xbf{"a": 1}',
            "v.json": b"nullify",
            "w.json": b"null",
            "x.json": b"[]",
            "y.json.bz2": b"BZh",
            "z.json": b'{"distributedInfo": {',
            "events.out.tfevents.1.h": b"1",
            "tbtrace-summaries.json": other,
            "run.tbtrace-partial/a.json": plain,
            ".sub/b.json": plain,
        }
        for name, content in files.items():
            path = self.logs / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        paths, _ = tbtrace.find(self.logs)
        expected = {os.path.relpath(path, self.logs) for path in paths} - {"r.json.tmp"}
        self.assertEqual(expected, set(Tab(self.logs).windows()))

    def test_names_say_the_same_as_in_the_library(self):
        endings = [
            ".json",
            ".JSON.gz",
            ".json.zst.part",
            ".json.tmp",
            ".json.tmp4711",
            ".json.tmp-4711-0",
            ".json.tmp.4711",
            ".json.tmp4711a",
            ".json.tmp_x",
            ".json.gz.crdownload",
            ".json.temp",
            ".json.TMP",
            ".jsonx",
            ".json.tar.xz",
            ".json.gz.zip",
            ".part",
            ".tmp",
            ".txt.tmp",
            ".json.1.2",
            ".json.tmp.1.2",
            ".json.unfinished.gz",
        ]
        for number, ending in enumerate(endings):
            (self.logs / f"{number:02}{ending}").write_text('[{"ph": ')  # cut: taken if the name says so
        paths, _ = tbtrace.find(self.logs)
        found = sorted(os.path.basename(path) for path in paths)
        by_name = sorted(name for name in os.listdir(self.logs) if names.is_trace(name) or names.is_unfinished(name))
        _, problems = tbtrace.find(self.logs)
        unfinished = sorted(os.path.basename(path) for path, _ in problems)
        self.assertEqual(sorted(found + unfinished), by_name)

    def test_tab_does_not_follow_links_out_of_the_log_directory(self):
        outside = self.folder / "outside"
        outside.mkdir()
        shutil.copy(STEP, outside / "secret.json")
        self.add("run/" + trace_name())
        (self.logs / "away").symlink_to(outside)
        (self.logs / "run/away.json").symlink_to(outside / "secret.json")
        (self.logs / "notes.txt").symlink_to("/etc/hostname")
        (self.logs / "nowhere.json").symlink_to("gone.json")
        tab = Tab(self.logs)
        self.assertEqual(["run/" + trace_name()], list(tab.windows()))
        self.assertEqual({"away", "run/away.json"}, set(tab.problems()))
        self.assertIn("leads out of the log directory", tab.problems()["away"])
        for trace in ("away/secret.json", "run/away.json"):
            self.assertEqual(404, tab.error("view", trace=trace, view="summary")[0])

    def test_tab_ends_in_spite_of_loops(self):
        self.add("run/" + trace_name())
        blob = self.add("blobs/abc", STEP)
        for link, target in (
            ("run/self", "."),
            ("run/up", ".."),
            ("again", "run"),
            ("root", "/"),
            ("circle", "circle"),
            ("latest.json", "run/" + trace_name()),
            ("linked.json", blob),
        ):
            (self.logs / link).symlink_to(target)
        tab = Tab(self.logs)
        self.assertEqual(["linked.json", "run/" + trace_name()], list(tab.windows()))
        self.assertEqual({}, tab.problems())  # all lead to what is there anyway
        tab.body("view", trace="linked.json", view="summary")

    def test_tab_names_what_it_cannot_read(self):
        self.add("shut/" + trace_name())
        self.add("open/" + trace_name())
        old, new = self.logs / "old.json.gz.tmp", self.logs / "new.json.part"
        old.touch()
        new.touch()
        os.utime(old, (1, 1))
        (self.logs / os.fsdecode(b"\xff.json")).write_text("[]")
        shutil.copy(STEP, self.logs / os.fsdecode(b"\xfe.json"))
        real = scan.open_below

        def open_below(root, path, flags=0):  # root may read everything
            if path == "shut":
                raise PermissionError(13, "Permission denied")
            return real(root, path, flags)

        self.patch_value(scan, "open_below", open_below)
        tab = Tab(self.logs)
        self.assertEqual(["open/" + trace_name()], list(tab.windows()))
        problems = tab.problems()
        self.assertEqual({"shut", "old.json.gz.tmp", "?.json"}, set(problems))
        self.assertEqual("This directory cannot be read: Permission denied.", problems["shut"])
        self.assertIn("not finished", problems["old.json.gz.tmp"])
        self.assertIn("UTF-8", problems["?.json"])

    def test_tab_lists_many_problems_shortly(self):
        for number in range(scan.MOST_PROBLEMS + 5):
            (self.logs / f"{number}.json").symlink_to("/etc/hostname")
        problems = Tab(self.logs).runs()["problems"]
        self.assertEqual(scan.MOST_PROBLEMS + 1, len(problems))
        self.assertIn("5 more", problems[-1]["sentence"])

    def test_tab_stops_at_too_many_directories(self):
        self.patch_value(scan, "MOST_FOLDERS", 10)
        for number in range(20):
            (self.logs / str(number)).mkdir()
        self.assertIn("more than 10 directories", "".join(Tab(self.logs).problems().values()))

    def test_tab_says_which_log_directories_it_does_not_read(self):
        for logdir, spec, said in (
            ("gs://bucket/logs", "", "local"),
            ("s3://b", "", "local"),
            ("", "a:/x,b:/y", "--logdir_spec"),
            ("", "", "--logdir"),
            (self.logs / "later", "", "No such file"),
        ):
            with self.subTest(logdir=logdir, spec=spec):
                tab = Tab(logdir, spec)
                document = tab.runs()
                self.assertIn(said, document["problems"][0]["sentence"])
                self.assertEqual(([], True, False), (document["runs"], document["is_complete"], tab.plugin.is_active()))
                self.assertEqual(404, tab.error("view", trace="a.json", view="summary")[0])

    def test_tab_becomes_active_with_the_first_trace(self):
        tab = Tab(self.logs / "later")
        tab.runs()
        self.assertFalse(tab.plugin.is_active())
        tab.runs()  # ends the pass that this began
        self.add("later/" + trace_name())
        tab.runs()
        self.assertTrue(tab.plugin.is_active())
        self.assertEqual(
            ("/index.js", "Profile (tbtrace)"),
            (tab.plugin.frontend_metadata().es_module_path, tab.plugin.frontend_metadata().tab_name),
        )

    def test_tab_follows_what_a_job_does_to_the_log_directory(self):
        first = self.add("run/" + trace_name())
        tab = Tab(self.logs)
        version = tab.windows()[first]["version"]
        self.assertEqual(version, tab.windows()[first]["version"])
        second = self.add("run/" + trace_name(number=1))
        self.assertEqual([first, second], list(tab.windows()))
        with open(self.logs / first, "a", encoding="utf-8") as file:
            file.write("\n")
        self.assertNotEqual(version, tab.windows()[first]["version"])
        os.unlink(self.logs / second)
        self.assertEqual([first], list(tab.windows()))
        self.assertEqual(404, tab.error("view", trace=second, view="summary")[0])
        shutil.rmtree(self.logs / "run")
        self.assertEqual({}, tab.windows())

    def test_tab_looks_at_unchanged_files_once(self):
        self.add("run/rank0.json")
        (self.logs / "run/config.json").write_text(NO_TRACE)
        tab = Tab(self.logs)
        tab.runs()
        look = self.patch_value(scan.look, "look_at", unittest.mock.Mock(side_effect=AssertionError("a second look")))
        self.assertEqual(["run/rank0.json"], list(tab.windows()))
        look.side_effect = lambda root, path: scan.Look.TRACE
        (self.logs / "run/config.json").write_text(NO_TRACE + " ")
        self.assertEqual(2, len(tab.windows()))

    def test_tab_scans_once_for_many_who_ask(self):
        self.add(trace_name())
        tab = Tab(self.logs)
        tab.runs()
        passes = []
        run = scan.Pass.run

        def slow(self):
            passes.append(1)
            time.sleep(0.2)
            return run(self)

        self.patch_value(scan.Pass, "run", slow)
        threads = [threading.Thread(target=tab.runs) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(1, len(passes))

    def test_tab_does_not_wait_for_a_slow_disk(self):
        self.add("a/" + trace_name())
        tab = Tab(self.logs)
        tab.runs()
        self.add("b/" + trace_name())
        go_on = threading.Event()
        self.addCleanup(go_on.set)
        run = scan.Pass.run
        self.patch_value(scan.Pass, "run", lambda self: go_on.wait(30) and run(self))
        before = time.monotonic()
        self.assertEqual(1, len(tab.windows()))  # those of before
        self.assertTrue(tab.plugin.is_active())
        tab.body("view", trace="a/" + trace_name(), view="summary")
        self.assertLess(time.monotonic() - before, 5)
        go_on.set()
        while len(tab.windows()) < 2:
            time.sleep(0.01)

    def test_tab_survives_a_scan_that_fails(self):
        self.add(trace_name())
        tab = Tab(self.logs)
        self.assertEqual(1, len(tab.windows()))
        with unittest.mock.patch.object(scan.Pass, "run", side_effect=RuntimeError("bad")), self.assertLogs("tbtrace"):
            self.assertEqual(1, len(tab.windows()))
            self.assertIn("failed", tab.problems()["."])
        self.assertEqual({}, tab.problems())


class Answers(TabTest):
    def setUp(self):
        super().setUp()
        self.trace = self.add("run/" + trace_name())
        self.tab = Tab(self.logs)
        self.version = self.tab.windows()[self.trace]["version"]

    def test_tab_answers_every_view(self):
        trace = tbtrace.read(STEP, arguments=tbtrace.ARGUMENT_GROUPS)
        for name, _ in tbtrace.views():
            with self.subTest(name):
                self.assertEqual(trace.view(name), self.tab.body("view", trace=self.trace, view=name))
                answer = self.tab.get("view", trace=self.trace, view=name)
                self.assertEqual(
                    "application/octet-stream" if name == "timeline" else "application/json", answer.content_type
                )

    def test_tab_knows_views_without_data(self):
        found = json.loads(self.tab.body("empty", trace=self.trace, version=self.version))["views"]
        answer = self.tab.get("empty", trace=self.trace, version=self.version)
        self.assertIn("max-age", answer.headers["Cache-Control"])
        trace = tbtrace.read(STEP, arguments=tbtrace.ARGUMENT_GROUPS)
        for name, _ in tbtrace.views():
            with self.subTest(name):
                if name == "timeline":
                    continue
                view = json.loads(trace.view(name))
                is_empty = not any(table["rows"] for table in view["tables"]) and not any(
                    stacks["total"] for stacks in view["stacks"]
                )
                self.assertEqual(is_empty and name != "checks", name in found)
        self.assertTrue(found and all(len(why) > 10 for why in found.values()), found)

    def test_tab_answers_sql_or_says_what_it_needs(self):
        tables = json.loads(self.tab.body("sql"))
        self.assertEqual("tbtrace.sql_tables/1", tables["schema"])
        self.assertIn("kernels", [table["name"] for table in tables["tables"]])
        if tables["has_duckdb"]:
            answer = json.loads(self.tab.body("sql", trace=self.trace, query="select 1 as one"))
            self.assertEqual([1], answer["table"]["columns"][0]["values"])
        else:
            status, sentence = self.tab.error("sql", trace=self.trace, query="select 1 as one")
            self.assertEqual(501, status)
            self.assertIn("needs DuckDB", sentence)
        self.assertEqual(400, self.tab.get("sql", query="select 1").status_code)
        self.assertEqual(404, self.tab.get("sql", trace="../secret.json", query="select 1").status_code)

    def test_tab_answers_parts_and_ranges(self):
        trace = tbtrace.read(STEP, arguments=tbtrace.ARGUMENT_GROUPS)
        self.assertEqual(trace.timeline(None, None), self.tab.body("timeline", trace=self.trace))
        part = self.tab.body("timeline", trace=self.trace, from_ns=1000, to_ns=2000)
        self.assertEqual(trace.timeline(1000, 2000), part)
        self.assertNotEqual(trace.timeline(None, None), part)
        event = trace.events(["name", "start_ns", "duration_ns"]).to_dicts()[0]
        answers = [
            self.tab.get(
                "range",
                trace=self.trace,
                track=track,
                start_ns=event["start_ns"],
                duration_ns=event["duration_ns"],
                name=event["name"],
            )
            for track in range(4)
        ]
        found = [json.loads(gzip.decompress(answer.data)) for answer in answers if answer.status_code == 200]
        self.assertEqual(["tbtrace.range/1"], [range["schema"] for range in found])
        self.assertTrue(all(answer.status_code in (200, 404) for answer in answers))

    def test_tab_compares_two_traces(self):
        other = self.add("other/" + trace_name())
        both = {"base": self.trace, "new": other}
        document = json.loads(self.tab.body("compare", **both))
        self.assertEqual("tbtrace.comparison/1", document["schema"])
        self.assertEqual(([self.trace], [other]), (document["diff"]["base"], document["diff"]["new"]))
        self.assertEqual(["cpu", "device"], [stacks["name"] for stacks in document["stacks"]])
        trace = tbtrace.read(STEP, arguments=tbtrace.ARGUMENT_GROUPS)
        self.assertEqual(
            json.loads(tbtrace.comparison(trace, trace, base_name=self.trace, new_name=other)), document
        )
        for stacks in document["stacks"]:
            self.assertEqual(stacks["base_self"], stacks["new_self"])
        version = ",".join(self.tab.windows()[path]["version"] for path in (self.trace, other))
        for given, keep in ((version, "private, max-age=31536000, immutable"), (self.version, "no-store")):
            answer = self.tab.get("compare", **both, version=given)
            self.assertEqual((200, keep), (answer.status_code, answer.headers["Cache-Control"]))
        self.assertEqual(400, self.tab.get("compare", base=self.trace).status_code)
        self.assertEqual(404, self.tab.get("compare", base=self.trace, new="none").status_code)

    def test_tab_keeps_comparisons(self):
        other = self.add("other/" + trace_name())
        both = {"base": self.trace, "new": other}
        first = self.tab.body("compare", **both)
        reads, tbtrace_read = [], tbtrace.read
        tbtrace.read = lambda *args, **more: reads.append(args) or tbtrace_read(*args, **more)
        try:
            self.assertEqual(first, Tab(self.logs).body("compare", **both))
            self.assertEqual([], reads)
        finally:
            tbtrace.read = tbtrace_read

    def test_tab_says_how_long_answers_may_be_kept(self):
        for route, more in (("view", {"view": "steps"}), ("timeline", {})):
            for version, keep in (
                (self.version, "private, max-age=31536000, immutable"),
                ("older", "no-store"),
                (None, "no-store"),
            ):
                query = {"trace": self.trace, **more, **({"version": version} if version else {})}
                with self.subTest(route=route, version=version):
                    answer = self.tab.get(route, **query)
                    self.assertEqual(
                        (200, keep, "nosniff", "Accept-Encoding"),
                        (
                            answer.status_code,
                            answer.headers["Cache-Control"],
                            answer.headers["X-Content-Type-Options"],
                            answer.headers["Vary"],
                        ),
                    )
        self.assertEqual("no-store", self.tab.get("runs").headers["Cache-Control"])
        self.assertEqual(
            "no-store", self.tab.get("view", trace="x", view="steps", version=self.version).headers["Cache-Control"]
        )

    def test_tab_compresses_for_those_who_accept_it(self):
        plain = self.tab.body("view", trace=self.trace, view="operators")
        for accepts, encoding in (
            ("gzip", "gzip"),
            ("br, gzip;q=0.5", "gzip"),
            ("*", "gzip"),
            ("gzip;q=0", None),
            ("", None),
            ("br", None),
        ):
            with self.subTest(accepts):
                answer = self.tab.get("view", accepts=accepts, trace=self.trace, view="operators")
                self.assertEqual(encoding, answer.headers.get("Content-Encoding"))
                self.assertEqual(plain, gzip.decompress(answer.data) if encoding else answer.data)

    def test_tab_answers_head_without_a_body(self):
        for accepts in ("gzip", ""):
            answer = self.tab.get("view", accepts=accepts, method="HEAD", trace=self.trace, view="operators")
            self.assertEqual((200, b""), (answer.status_code, answer.data))

    def test_tab_only_reads(self):
        for route in self.tab.apps:
            for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
                answer = self.tab.get(route[1:], method=method, trace=self.trace, view="steps")
                self.assertEqual((405, "GET, HEAD"), (answer.status_code, answer.headers["Allow"]), (route, method))

    def test_tab_serves_no_other_files(self):
        for trace in (
            "../x.json",
            "..",
            "/etc/passwd",
            "%2e%2e/x",
            "run/../" + self.trace,
            "./" + self.trace,
            self.trace + "\0",
            "run",
            "",
            ".",
            str(self.logs / self.trace),
            self.trace.upper(),
            "run//" + trace_name(),
            self.trace + "/",
        ):
            for route, more in (
                ("view", {"view": "steps"}),
                ("timeline", {}),
                ("range", {"track": 0, "start_ns": 0, "duration_ns": 0, "name": "x"}),
            ):
                with self.subTest(route=route, trace=trace):
                    self.assertEqual(404, self.tab.error(route, trace=trace, **more)[0])

    def test_tab_says_what_is_wrong_with_parameters(self):
        for route, query, said in (
            ("view", {}, "`trace` is missing"),
            ("view", {"trace": self.trace}, "`view` is missing"),
            ("view", {"trace": self.trace, "view": "kernel"}, "Did you mean `kernels`?"),
            ("view", {"trace": self.trace, "view": "\0"}, "Views are summary"),
            ("timeline", {}, "`trace` is missing"),
            ("timeline", {"trace": self.trace, "from_ns": "1.5"}, "whole number"),
            ("timeline", {"trace": self.trace, "to_ns": str(2**63)}, "whole number"),
            ("timeline", {"trace": self.trace, "from_ns": "5", "to_ns": "5"}, "less than"),
            ("range", {"trace": self.trace}, "`track` is missing"),
            ("range", {"trace": self.trace, "track": "-1"}, "from 0"),
            ("range", {"trace": self.trace, "track": "\u0661", "start_ns": 0}, "whole number"),
            ("range", {"trace": self.trace, "track": 0, "start_ns": 0, "duration_ns": 1}, "`name` is missing"),
        ):
            with self.subTest(route=route, query=query):
                status, sentence = self.tab.error(route, **query)
                self.assertEqual((400, True), (status, said in sentence), sentence)
        status, sentence = self.tab.error("range", trace=self.trace, track=0, start_ns=0, duration_ns=1, name="nothing")
        self.assertEqual((404, True), (status, "does not have this range" in sentence))

    def test_tab_says_what_is_wrong_with_files(self):
        (self.logs / "text.pt.trace.json").write_text("no JSON at all")
        half = gzip.compress(STEP.read_bytes())[:40]
        (self.logs / "half.pt.trace.json.gz").write_bytes(half)
        self.add("gone.json")
        self.tab.runs()
        status, sentence = self.tab.error("view", trace="text.pt.trace.json", view="steps")
        self.assertEqual(
            (422, "text.pt.trace.json: ", True),
            (status, sentence[:20], sentence.endswith("less than a minute ago: it may still be written.")),
        )
        self.assertEqual(422, self.tab.error("view", trace="half.pt.trace.json.gz", view="steps")[0])
        os.utime(self.logs / "text.pt.trace.json", (1, 1))
        status, sentence = self.tab.error("view", trace="text.pt.trace.json", view="steps")
        self.assertEqual((422, False), (status, "may still be written" in sentence))
        self.assertNotIn("/proc", sentence)
        os.unlink(self.logs / "gone.json")
        self.assertEqual(
            (404, "gone.json is no longer there."), self.tab.error("view", trace="gone.json", view="steps")
        )

    def test_tab_does_not_open_what_replaced_a_trace(self):
        secret = self.folder / "secret.json"
        shutil.copy(STEP, secret)
        file = self.add("a/file.json")
        fifo = self.add("a/fifo.json")
        folder = self.add("b/" + trace_name())
        self.tab.runs()
        (self.logs / file).unlink()
        (self.logs / file).symlink_to(secret)
        (self.logs / fifo).unlink()
        os.mkfifo(self.logs / fifo)
        outside = self.folder / "outside"
        shutil.move(self.logs / "b", outside)
        (self.logs / "b").symlink_to(outside)
        for trace in (file, fifo, folder):
            self.assertEqual((404, f"{trace} is no longer there."), self.tab.error("view", trace=trace, view="steps"))

    def test_tab_shows_no_stack_of_an_error(self):
        self.patch_value(tbtrace, "read", unittest.mock.Mock(side_effect=RuntimeError("the inside")))
        with self.assertLogs("tbtrace") as logged:
            status, sentence = self.tab.error("view", trace=self.trace, view="steps")
        self.assertEqual((500, True, False), (status, "the inside" in logged.output[0], "inside" in sentence))
        tbtrace.read.side_effect = MemoryError
        self.assertIn("enough memory", self.tab.error("view", trace=self.trace, view="steps")[1])

    def test_tab_serves_its_page(self):
        for route, kind in (("index.js", "text/javascript; charset=utf-8"), ("tab.css", "text/css; charset=utf-8")):
            answer = self.tab.get(route)
            self.assertEqual(
                (200, kind, "no-store", "nosniff"),
                (
                    answer.status_code,
                    answer.content_type,
                    answer.headers["Cache-Control"],
                    answer.headers["X-Content-Type-Options"],
                ),
            )
            self.assertGreater(len(gzip.decompress(answer.data)), 100)


if __name__ == "__main__":
    case_of = {name: case.__name__ for case in (Scans, Answers) for name in vars(case)}
    unittest.main(argv=[sys.argv[0], *(f"{case_of[f'test_{name}']}.test_{name}" for name in sys.argv[1:])])
