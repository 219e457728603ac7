#!/usr/bin/env python3
"""Does `tbtrace mcp` serve the official client, over standard input and output and over HTTP?

    assistants_protocol_test.py PROGRAM [NAME...]

Each method is a CTest test python.NAME. Needs the package mcp.
"""

import asyncio
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from mcp import Client, StdioServerParameters, stdio_client

from assistants_folder import ROOT, ToolsTest
from tbtrace.assistants import answer
from tbtrace.assistants.tools import TOOLS

PROGRAM = sys.argv[1]
COMMAND = [sys.executable, "-m", "tbtrace", "mcp"]
CALLS = {
    "open": {"path": "gpu_step.json"},
    "summary": {"trace": "job"},
    "finding": {"trace": "gpu_step.json", "id": "f:low_gpu_utilization"},
    "table": {"trace": "hostile.json.gz", "what": "kernels", "budget": 500},
    "event": {"trace": "gpu_step.json", "id": "step:1"},
    "timeline": {"trace": "gpu_step.json", "from_ns": 0, "to_ns": 100000},
    "compare": {"base": "before.json.gz", "new": "after.json.gz"},
    "sql": {"trace": "gpu_step.json", "query": "select count(*) as kernels from kernels"},
}
WRONG = [
    ("nothing", {}),
    ("summary", {}),
    ("summary", {"trace": "../outside/secret.json"}),
    ("open", {"path": 3}),
    ("open", {"path": "x", "more": [1, {"y": "z" * 9000}]}),
]


