#!/usr/bin/env python3
"""Do the scripts that make a release agree with what docs/install.md says of it?

    release_test.py

It builds nothing. Python's standard library only.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ("release.sh", "release_libraries.sh", "wheel.sh", "package.sh", "old_glibc/make_stubs.sh")
INSTRUCTIONS = {"FROM", "COPY", "USER", "WORKDIR", "ENTRYPOINT", "CMD"}
VERSION = re.search(r'TBTRACE_VERSION "([0-9.]+)"', (ROOT / "include/tbtrace/version.h").read_text())[1]


class Release(unittest.TestCase):
    def test_the_scripts_are_bash(self):
        for name in SCRIPTS:
            done = subprocess.run(["bash", "-n", ROOT / "tools" / name], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)

    def test_wrong_arguments_end_before_anything_is_made(self):
        with tempfile.TemporaryDirectory() as scratch:
            for arguments in ([], [f"{scratch}/out", "--nothing"], [f"{scratch}/out", "--wheel", "x"]):
                done = subprocess.run(["bash", ROOT / "tools/release.sh", *arguments], capture_output=True, text=True)
                self.assertEqual(done.returncode, 1, arguments)
                self.assertTrue(done.stderr.startswith("release: takes OUT"), done.stderr)
            self.assertEqual(list(pathlib.Path(scratch).iterdir()), [])

    def test_wheels_are_made_only_of_what_is_named_right(self):
        for arguments, said in ((["--nothing"], "wheel: takes --python "), (["--python"], "wheel: takes --python "),
                                (["--python", "/no/python"], "wheel: there is no /no/python")):
            done = subprocess.run(["bash", ROOT / "tools/wheel.sh", *arguments], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertTrue(done.stderr.startswith(said), done.stderr)

    def test_functions_of_newer_glibcs_wait_until_their_time(self):
        with tempfile.TemporaryDirectory() as scratch:
            program = f"{scratch}/waits"
            subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", program, ROOT / "tools/old_glibc/newer_functions.c",
                            ROOT / "tests/rules/old_glibc_waits.c"], check=True)
            done = subprocess.run([program], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_the_container_runs_the_program_that_is_made(self):
        lines = (ROOT / "tools/Containerfile").read_text().splitlines()
        instructions = [line.split(None, 1) for line in lines if line and not line.startswith("#")]
        names = [name for name, _ in instructions]
        self.assertEqual(names[0], "FROM")
        self.assertEqual(names.count("ENTRYPOINT"), 1)
        self.assertLessEqual(set(names), INSTRUCTIONS)
        said = dict(instructions)
        source, target = said["COPY"].split()
        self.assertEqual(json.loads(said["ENTRYPOINT"]), [target])
        self.assertEqual(json.loads(said["CMD"]), ["--help"])
        self.assertNotEqual(said["USER"].split(":")[0], "0")
        made = f"tbtrace-{VERSION}-linux-x86_64"
        self.assertTrue(pathlib.PurePath(made).match(source), source)
        self.assertIn("program=$out/tbtrace-$version-linux-$architecture", (ROOT / "tools/release.sh").read_text())

    def test_the_page_about_installing_names_what_is_made(self):
        page = (ROOT / "docs/install.md").read_text()
        for name in (f"tbtrace-{VERSION}-linux-x86_64", f"tbtrace_{VERSION}_amd64.deb", "Containerfile", f"tbtrace-{VERSION}.cdx.json", "SHA256SUMS"):
            self.assertIn(name, page)
        for script in re.findall(r"tools/\w+\.(?:sh|py)", page):
            self.assertTrue((ROOT / script).exists(), script)

    def test_the_bill_names_each_library_with_its_licence(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            (folder / "share").mkdir()
            (folder / "share/made.copyright").write_text("Do what you like.\n")
            (folder / "components.tsv").write_text("made\t1.2-3\tMIT\tmade.copyright\n")
            packages = folder / "dpkg-query"
            packages.write_text("#!/bin/sh\nprintf 4.5\n")
            packages.chmod(0o755)
            done = subprocess.run([sys.executable, ROOT / "tools/release_materials.py", "--static", scratch, "7.8.9"],
                                  capture_output=True, text=True, check=True, env={"PATH": scratch})
            bill = json.loads(done.stdout)
        self.assertEqual((bill["bomFormat"], bill["metadata"]["component"]["version"]), ("CycloneDX", "7.8.9"))
        found = {each["name"]: each for each in bill["components"]}
        self.assertEqual((found["made"]["version"], found["made"]["licenses"]), ("1.2-3", [{"license": {"id": "MIT"}}]))
        self.assertEqual(found["libc6-dev"]["version"], "4.5")
        for each in bill["components"]:
            self.assertTrue(each["version"] and each["licenses"], each)
        self.assertEqual(sorted(bill["dependencies"][0]["dependsOn"]), sorted(found))


if __name__ == "__main__":
    unittest.main()
