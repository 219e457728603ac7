#!/usr/bin/env python3
"""Are the facts that questions about traces need in at most four answers of the server for assistants?

    run.py [--verbose] [--baselines] [--least N]

A client that follows the skill literally asks; rules grade (grading.py). Prints a table. --baselines also gives the
first 8,000 tokens of the raw JSON, and torch's operator table, the same chance; they are graded more mildly. With
--least, exit code 1 if fewer questions have all their facts. Python 3.10 with the package, nothing besides.
"""

from __future__ import annotations

import argparse
import collections
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


class Graded:
    """What came of the questions with one way to ask."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.right: dict[bool, int] = collections.Counter()  # by whether they are traps
        self.tokens: list[int] = []
        self.calls: list[int] = []

    def add(self, question: Question, is_right: bool, tokens: int, calls: int) -> None:
        self.right[question.is_trap] += is_right
        self.tokens.append(tokens)
        self.calls.append(calls)

    def row(self) -> str:
        median = sorted(self.tokens)[len(self.tokens) // 2]
        return (
            f"| {self.name} | {self.right[False]} of {sum(not each.is_trap for each in QUESTIONS)} | "
            f"{self.right[True]} of {sum(each.is_trap for each in QUESTIONS)} | {max(self.calls)} | {median:,} | "
            f"{max(self.tokens):,} |"
        )


def missing_facts(question: Question, lines: Sequence[str], is_mild: bool) -> list[str]:
    return [
        fact.where + (f" {fact.key} {fact.low:g}..{fact.high:g}" if fact.key else "")
        for fact in question.facts
        if not (fact.may_be_in(lines) if is_mild else fact.is_in(lines))
    ]


def with_tools(tools: Tools, is_verbose: bool) -> Graded:
    graded = Graded("`tbtrace mcp`, by the skill")
    client = Client(tools)
    for question in QUESTIONS:
        answers = client.answers(question)
        tokens = sum(map(tokens_of, answers))
        missing = missing_facts(question, [line for answer in answers for line in lines_of(answer)], False)
        is_right = not missing and tokens <= MOST_TOKENS and len(answers) <= MOST_CALLS
        graded.add(question, is_right, tokens, len(answers))
        if not is_right:
            print(f"not answered: {question.text} ({question.trace}): {'; '.join(missing) or tokens}")
        if is_verbose:
            print(f"{question.text}: {len(answers)} answers, {tokens} tokens")
    return graded


def with_text(name: str, text_of: Callable[[pathlib.Path], str], folders: Sequence[str]) -> Graded:
    """As much of a text as 8,000 tokens are, of each side or rank its part."""
    graded = Graded(name)
    paths = {pathlib.Path(folder).name: pathlib.Path(folder) for folder in folders}
    for question in QUESTIONS:
        files: list[pathlib.Path] = []
        for name_of_side in filter(None, (question.base, question.trace)):
            top, _, below = name_of_side.partition("/")
            path = paths[top] / below
            files += sorted(path.glob("*.json*")) if path.is_dir() else [path]
        texts = [_cut(text_of(file), MOST_TOKENS // len(files)) for file in files]
        missing = missing_facts(question, [line for text in texts for line in text.splitlines()], True)
        graded.add(question, not missing, sum(map(tokens_of, texts)), len(texts))
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
        graded = [with_tools(Tools(Files(folders)), given.verbose)]
        if given.baselines:
            graded.append(with_text("the operator table", operator_table, folders))
            graded.append(with_text("raw JSON, its first 8,000 tokens", raw_text, folders))
    print("| given | questions | traps | answers at most | tokens, median | tokens at most |")
    print("| --- | --- | --- | --- | --- | --- |")
    print("\n".join(each.row() for each in graded))
    return int(sum(graded[0].right.values()) < given.least)


if __name__ == "__main__":
    sys.exit(main())