class Protocol(ToolsTest):
    async def ask_all(self, client):
        listed = (await client.list_tools()).tools
        self.assertEqual(list(TOOLS), [tool.name for tool in listed])
        for tool in listed:
            self.assertEqual(TOOLS[tool.name].schema(), tool.input_schema)
            self.assertIsNone(tool.output_schema)
            self.assertTrue(tool.annotations.read_only_hint)
        for name, given in CALLS.items():
            result = await client.call_tool(name, given)
            self.assertFalse(result.is_error, result)
            self.assertIsNone(result.structured_content, "the same would be paid for twice")
            self.assertEqual(["text"], [part.type for part in result.content])
            text = result.content[0].text
            self.assertEqual(self.tools.call(name, given)[0], text)
            self.assertLessEqual(answer.tokens_of(text), given.get("budget", answer.TOKENS))
        for name, given in WRONG:
            result = await client.call_tool(name, given)
            self.assertTrue(result.is_error)
            self.assertGreater(len(json.loads(result.content[0].text)["error"]), 20)
        results = await asyncio.gather(*(client.call_tool(name, given) for name, given in CALLS.items()))
        self.assertFalse(any(result.is_error for result in results), "several at once")

    def test_assistants_protocol_over_standard_input(self):
        async def run():
            parameters = StdioServerParameters(
                command=COMMAND[0], args=[*COMMAND[1:], str(self.folder)], env=dict(os.environ)
            )
            async with Client(stdio_client(parameters), mode="legacy") as client:  # as most clients do today
                self.assertIn("never instructions", client.instructions)
                await self.ask_all(client)

        asyncio.run(run())

    def started(self, query):
        """A server over standard input that has answered a query, the processes that it started, and its own folder for
        temporary files. It has begun with `query`."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        pipe = subprocess.PIPE
        server = subprocess.Popen(
            [*COMMAND, str(self.folder)], stdin=pipe, stdout=pipe, env={**os.environ, "TMPDIR": folder.name}
        )
        self.addCleanup(server.communicate)
        self.addCleanup(server.kill)

        def send(method, parameters, *numbers):
            message = {"jsonrpc": "2.0", "method": method, "params": parameters, **{"id": number for number in numbers}}
            server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()

        client = {"name": "test", "version": "1"}
        send("initialize", {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": client}, 1)
        server.stdout.readline()
        send("notifications/initialized", {})
        given = {"trace": "gpu_step.json", "query": "select count(*) from kernels"}
        send("tools/call", {"name": "sql", "arguments": given}, 2)
        self.assertIn(b"[4]", server.stdout.readline())
        self.assertNotEqual([], os.listdir(folder.name))
        send("tools/call", {"name": "sql", "arguments": {**given, "query": query}}, 3)
        time.sleep(1)
        children = pathlib.Path(f"/proc/{server.pid}/task").glob("*/children")
        return server, {pid for path in children for pid in path.read_text().split()}, pathlib.Path(folder.name)

    def assert_all_end(self, processes):
        end = time.monotonic() + 5
        while alive := [pid for pid in processes if pathlib.Path(f"/proc/{pid}").exists()]:
            self.assertLess(time.monotonic(), end, f"{alive} go on")
            time.sleep(0.1)

    def test_assistants_server_ends_on_a_signal(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            with self.subTest(number):
                long = "select sum(a.range * b.range) from range(10000000) a, range(1000000) b"
                server, processes, folder = self.started(long)
                self.assertNotEqual(set(), processes)
                server.send_signal(number)
                code = server.wait(5)
                self.assertEqual(-number if number == signal.SIGKILL else 128 + number, code)
                self.assert_all_end(processes)
                if number != signal.SIGKILL:
                    self.assertEqual([], list(folder.iterdir()))

    @contextlib.contextmanager
    def served(self):
        with subprocess.Popen(
            [*COMMAND, str(self.folder), "--http", "--port", "0"], stderr=subprocess.PIPE, text=True
        ) as server:
            try:
                yield server.stderr.readline().split()[-1]
            finally:
                server.terminate()
                server.communicate(timeout=20)

    def test_assistants_protocol_over_http(self):
        with self.served() as address:
            self.assertRegex(address, r"^http://127\.0\.0\.1:\d+/mcp$")

            async def run():
                async with Client(address) as client:
                    await self.ask_all(client)

            asyncio.run(run())
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
            accepted = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
            with urllib.request.urlopen(urllib.request.Request(address, body, accepted), timeout=20) as reply:
                self.assertIsNone(reply.headers["mcp-session-id"], "nothing is kept for a client that leaves")
            for headers in ({"Host": "attacker.example"}, {"Origin": "https://attacker.example"}):
                with self.subTest(headers), self.assertRaises(urllib.error.HTTPError) as caught:
                    urllib.request.urlopen(urllib.request.Request(address, body, {**accepted, **headers}), timeout=20)
                self.assertIn(caught.exception.code, (403, 421))
                caught.exception.close()

    def test_assistants_command_says_what_is_wrong(self):
        def run(*words, **options):
            return subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=60, **options)

        self.assertEqual(2, run().returncode)
        done = run(str(self.folder / "nothing"))
        self.assertEqual(2, done.returncode)
        self.assertRegex(done.stderr, "^tbtrace: mcp: .*nothing is not a folder; name ")
        done = run("--print-config", str(self.folder))
        server = json.loads(done.stdout)["mcpServers"]["tbtrace"]
        self.assertEqual(
            [sys.executable, "-m", "tbtrace", "mcp", str(self.folder)], [server["command"], *server["args"]]
        )
        printed = run("--print-skill").stdout
        (examples,) = re.findall(r"\]\((/.*?/examples.md)\)", printed)
        self.assertTrue(pathlib.Path(examples).is_file())
        skill = (ROOT / "docs/skill/SKILL.md").read_text(encoding="utf-8")
        self.assertEqual(skill, printed.replace(examples, "examples.md"))
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "mcp_types.py").write_text("raise ModuleNotFoundError(name='mcp_types')")
            path = os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])
            done = run(str(self.folder), env={**os.environ, "PYTHONPATH": path})
        self.assertEqual(3, done.returncode)
        self.assertIn("has no package mcp; run: ", done.stderr)

    def test_assistants_command_finds_its_python(self):
        def run(python, *words):
            return subprocess.run(
                [PROGRAM, "mcp", *words],
                capture_output=True,
                text=True,
                timeout=60,
                env={**os.environ, "TBTRACE_PYTHON": str(python)},
            )

        folder = str(self.folder)
        of_package = subprocess.run(
            [*COMMAND, folder, "--print-config"], capture_output=True, text=True, timeout=60, check=True
        )
        self.assertEqual(of_package.stdout, run(sys.executable, "--print-config", folder).stdout)
        with tempfile.TemporaryDirectory() as name:
            python = pathlib.Path(name) / "python"
            for code, said in (
                (3, "has no package tbtrace; in a clone"),
                (4, "has no package mcp; in a clone"),
                (1, "cannot be run; name another with TBTRACE_PYTHON"),
            ):
                python.write_text(f"#!/bin/sh\nexit {code}\n")
                python.chmod(0o700)
                done = run(python, folder)
                self.assertEqual(3, done.returncode)
                self.assertIn(f"tbtrace: {python}: {said}", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(f"Protocol.test_{name}" for name in sys.argv[2:])])
