#!/usr/bin/env python3
"""Do the samples in the pages about Python still work?

    documents_test.py [NAME...]
    documents_test.py --few-packages [WITHOUT,...]   the pages; samples that need a package which is not there are left out

Each method is a CTest test python.NAME. The blocks of a page run in order, in one namespace, in a temporary folder that
has examples/ and tests/data/ of this repository, and ranks/, a job of two ranks:

- ```python runs as a program. If a ```text block follows, that is what it prints.
- ```python that begins with `>>> ` is a doctest session.
- ```sql runs in DuckDB, which sees the variables of the page; the ```text block after it is the result.
- ```python no-run is compiled only: it needs a cluster or torch.

Blanks at the ends of lines do not count.
"""

import ast
import contextlib
import doctest
import importlib.util
import io
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
WIDTH = "120"  # of tables, whatever terminal this runs in; DuckDB asks the terminal: keep its tables below 80


# What samples may import besides tbtrace: all of it is optional.
PACKAGES = {"duckdb", "fsspec", "numpy", "pandas", "polars", "pyarrow"}


class LeftOut(Exception):
    """A block needs a package that is not there, or what such a block made."""


class WrongSample(AssertionError):
    """A block of a page fails or prints something else."""


def blocks(text):
    """(language, rest of the info string, content, line of the content, output shown after it or None)."""
    found = list(BLOCK.finditer(text))
    for match, following in zip(found, [*found[1:], None]):
        output = None
        if following is not None and following[1] == "text" and not text[match.end():following.start()].strip():
            output = following[3]
        yield match[1], match[2].strip(), match[3], text.count("\n", 0, match.start()) + 2, output


def stripped(text):
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def compiled(code, page, line):
    return compile("\n" * (line - 1) + code, page, "exec", dont_inherit=True)


def made_names(code):
    """Variables and imports of a block."""
    nodes = list(ast.walk(ast.parse(code)))
    imported = {(alias.asname or alias.name).split(".")[0] for node in nodes
                if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names}
    return imported | {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


@contextlib.contextmanager
def leaving_out(code, left_out):
    """Raises LeftOut for what lacks a package. `left_out` is None, or the names that blocks before should have made."""
    try:
        yield
    except (ImportError, NameError) as problem:
        if left_out is None or problem.name not in (PACKAGES if isinstance(problem, ImportError) else left_out):
            raise
        left_out |= made_names(code)
        raise LeftOut(problem.name) from None


def run_session(code, page, line, namespace, left_out):
    session = doctest.DocTestParser().get_doctest(code, {}, page, page, line - 1)
    session.globs = namespace
    if left_out is not None:
        try:
            doctest.DebugRunner(verbose=False).run(session, out=lambda text: None, clear_globs=False)
        except doctest.UnexpectedException as problem:
            with leaving_out("".join(example.source for example in session.examples), left_out):
                raise problem.exc_info[1] from None
        except doctest.DocTestFailure as problem:
            raise WrongSample(f"{page}:{line} {problem.example.source} prints:\n{problem.got}") from None
        return
    runner = doctest.DocTestRunner(verbose=False)
    said = io.StringIO()
    runner.run(session, out=said.write, clear_globs=False)
    if runner.failures or not runner.tries:
        raise WrongSample(said.getvalue() or f"{page}:{line}: the session has no sample")


def run_program(code, page, line, output, namespace, left_out):
    said = io.StringIO()
    with leaving_out(code, left_out), contextlib.redirect_stdout(said):
        exec(compiled(code, page, line), namespace)
    if output is not None and stripped(said.getvalue()) != stripped(output):
        raise WrongSample(f"{page}:{line} shows:\n{output}\nbut it prints:\n{said.getvalue()}")


def run_block(block, page, namespace, left_out):
    """Whether it is a sample."""
    language, words, code, line, output = block
    if language == "python" and words == "no-run":
        compiled(code, page, line)
    elif language == "python" and code.startswith(">>> "):
        run_session(code, page, line, namespace, left_out)
    elif language == "python":
        run_program(code, page, line, output, namespace, left_out)
    elif language == "sql":
        if output is None:
            raise WrongSample(f"{page}:{line}: no output follows")
        query = f"import duckdb as _duckdb; print(_duckdb.sql({code!r}))"
        run_program(query, page, line, output, namespace, left_out)
    else:
        return False
    return True


def run_blocks(text, page, *, few_packages=False):
    """Runs the samples of a page; returns how many ran, and what those lacked that were left out."""
    namespace = {"__name__": "__main__"}
    left_out = set() if few_packages else None
    count, lacked = 0, []
    for block in blocks(text):
        try:
            count += run_block(block, page, namespace, left_out)
        except LeftOut as problem:
            lacked.append(str(problem))
    return count, lacked


def slower(name, rank, factor):
    """A trace of tests/data as one of `rank`, with all times stretched."""
    document = json.loads((ROOT / "tests/data" / name).read_bytes())
    document["distributedInfo"]["rank"] = rank
    start = min(event["ts"] for event in document["traceEvents"])
    for event in document["traceEvents"]:
        event["ts"] = round(start + (event["ts"] - start) * factor, 3)
        if "dur" in event:
            event["dur"] = round(event["dur"] * factor, 3)
    return json.dumps(document)


def make_folder(folder):
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "tests").mkdir()
    (folder / "tests/data").symlink_to(ROOT / "tests/data")
    (folder / "ranks").mkdir()
    for rank, first, second in ((0, 1, 1.1), (1, 1.25, 1)):  # each rank is the slower one in one of two steps
        for number, (name, factor) in enumerate((("gpu_step.json", first), ("gpu_step_later.json", second)), 1):
            (folder / f"ranks/rank{rank}.{number}.pt.trace.json").write_text(slower(name, rank, factor))


