#!/usr/bin/env python3
"""Do the examples of docs/agents.md and of the skill answer as they show?

    assistants_documents_test.py [NAME...]

Each method is a CTest test python.NAME. A ```text block with a call such as `summary(trace="data/gpu_step.json")` and
the ```json block after it are a question and its answer, of a server for tests/data and for the cases that
tests/cases/make_cases.py makes. A line `...` stands for any number of lines. TBTRACE_BLESS=1 writes the answers that
have no such line.
"""

import ast
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from assistants_folder import DATA, ROOT
from tbtrace.assistants.files import Files
from tbtrace.assistants.tools import TOOLS, Tools

EXAMPLE = re.compile(r"^```text\n([a-z]+\([^`]*?\))\n```\n\n```json\n(.*?)\n```$", re.MULTILINE | re.DOTALL)


def asked(tools, call):
    """The answer to a call as documents write it."""
    parsed = ast.parse(call, mode="eval").body
    given = {keyword.arg: ast.literal_eval(keyword.value) for keyword in parsed.keywords}
    return tools.call(parsed.func.id, given)[0]


class Documents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cases = pathlib.Path(folder.name) / "cases"
        subprocess.run([sys.executable, ROOT / "tests/cases/make_cases.py", cases], check=True)
        cls.tools = Tools(Files([str(DATA), str(cases)]))

    def check(self, page, least):
        text = page.read_text(encoding="utf-8")
        examples = list(EXAMPLE.finditer(text))
        self.assertGreaterEqual(len(examples), least)
        for example in reversed(examples):
            call, shown = example[1], example[2]
            answer = asked(self.tools, call)
            if os.environ.get("TBTRACE_BLESS") == "1" and "\n..." not in shown:
                text = text[: example.start(2)] + answer + text[example.end(2) :]
                continue
            pattern = "\n".join(".*" if line == "..." else re.escape(line) for line in shown.split("\n"))
            with self.subTest(call):
                self.assertTrue(re.fullmatch(pattern, answer, re.DOTALL), f"{call} answers:\n{answer}")
        if os.environ.get("TBTRACE_BLESS") == "1":
            page.write_text(text, encoding="utf-8")
        return text

    def test_assistants_page_shows_real_answers(self):
        text = self.check(ROOT / "docs/agents.md", 3)
        for name in TOOLS:
            self.assertIn(f"| `{name}", text)

    def test_assistants_skill_shows_real_answers(self):
        text = self.check(ROOT / "docs/skill/examples.md", 15)
        self.assertEqual(10, len(re.findall(r"^## \d+\. ", text, re.MULTILINE)))
        skill = (ROOT / "docs/skill/SKILL.md").read_text(encoding="utf-8")
        self.assertLessEqual(len(skill.splitlines()), 150)
        for tool, names in re.findall(r"`(\w+)\((\w+=[^`]*)?\)`", skill):
            self.assertIn(tool, TOOLS)
            for name in re.findall(r"(\w+)=", names):
                self.assertIn(name, TOOLS[tool].all_parameters)
        for what in re.findall(r'what="(\w+)"', skill):
            for trace in ("data/gpu_step.json", "data/slow_loader_job"):
                if self.tools.call("table", {"trace": trace, "what": what})[1]:
                    break
            else:
                self.fail(f"there is no table {what}")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(f"Documents.test_{name}" for name in sys.argv[1:])])
