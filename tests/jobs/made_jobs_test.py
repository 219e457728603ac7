#!/usr/bin/env python3
"""The made jobs: what has to hold in any recording of a job, and that the truth says what is in the traces.

    made_jobs_test.py [--tbtrace PROGRAM] [unittest's arguments]

With PROGRAM, `tbtrace check` has to find the traces whole. Times are read from the traces as integers.
"""
import collections
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import made_jobs
from made_jobs.clocks import Clock
from made_jobs.damage import DAMAGES
from made_jobs.dialects import DIALECTS
from made_jobs.effects import CAUSES
from made_jobs.pipelines import orders
from made_jobs.settings import KINDS, allows, draw

PROGRAM = None
FOLDER = pathlib.Path(__file__).resolve().parent
SMALL = {"steps": 4, "layers": 2}
TEMPORARY = tempfile.TemporaryDirectory()


def nanoseconds(text):
    whole, _, part = text.partition(".")
    return int(whole) * 1000 + int((part + "000")[:3])


class Job:
    """A job as its files show it, in true time."""

    def __init__(self, seed, **given):
        folder = pathlib.Path(TEMPORARY.name) / f"{len(os.listdir(TEMPORARY.name))}"
        self.folder = folder
        self.truth = made_jobs.make(folder, seed, **given)
        self.stored = json.loads((folder / "truth" / f"{self.truth['job']}.json").read_text())
        clocks = self.truth["clocks"]
        self.clocks = {row["rank"]: Clock(row["offset_ns"], row["drift_ppb"], row["base_ns"], clocks["reference_ns"])
                       for row in clocks["ranks"]}
        self.documents = {int(rank): json.loads((folder / path).read_text(), parse_float=str, parse_int=str)
                          for rank, path in self.truth["files"].items()}

    @functools.cache
    def ranges(self, rank):
        """(start, end, event) of a rank's events that last."""
        clock = self.clocks[rank]
        rows = []
        for event in self.documents[rank]["traceEvents"]:
            if event["ph"] == "X":
                start = nanoseconds(event["ts"])
                rows.append((clock.true(start), clock.true(start + nanoseconds(event["dur"])), event))
        return rows

    def collectives(self, rank):
        """(start, end, event) of what moves data between ranks, by stream, in order."""
        streams = collections.defaultdict(list)
        for start, end, event in self.ranges(rank):
            name = event["name"]
            is_kernel = event["cat"] == "kernel" and ("nccl" in name or "cross_device_reduce" in name)
            if is_kernel or (event["cat"] == "user_annotation" and name.startswith("gloo:")):
                streams[event["pid"], event["tid"]].append((start, end, event))
        return streams

    def duration(self):
        steps, ends = [], []
        for rank in self.documents:
            for start, end, event in self.ranges(rank):
                if event["name"].startswith("ProfilerStep#"):
                    steps.append(start)
                    ends.append(end)
                elif event["cat"] in ("kernel", "gpu_memcpy"):
                    ends.append(end)
        return max(ends) - min(steps)


@functools.cache
def job_of(kind):
    sizes = {"tp_dp": {"world_size": 8, "tensor_ranks": 4}, "pp": {"world_size": 4}, "pp_dp": {"world_size": 8}}
    return Job(KINDS.index(kind) + 40, kind=kind, **({"world_size": 4} | sizes.get(kind, {})), **SMALL)


