#!/usr/bin/env python3
"""Do the tests exist that documents name?

    docs_test_names.py [ROOT]

Looked at are `area.name` in backticks, where area is a folder of tests/ with tests of its own; patterns for cases of
GoogleTest, such as `Suite.*`, in backticks or after GTEST_FILTER=; and paths below tests/ in backticks. Python 3, nothing
besides.
"""

import pathlib
import re
import sys

AREAS = ("benchmarks", "cases", "cli", "e2e", "examples", "golden", "libtorch", "oracle", "package", "partials", "python", "reference",
         "rules")
NAME = re.compile(rf"`({'|'.join(AREAS)})\.([A-Za-z_]\w*(?:\.\*)?)`")
NOT_TESTS = re.compile(r"\.(?:py|sh|cc|h|md)`")
SUITE = re.compile(r"(?:`|GTEST_FILTER='?)([A-Z]\w+)\.\*")
PATH = re.compile(r"`(tests/(?!x/)[\w./*-]+)`")  # tests/x/ stands for any folder


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    lists = {}
    for area in AREAS:
        folder = root / ("benchmarks" if area == "benchmarks" else f"tests/{area}")
        lists[area] = (folder / "CMakeLists.txt").read_text(encoding="utf-8")
    lists["reference"] += lists["e2e"]
    sources = "\n".join(file.read_text(encoding="utf-8") for file in (root / "tests").rglob("*.cc"))
    suites = set(re.findall(r"^(?:TYPED_)?TEST(?:_F|_P)?\((\w+)", sources, re.MULTILINE))
    groups = {file.parent.name.split("_")[0] for file in (root / "tests/golden").glob("*/command")}

    found, wrong = 0, []
    for page in [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md"))]:
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            names = [(match[0], bool(re.search(rf"\b{match[2]}\b", lists[match[1]]))
                      or match[1] == "golden" and match[2] in groups)
                     for match in NAME.finditer(line) if not NOT_TESTS.search(match[0])]
            names += [(match[0], match[1] in suites) for match in SUITE.finditer(line)]
            names += [(match[0], any(root.glob(match[1].rstrip("/")))) for match in PATH.finditer(line)]
            found += len(names)
            wrong += [f"{page.relative_to(root)}:{number}: no test is called {name}" for name, exists in names if not exists]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"docs_test_names: {found} names, {len(wrong)} wrong")
    sys.exit(bool(wrong) or not found)


if __name__ == "__main__":
    main()
