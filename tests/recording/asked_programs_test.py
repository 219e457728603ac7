#!/usr/bin/env python3
"""Programs below `tbtrace record --idle` are recorded whenever another process asks, and only then.

    asked_programs_test.py [NAME...]

Needs torch. Together the tests take torch's import once.
"""

import collections
import contextlib
import os
import pathlib
import socket
import sys
import tempfile
import time
import unittest

from forked_programs import Program, events, operators, warm_up

MODEL = """
import os, signal, socket, sys, threading, time, torch
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
def lasts(seconds):
    open("%s", "w").close()
    end = time.monotonic() + seconds
    while time.monotonic() < end and not os.path.exists("%s"): yield; time.sleep(0.002)
"""
TRAINING = MODEL + """
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def step():
    optimizer.zero_grad()
    model(torch.randn(4, 8)).sum().backward()
    optimizer.step()
"""
STEPS = "for _ in lasts(20): step()\n"


class Asked(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="tbtrace-asked-")
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.end_mark = self.scratch / "end"
        self.addCleanup(lambda: self.scratch.exists() and self.end_mark.touch())

    def start(self, text):
        program = Program(text % (self.scratch / "ready", self.end_mark), self.scratch / "program", idle=True)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and "lasts(20)" in text and not (self.scratch / "ready").exists():
            time.sleep(0.01)
        return program

    def place(self, program, pid):
        return program.folder / "hook" / f"{pid}.socket"

    def connect(self, program, pid=None, **options):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(connection.close)
        connection.settimeout(30)
        connection.connect(str(self.place(program, pid or program.pid)))
        steps = {} if "seconds" in options else {"skip": 1, "only_steps": "true"}
        given = {"logs": program.logs, **steps, **options}
        connection.send("".join(f"{name}={value}\0" for name, value in given.items()).encode())
        return connection

    def answers(self, connection):
        said = collections.defaultdict(list)
        while text := connection.recv(8192).decode():
            kind, _, words = text.partition(" ")
            said[kind].append(words)
        return said

    def ask(self, program, pid=None, **options):
        return self.answers(self.connect(program, pid, **options))

    def end(self, program, status=0):
        self.end_mark.touch()
        end = program.end()
        self.assertEqual(end.status, status, end.output)
        return end

    def steps_of(self, trace):
        return [event["name"] for event in events(trace, "ProfilerStep#")]

    def test_ten_in_a_row(self):
        program = self.start(TRAINING + STEPS)
        for _ in range(10):
            said = self.ask(program)
            self.assertEqual((len(said["trace"]), said["problem"]), (1, []))
        end = self.end(program)
        self.assertEqual(len(end.traces), 10)
        for trace in end.traces:
            self.assertEqual(self.steps_of(trace), ["ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"])
            self.assertEqual(operators(trace)["aten::addmm"], 6)
            self.assertIn("asked_programs_test.py", trace["command"])

    def test_two_at_once(self):
        program = self.start(TRAINING + STEPS)
        first, second = self.connect(program), self.connect(program, steps=2)
        self.assertEqual(len(self.answers(first)["trace"]), 1)
        self.assertEqual(len(self.answers(second)["trace"]), 1)
        self.assertEqual([len(self.steps_of(trace)) for trace in self.end(program).traces], [3, 2])

    def test_nothing_is_recorded_unless_asked(self):
        end = self.end(self.start(TRAINING + "for _ in range(20): step()\n"))
        self.assertEqual((end.traces, end.said["open"], end.said["problem"]), ([], [], []))

    def test_waiting_calls_nothing(self):
        """Not even for a step: no hook is there before a request."""
        self.end(self.start(TRAINING + """
assert not sys.modules["torch.optim.optimizer"]._global_optimizer_post_hooks
assert not torch.nn.modules.module._global_forward_pre_hooks
calls = []
sys.setprofile(lambda frame, *_: calls.append(frame.f_code) if "_recording" in frame.f_code.co_filename else None)
step()
sys.setprofile(None)
assert not calls, calls
"""))

    def test_hooks_are_gone_afterwards(self):
        program = self.start(TRAINING + STEPS + """
assert not sys.modules["torch.optim.optimizer"]._global_optimizer_post_hooks
assert not torch.nn.modules.module._global_forward_pre_hooks
assert not hasattr(torch.optim.SGD.step, "__wrapped__") or "_recording" not in torch.optim.SGD.step.__code__.co_filename
handler = signal.getsignal(signal.SIGTERM)
assert handler is signal.SIG_DFL, handler
""")
        self.assertEqual(len(self.ask(program)["trace"]), 1)
        self.end(program)

    def test_by_time(self):
        program = self.start(MODEL + "for _ in lasts(20): torch.ones(2) + 1\n")
        said = self.ask(program, seconds=0.3, after=0)
        self.assertEqual(len(said["trace"]), 1)
        (trace,) = self.end(program).traces
        self.assertGreater(operators(trace)["aten::add"], 5)

    def test_process_that_runs_no_operator(self):
        program = self.start(MODEL + "for _ in lasts(20): pass\n")
        said = self.ask(program, seconds=0.05, after=0)
        self.assertEqual(said["trace"], [])
        self.assertGreaterEqual(len(said["empty"]), 3)
        self.end(program)

    def test_program_has_a_profiler_of_its_own(self):
        program = self.start(TRAINING + "profiler = torch.profiler.profile(); profiler.start()\n" + STEPS +
                             "profiler.stop()\nassert profiler.events()\n")
        said = self.ask(program)
        self.assertEqual(said["trace"], [])
        self.assertIn("a profiler of its own", said["problem"][0])
        self.end(program)

    def test_who_asked_is_gone(self):
        program = self.start(TRAINING + STEPS)
        for delay in (0, 0.001, 0.002, 0.003, 0.004, 0.006, 0.008, 0.01, 0.012, 0.02):
            connection = self.connect(program, steps=5)
            time.sleep(delay)
            connection.close()
        self.assertEqual(len(self.ask(program)["trace"]), 1)
        end = self.end(program)
        self.assertIn(len(end.traces), range(1, 12))

    def test_wrong_requests(self):
        program = self.start(TRAINING + STEPS)
        for options in ({"steps": "x"}, {"no_such": 1}):
            self.assertIn("cannot record this process", self.ask(program, **options)["problem"][0])
        self.assertEqual(len(self.ask(program)["trace"]), 1)
        self.end(program)

    def test_directory_that_cannot_be_written(self):
        program = self.start(TRAINING + STEPS)
        (self.scratch / "file").touch()
        said = self.ask(program, logs=self.scratch / "file")
        self.assertEqual((said["trace"], len(said["problem"])), ([], 1))
        self.assertEqual(len(self.ask(program)["trace"]), 1)
        self.end(program)

    def test_processes_of_multiprocessing(self):
        program = self.start(TRAINING + """
def train(rank):
    for _ in lasts(20): step()
torch.multiprocessing.start_processes(train, (), 2, start_method="fork")
""")
        pids = []
        while len(pids) < 2:
            time.sleep(0.05)
            names = (path.stem for path in (program.folder / "hook").glob("*.socket"))
            pids = [int(name) for name in names if int(name) != program.pid]
        connections = [self.connect(program, pid) for pid in pids]
        for connection in connections:
            self.assertEqual(len(self.answers(connection)["trace"]), 1)
        self.assertEqual([self.steps_of(trace)[0] for trace in self.end(program).traces], ["ProfilerStep#1"] * 2)

    def test_workers_of_a_loader_refuse(self):
        program = self.start(TRAINING + """
class Data(torch.utils.data.Dataset):
    def __len__(self): return 100000
    def __getitem__(self, number): return torch.randn(8)
loader = iter(torch.utils.data.DataLoader(Data(), batch_size=4, num_workers=1))
next(loader)
for _ in lasts(20): step()
""")
        while len(sockets := list((program.folder / "hook").glob("*.socket"))) < 2:
            time.sleep(0.05)
        (worker,) = {int(path.stem) for path in sockets} - {program.pid}
        time.sleep(0.3)
        self.assertEqual(self.ask(program, worker), {})
        self.end(program)

    def test_program_that_closes_all_files(self):
        """Its own files have the same numbers then."""
        program = self.start(TRAINING + """
os.closerange(3, 64)
own = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
own.bind("%s/own"); own.listen()
others = [os.dup(own.fileno()) for _ in range(20)]
""".replace("%s", str(self.scratch)) + STEPS)
        time.sleep(0.2)
        for _ in range(2):  # the first one is still answered
            with contextlib.suppress(OSError):
                self.ask(program)
        peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(peer.close)
        peer.connect(str(self.scratch / "own"))
        peer.settimeout(0.5)
        self.assertRaises(TimeoutError, peer.recv, 1)  # else the recorder has taken the program's connection
        self.end(program)

    @unittest.skipIf(os.geteuid() != 0, "needs a second user")
    def test_other_users_cannot_ask(self):
        program = self.start(TRAINING + STEPS)
        for path in (self.scratch, program.folder, program.folder / "hook"):
            path.chmod(0o777)  # as a wrong mode would leave it
        self.place(program, program.pid).chmod(0o777)
        child = os.fork()
        if child == 0:
            try:
                os.setresuid(65534, 65534, 65534)
                said = self.ask(program)
                os._exit(0 if not said else 1)
            except ConnectionError:
                os._exit(0)
            except BaseException:
                os._exit(2)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(self.end(program).traces, [])


if __name__ == "__main__":
    warm_up()
    unittest.main(argv=sys.argv[:1] + ["Asked.test_" + name for name in sys.argv[1:]])
