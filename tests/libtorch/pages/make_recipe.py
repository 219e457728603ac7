#!/usr/bin/env python3
"""The C++ pieces of a page as one program: make_recipe.py PAGE.md PROGRAM.cc. Python 3, nothing besides."""
import pathlib
import re
import sys

page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
pieces = re.findall(r"^```cpp\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
includes = [piece for piece in pieces if piece.startswith("#include")]
body = [piece for piece in pieces if not piece.startswith("#include")]
assert includes and body, "the page has no C++"
pathlib.Path(sys.argv[2]).write_text(
    "".join(includes) + "\nint main() {\n" + "\n".join(body) + "}\n", encoding="utf-8")
