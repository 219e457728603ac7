#!/usr/bin/env python3
"""`tbtrace open` writes the page, and starts a browser or says how to fetch the page.

    open_test.py PROGRAM [NAME...]

Each method is a CTest test cli.NAME. Browsers are scripts that note their arguments. Python's standard library has what
it takes.
"""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

PROGRAM = ""
DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
TRACE, OTHER = str(DATA / "gpu_step.json"), str(DATA / "stacks.json")
DISPLAY = {"DISPLAY": ":7"}
SSH = {"SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22", "USER": "me"}


class Open(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name).resolve()
        self.programs = self.folder / "programs"
        self.programs.mkdir()

    def browser(self, name, ends_with=0):
        """A program that notes its arguments, one per line."""
        path = self.programs / name
        path.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> "{self.folder}/{name}.arguments"\nexit {ends_with}\n')
        path.chmod(0o755)

    def shown_in(self, name):
        path = self.folder / f"{name}.arguments"
        return path.read_text().splitlines() if path.exists() else []

    def open(self, *words, **environment):
        every = {"PATH": f"{self.programs}:/usr/bin:/bin", "HOME": str(self.folder / "home"), "LC_ALL": "C"}
        every |= {name: os.environ[name] for name in os.environ if name.endswith("SAN_OPTIONS")}
        done = subprocess.run([PROGRAM, "open", *words], env=every | environment, cwd=self.folder, capture_output=True,
                              text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def test_open_shows_the_page_in_the_browser(self):
        self.browser("xdg-open")
        code, printed, said = self.open(TRACE, **DISPLAY)
        self.assertEqual((code, said), (0, ""))
        page = pathlib.Path(printed.removesuffix("\n"))
        self.assertEqual(page.parent, self.folder / "home/.cache/tbtrace/pages")
        self.assertRegex(page.name, r"^gpu_step-[0-9a-f]{8}\.html$")
        self.assertEqual(page.parent.stat().st_mode & 0o777, 0o700)
        self.assertEqual(self.shown_in("xdg-open"), [f"file://{page}"])
        subprocess.run([PROGRAM, "report", TRACE, "-o", self.folder / "report.html"], check=True)
        self.assertEqual(page.read_bytes(), (self.folder / "report.html").read_bytes())

    def test_open_keeps_the_name_of_a_page(self):
        cache = self.folder / "cache"
        shutil.copy(TRACE, self.folder / "trace.json")
        (self.folder / "ranks").mkdir()
        shutil.copy(TRACE, self.folder / "ranks/rank0.json")
        (self.folder / "other").mkdir()
        shutil.copy(TRACE, self.folder / "other/trace.json")

        def page(*inputs):
            code, printed, _ = self.open(*inputs, XDG_CACHE_HOME=str(cache))
            self.assertEqual(code, 0)
            return pathlib.Path(printed.strip())

        first = page("trace.json")
        self.assertEqual(first.parent, cache / "tbtrace/pages")
        first.write_text("old")
        self.assertEqual(page("./other/../trace.json"), first)
        self.assertIn("<html", first.read_text())
        folder = page("ranks/")
        self.assertRegex(folder.name, r"^ranks-")
        self.assertEqual(page("ranks"), folder)
        self.assertEqual(len({first, folder, page("other/trace.json"), page("trace.json", "other/trace.json")}), 4)

    def test_open_takes_the_options_of_report(self):
        self.browser("xdg-open")
        words = (TRACE, OTHER, "--views", "summary", "--title", "a & b", "--limit", "600KB")
        code, printed, _ = self.open(*words, "-o", "100% #1?.html", **DISPLAY)
        self.assertEqual((code, printed), (0, f"{self.folder}/100% #1?.html\n"))
        [address] = self.shown_in("xdg-open")
        self.assertTrue(address.endswith("/100%25%20%231%3F.html"), address)
        self.assertEqual(urllib.parse.unquote(address), f"file://{self.folder}/100% #1?.html")
        subprocess.run([PROGRAM, "report", *words, "-o", self.folder / "report.html"], check=True)
        self.assertEqual((self.folder / "100% #1?.html").read_bytes(), (self.folder / "report.html").read_bytes())

    def test_open_uses_the_first_browser_that_works(self):
        self.browser("first", ends_with=3)
        self.browser("second")
        self.browser("third")
        self.browser("xdg-open")
        code, printed, said = self.open(TRACE, BROWSER="missing:first:second --new=%s -x:third", **DISPLAY)
        self.assertEqual((code, said), (0, ""))
        address = "file://" + printed.strip()
        self.assertEqual(self.shown_in("first"), [address])
        self.assertEqual(self.shown_in("second"), [f"--new={address}", "-x"])
        self.assertEqual(self.shown_in("third") + self.shown_in("xdg-open"), [])

    def test_open_says_that_a_browser_failed(self):
        self.browser("first", ends_with=3)
        code, printed, said = self.open(TRACE, BROWSER="first:missing", **DISPLAY)
        self.assertEqual(code, 0, "the page is there")
        self.assertTrue(pathlib.Path(printed.strip()).is_file())
        self.assertEqual(said, "tbtrace: open: first failed with exit code 3, missing was not found; open the page in a "
                               "browser, or set BROWSER\n")
        self.assertIn("open: BROWSER names no program;", self.open(TRACE, BROWSER=" : ", **DISPLAY)[2])

    def test_open_does_not_wait_for_a_browser_that_stays(self):
        # The pipe, which only the browser holds open after tbtrace has ended, says that it still runs.
        browser = self.programs / "stays"
        browser.write_text(f'#!/bin/sh\nexec 3>"{self.folder}/pipe"\necho ready >&3\nexec cat "{self.folder}/end"\n')
        browser.chmod(0o755)
        os.mkfifo(self.folder / "pipe")
        os.mkfifo(self.folder / "end")
        pipe = os.open(self.folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        code, _, said = self.open(TRACE, BROWSER="stays")
        self.assertEqual((code, said), (0, ""))
        os.set_blocking(pipe, True)
        self.assertEqual(os.read(pipe, 100), b"ready\n")
        with open(self.folder / "end", "w"):
            pass
        self.assertEqual(os.read(pipe, 100), b"", "it ran until now")
        os.close(pipe)

    def test_open_on_a_remote_machine_says_how_to_fetch_the_page(self):
        self.browser("xdg-open")
        host = re.escape(socket.gethostname())
        code, printed, said = self.open(TRACE, BROWSER="xdg-open", **SSH)
        self.assertEqual(code, 0)
        self.assertRegex(said, rf"^tbtrace: open: this machine has no display; on yours: "
                               rf"scp me@{host}:{re.escape(printed.strip())} \.\n$")
        other_port = SSH | {"SSH_CONNECTION": "2001:db8::1 50000 2001:db8::2 2222"}
        _, _, said = self.open(TRACE, "-o", "it's.html", **other_port)
        self.assertRegex(said, rf"on yours: scp -P 2222 'me@{host}:{self.folder}/it'\\''s\.html' \.\n$")
        self.assertEqual(self.open(TRACE, "-q", **SSH)[1:], (printed, ""))
        self.assertEqual(self.shown_in("xdg-open"), [])
        # X11 that SSH forwards is a display.
        self.assertEqual(self.open(TRACE, **SSH, **DISPLAY)[2], "")
        self.assertEqual(self.shown_in("xdg-open"), ["file://" + printed.strip()])

    def test_open_without_a_display_prints_the_path(self):
        self.browser("xdg-open")
        code, printed, said = self.open(TRACE)
        self.assertEqual((code, self.shown_in("xdg-open")), (0, []))
        self.assertTrue(pathlib.Path(printed.strip()).is_file())
        self.assertEqual(said, "tbtrace: open: there is no display; open the page in a browser, or set BROWSER\n")
        self.browser("w3m")
        self.assertEqual(self.open(TRACE, BROWSER="w3m")[2], "")
        self.assertEqual(self.shown_in("w3m"), ["file://" + printed.strip()])

    def test_open_shows_no_page_that_was_not_written(self):
        self.browser("xdg-open")
        (self.folder / "page.html").write_text("old")
        code, printed, said = self.open(TRACE, "-o", "page.html", **DISPLAY)
        self.assertEqual((code, printed), (5, ""))
        self.assertIn("; --overwrite replaces it", said)
        self.assertEqual(self.open(TRACE, "-o", "-", **DISPLAY)[:2], (2, ""))
        self.assertEqual(self.open("missing.json", **DISPLAY)[:2], (3, ""))
        (self.folder / "file").write_text("")
        code, printed, said = self.open(TRACE, HOME=str(self.folder / "file"), **DISPLAY)
        self.assertEqual((code, printed), (5, ""))
        self.assertRegex(said, r"/file/\.cache/tbtrace/pages: cannot make the directory: .*; name a file with -o")
        code, printed, said = self.open(TRACE, HOME="", **DISPLAY)
        self.assertEqual((code, printed), (5, ""))
        self.assertIn("name a file with -o, or set XDG_CACHE_HOME", said)
        self.assertFalse((self.folder / ".cache").exists())
        self.assertEqual(self.shown_in("xdg-open"), [])
        code, printed, _ = self.open(TRACE, "missing.json", "-o", "page.html", "--overwrite", **DISPLAY)
        self.assertEqual((code, printed), (4, f"{self.folder}/page.html\n"), "of those that could be read")
        self.assertEqual(self.shown_in("xdg-open"), [f"file://{self.folder}/page.html"])


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=[sys.argv[0], *(f"Open.test_{name}" for name in sys.argv[2:])])
