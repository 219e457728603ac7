#!/usr/bin/env python3
"""Are the facts that questions about traces need in at most four answers of the server for assistants?

    run.py [--verbose] [--baselines] [--least N]

A client that follows the skill literally asks; rules grade (grading.py). Prints a table. --baselines also asks the
first 8,000 tokens of the raw JSON, and torch's operator table, what they can have; they are graded more mildly. With
--least, exit code 1 if fewer questions have all their facts. Python 3.10 with the package, nothing besides.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks/agents"), str(ROOT / "tests/python")]

import tbtrace  # noqa: E402
from assistants_folder import hostile_trace  # noqa: E402
from client import MOST_CALLS, MOST_TOKENS, Client  # noqa: E402
from grading import Question, lines_of  # noqa: E402
from questions import QUESTIONS  # noqa: E402
from tbtrace.assistants.answer import tokens_of  # noqa: E402
from tbtrace.assistants.files import Files  # noqa: E402
from tbtrace.assistants.tools import Tools  # noqa: E402


def made_folders(folder: pathlib.Path) -> list[str]:
    """The cases, tests/data and a hostile trace."""
    subprocess.run([sys.executable, ROOT / "tests/cases/make_cases.py", folder / "cases"], check=True)
    (folder / "hostile").mkdir()
    with gzip.open(folder / "hostile/trace.json.gz", "wt", encoding="utf-8") as file:
        json.dump(hostile_trace(), file)
    return [str(folder / "cases"), str(folder / "hostile"), str(ROOT / "tests/data")]


def measured(folders: Sequence[str]) -> list[Question]:
    """The questions, with what is true of the traces in these folders."""
    paths = {pathlib.Path(folder).name: pathlib.Path(folder) for folder in folders}

    def path_of(name: str) -> pathlib.Path:
        top, _, below = name.partition("/")
        return paths[top] / below

    return [question.measured(path_of) for question in QUESTIONS]


class Graded:
    """What came of questions with one way to ask."""

    def __init__(self, name: str, questions: Sequence[Question]) -> None:
        self.name = name
        self.questions = questions
        self.named = self.right = self.right_traps = 0
        self.tokens: list[int] = []
        self.calls: list[int] = []

    def add(self, question: Question, is_named: bool, is_right: bool, tokens: int, calls: int) -> None:
        self.named += is_named and not question.is_trap
        self.right += is_right and not question.is_trap
        self.right_traps += is_right and question.is_trap
        self.tokens.append(tokens)
        self.calls.append(calls)

    def row(self) -> str:
        traps = sum(each.is_trap for each in self.questions)
        others = len(self.questions) - traps
        median = sorted(self.tokens)[len(self.tokens) // 2]
        return (
            f"| {self.name} | {self.named} of {others} | {self.right} of {others} | "
            f"{f'{self.right_traps} of {traps}' if traps else '-'} | {max(self.calls)} | {median:,} | "
            f"{max(self.tokens):,} |"
        )


def missing_facts(question: Question, lines: Sequence[str], with_figures: bool = True) -> list[str]:
    return [
        fact.where + (f" {fact.key} {fact.truth:g}" if fact.key and with_figures else "")
        for fact in question.facts
        if not (fact if with_figures else dataclasses.replace(fact, key="")).is_in(lines)
    ]


def with_tools(tools: Tools, questions: Sequence[Question], is_verbose: bool) -> Graded:
    graded = Graded("`tbtrace mcp`, by the skill", questions)
    client = Client(tools)
    for question in questions:
        answers = client.answers(question)
        tokens = sum(map(tokens_of, answers))
        lines = [line for answer in answers for line in lines_of(answer)]
        missing = missing_facts(question, lines)
        is_short = tokens <= MOST_TOKENS and len(answers) <= MOST_CALLS
        is_named = is_short and not missing_facts(question, lines, with_figures=False)
        graded.add(question, is_named, is_short and not missing, tokens, len(answers))
        if missing or not is_short:
            print(f"not answered: {question.text} ({question.trace}): {'; '.join(missing) or tokens}")
        if is_verbose:
            print(f"{question.text}: {len(answers)} answers, {tokens} tokens")
    return graded


def with_text(
    name: str, text_of: Callable[[pathlib.Path], str], folders: Sequence[str], questions: Sequence[Question]
) -> Graded:
    """As much of a text as 8,000 tokens are, of each side or rank its part; for the questions that it may answer."""
    graded = Graded(name, [question for question in questions if question.is_for_others])
    paths = {pathlib.Path(folder).name: pathlib.Path(folder) for folder in folders}
    for question in graded.questions:
        files: list[pathlib.Path] = []
        for name_of_side in filter(None, (question.base, question.trace)):
            top, _, below = name_of_side.partition("/")
            path = paths[top] / below
            files += sorted(path.glob("*.json*")) if path.is_dir() else [path]
        texts = [_cut(text_of(file), MOST_TOKENS // len(files)) for file in files]
        lines = [line for text in texts for line in text.splitlines()]
        facts = question.facts_of_others
        is_named, is_right = (all(fact.may_be_in(lines, figure) for fact in facts) for figure in (False, True))
        graded.add(question, is_named, is_right, sum(map(tokens_of, texts)), len(texts))
    return graded


def raw_text(path: pathlib.Path) -> str:
    """An event a line."""
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return text.decode(errors="replace").replace('{"ph"', '\n{"ph"')


def operator_table(path: pathlib.Path) -> str:
    trace = tbtrace.read(str(path))
    return str(trace.key_averages().table(row_limit=100, max_name_column_width=None))


def _cut(text: str, most: int) -> str:
    low, high = 0, min(len(text), 8 * most)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens_of(text[:middle]) <= most else (low, middle - 1)
    return text[:low]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--baselines", action="store_true")
    parser.add_argument("--least", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folders = made_folders(pathlib.Path(name))
        questions = measured(folders)
        graded = [with_tools(Tools(Files(folders)), questions, given.verbose)]
        if given.baselines:
            graded.append(with_text("the operator table", operator_table, folders, questions))
            graded.append(with_text("raw JSON, its first 8,000 tokens", raw_text, folders, questions))
    print("| given | named | with all figures | traps | answers at most | tokens, median | tokens at most |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    print("\n".join(each.row() for each in graded))
    return int(graded[0].right + graded[0].right_traps < given.least)


if __name__ == "__main__":
    sys.exit(main())
