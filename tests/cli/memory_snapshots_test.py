#!/usr/bin/env python3
"""Do `tbtrace memory`, `summary` and `diff` say of memory snapshots what is true of them?

    memory_snapshots_test.py PROGRAM [NAME...]

Snapshots come from a model of the allocator (tests/snapshots/allocator.py); what is allocated at a moment is found by
undoing their entries one by one, from the blocks at the end. Neither shares code with the program. Each method is a
CTest test cli.NAME. SNAPSHOTS in the environment says how many random ones are compared.
"""

import base64
import collections
import csv
import gzip
import io
import json
import os
import pathlib
import pickle
import random
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/snapshots"))
import allocator as model  # noqa: E402
from undoing import states  # noqa: E402

PROGRAM = ""
MIB = model.MIB
STATES = {"inactive": "free", "active_allocated": "allocated", "active_pending_free": "pending"}
RESERVED = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}


def by_line(state):
    sums = collections.Counter()
    for size, line, _ in state.values():
        sums[line] += size
    return {line: size for line, size in sums.items() if size}


START = 1 << 32


def entry(action, address, size, time, line=1, **more):
    frames = [{"filename": "train.py", "line": line, "name": "step"}]
    return {"action": action, "device_free" if action == "oom" else "addr": address, "size": size, "stream": 0,
            "time_us": time, "frames": frames} | more


def block(address, size, state="active_allocated", line=1):
    return {"address": address, "size": size, "requested_size": size, "state": state,
            "frames": [{"filename": "train.py", "line": line, "name": "step"}]}


def of_one_segment(blocks, entries, annotations=()):
    """Blocks beside each other from START on."""
    size = sum(each["size"] for each in blocks)
    segment = {"device": 0, "address": START, "total_size": size, "stream": 0, "segment_type": "large",
               "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": blocks}
    return {"segments": [segment], "device_traces": [entries], "allocator_settings": {},
            "external_annotations": list(annotations)}


