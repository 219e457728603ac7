#!/usr/bin/env python3
"""How the program behaves towards terminals, pipes, signals and full disks.

    manners_test.py PROGRAM [NAME...]

Each method is a CTest test cli.NAME. Python's standard library has what it takes: pseudo-terminals and signals.
"""

import concurrent.futures
import fcntl
import gzip
import json
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

import described
from terminals import drained, have_terminals

PROGRAM = ""
DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
GPU, GPU_LATER = str(DATA / "gpu_step.json"), str(DATA / "gpu_step_later.json")
SOUND, DAMAGED = str(DATA / "stacks.json"), str(DATA / "damaged.json")
YELLOW, RED, CLEAR = b"\x1b[33m", b"\x1b[31m", b"\r\x1b[K"
ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")} | {"LC_ALL": "C"}


def run(*words, terminal="", stdin=b"", environment=(), columns=0, **more):
    """Exit code, standard output and standard error; `terminal` names the one that is a terminal."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if terminal:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        pipes[terminal] = theirs
    process = subprocess.Popen([PROGRAM, *words], stdin=subprocess.PIPE, env=ENVIRONMENT | dict(environment),
                               **pipes, **more)
    with concurrent.futures.ThreadPoolExecutor() as reader:
        if terminal:
            os.close(theirs)
            shown = reader.submit(drained, ours)
        out, err = process.communicate(stdin, timeout=60)
    seen = {"stdout": out, "stderr": err}
    if terminal:
        seen[terminal] = shown.result()
    return process.returncode, seen["stdout"], seen["stderr"]


class Manners(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())

    def test_help_fits_eighty_columns(self):
        verbs = described.verbs(PROGRAM, with_options=True)
        self.assertGreater(len(verbs), 20)
        for words in ([], ["--all"], *(verb.split() for verb in verbs)):
            text = described.printed(PROGRAM, *words, "--help") if words != ["--all"] else \
                described.printed(PROGRAM, "--help", "--all")
            for line in text.splitlines():
                self.assertLessEqual(len(line), 80, f"{words}: {line}")

    def test_help_begins_with_few_verbs_and_names_all(self):
        first, more = described.printed(PROGRAM, "--help").split("\nMore verbs")
        names = re.findall(r"^  ([a-z-]+)  +\S", first, re.MULTILINE)
        self.assertEqual(sorted(names), sorted(["summary", "report", "diff", "ops", "kernels", "lines", "memory",
                                                "collectives", "flamegraph", "tensorboard", "record"]))
        more = " ".join(more.split())
        for verb in described.verbs(PROGRAM, with_options=True):
            self.assertTrue(verb in names or re.search(rf"(?<![\w-]){verb}(?![\w-])", more), verb)
        self.assertLess(first.count("\n") + len(more) / 80, 45)

    def test_progress_only_on_a_terminal(self):
        trace = pathlib.Path(SOUND).read_bytes()
        code, _, shown = run("ops", "-", terminal="stderr", stdin=trace)
        self.assertEqual(code, 0)
        self.assertIn(b"reading standard input: 0 MiB", shown)
        self.assertTrue(shown.endswith(CLEAR), shown)
        self.assertEqual(run("ops", "-", stdin=trace)[2], b"")
        self.assertEqual(run("ops", "-", terminal="stdout", stdin=trace)[2], b"")

    def test_progress_fits_the_line(self):
        trace = self.folder / ("long_name_" * 12 + ".json.gz")
        shutil.copy(DATA.parents[1] / "examples/traces/resnet18_training.json.gz", trace)
        shown = run("ops", str(trace), "--row-limit", "1", terminal="stderr", columns=80)[2]
        self.assertIn(b"...", shown)
        for line in re.split(rb"\r\x1b\[K|\r?\n", shown):
            self.assertLess(len(line), 80, line)

    def test_results_have_colors_on_a_terminal_only(self):
        trace = str(DATA / "h200/perceptron.json.gz")
        shown = run("summary", trace, terminal="stdout", columns=100)[1]
        self.assertIn(YELLOW + b"92.6 % of the GPU's time", shown)
        self.assertIn(b"\x1b[1mThe GPU is idle\x1b[0m [low_gpu_utilization]", shown)
        plain = run("summary", trace)[1]
        self.assertNotIn(b"\x1b", plain)
        for words, environment in ((("--color", "never"), ()), ((), (("NO_COLOR", "1"),))):
            self.assertNotIn(b"\x1b", run("summary", trace, *words, terminal="stdout", environment=environment)[1])
        colored = run("summary", trace, "--color", "always")[1]
        self.assertEqual(re.sub(rb"\x1b\[\d*m", b"", colored), plain, "words say the same")
        self.assertNotIn(b"\x1b", run("summary", trace, "--color", "always", "--format", "json")[1])
        compared = [str(DATA / "compare" / name) for name in ("before.json.gz", "after.json.gz")]
        self.assertIn(RED + b"verdict: slower", run("diff", *compared, "--run-noise", "5%", "--color", "always")[1])
        self.assertIn(RED + b"error ", run("check", DAMAGED, "--color", "always")[1])

    def test_progress_as_asked(self):
        trace = pathlib.Path(SOUND).read_bytes()
        self.assertIn(b"reading", run("ops", "-", "--progress", "on", stdin=trace)[2])
        self.assertEqual(run("ops", "-", "--progress", "off", terminal="stderr", stdin=trace)[2], b"")

    def test_quiet(self):
        trace = pathlib.Path(DAMAGED).read_bytes()
        code, printed, shown = run("ops", "-", "-q", terminal="stderr", stdin=trace)
        self.assertEqual((code, shown), (0, b""))
        self.assertIn(b"aten::addmm", printed)
        self.assertIn(b"missing.json: cannot open", run("ops", "missing.json", "-q")[2], "an error is told all the same")

    def test_verbose(self):
        self.assertRegex(run("ops", SOUND, "-v")[2], rb"^tbtrace: .*stacks\.json: read 11 ranges in \d+ ms\n$")
        self.assertEqual(run("ops", SOUND)[2], b"")

    def test_color_only_on_a_terminal(self):
        self.assertIn(YELLOW, run("ops", DAMAGED, terminal="stderr")[2])
        self.assertIn(RED, run("ops", "missing.json", terminal="stderr")[2])
        self.assertNotIn(b"\x1b", run("ops", DAMAGED)[2])
        self.assertNotIn(b"\x1b", run("ops", DAMAGED, terminal="stdout")[1], "results have none")

    def test_color_as_asked(self):
        self.assertNotIn(b"\x1b[3", run("ops", DAMAGED, "--color", "never", terminal="stderr")[2])
        self.assertIn(YELLOW, run("ops", DAMAGED, "--color", "always")[2])
        for wrong in (["--threads", "0"], ["--format", "xml"]):
            self.assertIn(RED, run("ops", DAMAGED, *wrong, "--color", "always")[2])
            self.assertNotIn(b"\x1b[3", run("ops", DAMAGED, *wrong, "--color", "never", terminal="stderr")[2])

    def test_no_color(self):
        without = {"NO_COLOR": "1"}
        self.assertNotIn(b"\x1b[3", run("ops", DAMAGED, terminal="stderr", environment=without)[2])
        self.assertNotIn(b"\x1b[3", run("ops", "--wrong", terminal="stderr", environment=without)[2])
        self.assertIn(YELLOW, run("ops", DAMAGED, terminal="stderr", environment={"NO_COLOR": ""})[2])
        self.assertIn(YELLOW, run("ops", DAMAGED, "--color", "always", environment=without)[2])

    def test_names_of_files_do_not_act_on_a_terminal(self):
        shown = run("ops", "\x1b7evil\nname", "--color", "never", terminal="stderr")[2]
        self.assertIn(b"tbtrace: ?7evil?name: cannot open", shown)
        self.assertEqual(shown.count(b"\n"), 1)
        named = self.folder / "\x1b[2J.json"
        named.write_bytes(pathlib.Path(SOUND).read_bytes())
        self.assertNotIn(b"\x1b", run("ops", str(named), "--each", terminal="stdout")[1])

    def test_tables_fit_the_terminal(self):
        for verb in ("kernels", "gpu", "model --by operator", "summary"):
            for columns in (80, 120, 200):
                shown = run(*verb.split(), GPU, GPU_LATER, terminal="stdout", columns=columns)[1].decode().splitlines() + [""]
                start = next(number for number, line in enumerate(shown) if line.startswith("--"))
                for line in shown[start - 1:shown.index("", start)]:
                    self.assertLessEqual(len(line), columns, line)
        wide = run("kernels", GPU, "--wide", terminal="stdout", columns=80)[1].decode().splitlines()
        self.assertGreater(len(wide[0]), 200)
        self.assertIn("launch delay total", wide[0])

    def test_torchs_table_fits_the_terminal_unless_it_is_asked_for(self):
        whole = run("ops", GPU)[1].decode()
        for columns in (80, 120):
            shown = run("ops", GPU, terminal="stdout", columns=columns)[1].decode().splitlines()
            self.assertLessEqual(max(map(len, shown)), columns)
            self.assertTrue(shown[-1].endswith("; --wide shows all"), shown[-1])
            self.assertIn("Self CUDA", shown[1])
        for words in (["--wide"], ["--torch", "2.14"]):
            shown = run("ops", GPU, *words, terminal="stdout", columns=80)[1].decode().replace("\r", "")
            self.assertEqual(shown, whole)
        torchs = run("ops", GPU, "--sort-by", "none", terminal="stdout", columns=80)[1].replace(b"\r", b"")
        self.assertEqual(torchs, run("ops", GPU, "--sort-by", "none")[1])

    def test_other_formats_have_all_columns_on_a_terminal(self):
        for form in ("csv", "json", "md"):
            words = ("kernels", GPU, "--format", form)
            shown = run(*words, terminal="stdout", columns=80)[1].replace(b"\r", b"")
            self.assertEqual(shown, run(*words)[1].replace(b"\r", b""))

    def test_no_picture_to_a_terminal(self):
        code, printed, shown = run("flamegraph", SOUND, terminal="stdout")
        self.assertEqual((code, printed), (2, b""))
        self.assertIn(b"name a file with -o", shown)
        self.assertTrue(run("flamegraph", SOUND)[1].startswith(b"<?xml"), "a pipe gets it")
        code, printed, shown = run("flamegraph", SOUND, "--format", "png", terminal="stdout")
        self.assertEqual((code, printed), (2, b""))
        self.assertIn(b"name a file with -o", shown)

    def test_png(self):
        code, printed, shown = run("flamegraph", SOUND, "--format", "png", "--width", "300", "--scale", "3")
        self.assertEqual((code, shown), (0, b""))
        self.assertEqual(printed[:16], b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
        self.assertEqual(int.from_bytes(printed[16:20], "big"), 900)
        self.assertEqual(run("flamegraph", SOUND, "-o", "flame.png", cwd=self.folder)[0], 0)
        picture = (self.folder / "flame.png").read_bytes()
        self.assertEqual((picture[:4], int.from_bytes(picture[16:20], "big")), (b"\x89PNG", 3200))
        self.assertEqual(run("flamegraph", SOUND, "-o", "flame.png", cwd=self.folder)[0], 5, "it exists")
        fonts = self.folder / "fonts.conf"
        fonts.write_text("<fontconfig/>")
        code, without, _ = run("flamegraph", SOUND, "--format", "png", environment={"FONTCONFIG_FILE": str(fonts)})
        self.assertEqual((code, without[:24]), (0, picture[:24]), "there is a picture without any font")

    def test_waiting_files_that_cannot_appear_fail(self):
        (self.folder / "ranks").mkdir()
        for rank in range(3):
            shutil.copy(SOUND, self.folder / f"ranks/rank{rank}.json")
        command = ["convert", "ranks", "-o", "logs", "--to", "plugin", "--worker", "w", "--skip-existing"]
        self.assertEqual(run(*command, cwd=self.folder)[0], 0)
        # As a call leaves it that was killed before it moved them.
        waiting = self.folder / ".logs.tbtrace-partial/ranks/.run"
        waiting.parent.mkdir(parents=True)
        (self.folder / "logs/ranks").rename(waiting)
        (self.folder / "logs/ranks").write_text("in the way")
        code, printed, shown = run(*command, "--format", "json", cwd=self.folder)
        self.assertNotEqual(code, 0, shown)
        self.assertEqual([each["state"] for each in json.loads(printed)["inputs"]], ["failed"] * 3)
        (self.folder / "logs/ranks").unlink()
        self.assertEqual(run(*command, cwd=self.folder)[0], 0)
        self.assertEqual(len(list((self.folder / "logs/ranks").glob("*.gz"))), 3)

    def test_many_ranks_to_event_files_need_few_descriptors(self):
        (self.folder / "ranks").mkdir()
        for rank in range(60):
            row = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 5}
            (self.folder / f"ranks/rank{rank}.json").write_text(json.dumps({"traceEvents": [row]}))
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (40, limit[1]))
            for _ in range(2):
                code, _, shown = run("convert", "ranks", "-o", "logs", "--overwrite", cwd=self.folder)
                self.assertEqual((code, shown), (0, b""))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limit)

    def test_closed_pipe_ends_quietly(self):
        command = '"$0" ops "$1" --per-event --format json | head -n 1; echo "${PIPESTATUS[0]}"'
        result = subprocess.run(["bash", "-c", command, PROGRAM, str(self.large_trace())], capture_output=True)
        self.assertEqual(result.stderr, b"")
        self.assertEqual(result.stdout, b'{"schema": "tbtrace.ops/1",\n141\n')

    def test_interrupted_reading_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([PROGRAM, "ops", "-", "-o", "operators.csv", "--progress", "on"],
                                       cwd=self.folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
            process.stdin.write(self.large_trace().read_bytes()[:1_000_000])
            process.stdin.flush()
            process.stderr.read(1)  # it reads
            process.send_signal(number)
            process.wait(timeout=60)
            process.stdin.close()
            process.stderr.close()
            self.assertEqual(process.returncode, -number)
            self.assertEqual([name for name in self.files() if name != "large.json"], [])

    def test_full_disk_leaves_nothing(self):
        def small_files_only():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

        trace = str(self.large_trace())
        for form in ("text", "csv", "md", "json"):
            words = ("ops", trace, "--per-event", "--row-limit", "-1", "--format", form, "-o")
            code, _, shown = run(*words, "new.json", cwd=self.folder, preexec_fn=small_files_only)
            self.assertEqual(code, 5)
            self.assertRegex(shown, rb"^tbtrace: new\.json: cannot write: File too large; [^\n]+\n$")
        (self.folder / "old.json").write_text("old")
        code, _, _ = run(*words, "old.json", "--overwrite", cwd=self.folder, preexec_fn=small_files_only)
        self.assertEqual(code, 5)
        self.assertEqual((self.folder / "old.json").read_text(), "old")
        self.assertEqual(self.files(), ["large.json", "old.json"])

    def test_output_to_a_full_device(self):
        listed = (("ops", SOUND, "--per-event", "--format", form) for form in ("text", "csv", "md", "json"))
        for words in (("ops", SOUND), *listed, ("flamegraph", SOUND, "--format", "folded"),
                      ("flamegraph", SOUND, "--compat", "torch"), ("ops", "--help"), ("--version",)):
            with open("/dev/full", "wb") as full:
                result = subprocess.run([PROGRAM, *words], stdout=full, stderr=subprocess.PIPE)
            self.assertEqual(result.returncode, 5, words)
            self.assertTrue(result.stderr.startswith(b"tbtrace: standard output: cannot write"), result.stderr)

    def test_wrong_options_are_found_before_reading(self):
        for each in ([], ["--each"]):
            code, printed, shown = run("ops", "missing.json", "other.json", "--sort-by", "speed", *each)
            self.assertEqual((code, printed), (2, b""))
            self.assertRegex(shown, rb"^tbtrace: ops: cannot sort by 'speed'; [^\n]+\n$")

    def test_an_id_of_too_many_operators(self):
        def shared(operators):
            rows = [{"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": at, "dur": 1,
                     "args": {"External id": 7}} for at in range(operators)]
            rows += [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1000, "dur": 5,
                      "args": {"External id": 7, "device": 0, "stream": 7}}]
            return json.dumps({"deviceProperties": [{"id": 0}], "traceEvents": rows}).encode()

        self.assertEqual(run("ops", "-", "--strict", stdin=shared(64))[::2], (0, b""))
        for more in ([], ["--per-event"], ["--each"]):
            code, printed, shown = run("ops", "-", *more, stdin=shared(65))
            self.assertEqual(code, 0)
            self.assertRegex(shown, rb"^tbtrace: standard input: more than 64 operators [^\n]*, 1 x\]\n$")
            code, printed, shown = run("ops", "-", "--strict", *more, stdin=shared(65))
            self.assertEqual(code, 1)
            self.assertIn(b"more than 64 operators", shown)
        self.assertEqual(run("ops", "-", "--strict-totals", "--strict", stdin=shared(65))[::2], (0, b""))
        self.assertIn(b'"work_over_operator_limit": 1', run("ops", "-", "--format", "json", stdin=shared(65))[1])

    def test_closed_standard_error(self):
        result = subprocess.run(["bash", "-c", '"$0" ops "$1" --format csv 2>&-', PROGRAM, DAMAGED], capture_output=True)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout, run("ops", DAMAGED, "--format", "csv")[1])

    def test_two_writers_of_one_file(self):
        command = [PROGRAM, "ops", SOUND, "-o", "operators.csv"]
        processes = [subprocess.Popen(command, cwd=self.folder, stderr=subprocess.DEVNULL) for _ in range(6)]
        codes = sorted(process.wait(timeout=60) for process in processes)
        self.assertEqual(codes, [0, 5, 5, 5, 5, 5])
        self.assertEqual(self.files(), ["operators.csv"])
        self.assertEqual((self.folder / "operators.csv").read_bytes(), run("ops", SOUND, "--format", "csv")[1])

    def test_killed_conversion_leaves_no_half_file(self):
        for number in range(300):
            (self.folder / f"ranks/rank{number:03}.json").parent.mkdir(exist_ok=True)
            (self.folder / f"ranks/rank{number:03}.json").write_bytes(self.large_trace().read_bytes())
        command = [PROGRAM, "convert", "ranks", "-o", "logs", "--to", "plugin", "-j", "2"]
        waiting = self.killed_with_finished_files(command, 40, "*.gz")
        self.assertFalse((self.folder / "logs/ranks").exists(), "a run appears when it is complete")
        for path in waiting:
            json.loads(gzip.decompress(path.read_bytes()))
        (self.folder / "other.json").write_bytes(self.large_trace().read_bytes())
        code, _, shown = run("convert", "other.json", "-o", "logs", "-q", "--to", "plugin", cwd=self.folder)
        self.assertEqual((code, shown), (0, b""), "-q")
        code, _, shown = run("convert", "other.json", "-o", "logs", "--overwrite", "--to", "plugin", cwd=self.folder)
        self.assertRegex(shown, rb"^tbtrace: \S+/\.logs\.tbtrace-partial: has %d finished files \(\d+ [kM]B\) of a "
                                rb"conversion that was interrupted; [^\n]+--skip-existing[^\n]+\n$" % len(waiting))
        (self.folder / "other.json").unlink()
        shutil.rmtree(self.folder / "logs")
        code, shown, _ = run(*command[1:], "--skip-existing", "--format", "json", cwd=self.folder)
        self.assertEqual(code, 0)
        states = [entry["state"] for entry in json.loads(shown)["inputs"]]
        self.assertEqual((states.count("skipped"), len(states)), (len(waiting), 300))
        self.assertEqual(states.count("written"), 300 - len(waiting))
        written = sorted(path for path in (self.folder / "logs").rglob("*") if path.is_file())
        self.assertEqual(len(written), 300)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["large.json", "logs", "ranks"])

    def test_conversion_to_event_files(self):
        (self.folder / "ranks").mkdir()
        for rank in range(3):
            (self.folder / f"ranks/rank{rank}.json").write_bytes((DATA / "gpu_step.json").read_bytes())
        command = ["convert", "ranks", "-o", "logs", "--to", "tensorboard"]
        code, printed, shown = run(*command, "-j", "1", cwd=self.folder)
        self.assertEqual((code, shown), (0, b""))
        lines = printed.decode().splitlines()
        workers = ["node-a_0", "node-a-2_0", "node-a-3_0"]  # all say that they are rank 0
        for rank, worker in enumerate(workers):
            file = rf"logs/ranks/{worker}/events\.out\.tfevents\.\d{{10}}\.{worker}\.\d{{19}}\.0"
            self.assertRegex(lines[rank], rf"^ranks/rank{rank}\.json \(28 ranges\) -> {file} \(\d+ k?B\)$")
        self.assertEqual(lines[3:], ["", "3 written, 0 skipped, 0 failed", "Now: tensorboard --logdir logs"])
        code, printed, _ = run(*command, "--skip-existing", "--format", "json", cwd=self.folder)
        entries = json.loads(printed)["inputs"]
        self.assertEqual((code, [entry["state"] for entry in entries]), (0, ["skipped"] * 3))
        self.assertEqual([(self.folder / entry["files"][0]["path"]).is_file() for entry in entries], [True] * 3)
        self.assertEqual(run(*command, cwd=self.folder)[0], 5, "they exist")

    def test_killed_conversion_to_event_files_goes_on(self):
        (self.folder / "ranks").mkdir()
        for number in range(100):
            (self.folder / f"ranks/rank{number:03}.json").write_bytes(self.large_trace().read_bytes())
        command = [PROGRAM, "convert", "ranks", "-o", "logs", "--to", "tensorboard", "-j", "2"]
        self.killed_with_finished_files(command, 10, "*.partial")
        self.assertFalse(list((self.folder / "logs").rglob("*tfevents*")), "runs appear when all are complete")
        code, shown, _ = run(*command[1:], "--skip-existing", "--format", "json", cwd=self.folder)
        states = [entry["state"] for entry in json.loads(shown)["inputs"]]
        self.assertEqual((code, states.count("written") + states.count("skipped")), (0, 100))
        self.assertGreaterEqual(states.count("skipped"), 9)
        written = [path for path in (self.folder / "logs").rglob("*") if path.is_file()]
        self.assertEqual(len({path.parent for path in written}), 100)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["large.json", "logs", "ranks"])

    def test_conversion_to_a_full_disk_leaves_nothing(self):
        def small_files_only():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

        code, _, shown = run("convert", str(self.large_trace()), "-o", "logs", "--no-gzip", "--to", "plugin",
                             cwd=self.folder, preexec_fn=small_files_only)
        self.assertEqual(code, 5)
        self.assertRegex(shown, rb"large\.json: cannot write: File too large; [^\n]+\n$")
        self.assertEqual(self.files(), ["large.json"])

    def test_conversion_of_a_pipe_to_event_files_needs_no_temporary_file(self):
        trace = pathlib.Path(SOUND).read_bytes()
        nowhere = {"TMPDIR": str(self.folder / "nowhere")}
        code, _, shown = run("convert", "-", "-o", "logs", "--to", "tensorboard", stdin=trace, environment=nowhere,
                             cwd=self.folder)
        self.assertEqual((code, shown), (0, b""))
        code, _, shown = run("convert", "-", "-o", "logs", "--to", "plugin", stdin=trace, environment=nowhere,
                             cwd=self.folder)
        self.assertEqual(code, 5, "two passes need one")
        self.assertRegex(shown, rb"temporary file in \S+/nowhere: No such file or directory; set TMPDIR to")

    def test_conversion_says_how_far_it_is(self):
        code, _, shown = run("convert", SOUND, DAMAGED, "-o", "logs", "-q", "--progress", "on", cwd=self.folder)
        self.assertEqual(code, 0)
        self.assertIn(CLEAR + b"converting: 0 of 2, 0 %", shown)

    def killed_with_finished_files(self, command, least, pattern):
        """Kills a conversion once so many files are finished; they wait in the staging folder."""
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL)
        waiting = []
        for _ in range(6000):
            waiting = [path for path in (self.folder / ".logs.tbtrace-partial").rglob(pattern) if path.is_file()]
            if len(waiting) >= least or process.poll() is not None:
                break
            time.sleep(0.01)
        process.kill()
        process.wait(timeout=60)
        waiting = [path for path in (self.folder / ".logs.tbtrace-partial").rglob(pattern) if path.is_file()]
        self.assertGreaterEqual(len(waiting), least)
        return waiting

    def large_trace(self):
        """Some 300 kB of operators, more than is read at once or fits a pipe."""
        path = self.folder / "large.json"
        event = '{{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": {}, "dur": 1}}'
        path.write_text('{"traceEvents": [\n' + ",\n".join(event.format(2 * n) for n in range(4000)) + "\n]}\n")
        return path


if __name__ == "__main__":
    have_terminals()
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=[sys.argv[0], *(f"Manners.test_{name}" for name in sys.argv[2:])])
