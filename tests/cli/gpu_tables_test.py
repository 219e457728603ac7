#!/usr/bin/env python3
"""Of recordings of a GPU the program prints what torch printed (tests/data/h200).

    gpu_tables_test.py PROGRAM [NAME...]

Each method is a CTest test cli.NAME.
"""

import json
import pathlib
import subprocess
import sys
import unittest

PROGRAM = ""
DATA = pathlib.Path(__file__).resolve().parents[1] / "data/h200"


class GpuTables(unittest.TestCase):
    def test_tables_of_a_gpu_are_those_of_torch(self):
        tables = json.loads((DATA / "tables.json").read_text(encoding="utf-8"))["tables"]
        self.assertEqual({DATA / table["table"] for table in tables}, set(DATA.glob("*.txt")))
        for table in tables:
            with self.subTest(table["table"]):
                printed = subprocess.run([PROGRAM, "ops", DATA / table["trace"], *table["options"]], capture_output=True)
                self.assertEqual((printed.returncode, printed.stderr), (0, b""))
                self.assertEqual(printed.stdout.decode().splitlines(),
                                 (DATA / table["table"]).read_text(encoding="utf-8").splitlines())


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    names = sys.argv[2:]
    unittest.main(argv=[sys.argv[0], *(f"GpuTables.test_{name}" for name in names)])
