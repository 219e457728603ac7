#!/usr/bin/env python3
"""What the view of a job's ranks says, against `tbtrace collectives --format json` and the traces' truth.

    ranks_view_test.py PROGRAM

The page is decoded without tbtrace; sums and medians are computed here.
"""
import base64
import collections
import gzip
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

import made_jobs

PROGRAM = None
PARTS = ["compute_ns", "wait_ns", "transfer_ns", "input_ns", "garbage_collection_ns", "memory_ns", "copy_ns",
         "launch_ns", "unknown_ns"]
JOBS = [(21, {"kind": "ddp", "world_size": 4, "steps": 5, "clean": False, "cause_names": ("compute",)}),
        (22, {"kind": "fsdp", "world_size": 4, "steps": 5, "clean": True}),
        (23, {"kind": "pp_dp", "world_size": 8, "steps": 4}),
        (24, {"kind": "gloo", "world_size": 3, "steps": 5, "clean": True})]


def columns(table):
    """By key, its values."""
    return {column["key"]: [column["texts"][value] if column.get("texts") and value is not None else value
                            for value in column["values"]] for column in table["columns"]}


def page_of(traces, *options):
    page = pathlib.Path(traces).parent / "page.html"
    subprocess.run([PROGRAM, "report", traces, "-o", page, "--overwrite", "-q", *options], check=True)
    html = page.read_text(encoding="utf-8")
    index = json.loads(re.search(r'id="index">([^<]*)<', html)[1])
    found = re.search(r'id="job-ranks">([^<]*)<', html)
    return html, index, json.loads(gzip.decompress(base64.b64decode(found[1]))) if found else None


