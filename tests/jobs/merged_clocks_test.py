"""`tbtrace merge --clocks aligned` puts ranks whose clocks are apart on one clock.

    merged_clocks_test.py PROGRAM
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import made_jobs

JOB = pathlib.Path(__file__).resolve().parents[1] / "data/slow_loader_job"


def merged(*arguments):
    return subprocess.run([PROGRAM, "merge", *arguments, "-o", "-"], capture_output=True, text=True, check=False)


def spreads(document):
    """How far apart the ends of each collective are on its ranks, in us."""
    ends = collections.defaultdict(list)
    for event in document["traceEvents"]:
        arguments = event.get("args") or {}
        if event.get("cat") == "kernel" and "Seq" in arguments:
            ends[arguments["Process Group Name"], arguments["Seq"]].append(event["ts"] + event["dur"])
    return [max(of_one) - min(of_one) for of_one in ends.values()]


class Clocks(unittest.TestCase):
    def test_collectives_end_together_on_one_clock(self):
        result = merged(JOB, "--clocks", "aligned")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = json.loads(result.stdout)
        self.assertEqual(len(spreads(document)), 16)
        # The ends of the simulated ranks are up to 3 us apart.
        self.assertLess(max(spreads(document)), 6)
        self.assertEqual(document["mergedRanks"]["clocks"], "aligned")
        parts = document["mergedRanks"]["parts"]
        self.assertEqual([part["clock_offset_ns"] for part in parts][0], 0)
        self.assertTrue(all(0 < part["clock_error_ns"] < 10_000 for part in parts[1:]))
        self.assertRegex(result.stderr, r"clocks are those of the first rank, within \d\.\d us")

    def test_drift_is_taken_out(self):
        with tempfile.TemporaryDirectory() as folder:
            made_jobs.make(pathlib.Path(folder), 3, kind="ddp", world_size=4, clock_kind="free", length="long_steps",
                           dialect="torch_2_10", clean=True)
            job = next((pathlib.Path(folder) / "jobs").iterdir())
            found = spreads(json.loads(merged(job, "--clocks", "aligned").stdout))
            self.assertGreater(len(found), 5)
            self.assertLess(max(found), 10)

    def test_clocks_stay_as_recorded_unless_asked(self):
        result = merged(JOB)
        self.assertGreater(max(spreads(json.loads(result.stdout))), 100_000)
        self.assertIn("clocks are as recorded, not aligned", result.stderr)

    def test_a_rank_without_collectives_cannot_be_aligned(self):
        with tempfile.TemporaryDirectory() as folder:
            for rank in range(2):
                document = json.loads((JOB / f"rank{rank}.json").read_text())
                if rank == 1:
                    document["traceEvents"] = [event for event in document["traceEvents"]
                                               if "nccl" not in event.get("name", "")
                                               and event.get("name") != "record_param_comms"]
                (pathlib.Path(folder) / f"rank{rank}.json").write_text(json.dumps(document))
            result = merged(folder, "--clocks", "aligned")
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertIn("rank1.json: nothing shows how its clock differs", result.stderr)
            self.assertEqual(merged(folder).returncode, 0)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop()
    unittest.main()
