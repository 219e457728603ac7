"""A log directory with the tab on it, for the tests of the tab: without a server, by its WSGI applications."""

import gzip
import json
import os
import pathlib
import shutil
import tempfile
import unittest
import unittest.mock

from tensorboard.plugins import base_plugin
from werkzeug.test import Client

import tbtrace
from tbtrace.tab import log_directory, plugin

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data"
STEP = DATA / "gpu_step.json"
START = 1_700_000_000_000_000_000


def trace_name(worker="host_1", number=0, ending=".json"):
    return f"{worker}.{START + number * 10**9}.pt.trace{ending}"


class Tab:
    """`logdir`: a folder, or what TensorBoard was given instead."""

    def __init__(self, logdir, logdir_spec=""):
        flags = unittest.mock.Mock(logdir_spec=logdir_spec)
        self.plugin = plugin.TbtracePlugin(base_plugin.TBContext(logdir=str(logdir), flags=flags))
        self.apps = self.plugin.get_plugin_apps()

    def get(self, route, accepts="gzip", method="GET", **query):
        client = Client(self.apps[f"/{route}"])
        return client.open("/", method=method, query_string=query, headers={"Accept-Encoding": accepts})

    def body(self, route, **query):
        """Of an answer that is not an error."""
        answer = self.get(route, **query)
        assert answer.status_code == 200, answer.data
        return gzip.decompress(answer.data)

    def runs(self):
        return json.loads(self.body("runs"))

    def windows(self):
        """By the path of the trace, in the order of the document."""
        return {
            window["trace"]: {**window, "run": run["name"], "worker": worker["name"]}
            for run in self.runs()["runs"]
            for worker in run["workers"]
            for window in worker["windows"]
        }

    def problems(self):
        return {problem["path"]: problem["sentence"] for problem in self.runs()["problems"]}

    def error(self, route, **query):
        """Status and sentence."""
        answer = self.get(route, **query)
        return answer.status_code, json.loads(answer.data)["error"]


class TabTest(unittest.TestCase):
    """Has a log directory and a cache folder of its own; each request looks through the log directory."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tbtrace-tab-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.logs = self.folder / "logs"
        self.logs.mkdir()
        self.cache = self.folder / "cache"
        self.patch(os.environ, TBTRACE_TAB_CACHE=str(self.cache))
        self.patch_value(log_directory, "fresh_seconds", lambda taken: 0.0)

    def patch(self, values, **changes):
        patch = unittest.mock.patch.dict(values, changes)
        patch.start()
        self.addCleanup(patch.stop)

    def patch_value(self, of, name, value):
        patch = unittest.mock.patch.object(of, name, value)
        self.addCleanup(patch.stop)
        return patch.start()

    def add(self, path, source=STEP):
        """A trace at a path below the log directory; returns the path."""
        place = self.logs / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.name.endswith(".gz") and source.suffix != ".gz":
            place.write_bytes(gzip.compress(source.read_bytes()))
        else:
            shutil.copy(source, place)
        return path

    def set_caches(self, tab, cache, memory):
        tab.plugin._routes._views._cache = cache
        tab.plugin._routes._views._memory = memory

    def count_reads(self, before=lambda: None):
        """A mock of tbtrace.read(), which calls `before` first."""
        read = tbtrace.read

        def counted(*arguments, **options):
            before()
            return read(*arguments, **options)

        return self.patch_value(tbtrace, "read", unittest.mock.Mock(side_effect=counted))
