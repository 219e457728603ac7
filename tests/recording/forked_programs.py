"""Programs in processes that are forked from one that has imported torch, so that each takes milliseconds.

They are recorded as `tbtrace record` records them, by the same files, from the end of `import torch` on.
"""

import atexit
import collections
import contextlib
import importlib.util
import json
import os
import pathlib
import sys
import threading
import traceback

import torch

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "python" / "tbtrace" / "_recording"


def load_recorder():
    """The package, under the name that it has in recorded programs."""
    name = "_tbtrace_recording"
    spec = importlib.util.spec_from_file_location(name, FOLDER / "__init__.py",
                                                  submodule_search_locations=[str(FOLDER)])
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    from _tbtrace_recording import hook, options, processes

    return hook, options.Options, processes


hook, Options, processes = load_recorder()
End = collections.namedtuple("End", "status said traces output")


class Program:
    """Python text that runs from now on."""

    def __init__(self, text, folder, role=processes.Role.PROGRAM, **options):
        self.folder = pathlib.Path(folder)
        self.logs = self.folder / "logs"
        self._hook = self.folder / "hook"
        self._hook.mkdir(parents=True)
        (self.folder / "output").touch()
        self.pid = os.fork()
        if self.pid == 0:
            self._run(text, role, Options(logs=str(self.logs), temporary=str(self._hook), **options))

    def _run(self, text, role, options):
        """Ends as Python ends: the exit code, and KeyboardInterrupt as 130."""
        code = 1
        try:
            atexit._clear()
            with open(self.folder / "output", "w", buffering=1) as output:
                sys.stdout = sys.stderr = output
                code = self._code_of(text, role, options)
                threading._shutdown()
                atexit._run_exitfuncs()
        finally:
            os._exit(code)

    def _code_of(self, text, role, options):
        try:
            hook._begin(str(self._hook), options, role)
            exec(compile(text, "program.py", "exec"), {"__name__": "__main__"})
        except SystemExit as end:
            return end.code
        except KeyboardInterrupt:
            return 130
        except BaseException:
            traceback.print_exc()
            return 1
        return 0

    def end(self):
        """Waits. The status is negative for a signal. Fails if a trace is not whole."""
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        lines = [line for file in self._hook.glob("*.said") for line in file.read_text().splitlines()]
        said = collections.defaultdict(list)
        for line in lines:
            kind, _, words = line.partition(" ")
            said[kind].append(words)
        traces = [json.loads(path.read_text()) for path in sorted(self.logs.glob("*.pt.trace.json"))]
        return End(status, said, traces, (self.folder / "output").read_text())

    def is_in_window(self):
        with contextlib.suppress(OSError):
            return any("open " in file.read_text() for file in self._hook.glob("*.said"))
        return False


def events(trace, *names):
    """Complete events, in order of time; with names those whose names begin so."""
    found = [event for event in trace["traceEvents"] if event.get("ph") == "X"]
    found.sort(key=lambda event: event["ts"])
    return [event for event in found if not names or event["name"].startswith(names)]


def operators(trace):
    """How often each ran."""
    return collections.Counter(event["name"] for event in events(trace) if event["cat"] == "cpu_op")


def warm_up():
    """What torch does once in a process."""
    import torch._inductor.config

    torch.set_num_threads(1)
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters())
    model(torch.randn(1, 2)).sum().backward()
    optimizer.step()
    torch.optim.SGD.step = torch.optim.SGD.step.__wrapped__  # as if none had been made
