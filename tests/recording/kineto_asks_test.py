#!/usr/bin/env python3
"""`tbtrace record --pid` of programs that were started with KINETO_USE_DAEMON.

    kineto_asks_test.py PROGRAM [NAME...]

Each method is a CTest test recording.NAME. The programs here do without torch: they have a file open that is called as
its library is, and speak Kineto's protocol. recorded_programs_test.py has a real one.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = ""
CLIENT = """
import mmap, os, pathlib, select, socket, struct, sys, time, uuid
library = mmap.mmap(os.open(sys.argv[1] + "/libtorch_cpu.so", os.O_RDWR), 0)
folder, mode = os.environ.get("KINETO_IPC_SOCKET_DIR"), sys.argv[2]
server = folder + "/dynolog" if folder else "\\0dynolog\\0"
client = (folder + "/" if folder else "\\0") + f"dynoconfigclient{uuid.uuid4()}" + ("" if folder else "\\0")
own = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
own.bind(client)
print("ready", flush=True)
asked, end = 0, time.monotonic() + 20
while time.monotonic() < end:
    request = struct.pack("iiq2i", 0 if mode == "busy" else 2, 2, 0, os.getpid(), os.getppid())
    try:
        own.sendto(struct.pack("Q32s", len(request), b"req") + request, server)
    except OSError:  # no daemon
        if asked: print("gone", flush=True); asked = 0
    else:
        if not select.select([own], [], [], 1)[0]: continue  # it has ended meanwhile
        answer, sender = own.recvfrom(4096)
        assert (sender if folder else sender.decode()) == server, sender  # Kineto ends the program otherwise
        size, kind = struct.unpack_from("Q32s", answer)
        text = answer[40:].decode()
        assert len(text) == size and kind.rstrip(b"\\0") == b"req"
        if text:
            asked = 1
            print(text.replace("\\n", ";"), flush=True)
            if mode == "dies": os._exit(1)
            path = text.split("=", 1)[1].split("\\n")[0].replace(".json", f"_{os.getpid()}.json")
            trace = pathlib.Path(sys.argv[1] + "/trace").read_text()
            with open(path, "w") as file:
                file.write(trace[:100]); file.flush(); time.sleep(0.2); file.write(trace[100:])
    time.sleep(0.05)