class RanksView(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.jobs = []
        for seed, settings in JOBS:
            folder = pathlib.Path(cls.temporary.name) / str(seed)
            truth = made_jobs.make(folder, seed, **settings)
            traces = folder / "jobs"
            report = subprocess.run([PROGRAM, "collectives", traces, "--format", "json", "-q"], check=True,
                                    capture_output=True, text=True).stdout
            cls.jobs.append((truth, json.loads(report), page_of(traces, "--views", "ranks")[2]))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def each(self):
        for truth, report, document in self.jobs:
            with self.subTest(kind=truth["kind"]):
                tables = {table["name"]: columns(table) for table in document["tables"]}
                yield truth, report, document, tables

    def test_waits_by_rank_are_those_of_the_report(self):
        for _, report, document, tables in self.each():
            waits = tables["waits"]
            for key in ("rank", "collectives", "wait_ns", "exposed_wait_ns", "late_count", "bubble_ns"):
                self.assertEqual(waits[key], [rank[key] for rank in report["by_rank"]], key)
            matrix = document["waits"]
            self.assertEqual([sum(row) for row in matrix["wait_ns"]],
                             [waits["wait_ns"][rank] for rank in matrix["ranks"]])
            last = len(matrix["ranks"])
            self.assertEqual([sum(row[at] for row in matrix["wait_ns"]) for at in range(last)],
                             [waits["made_wait_ns"][rank] for rank in matrix["ranks"]])

    def test_collectives_by_size_are_sums_of_the_rows(self):
        for _, report, _, tables in self.each():
            rows = collections.defaultdict(list)
            for row in report["rows"]:
                rows[row["name"], row["group"], row["bytes"], row["ranks"]].append(row)
            table = tables["collectives"]
            self.assertEqual(len(table["name"]), len(rows))
            for at, key in enumerate(zip(table["name"], table["group"], table["bytes"], table["ranks"])):
                same = rows[key]
                self.assertEqual(table["count"][at], len(same))
                speeds = [row["bus_bandwidth_bytes_per_s"] for row in same if row["bus_bandwidth_bytes_per_s"]]
                if speeds:
                    self.assertAlmostEqual(table["bus_bandwidth_median_bytes_per_s"][at] / statistics.median_low(speeds), 1)
                    self.assertAlmostEqual(table["bus_bandwidth_lowest_bytes_per_s"][at] / min(speeds), 1)
                    self.assertAlmostEqual(table["bus_bandwidth_highest_bytes_per_s"][at] / max(speeds), 1)
                transfers = [row["transfer_ns"] for row in same if row["transfer_ns"] is not None]
                self.assertEqual(table["transfer_median_ns"][at], statistics.median_low(transfers) if transfers else None)
                known = [row["wait_max_ns"] for row in same if row["wait_max_ns"] is not None]
                self.assertEqual(table["wait_max_ns"][at], max(known) if known else None)
                # The report has the mean of the ranks, rounded down.
                exposed = sum(row["exposed_ns"] * row["ranks"] for row in same)
                self.assertLessEqual(exposed, table["exposed_ns"][at])
                self.assertLess(table["exposed_ns"][at], exposed + sum(row["ranks"] for row in same))
            self.assertEqual(sum(table["wait_ns"][at] or 0 for at in range(len(rows))),
                             sum(rank["wait_ns"] for rank in report["by_rank"]))

    def test_parts_add_up(self):
        for _, _, document, tables in self.each():
            cells = document["cells"]
            for at, duration in enumerate(cells["duration_ns"]):
                if duration is not None:
                    self.assertEqual(sum(cells[part][at] for part in PARTS), duration)
            table = tables["by_rank"]
            width = len(cells["steps"])
            for at, rank in enumerate(cells["ranks"]):
                there = [cell for cell in range(at * width, (at + 1) * width) if cells["duration_ns"][cell] is not None]
                self.assertEqual(table["steps"][rank], len(there))
                self.assertEqual(sum(table[part][rank] for part in PARTS), table["duration_ns"][rank])
                for part in PARTS:
                    mean = sum(cells[part][cell] for cell in there) / len(there)
                    self.assertLessEqual(abs(table[part][rank] - mean), 1)

    def test_own_time_is_compared_with_the_middle_rank(self):
        for truth, _, document, _ in self.each():
            if truth["kind"] == "pp_dp":
                continue  # there ranks have different work
            cells = document["cells"]
            width = len(cells["steps"])
            own = [duration and duration - cells["wait_ns"][at] - cells["transfer_ns"][at]
                   for at, duration in enumerate(cells["duration_ns"])]
            for at, excess in enumerate(cells["excess_ns"]):
                middle = statistics.median_low([time for time in own[at % width::width] if time is not None])
                # The drift of clocks is taken out there.
                self.assertLessEqual(abs(excess - (own[at] - middle)), 2 + 2e-4 * own[at])

    def test_the_matrix_and_the_cells_show_the_rank_that_is_slow(self):
        truth, _, document, tables = self.jobs[0][0], self.jobs[0][1], self.jobs[0][2], None
        slow = truth["causes"][0]["rank"]
        self.assertEqual([one["rank"] for one in document["stragglers"]], [slow])
        tables = {table["name"]: columns(table) for table in document["tables"]}
        self.assertEqual(max(zip(tables["waits"]["made_wait_ns"], tables["waits"]["rank"]))[1], slow)
        self.assertEqual(max(zip(tables["by_rank"]["excess_ns"], tables["by_rank"]["rank"]))[1], slow)
        self.assertEqual(tables["by_rank"]["rank"][document["timelines"][0]["ranks"][0]["rank"]], slow)

    def test_collectives_one_by_one_are_rows_of_the_report(self):
        for _, report, document, tables in self.each():
            rows = {(row["name"], row["start_ns"], row["group"] or ""): row for row in report["rows"]}
            self.assertEqual(len(document["costliest"]), min(50, len(report["rows"])))
            for one in document["costliest"]:
                row = rows[one["name"], one["start_ns"], one["group"]]
                for key in ("step", "bytes", "duration_ns", "transfer_ns", "last_rank"):
                    self.assertEqual(one[key], row[key], key)
                self.assertEqual(sorted(one["arrival_ns"]), one["arrival_ns"])
                self.assertEqual(len(one["members"]), row["ranks"] if one["wait_ns"] else 0)
                if one["last_rank"] is not None:
                    self.assertEqual(tables["by_rank"]["rank"][one["members"][-1]], one["last_rank"])

    def test_clocks_are_those_of_the_report(self):
        for _, report, _, tables in self.each():
            for key, of_report in (("offset_ns", "clock_offset_ns"), ("error_ns", "clock_error_ns"),
                                   ("drift_ppm", "clock_drift_ppm"), ("reference", "clock_reference")):
                self.assertEqual(tables["clocks"][key], [rank[of_report] for rank in report["by_rank"]])

    def test_collectives_of_a_step_lie_in_it(self):
        for _, _, document, _ in self.each():
            self.assertEqual(document["timelines"][0]["why"], "latest")
            for step in document["timelines"]:
                for line in step["ranks"]:
                    self.assertEqual(line["activity"][-2], 500)
                    ends = [start + time for start, time in zip(line["collective_start_ns"], line["collective_duration_ns"])]
                    self.assertTrue(all(end >= line["start_ns"] for end in ends))
                    self.assertTrue(all(start <= line["end_ns"] for start in line["collective_start_ns"]))

    def test_of_a_job_that_does_not_fit_ranks_are_left_out_and_the_view_stays(self):
        folder = pathlib.Path(self.temporary.name) / "many"
        truth = made_jobs.make(folder, 31, kind="ddp", world_size=16, steps=3, clean=False, cause_names=("input",))
        html, index, document = page_of(folder / "jobs", "--limit", "750KB")
        self.assertLessEqual(len(html.encode()), 750_000)
        self.assertEqual(index["views"][0]["name"], "ranks")
        self.assertIsNotNone(document)
        kept = [trace["job_rank"] for trace in index["traces"] if trace["sections"]]
        self.assertLess(len(kept), 16)
        self.assertIn(truth["causes"][0]["rank"], kept)
        self.assertEqual(index["traces"][index["first_trace"]]["job_rank"], truth["causes"][0]["rank"])

    def test_the_page_opens_with_the_rank_that_holds_up_the_job(self):
        folder = pathlib.Path(self.temporary.name) / "slow_loader"
        shutil.copytree(pathlib.Path(__file__).resolve().parents[1] / "data/slow_loader_job", folder / "jobs")
        _, index, document = page_of(folder / "jobs")
        self.assertEqual([straggler["rank"] for straggler in document["stragglers"]], [2])
        self.assertEqual(index["traces"][index["first_trace"]]["job_rank"], 2)
        clean = pathlib.Path(self.temporary.name) / "clean"
        made_jobs.make(clean, 33, kind="ddp", world_size=2, steps=3, clean=True)
        _, index, document = page_of(clean / "jobs")
        self.assertEqual(document["stragglers"], [])
        self.assertEqual(index["first_trace"], 0)

    def test_missing_ranks_are_said(self):
        folder = pathlib.Path(self.temporary.name) / "missing"
        made_jobs.make(folder, 32, kind="ddp", world_size=4, steps=3, clean=True, file_names="rank")
        next((folder / "jobs").rglob("*rank2*")).unlink()
        _, _, document = page_of(folder / "jobs", "--views", "ranks")
        self.assertTrue(any("rank 2" in remark for remark in document["remarks"]), document["remarks"])


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
