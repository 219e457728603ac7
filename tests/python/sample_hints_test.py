#!/usr/bin/env python3
"""Do the samples in the pages about Python pass a type checker that is strict?

    sample_hints_test.py CACHE

What other packages give is Any here: their hints are not ours, and reading them takes long.
"""

import doctest
import pathlib
import subprocess
import sys
import tempfile

from documents_test import ROOT, blocks

PAGES = ["README.md", "docs/python.md", "docs/sql.md"]
OTHERS = ["duckdb", "fsspec", "pandas", "polars", "pyarrow", "numpy", "torch", "ray", "pyspark"]


def code_of(page):
    """The samples of a page that run, as one module."""
    code = []
    for language, words, block, _, _ in blocks((ROOT / page).read_text(encoding="utf-8")):
        if language == "python" and not words:
            examples = doctest.DocTestParser().get_examples(block) if block.startswith(">>> ") else None
            code.append(block if examples is None else "".join(example.source for example in examples))
    return "\n".join(code)


def main():
    with tempfile.TemporaryDirectory(prefix="tbtrace-hints-") as folder:
        files = []
        for page in PAGES:
            files.append(pathlib.Path(folder) / (page.replace("/", "_").removesuffix(".md").lower() + ".py"))
            files[-1].write_text(code_of(page), encoding="utf-8")
        wrong = pathlib.Path(folder) / "wrong.py"
        wrong.write_text("import tbtrace\n\ntbtrace.read('a').gpu('strem')\nfor row in tbtrace.read('a').gpu():\n    row.upper()\n")
        settings = pathlib.Path(folder) / "mypy.ini"
        settings.write_text("[mypy]\nstrict = True\nallow_redefinition = True\n" + "".join(
            f"[mypy-{name}.*]\nfollow_imports = skip\nfollow_imports_for_stubs = True\nignore_missing_imports = True\n" for name in OTHERS))
        command = [sys.executable, "-m", "mypy", "--config-file", settings, "--cache-dir", sys.argv[1], "--no-incremental"]
        done = subprocess.run([*command, *files], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
        print(done.stdout.strip())
        done = subprocess.run([*command, wrong], capture_output=True, text=True, check=False)
        if done.stdout.count(" error: ") != 2:
            sys.exit("what is wrong passes:\n" + done.stdout + done.stderr)


if __name__ == "__main__":
    main()
