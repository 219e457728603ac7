#!/usr/bin/env python3
"""Do the examples print what docs/toolbox.md shows?

    toolbox_page.py PAGE.md PROGRAM...

A ```console block `$ ./NAME` of the page shows what the program example_NAME prints. Times, rates, sizes of the process and
what describes the machine differ from run to run: they count as the same, as does the number of blanks. A line `...` stands
for any number of lines. The C++ above the block is the example's. With TBTRACE_BLESS in the environment the blocks are
written instead.
Python 3, nothing besides.
"""
import os
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"(```cpp\n)((?:(?!```)[^\n]*\n)*)(^```\n\n```console\n\$ \./(\w+)\n)(.*?)(^```$)", re.MULTILINE | re.DOTALL)
MEASURED = re.compile(r"(?:[-+]?\d[\d.,]*(?:e[-+]?\d+)?|-) ?(?:ns|us|ms|s|[kMGTP]? ?FLOP/s|[kMGT]? ?FLOPS|[kMGT]? ?(?:samples|tokens)/s|runs|J|%)(?![\w/])")
MACHINE = re.compile(r"^(\s*(?:system|cpu|memory|torch|energy|resident)\b)[^\n]*", re.MULTILINE)


NOISE = re.compile(r"^The batch of \d+: the middle half[^\n]*\n", re.MULTILINE)


def comparable(text):
    text = NOISE.sub("", text + "\n")
    text = MACHINE.sub(r"\1 *", MEASURED.sub("*", text))
    return [re.sub(r"[ ]{2,}|-{2,}|={2,}", " ", line).strip() for line in text.strip("\n").split("\n")]


def is_shown(shown, printed):
    pattern = "\n".join(re.escape(line) if line != "..." else "(?:.*\n?)*?" for line in shown)
    return re.fullmatch(pattern, "\n".join(printed)) is not None


def main():
    page = pathlib.Path(sys.argv[1])
    examples = page.parents[1] / "examples"
    programs = {pathlib.Path(path).name.removeprefix("example_"): path for path in sys.argv[2:]}
    text = page.read_text(encoding="utf-8")
    problems = []
    seen = set()

    def check(match):
        name = match[4]
        seen.add(name)
        source = (examples / f"{name}.cc").read_text(encoding="utf-8")
        printed = subprocess.run([programs[name]], capture_output=True, text=True, check=True, timeout=120).stdout
        if os.environ.get("TBTRACE_BLESS"):
            return match[1] + source + match[3] + printed.strip("\n") + "\n" + match[6]
        if match[2] != source:
            problems.append(f"{page.name} does not show examples/{name}.cc")
        if not is_shown(comparable(match[5]), comparable(printed)):
            problems.append(f"{page.name} does not show what {name} prints:\n{printed}")
        return match[0]

    changed = BLOCK.sub(check, text)
    if changed != text:
        page.write_text(changed, encoding="utf-8")
    problems += [f"{page.name} shows no run of {name}" for name in sorted(set(programs) - seen)]
    for problem in problems:
        print(problem)
    print(f"{len(seen)} examples, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
