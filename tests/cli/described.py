"""What the help of the program says that there is, for tests of what else is made from the same descriptions."""

import dataclasses
import re
import subprocess


@dataclasses.dataclass
class Option:
    name: str    # with its dashes
    letter: str  # the same, or empty
    value: str   # as the help names it, or empty


def printed(program, *words):
    return subprocess.run([program, *words], check=True, capture_output=True, text=True).stdout


def verbs(program, with_options=False):
    """Names and summaries; also what a verb is with one of its options, such as `gpu --gaps`, if that is asked for."""
    text = printed(program, "--help", "--all").split("the summary\n")[1].split("\n`tbtrace VERB")[0]
    pairs = re.findall(r"^  (\S.*?)  +(.*(?:\n {3,}.*)*)", text, re.MULTILINE)
    return {name: " ".join(summary.split()) for name, summary in pairs if with_options or " " not in name}


def options(program, verb):
    text = printed(program, *verb.split(), "--help").split("\nUsage:")[1].split("\nExamples:")[0]
    return [Option(name, letter or "", value or "")
            for letter, name, value in re.findall(r"^  (?:(-\w),|   ) (--[a-z-]+)(?: ([A-Z]+))?", text, re.MULTILINE)]
