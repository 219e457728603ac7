"""A client without a mind: it does what the skill's table says for the kind of a question, and nothing else."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Mapping
from typing import Any

from grading import Question

from tbtrace.assistants.tools import TOOLS, Tools

SKILL = pathlib.Path(__file__).resolve().parents[2] / "docs/skill/SKILL.md"
MOST_CALLS = 4
MOST_TOKENS = 8_000


def kinds() -> dict[str, list[tuple[str, dict[str, str]]]]:
    """The skill's table: for each kind of question the calls in the order in which they stand there."""
    found = {}
    for kind, calls in re.findall(r"^\| (.+?) \| (.*`.*) \|$", SKILL.read_text(encoding="utf-8"), re.MULTILINE):
        named = []
        for text in re.findall(r"`([^`]+)`", calls):
            match = re.fullmatch(r"(\w+)(?:\((.*)\))?", text)
            if match and match[1] in TOOLS:
                named.append((match[1], dict(re.findall(r'(\w+)="?([\w:.]+)"?', match[2] or ""))))
            elif re.fullmatch(r'by="\w+"', text):
                named.append(("compare", {"by": text[4:-1]}))
        found[kind] = named
    return found


class Client:
    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._kinds = kinds()

    def answers(self, question: Question) -> list[str]:
        """At most as many as are allowed."""
        answers: list[str] = []

        def ask(tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
            if len(answers) >= MOST_CALLS:
                return {}
            text, _ = self._tools.call(tool, given)
            answers.append(text)
            found: dict[str, Any] = json.loads(text)
            return found

        calls = self._kinds[question.kind]
        if question.base:
            for tool, given in calls:
                ask(
                    tool,
                    {
                        **{key: value for key, value in given.items() if key == "by"},
                        "base": question.base,
                        "new": question.trace,
                    },
                )
            return answers
        ask("open", {"path": question.trace})
        summary = ask("summary", {"trace": question.trace})
        findings = [row[0] for row in summary.get("findings", [])[1:]] if summary.get("findings") != "none" else []
        suggested: list[str] = []
        for tool, given in calls:
            if tool == "finding":
                # The first one, then those that it names.
                to_ask = findings[:1]
                while to_ask:
                    found = ask(tool, {"trace": question.trace, "id": to_ask.pop(0)})
                    to_ask += found.get("causes", []) if len(answers) < MOST_CALLS else []
            elif tool == "event":
                if given.get("id", "").split(":")[0] == question.id.split(":")[0]:
                    suggested = ask(tool, {"trace": question.trace, "id": question.id}).get("next", [])
            elif tool == "timeline":
                for call in [call for call in suggested if call.startswith("timeline(")][:1]:
                    times = {key: int(value) for key, value in re.findall(r"(\w+_ns|rank_number)=(\d+)", call)}
                    ask(tool, {"trace": question.trace, **times})
            else:
                ask(tool, {"trace": question.trace, **given, **question.words})
        return answers
