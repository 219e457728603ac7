#!/usr/bin/env python3
"""Do the pages of docs/formats/ describe the JSON that the verbs write?

    schema_pages_test.py PROGRAM COLUMNS [NAME...]

COLUMNS is a file that the build makes from the descriptions of tables (tbtrace/tables.h): the pages have the same columns
with the same words. With TBTRACE_BLESS=1 in the environment the pages are rewritten. A page whose title names
`tbtrace.VERB/N` has tables of keys under "## Rows" and "## Totals"; every row and the totals of the verb's output have
exactly these keys, with values of the stated type. A comment before a table says with which options a verb writes others,
several separated by `|`: `<!-- rows: --per-event -->` and `<!-- totals: --per-event -->`
have all keys, `<!-- adds to rows: --group-by launch -->` those that "## Rows" does not have. Each method is a CTest
test cli.NAME.
"""

import itertools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

import described

PROGRAM = ""
COLUMNS = pathlib.Path()
ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACES = sorted((ROOT / "examples/traces").glob("*.json.gz")) + [
    ROOT / "tests/data" / name
    for name in ("gpu_step.json", "cpu_steps.json", "counters.json", "hostile_names.json", "serving.json")]
OF_OPTIONS = [ROOT / "tests/data/gpu_step.json", ROOT / "tests/data/stacks.json",
              ROOT / "examples/traces/transformer_modules.json.gz"]
JOB = ROOT / "tests/data/slow_loader_job"  # for tables of several traces together
TYPES = {"integer": int, "number": (int, float), "text": str, "boolean": bool, "list": list, "list of texts": list,
         "object": dict, "any": object, "null": type(None)}


def pages():
    """Text of each page, by schema."""
    found = {}
    for page in sorted((ROOT / "docs/formats").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        title = re.match(r"# `(tbtrace\.[a-z-]+/\d+)`", text)
        if title:
            found[title.group(1)] = text
    return found


def spelled(table):
    """The verb of a table."""
    return {"flops": "model --by operator", "gaps": "gpu --gaps", "critical_path": "whatif --critical-path",
            "whatif": "whatif --set 'communication x0'",
            "marks": "steps --marks", "threads": "check --threads"}.get(table, table)


def keys(page, section):
    """Types of values by key."""
    text = re.search(rf"^## {section}\n(.*?)(?=^## |^<!--|\Z)", page, re.MULTILINE | re.DOTALL).group(1)
    rows = re.findall(r"^\| `([a-z_0-9]+)` \| ([a-z ]+) \|", text, re.MULTILINE)
    return {key: types.split(" or ") for key, types in rows}


def tables_with_options(page):
    """What a table describes, the lists of options, and types of values by key."""
    for what, options, table in re.findall(r"<!-- (rows|totals|adds to rows): (.*?) -->\n((?:\|.*\n)+)", page):
        rows = re.findall(r"^\| `([a-z_0-9]+)` \| ([a-z ]+) \|", table, re.MULTILINE)
        yield what, [words.split() for words in options.split("|")], {key: types.split(" or ") for key, types in rows}


def has_type(value, types):
    return any(isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool)) for name in types)


def described_tables():
    """Tables of columns as the descriptions have them, by schema and by what they are of."""
    tables = {}
    text = COLUMNS.read_text(encoding="utf-8")
    for schema, what, table in re.findall(r"^(tbtrace\S+) (.*)\n((?:\|.*\n)+)", text, re.MULTILINE):
        tables.setdefault(schema, {})[what] = table
    return tables


def with_table(page, what, table):
    """The page with this table in its place."""
    place = rf"^<!-- {re.escape(what)} -->\n" if ":" in what else rf"^## {what.capitalize()}\n(?:(?!\||## |<!--).*\n)*"
    found = re.search(place + r"((?:\|.*\n)+)", page, re.MULTILINE)
    return page[:found.start(1)] + table + page[found.end(1):] if found else None


class SchemaPages(unittest.TestCase):
    def test_schema_pages_have_the_columns_of_the_descriptions(self):
        for schema, tables in described_tables().items():
            verb = schema.removeprefix("tbtrace.").split("/")[0]
            path = ROOT / f"docs/formats/{verb}.md"
            page = path.read_text(encoding="utf-8") if path.exists() else ""
            made = page or f"# `{schema}`: {described.verbs(PROGRAM, True)[spelled(verb)]}\n\n" \
                f"Written by `tbtrace {spelled(verb)} --format json`. CSV has the same columns.\n\n## Rows\n\n|\n\n## Totals\n\n|\n"
            for what, table in tables.items():
                made = with_table(made, what, table)
                self.assertIsNotNone(made, f"{path.name} has no table of {what}")
            if os.environ.get("TBTRACE_BLESS") == "1":
                path.write_text(made, encoding="utf-8")
            elif made != page:
                self.fail(f"run `TBTRACE_BLESS=1 ctest -R schema_pages_have` to rewrite docs/formats/{path.name}")

    def check(self, values, described, where):
        self.assertEqual(sorted(values), sorted(described), where)
        for key, value in values.items():
            self.assertTrue(has_type(value, described[key]), f"{where}: {key} is {value!r}, not {described[key]}")

    def test_schema_pages_describe_the_json(self):
        self.assertGreaterEqual(len(pages()), 2)
        for schema, page in pages().items():
            verb = schema.removeprefix("tbtrace.").split("/")[0]
            rows = 0
            for trace in TRACES + [JOB] * (verb == "collectives"):
                run = subprocess.run([PROGRAM, *shlex.split(spelled(verb)), trace, "--format", "json", "-q"], capture_output=True, text=True)
                self.assertIn(run.returncode, (0, 1), f"{verb} {trace.name}: {run.stderr}")
                output = json.loads(run.stdout)
                where = f"{verb} {trace.name}"
                self.assertEqual(output["schema"], schema, where)
                for row in output["rows"]:
                    self.check(row, keys(page, "Rows"), where)
                    rows += 1
                self.check(output["totals"], keys(page, "Totals"), where)
                if "\n## Facts\n" in page:
                    facts = keys(page, "Facts")
                    self.check({key: output[key] for key in facts}, facts, where)
            self.assertGreater(rows, 0, verb)

    def test_schema_pages_describe_what_options_add(self):
        for schema, page in pages().items():
            verb = schema.removeprefix("tbtrace.").split("/")[0]
            for what, lists, described in tables_with_options(page):
                seen = set()
                for options, trace in itertools.product(lists, OF_OPTIONS):
                    run = subprocess.run([PROGRAM, *shlex.split(spelled(verb)), trace, "--format", "json", *options],
                                         capture_output=True, text=True)
                    self.assertEqual(run.returncode, 0, run.stderr)
                    output = json.loads(run.stdout)
                    where = f"{verb} {' '.join(options)}"
                    for values in [output["totals"]] if what == "totals" else output["rows"]:
                        seen.update(values.keys() & described.keys())
                        if what == "adds to rows":
                            self.check(values, {key: types for key, types in {**keys(page, "Rows"), **described}.items()
                                                if key in values}, where)
                        else:
                            self.check(values, described, where)
                self.assertEqual(seen, described.keys(), f"{verb}: {what}")


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    COLUMNS = pathlib.Path(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *(f"SchemaPages.test_{name}" for name in sys.argv[3:])])
