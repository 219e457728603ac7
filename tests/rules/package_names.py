#!/usr/bin/env python3
"""Does nothing tell people to install a package that no index has?

    package_names.py [ROOT]

No version of tbtrace is published, so `pip install tbtrace` would find nothing, or what somebody else put there. What
works is `pip install .` in a clone, with extras as '.[sql]'. When a version is published, set PUBLISHED to True, and
README.md, docs/ and the messages can name the package. Looked at are all files that git tracks but CHANGELOG.md.
Python 3, nothing besides.
"""
import pathlib
import re
import subprocess
import sys

PUBLISHED = False
NAMED = re.compile(r"\b(?:pip3?|pipx|uv|conda)\s+(?:pip\s+)?(?:install|run|add)\s(?:[^\n#|;&`]*?[\s'\"])?tbtrace(?:[\['\"`\s=<>~]|$)|\buvx\s+tbtrace\b"
                   r"|\btbtrace\[[a-z]+(?:,[a-z]+)*\]")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    files = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
    looked_at, wrong = 0, []
    for name in filter(None, files.split("\0")):
        path = root / name
        if name in ("CHANGELOG.md", "tests/rules/package_names.py") or not path.is_file():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        looked_at += 1
        if PUBLISHED:
            continue
        wrong += [f"{name}:{number}: names a package that is not published: {line.strip()[:120]}"
                  for number, line in enumerate(text.splitlines(), 1) if NAMED.search(line)]
    print("\n".join(wrong + [f"package_names: {looked_at} files"]))
    return 1 if wrong or not looked_at else 0


if __name__ == "__main__":
    sys.exit(main())
