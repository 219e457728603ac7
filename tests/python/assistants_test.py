#!/usr/bin/env python3
"""Do the tools for assistants answer with the package's figures, within their budget, and read nothing else?

    assistants_test.py [NAME...]

Each method is a CTest test python.NAME.
"""

import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest
import unittest.mock

import tbtrace
from assistants_folder import DATA, HOSTILE, SECRET, ToolsTest, made_tools
from tbtrace.assistants import answer
from tbtrace.assistants.files import Files
from tbtrace.assistants.tools import TOOLS
from tbtrace.tab.trace_memory import TraceMemory

IDS = re.compile(r'"((?:f|k|op|m|l|step|gap|e):[^"\\\\]+)"')


class Assistants(ToolsTest):
    def asked(self, tool, **given):
        text, is_answer = self.tools.call(tool, given)
        self.assertTrue(is_answer, f"{tool} {given}: {text}")
        self.assertLessEqual(answer.tokens_of(text), given.get("budget", answer.TOKENS), f"{tool} {given}")
        return json.loads(text)

    def refused(self, tool, **given):
        text, is_answer = self.tools.call(tool, given)
        self.assertFalse(is_answer, f"{tool} {given}: {text}")
        self.assertLess(answer.tokens_of(text), answer.LEAST_TOKENS)
        return json.loads(text)["error"]

    @staticmethod
    def is_near(exact, shown):
        return exact == shown or (isinstance(exact, float) and abs(exact - shown) <= 1e-3 * abs(exact))

    def rows(self, found, key="rows"):
        head, *rows = found[key]
        return [dict(zip(head, row)) for row in rows]

    def test_assistants_answer_with_the_figures_of_the_package(self):
        trace = tbtrace.read(DATA / "gpu_step.json", arguments=tbtrace.ARGUMENT_GROUPS)
        for name, expected in {
            "kernels": trace.kernels(),
            "kernels_by_operator": trace.kernels("operator"),
            "operators": trace.operators(figures="exact"),
            "steps": trace.steps(),
            "gaps": trace.gaps(),
            "memory_alive": trace.memory("alive"),
            "checks": trace.checks(),
        }.items():
            with self.subTest(name):
                found = self.rows(self.asked("table", trace="gpu_step.json", what=name, columns="*", budget=9000))
                self.assertEqual(len(expected), len(found))
                for row in found:
                    numbers = {
                        key: value
                        for key, value in row.items()
                        if isinstance(value, (int, float)) and key in expected.columns
                    }
                    self.assertGreater(len(numbers), 0)
                    self.assertTrue(
                        any(
                            all(self.is_near(one[key], value) for key, value in numbers.items())
                            for one in expected.to_dicts()
                        ),
                        row,
                    )
        findings = self.rows(self.asked("summary", trace="gpu_step.json"), "findings")
        known = trace.summary().findings
        self.assertEqual([f"f:{one['id']}" for one in known], [one["id"] for one in findings])
        self.assertEqual([one["gain_ns"] for one in known], [one["gain_ns"] for one in findings])
        one = self.asked("finding", trace="gpu_step.json", id=findings[0]["id"])
        self.assertEqual(known[0]["remedy"], one["remedy"])
        self.assertEqual(known[0]["evidence"][0]["value"], self.rows(one, "evidence")[0]["value_ns"])

    def test_assistants_ids_can_be_asked_about(self):
        for trace in ("gpu_step.json", "job", "stacks.json", "hostile.json.gz"):
            asked = set()
            answers = [self.asked("summary", trace=trace, budget=6000)]
            for what in ("kernels", "operators", "steps", "gaps", "modules", "lines"):
                answers.append(self.asked("table", trace=trace, what=what, budget=1500))
            ranks = {"rank_number": 1} if trace == "job" else {}
            answers.append(self.asked("timeline", trace=trace, from_ns=0, to_ns=10**7, **ranks))
            for text in map(json.dumps, answers):
                asked |= set(IDS.findall(text))
            self.assertGreater(len(asked), 5, trace)
            for name in sorted(asked):
                tool = "finding" if name.startswith("f:") else "event"
                self.assertEqual(name, self.asked(tool, trace=trace, id=name)["id"], trace)
        self.assertIn("no row", self.refused("event", trace="gpu_step.json", id="k:00000000"))
        self.assertIn("An id is one", self.refused("event", trace="gpu_step.json", id="../../etc"))
        self.assertIn("28 events", self.refused("event", trace="gpu_step.json", id="e:28"))
        self.assertIn("f:blocking_copies", self.refused("finding", trace="gpu_step.json", id="f:launch_bound"))

    def test_assistants_say_what_was_not_recorded(self):
        opened = self.asked("open", path="cpu_steps.json")
        self.assertEqual("not_recorded", opened["recorded"]["device_activities"])
        for what in ("kernels", "gpu", "gaps", "lines", "modules"):
            found = self.asked("table", trace="cpu_steps.json", what=what)
            self.assertEqual("not_recorded", found["rows"], what)
            self.assertIn("record", found["notes"][0])
        self.assertEqual("none", self.asked("table", trace="cpu_steps.json", what="marks")["rows"])
        steps = self.asked("table", trace="cpu_steps.json", what="steps")
        self.assertIn("kernel_ns", steps["not_recorded"])
        self.assertNotIn("kernel_ns", json.dumps([steps["rows"], steps["totals"]]))
        summary = self.asked("summary", trace="cpu_steps.json")
        self.assertIn("kernels", summary["not_recorded"])
        self.assertIn("communication", summary["not_recorded"])
        self.assertIn("serving", summary["none"])
        summary = self.asked("summary", trace="serving.json")
        self.assertIn("profile_memory", summary["not_recorded"])
        self.assertIn("memory", summary["not_recorded"])
        self.assertNotIn(
            "self_device_time_total_ns",
            json.dumps(self.asked("table", trace="cpu_steps.json", what="operators")["rows"]),
        )

    def test_assistants_say_what_was_not_recorded_wherever_it_is_asked_for(self):
        def sql(query, trace="cpu_steps.json"):
            return self.asked("sql", trace=trace, query=query).get("not_recorded")

        self.assertEqual(["kernels"], sql("select count(*), sum(total_ns) from kernels"))
        self.assertEqual(["device_time_total_ns"], sql("select sum(device_time_total_ns) from operators"))
        self.assertIn("kernel_ns", sql("select * from steps"))
        self.assertIn("device_activities", sql("select count(*) from events where kind = 'kernel'"))
        self.assertIsNone(sql("select count(*), sum(self_cpu_time_total_ns) from operators -- kernels"))
        self.assertEqual(["lines"], sql("select count(*) from lines", "gpu_step.json"))
        for by, need in (("kernel", "device_activities"), ("line", "with_stack")):
            found = self.asked("compare", base="cpu_steps.json", new="cpu_steps.json", by=by)
            self.assertEqual("not_recorded", found[f"changes_by_{by}"])
            self.assertEqual({"base": need, "new": need}, found["not_recorded"])
        for id, said in (
            ("k:12345678", "not_recorded.*record CUDA activities"),
            ("gap:0@100", "not_recorded"),
            ("l:12345678", "not_recorded"),
            ("step:77", "the steps are 7 to 9"),
            ("op:12345678", "no row with this id.$"),
        ):
            self.assertRegex(self.refused("event", trace="cpu_steps.json", id=id), said)

    def test_assistants_see_recordings_without_frames_marks_and_ends(self):
        trace = json.loads((DATA / "gpu_step.json").read_text())
        operator = next(event for event in trace["traceEvents"] if event.get("cat") == "cpu_op")
        operator["args"]["Call stack"] = "train.py(3): main"
        marked = [event for event in trace["traceEvents"] if "ProfilerStep" not in event["name"]]
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "old.json").write_text(json.dumps(trace))
            (folder / "unmarked.json").write_text(json.dumps({**trace, "traceEvents": marked}))
            text = (DATA / "gpu_step.json").read_text()
            (folder / "cut.json").write_text(text[: len(text) * 2 // 3])
            tools = made_tools(folder)
            self.addCleanup(tools.close)

            def asked(tool, **given):
                return json.loads(tools.call(tool, given)[0])

            recorded = asked("open", path="old.json")["recorded"]
            self.assertEqual(("recorded", "not_recorded"), (recorded["with_stack"], recorded["with_modules"]))
            self.assertEqual("not_recorded", asked("table", trace="old.json", what="modules")["rows"])
            self.assertEqual("[all]", self.rows(asked("table", trace="unmarked.json", what="steps"))[0]["name"])
            self.assertIn("no marks", asked("event", trace="unmarked.json", id="step:1")["error"])
            for budget in (300, 400, 500, 700, 2000):
                self.assertEqual({"input_truncated": 1}, asked("summary", trace="cut.json", budget=budget)["issues"])
            check = self.rows(asked("table", trace="cut.json", what="checks"))[0]["id"]
            self.assertEqual("f:input_truncated", check)
            self.assertIn("ends too early", asked("finding", trace="cut.json", id=check)["cause"])

    def test_assistants_names_are_data(self):
        texts = []
        for tool, given in (
            ("open", {"path": "hostile.json.gz"}),
            ("summary", {}),
            ("table", {"what": "kernels"}),
            ("table", {"what": "operators", "columns": "*"}),
            ("table", {"what": "kernels_by_operator_name"}),
            ("table", {"what": "gaps"}),
            ("timeline", {"from_ns": 0, "to_ns": 10**6}),
            ("event", {"id": "e:1"}),
            ("event", {"id": "e:4"}),
            ("compare", {"base": "hostile.json.gz", "new": "gpu_step.json", "by": "operator"}),
            ("sql", {"query": "select name, duration_ns from events"}),
        ):
            if "path" not in given and "base" not in given:
                given["trace"] = "hostile.json.gz"
            with self.subTest(tool=tool, **given):
                self.asked(tool, **given)
                text, _ = self.tools.call(tool, given)
                texts.append(text)
                for letter in text:
                    self.assertTrue(letter == "\n" or letter.isprintable(), f"{letter!r} in {text[:300]}")
                # A name cannot begin a line or a member: lines begin as ours do.
                for line in text.split("\n"):
                    self.assertRegex(line, r'^(\{|"[a-z_]+":| \[)')
                self.assertNotIn("injected", json.loads(text))
        self.assertTrue(any("Ignore previous" in text for text in texts), "names are shown")
        self.assertTrue(any("caf\u00e9" in text for text in texts), "letters stay readable")
        found = self.rows(self.asked("table", trace="hostile.json.gz", what="operators", columns="key,id"))
        names = {row["key"] for row in found}
        self.assertTrue(set(HOSTILE[:3]) <= names, names)
        self.assertLessEqual(max(map(len, names)), answer.LONGEST_NAME)

    def test_assistants_stay_within_their_budget(self):
        for trace in ("gpu_step.json", "job", "hostile.json.gz", "before.json.gz"):
            ranks = {"rank_number": 0} if trace == "job" else {}
            for budget in (answer.LEAST_TOKENS, 500, 1000, 5000):
                self.asked("open", path=trace, budget=budget)
                self.asked("open", budget=budget)
                self.asked("summary", trace=trace, budget=budget)
                self.asked("timeline", trace=trace, from_ns=0, to_ns=10**8, budget=budget, **ranks)
                self.asked("compare", base=trace, new="after.json.gz", budget=budget, by="operator")
                for name in IDS.findall(self.tools.call("summary", {"trace": trace, "budget": 20_000})[0]):
                    self.asked("finding" if name.startswith("f:") else "event", trace=trace, id=name, budget=budget)
                for what in ("operators", "kernels", "steps", "gaps", "model", "checks", "threads"):
                    self.asked("table", trace=trace, what=what, columns="*", budget=budget)
        self.assertIn("from 300 to 20000", self.refused("summary", trace="job", budget=1))

    def test_assistants_go_on_where_an_answer_was_cut(self):
        seen = []
        after = 0
        while True:
            found = self.asked("table", trace="before.json.gz", what="operators", after=after, budget=400)
            seen += self.rows(found)
            if "left" not in found:
                break
            self.assertIn(f"the same with after={len(seen)}", found["next"])
            after = len(seen)
        trace = tbtrace.read(DATA / "compare/before.json.gz")
        expected = [row["key"] for row in trace.operators(figures="exact")]
        self.assertEqual(sorted(expected), sorted(row["key"] for row in seen))
        self.assertEqual("none", self.asked("table", trace="gpu_step.json", what="kernels", filter="nowhere")["rows"])

    def test_assistants_say_how_to_get_what_was_left_out(self):
        first = r"the same with budget=(\d+)"
        for tool, given in (
            ("table", {"what": "kernels", "columns": "*"}),
            ("table", {"what": "steps", "columns": "*"}),
            ("summary", {}),
            ("finding", {"id": "f:low_gpu_utilization"}),
            ("event", {"id": "step:1"}),
            ("event", {"id": "e:1"}),
            ("sql", {"query": "select *, name as a, name as b, name as c from kernels"}),
        ):
            with self.subTest(tool, **given):
                found = self.asked(tool, trace="gpu_step.json", budget=300, **given)
                self.assertRegex(found["next"][0], first)
                budget = int(re.search(first, found["next"][0])[1])
                self.assertGreater(budget, 300)
                found = self.asked(tool, trace="gpu_step.json", budget=budget, **given)
                if "left" in found:
                    self.assertRegex(found["next"][0], r"the same with after=[1-9]")
        found = self.asked("summary", trace="job", budget=300)
        self.assertTrue(any(call.startswith("table(") for call in found["next"]), found["next"])
        self.assertEqual(3, len(self.rows(self.asked("open", path="job", after=1), "traces")))
        self.assertIn("after skips", self.refused("open", path="gpu_step.json", after=1))
        for tool, given in (
            ("table", {"trace": "gpu_step.json", "what": "kernels"}),
            ("timeline", {"trace": "gpu_step.json", "from_ns": 0, "to_ns": 10**6}),
            ("sql", {"trace": "gpu_step.json", "query": "select name from kernels"}),
        ):
            found = self.asked(tool, after=99, **given)
            self.assertEqual("none", found["rows"])
            self.assertGreater(found["all_rows"], 3)

    def test_assistants_choose_rows_and_columns(self):
        found = self.asked(
            "table", trace="gpu_step.json", what="kernels", columns="short_name,total_ns", sort_by="count"
        )
        self.assertEqual(["short_name", "total_ns"], found["rows"][0])
        found = self.asked("table", trace="gpu_step.json", what="kernels", filter="GEMM")
        self.assertEqual((2, 4), (len(self.rows(found)), found["of_rows"]))
        self.assertIn("total_ns", self.refused("table", trace="gpu_step.json", what="kernels", columns="nothing"))
        self.assertIn("nothing", self.refused("table", trace="gpu_step.json", what="kernels", sort_by="nothing"))
        self.assertIn("gaps", self.refused("table", trace="gpu_step.json", what="nothing"))
        self.assertIn("trace is needed", self.refused("summary"))
        self.assertIn("no parameter 'x'", self.refused("summary", trace="job", x=1))
        self.assertIn("is a text", self.refused("compare", base="job", new="job", by="\ud800"))
        self.assertIn("whole number", self.refused("timeline", trace="gpu_step.json", from_ns=0.5, to_ns=True))

    def test_assistants_compare(self):
        same = self.asked("compare", base="gpu_step.json", new="gpu_step.json")
        self.assertEqual(("same", True), (same["verdict"], same["same_recording"]))
        found = self.asked("compare", base="before.json.gz", new="after.json.gz", by="operator")
        diff = tbtrace.diff(str(DATA / "compare/before.json.gz"), str(DATA / "compare/after.json.gz"))
        self.assertEqual(diff.verdict, found["verdict"])
        first = diff.table("operator").to_dicts()[0]
        self.assertEqual(
            (first["key"], round(first["change_ns"])),
            (
                self.rows(found, "changes_by_operator")[0]["key"],
                round(self.rows(found, "changes_by_operator")[0]["change_ns"]),
            ),
        )
        self.assertIn("by", self.refused("compare", base="job", new="job", by="nothing"))
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "nothing.json").write_text('{"traceEvents":[]}')
            shutil.copy(DATA / "gpu_step.json", folder)
            trace = json.loads((DATA / "gpu_step.json").read_text())
            for event in trace["traceEvents"]:
                event["dur"] = event.get("dur", 0) * (0.5 if event.get("cat") in ("kernel", "cpu_op") else 1)
            (folder / "later.json").write_text(json.dumps(trace))
            tools = made_tools(folder)
            for by in ("kernel", "operator"):
                given = {"base": "gpu_step.json", "new": "later.json", "by": by}
                rows = self.rows(json.loads(tools.call("compare", given)[0]), f"changes_by_{by}")
                named = [row for row in rows if row["id"]]
                self.assertGreater(len(named), 1, by)
                one = json.loads(tools.call("event", {"trace": "later.json", "id": named[0]["id"]})[0])
                self.assertEqual(named[0]["key"], one["name" if by == "kernel" else "key"])
            step = json.loads(tools.call("compare", {"base": "nothing.json", "new": "gpu_step.json"})[0])["step"]
            self.assertNotIn("change_share", step)

    def test_assistants_timeline_says_what_it_leaves_out(self):
        found = self.asked("timeline", trace="gpu_step.json", from_ns=310000, to_ns=460000)
        names = {row["name"] for row in self.rows(found)}
        self.assertIn("aten::mm", names)
        self.assertNotIn("aten::addmm", names)
        with unittest.mock.patch("tbtrace.assistants.timeline._MOST_LOOKED_AT", 5):
            found = self.asked("timeline", trace="gpu_step.json", from_ns=0, to_ns=900000)
        self.assertEqual(23, found["without_the_shortest"]["events"])
        self.assertEqual("none", self.asked("timeline", trace="gpu_step.json", from_ns=10**9, to_ns=10**10)["rows"])
        self.assertIn("after from_ns", self.refused("timeline", trace="gpu_step.json", from_ns=5, to_ns=5))
        self.assertIn("rank_number", self.refused("timeline", trace="job", from_ns=0, to_ns=5))

    def test_assistants_read_only_below_their_folders(self):
        outside = self.folder.parent / "outside/secret.json"
        os.mkfifo(self.folder / "pipe.json")
        self.addCleanup((self.folder / "pipe.json").unlink)
        paths = [
            "../outside/secret.json",
            "away/secret.json",
            "linked.json",
            str(outside),
            "job/../../outside/secret.json",
            "away",
            "..",
            "./linked.json",
            "file://" + str(outside),
            "~/x.json",
            "pipe.json",
            "\0",
            "a\0b",
            "\ud800",
            "/proc/self/environ",
            "s3://bucket/x.json",
            "job/../gpu_step.json",
            "",
            "nothing.json",
            "x" * 900,
        ]
        for path in paths:
            for tool, given in (
                ("open", {"path": path}),
                ("summary", {"trace": path}),
                ("compare", {"base": "gpu_step.json", "new": path}),
            ):
                if tool == "open" and not path:
                    continue
                with self.subTest(tool=tool, path=path):
                    self.assertNotIn(SECRET, self.refused(tool, **given))
        listed = {row["path"] for row in self.rows(self.asked("open"), "traces")}
        self.assertIn("job/rank0.json", listed)
        self.assertFalse({"linked.json", "away/secret.json", "pipe.json"} & listed)
        self.assertIn("open with its path", self.refused("summary", trace="t:000000000000"))
        for query in (
            f"select * from '{outside}'",
            f"select * from read_text('{outside}')",
            "copy (select 1) to '/tmp/x'",
            "attach '/tmp/x.db'",
            "select * from glob('/*')",
            "install httpfs",
        ):
            with self.subTest(query):
                self.assertNotIn(SECRET, self.refused("sql", trace="gpu_step.json", query=query))
        self.assertEqual(
            [["count"], [4]],
            self.asked("sql", trace="gpu_step.json", query="select count(*) as count from kernels")["rows"],
        )

    def test_assistants_have_several_folders(self):
        files = Files([str(self.folder / "job"), str(self.folder)])
        self.assertIn("job/rank0.json", [file.trace for file in files.listed()[0]])
        self.assertEqual(0, files.open("job/rank0.json").summary["run"][0]["rank"])
        self.assertEqual(4, len(files.open("job").traces))
        self.assertIn("traces/job/rank0.json", [file.trace for file in files.listed()[0]])
        with self.assertRaisesRegex(ValueError, "same last name"):
            Files([str(self.folder / "job"), "/tmp/../" + str(self.folder / "job")])
        with self.assertRaisesRegex(ValueError, "is not a folder"):
            Files([str(self.folder / "gpu_step.json")])

    def test_assistants_answer_about_the_content_that_was_opened(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "a.json").write_bytes((DATA / "gpu_step.json").read_bytes())
            (folder / "b.json").write_bytes((DATA / "cpu_steps.json").read_bytes())
            tools = made_tools(folder, memory=TraceMemory(most_bytes=1))
            first, second = (
                json.loads(tools.call("open", {"path": path})[0])["trace"] for path in ("a.json", "b.json")
            )
            self.assertNotEqual(first, second)
            self.assertTrue(tools.call("table", {"trace": first, "what": "kernels"})[1], "it is read again")
            (folder / "a.json").write_bytes((DATA / "serving.json").read_bytes())
            self.assertTrue(tools.call("summary", {"trace": first})[1], "it is still in memory")
            self.assertTrue(tools.call("summary", {"trace": second})[1])
            text, is_answer = tools.call("summary", {"trace": first})
            self.assertFalse(is_answer)
            self.assertIn("has changed", text)
            self.assertIn("has changed", tools.call("summary", {"trace": "a.json"})[0])
            third = json.loads(tools.call("open", {"path": "a.json"})[0])["trace"]
            self.assertNotEqual(first, third)

    def test_assistants_say_why_a_file_cannot_be_read(self):
        self.assertIn("is empty", self.refused("open", path="empty.json"))
        self.assertNotIn("/proc/", self.refused("open", path="empty.json"))
        found = self.asked("open", path="damaged.json")
        self.assertEqual({"input_truncated": 1, "event_unreadable": 1}, found["issues"])

    def test_assistants_open_a_job_without_what_cannot_be_read(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            job = shutil.copytree(DATA / "slow_loader_job", folder / "job.")
            (job / "rank4.json").write_text("")
            tools = made_tools(folder)
            self.addCleanup(tools.close)
            for tool, given in (("open", {"path": "job."}), ("summary", {"trace": "job."})):
                found = json.loads(tools.call(tool, given)[0])
                (row,) = self.rows(found, "traces_that_cannot_be_read")
                self.assertEqual("rank4.json", row["path"])
                self.assertIn("is empty", row["why"])
            for tool, given in (
                ("table", {"trace": "job.", "what": "stragglers"}),
                ("sql", {"trace": "job.", "query": "select count(*) from steps"}),
                ("compare", {"base": "job.", "new": "job./rank0.json"}),
            ):
                self.assertEqual(1, json.loads(tools.call(tool, given)[0])["traces_that_cannot_be_read"])
            before = json.loads(tools.call("event", {"trace": "job.", "id": "step:13/2"})[0])
            shutil.copy(DATA / "gpu_step.json", job / "another.json")
            self.assertIn("has changed", tools.call("event", {"trace": "job.", "id": "step:13/2"})[0])
            self.assertIn("another.json", tools.call("open", {"path": "job."})[0])
            after = json.loads(tools.call("event", {"trace": "job.", "id": "step:13/3"})[0])
            self.assertEqual((2, "rank2.json"), (before["rank"], before["input"]))
            self.assertEqual((2, "rank2.json"), (after["rank"], after["input"]))
            (job / "another.json").unlink()
            for path in job.iterdir():
                path.write_text("")
            self.assertIn("is empty", tools.call("open", {"path": "job."})[0])
            shutil.copy(DATA / "gpu_step.json", job / "rank1.json")
            for number in (0, 2, 3, 4):
                (job / f"rank{number}.json").unlink()
            self.assertTrue(tools.call("open", {"path": "job."})[1], "the only one is opened")

    def test_assistants_show_whole_sentences_and_numbers(self):
        (check,) = self.rows(self.asked("table", trace="gpu_step.json", what="checks"))
        (known,) = tbtrace.read(DATA / "gpu_step.json").checks().to_dicts()
        self.assertEqual((known["cause"], known["remedy"]), (check["cause"], check["remedy"]))
        self.assertGreater(len(known["remedy"]), answer.LONGEST_NAME)
        found = self.asked("sql", trace="gpu_step.json", query="select 1.5::decimal(10, 3) as a, 2::decimal(5, 0) as b")
        self.assertEqual([["a", "b"], [1.5, 2.0]], found["rows"])

    def test_assistants_have_few_tools(self):
        self.assertLessEqual(len(TOOLS), 8)
        for name, tool in TOOLS.items():
            self.assertLess(answer.tokens_of(json.dumps(tool.schema()) + tool.meaning), 420, name)
            self.assertFalse(tool.schema()["additionalProperties"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(f"Assistants.test_{name}" for name in sys.argv[1:])])
