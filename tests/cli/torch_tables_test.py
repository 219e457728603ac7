#!/usr/bin/env python3
"""Of recordings the program prints what torch printed (tests/data/h200, tests/data/torch_*).

    torch_tables_test.py PROGRAM [NAME...]

Each method is a CTest test cli.NAME.
"""

import json
import pathlib
import subprocess
import sys
import unittest

PROGRAM = ""
DATA = pathlib.Path(__file__).resolve().parents[1] / "data"


class TorchTables(unittest.TestCase):
    def check(self, folder, texts):
        """`texts`: of each its trace, its file and the words after the program's name."""
        self.assertEqual({folder / text for _, text, _ in texts}, set(folder.glob("*.txt")))
        for trace, text, (verb, *options) in texts:
            with self.subTest(f"{folder.name}/{text}"):
                printed = subprocess.run([PROGRAM, verb, folder / trace, *options], capture_output=True)
                self.assertEqual((printed.returncode, printed.stderr), (0, b""))
                self.assertEqual(printed.stdout.decode().split("\n"),
                                 (folder / text).read_bytes().decode().split("\n"))

    def test_tables_of_a_gpu_are_those_of_torch(self):
        tables = json.loads((DATA / "h200/tables.json").read_text(encoding="utf-8"))["tables"]
        self.check(DATA / "h200", [(table["trace"], table["table"], ["ops", *table["options"]]) for table in tables])

    def test_texts_of_each_version_are_those_of_torch(self):
        folders = sorted(DATA.glob("torch_*"))
        self.assertTrue(folders)
        for folder in folders:
            texts = json.loads((folder / "tables.json").read_text(encoding="utf-8"))["tables"]
            self.check(folder, [(text["trace"], text["text"], text["command"]) for text in texts])


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    names = sys.argv[2:]
    unittest.main(argv=[sys.argv[0], *(f"TorchTables.test_{name}" for name in names)])
