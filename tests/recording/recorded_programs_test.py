#!/usr/bin/env python3
"""Programs that know nothing of tbtrace, recorded by `tbtrace record`.

    recorded_programs_test.py PROGRAM [NAME...]

Needs torch, for the programs only. Each method is a CTest test recording.NAME. recorder_test.py has what takes no
program of its own.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = ""
TRAINING = """
import os, subprocess, sys
import torch
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def step():
    optimizer.zero_grad()
    model(torch.randn(4, 8)).sum().backward()
    optimizer.step()
"""
UNCHANGED = TRAINING + """
for number in range(9): step()
assert not [path for path in sys.path if ".tbtrace-record" in path]
print("loss", flush=True)
subprocess.run([sys.executable, "other.py"], check=True)  # is not recorded
sys.exit(3)
"""
RANKS = TRAINING + """
torch.distributed.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(model)
for number in range(9): step()
__import__("time").sleep(0.5)  # torch 2.14 aborts if a thread of gloo drops a Python object while the process ends
torch.distributed.destroy_process_group()
"""
SPAWNED = TRAINING + """
import torch.multiprocessing
class Data(torch.utils.data.Dataset):
    def __len__(self): return 36
    def __getitem__(self, number): return model[0](torch.randn(8)).detach()
def train(rank):
    for number in range(9): step()
if __name__ == "__main__":
    context = "spawn"
    for batch in torch.utils.data.DataLoader(Data(), batch_size=4, num_workers=1, multiprocessing_context=context): pass
    torch.multiprocessing.start_processes(train, (), 2, start_method=context)
"""
LONG = TRAINING + """
import time
print("ready", flush=True)
end = time.monotonic() + 60
while not os.path.exists("end") and time.monotonic() < end: step(); time.sleep(0.01)
"""


class Programs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="tbtrace-record-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name).resolve()
        (self.folder / "other.py").write_text(TRAINING + "for number in range(9): step()\n")

    def record(self, text, *words, options=(), status=0):
        (self.folder / "program.py").write_text(text)
        done = subprocess.run([PROGRAM, "record", *options, "--", sys.executable, "-W", "ignore", *words, "program.py"],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual([path.name for path in (self.folder / "logs").glob(".*")], [])
        traces = sorted((self.folder / "logs").iterdir())
        return done, [json.loads(path.read_text()) for path in traces], [path.name for path in traces]

    def steps_of(self, trace):
        return [event["name"] for event in trace["traceEvents"] if event["name"].startswith("ProfilerStep#")]

    def test_unchanged_script(self):
        done, (trace,), _ = self.record(UNCHANGED, status=3)
        self.assertEqual(done.stdout, "loss\n")
        self.assertEqual(sorted(self.steps_of(trace)), ["ProfilerStep#5", "ProfilerStep#6", "ProfilerStep#7"])
        self.assertEqual(trace["record_shapes"], 1)
        self.assertIn("3 steps", done.stderr)
        self.assertNotIn("USDT", done.stderr)

    def test_ranks_of_torchrun(self):
        launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
        done, traces, names = self.record(RANKS, *launcher)
        self.assertEqual([trace["distributedInfo"]["rank"] for trace in traces], [0, 1])
        self.assertEqual([name.split("_")[0] for name in names], ["rank0", "rank1"])
        self.assertEqual([len(self.steps_of(trace)) for trace in traces], [3, 3])
        self.assertIn("rank", done.stderr)

    def test_spawned_processes(self):
        """Those that train; neither workers of a loader nor the program that waits for them."""
        _, traces, _ = self.record(SPAWNED)
        self.assertEqual([len(self.steps_of(trace)) for trace in traces], [3, 3])

    def start(self, *words, **more):
        (self.folder / "program.py").write_text(LONG)
        command = [*words, sys.executable, "-W", "ignore", "program.py"]
        started = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   text=True, env={**os.environ, **more})
        self.addCleanup(started.stdout.close)
        self.addCleanup(started.wait)
        self.addCleanup((self.folder / "end").touch)
        self.assertEqual(started.stdout.readline(), "ready\n")
        return started

    def ask(self, pid, *options):
        """Returns how many seconds it took."""
        start = time.monotonic()
        done = subprocess.run([PROGRAM, "record", "--no-summary", *options, "--pid", str(pid)], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return time.monotonic() - start

    def traces(self):
        return [json.loads(path.read_text()) for path in sorted((self.folder / "logs").glob("*.json"))]

    def test_program_that_runs_idle(self):
        started = self.start(PROGRAM, "record", "--idle", "-q", "--")
        for _ in range(10):
            self.assertLess(self.ask(started.pid), 6)
        self.assertEqual([len(self.steps_of(trace)) for trace in self.traces()], [3] * 10)
        (self.folder / "end").touch()
        self.assertEqual(started.wait(), 0)
        self.assertEqual(len(list((self.folder / "logs").glob("*"))), 10)

    def test_program_that_runs_with_kineto(self):
        started = self.start(KINETO_USE_DAEMON="1", RANK="0", WORLD_SIZE="2")
        self.assertLess(self.ask(started.pid), 12)
        (trace,) = self.traces()
        self.assertEqual(trace["distributedInfo"]["world_size"], 2)
        self.assertIn("aten::addmm", [event["name"] for event in trace["traceEvents"]])
        self.assertIsNone(started.poll())


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + ["Programs.test_" + name for name in sys.argv[2:]])
