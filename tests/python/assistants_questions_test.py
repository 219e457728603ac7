#!/usr/bin/env python3
"""Are the facts that questions need in few answers, and does the grading see what is wrong?

    assistants_questions_test.py [NAME...]

Each method is a CTest test python.NAME. The questions, and who asks them, are in benchmarks/agents/.
"""

import json
import pathlib
import sys
import tempfile
import unittest

from assistants_folder import ROOT

sys.path.insert(0, str(ROOT / "benchmarks/agents"))

import truth  # noqa: E402
from client import Client, kinds  # noqa: E402
from grading import Fact, lines_of  # noqa: E402
from questions import QUESTIONS  # noqa: E402
from run import made_folders, measured, missing_facts, with_tools  # noqa: E402
from tbtrace.assistants.files import Files  # noqa: E402
from tbtrace.assistants.tools import Tools  # noqa: E402


def times(value, factor):
    """An answer with other figures. What counts a few things stays."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return round(value * factor) if abs(value) >= 10 else value
    if isinstance(value, float):
        return value * factor
    if isinstance(value, list):
        return [times(part, factor) for part in value]
    return {key: times(part, factor) for key, part in value.items()} if isinstance(value, dict) else value


class Questions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        folders = made_folders(pathlib.Path(folder.name))
        cls.tools = Tools(Files(folders))
        cls.questions = measured(folders)

    def lines_for(self, question, factor=1):
        answers = Client(self.tools).answers(question)
        return [line for text in answers for line in lines_of(json.dumps(times(json.loads(text), factor)))]

    def test_assistants_questions_are_answered_as_the_page_says(self):
        self.assertEqual((60, 15), (len(QUESTIONS), sum(each.is_trap for each in QUESTIONS)))
        self.assertLessEqual({each.kind for each in QUESTIONS}, set(kinds()))
        graded = with_tools(self.tools, self.questions, False)
        self.assertIn(graded.row(), (ROOT / "docs/agents.md").read_text(encoding="utf-8"))
        self.assertGreaterEqual(graded.right + graded.right_traps, 54)

    def test_assistants_questions_are_not_answered_by_answers_to_others(self):
        given = [self.lines_for(each) for each in self.questions]
        wrong = [each for number, each in enumerate(self.questions) if missing_facts(each, given[number - 7])]
        self.assertGreaterEqual(len(wrong), 58)

    def test_assistants_questions_are_not_answered_by_other_figures(self):
        for question in self.questions:
            facts = [fact for fact in question.facts if fact.key and fact.truth != 0]
            if not any(abs(fact.truth) >= 10 or fact.truth % 1 for fact in facts):
                continue
            for factor in (0.9, 1.1):
                with self.subTest(question.text, factor=factor):
                    self.assertNotEqual([], missing_facts(question, self.lines_for(question, factor)))

    def test_assistants_questions_are_graded_by_figures(self):
        text = (
            '{"findings":[["id","share"],["f:a",0.4],["f:b",0.2]],"rows":"none","step":{"change":0.01},'
            '"gpu":[["idle_causes"],[{"a_ns":10,"b_ns":20}]]}'
        )
        lines = lines_of(text)
        self.assertTrue(Fact(r"id=f:a\b", "share", 0.403).is_in(lines))
        self.assertFalse(Fact(r"id=f:a\b", "share", 0.405).is_in(lines))
        self.assertFalse(Fact(r"id=f:b\b", "share", 0.4).is_in(lines))
        self.assertTrue(Fact("^rows=none").is_in(lines))
        self.assertFalse(Fact("f:a", is_absent=True).is_in(lines))
        self.assertTrue(Fact("^step", "change", 0.01).is_in(lines))
        self.assertTrue(Fact("idle_causes", r"idle_causes\.b_ns", 20, is_largest=True).is_in(lines))
        self.assertTrue(Fact("idle_causes", r"idle_causes\.a_ns", 10).is_in(lines))
        self.assertFalse(Fact("idle_causes", r"idle_causes\.a_ns", 10, is_largest=True).is_in(lines))
        self.assertTrue(Fact("mm", "share", 40e6).may_be_in(["aten::mm  12.1%  40.000ms"], True))
        self.assertFalse(Fact("mm", "share", 40e6).may_be_in(["aten::mm  12.1%  41.500ms"], True))
        self.assertTrue(Fact("mm", "share", 40e6).may_be_in(["aten::mm  12.1%  41.500ms"], False))

    def test_assistants_questions_have_a_truth_of_their_own(self):
        """A loader of 4 us, a kernel of 10, the loader in a gap of 6, a copy half beside a kernel, a gap of 6."""
        spans = [
            ("enumerate(DataLoader)#x", "user_annotation", 0, 4),
            ("gemm", "kernel", 4, 10),
            ("enumerate(DataLoader)#x", "user_annotation", 12, 8),
            ("gemm", "kernel", 20, 4),
            ("Memcpy DtoH", "gpu_memcpy", 22, 4),
            ("gemm", "kernel", 32, 2),
        ]
        events = [{"ph": "X", "name": name, "cat": cat, "ts": at, "dur": dur} for name, cat, at, dur in spans]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"traceEvents": events}, file)
            file.flush()
            recording = truth.Recording(pathlib.Path(file.name))
        self.assertEqual((30, [(14, 20, "gemm"), (26, 32, "Memcpy DtoH")]), (recording.window_us, recording.gaps()))
        self.assertEqual(18 / 30, truth.busy(recording))
        self.assertEqual(6000, truth.during_ns("DataLoader")(recording))
        self.assertEqual(6000, truth.after_ns("DtoH")(recording))
        self.assertEqual(2000, truth.alone_ns("Memcpy")(recording))
        self.assertEqual(6000, truth.late_launches_ns(recording))
        self.assertEqual(0.4, truth.share(truth.idle_ns)(recording))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(f"Questions.test_{name}" for name in sys.argv[1:])])