"""
DATA = pathlib.Path(__file__).resolve().parents[1] / "data"


class Kineto(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="tbtrace-k-", dir="/tmp")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "libtorch_cpu.so").write_bytes(b"x" * 4096)
        (self.folder / "client.py").write_text(CLIENT)
        shutil.copy(DATA / "cpu_steps.json", self.folder / "trace")
        (self.folder / "sockets").mkdir(mode=0o700)

    def start(self, mode="", **more):
        environment = {**os.environ, "KINETO_USE_DAEMON": "1", "KINETO_IPC_SOCKET_DIR": str(self.folder / "sockets"),
                       "KINETO_ONDEMAND_TRACE_DIR": str(self.folder), **more}
        started = subprocess.Popen([sys.executable, self.folder / "client.py", self.folder, mode], text=True,
                                   env={name: value for name, value in environment.items() if value},
                                   stdout=subprocess.PIPE)
        self.addCleanup(started.stdout.close)
        self.addCleanup(started.wait)
        self.addCleanup(started.kill)
        self.assertEqual(started.stdout.readline(), "ready\n")
        return started

    def ask(self, *pids, options=()):
        return subprocess.Popen([PROGRAM, "record", "--no-summary", "-o", self.folder / "logs", *options, "--pid",
                                 ",".join(map(str, pids))], stderr=subprocess.PIPE, text=True)

    def record(self, *pids, code=0, options=()):
        asking = self.ask(*pids, options=options)
        _, said = asking.communicate(timeout=60)
        self.assertEqual(asking.returncode, code, said)
        return said

    def traces(self):
        return [json.loads(path.read_text()) for path in sorted((self.folder / "logs").glob("*.json"))]

    def assert_nothing_is_left(self):
        self.assertEqual([path.name for path in (self.folder / "sockets").glob("dynolog*")], [])
        self.assertEqual(list(self.folder.glob("tbtrace-*")), [])

    def test_kineto_is_told_what_to_record(self):
        program = self.start(RANK="1", WORLD_SIZE="4")
        said = self.record(program.pid, options=["--steps", "7", "--with-stack", "--record-shapes=false"])
        self.assertIn("Kineto", said)
        text = program.stdout.readline()
        for line in ("PROFILE_START_ITERATION=0", "ACTIVITIES_ITERATIONS=7", "PROFILE_WITH_STACK=true",
                     "PROFILE_REPORT_INPUT_SHAPES=false"):
            self.assertIn(line + ";", text)
        (trace,) = self.traces()
        self.assertEqual(trace["distributedInfo"], {"backend": "", "rank": 1, "world_size": 4})
        self.assertIn("client.py", trace["command"])
        (path,) = (self.folder / "logs").iterdir()
        self.assertRegex(path.name, rf"^rank1_.*_{program.pid}\.\d+\.pt\.trace\.json$")
        self.assertEqual(program.stdout.readline(), "gone\n")
        self.assertIsNone(program.poll())
        self.assert_nothing_is_left()

    def test_kineto_records_by_time(self):
        program = self.start()
        self.record(program.pid, options=["--seconds", "0.25"])
        self.assertIn("ACTIVITIES_DURATION_MSECS=250;", program.stdout.readline())

    def test_kineto_begins_together_in_several_processes(self):
        programs = [self.start(), self.start()]
        self.record(*[program.pid for program in programs])
        starts = [re.search("PROFILE_START_TIME=([0-9]+)", program.stdout.readline())[1] for program in programs]
        self.assertEqual(len(set(starts)), 1)
        self.assertLess(abs(int(starts[0]) / 1000 - 8 - time.time()), 5)
        self.assertEqual(len(self.traces()), 2)

    def test_kineto_is_asked_by_two_at_once(self):
        programs = [self.start(), self.start()]
        asking = [self.ask(program.pid) for program in programs]
        for each in asking:
            self.assertEqual((each.communicate(timeout=60), each.returncode)[1], 0)
        self.assertEqual(len(self.traces()), 2)
        self.assert_nothing_is_left()

    def test_kineto_without_a_folder(self):
        program = self.start(KINETO_IPC_SOCKET_DIR="")
        self.record(program.pid)
        self.assertEqual(len(self.traces()), 1)

    def test_kineto_socket_is_left_from_a_killed_process(self):
        program = self.start()
        asking = self.ask(program.pid, options=["--after", "30"])
        busy = self.start("busy")
        killed = self.ask(busy.pid)
        while not (self.folder / "sockets" / "dynolog").exists():
            time.sleep(0.01)
        killed.kill()
        killed.communicate()
        self.record(program.pid)
        asking.send_signal(signal.SIGINT)
        asking.communicate(timeout=30)
        self.assertEqual(asking.returncode, 130)
        self.assertFalse((self.folder / "sockets" / "dynolog").exists())

    def test_kineto_program_ends_first(self):
        program = self.start("dies")
        self.assertIn("ended before its trace was written", self.record(program.pid, code=3))
        self.assert_nothing_is_left()

    def test_kineto_interrupt_leaves_nothing(self):
        program = self.start("busy")
        asking = self.ask(program.pid)
        while not (self.folder / "sockets" / "dynolog").exists():
            time.sleep(0.01)
        time.sleep(0.5)  # it asks meanwhile
        asking.send_signal(signal.SIGTERM)
        _, said = asking.communicate(timeout=30)
        self.assertEqual(asking.returncode, 128 + signal.SIGTERM)
        self.assertIn("recorded by another profiler", said)
        self.assert_nothing_is_left()
        self.assertIsNone(program.poll())

    def test_kineto_trace_is_not_lost_if_it_cannot_be_moved(self):
        program = self.start()
        (self.folder / "logs").mkdir()
        command = f"trap '' XFSZ; ulimit -f 1; exec {PROGRAM} record --no-summary -o logs --pid {program.pid}"
        asking = subprocess.Popen(["sh", "-c", command], cwd=self.folder, stderr=subprocess.PIPE, text=True)
        _, said = asking.communicate(timeout=30)
        self.assertEqual(asking.returncode, 3, said)
        left = re.search(r"still in (\S+)", said)[1]
        json.loads(pathlib.Path(left).read_text())
        self.assertEqual(list((self.folder / "logs").iterdir()), [])

    def test_wrong_process_ids(self):
        ended = subprocess.Popen(["true"])
        ended.wait()
        said = self.record(ended.pid, code=3)
        self.assertIn(f"there is no process {ended.pid} on this machine", said)
        zombie = subprocess.Popen(["sleep", "0"])
        time.sleep(0.3)
        self.assertIn("has ended", self.record(zombie.pid, code=3))
        zombie.wait()
        self.assertIn("has not loaded PyTorch", self.record(os.getpid(), code=3))
        program = self.start(KINETO_USE_DAEMON="")
        said = self.record(program.pid, code=3)
        self.assertIn("tbtrace record --idle -- COMMAND", said)
        for pid in ("x", "", "-1"):
            self.record(pid, code=2)
        self.record(program.pid, code=2, options=["--idle"])
        self.assertFalse((self.folder / "logs").exists())

    @unittest.skipIf(os.geteuid() != 0, "needs a second user")
    def test_process_of_another_user(self):
        program = self.start()
        copy = self.folder / "tbtrace"
        shutil.copy(PROGRAM, copy)
        self.folder.chmod(0o755)
        done = subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", copy, "record", "-o", "/tmp", "--pid",
                               str(program.pid)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(f"process {program.pid} belongs to user 0; run this as that user or as root", done.stderr)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + ["Kineto.test_" + name for name in sys.argv[2:]])
