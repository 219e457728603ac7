#!/usr/bin/env python3
"""Does tools/touched_tests.py name the tests that a change can touch, and leave out others?

Python's standard library only.
"""

import pathlib
import re
import subprocess
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "tools/touched_tests.py"


class TouchedTests(unittest.TestCase):
    def expect(self, file, touched, others=()):
        found = subprocess.run([PROGRAM, file], capture_output=True, text=True, check=True).stdout.strip()
        for names, expected in ((touched, True), (others, False)):
            for name in names:
                self.assertEqual(re.search(found, name) is not None, expected, f"{name} after a change of {file}: {found}")

    def test_a_folder_touches_its_tests_and_those_of_what_uses_it(self):
        self.expect("src/logdir/batch.cc", ["logdir", "live.without_cairo", "golden.convert", "fuzz.convert", "rules.format"],
                    ["base", "readers.1", "analyses.2", "recorder"])
        self.expect("src/base/hash.h", ["base", "wire", "wire_memory", "readers.4", "compat", "partials", "cli.png", "cupti"])
        self.expect("src/libtorch/record/observer.cc", ["rules.tidy"], ["golden.ops", "recorder", "live"])

    def test_a_public_header_touches_what_it_is_the_contract_of(self):
        self.expect("include/tbtrace/partial.h", ["partials", "golden.ops"], ["readers.1", "recorder"])

    def test_tests_touch_themselves(self):
        self.expect("tests/wire/json_text_test.cc", ["wire"], ["base", "readers.1", "golden.ops"])
        self.expect("tests/golden/ops_csv/command", ["golden.ops"], ["cli.png", "wire"])

    def test_pages_touch_the_command_line(self):
        self.expect("docs/formats/ops.md", ["cli.schema_pages_describe_the_json", "golden.help"], ["wire", "reference.cases"])
        self.expect("README.md", ["rules.docs_samples"], ["wire", "golden.ops"])

    def test_what_no_folder_owns_may_touch_everything(self):
        for file in ("CMakeLists.txt", "tests/cli/CMakeLists.txt", "tests/data/damaged.json", "tests/fixtures/tokenized.h",
                     "proto/partial.proto", "examples/traces/encoder.json.gz", "cmake/FindZstd.cmake"):
            self.expect(file, ["wire", "golden.ops", "oracle.parts", "recorder"])


if __name__ == "__main__":
    unittest.main()
