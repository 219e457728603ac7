#!/usr/bin/env python3
"""Does everything that takes the path of a trace take what fsspec knows, and name it as the user did?

    remote_paths_test.py [NAME...]

Each method is a CTest test python.NAME. The files are in fsspec's memory:// of this process.
"""

import gzip
import io
import json
import os
import pathlib
import shutil
import socket
import sys
import tempfile
import time
import unittest
import zipfile
from unittest import mock

import fsspec

import tbtrace

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data"
RANKS = "memory://bucket/ranks"


def put(url, content):
    with fsspec.open(url, "wb", compression=None) as file:
        file.write(content)


class RemotePaths(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tbtrace-remote-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # Nothing may be left in the working directory or where copies are made.
        self.addCleanup(os.chdir, os.getcwd())
        (self.folder / "here").mkdir()
        (self.folder / "copies").mkdir()
        os.chdir(self.folder / "here")
        patched = mock.patch.object(tempfile, "tempdir", str(self.folder / "copies"))
        patched.start()
        self.addCleanup(patched.stop)
        self.addCleanup(self.assertNothingIsLeft)
        fsspec.filesystem("memory").store.clear()
        fsspec.filesystem("memory").pseudo_dirs[:] = [""]
        self.local = self.folder / "bucket/ranks"
        self.local.mkdir(parents=True)
        for rank, name in enumerate(("gpu_step.json", "gpu_step_rank1.json")):
            content = (DATA / name).read_bytes()
            for place, made in ((f"rank{rank}.pt.trace.json", content), (f"deep/rank{rank}.json.gz", gzip.compress(content + b"\n"))):
                (self.local / place).parent.mkdir(exist_ok=True)
                (self.local / place).write_bytes(made)
                put(f"{RANKS}/{place}", made)

    def assertNothingIsLeft(self):
        self.assertEqual(os.listdir(self.folder / "here"), [])
        self.assertEqual(os.listdir(self.folder / "copies"), [])

    def as_remote(self, path):
        return str(path).replace(str(self.local), RANKS)

    def test_archives_of_fsspec_are_read(self):
        archive = self.folder / "job.zip"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
            for rank in range(2):
                made.write(self.local / f"rank{rank}.pt.trace.json", f"ranks/rank{rank}.json")
        self.assertEqual(tbtrace.read(f"zip://ranks/rank1.json::{archive}").kernels().to_dicts(),
                         tbtrace.read(self.local / "rank1.pt.trace.json").kernels().to_dicts())
        for inputs in (f"zip://ranks::{archive}", f"zip://ranks/*.json::{archive}"):
            self.assertEqual(len(tbtrace.TraceSet.open(inputs).ranks), 2, inputs)
        self.assertEqual(len(tbtrace.local.summarize(f"zip://ranks::{archive}").sources), 2)
        archive.unlink()

    def test_folders_and_patterns_are_searched(self):
        for name in ("notes.txt", ".hidden.json", "a.tbtrace-partial/x.json"):
            put(f"{RANKS}/{name}", b"{}")
        paths, wrong = tbtrace.find(RANKS)
        self.assertEqual((sorted(paths), wrong), (sorted(map(self.as_remote, tbtrace.find(self.local)[0])), []))
        self.assertEqual(tbtrace.find(RANKS + "/")[0], paths)
        self.assertEqual(tbtrace.find(f"{RANKS}/*.json")[0], [f"{RANKS}/rank0.pt.trace.json", f"{RANKS}/rank1.pt.trace.json"])
        self.assertEqual(tbtrace.find([f"{RANKS}/rank1.pt.trace.json", DATA / "gpu_step.json", RANKS])[0][:2],
                         [str(DATA / "gpu_step.json"), f"{RANKS}/rank1.pt.trace.json"])
        self.assertEqual(len(tbtrace.find([RANKS, f"{RANKS}/rank?.*"])[0]), 4)  # each once
        put(f"{RANKS}/rank2.json.part", b"{")
        put(f"{RANKS}/code.tar.gz", b"x")
        self.assertEqual([(path, why.split(",")[0].split(";")[0]) for path, why in tbtrace.find(RANKS)[1]],
                         [(f"{RANKS}/code.tar.gz", "is an archive"),
                          (f"{RANKS}/rank2.json.part", "has the name of a trace that is not finished")])
        self.assertEqual(tbtrace.find("memory://bucket/*.json"), ([], [("memory://bucket/*.json", "no file matches; check the pattern")]))
        put("memory://empty/notes.txt", b"x")
        self.assertIn("contains no traces", tbtrace.find("memory://empty")[1][0][1])
        put("memory://bucket/rank[0].json", b"{}")  # a name, not a pattern
        self.assertEqual(tbtrace.find("memory://bucket/rank[0].json")[0], ["memory://bucket/rank[0].json"])

    def test_sets_have_remote_traces(self):
        remote, local = tbtrace.TraceSet.open(RANKS), tbtrace.TraceSet.open(self.local)
        self.assertEqual([trace.path for trace in remote], [self.as_remote(trace.path) for trace in local])
        self.assertEqual(remote.ranks, [0, 0, 1, 1])
        for table in ("kernels", "steps", "operators"):
            wanted = getattr(local, table)().to_dicts()
            for row in wanted:
                if "input" in row:
                    row["input"] = self.as_remote(row["input"])
            self.assertEqual(getattr(remote, table)().to_dicts(), wanted)
        put(f"{RANKS}/noise.json", b"\x00\x01noise")
        some = tbtrace.TraceSet.open([RANKS, f"{RANKS}/gone.json"])
        self.assertEqual([path for path, _ in some.unread], [f"{RANKS}/noise.json", f"{RANKS}/gone.json"])
        self.assertNotIn("memory://", "".join(why for _, why in some.unread))
        self.assertIn("no such file", some.unread[1][1])
        with self.assertRaisesRegex(tbtrace.TraceError, f"{RANKS}/gone.json: there is no such file"):
            tbtrace.TraceSet.open(f"{RANKS}/gone.json")

    def test_sets_take_traces_bytes_and_files(self):
        content = (DATA / "gpu_step.json").read_bytes()
        trace = tbtrace.read(DATA / "gpu_step_rank1.json")
        ranks = tbtrace.TraceSet.open([content, io.BytesIO(content), trace, f"{RANKS}/rank0.pt.trace.json", DATA / "cpu_steps.json"])
        self.assertEqual([(one.path, rank) for one, rank in zip(ranks, ranks.ranks)], [
            ("<bytes 0>", 0), ("<file object 1>", 0), (f"{RANKS}/rank0.pt.trace.json", 0),
            (str(DATA / "gpu_step_rank1.json"), 1), (str(DATA / "cpu_steps.json"), None)])
        self.assertEqual({row["input"] for row in ranks.steps()}, {one.path for one in ranks})
        wanted = tbtrace.TraceSet.open([DATA / "gpu_step_rank1.json"]).kernels().to_dicts()
        self.assertEqual(tbtrace.TraceSet.open(trace).kernels().to_dicts(), wanted)
        self.assertEqual(tbtrace.TraceSet.open([trace])[0].events().to_dicts(), trace.events().to_dicts())
        named = tbtrace.TraceSet.open({"base": content, "new": trace, "far": f"{RANKS}/rank0.pt.trace.json"})
        self.assertEqual([one.path for one in named], ["base", "far", "new"])
        self.assertEqual(len(tbtrace.TraceSet.open({"base": content, "same": content}).partial()), 1)
        with self.assertRaisesRegex(tbtrace.TraceError, "^<bytes 0>: "):
            tbtrace.TraceSet.open([b"no trace"])
        wrong = tbtrace.TraceSet.open([b"no trace", content])
        self.assertEqual([path for path, _ in wrong.unread], ["<bytes 0>"])

        class Broken(io.RawIOBase):
            def read(self, size=-1):
                raise ConnectionError("the line is cut")

        broken = tbtrace.TraceSet.open({"line": Broken(), "whole": content})
        self.assertEqual(broken.unread, [("line", "the line is cut")])
        with open(DATA / "gpu_step.json", encoding="utf-8") as text:
            self.assertRaisesRegex(ValueError, "mode 'rb'", tbtrace.TraceSet.open, [text])
        self.assertRaisesRegex(ValueError, "not int", tbtrace.TraceSet.open, [7])
        self.assertRaises(ValueError, tbtrace.TraceSet.open, [])

    def test_traces_are_written_from_remote_ones(self):
        out = self.folder / "out.json"
        for write in (lambda path: tbtrace.slice(path, out, overwrite=True, steps=1), lambda path: tbtrace.repair(path, out, overwrite=True),
                      lambda path: tbtrace.anonymise(path, out, overwrite=True, key=bytes(16)), tbtrace.find_private_names):
            wanted = write(self.local / "rank1.pt.trace.json"), out.read_bytes() if out.exists() else b""
            self.assertEqual((write(f"{RANKS}/rank1.pt.trace.json"), out.read_bytes()), wanted)
            with self.assertRaisesRegex(tbtrace.TraceFileNotFoundError, f"^{RANKS}/gone.json: there is no such file"):
                write(f"{RANKS}/gone.json")
            put(f"{RANKS}/noise.json", b"\x00\x01noise")
            with self.assertRaisesRegex(tbtrace.TraceError, f"^{RANKS}/noise.json: "):
                write(f"{RANKS}/noise.json")

    def test_jobs_have_remote_traces(self):
        put(f"{RANKS}/damaged.json", (DATA / "damaged.json").read_bytes())
        put(f"{RANKS}/noise.json", b"\x00\x01noise")
        put(f"{RANKS}/nothing.json", b"")
        (self.local / "damaged.json").write_bytes((DATA / "damaged.json").read_bytes())
        (self.local / "noise.json").write_bytes(b"\x00\x01noise")
        (self.local / "nothing.json").write_bytes(b"")
        cache = self.folder / "cache"
        wanted = tbtrace.local.summarize(self.local, workers=2)
        for reused in (0, 3):  # of seven, without those that do not count
            job = tbtrace.local.summarize(RANKS, workers=2, cache=cache)
            self.assertEqual(job.reused, reused)
            sources = [dict(source, path=self.as_remote(source["path"])) for source in wanted.sources]
            for source in sources:
                source["message"] = source["message"] and self.as_remote(source["message"])
            self.assertEqual(job.sources, sources)
            self.assertEqual(job.kernels().to_dicts(), wanted.kernels().to_dicts())
            self.assertEqual([row["input"] for row in job.steps()], [self.as_remote(row["input"]) for row in wanted.steps()])
        put(f"{RANKS}/rank0.pt.trace.json", (DATA / "gpu_step_later.json").read_bytes())
        changed = tbtrace.local.summarize(RANKS, cache=cache)
        self.assertEqual((len(changed.partial), changed.reused), (4, 3))  # not the one that changed
        with self.assertRaisesRegex(ValueError, "the cache writes to a local path"):
            tbtrace.local.summarize(RANKS, cache="memory://cache")

    def test_copies_go_when_a_job_is_ended(self):
        pieces = []

        class Endless(io.BytesIO):
            def read(self, size=-1):
                pieces.append(os.listdir(self.folder))
                return b" " * 1000

        Endless.folder = self.folder / "copies"

        def stop(done, total):
            while not pieces:
                time.sleep(0.01)
            raise KeyboardInterrupt

        with mock.patch.object(type(fsspec.filesystem("memory")), "open", lambda *args, **options: Endless()):
            with self.assertRaises(KeyboardInterrupt):
                tbtrace.local.summarize(RANKS, workers=2, progress=stop)
        self.assertGreater(len(pieces[0]), 0)

    def test_a_cut_line_is_named(self):
        class Cut(io.BytesIO):
            def read(self, size=-1):
                if self.tell() > 0:
                    raise ConnectionError("the line is cut")
                return super().read(100)

        with mock.patch.object(type(fsspec.filesystem("memory")), "open", lambda *args, **options: Cut(b"{" * 1000)):
            url = f"{RANKS}/rank0.pt.trace.json"
            with self.assertRaisesRegex(tbtrace.TraceError, f"^{url}: cannot be read: the line is cut"):
                tbtrace.read(url)
            with self.assertRaisesRegex(tbtrace.TraceError, f"{url}: cannot be read: the line is cut"):
                tbtrace.local.summarize(url)
            with self.assertRaisesRegex(tbtrace.TraceError, f"^{url}: cannot be read: the line is cut"):
                tbtrace.convert(url, self.folder / "logs")

    def test_a_refused_connection_is_not_a_missing_file(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}/trace.json"
        for read in (tbtrace.read, tbtrace.TraceSet.open):
            with self.assertRaisesRegex(tbtrace.TraceError, f"{url}: cannot be read: .*check the connection") as raised:
                read(url)
            self.assertNotIsInstance(raised.exception, FileNotFoundError)
        with self.assertRaises(FileNotFoundError) as raised:
            tbtrace.read(f"{RANKS}/gone.json")
        self.assertEqual(raised.exception.filename, f"{RANKS}/gone.json")

    def test_a_file_system_that_cannot_start_is_named_with_its_path(self):
        with mock.patch("fsspec.core.url_to_fs", side_effect=OSError("Unable to load libjvm\nno file")):
            with self.assertRaisesRegex(tbtrace.TraceError, "^hdfs://host/a.json: cannot be opened: Unable to load libjvm; "):
                tbtrace.read("hdfs://host/a.json")

    def test_conversions_of_remote_traces(self):
        put(f"{RANKS}/noise.json", b"\x00\x01noise")
        (self.local / "noise.json").write_bytes(b"\x00\x01noise")
        options = {"to": "plugin", "gzip": False, "on_error": "return"}
        reports = []
        for inputs, logs in ((self.local, "local"), (RANKS, "remote")):
            reports.append(tbtrace.convert(inputs, self.folder / logs, **options))
        for report, logs in zip(reports, ("local", "remote")):
            text = self.as_remote(json.dumps(report)).replace(str(self.folder / logs), "LOGS")
            reports.append(json.loads(text))
        self.assertEqual(reports[2]["inputs"], reports[3]["inputs"])
        files = [{path.relative_to(self.folder / logs): path.read_bytes() for path in (self.folder / logs).rglob("*.json")}
                 for logs in ("local", "remote")]
        self.assertEqual(*files)
        self.assertEqual(len(files[0]), 4)
        from tbtrace import _paths

        copies = _paths._Copies(str(self.folder / "copies"))
        with mock.patch.object(_paths, "_below", lambda url: [(f"{url}/../../../../out/rank0.json", "trace")]):
            copies.add("s3://bucket/ranks")  # a key may have such a name
        self.assertEqual([place for _, place in copies._files], [str(self.folder / "copies/0/ranks/_/_/_/_/out/rank0.json")])
        shutil.rmtree(self.folder / "copies/0")
        one = tbtrace.convert(f"{RANKS}/rank0.pt.trace.json", self.folder / "one", to="plugin")
        self.assertEqual([(each["input"], each["run"]) for each in one["inputs"]], [(f"{RANKS}/rank0.pt.trace.json", "ranks")])
        for inputs, says in ((f"{RANKS}/noise.json", f"{RANKS}/noise.json: "), ([f"{RANKS}/gone.json"], f"{RANKS}/gone.json: ")):
            with self.assertRaisesRegex(tbtrace.TraceError, f"^{says}"):
                tbtrace.convert(inputs, self.folder / "wrong")

    def test_comparisons_and_partials_of_remote_files(self):
        for name in ("before", "after"):
            put(f"memory://runs/{name}.json.gz", (DATA / f"compare/{name}.json.gz").read_bytes())
        wanted = tbtrace.diff(DATA / "compare/before.json.gz", DATA / "compare/after.json.gz", run_noise=0.05)
        made = tbtrace.diff("memory://runs/before.json.gz", "memory://runs/after.json.gz", run_noise=0.05)
        self.assertEqual((made.verdict, made.step, made.base), (wanted.verdict, wanted.step, ["memory://runs/before.json.gz"]))
        self.assertEqual(len(tbtrace.diff("memory://runs/before.*", "memory://runs/*.gz", run_noise=0.05).new), 2)
        tbtrace.write_baseline(self.folder / "base.tbb", "memory://runs/before.json.gz")
        put("memory://runs/base.tbb", (self.folder / "base.tbb").read_bytes())
        self.assertEqual(tbtrace.diff("memory://runs/base.tbb", "memory://runs/after.json.gz", run_noise=0.05).step, wanted.step)
        with self.assertRaisesRegex(tbtrace.TraceError, "memory://runs/gone.json: there is no such file"):
            tbtrace.diff("memory://runs/gone.json", "memory://runs/after.json.gz")
        partial = tbtrace.read(DATA / "gpu_step.json").partial()
        partial.save(self.folder / "one.tbp")
        put("memory://runs/one.tbp", (self.folder / "one.tbp").read_bytes())
        self.assertEqual(tbtrace.Partial.read("memory://runs/one.tbp").to_bytes(), partial.to_bytes())
        with self.assertRaisesRegex(tbtrace.TraceError, "memory://runs/base.tbb: "):
            tbtrace.Partial.read("memory://runs/base.tbb")
        self.assertEqual(partial.renamed("another").sources[0]["name"], "another")
        both = tbtrace.merge([partial, tbtrace.read(DATA / "gpu_step_rank1.json").partial()])
        self.assertRaisesRegex(ValueError, "of one trace", both.renamed, "another")

    def test_outputs_are_local(self):
        trace = tbtrace.read(DATA / "gpu_step.json")
        job = tbtrace.local.summarize(DATA / "gpu_step.json")
        for what, write in {
            "tensorboard_trace_handler": tbtrace.tensorboard_trace_handler,
            "convert": lambda url: tbtrace.convert(DATA / "gpu_step.json", url),
            "write_parquet": lambda url: job.write_parquet(url, run="a"),
            "to_parquet": trace.kernels().to_parquet,
            "export_chrome_trace": trace.export_chrome_trace,
            "export_stacks": trace.export_stacks,
            "export": trace.export,
            "write_baseline": lambda url: tbtrace.write_baseline(url, trace),
        }.items():
            with self.subTest(what), self.assertRaisesRegex(ValueError, rf"^memory://out/x: {what}\(\) writes to a local path; copy"):
                write("memory://out/x")
        for save in (trace.partial().save, trace.report().save, trace.flame_graph("self_cpu_time_total").save):
            with self.assertRaisesRegex(ValueError, r"^memory://out/x.svg: save\(\) writes to a local path"):
                save("memory://out/x.svg")
        for write in (trace.partial().save, lambda path: tbtrace.convert(DATA / "gpu_step.json", path), tbtrace.find, tbtrace.read):
            with self.assertRaisesRegex(ValueError, "memory:/out/x: a pathlib.Path has no room for ://"):
                write(pathlib.Path("memory://out/x"))
        self.assertEqual(list(fsspec.filesystem("memory").find("out")), [])

    def test_home_is_a_path_everywhere(self):
        home = self.folder / "home"
        (home / "ranks").mkdir(parents=True)
        (home / "ranks/rank0.json").write_bytes((DATA / "gpu_step.json").read_bytes())
        with mock.patch.dict(os.environ, HOME=str(home)):
            for inputs in ("~/ranks", "~/ranks/*.json", ["~/ranks/rank0.json"]):
                self.assertEqual(tbtrace.find(inputs), ([str(home / "ranks/rank0.json")], []))
                self.assertEqual(tbtrace.TraceSet.open(inputs)[0].path, str(home / "ranks/rank0.json"))
            job = tbtrace.local.summarize("~/ranks", cache="~/cache")
            self.assertEqual((len(job.partial), (home / "cache").is_dir()), (1, True))
            job.write_parquet("~/tables", run="a")
            job.partial.save("~/job.tbp")
            self.assertEqual(len(tbtrace.Partial.read("~/job.tbp")), 1)
            tbtrace.convert("~/ranks", "~/logs", to="plugin")
            job.kernels().to_parquet("~/kernels.parquet")
            self.assertEqual(tbtrace.diff("~/ranks", "~/ranks/rank0.json").base, [str(home / "ranks")])
            tbtrace.tensorboard_trace_handler("~/handler")
        self.assertEqual(sorted(os.listdir(home)), ["cache", "job.tbp", "kernels.parquet", "logs", "ranks", "tables"])

    def test_without_fsspec_one_error_names_the_extra(self):
        with mock.patch.dict(sys.modules, {"fsspec": None}):
            for use in (tbtrace.read, tbtrace.find, tbtrace.TraceSet.open, tbtrace.local.summarize, tbtrace.Partial.read,
                        lambda url: tbtrace.convert(url, self.folder / "logs"), lambda url: tbtrace.diff(url, url),
                        lambda url: tbtrace.TraceSet.open({"one": url, "two": url})):
                with self.assertRaisesRegex(ModuleNotFoundError, r"^memory://b/x.json: .*pip install fsspec"):
                    use("memory://b/x.json")
        with self.assertRaisesRegex(ValueError, "^nosuch://b/x.json: Protocol not known"):
            tbtrace.read("nosuch://b/x.json")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(f"RemotePaths.test_{name}" for name in sys.argv[1:])])
