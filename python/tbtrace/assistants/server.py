"""`tbtrace mcp`: the tools by the Model Context Protocol, over standard input and output or HTTP on this machine."""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import os
import pathlib
import signal
import sys
from collections.abc import Sequence
from typing import Any

from tbtrace import __version__
from tbtrace.assistants.files import Files
from tbtrace.assistants.tools import INSTRUCTIONS, TOOLS, Tools

_HOST = "127.0.0.1"
_GRACE_SECONDS = 2  # of connections that are open when it ends


def command(words: Sequence[str]) -> int:
    """Serves until the client leaves; returns the exit code."""
    given = _parser().parse_args(words)
    if given.print_skill:
        folder = pathlib.Path(__file__).with_name("skill")
        text = folder.joinpath("SKILL.md").read_text(encoding="utf-8")
        examples = folder / "examples.md"  # stays where it is
        sys.stdout.write(text.replace("](examples.md)", f"]({examples})"))
        return 0
    if not given.folders:
        _parser().error("name the folders that have your traces")
    if given.print_config:
        sys.stdout.write(_configuration(given.folders))
        return 0
    try:
        tools = Tools(Files(given.folders))
        server = made_server(tools)
    except ValueError as problem:
        sys.stderr.write(f"tbtrace: mcp: {problem}\n")
        return 2
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] not in ("mcp", "mcp_types"):
            raise
        python = sys.executable
        sys.stderr.write(f"tbtrace: mcp: {python} has no package mcp; run: {python} -m pip install mcp\n")
        return 3
    _end_on_signals(tools)
    try:
        asyncio.run(_serve_http(server, given.port) if given.http else _serve_stdio(server))
    except OSError as problem:
        sys.stderr.write(f"tbtrace: mcp: port {given.port} of {_HOST}: {problem.strerror}; take another --port\n")
        return 5
    finally:
        tools.close()
    return 0


def _end_on_signals(tools: Tools) -> None:
    """At once: a thread that reads standard input, or works on an answer, cannot be ended otherwise."""

    def end(number: int, frame: object) -> None:
        tools.close()
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)


def made_server(tools: Tools) -> Any:
    """A server of the SDK."""
    import mcp_types as types
    from mcp.server import Server

    listed = [
        types.Tool(
            name=name,
            description=tool.meaning,
            input_schema=tool.schema(),
            annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
        )
        for name, tool in TOOLS.items()
    ]

    async def list_tools(context: Any, parameters: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed)

    async def call_tool(context: Any, parameters: types.CallToolRequestParams) -> types.CallToolResult:
        call = functools.partial(tools.call, parameters.name, parameters.arguments)
        text, is_answer = await asyncio.get_running_loop().run_in_executor(None, call)
        # The text only: clients that also get it as `structuredContent` pay for it twice.
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=not is_answer)

    return Server(
        "tbtrace", version=__version__, instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool
    )


async def _serve_stdio(server: Any) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def _serve_http(server: Any, port: int) -> None:
    import socket

    import uvicorn

    listening = socket.create_server((_HOST, port))
    address = f"http://{_HOST}:{listening.getsockname()[1]}/mcp"
    sys.stderr.write(f"tbtrace: mcp: listens at {address}\n")
    sys.stderr.flush()
    # It answers requests that name this machine only, so that pages of a browser reach it by no name of their own.
    app = server.streamable_http_app(host=_HOST, json_response=True, stateless_http=True)
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=_GRACE_SECONDS)
    await uvicorn.Server(config).serve(sockets=[listening])


def _configuration(folders: Sequence[str]) -> str:
    """What clients have in their configuration."""
    words = ["mcp", *(os.path.abspath(folder) for folder in folders)]
    servers = {"tbtrace": {"command": sys.executable, "args": ["-m", "tbtrace", *words]}}
    return json.dumps({"mcpServers": servers}, indent=2) + "\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "tbtrace mcp",
        description="A server for assistants, by the Model Context Protocol. It reads the traces below the folders "
        "that it gets, and nothing else.",
    )
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="where traces are; links in it are not followed")
    parser.add_argument("--http", action="store_true", help=f"listen on {_HOST} instead of standard input")
    parser.add_argument("--port", type=int, default=8765, help="for --http; 0 takes any that is free (default: 8765)")
    parser.add_argument("--print-config", action="store_true", help="print what a client needs to start it, and stop")
    parser.add_argument("--print-skill", action="store_true", help="print how to work with the tools, and stop")
    return parser
