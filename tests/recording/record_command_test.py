#!/usr/bin/env python3
"""`tbtrace record` leaves a program its output, its exit code and its signals, and says why a trace is missing.

    record_command_test.py PROGRAM [NAME...]

Each method is a CTest test recording.NAME. Programs here do without torch: one that has a trace says so as the recorder
does, to the folder that comes first in PYTHONPATH. recorded_programs_test.py has the real ones.
"""

import fcntl
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import termios
import textwrap
import time
import unittest

PROGRAM = ""
DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
HAS_TRACE = """
import os, pathlib, shutil
hook = pathlib.Path(os.environ["PYTHONPATH"].split(":")[0])
said = hook / f"{os.getpid()}.said"
def say(text): said.write_text(said.read_text() + text + "\\n")
def copy(name):
    pathlib.Path("logs").mkdir(exist_ok=True)
    shutil.copy("%s", f"logs/{name}.pt.trace.json")
    say(f"trace {os.getcwd()}/logs/{name}.pt.trace.json")
say("torch 2.14")
""" % (DATA / "cpu_steps.json")


class Record(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="tbtrace-record-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name).resolve()
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

    def script(self, text, name="program.py"):
        (self.folder / name).write_text(textwrap.dedent(text))
        return name

    def start(self, *words, options=(), **more):
        return subprocess.Popen([PROGRAM, "record", *options, "--", *words], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=self.environment, **more)

    def record(self, *words, options=(), given=None):
        started = self.start(*words, options=options, stdin=subprocess.PIPE)
        printed, said = started.communicate(given, timeout=60)
        return started.returncode, printed, said

    def python(self, text, **more):
        return self.record(sys.executable, self.script(text), **more)

    def left(self):
        return sorted(path.name for path in self.folder.rglob("*") if path.name != "program.py")

    def test_program_has_its_streams_and_exit_code(self):
        code, printed, said = self.python("""
            import sys
            print("got", sys.stdin.read(), sys.argv[1:])
            print("problem", file=sys.stderr)
            sys.exit(3)
        """, given="words")
        self.assertEqual((code, printed), (3, "got words []\n"))
        self.assertTrue(said.startswith("problem\n"), said)
        self.assertEqual(self.left(), [])
        code, printed, _ = self.record("sh", "-c", "echo $1; exit 9", "sh", "-o x --steps")
        self.assertEqual((code, printed), (9, "-o x --steps\n"))

    def test_program_that_cannot_run(self):
        code, _, said = self.record("no-such-program")
        self.assertEqual(code, 127)
        self.assertIn("tbtrace: no-such-program: cannot be run: No such file or directory", said)
        self.script("", "text")
        self.assertEqual(self.record("./text")[0], 126)
        self.assertEqual(self.left(), ["text"])
        self.assertEqual(self.record()[0], 2)

    def test_wrong_options_of_record(self):
        for options in (["--steps", "0"], ["--skip", "-1"], ["--seconds", "x"], ["--steps", "2", "--after", "1"],
                        ["--idle", "--steps", "2"], ["--idle", "--with-stack"]):
            code, _, said = self.record("true", options=options)
            self.assertEqual(code, 2, said)
            self.assertIn("tbtrace: record: --", said)

    def test_directory_that_cannot_be_written(self):
        self.script("", "logs")
        code, _, said = self.record("echo", "ran")
        self.assertEqual((code, self.left()), (5, ["logs"]))
        self.assertIn("cannot make the directory", said)
        self.assertIn("name another with -o", said)

    def test_reasons_why_nothing_was_recorded(self):
        self.assertIn("ran no Python that reads PYTHONPATH", self.record("true")[2])
        self.assertIn("no Python program imported torch", self.python("pass")[2])
        for option in ("-I", "-E", "-S", "-Im"):
            said = self.record(sys.executable, option, self.script("pass"))[2]
            self.assertIn("python -I, -E and -S ignore" if option != "-Im" else "nothing was recorded", said)
        self.assertIn("no optimizer stepped", self.python(HAS_TRACE)[2])
        said = self.python(HAS_TRACE + "say('steps 1 optimizer'); say('steps 4 optimizer')")[2]
        self.assertIn("4 steps of an optimizer ended in all, and recording begins after 5", said)
        self.assertIn("1 call of a model ended", self.python(HAS_TRACE + "say('steps 1 module')")[2])
        said = self.python(HAS_TRACE + "say('open '); os.kill(os.getpid(), 9)")[2]
        self.assertIn("a process was killed", said)
        self.assertEqual(self.left(), [])

    def test_summary_and_report_at_the_end(self):
        code, printed, said = self.python(HAS_TRACE + "copy('rank0'); print('own')", options=["--report", "page.html"])
        self.assertEqual((code, printed), (0, "own\n"))
        self.assertIn("tbtrace: logs/rank0.pt.trace.json: trace written\n", said)
        self.assertIn("findings", said.lower())
        self.assertIn("tbtrace: page.html: the report", said)
        self.assertEqual(self.left(), ["logs", "page.html", "rank0.pt.trace.json"])
        code, printed, said = self.python(HAS_TRACE + "copy('a'); import sys; sys.exit(7)", options=["--no-summary"])
        self.assertEqual((code, printed, said), (7, "", "tbtrace: logs/a.pt.trace.json: trace written\n"))
        self.assertEqual(self.python(HAS_TRACE + "copy('a')", options=["--report", "no/page.html"])[0], 5)

    def test_problems_of_processes_are_said_once(self):
        said = self.python(HAS_TRACE + "say('problem no room'); say('problem no room'); copy('a')")[2]
        self.assertEqual(said.count("tbtrace: record: no room\n"), 1)

    def test_environment_is_as_before_but_for_the_hook(self):
        self.environment["PYTHONPATH"] = str(self.folder / "mine")
        code, printed, _ = self.python("""
            import os, pathlib, sys
            hook, mine = os.environ["PYTHONPATH"].split(":")
            assert mine in sys.path and hook not in sys.path
            folder = pathlib.Path(hook)
            assert folder.parent == pathlib.Path("logs").resolve() and folder.stat().st_mode & 0o777 == 0o700
            print([sorted(set(os.environ) - {"PYTHONPATH"}), sorted(sys.modules)])
        """)
        self.assertEqual(code, 0)
        variables, modules = eval(printed)
        self.assertLessEqual(set(variables), {*self.environment, "LC_CTYPE", "_"})
        alone = subprocess.run([sys.executable, "-c", "import os, pathlib, sys; print(sorted(sys.modules))"],
                               capture_output=True, text=True, env=self.environment, check=True)
        self.assertLessEqual(set(modules), {*eval(alone.stdout), "__future__", "sitecustomize"})

    def test_hidden_sitecustomize_runs(self):
        (self.folder / "mine").mkdir()
        self.script("import builtins; builtins.marked = __file__\n", "mine/sitecustomize.py")
        self.environment["PYTHONPATH"] = str(self.folder / "mine")
        code, printed, _ = self.python("import sys; print(marked == sys.modules['sitecustomize'].__file__)")
        self.assertEqual((code, printed), (0, "True\n"))
        self.script("raise ValueError('mine')\n", "mine/sitecustomize.py")
        self.assertIn("mine", self.python("pass")[2])

    def test_torch_that_cannot_be_recorded_is_used_as_it_is(self):
        (self.folder / "torch").mkdir()
        self.script("marker = 3\n", "torch/__init__.py")
        code, printed, said = self.python("""
            import torch, importlib, sys
            print(torch.marker, type(torch.__loader__).__name__, "exec_module" in vars(torch.__loader__))
            assert not any(type(finder).__name__ == "_TorchFinder" for finder in sys.meta_path)
        """)
        self.assertEqual((code, printed), (0, "3 SourceFileLoader False\n"))
        self.assertIn("cannot record this process", said)

    def test_signals_of_others_reach_the_program(self):
        text = """
            import os, signal, sys, time
            signal.signal(signal.SIGTERM, lambda *_: (os.write(1, b"told\\n"), sys.exit(4)))
            os.write(1, b"ready\\n")
            time.sleep(30)
        """
        started = self.start(sys.executable, self.script(text))
        self.assertEqual(started.stdout.readline(), "ready\n")
        started.send_signal(signal.SIGTERM)
        printed, _ = started.communicate(timeout=30)
        self.assertEqual((started.returncode, printed), (4, "told\n"))

    def test_interrupt_of_the_terminal_comes_once(self):
        master, terminal = pty.openpty()
        self.addCleanup(os.close, master)
        text = """
            import time
            for text in ("ready", "again"):
                try: print(text, flush=True); time.sleep(1)
                except KeyboardInterrupt: print("interrupted", flush=True)
        """
        started = self.start(sys.executable, self.script(text), stdin=terminal, start_new_session=True,
                             preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(terminal)
        self.assertEqual(started.stdout.readline(), "ready\n")
        os.write(master, b"\x03")
        printed, said = started.communicate(timeout=30)
        self.assertEqual((started.returncode, printed), (0, "interrupted\nagain\n"), said)

    def test_death_by_a_signal_is_the_programs(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSEGV):
            code, _, said = self.record("sh", "-c", f"kill -{int(number)} $$")
            self.assertEqual(code, -number)
            self.assertIn("nothing was recorded", said)
        self.assertEqual(self.left(), [])

    def test_many_moments_of_the_end(self):
        for number in range(10):
            started = self.start("sleep", "0.02")
            time.sleep(number * 0.004)
            started.send_signal(signal.SIGTERM)
            started.communicate(timeout=30)
            self.assertIn(started.returncode, (0, -signal.SIGTERM))


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    unittest.main(argv=sys.argv[:1] + ["Record.test_" + name for name in sys.argv[2:]])
