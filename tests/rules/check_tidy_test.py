#!/usr/bin/env python3
"""Does tools/check_tidy.py pass over a source only where nothing that it depends on has changed?

    check_tidy_test.py COMPILER

It is tried on a repository of two sources. Needs clang-tidy 14 and ninja, and Python's standard library only.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
COMPILER = sys.argv.pop()
NINJA = """rule compile
  command = $compiler -MD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
compiler = {compiler}
build one.o: compile {root}/src/one.cc
build two.o: compile {root}/src/two.cc
"""


class CheckTidy(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.root = self.repository("clone")

    def repository(self, name):
        root = self.scratch / name
        for folder in ("src", "tools", "build"):
            (root / folder).mkdir(parents=True)
        for name in ("check_tidy.py", "changed_files.py"):
            shutil.copy(TOOLS / name, root / "tools")
        (root / ".clang-tidy").write_text("Checks: '-*,modernize-use-nullptr'\nWarningsAsErrors: '*'\n"
                                          "HeaderFilterRegex: '.*'\n")
        (root / "src/one.h").write_text("inline int* one() { return nullptr; }\n")
        (root / "src/one.cc").write_text('#include "one.h"\nint main() { return one() != nullptr; }\n')
        (root / "src/two.cc").write_text("int* two() { return nullptr; }\n")
        (root / "build/build.ninja").write_text(NINJA.format(compiler=COMPILER, root=root))
        self.write_commands(root, "")
        return root

    def write_commands(self, root, option):
        (root / "build/compile_commands.json").write_text(json.dumps([
            {"directory": str(root / "build"), "file": str(root / f"src/{name}.cc"),
             "command": f"{COMPILER} {option} -o {name}.o -c {root}/src/{name}.cc"} for name in ("one", "two")]))

    def run_it(self, *options, root=None):
        root = root or self.root
        subprocess.run(["ninja", "-C", root / "build"], check=True, capture_output=True)
        done = subprocess.run([root / "tools/check_tidy.py", *options], capture_output=True, text=True,
                              env={**os.environ, "XDG_CACHE_HOME": str(self.scratch / "cache")})
        return done.returncode, done.stdout + done.stderr

    def expect_checked(self, count, *options, root=None):
        code, text = self.run_it(*options, root=root)
        self.assertEqual(code, 0, text)
        self.assertIn(f"2 files, {2 - count} known to be clean, {count} checked\n", text)

    def test_what_is_clean_is_not_checked_again_in_any_clone(self):
        self.expect_checked(2)
        self.expect_checked(0)
        self.expect_checked(0, root=self.repository("other"))

    def test_a_changed_header_is_found(self):
        self.expect_checked(2)
        (self.root / "src/one.h").write_text("inline int* one() { return 0; }\n")
        code, text = self.run_it()
        self.assertEqual(code, 1, text)
        self.assertIn("modernize-use-nullptr", text)
        self.assertEqual(self.run_it()[0], 1, "what was found is forgotten")

    def test_changed_checks_commands_and_depth_are_seen(self):
        self.expect_checked(2)
        self.write_commands(self.root, "-DX")
        self.expect_checked(2)
        (self.root / ".clang-tidy").write_text("Checks: '-*,modernize-use-using'\n")
        self.expect_checked(2)
        self.expect_checked(2, "--shallow")

    def test_a_precompiled_header_hides_no_missing_include(self):
        header = self.root / "build/cmake_pch.hxx"
        header.write_text("#include <vector>\n")
        self.write_commands(self.root, f"-Winvalid-pch -include {header}")
        self.expect_checked(2)
        (self.root / "src/two.cc").write_text("std::vector<int> two() { return {}; }\n")
        database = self.root / "build/build.ninja"
        database.write_text(database.read_text().replace(" -c $in", f" -include {header} -c $in"))
        code, text = self.run_it()
        self.assertEqual(code, 1, text)
        self.assertIn("undeclared identifier 'std'", text)

    def test_sources_that_are_compiled_together_are_checked_alone(self):
        database = self.root / "build/build.ninja"
        both = self.root / "build/Unity/unity_0_cxx.cxx"
        both.parent.mkdir()
        both.write_text(f'#include "{self.root}/src/one.cc"\n\n#include "{self.root}/src/two.cc"\n')
        database.write_text(database.read_text().split("build one.o")[0] + f"build both.o: compile {both}\n")
        (self.root / "build/compile_commands.json").write_text(json.dumps([
            {"directory": str(self.root / "build"), "file": str(both), "command": f"{COMPILER} -o both.o -c {both}"}]))
        self.expect_checked(2)
        self.expect_checked(0)
        (self.root / "src/two.cc").write_text("int* two() { return one(); }\n")
        code, text = self.run_it()
        self.assertEqual(code, 1, text)
        self.assertIn("1 known to be clean, 1 checked", text)
        self.assertIn("use of undeclared identifier 'one'", text)

    def test_what_is_not_built_is_always_checked(self):
        self.expect_checked(2)
        (self.root / "build/.ninja_deps").unlink()
        done = subprocess.run([self.root / "tools/check_tidy.py"], capture_output=True, text=True,
                              env={**os.environ, "XDG_CACHE_HOME": str(self.scratch / "cache")})
        self.assertIn("0 known to be clean, 2 checked", done.stdout)

    def test_what_is_not_built_can_be_left_out(self):
        self.expect_checked(2)
        database = json.loads((self.root / "build/compile_commands.json").read_text())
        (self.root / "src/three.cc").write_text("int* three() { return 0; }\n")
        database.append({"directory": str(self.root / "build"), "file": str(self.root / "src/three.cc"),
                         "command": f"{COMPILER} -o three.o -c {self.root}/src/three.cc"})
        (self.root / "build/compile_commands.json").write_text(json.dumps(database))
        code, text = self.run_it("--built")
        self.assertEqual(code, 0, text)
        self.assertIn("2 files, 2 known to be clean, 0 checked, 1 not built\n", text)
        self.assertEqual(self.run_it()[0], 1)
        (self.root / "build/.ninja_deps").unlink()
        done = subprocess.run([self.root / "tools/check_tidy.py", "--built"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("has compiled nothing that could be checked", done.stderr)

    def git(self, *arguments):
        subprocess.run(["git", "-C", self.root, "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True,
                       capture_output=True)

    def commit(self, file, text):
        (self.root / file).write_text(text)
        self.git("add", "src", "tools", ".clang-tidy")
        self.git("commit", "-m", "a")

    def expect_changed(self, count):
        code, text = self.run_it("--changed")
        self.assertEqual(code, 0, text)
        self.assertIn(f"check_tidy: {count} files, ", text)

    def test_what_a_branch_has_not_changed_can_be_left_out(self):
        self.git("init", "-b", "main")
        self.commit("src/two.cc", "int* two() { return nullptr; }\n")
        self.expect_changed(2)  # there is nothing before
        self.commit("src/two.cc", "int* two() { return nullptr; }  // on main\n")
        self.expect_changed(1)
        self.git("checkout", "-b", "branch")
        self.expect_changed(1)
        self.commit("src/one.cc", '#include "one.h"\nint main() { return one() != nullptr; }  // on a branch\n')
        self.commit("src/readme", "")
        self.expect_changed(1)
        (self.root / "src/one.h").write_text("inline int* one() { return nullptr; }  // not committed\n")
        (self.root / "src/two.cc").write_text("int* two() { return nullptr; }  // not committed\n")
        self.expect_changed(2)
        self.git("checkout", "src")
        self.commit(".clang-tidy", "Checks: '-*,modernize-use-using'\n")
        self.expect_changed(2)

    def test_at_most_some_are_checked_at_once(self):
        self.assertIn("1 checked, 1 left out", self.run_it("--most", "1")[1])
        self.expect_checked(1)


if __name__ == "__main__":
    unittest.main()
