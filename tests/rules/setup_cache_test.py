#!/usr/bin/env python3
"""Does tools/setup.sh keep the Python packages that a checkout links to, and few besides?

    setup_cache_test.py

It runs in small checkouts, with environments that are empty. Python's standard library only.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SETUP = pathlib.Path(__file__).resolve().parents[2] / "tools/setup.sh"
KINDS = {"venv": "e2e", "venv-python": "python", "venv-torch": "libtorch"}


class PythonPackages(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        programs = self.scratch / "bin"
        programs.mkdir()
        for name, text in (("dpkg-query", "printf 'installed '"), ("apt-get", "exit 1"), ("sudo", "exit 1")):
            (programs / name).write_text(f"#!/bin/sh\n{text}\n")
            (programs / name).chmod(0o755)

    def set_up(self, clone, requirement):
        """Runs setup.sh in a checkout whose environments are there already, as if it had installed them."""
        root = self.scratch / clone
        (root / "tools").mkdir(parents=True, exist_ok=True)
        shutil.copy(SETUP, root / "tools")
        version = subprocess.run(["/usr/bin/python3", "--version"], check=True, capture_output=True).stdout
        for kind, tests in KINDS.items():
            file = root / "tests" / tests / "requirements.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(requirement)
            name = hashlib.sha256(requirement.encode() + version).hexdigest()[:16]
            environment = self.scratch / "cache/tbtrace/python" / kind / name
            environment.mkdir(parents=True, exist_ok=True)
            (environment / ".complete").touch()
        done = subprocess.run(["bash", root / "tools/setup.sh", "--tests"], capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{self.scratch / 'bin'}:{os.environ['PATH']}",
                                   "XDG_CACHE_HOME": str(self.scratch / "cache")})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return root

    def count(self, kind):
        return sum(each.is_dir() for each in (self.scratch / "cache/tbtrace/python" / kind).iterdir())

    def test_what_a_checkout_links_to_stays(self):
        roots = [self.set_up(f"clone{number}", f"package=={number}\n") for number in range(6)]
        for root in roots:
            for kind in KINDS:
                self.assertTrue((root / f".{kind}/.complete").exists(), (root, kind))
        # Checkouts that are gone, and one whose requirements changed.
        for root in roots[:3]:
            shutil.rmtree(root)
        self.set_up("clone5", "package==7\n")
        for kind in KINDS:
            self.assertEqual(self.count(kind), 5, "three that are linked, and two besides")
            for root in roots[3:]:
                self.assertTrue((root / f".{kind}/.complete").exists())


if __name__ == "__main__":
    unittest.main()
