#!/usr/bin/env python3
"""Is every function of the public headers called by a test or an example?

    public_names.py [ROOT]

Constructors and what is private are left out. Names are compared, not signatures: two overloads count as one. Python 3, nothing besides.
"""

import pathlib
import re
import sys

NOT_FUNCTIONS = {"alignas", "decltype", "for", "if", "noexcept", "operator", "requires", "return", "sizeof",
                 "static_assert", "switch", "while"}
PRIVATE = {"bit", "export_in_background", "from", "group", "index_of"}  # or members, in what is public


def code(file):
    text = file.read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    text = re.sub(r"//[^\n]*|^\s*#[^\n]*(?:\\\n[^\n]*)*", " ", text, flags=re.MULTILINE)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    used = set()
    for folder in ("tests", "examples"):
        for file in (root / folder).rglob("*"):
            if file.suffix in (".cc", ".h"):
                used |= set(re.findall(r"\b([A-Za-z_]\w*)\s*(?:<[^<>;]*>)?\s*[({]", code(file)))
    names = failed = 0
    for header in sorted((root / "include").rglob("*.h")):
        text = re.sub(r"^ *private:.*?^ *\};|^namespace internal \{.*?^\}", "", code(header), flags=re.DOTALL | re.MULTILINE)
        # Macros and most classes begin with a capital, members end in `_`.
        called = set(re.findall(r"(?<![\w:.])([a-z]\w*[a-z0-9])\(", text))
        for name in sorted(called - NOT_FUNCTIONS - PRIVATE - set(re.findall(r"\bclass (\w+) \{", text))):
            names += 1
            if name not in used:
                failed += 1
                print(f"public_names: {header.relative_to(root)}: {name}() is called by no test and no example")
    print(f"public_names: {names} names, {failed} never called")
    sys.exit(failed > 0 or names == 0)


if __name__ == "__main__":
    main()