class Recordings(unittest.TestCase):
    """What holds in any recording."""

    @staticmethod
    def each_kind():
        return [job_of(kind) for kind in KINDS]

    def test_head_names_the_rank_and_its_groups(self):
        for job in self.each_kind():
            for rank, document in job.documents.items():
                head = document["distributedInfo"]
                self.assertEqual((int(head["rank"]), int(head["world_size"])), (rank, job.truth["world_size"]))
                for group in head.get("pg_config", []):
                    self.assertEqual([int(other) for other in group["ranks"]],
                                     job.truth["groups"][group["pg_name"]]["ranks"])
                    self.assertIn(rank, job.truth["groups"][group["pg_name"]]["ranks"])

    def test_ranges_of_a_stream_never_overlap(self):
        for job in self.each_kind():
            for rank in job.documents:
                streams = collections.defaultdict(list)
                for event in job.documents[rank]["traceEvents"]:
                    if event.get("cat") in ("kernel", "gpu_memcpy"):
                        start = nanoseconds(event["ts"])
                        streams[event["tid"]].append((start, start + nanoseconds(event["dur"])))
                self.assertTrue(streams or job.truth["kind"] == "gloo")
                for rows in streams.values():
                    rows.sort()
                    for (_, end), (start, _) in zip(rows, rows[1:]):
                        self.assertLessEqual(end, start)

    def test_ranges_of_a_thread_nest(self):
        for job in self.each_kind():
            for rank in job.documents:
                threads = collections.defaultdict(list)
                for event in job.documents[rank]["traceEvents"]:
                    if event.get("cat") in ("cpu_op", "user_annotation", "cuda_runtime", "python_function"):
                        start = nanoseconds(event["ts"])
                        threads[event["tid"]].append((start, -start - nanoseconds(event["dur"])))
                for rows in threads.values():
                    open_ends = []
                    for start, minus_end in sorted(rows):
                        while open_ends and open_ends[-1] <= start:
                            open_ends.pop()
                        self.assertTrue(not open_ends or -minus_end <= open_ends[-1])
                        open_ends.append(-minus_end)

    def test_kernels_start_after_their_launches(self):
        for job in self.each_kind():
            for document in job.documents.values():
                launches = {event["args"]["correlation"]: nanoseconds(event["ts"])
                            for event in document["traceEvents"] if event.get("cat") == "cuda_runtime"}
                operators = {event["args"].get("External id"): event["name"] for event in document["traceEvents"]
                             if event.get("cat") == "cpu_op"}
                for event in document["traceEvents"]:
                    if event.get("cat") == "kernel":
                        self.assertLess(launches[event["args"]["correlation"]], nanoseconds(event["ts"]))
                        self.assertIn(event["args"]["External id"], operators)

    def test_flows_join_each_launch_to_one_activity(self):
        for job in self.each_kind():
            for document in job.documents.values():
                flows = collections.Counter((event["ph"], event["id"]) for event in document["traceEvents"]
                                            if event.get("cat") == "ac2g")
                self.assertEqual({number for phase, number in flows if phase == "s"},
                                 {number for phase, number in flows if phase == "f"})
                self.assertFalse([key for key, count in flows.items() if count != 1])

    def test_check_finds_nothing_wrong(self):
        if PROGRAM is None:
            self.skipTest("no program")
        for job in self.each_kind():
            path = job.folder / job.truth["files"]["1"]
            result = subprocess.run([PROGRAM, "check", path], capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertIn("errors: 0, warnings: 0", result.stdout)


class Truth(unittest.TestCase):
    def test_collectives_are_those_of_the_traces(self):
        """Each kernel of a collective starts and ends when the truth says so, by the clocks applied backwards."""
        for kind in KINDS:
            with self.subTest(kind=kind):
                job = job_of(kind)
                slack = job.truth["resolution_ns"] + 2
                for rank in job.documents:
                    rows = sorted((start, end) for stream in job.collectives(rank).values() for start, end, _ in stream)
                    truth = sorted((row["start_ns"][row["ranks"].index(rank)], row["end_ns"][row["ranks"].index(rank)])
                                   for row in job.truth["collectives"] if rank in row["ranks"])
                    self.assertEqual(len(rows), len(truth))
                    self.assertTrue(rows)
                    for got, wanted in zip(rows, truth):
                        self.assertLessEqual(abs(got[0] - wanted[0]), slack)
                        self.assertLessEqual(abs(got[1] - wanted[1]), slack)

    def test_collectives_end_together_after_the_last_arrival(self):
        for kind in KINDS:
            job = job_of(kind)
            for row in job.truth["collectives"]:
                last = max(row["start_ns"])
                self.assertEqual(row["start_ns"][row["ranks"].index(row["last_rank"])], last)
                self.assertEqual(min(row["end_ns"]), last + row["transfer_ns"])
                self.assertLessEqual(max(row["end_ns"]) - min(row["end_ns"]), job.truth["end_jitter_ns"])
                self.assertGreater(row["transfer_ns"], 0)

    def test_arguments_of_collectives_agree_between_ranks(self):
        """Group, number and size of the k-th collective of a group are the same on all its ranks, and those of the
        truth."""
        for kind in ("ddp", "fsdp", "tp_dp", "pp_dp"):
            sizes = {"tp_dp": {"tensor_ranks": 2}}.get(kind, {})
            job = Job(7, kind=kind, world_size=8, dialect="torch_2_10", **sizes, **SMALL)
            for rank in job.documents:
                in_order = collections.defaultdict(list)
                for stream in job.collectives(rank).values():
                    for start, _, event in stream:
                        arguments = event["args"]
                        key = (arguments["Process Group Name"], arguments.get("Src Rank", str(rank)),
                               arguments.get("Dst Rank", str(rank)))
                        in_order[key].append((start, arguments))
                truth = collections.defaultdict(list)
                for row in job.truth["collectives"]:
                    if rank in row["ranks"]:
                        ends = map(str, row["ranks"] if row["name"] == "send" else (rank, rank))
                        truth[row["group"], *ends].append(row)
                self.assertEqual(in_order.keys(), truth.keys())
                for key, rows in in_order.items():
                    rows.sort(key=lambda row: row[0])
                    self.assertEqual(len(rows), len(truth[key]))
                    for (_, arguments), row in zip(rows, truth[key]):
                        size = max(int(arguments["In msg nelems"]), int(arguments["Out msg nelems"]))
                        self.assertEqual(size * (2 if arguments["dtype"] == "BFloat16" else 4), row["bytes"])
                        self.assertIn(arguments["Collective name"], (row["name"], "recv"))
                    numbers = [int(arguments["Seq"]) - row["sequence"] for (_, arguments), row in zip(rows, truth[key])
                               if row["name"] != "send"]
                    self.assertLessEqual(len(set(numbers)), 1)

    def test_clocks_can_be_applied_backwards(self):
        clock = Clock(-987_654_321, 49_873, 1_757_000_001_000_000_000, 1_760_000_000_000_000_000)
        for true in range(clock.reference_ns - 10**9, clock.reference_ns + 40 * 10**9, 98_765_431):
            self.assertLessEqual(abs(clock.true(clock.shown(true)) - true), 1)

    def test_clocks_are_as_far_apart_as_asked(self):
        close = made_jobs.make_truth(3, kind="ddp", world_size=8, clock_kind="close", **SMALL)["clocks"]["ranks"]
        self.assertFalse([row for row in close if abs(row["offset_ns"]) > 20_000 or row["drift_ppb"]])
        free = made_jobs.make_truth(3, kind="ddp", world_size=8, clock_kind="free", dialect="torch_2_10",
                                    **SMALL)["clocks"]["ranks"]
        self.assertEqual((free[0]["offset_ns"], free[0]["drift_ppb"]), (0, 0))
        self.assertGreater(max(abs(row["offset_ns"]) for row in free), 10**8)
        self.assertGreater(max(abs(row["drift_ppb"]) for row in free), 10_000)
        self.assertGreater(len({row["base_ns"] for row in free}), 1)
        nodes = made_jobs.make_truth(3, kind="ddp", world_size=16, clock_kind="per_node", gpus_per_node=8, **SMALL)
        offsets = [row["offset_ns"] for row in nodes["clocks"]["ranks"]]
        self.assertEqual((len(set(offsets[:8])), len(set(offsets[8:])), len(set(offsets))), (1, 1, 2))

    def test_times_do_not_depend_on_clocks(self):
        jobs = [made_jobs.make_truth(3, kind="ddp", world_size=4, clock_kind="free", clock_seed=seed, **SMALL)
                for seed in (1, 2)]
        self.assertNotEqual(jobs[0]["clocks"], jobs[1]["clocks"])
        self.assertEqual(jobs[0]["collectives"], jobs[1]["collectives"])


class Kinds(unittest.TestCase):
    def test_stages_of_a_pipeline_take_turns(self):
        self.assertEqual([f"{way[0]}{at}" for way, at in orders(1, 4, 4, "1f1b")],
                         ["f0", "f1", "f2", "b0", "f3", "b1", "b2", "b3"])
        self.assertEqual([f"{way[0]}{at}" for way, at in orders(3, 4, 2, "1f1b")], ["f0", "b0", "f1", "b1"])
        self.assertEqual([f"{way[0]}{at}" for way, at in orders(0, 4, 2, "1f1b")], ["f0", "f1", "b0", "b1"])
        self.assertEqual([f"{way[0]}{at}" for way, at in orders(1, 2, 2, "gpipe")], ["f0", "f1", "b0", "b1"])
        for schedule in ("gpipe", "1f1b"):
            truth = made_jobs.make_truth(1, kind="pp", world_size=4, schedule=schedule, **SMALL)
            messages = [row for row in truth["collectives"] if row["name"] == "send"]
            micro_batches = draw(1, kind="pp", world_size=4).micro_batches
            self.assertEqual(len(messages), SMALL["steps"] * 2 * 3 * micro_batches)

    def test_a_larger_last_stage_is_told(self):
        truth = made_jobs.make_truth(2, kind="pp", world_size=4, extra_layers=1, clean=True, **SMALL)
        self.assertIn({"kind": "last_stage", "extra_layers": 1}, truth["disturbances"])

    def test_long_recordings_last_20_seconds(self):
        for length in ("long_steps", "pause"):
            truth = made_jobs.make_truth(2, kind="fsdp", world_size=4, length=length, steps=5)
            self.assertGreater(truth["duration_ns"], 20 * 10**9)
        short = made_jobs.make_truth(2, kind="fsdp", world_size=4, length="short", steps=5)
        self.assertLess(short["duration_ns"], 10**9)

    def test_imbalance_changes_the_last_rank_from_step_to_step(self):
        truth = made_jobs.make_truth(4, kind="ddp", world_size=4, steps=8, clean=True, imbalance=0.2)
        self.assertGreater(len({row["last_rank"] for row in truth["collectives"]}), 2)
        self.assertIn({"kind": "imbalance", "share": 0.2}, truth["disturbances"])

    def test_large_jobs_stay_small(self):
        job = Job(10, kind="tp_dp", world_size=64)
        size = sum((job.folder / path).stat().st_size for path in job.truth["files"].values())
        self.assertEqual(len(job.truth["files"]), 64)
        self.assertLess(size, 20_000_000)


class Causes(unittest.TestCase):
    def test_without_its_cause_a_job_is_shorter_by_the_excess(self):
        """Measured in the traces of both, which have the same noise."""
        without = {}
        for at, cause in enumerate(CAUSES):
            for kind in ("ddp", "fsdp", "tp", "tp_dp", "pp", "pp_dp", "custom", "gloo")[at % 2::2]:
                if not allows(kind, cause):
                    continue
                with self.subTest(cause=cause, kind=kind):
                    given = {"kind": kind, "clean": False, "clock_kind": "close", **SMALL,
                             "world_size": 8 if kind.endswith("_dp") else 4, "dialect": "torch_2_10"}
                    if kind == "tp_dp":
                        given["tensor_ranks"] = 2
                    job = Job(11, cause_names=(cause,), **given)
                    if kind not in without:
                        without[kind] = Job(11, cause_names=(), **given)
                        self.assertTrue(without[kind].truth["clean"])
                    (row,) = job.truth["causes"]
                    self.assertEqual(row["cause"], cause)
                    self.assertGreaterEqual(row["excess_share"], 0.03)
                    self.assertGreaterEqual(len(row["steps"]), 2)
                    shorter = (job.duration() - without[kind].duration()) / len(row["steps"])
                    self.assertAlmostEqual(shorter, row["excess_per_step_ns"], delta=3)

    def test_two_causes_are_of_two_ranks(self):
        truth = made_jobs.make_truth(5, kind="fsdp", world_size=8, clean=False, cause_names=("input", "memory"),
                                     **SMALL)
        self.assertEqual(sorted(row["cause"] for row in truth["causes"]), ["input", "memory"])
        self.assertEqual(len({row["rank"] for row in truth["causes"]}), 2)
        for row in truth["causes"]:
            self.assertGreaterEqual(row["excess_share"], 0.03)

    def test_each_cause_shows_in_its_rank_only(self):
        """What an engineer would look at differs most on the rank that the truth names."""
        def seconds(job, rank, test):
            return sum(end - start for start, end, event in job.ranges(rank) if test(event))

        def is_kernel(event):
            return event["cat"] == "kernel" and "nccl" not in event["name"]

        def is_call(event):
            return event["cat"] == "cuda_runtime" and event["name"] in ("cudaFree", "cudaMalloc")
        looks = {"compute": is_kernel, "memory": is_call,
                 "input": lambda event: event["name"].startswith("enumerate(DataLoader)#"),
                 "garbage_collection": lambda event: event["name"] == "Python GC"}
        for cause, test in looks.items():
            with self.subTest(cause=cause):
                job = Job(13, kind="ddp", world_size=4, clean=False, cause_names=(cause,), dialect="torch_2_10",
                          with_stack=True, **SMALL)
                figures = [seconds(job, rank, test) for rank in range(4)]
                self.assertEqual(figures.index(max(figures)), job.truth["causes"][0]["rank"])
                self.assertGreater(max(figures), 1.02 * sorted(figures)[-2])

    def test_a_slow_rank_does_not_wait_for_others(self):
        job = Job(17, kind="ddp", world_size=4, clean=False, cause_names=("compute",), hiccup=False, **SMALL)
        cause = job.truth["causes"][0]
        waits = collections.Counter()
        for row in job.truth["collectives"]:
            if row["step"] in cause["steps"] and row["bytes"] > 1000:
                for rank, start in zip(row["ranks"], row["start_ns"]):
                    waits[rank] += max(row["start_ns"]) - start
        self.assertEqual(min(waits, key=waits.get), cause["rank"])

    def test_a_slow_link_slows_the_transfers_of_its_rank(self):
        truth = made_jobs.make_truth(19, kind="tp_dp", world_size=8, tensor_ranks=2, clean=False,
                                     cause_names=("network",), **SMALL)
        (cause,) = truth["causes"]
        self.assertEqual((cause["cause"], cause["candidates"]), ("network", [cause["rank"]]))
        single = made_jobs.make_truth(19, kind="fsdp", world_size=4, clean=False, cause_names=("network",), **SMALL)
        self.assertEqual(single["causes"][0]["candidates"], [0, 1, 2, 3])

    def test_half_of_the_jobs_are_clean(self):
        clean = sum(draw(seed).clean for seed in range(400))
        self.assertTrue(160 < clean < 240, clean)


class Files(unittest.TestCase):
    def test_a_seed_gives_the_same_bytes_in_each_process(self):
        def contents(hash_seed):
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([sys.executable, "-m", "made_jobs", folder, "--seed", "21", "--kind", "tp_dp", "--ranks",
                                "8", "--steps", "2"], cwd=FOLDER, env=os.environ | {"PYTHONHASHSEED": hash_seed},
                               check=True, capture_output=True)
                paths = sorted(path for path in pathlib.Path(folder).rglob("*") if path.is_file())
                return [(path.relative_to(folder), path.read_bytes()) for path in paths]
        first = contents("1")
        self.assertEqual(len(first), 9)
        self.assertTrue(first == contents("2"))

    def test_truth_lies_beside_the_traces(self):
        job = job_of("ddp")
        self.assertEqual(job.stored, job.truth)
        self.assertEqual({path.name for path in job.folder.iterdir()}, {"jobs", "truth"})
        self.assertEqual(len(list((job.folder / "jobs").rglob("*.json"))), job.truth["world_size"])

    def test_dialects_write_what_their_torch_wrote(self):
        for name, dialect in DIALECTS.items():
            with self.subTest(dialect=name):
                job = Job(23, kind="ddp", world_size=4, dialect=name, **SMALL)
                document = job.documents[0]
                kernels = [event for event in document["traceEvents"]
                           if event.get("cat") == "kernel" and event["name"].startswith("nccl")]
                self.assertTrue(kernels)
                params = [event for event in document["traceEvents"] if event["name"] == "record_param_comms"]
                self.assertEqual(bool(params), dialect.has_param_comms)
                for event in kernels + params:
                    self.assertEqual("Seq" in event["args"], dialect.has_sequence)
                    self.assertEqual("Process Group Name" in event["args"], dialect.has_group_names)
                    self.assertEqual("Collective name" in event["args"], dialect.has_arguments)
                self.assertEqual("baseTimeNanoseconds" in document, dialect.has_base)
                self.assertEqual("pg_config" in document["distributedInfo"], dialect.has_groups)

    def test_damages_are_done_and_told(self):
        for damage in DAMAGES:
            with self.subTest(damage=damage), tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                truth = made_jobs.make(folder, 25, damage=damage, kind="ddp", world_size=4, **SMALL)
                files = list((folder / "jobs" / truth["job"]).iterdir())
                count = {"missing_rank": 3, "rank_twice": 5, "two_jobs": 8}.get(damage, 4)
                self.assertEqual(len(files), count)
                self.assertEqual(truth["damage"]["kind"], damage)
                self.assertEqual(len([path for path in files if path.stat().st_size == 0]), damage == "empty_file")

    def test_a_wrong_setting_is_an_error(self):
        with self.assertRaises(TypeError):
            made_jobs.make_truth(1, rank_count=4)
        with self.assertRaises(ValueError):
            made_jobs.make(TEMPORARY.name, 1, damage="flood")


if __name__ == "__main__":
    if "--tbtrace" in sys.argv:
        at = sys.argv.index("--tbtrace")
        PROGRAM = sys.argv[at + 1]
        del sys.argv[at:at + 2]
    unittest.main()
