#!/usr/bin/env python3
"""What is recorded of programs that do not say what a step is, and that a trace is whole however a program ends.

    recorder_test.py [NAME...]

Needs torch. Each method is a CTest test recording.NAME; together they take torch's import once if no name is given.
"""

import pathlib
import random
import os
import signal
import sys
import tempfile
import time
import unittest

from forked_programs import Program, events, operators, processes, warm_up

MODEL = """
import os, signal, sys, time, torch
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
"""
TRAINING = MODEL + """
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def step():
    optimizer.zero_grad()
    model(torch.randn(4, 8)).sum().backward()
    optimizer.step()
"""
STEPS = "for number in range(%d): step()\n"
BY_HAND = TRAINING + """
for number in range(3): step()
profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
with profiler:
    for number in range(3): step()
os.makedirs("%s")
profiler.export_chrome_trace("%s/by_hand.pt.trace.json")
"""

SIGNAL_AT_A_LINE = """
lines = 0
def see_line(frame, event, argument):
    global lines
    lines += event == "line"
    if event == "line" and lines == %d:
        sys.settrace(None)
        os.kill(os.getpid(), %d)
    return see_line
sys.settrace(lambda frame, event, argument: see_line if "_recording" in frame.f_code.co_filename else None)
"""


class Recorder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="tbtrace-recording-")
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.count = 0

    def start(self, text, **options):
        self.count += 1
        return Program(text, self.scratch / str(self.count), **options)

    def run_program(self, text, status=0, **options):
        end = self.start(text, **options).end()
        self.assertEqual(end.status, status, end.output)
        return end

    def steps_of(self, trace):
        return [event["name"] for event in events(trace, "ProfilerStep#")]

    def test_steps_of_an_optimizer(self):
        end = self.run_program(TRAINING + STEPS % 12)
        (trace,) = end.traces
        self.assertEqual(self.steps_of(trace), ["ProfilerStep#5", "ProfilerStep#6", "ProfilerStep#7"])
        self.assertEqual(end.output, "")
        self.assertEqual(end.said["steps"], ["1 optimizer", "8 optimizer"])
        self.assertFalse(end.said["problem"])
        # Each range of optimizer.step() lies within its step.
        for step, inner in zip(events(trace, "ProfilerStep#"), events(trace, "Optimizer.step#"), strict=True):
            self.assertLess(step["ts"], inner["ts"])
            self.assertLess(inner["ts"] + inner["dur"], step["ts"] + step["dur"])

    def test_figures_are_those_of_a_recording_with_code_around(self):
        logs = self.scratch / "1" / "logs"
        end = self.run_program(BY_HAND % (logs, logs), skip=100)
        (by_hand,) = end.traces
        (trace,) = self.run_program(TRAINING + STEPS % 6, skip=3).traces
        counts = operators(trace)
        counts.pop("Python GC", None)
        self.assertEqual(counts, operators(by_hand))
        names = ("Optimizer.",)
        self.assertEqual([event["name"] for event in events(trace, *names)],
                         [event["name"] for event in events(by_hand, *names)])

    def test_calls_of_a_model_without_an_optimizer(self):
        text = MODEL + "with torch.no_grad():\n    for number in range(9): model(torch.randn(4, 8))\nprint('done')\n"
        end = self.run_program(text)
        (trace,) = end.traces
        self.assertEqual(self.steps_of(trace), ["ProfilerStep#5", "ProfilerStep#6", "ProfilerStep#7"])
        self.assertEqual(operators(trace)["aten::addmm"], 6)
        self.assertEqual(end.output, "done\n")

    def test_first_steps(self):
        (trace,) = self.run_program(TRAINING + STEPS % 5, skip=0, steps=2).traces
        self.assertEqual(self.steps_of(trace), ["ProfilerStep#0", "ProfilerStep#1"])
        self.assertEqual(operators(trace)["aten::addmm"], 4)

    def test_optimizers_that_alternate(self):
        text = TRAINING + """
critic = torch.nn.Linear(8, 1)
other = torch.optim.Adam(critic.parameters())
torch.optim.lr_scheduler.StepLR(other, 2)
for number in range(9):
    step()
    critic(torch.randn(4, 8)).sum().backward()
    other.step()
"""
        (trace,) = self.run_program(text).traces
        self.assertEqual(len(self.steps_of(trace)), 3)
        self.assertEqual(len(events(trace, "Optimizer.step#Adam")), 3)
        self.assertEqual(len(events(trace, "Optimizer.step#SGD")), 3)

    def test_by_time(self):
        text = "import time, torch\nfor number in range(120): torch.ones(2) + 1; time.sleep(0.01)\n"
        end = self.run_program(text, after=0.1, seconds=0.5)
        (trace,) = end.traces
        self.assertGreater(operators(trace)["aten::add"], 10)
        self.assertLess(operators(trace)["aten::add"], 60)
        self.assertFalse(end.said["steps"])

    def test_steps_in_a_window_by_time(self):
        text = TRAINING + "for number in range(100): step(); time.sleep(0.01)\n"
        end = self.run_program(text, after=0.2, seconds=0.4)
        self.assertGreater(len(self.steps_of(end.traces[0])), 5)

    def test_window_without_operators_is_not_written(self):
        end = self.run_program("import time; time.sleep(0.5)", after=0.1, seconds=0.1)
        self.assertEqual(len(end.traces), 0)
        self.assertEqual(len(end.said["open"]), len(end.said["empty"]))

    def test_garbage_collection_is_in_the_trace(self):
        (trace,) = self.run_program(TRAINING + "import gc\nfor number in range(9): step(); gc.collect()\n").traces
        self.assertGreaterEqual(len(events(trace, "Python GC")), 3)

    def test_program_has_a_profiler_of_its_own(self):
        text = TRAINING + "step()\n" * 6 + """
with torch.profiler.profile() as profiler: step()
assert profiler.events()
for number in range(9): step()
"""
        end = self.run_program(text)
        self.assertEqual(self.steps_of(end.traces[0])[0], "ProfilerStep#5")
        self.assertIn("a profiler of the program's own", end.said["problem"][0])
        earlier = TRAINING + "profiler = torch.profiler.profile(); profiler.start()\n" + STEPS % 9 + "profiler.stop()\n"
        end = self.run_program(earlier)
        self.assertEqual(len(end.traces), 0)
        self.assertIn("a profiler of its own", end.said["problem"][0])

    def test_workers_of_a_loader_are_not_recorded(self):
        text = TRAINING + """
class Data(torch.utils.data.Dataset):
    def __len__(self): return 36
    def __getitem__(self, number): return model[0](torch.randn(8)).detach()
for batch in torch.utils.data.DataLoader(Data(), batch_size=4, num_workers=2):
    step()
"""
        end = self.run_program(text)
        self.assertEqual(len(end.traces), 1)
        self.assertEqual(len(end.said["open"]), 1)

    def test_processes_of_multiprocessing_that_train(self):
        text = TRAINING + """
import torch.multiprocessing
def train(rank):
    for number in range(7): step()  # ends within the window
torch.multiprocessing.start_processes(train, (), 2, start_method="fork")
"""
        end = self.run_program(text)
        self.assertEqual([self.steps_of(trace) for trace in end.traces],
                         [["ProfilerStep#5", "ProfilerStep#6", "ProfilerStep#7"]] * 2)

    def test_child_without_an_optimizer_is_not_recorded(self):
        text = MODEL + "for number in range(9): model(torch.randn(4, 8))\n"
        self.assertEqual(len(self.run_program(text, role=processes.Role.CHILD).traces), 0)
        self.assertEqual(len(self.run_program(TRAINING + STEPS % 9, role=processes.Role.CHILD).traces), 1)

    def test_end_within_the_window(self):
        within = TRAINING + "step()\n" * 6
        for text, status in (("", 0), ("raise ValueError('no')", 1), ("sys.exit(3)", 3),
                             ("os.kill(os.getpid(), signal.SIGTERM); time.sleep(9)", -signal.SIGTERM),
                             ("os.kill(os.getpid(), signal.SIGHUP); time.sleep(9)", -signal.SIGHUP),
                             ("os.kill(os.getpid(), signal.SIGINT); time.sleep(9)", 130),
                             ("signal.signal(signal.SIGTERM, lambda *_: sys.exit(4))\n"
                              "os.kill(os.getpid(), signal.SIGTERM)", 4)):
            with self.subTest(text):
                end = self.run_program(within + text, status)
                self.assertEqual(self.steps_of(end.traces[0])[0], "ProfilerStep#5")
                self.assertEqual("no" in end.output, status == 1)

    def test_signals_are_the_programs_own_outside_of_the_window(self):
        text = TRAINING + STEPS % 10 + "assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL\n"
        self.assertEqual(len(self.run_program(text).traces), 1)

    def test_random_ends(self):
        """What was written is whole, and a window that began is written unless the process was killed."""
        chance = random.Random(7)
        slow = TRAINING + "def wait(): time.sleep(0.002)\n"
        for number in range(50):
            kind = chance.choice(["exit", "raise", "interrupt", "terminate", "kill", "leave"])
            moment = chance.randrange(12)
            ending = {"exit": "sys.exit(5)", "raise": "raise KeyError", "leave": "os._exit(6)"}.get(kind, "pass")
            text = slow + f"for number in range(12):\n    step(); wait()\n    if number == {moment}: {ending}\n"
            with self.subTest(number=number, kind=kind, moment=moment):
                program = self.start(text + "print('end')\n")
                sent = {"interrupt": signal.SIGINT, "terminate": signal.SIGTERM, "kill": signal.SIGKILL}.get(kind)
                if sent:
                    time.sleep(0.02 + chance.random() * 0.06)
                    os.kill(program.pid, sent)
                end = program.end()
                expected = {"exit": [5], "raise": [1], "leave": [6], "interrupt": [130, 0],
                            "terminate": [-signal.SIGTERM, 0], "kill": [-signal.SIGKILL, 0]}[kind]
                self.assertIn(end.status, expected, end.output)
                if kind not in ("leave", "kill"):
                    self.assertEqual(len(end.traces), len(end.said["open"]))
                    self.assertEqual(list(program.logs.parent.glob("hook/.*")), [])

    def test_signals_in_the_recorders_own_work(self):
        """At lines of the recorder, from the first step to the end: a window that began is written."""
        own = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(4))\n"
        for number, status, handler in ((signal.SIGTERM, -signal.SIGTERM, ""), (signal.SIGINT, 130, ""),
                                        (signal.SIGTERM, 4, own)):
            line, ended = 14, status
            while ended == status:
                with self.subTest(line=line, status=status):
                    end = self.start(TRAINING + handler + SIGNAL_AT_A_LINE % (line, number) + STEPS % 12).end()
                    ended = end.status
                    self.assertIn(ended, (status, 0), end.output)
                    self.assertEqual(len(end.traces), len(end.said["open"]))
                    self.assertFalse(end.said["problem"])
                line += 29
            self.assertGreater(line, 400)

    def test_disk_is_full(self):
        text = TRAINING + "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))\n" + STEPS % 9
        end = self.run_program(text)
        self.assertEqual(len(end.traces), 0)
        self.assertIn("check the free space", end.said["problem"][0])

    def test_compiled_model_is_compiled_once(self):
        text = MODEL + """
import torch._dynamo.utils
compiled = torch.compile(model, backend="eager")
with torch.no_grad():
    for number in range(9): compiled(torch.randn(4, 8))
assert torch._dynamo.utils.counters["frames"]["ok"] == 1, torch._dynamo.utils.counters
"""
        self.assertEqual(len(self.run_program(text).traces), 1)

    def test_waiting_costs_nothing_per_operator(self):
        """Only a step and the outermost module call anything."""
        text = TRAINING + """
calls = []
def count(frame, event, argument):
    if event == "call" and "_recording" in frame.f_code.co_filename: calls.append(frame.f_code.co_name)
step()
sys.setprofile(count)
for number in range(100): torch.zeros(1).add_(1)
with torch.no_grad(): model(torch.randn(4, 8))
sys.setprofile(None)
assert not calls, calls
assert not torch.autograd._profiler_enabled()
sys.setprofile(count)
step()
sys.setprofile(None)
assert 0 < len(calls) < 12, calls
"""
        self.run_program(text)


if __name__ == "__main__":
    warm_up()
    unittest.main(argv=sys.argv[:1] + ["Recorder.test_" + name for name in sys.argv[1:]])
