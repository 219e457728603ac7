#!/usr/bin/env python3
"""Do texts keep to plain English where it went wrong before?

    plain_language.py [ROOT]

Each pattern below is a turn of phrase that readers had to read twice, with what to write instead. Looked at are the
documentation, public headers, the command line, and all of src/ but the folders in LATER. Python 3, nothing besides.
"""

import pathlib
import re
import sys

PATTERNS = {
    r"\b(?:is|are|was|were) no (?!longer|more\b|less\b|later\b|earlier\b|larger\b|smaller\b|matter\b|one's)":
        "write `is not a ...` or `there is no ...`",
    r"\b(?:that|which) (?:are|is) none\b": "say what they are",
    r"\bof (?:theirs|ours|its own kind)\b": "write `their ...`",
    r"\bsays? to (?:keep|leave|take)\b": "write `keeps`, `leaves`, `takes`",
    r"\bwhat is told\b": "say who says it",
    r"\b(?:kept|keeps?|stays?|left|taken|takes) as (?:they are|it is)\b|\bas they are(?: \||[.;,)])": "write `unchanged`, or say how",
    r"\b(?:a|an) (?:row|file|line|log|run|worker|rank|format|verb|summary|record) (?:a|an) \w+\b":
        "write `one ... per ...`",
    r"\bbehind (?:it|the (?:end|last|cut|first|one|others?|name|header|trailer|damage|digits|point|step))\b":
        "write `after`",
    r"\bmakes? of (?:a )?devices?\b": "write `device type`",
    r"\bcopies and fills\b|\bwork of (?:a |the )?devices?\b": "write `memcpy`, `memset`, `kernels` or `device activity`",
}
# A program that is not ours prints the library's messages too.
VERBS = r"`tbtrace (?:--version --verbose|model --by operator|gpu --gaps|steps --marks|check --threads)`"
OPTION = re.compile(r'"[^"]*(?:(?<![\w-])--(?!output-format|gpus all|cap-add|long=|logdir)[a-z]|\(-[a-z]\)|\bulimit\b)')


def texts(root):
    for page in [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "include").rglob("*.h"),
                 *(file for file in (root / "tools").iterdir() if file.is_file())]:
        yield page
    for file in (root / "src").rglob("*"):
        if file.suffix in (".h", ".cc", ".css", ".js"):
            yield file


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    checked = failed = 0
    for file in sorted(texts(root)):
        checked += 1
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            for pattern, advice in PATTERNS.items():
                found = re.search(pattern, line)
                if found and not re.search(r"[Tt]here (?:is|are|was|were) no ", line):
                    failed += 1
                    print(f"plain_language: {file.relative_to(root)}:{number}: `{found[0]}`: {advice}: {line.strip()[:150]}")
    for file in sorted((root / "src").rglob("*.[ch]*")):
        text = file.read_text(encoding="utf-8")
        if "const TableDescription kTable = {" in text:
            continue  # it describes the options of the command line, too
        for number, line in enumerate(re.sub(VERBS, "", text).splitlines(), 1):
            if OPTION.search(line.split(" // ")[0]):
                failed += 1
                print(f"plain_language: {file.relative_to(root)}:{number}: an option of a command line in the library: {line.strip()[:150]}")
    print(f"plain_language: {checked} files, {failed} to rewrite")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
