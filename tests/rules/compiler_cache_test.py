#!/usr/bin/env python3
"""Does tools/compiler_cache.sh take from the cache what another clone compiled with a precompiled header, and only that?

    compiler_cache_test.py

It is tried on a program of one source and one header, in folders whose paths differ in length, with clang and CMake.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

LAUNCHER = pathlib.Path(__file__).resolve().parents[2] / "tools/compiler_cache.sh"
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(answer CXX)
add_executable(answer main.cc)
target_include_directories(answer PRIVATE ${CMAKE_SOURCE_DIR})
target_precompile_headers(answer PRIVATE <string> <answer.h>)
target_compile_options(answer PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
"""


class CompilerCache(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.compile_in("clone", 1)  # what is here already

    def compile_in(self, clone, answer, options=()):
        """Compiles a program whose exit code is `answer`, a number of the header; returns the cache's statistics."""
        root = self.scratch / clone
        root.mkdir(exist_ok=True)
        (root / "CMakeLists.txt").write_text(PROJECT)
        (root / "answer.h").write_text(f"#pragma once\nenum {{ answer = {answer} }};\n")
        (root / "main.cc").write_text("int main() { return answer; }\n")
        environment = {**os.environ, "CCACHE_DIR": str(self.scratch / "cache"), "CCACHE_BASEDIR": str(root),
                       "CCACHE_NOHASHDIR": "1", "CCACHE_PCH_EXTSUM": "1",
                       "CCACHE_SLOPPINESS": "pch_defines,time_macros,include_file_mtime,include_file_ctime"}
        for command in (["ccache", "--zero-stats"],
                        ["cmake", "-G", "Ninja", "-S", root, "-B", root / "build", "-DCMAKE_CXX_COMPILER=clang++",
                         f"-DCMAKE_CXX_COMPILER_LAUNCHER={LAUNCHER}", *options],
                        ["cmake", "--build", root / "build"]):
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
            self.assertEqual(done.returncode, 0, done.stdout)
        printed = subprocess.run(["ccache", "--print-stats"], check=True, capture_output=True, text=True,
                                 env=environment).stdout
        self.assertEqual(subprocess.run([root / "build/answer"]).returncode, answer)
        statistics = dict(line.split("\t") for line in printed.splitlines())
        return int(statistics["direct_cache_hit"]) + int(statistics["preprocessed_cache_hit"])

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


if __name__ == "__main__":
    sys.exit(unittest.main())
