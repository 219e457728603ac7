#!/usr/bin/env python3
"""Are the facts that questions need in few answers, and does the grading see what is wrong?

    assistants_questions_test.py [NAME...]

Each method is a CTest test python.NAME. The questions, and who asks them, are in benchmarks/agents/.
"""

import pathlib
import re
import sys
import tempfile
import unittest

from assistants_folder import ROOT

sys.path.insert(0, str(ROOT / "benchmarks/agents"))

from client import Client, kinds  # noqa: E402
from grading import Fact, lines_of  # noqa: E402
from questions import QUESTIONS  # noqa: E402
from run import made_folders, missing_facts, with_tools  # noqa: E402
from tbtrace.assistants.files import Files  # noqa: E402
from tbtrace.assistants.tools import Tools  # noqa: E402


class Questions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.tools = Tools(Files(made_folders(pathlib.Path(folder.name))))

    def test_assistants_questions_are_answered_as_the_page_says(self):
        self.assertEqual((60, 15), (len(QUESTIONS), sum(each.is_trap for each in QUESTIONS)))
        self.assertLessEqual({each.kind for each in QUESTIONS}, set(kinds()))
        row = with_tools(self.tools, False).row()
        self.assertIn(row, (ROOT / "docs/agents.md").read_text(encoding="utf-8"))
        right = [int(number) for number in re.findall(r"(\d+) of", row)]
        self.assertGreaterEqual(sum(right), 55)

    def test_assistants_questions_are_not_answered_by_answers_to_others(self):
        client = Client(self.tools)
        given = [[line for text in client.answers(each) for line in lines_of(text)] for each in QUESTIONS]
        wrong = [each for number, each in enumerate(QUESTIONS) if missing_facts(each, given[number - 7], False)]
        self.assertGreaterEqual(len(wrong), 58)

    def test_assistants_questions_are_graded_by_figures(self):
        text = '{"findings":[["id","share"],["f:a",0.4],["f:b",0.2]],"rows":"none","step":{"change":0.01}}'
        lines = lines_of(text)
        self.assertTrue(Fact(r"id=f:a\b", "share", 0.3, 0.5).is_in(lines))
        self.assertFalse(Fact(r"id=f:b\b", "share", 0.3, 0.5).is_in(lines))
        self.assertTrue(Fact("^rows=none").is_in(lines))
        self.assertFalse(Fact("f:a", is_absent=True).is_in(lines))
        self.assertTrue(Fact("^step", "change", 0, 0.02).is_in(lines))
        self.assertTrue(Fact("mm", "share", 39e6, 41e6).may_be_in(["aten::mm  12.1%  40.000ms"]))
        self.assertFalse(Fact("mm", "share", 39e6, 41e6).may_be_in(["aten::mm  12.1%  41.500ms"]))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(f"Questions.test_{name}" for name in sys.argv[1:])])
