#!/usr/bin/env python3
"""Does each level of tools/test.sh demand what is optional, and turn off what a longer level turned on?

    test_levels_test.py

It runs in a folder with programs that do nothing in place of CMake, CTest and the other scripts. Python 3, nothing besides.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools/test.sh"
RECORDS = """#!/bin/bash
echo "${0##*/} $*" >>"$RECORD"
while (($# > 0)); do
  if [[ $1 == --output-junit ]]; then touch "$2"; fi
  shift
done
"""
OPTIONAL = {f"TBTRACE_{name}": "ON" for name in ("CAIRO", "ISAL", "PNG", "PROTOBUF", "ZSTD")}
OPTIONAL |= {f"CMAKE_REQUIRE_FIND_PACKAGE_{name}": "ON" for name in ("GTest", "Libbacktrace")}


class Levels(unittest.TestCase):
    def configured(self, *arguments):
        """The settings that each preset is configured with."""
        with tempfile.TemporaryDirectory() as scratch:
            root = pathlib.Path(scratch)
            (root / "tools").mkdir()
            (root / "bin").mkdir()
            (root / "tools/test.sh").write_text(SCRIPT.read_text())
            for name in ("tools/setup.sh", "tools/wheel.sh", "tools/release.sh", "tools/count_tests.py", "tools/touched_tests.py", "bin/git", "bin/cmake", "bin/ctest"):
                (root / name).write_text(RECORDS)
                (root / name).chmod(0o755)
            (root / "build-demo/clone/tools").mkdir(parents=True)
            environment = {**os.environ, "RECORD": str(root / "record"), "PATH": f"{root / 'bin'}:{os.environ['PATH']}"}
            subprocess.run(["bash", root / "tools/test.sh", *arguments], env=environment, capture_output=True)
            record = root / "record"
            lines = record.read_text().splitlines() if record.exists() else []
        found = {}
        for line in lines:
            preset = re.match(r"cmake --preset (\S+)", line)
            if preset:
                found[preset[1]] = dict(re.findall(r" -D(\w+)=(\S+)", line))
        return found

    def test_what_is_optional_is_demanded(self):
        for arguments in ([], ["--quick"], ["--asan"], ["--tsan"], ["--all"]):
            for preset, settings in self.configured(*arguments).items():
                if preset != "minimal":
                    self.assertEqual({key: settings.get(key) for key in OPTIONAL}, OPTIONAL, (arguments, preset))
                if preset == "release":
                    self.assertEqual(settings.get("TBTRACE_TORCH"), "ON", arguments)
                if preset in ("release", "torch2", "torch213") and arguments != ["--quick"]:
                    self.assertEqual(settings.get("TBTRACE_E2E"), "ON", (arguments, preset))

    def test_settings_of_longer_levels_do_not_stay(self):
        self.assertEqual(self.configured("--all")["release"]["TBTRACE_BENCHMARKS"], "ON")
        self.assertEqual(self.configured("--all")["release"]["TBTRACE_INTEGRATIONS"], "ON")
        self.assertEqual(self.configured("--all")["asan"]["TBTRACE_PYTHON"], "ON")
        ci = self.configured()
        self.assertEqual(list(ci), ["release", "torch2", "asan"])
        self.assertEqual({preset: settings.get("TBTRACE_BENCHMARKS") for preset, settings in ci.items()},
                         dict.fromkeys(ci, "OFF"))
        self.assertEqual(ci["release"].get("TBTRACE_INTEGRATIONS"), "OFF")
        self.assertEqual(ci["asan"].get("TBTRACE_PYTHON"), "OFF")

    def test_parts_of_everything_run_alone(self):
        self.assertEqual(list(self.configured("--all")), ["release", "torch2", "torch213", "asan", "tsan", "minimal", "fuzz"])
        self.assertEqual(list(self.configured("--all", "minimal", "tsan")), ["minimal", "tsan"])
        self.assertEqual(self.configured("--all", "release")["release"]["TBTRACE_BENCHMARKS"], "ON")
        self.assertEqual(self.configured("minimal"), {})
        self.assertEqual(self.configured("--all", "quick"), {})


if __name__ == "__main__":
    unittest.main()
