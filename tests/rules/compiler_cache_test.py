#!/usr/bin/env python3
"""Does tools/compiler_cache.sh take from the cache what another clone compiled, and only what is the same?

    compiler_cache_test.py

It is tried on programs with a precompiled header, in folders whose paths differ in length, with CMake: on one source
with clang, and on a group of two with g++.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

LAUNCHER = pathlib.Path(__file__).resolve().parents[2] / "tools/compiler_cache.sh"
PRECOMPILED = """cmake_minimum_required(VERSION 3.25)
project(answer CXX)
add_executable(answer main.cc)
target_include_directories(answer PRIVATE ${CMAKE_SOURCE_DIR})
target_precompile_headers(answer PRIVATE <string> <answer.h>)
target_compile_options(answer PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
"""
GROUPED = """cmake_minimum_required(VERSION 3.25)
project(answer CXX)
add_executable(answer main.cc parts/part.cc)
target_include_directories(answer PRIVATE ${CMAKE_SOURCE_DIR})
target_precompile_headers(answer PRIVATE <string> <answer.h>)
set_target_properties(answer PROPERTIES UNITY_BUILD ON)
"""


class Clones(unittest.TestCase):
    compiler = ""
    project = ""
    sources = {}

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.compile_in("clone", 1)  # what is here already

    def compile_in(self, clone, answer, options=()):
        """Compiles a program whose exit code is `answer`, a number of the header; returns how often the cache had what
        was asked for."""
        root = self.scratch / clone
        header = f"#pragma once\nenum {{ answer = {answer} }};\n"
        for name, text in {"CMakeLists.txt": self.project, "answer.h": header, **self.sources}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        environment = {**os.environ, "CCACHE_DIR": str(self.scratch / "cache"), "CCACHE_BASEDIR": str(root),
                       "CCACHE_NOHASHDIR": "1", "CCACHE_PCH_EXTSUM": "1",
                       "CCACHE_SLOPPINESS": "pch_defines,time_macros,include_file_mtime,include_file_ctime"}
        for command in (["ccache", "--zero-stats"],
                        ["cmake", "-G", "Ninja", "-S", root, "-B", root / "build", f"-DCMAKE_CXX_COMPILER={self.compiler}",
                         f"-DCMAKE_CXX_COMPILER_LAUNCHER={LAUNCHER}", *options],
                        ["cmake", "--build", root / "build"]):
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
            self.assertEqual(done.returncode, 0, done.stdout)
        printed = subprocess.run(["ccache", "--print-stats"], check=True, capture_output=True, text=True,
                                 env=environment).stdout
        self.assertEqual(subprocess.run([root / "build/answer"]).returncode, answer)
        statistics = dict(line.split("\t") for line in printed.splitlines())
        return int(statistics["direct_cache_hit"]) + int(statistics["preprocessed_cache_hit"])


class PrecompiledHeader(Clones):
    compiler = "clang++"
    project = PRECOMPILED
    sources = {"main.cc": "int main() { return answer; }\n"}

    def test_an_object_of_another_clone_is_used(self):
        self.assertEqual(self.compile_in("another_clone", 1), 1)

    def test_the_precompiled_header_of_a_clone_that_is_gone_is_not(self):
        shutil.rmtree(self.scratch / "clone")
        self.assertEqual(self.compile_in("another_clone", 1), 1)

    def test_a_changed_header_is_seen(self):
        self.assertEqual(self.compile_in("another_clone", 2), 0)
        self.assertEqual(self.compile_in("another_clone", 3), 0)
        self.assertEqual(self.compile_in("clone", 3), 1)

    def test_a_changed_option_of_the_header_is_seen(self):
        self.assertEqual(self.compile_in("another_clone", 1, ["-DCMAKE_CXX_FLAGS=-O1"]), 0)

    def test_a_new_folder_at_the_same_place_uses_all(self):
        shutil.rmtree(self.scratch / "clone")
        self.assertEqual(self.compile_in("clone", 1), 2)


class GroupOfSources(Clones):
    compiler = "g++"
    project = GROUPED
    sources = {"main.cc": "int part();\nint main() { return part(); }\n",
               "parts/part.cc": "const char* file = __FILE__;\nint part() { return answer; }\n"}

    def test_the_object_and_the_header_of_another_clone_are_used(self):
        self.assertEqual(self.compile_in("another_clone", 1), 2)

    def test_a_changed_header_is_seen(self):
        self.assertEqual(self.compile_in("another_clone", 2), 0)

    def test_a_changed_source_is_seen(self):
        self.sources = {**self.sources, "parts/part.cc": "int part() { return 5; }\n"}
        self.assertEqual(self.compile_in("clone", 5), 0)


class WithoutCcache(unittest.TestCase):
    def printed(self, *command):
        with tempfile.TemporaryDirectory() as programs:
            (pathlib.Path(programs) / "bash").symlink_to(shutil.which("bash"))
            done = subprocess.run([LAUNCHER, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  env={"PATH": programs})
        return done.returncode, done.stdout

    def test_the_compiler_runs_directly(self):
        self.assertEqual(self.printed(shutil.which("echo"), "-c", "main.cc"), (0, "-c main.cc\n"))
        self.assertEqual(self.printed(shutil.which("echo"), "-Xclang", "-emit-pch"), (0, "-Xclang -emit-pch\n"))
        self.assertEqual(self.printed(shutil.which("false"), "-c", "main.cc"), (1, ""))


if __name__ == "__main__":
    sys.exit(unittest.main())