class Documents(unittest.TestCase):
    few_packages = False

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tbtrace-documents-")
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        make_folder(pathlib.Path(folder.name))
        os.chdir(folder.name)

    def run_page(self, page):
        try:
            count, lacked = run_blocks((ROOT / page).read_text(encoding="utf-8"), page, few_packages=self.few_packages)
        except WrongSample as problem:
            raise self.failureException(str(problem)) from None
        self.assertGreater(count + len(lacked), 0)
        print(f"{page}: {count} samples", f"without {', '.join(lacked)}" if lacked else "")

    def test_samples_of_the_readme(self):
        self.run_page("README.md")

    def test_samples_of_the_python_page(self):
        self.run_page("docs/python.md")

    def test_samples_of_the_sql_page(self):
        self.run_page("docs/sql.md")

    def test_wrong_samples_fail(self):
        for page in ("```python\n>>> 1 + 1\n3\n```\n",
                     "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n",
                     "```python\nn = 1\n```\n\n```sql\nselect 1 + 1 as n\n```\n\n```text\n3\n```\n",
                     "```sql\nselect 1 + 1 as n\n```\n"):
            with self.assertRaises(WrongSample):
                run_blocks(page, "page")
        with self.assertRaises(SyntaxError):
            run_blocks("```python no-run\n1 +\n```\n", "page")
        with self.assertRaises(NameError):
            run_blocks("```python\nnothing_of_this_name\n```\n", "page")
        right = "```python\nn = 1\n```\n\n```python\n>>> n + 1\n2\n```\n\n```python\nprint(n)\n```\n\n```text\n1\n```\n"
        self.assertEqual(run_blocks(right, "page"), (3, []))

    def test_only_samples_that_lack_a_package_are_left_out(self):
        with unittest.mock.patch.dict(sys.modules, polars=None):
            lacking = "```python\nimport polars\nn = 1\n```\n\n```python\n>>> n\n1\n```\n\n```python\n>>> 1 + 1\n2\n```\n"
            self.assertEqual(run_blocks(lacking, "page", few_packages=True), (1, ["polars", "n"]))
            with self.assertRaises(ImportError):
                run_blocks(lacking, "page")
        for wrong, error in (("import no_such_package", ImportError), ("nothing_of_this_name", NameError),
                             (">>> nothing_of_this_name", NameError), (">>> 1 + 1\n3", WrongSample)):
            with self.assertRaises(error):
                run_blocks(f"```python\n{wrong}\n```\n", "page", few_packages=True)


if __name__ == "__main__":
    os.environ |= {"COLUMNS": WIDTH, "POLARS_TABLE_WIDTH": WIDTH}
    if sys.argv[1:2] == ["--few-packages"]:
        Documents.few_packages = True
        sys.modules.update(dict.fromkeys(sys.argv[2].split(",") if sys.argv[2:] else []))  # import fails for None
        missing = sorted(name for name in PACKAGES if name in sys.modules or importlib.util.find_spec(name) is None)
        print(f"Without {', '.join(missing)}")
        sys.argv[1:] = [f"samples_of_the_{page}" for page in ("readme", "python_page", "sql_page")]
    unittest.main(argv=[sys.argv[0], *(f"Documents.test_{name}" for name in sys.argv[1:])])
