"""What the tests of jobs have in common: ranks to read, and the engines that read them."""

import json
import os
import pathlib
import random
import sys

import tbtrace
from s3_server import S3Server

ROOT = pathlib.Path(__file__).resolve().parents[2]


def made_ranks(folder, count):
    """`count` ranks of a job: examples, each with its rank and with times of its own."""
    examples = [json.loads((ROOT / "tests/data" / name).read_bytes()) for name in ("gpu_step.json", "gpu_step_rank1.json",
                                                                                   "cpu_steps.json")]
    random.seed(count)
    paths = []
    for rank in range(count):
        document = json.loads(json.dumps(examples[rank % len(examples)]))
        document["distributedInfo"] = {"rank": rank, "world_size": count}
        for event in document["traceEvents"]:
            if "dur" in event:
                event["dur"] = round(event["dur"] * random.uniform(0.5, 1), 3)
        path = folder / f"rank_{rank:04}.json"
        path.write_text(json.dumps(document))
        paths.append(path)
    return paths


def made_troubled_ranks(folder):
    """A job of 65 ranks with 65 files: two ranks without one, an empty file, noise, a cut trace, one without events, the
    content of a rank twice, a rank twice, a link to nowhere. Returns the paths by rank."""
    ranks = folder / "ranks"
    ranks.mkdir()
    paths = dict(enumerate(made_ranks(ranks, 65)))
    for rank in (7, 41):
        paths[rank].unlink()
    paths[1].write_bytes(b"")
    paths[2].write_bytes(random.Random(1).randbytes(5000))
    cut = paths[3].read_bytes()
    paths[3].write_bytes(cut[:cut.index(b"traceEvents") + (len(cut) - cut.index(b"traceEvents")) // 2])
    paths[4].write_text(json.dumps(json.loads(paths[4].read_bytes()) | {"traceEvents": []}))
    (ranks / "a_copy.json").write_text(json.dumps(json.loads(paths[10].read_bytes()), indent=1))  # the same trace in other bytes
    double = json.loads(paths[12].read_bytes())
    next(event for event in double["traceEvents"] if event.get("cat") == "kernel")["name"] = "another name"
    (ranks / "rank_0012_again.json").write_text(json.dumps(double))
    paths[64].unlink()
    paths[64].symlink_to(folder / "nowhere.json")
    return paths


class Engine:
    """One way to run a job. Workers may read from a server of s3:// with the bucket `here`."""

    def __init__(self, name, bucket):
        self.name = name
        self.server = S3Server({"here": bucket})
        self.server.__enter__()
        os.environ.update(self.server.environment)  # which workers get
        if self.name == "ray":
            os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
            os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
            import ray

            ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
            ray.data.DataContext.get_current().enable_progress_bars = False
        elif self.name == "spark":
            os.environ["PYSPARK_PYTHON"] = sys.executable
            os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
            from pyspark.sql import SparkSession

            builder = SparkSession.builder.master("local[2, 4]").config("spark.ui.enabled", "false")
            builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
            self.session = builder.config("spark.log.level", "OFF").getOrCreate()

    def summarize(self, inputs, **options):
        if self.name == "local":
            return tbtrace.local.summarize(inputs, workers=2, **options)
        if self.name == "ray":
            from tbtrace.ray import summarize

            return summarize(inputs, **options)
        from tbtrace.spark import summarize

        return summarize(self.session, inputs, **options)

    def rows(self, inputs, table, **options):
        """As a table of pyarrow, sorted by all that is in it."""
        if self.name == "local":
            made = tbtrace.local.rows(inputs, table, workers=2, **options)
        elif self.name == "ray":
            import pyarrow

            made = pyarrow.concat_tables(batch for batch in tbtrace.ray.rows(inputs, table, **options).iter_batches(
                batch_size=None, batch_format="pyarrow"))
        else:
            made = tbtrace.spark.rows(self.session, inputs, table, **options).toArrow()
        return sorted(made.to_pylist(), key=str)

    def close(self):
        self.server.__exit__()
        if self.name == "ray":
            import ray

            ray.shutdown()
        elif self.name == "spark":
            self.session.stop()

    def working_processes(self):
        """Processes that work for it, with their command lines."""
        found = []
        for folder in pathlib.Path("/proc").iterdir():
            try:
                line = (folder / "cmdline").read_bytes()
                parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
                of_parent = pathlib.Path(f"/proc/{parent}/cmdline").read_bytes()
            except OSError:
                continue
            if {"local": b"\0save\0" in line and int(parent) == os.getpid(),
                "ray": line.startswith(b"ray::Map"),
                "spark": b"pyspark.daemon" in line and b"pyspark.daemon" in of_parent}[self.name]:
                found.append((int(folder.name), line))
        return found
