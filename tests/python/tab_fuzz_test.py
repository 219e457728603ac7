#!/usr/bin/env python3
"""Do the routes of the TensorBoard tab answer any request without failing, and read nothing outside the log directory?

    tab_fuzz_test.py [--seconds N | --minutes N] [--seed N]

Sends random and crafted parameters while files of the log directory come, change, vanish and become links. Needs
TensorBoard.
"""

import gzip
import json
import os
import pathlib
import random
import shutil
import sys
import sysconfig
import time
import urllib.parse

from werkzeug.test import Client

import fuzz_options
import tbtrace
from tab_folder import DATA, STEP, Tab, TabTest, trace_name

SECRET = "operator_of_somebody_else"
NUMBERS = [
    "0",
    "1",
    "-1",
    "7",
    "1e3",
    "0x10",
    "1.5",
    "",
    " 1",
    "+1",
    "1_0",
    "-0",
    "\u0661",
    "NaN",
    "None",
    str(2**31),
    str(2**63 - 1),
    str(2**63),
    str(-(2**63)),
    "9" * 40,
    "9" * 5000,
]
TEXTS = [
    "",
    ".",
    "..",
    "/",
    "../outside/secret.json",
    "..%2foutside%2fsecret.json",
    "%2e%2e/outside/secret.json",
    "away/secret.json",
    "linked.json",
    "/etc/passwd",
    "/proc/self/environ",
    "file:///etc/passwd",
    "\0",
    "x\0.json",
    "\ud800",
    "\u202e.json",
    "a" * 5000,
    "run/../run/rank0.json",
    "./run/rank0.json",
    "run//rank0.json",
    "RUN/RANK0.JSON",
    "summary",
    "aten::add",
    "<script>",
    "'",
    "\n",
    "\\..\\outside\\secret.json",
    "~",
    "$HOME",
    "%00",
    "*",
    "run/*",
]
KEYS = ["trace", "view", "version", "from_ns", "to_ns", "track", "start_ns", "duration_ns", "name", "nth"]
TRACES = [
    "run/rank0.json",
    "run/" + trace_name(),
    "run/deep/" + trace_name(number=1, ending=".json.gz"),
    "cut.pt.trace.json",
    "empty.json",
    "late/" + trace_name(number=2),
]
DAMAGED = "damaged.pt.trace.json"  # and stays so


class Watch:
    """Which files this process opens; those outside of `folders` are kept."""

    def __init__(self, folders):
        libraries = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
        self.folders = [
            os.path.join(os.path.realpath(folder), "")
            for folder in (
                *folders,
                *libraries,
                sys.prefix,
                sys.base_prefix + "/lib",
                os.path.dirname(tbtrace.__file__),
                *sys.path,
            )
        ]
        self.opened = 0
        self.wrong = []
        self.is_on = True
        sys.addaudithook(self.see)

    def see(self, event, arguments):
        if not self.is_on or event not in ("open", "os.scandir", "os.listdir") or isinstance(arguments[0], int):
            return
        self.opened += 1
        path = os.fsdecode(arguments[0] or ".")
        if event == "open" and arguments[1] is None and arguments[2] & os.O_NOFOLLOW:  # os.open()
            if "/" not in path and path != "..":
                return  # from a folder that is open: this cannot leave it
            path = os.path.join(os.path.dirname(path), "x")
        self.check(path)

    def check(self, path):
        real = os.path.realpath(path)
        if not any(os.path.join(real, "").startswith(folder) for folder in self.folders):
            self.wrong.append((path, real))