class MemorySnapshots(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def written(self, made, name="snapshot.pickle", protocol=4):
        path = self.folder / name
        path.write_bytes(made if isinstance(made, bytes) else model.pickled(made, protocol))
        return path

    def run_program(self, *arguments, code=0):
        run = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(run.returncode, code, run.stderr)
        return run

    def rows(self, path, *options):
        output = json.loads(self.run_program("memory", path, "--format", "json", "-q", *options).stdout)
        self.assertEqual(output["schema"], "tbtrace.memory_snapshot/1")
        return output["rows"]

    def check_random(self, seed):
        allocators = model.random_program(seed)
        made = model.snapshot(allocators, old=seed % 5 == 4)
        path = self.written(made, protocol=(2, 3, 4, 5)[seed % 4])
        curve = self.rows(path, "--view", "curve")
        allocations = self.rows(path, "--view", "allocations")
        peaks = {row["device"]: row for row in self.rows(path, "--view", "peak")}
        at_peak = self.rows(path, "--at", "peak", "--by", "line")
        at_end = self.rows(path, "--at", "end", "--by", "line")
        segments = self.rows(path, "--view", "segments", "--at", "end")
        for allocator in allocators:
            device = allocator.device
            entries = made["device_traces"][device]
            expected = states(made, device)
            totals = [sum(size for size, _, _ in state.values()) for state in expected]
            of_device = [row for row in curve if row["device"] == device]
            self.assertEqual([row["allocated_bytes"] for row in of_device], totals[1:])
            reserved = allocator.reserved()
            for entry, row in zip(entries[::-1], of_device[::-1]):
                self.assertEqual(row["reserved_bytes"], reserved)
                reserved -= RESERVED.get(entry["action"], 0) * entry["size"]
            self.assertEqual(peaks[device]["peak_bytes"], max(totals))
            self.assertEqual(peaks[device]["end_bytes"], totals[-1])
            failures = sum(entry["action"] == "oom" for entry in entries)
            self.assertEqual(peaks[device]["out_of_memory"], failures)
            for found, moment in ((at_peak, totals.index(max(totals))), (at_end, len(entries))):
                mine = [row for row in found if row["device"] == device and row["bytes"]]
                self.assertEqual({row["source_line"]: row["bytes"] for row in mine}, by_line(expected[moment]))
            # At moments between entries, by when each allocation began and ended.
            times = [(entry["time_us"] - entries[0]["time_us"]) * 1000 for entry in entries]
            for moment in random.Random(seed).sample(range(1, len(entries)), min(20, len(entries) - 1)):
                sums = collections.Counter()
                for row in allocations:
                    begun = row["allocated_at_ns"] is None or row["allocated_at_ns"] < times[moment]
                    ended = row["freed_at_ns"] is not None and row["freed_at_ns"] < times[moment]
                    if row["device"] == device and begun and not ended:
                        sums[row["source_line"]] += row["bytes"]
                self.assertEqual({line: size for line, size in sums.items() if size}, by_line(expected[moment]))
            # At each of their moments, bands add up to what was allocated; the peak is one of them.
            after = {(entry["time_us"] - entries[0]["time_us"]) * 1000: total
                     for entry, total in zip(entries, totals[1:])}
            for by in ("line", "line,category,size"):
                bands = [row for row in self.rows(path, "--view", "bands", "--by", by) if row["device"] == device]
                length = len(bands) // max(row["band"] for row in bands)
                sums = [sum(row["bytes"] for row in bands[place::length]) for place in range(length)]
                self.assertEqual(sums, [totals[0], *(after[row["at_ns"]] for row in bands[1:length])])
                self.assertEqual(max(sums), max(totals))
            at_line = {(row["at_ns"], row["source_line"]): row["bytes"]
                       for row in self.rows(path, "--view", "bands", "--by", "line") if row["device"] == device}
            at = max(time for time, _ in at_line)
            self.assertEqual({line: size for (time, line), size in at_line.items() if time == at and size},
                             by_line(expected[-1]))
            blocks = [row for row in self.rows(path, "--view", "blocks", "--at", "end") if row["device"] == device]
            pieces = [(f"{segment.address:#x}", block.address - segment.address, block.size,
                       STATES[block.state])
                      for segment in sorted(allocator.segments, key=lambda each: each.address)
                      for block in segment.blocks]
            keys = ("address", "offset_bytes", "bytes", "state")
            self.assertEqual([tuple(row[key] for key in keys) for row in blocks], pieces)
            free = sum(block.size for segment in allocator.segments for block in segment.blocks
                       if block.state == "inactive")
            mine = [row for row in segments if row["device"] == device]
            self.assertEqual(sum(row["free_bytes"] for row in mine), free)
            self.assertEqual(sum(row["bytes"] for row in mine), allocator.reserved())

    def test_random_snapshots_are_replayed_as_by_undoing_entries(self):
        for seed in range(int(os.environ.get("SNAPSHOTS", "12"))):
            with self.subTest(seed=seed):
                self.check_random(seed)

    def test_a_failed_allocation_is_explained(self):
        allocator = model.Allocator(capacity=100 * MIB)
        keep = []
        for _ in range(5):  # a small one keeps each segment of 20 MiB
            keep.append(allocator.alloc(2 * MIB, frames=[model.frame("/p/cache.py", 3, "keep")]))
            keep.append(allocator.alloc(9 * MIB, frames=[model.frame("/p/model.py", 5, "forward")]))
            keep.append(allocator.alloc(9 * MIB, frames=[model.frame("/p/model.py", 6, "forward")]))
        for address in keep[1::3] + keep[2::3]:
            allocator.free(address)
        with self.assertRaises(model.OutOfMemory):
            allocator.alloc(30 * MIB, frames=[model.frame("/p/train.py", 9, "step")])
        path = self.written(model.snapshot([allocator]))
        row, = self.rows(path, "--view", "oom")
        self.assertEqual((row["asked_bytes"], row["device_free_bytes"]), (30 * MIB, 0))
        self.assertEqual((row["reserved_bytes"], row["free_bytes"], row["usable_free_bytes"]),
                         (100 * MIB, 90 * MIB, 90 * MIB))
        self.assertEqual(row["largest_usable_bytes"], 18 * MIB)
        self.assertEqual(row["cause"], "fragmented")
        self.assertIn("expandable_segments:True", row["advice"])
        self.assertEqual(row["source_line"], "train.py(9): step")
        self.assertEqual(row["largest_line"], "cache.py(3): keep")
        self.assertEqual((row["kept_by_line"], row["kept_segments"], row["kept_free_bytes"]),
                         ("cache.py(3): keep", 5, 90 * MIB))
        kept = self.rows(path, "--view", "segments")
        self.assertEqual({(row["kept_by_line"], row["free_bytes"]) for row in kept},
                         {("cache.py(3): keep", 18 * MIB)})
        self.assertEqual({row["moment"] for row in kept}, {"oom"})
        text = self.run_program("summary", path).stdout
        self.assertIn("ran out of memory at train.py(9): step: 30.00 MiB were asked for", text)
        self.assertIn("The memory was fragmented", text)
        self.assertIn("Blocks of cache.py(3): keep (10.00 MiB in all) keep 5 segments with 90.00 MiB free", text)

    def failed(self, prepare):
        """The row of an allocation of 30 MiB that fails after `prepare` has filled 100 MiB."""
        allocator = model.Allocator(capacity=100 * MIB)
        prepare(allocator)
        with self.assertRaises(model.OutOfMemory):
            allocator.alloc(30 * MIB)
        return self.rows(self.written(model.snapshot([allocator])), "--view", "oom")[0]

    def test_causes_of_failed_allocations_differ(self):
        def full(allocator):
            for _ in range(5):
                allocator.alloc(20 * MIB)

        def of_other_stream(allocator):
            address = [allocator.alloc(20 * MIB, stream=7) for _ in range(5)]
            for each in address:
                allocator.request_free(each)  # and the stream is not done

        def of_graph(allocator):
            address = [allocator.alloc(20 * MIB, pool=(1, 0)) for _ in range(5)]
            for each in address:
                allocator.free(each)

        row = self.failed(full)
        self.assertEqual((row["cause"], row["free_bytes"]), ("full", 0))
        row = self.failed(of_other_stream)
        self.assertEqual((row["cause"], row["pending_bytes"]), ("other_streams", 100 * MIB))
        row = self.failed(of_graph)
        self.assertEqual((row["cause"], row["private_reserved_bytes"], row["private_free_bytes"]),
                         ("private_pools", 100 * MIB, 100 * MIB))

    def test_a_free_piece_that_would_have_served_is_of_another_pool(self):
        """The device has no room, and a piece of 60 MiB is free for 30 MiB: the file does not name the request's pool."""
        free = block(START + 40 * MIB, 60 * MIB) | {"state": "inactive"}
        path = self.written(of_one_segment([block(START, 40 * MIB), free], [entry("alloc", START, 40 * MIB, 1),
                                                                           entry("oom", MIB, 30 * MIB, 2)]))
        row, = self.rows(path, "--view", "oom")
        self.assertEqual((row["cause"], row["largest_usable_bytes"]), ("unknown", 60 * MIB))
        self.assertIn("of another pool", row["advice"])

    def test_a_request_that_is_too_large_is_said_to_be(self):
        allocator = model.Allocator(capacity=100 * MIB)
        allocator.free(allocator.alloc(50 * MIB))
        with self.assertRaises(model.OutOfMemory):
            allocator.alloc(300 * MIB)
        row = self.rows(self.written(model.snapshot([allocator])), "--view", "oom")[0]
        self.assertEqual(row["cause"], "full")
        self.assertIn("the request itself has to become smaller", row["advice"])

    def test_small_segments_with_free_memory_are_fragmented(self):
        allocator = model.Allocator(capacity=100 * MIB)
        small = [allocator.alloc(MIB // 2, frames=[model.frame("/p/s.py", 1, "small")]) for _ in range(160)]
        for number, address in enumerate(small):
            if number % 4:
                allocator.free(address)
        with self.assertRaises(model.OutOfMemory):
            allocator.alloc(60 * MIB)
        row = self.rows(self.written(model.snapshot([allocator])), "--view", "oom")[0]
        self.assertEqual((row["cause"], row["free_bytes"], row["usable_free_bytes"]), ("fragmented", 60 * MIB, 0))

    def test_snapshots_are_not_compared_as_pages_or_pictures(self):
        path = self.written(model.snapshot([self.training(steps=2)]))
        for kind in ("html", "svg", "junit"):
            done = self.run_program("diff", path, path, "--format", kind, code=2)
            self.assertIn(f"--format {kind} is not for these inputs", done.stderr)

    def test_what_is_allocated_once_or_now_and_then_is_no_leak(self):
        for name, sizes in (("once", (0, 100, 0, 0, 0, 0)), ("at the beginning", (10, 10, 10, 10, 0, 0)),
                            ("few steps", (0, 10, 10)), ("in turns", (10, 10, -20, 10, 10, 10))):
            allocator, held = model.Allocator(), []
            for step, size in enumerate(sizes):
                allocator.annotate(f"ProfilerStep#{step}", "START")
                held += [allocator.alloc(MIB, frames=[model.frame("/p/a.py", 1, "keep")]) for _ in range(max(size, 0))]
                for _ in range(-min(size, 0)):
                    allocator.free(held.pop())
                allocator.annotate(f"ProfilerStep#{step}", "END")
            path = self.written(model.snapshot([allocator]), name.replace(" ", "_") + ".pickle")
            self.assertNotIn("grows by", self.run_program("summary", path).stdout, name)

    def training(self, leak=0, steps=8, keeps=None):
        """Parameters, optimizer states, activations and a leak, on known lines. `keeps`: "activation", of which a
        closure keeps one a step, or "gradient", none of which is freed and each new."""
        def torch(path, line, name):
            return model.frame(f"/usr/lib/python3.11/site-packages/torch/{path}", line, name)
        main = model.frame("/p/train.py", 20, "main")
        called = torch("nn/modules/module.py", 1780, "_call_impl")
        forward = [model.frame("/p/model.py", 7, "forward"), called, main]
        made = [torch("nn/modules/linear.py", 100, "__init__"), model.frame("/p/model.py", 3, "__init__")]
        backward = [model.frame("??", 0, "torch::autograd::Engine::evaluate_function()")]
        optimizer = [torch("optim/adamw.py", 100, "_init_group"), model.frame("/p/train.py", 30, "step")]
        more = {"forward_frames": ['  File "/p/model.py", line 9, in forward\n']} if keeps == "gradient" else {}
        allocator = model.Allocator()
        for _ in range(4):
            allocator.alloc(4 * MIB, frames=made)
        for step in range(steps):
            allocator.annotate(f"ProfilerStep#{step}", "START")
            activations = [allocator.alloc(3 * MIB, frames=forward) for _ in range(3)]
            gradients = []
            for address in activations[::-1]:
                gradients.append(allocator.alloc(4 * MIB, frames=backward, **more))
                if keeps != "activation" or address != activations[0]:
                    allocator.free(address, frames=backward)
            if step == 0:
                for _ in range(2):
                    allocator.alloc(8 * MIB, frames=optimizer)
            for address in gradients if keeps != "gradient" else ():
                allocator.free(address, frames=[model.frame("/p/train.py", 31, "zero_grad")])
            if leak:
                allocator.alloc(leak, frames=[model.frame("/p/log.py", 5, "append")])
            allocator.annotate(f"ProfilerStep#{step}", "END")
        return allocator

    def test_a_leak_is_named_with_its_line(self):
        path = self.written(model.snapshot([self.training(leak=MIB)]))
        first = self.rows(path, "--view", "growth")[0]
        self.assertEqual((first["source_line"], first["growth_per_step_bytes"], first["rises"]),
                         ("log.py(5): append", MIB, 7))
        self.assertEqual(first["since_step"], 1)
        text = self.run_program("summary", path).stdout
        self.assertIn("grows by 1.00 MiB per step at log.py(5): append", text)
        without = self.written(model.snapshot([self.training()]), "without.pickle")
        self.assertEqual(self.rows(without, "--view", "growth"), [])

    def test_activations_that_a_closure_keeps_are_named(self):
        path = self.written(model.snapshot([self.training(keeps="activation", steps=12)]))
        first = self.rows(path, "--view", "growth")[0]
        self.assertEqual((first["source_line"], first["growth_per_step_bytes"], first["rises"]),
                         ("model.py(7): forward", 3 * MIB, 11))
        first = self.rows(path, "--at", "end")[0]
        self.assertEqual((first["source_line"], first["bytes"]), ("model.py(7): forward", 36 * MIB))
        self.assertIn("grows by 3.00 MiB per step at model.py(7): forward", self.run_program("summary", path).stdout)

    def test_gradients_that_are_not_freed_are_named(self):
        path = self.written(model.snapshot([self.training(keeps="gradient")]))
        for row in (self.rows(path)[0], self.rows(path, "--view", "growth")[0]):
            self.assertEqual((row["source_line"], row["category"]), ("model.py(9): forward", "gradient"))
        self.assertEqual(row["growth_per_step_bytes"], 12 * MIB)
        self.assertIn("by model.py(9): forward, gradient", self.run_program("summary", path).stdout)

    def test_pools_of_two_graphs_are_named_with_their_lines(self):
        allocator = model.Allocator(capacity=100 * MIB)
        for pool, line, count in (((1, 0), 4, 2), ((2, 0), 8, 3)):
            frames = [model.frame("/p/graphs.py", line, "capture"), model.frame("/p/train.py", 1, "main")]
            for address in [allocator.alloc(20 * MIB, pool=pool, frames=frames) for _ in range(count)]:
                allocator.free(address)
        with self.assertRaises(model.OutOfMemory):
            allocator.alloc(30 * MIB, frames=[model.frame("/p/train.py", 9, "step")])
        made = model.snapshot([allocator])
        for is_known in (True, False):  # frames of segments, else those of the entries that made them
            for segment in made["segments"]:
                segment["frames"] = segment["frames"] if is_known else []
            path = self.written(made)
            segments = self.rows(path, "--view", "segments")
            self.assertEqual(sorted((row["pool"], row["reserved_by_line"], row["free_bytes"]) for row in segments),
                             [("(1, 0)", "graphs.py(4): capture", 20 * MIB)] * 2 +
                             [("(2, 0)", "graphs.py(8): capture", 20 * MIB)] * 3)
            text = self.run_program("summary", path).stdout
            self.assertIn("Free memory was in private pools", text)
            first = text.index("Private pool (2, 0) had 60.00 MiB, 60.00 MiB of it free; reserved at graphs.py(8): "
                               "capture")
            self.assertLess(first, text.index("Private pool (1, 0) had 40.00 MiB"))

    def test_a_flame_graph_shows_who_holds_memory(self):
        internals = [model.frame("??", 0, "torch::unwind::unwind()"), model.frame("??", 0, "_PyEval_EvalFrameDefault")]
        allocator = self.training(leak=MIB)
        allocator.alloc(512, frames=[internals[0], model.frame("??", 0, "at::empty_cuda"), internals[1],
                                     model.frame("/p/log.py", 6, "<lambda>;")])
        path = self.written(model.snapshot([allocator]))
        text = self.run_program("flamegraph", path, "--at", "end", "--format", "folded").stdout
        self.assertEqual(dict(line.rsplit(" ", 1) for line in text.splitlines())["log.py(5): append"], str(8 * MIB))
        self.assertIn(r"log.py(6): <lambda>\x3b;at::empty_cuda 512", text)
        self.assertNotIn("unwind", text)
        picture = self.folder / "memory.svg"
        self.run_program("flamegraph", path, "-o", picture)
        self.assertIn("GPU memory, allocated", picture.read_text())
        for options in (["--steps", "1"], ["--weight", "cpu_memory"], ["--at-ns", "x"], ["--at", "end", "--at-ns", "1"]):
            self.run_program("flamegraph", path, "-o", picture, "--overwrite", *options, code=2)
        trace = ROOT / "tests/data/cpu_steps.json"
        text = self.run_program("flamegraph", trace, "--at", "end", "--format", "folded", code=2).stderr
        self.assertIn("--at is for memory snapshots", text)

    def test_reports_have_snapshots_and_traces(self):
        path = self.written(model.snapshot([self.training(leak=MIB), model.Allocator(device=1)]))
        trace = ROOT / "tests/data/gpu_step.json"
        page = self.folder / "page.html"
        self.run_program("report", path, trace, "-o", page)
        index = json.loads(page.read_text().split('id="index">')[1].split("</script>")[0])
        self.assertEqual([each["name"] for each in index["traces"]], ["snapshot.pickle", "gpu_step.json"])
        self.assertEqual(list(index["traces"][0]["sections"]), ["memory", "flame_graph"])
        packed = page.read_text().split('id="view-0-memory">')[1].split("<")[0]
        view = json.loads(gzip.decompress(base64.b64decode(packed)))
        tables = {table["name"]: table for table in view["tables"]}
        self.assertEqual(tables["peak"]["rows"], 1)
        self.assertIn("grows by 1.00 MiB per step at log.py(5): append", " ".join(tables["peak"]["notes"]))
        self.assertEqual(tables["by_category"]["command"], "tbtrace memory --by category --view bands")
        self.run_program("report", path, "-o", page, code=5)  # it is there
        for options, sentence in ((["--steps", "1"], "no steps"), (["--views", "kernels"], "only the views")):
            run = self.run_program("report", path, "-o", page, "--overwrite", *options, code=2)
            self.assertIn(sentence, run.stderr)

    def test_categories_follow_from_evidence(self):
        path = self.written(model.snapshot([self.training(leak=MIB)]))
        found = {(row["source_line"], row["category"]): row["bytes"] for row in self.rows(path, "--at", "peak")}
        self.assertEqual(found[("model.py(3): __init__", "parameter")], 16 * MIB)
        self.assertEqual(found[("train.py(30): step", "optimizer_state")], 16 * MIB)
        self.assertEqual(found[("[unattributed]", "gradient")], 12 * MIB)
        self.assertEqual(found[("model.py(7): forward", "activation")], 3 * MIB)
        allocations = self.rows(path, "--view", "allocations")
        self.assertEqual(sum(row["category"] == "activation" for row in allocations), 24)
        of_leak = [row for row in allocations if row["source_line"] == "log.py(5): append"]
        self.assertEqual({row["category"] for row in of_leak}, {"unknown"})

    def test_two_snapshots_are_compared(self):
        one = self.written(model.snapshot([self.training()]), "one.pickle")
        two = self.written(model.snapshot([self.training(leak=MIB)]), "two.pickle", 5)
        output = json.loads(self.run_program("diff", one, two, "--format", "json", "--at", "end").stdout)
        self.assertEqual(output["totals"]["difference_bytes"], 8 * MIB)
        first = output["rows"][0]
        self.assertEqual((first["source_line"], first["difference_bytes"]), ("log.py(5): append", 8 * MIB))
        text = self.run_program("diff", one, two).stdout
        self.assertIn("log.py(5): append", text)

    def test_ranks_stand_side_by_side(self):
        for rank in range(3):
            name = f"rank{rank}_memory_snapshot.pickle"
            self.written(model.snapshot([self.training(leak=rank * MIB)]), name)
        found = self.rows(self.folder, "--view", "peak")
        self.assertEqual([row["rank"] for row in found], [0, 1, 2])
        self.assertEqual([row["end_bytes"] // MIB for row in found], [32, 40, 48])
        found = self.rows(self.folder, "--view", "peak", "--rank", 1)
        self.assertEqual([row["rank"] for row in found], [1])

    def test_packed_snapshots_and_pages_are_read(self):
        made = model.pickled(model.snapshot([self.training()]), 5)
        expected = self.run_program("memory", self.written(made), "--format", "csv").stdout
        packed = self.written(gzip.compress(made), "s.pickle.gz")
        self.assertEqual(self.run_program("memory", packed, "--format", "csv").stdout, expected)
        page = '<html>\n<script type="module">\nconst local_files = [{"name": "s.pickle", "base64": "' + \
            base64.b64encode(made).decode() + '"}]\nadd_local_files(local_files)\n</script>\n'
        page = self.written(page.encode(), "s.html")
        self.assertEqual(self.run_program("memory", page, "--format", "csv").stdout, expected)

    def test_cut_and_damaged_snapshots_are_read_as_far_as_they_go(self):
        made = model.pickled(model.snapshot([self.training()]), 4)
        entries = made.index(b"device_traces")
        for end in range(entries + 100, len(made), 997):
            cut = self.written(made[:end])
            run = self.run_program("memory", cut, "--view", "allocations", "--format", "csv")
            self.assertIn("[input_truncated, 1 x", run.stderr)
            self.assertLessEqual(len(list(csv.DictReader(io.StringIO(run.stdout)))), 80)
        run = self.run_program("memory", self.written(made[:len(made) // 2]), "--format", "text")
        self.assertIn("The file ends before its end", run.stdout)
        self.run_program("memory", self.written(made[:len(made) // 2]), "--strict", code=1)
        damaged = bytearray(made)
        damaged[len(made) // 2:len(made) // 2 + 64] = b"\xff" * 64
        run = self.run_program("memory", self.written(bytes(damaged)))
        self.assertIn("[pickle_damaged, 1 x", run.stderr)

    def test_a_cut_trace_of_one_gpu_is_kept(self):
        """Its list of traces has one value, which pickle writes without a mark."""
        entries = [entry("alloc", START + number * MIB, MIB, number) for number in range(500)]
        made = pickle.dumps({"segments": [], "device_traces": [entries]}, protocol=4)
        run = self.run_program("memory", self.written(made[:len(made) * 9 // 10]), "--view", "allocations", "--format",
                               "csv")
        self.assertGreater(len(list(csv.DictReader(io.StringIO(run.stdout)))), 400)

    def test_a_device_with_room_is_not_fragmented(self):
        held = [block(START, 100 * MIB)]
        for asked, free, cause in ((2048 * MIB, 61440 * MIB, "unknown"),  # a limit of the process
                                   (2 * MIB, 15 * MIB, "full"),  # asks the device for a segment of 20 MiB
                                   (50 * MIB, MIB, "full")):
            path = self.written(of_one_segment(held, [entry("alloc", START, 100 * MIB, 1),
                                                      entry("oom", free, asked, 5_000_001)]))
            row, = self.rows(path, "--view", "oom")
            self.assertEqual((row["cause"], row["kept_by_line"], row["kept_segments"]), (cause, None, None))
        self.assertIn("5.000 s after", self.run_program("summary", path).stdout)

    def test_a_leak_shows_in_a_ring_that_lost_its_beginning(self):
        """Annotations are kept, entries before the last four steps are not."""
        blocks = [block(START + step * 10 * MIB, 10 * MIB, line=7) for step in range(10)]
        entries = [entry("alloc", START + step * 10 * MIB, 10 * MIB, 1000 * step + 100, 7) for step in range(6, 10)]
        ranges = [{"name": f"ProfilerStep#{step}", "stage": stage, "device": 0, "time_us": 1000 * step + at}
                  for step in range(10) for stage, at in (("START", 1), ("END", 900))]
        row, = self.rows(self.written(of_one_segment(blocks, entries, ranges)), "--view", "growth")
        self.assertEqual(row["growth_per_step_bytes"], 10 * MIB)

    def test_memory_that_waits_for_a_stream_is_counted_once(self):
        made = of_one_segment([block(START, 10 * MIB, "active_pending_free")],
                              [entry("alloc", START, 10 * MIB, 1), entry("free_requested", START, 10 * MIB, 2)])
        row, = self.rows(self.written(made), "--view", "peak")
        self.assertEqual((row["peak_bytes"], row["before_bytes"]), (10 * MIB, 0))

    def test_memory_in_use_is_not_free_after_an_unmap(self):
        """A segment grew to 80 MiB, all of it in use when an allocation failed, and shrank to 60 MiB. Entries may name
        the pool."""
        made = of_one_segment([block(START, 50 * MIB), block(START + 50 * MIB, 10 * MIB, "inactive")], [])
        made["segments"][0]["is_expandable"] = True
        over_the_edge = START + 50 * MIB, 30 * MIB
        for pool in ({}, {"pool_id": (0, 0)}):
            made["device_traces"] = [[
                entry("segment_map", START, 80 * MIB, 1, **pool), entry("alloc", START, 50 * MIB, 2, **pool),
                entry("alloc", *over_the_edge, 3, **pool), entry("oom", 2 * MIB, 20 * MIB, 4, **pool),
                entry("free_requested", *over_the_edge, 5, **pool), entry("free_completed", *over_the_edge, 5, **pool),
                entry("segment_unmap", START + 60 * MIB, 20 * MIB, 6, **pool)]]
            row, = self.rows(self.written(made), "--view", "oom")
            self.assertEqual((row["free_bytes"], row["cause"]), (0, "full"), pool)

    def test_two_snapshots_are_compared_at_the_same_moment(self):
        held = [block(START, 60 * MIB), block(START + 60 * MIB, 30 * MIB, "inactive")]
        entries = [entry("alloc", START, 60 * MIB, 1), entry("alloc", START + 60 * MIB, 30 * MIB, 2),
                   entry("free_requested", START + 60 * MIB, 30 * MIB, 3),
                   entry("free_completed", START + 60 * MIB, 30 * MIB, 3)]
        before = self.written(of_one_segment(held, entries), "before.pickle")
        after = self.written(of_one_segment(held, [*entries, entry("oom", 0, 500 * MIB, 4)]), "after.pickle")
        run = self.run_program("diff", before, after)
        self.assertRegex(run.stdout, r"0 bytes +90.00 MiB +90.00 MiB")
        self.assertIn("Both at their peaks", run.stdout)

    def test_pickles_that_run_code_are_refused(self):
        class Harmful:
            def __reduce__(self):
                return (os.system, ("touch " + str(marker),))
        marker = self.folder / "ran"
        made = model.snapshot([self.training()])
        for protocol in (2, 4, 5):
            made["allocator_settings"] = Harmful()
            run = self.run_program("memory", self.written(pickle.dumps(made, protocol=protocol)), code=3)
            self.assertRegex(run.stderr, r"with (GLOBAL|STACK_GLOBAL) at byte \d+, which makes Python run code")
        self.assertFalse(marker.exists())

    def test_hostile_pickles_get_a_sentence(self):
        start = b"\x80\x04}(\x8c\x08segments]\x8c\x0ddevice_traces"
        cycle = []
        cycle.append(cycle)
        for content, sentence in (
                (pickle.dumps({"segments": [], "device_traces": cycle}), "changes an object that is a part"),
                (start + b"r\xff\xff\xff\x7f", "more than the file can have filled"),
                (start + b"(" * 5000, "is nested more than 1,000 deep"),
                (start + b"N" * 300_000, "has more values on its stack"),
                (start + b"]" * 60_000 + b"N" * 10, ""),
                (b"\x80\x06}(\x8c\x08segments]\x8c\x0ddevice_traces]u.", "is not"),
                (pickle.dumps({"segments": {1, 2}, "device_traces": []}, protocol=4), "EMPTY_SET"),
                (start + b"X\xff\xff\xff\xffabc", ""),
                (pickle.dumps(["segments", "device_traces"]), "neither segments nor traces")):
            run = subprocess.run([PROGRAM, "memory", self.written(content)], capture_output=True, text=True, timeout=20)
            self.assertIn(run.returncode, (0, 3), run.stderr)
            self.assertIn(sentence, run.stderr)

    def test_the_page_of_snapshots_has_the_columns_that_are_written(self):
        page = (ROOT / "docs/formats/memory_snapshot.md").read_text(encoding="utf-8")
        path = self.written(model.snapshot(model.random_program(5)))
        two = self.written(model.snapshot([self.training(leak=MIB)]), "two.pickle")
        for view in ("alive", "peak", "segments", "blocks", "curve", "bands", "allocations", "growth", "oom"):
            section = page.split(f"### `--view {view}`")[1].split("\n##")[0]
            columns = [line.split("`")[1] for line in section.splitlines() if line.startswith("| `")]
            snapshot = two if view == "growth" else path
            found = self.run_program("memory", snapshot, "--view", view, "--format", "csv").stdout
            self.assertEqual(found.splitlines()[0].split(","), columns, view)

    def test_options_of_traces_and_of_snapshots_are_told_apart(self):
        path = self.written(model.snapshot([self.training()]))
        trace = ROOT / "tests/data/cpu_steps.json"
        text = self.run_program("memory", path, "--steps", "1", code=2).stderr
        self.assertIn("is for traces, not for memory snapshots", text)
        text = self.run_program("memory", trace, "--at", "end", code=2).stderr
        self.assertIn("is for memory snapshots, not for traces", text)
        self.run_program("memory", trace, "--view", "segments", code=2)
        (self.folder / "rank0.json").write_bytes(trace.read_bytes())  # both in a folder: it is one of traces
        self.assertIn("tbtrace.memory/1", self.run_program("memory", self.folder, "--format", "json").stdout)


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *(f"MemorySnapshots.test_{name}" for name in sys.argv[2:])])
