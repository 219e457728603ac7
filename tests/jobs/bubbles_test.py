#!/usr/bin/env python3
"""The bubbles that `tbtrace collectives` finds in made pipelines, against sums over the traces and their truth.

    bubbles_test.py PROGRAM
"""
import json
import subprocess
import sys
import unittest

import made_jobs_test

PROGRAM = None
JOBS = [(31, {"kind": "pp", "world_size": 4, "steps": 4, "layers": 4, "clean": True}),
        (32, {"kind": "pp_dp", "world_size": 8, "steps": 4, "layers": 4, "clean": True}),
        (33, {"kind": "pp", "world_size": 4, "steps": 5, "clean": False})]
CLOCK_ERROR_NS = 5_000


def length_without(ranges, others):
    """Nanoseconds of `ranges` together that are in none of `others`."""
    edges = [(start, 0, 1) for start, _ in ranges] + [(end, 0, -1) for _, end in ranges]
    edges += [(start, 1, 1) for start, _ in others] + [(end, 1, -1) for _, end in others]
    depth, total, before = [0, 0], 0, 0
    for at, which, change in sorted(edges):
        if depth[0] > 0 and depth[1] == 0:
            total += at - before
        depth[which] += change
        before = at
    return total


def report_of(folder):
    return json.loads(subprocess.run([PROGRAM, "collectives", folder, "--format", "json", "-q"], check=True,
                                     capture_output=True, text=True).stdout)


class Bubbles(unittest.TestCase):
    def test_are_the_waits_in_messages_without_computation(self):
        for seed, settings in JOBS:
            job = made_jobs_test.Job(seed, **settings)
            messages = [row for row in job.truth["collectives"] if row["name"] == "send"]
            found = 0
            for said in report_of(job.folder / "jobs")["by_rank"]:
                rank = said["rank"]
                waits = []
                for row in messages:
                    if rank in row["ranks"]:
                        at = row["ranks"].index(rank)
                        waits.append((row["start_ns"][at], min(max(row["start_ns"]), row["end_ns"][at])))
                computes = [(start, end) for start, end, event in job.ranges(rank)
                            if event["cat"] == "kernel" and "nccl" not in event["name"]]
                expected = length_without([wait for wait in waits if wait[0] < wait[1]], computes)
                with self.subTest(seed=seed, rank=rank):
                    self.assertTrue(waits)
                    self.assertAlmostEqual(said["bubble_ns"], expected, delta=len(waits) * CLOCK_ERROR_NS)
                    self.assertGreater(said["bubble_share"], 0)
                    found += expected
            self.assertGreater(found, 20 * len(messages) * CLOCK_ERROR_NS)

    def test_are_unknown_of_a_job_without_messages(self):
        job = made_jobs_test.Job(34, kind="ddp", world_size=2, **made_jobs_test.SMALL)
        for said in report_of(job.folder / "jobs")["by_rank"]:
            self.assertIsNone(said["bubble_ns"])
            self.assertIsNone(said["bubble_share"])


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