class Fuzz(TabTest):
    seconds = 4.0
    seed = 1

    def setUp(self):
        super().setUp()
        self.outside = self.folder / "outside"
        self.outside.mkdir()
        (self.outside / "secret.json").write_text(STEP.read_text().replace("aten::", SECRET))
        for trace in TRACES[:3]:
            self.add(trace)
        (self.logs / TRACES[3]).write_bytes(STEP.read_bytes()[:300])
        (self.logs / TRACES[4]).touch()
        (self.logs / DAMAGED).write_text("no JSON at all")
        (self.logs / "away").symlink_to(self.outside)
        (self.logs / "linked.json").symlink_to(self.outside / "secret.json")
        self.random = random.Random(self.seed)

    def read_only_inside(self, watch):
        """The library's own opening of a file is no event of Python."""
        read = tbtrace.read

        def watched(path, **options):
            watch.check(os.readlink(path).removesuffix(" (deleted)"))
            return read(path, **options)

        self.patch_value(tbtrace, "read", watched)

    def change_something(self):
        choice = self.random
        path = self.logs / choice.choice(TRACES)
        path.parent.mkdir(parents=True, exist_ok=True)
        kind = choice.randrange(6)
        if kind < 3 or path.is_symlink():
            path.unlink(missing_ok=True)
        if kind == 0:
            path.symlink_to(self.outside / "secret.json")
        elif kind in (1, 2):
            self.add(
                str(path.relative_to(self.logs)),
                choice.choice([STEP, DATA / "stacks.json", DATA / "hostile_names.json"]),
            )
        elif kind == 3 and path.exists():
            os.truncate(path, choice.randrange(path.stat().st_size + 1))
        elif kind == 4 and path.parent != self.logs and not path.parent.is_symlink():
            shutil.rmtree(path.parent)
            if choice.random() < 0.5:
                path.parent.symlink_to(self.outside)
        elif path.parent.is_symlink():
            path.parent.unlink()

    def query(self):
        choice = self.random
        known = {
            "trace": [*TRACES, *TRACES, *[DAMAGED] * 3, *TEXTS],
            "view": [name for name, _ in tbtrace.views()] * 3 + TEXTS,
            "name": TEXTS,
            "version": [*TEXTS, *NUMBERS],
        }
        parts = []
        for key in KEYS if choice.random() < 0.7 else choice.choices(KEYS, k=choice.randrange(12)):
            if choice.random() < 0.9:
                value = choice.choice(known.get(key, NUMBERS[:4] * 4 + NUMBERS + TEXTS))
                text = value.encode("utf-8", "surrogatepass")
                if choice.random() < 0.1:
                    text += choice.randbytes(choice.randrange(8))
                parts.append(
                    f"{key}="
                    + (urllib.parse.quote(text) if choice.random() < 0.9 else text.decode("latin-1").replace("\n", ""))
                )
        return choice.choice("&&&&&&;").join(parts)

    def test_fuzz(self):
        tab = Tab(self.logs)
        tab.runs()
        page = pathlib.Path(tbtrace.__file__).parent / "tab/static"
        watch = Watch(
            [
                self.logs,
                self.cache,
                page,
                page.resolve(),
                "/proc/self/fd",
                f"/proc/{os.getpid()}/fd",
                *{path.resolve().parent for path in page.iterdir()},
                *{path.resolve().parent for path in page.parent.iterdir()},
            ]
        )
        self.read_only_inside(watch)
        counts = {}
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            if self.random.random() < 0.1:
                watch.is_on = False
                self.change_something()
                watch.is_on = True
            route = self.random.choice(list(tab.apps))
            query = self.query()
            answer = Client(tab.apps[route]).open(
                "/",
                method=self.random.choice(["GET"] * 18 + ["HEAD", "POST"]),
                query_string=query,
                headers={"Accept-Encoding": self.random.choice(["gzip", "", "*;q=0", "\xff"])},
            )
            counts[answer.status_code] = counts.get(answer.status_code, 0) + 1
            self.look_at(answer, f"{route}?{query}")
            self.assertEqual([], watch.wrong, f"{route}?{query}")
        watch.is_on = False
        print(
            f"seed {self.seed}: {sum(counts.values())} requests {dict(sorted(counts.items()))}, "
            f"{watch.opened} files opened"
        )
        self.assertTrue({200, 400, 404, 405, 422} <= set(counts), "all kinds of answers came")

    def look_at(self, answer, request):
        self.assertIn(answer.status_code, (200, 400, 404, 405, 422), request)
        body = answer.data
        if answer.headers.get("Content-Encoding") == "gzip" and body:
            body = gzip.decompress(body)
        self.assertNotIn(SECRET.encode(), body, request)
        self.assertNotIn(b"Traceback", body, request)
        if answer.content_type == "application/json" and body:
            document = json.loads(body)
            if answer.status_code != 200:
                self.assertGreater(len(document["error"]), 10, request)
        self.assertEqual("nosniff", answer.headers["X-Content-Type-Options"], request)


if __name__ == "__main__":
    fuzz_options.run(Fuzz, __doc__)
