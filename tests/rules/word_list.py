#!/usr/bin/env python3
"""Has each thing one word, in messages, documentation and the page?

    word_list.py [ROOT]

The table `One word for one thing` of docs/glossary.md has the words, and in its column `not` those that may not stand
for them: whole words, also at the start of a sentence. Looked at are the documentation, texts in quotes in C++ and
JavaScript, and the Python package. Code in backticks and in blocks is what it is, and so are texts without a blank in C++, which are
names. Python 3, nothing besides.
"""

import pathlib
import re
import sys

HEADING = "## One word for one thing"
QUOTED = re.compile(r'R"\((.*?)\)"|"(?=[^"\n]* )((?:[^"\\\n]|\\.)*)"|"[^"\n]*"', re.DOTALL)
QUOTED_JS = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`', re.DOTALL)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`|\]\([^)]*\)", re.DOTALL | re.MULTILINE)


def words(glossary):
    """What may not be said, each with what is said instead."""
    table = glossary.partition(HEADING)[2]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][2:]
    return {other: row[0] for row in rows for other in re.findall(r"`([^`]+)`", row[2])}


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def only(pattern, text):
    """The text with everything but what the pattern finds as blanks."""
    kept, end = [], 0
    for match in pattern.finditer(text):
        is_text = any(match.groups())
        kept += [re.sub(r"[^\n]", " ", text[end:match.start()]), match[0] if is_text else " " * len(match[0])]
        end = match.end()
    return "".join(kept)


def texts(root):
    for page in [*root.glob("*.md"), *(root / "docs").rglob("*.md")]:
        if page.name not in ("CHANGELOG.md", "glossary.md"):
            yield page, CODE.sub(blank, page.read_text(encoding="utf-8"))
    for folder in ("src", "tools", "include", "python/src"):
        for file in (root / folder).rglob("*"):
            if file.suffix in (".h", ".cc"):
                code = re.sub(r"(?m)(?<!:)//.*$", "", file.read_text(encoding="utf-8"))
                yield file, only(QUOTED, code)
    for file in (root / "web").rglob("*.js"):
        if "tests" not in file.parts and "node_modules" not in file.parts:
            yield file, only(QUOTED_JS, re.sub(r"(?m)^[ \t]*(?://|/?\*).*$", "", file.read_text(encoding="utf-8")))
    for file in (root / "python/tbtrace").rglob("*.py"):
        yield file, re.sub(r"(?m)#.*$", "", CODE.sub(blank, file.read_text(encoding="utf-8")))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    instead = words((root / "docs/glossary.md").read_text(encoding="utf-8"))
    if not instead:
        raise SystemExit(f"word_list: docs/glossary.md has no table under `{HEADING}`")
    others = {start + word[1:]: word for word in instead for start in (word[0], word[0].upper())}
    found = re.compile(rf"(?<![\w-])({'|'.join(sorted(map(re.escape, others), reverse=True))})s?(?![\w-])")
    files = failed = 0
    for file, text in sorted(texts(root)):
        files += 1
        for match in found.finditer(text):
            failed += 1
            number = text.count("\n", 0, match.start()) + 1
            line = file.read_text(encoding="utf-8").splitlines()[number - 1].strip()
            word = instead[others[match[1]]]
            print(f"word_list: {file.relative_to(root)}:{number}: `{match[1]}`: write `{word}`: {line[:120]}")
    print(f"word_list: {len(instead)} words, {files} files, {failed} to rewrite")
    raise SystemExit(failed > 0)


if __name__ == "__main__":
    main()
