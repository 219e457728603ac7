#!/usr/bin/env python3
"""Does `tbtrace memory` judge snapshots rightly: what memory was for, why an allocation failed, what grows?

    memory_verdicts_test.py PROGRAM [NAME...]

Small snapshots by the model of the allocator (tests/snapshots/allocator.py), or written by hand where the model has no
such setting. Each method is a CTest test cli.NAME.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/snapshots"))
import allocator as model  # noqa: E402

PROGRAM = ""
MIB = model.MIB
START = 1 << 32


def torch(path, name):
    return model.frame(f"/usr/lib/python3.12/site-packages/torch/{path}", 100, name)


MAIN = model.frame("/p/train.py", 20, "main")
CALLED = torch("nn/modules/module.py", "_call_impl")
ENGINE = model.frame("/torch/csrc/autograd/engine.cpp", 9, "torch::autograd::Engine::evaluate_function(...)")
GRADIENT = [model.frame("accumulate_grad.cpp", 9, "torch::autograd::AccumulateGrad::apply(...)"), ENGINE]
FORWARD = [model.frame("/p/model.py", 7, "forward"), CALLED]
STEP = [torch("optim/adamw.py", "step"), torch("optim/optimizer.py", "wrapper"), MAIN]
CLOSURE = [model.frame("/usr/lib/python3.12/site-packages/lightning/pytorch/loops/automatic.py", 9, "closure"),
           torch("utils/_contextlib.py", "decorate_context")]


class MemoryVerdicts(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def written(self, made, name="snapshot.pickle", end=None):
        path = self.folder / name
        path.write_bytes(model.pickled(made, 4)[:end])
        return path

    def run_program(self, *arguments):
        run = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def rows(self, path, *options):
        return json.loads(self.run_program("memory", path, "--format", "json", "-q", *options))["rows"]

    def category(self, frames, freed=None, before=()):
        """Of what is allocated before a gradient, and freed with it."""
        allocator = model.Allocator()
        for each in before:
            allocator.alloc(3 * MIB, frames=each)
        address = allocator.alloc(2 * MIB, frames=frames)
        gradient = allocator.alloc(4 * MIB, frames=GRADIENT)
        if freed is not None:
            allocator.free(address, frames=freed)
        allocator.free(gradient, frames=[MAIN])
        path = self.written(model.snapshot([allocator]))
        found, = [row["category"] for row in self.rows(path, "--view", "allocations") if row["bytes"] == 2 * MIB]
        return found

    def test_a_forward_in_the_closure_of_an_optimizer_is_not_the_optimizer(self):
        self.assertEqual(self.category(FORWARD + CLOSURE + STEP, [ENGINE]), "activation")
        self.assertEqual(self.category([model.frame("/p/model.py", 30, "training_step")] + CLOSURE + STEP, [ENGINE]),
                         "activation")
        self.assertEqual(self.category([ENGINE, torch("autograd/graph.py", "_engine_run_backward")] + CLOSURE + STEP),
                         "gradient")
        self.assertEqual(self.category(STEP), "optimizer_state")
        own = model.frame("/p/my_optimizer.py", 5, "step")
        self.assertEqual(self.category([own] + STEP[1:]), "optimizer_state")
        self.assertEqual(self.category(STEP + GRADIENT), "optimizer_state")  # a hook of the gradient steps

    def test_a_recomputed_forward_is_not_a_gradient(self):
        again = FORWARD + [torch("utils/checkpoint.py", "recompute_fn"), ENGINE, MAIN]
        self.assertEqual(self.category(again, [ENGINE]), "activation")
        self.assertEqual(self.category(again), "activation")
        self.assertEqual(self.category([ENGINE, MAIN]), "gradient")

    def test_a_backward_that_failed_needs_what_its_forward_made(self):
        allocator = model.Allocator(capacity=100 * MIB)
        for _ in range(4):
            allocator.alloc(20 * MIB, frames=FORWARD)
        allocator.alloc(20 * MIB, frames=GRADIENT)
        with self.assertRaises(model.OutOfMemory):
            allocator.alloc(20 * MIB, frames=[ENGINE])
        rows = self.rows(self.written(model.snapshot([allocator])))
        self.assertEqual({row["category"]: row["bytes"] for row in rows},
                         {"activation": 80 * MIB, "gradient": 20 * MIB})

    def test_buckets_and_gathered_parameters_are_named_as_such(self):
        made = [torch("nn/parallel/distributed.py", "_ddp_init_helper"), torch("nn/parallel/distributed.py", "__init__")]
        self.assertEqual(self.category(made), "communication")
        self.assertEqual(self.category([model.frame("reducer.cpp", 9, "c10d::Reducer::initialize_buckets(...)")]),
                         "communication")
        fsdp = "distributed/fsdp/_fully_shard/_fsdp_param.py"
        for outer in ([CALLED], [ENGINE]):  # in the forward, and before the backward of a module
            for name in ("init_unsharded_param", "alloc_all_gather_outputs", "init_all_gather_outputs"):
                self.assertEqual(self.category([torch(fsdp, name), *outer, MAIN], [ENGINE]), "parameter")
        self.assertEqual(self.category([torch(fsdp, "to_accumulated_grad_if_needed"), ENGINE]), "gradient")
        self.assertEqual(self.category([torch("nn/modules/linear.py", "__init__"), MAIN]), "parameter")

    def failed(self, allocator, asked, **where):
        with self.assertRaises(model.OutOfMemory):
            allocator.alloc(asked, **where)
        row, = self.rows(self.written(model.snapshot([allocator])), "--view", "oom")
        return row

    def in_capture(self, capacity=100 * MIB):
        allocator = model.Allocator(capacity=capacity)
        allocator.release_unused = lambda: None
        return allocator

    def test_segments_that_a_capture_does_not_release_are_not_full(self):
        allocator = self.in_capture()
        for address in [allocator.alloc(20 * MIB) for _ in range(5)]:
            allocator.free(address)
        row = self.failed(allocator, 20 * MIB, stream=3, pool=(0, 1))
        self.assertEqual(row["cause"], "unreleased")
        self.assertIn("empty_cache() before the capture", row["advice"])

    def test_several_sources_that_suffice_together_are_not_full(self):
        allocator = self.in_capture()
        free = [allocator.alloc(20 * MIB, stream=7) for _ in range(2)]
        free += [allocator.alloc(20 * MIB, pool=(0, 1)) for _ in range(2)]
        allocator.alloc(20 * MIB)
        for address in free:
            allocator.free(address)
        row = self.failed(allocator, 60 * MIB)
        self.assertEqual(row["cause"], "several")
        self.assertIn("40.00 MiB in private pools (CUDA graphs, MemPool); 40.00 MiB in segments that nothing uses",
                      row["advice"])
        self.assertNotIn("other streams", row["advice"])

    def test_pieces_of_small_segments_are_not_joined_by_settings(self):
        allocator = model.Allocator(capacity=100 * MIB)
        small = [allocator.alloc(MIB // 2, frames=[model.frame("/p/s.py", 1, "small")]) for _ in range(160)]
        for number, address in enumerate(small):
            if number % 4:
                allocator.free(address)
        row = self.failed(allocator, 60 * MIB)
        self.assertIn("no setting joins them", row["advice"])
        self.assertEqual((row["kept_by_line"], row["kept_free_bytes"]), ("s.py(1): small", 60 * MIB))

    def test_what_rounding_adds_is_not_free(self):
        """Requests of 33 MiB take 40 MiB each with four divisions; they are freed before the end."""
        for divisions, block, cause in (({"32": 4}, 40, "rounding"), ({"16": 4}, 33, "fragmented"), ({"32": 1}, 33,
                                                                                                   "fragmented")):
            segment = {"device": 0, "address": START, "total_size": 400 * MIB, "stream": 0, "segment_type": "large",
                       "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": []}

            def entry(action, number):
                return {"action": action, "addr": START + number * 40 * MIB, "size": 33 * MIB, "stream": 0,
                        "frames": [], "time_us": number}
            failure = {"action": "oom", "device_free": 0, "size": 48 * MIB, "stream": 0, "frames": [], "time_us": 10}
            numbers = range(10)
            made = {"segments": [segment], "external_annotations": [],
                    "device_traces": [[*(entry("alloc", number) for number in numbers), failure,
                                       *(entry("free_requested", number) for number in numbers),
                                       *(entry("free_completed", number) for number in numbers)]],
                    "allocator_settings": {"roundup_power2_divisions": {str(1 << power): 0 for power in range(16)}}}
            made["allocator_settings"]["roundup_power2_divisions"] |= divisions
            path = self.written(made)
            row, = self.rows(path, "--view", "oom")
            self.assertEqual((row["free_bytes"], row["cause"]), ((400 - 10 * block) * MIB, cause), divisions)
            self.assertEqual("roundup_power2_divisions added 70.00 MiB" in self.run_program("summary", path),
                             cause == "rounding")

    def leaking(self, steps, every, phase, size=64 * MIB):
        allocator = model.Allocator()
        for step in range(steps):
            allocator.annotate(f"ProfilerStep#{step}", "START")
            address = allocator.alloc(3 * MIB, frames=FORWARD)
            if step % every == phase:
                allocator.alloc(size, frames=[model.frame("/p/log.py", 5, "append")])
            allocator.free(address)
            allocator.annotate(f"ProfilerStep#{step}", "END")
        return self.written(model.snapshot([allocator]))

    def test_a_leak_in_each_second_or_fourth_step_is_found_with_its_size(self):
        for steps, every, phase, text in ((12, 2, 0, "32.00"), (12, 2, 1, "32.00"), (20, 4, 1, "16.00"),
                                          (8, 1, 0, "64.00")):
            path = self.leaking(steps, every, phase)
            self.assertIn(f"grows by {text} MiB per step at log.py(5): append", self.run_program("summary", path))
            row, = self.rows(path, "--view", "growth")
            self.assertEqual(row["growth_per_step_bytes"], 64 * MIB // every)
        self.assertNotIn("grows by", self.run_program("summary", self.leaking(20, 10, 1)))

    def test_a_peak_that_is_not_recorded_is_not_claimed(self):
        allocator = model.Allocator()
        allocator.free(allocator.alloc(600 * MIB, frames=[MAIN]))
        allocator.alloc(40 * MIB, frames=[MAIN])
        for _ in range(20):
            allocator.free(allocator.alloc(4 * MIB, frames=FORWARD))
        whole = model.snapshot([allocator])
        self.assertIn("GPU 0 had 600.00 MiB allocated at the peak", self.run_program("summary", self.written(whole)))
        ring = whole | {"device_traces": [whole["device_traces"][0][-30:]]}
        text = self.run_program("summary", self.written(ring))
        self.assertIn("GPU 0 had 44.00 MiB allocated at the highest of what is recorded", text)
        self.assertIn("may be below the peak", text)
        told = whole | {"allocator_settings": {"trace_alloc_overflowed": True}}
        self.assertIn("at the highest of what is recorded", self.run_program("summary", self.written(told)))
        path = self.written(whole | {"device_traces": [[]]})
        text = self.run_program("summary", path)
        self.assertIn("GPU 0 had 40.00 MiB allocated when the snapshot was taken", text)
        self.assertIn("no history was recorded", text)
        row, = self.rows(path, "--view", "peak")
        self.assertEqual((row["peak_bytes"], row["peak_at_ns"], row["end_bytes"]), (None, None, 40 * MIB))

    def test_a_file_that_ends_in_its_segments_does_not_say_what_was_allocated(self):
        allocator = model.Allocator()
        for _ in range(30):
            allocator.alloc(40 * MIB, frames=[MAIN])
        made = model.snapshot([allocator])
        path = self.written(made, end=model.pickled(made, 4).index(b"device_traces") - 100)
        text = self.run_program("summary", path)
        self.assertIn("The file ends before it says what GPU 0 had allocated.", text)
        self.assertNotIn("0 bytes", text)
        row, = self.rows(path, "--view", "peak")
        self.assertEqual((row["peak_bytes"], row["end_bytes"], row["before_bytes"]), (None, None, None))

    def test_a_rank_is_a_word_of_the_file_name_and_a_date_is_none(self):
        allocator = model.Allocator()
        allocator.alloc(MIB, frames=[MAIN])
        for name, rank in (("rank3_memory_snapshot", 3), ("rank_12", 12), ("snapshot_3", 3), ("lowrank_rank2", 2),
                           ("node3_rank_11_snapshot", 11), ("gpu_snapshot_iter5_rank7", 7), ("lowrank4", None),
                           ("memory_snapshot_20261130_135501", None), ("snapshot_2026_11_30", None),
                           ("rank_20261130", None), ("snapshot_step_100", None)):
            path = self.written(model.snapshot([allocator]), name + ".pickle")
            self.assertEqual(self.rows(path)[0]["rank"], rank, name)

    def test_the_only_devices_of_two_snapshots_are_compared(self):
        paths = []
        for device, more in ((0, 0), (1, 5 * MIB)):
            allocator = model.Allocator(device=device)
            allocator.alloc(40 * MIB + more, frames=[MAIN])
            paths.append(self.written(model.snapshot([allocator]), f"rank{device}.pickle"))
        text = self.run_program("diff", *paths, "--format", "json")
        row, = json.loads(text)["rows"]
        self.assertEqual((row["device"], row["difference_bytes"]), (0, 5 * MIB))
        self.assertIn("GPU 0 of the first snapshot is compared with GPU 1 of the second",
                      self.run_program("diff", *paths))


if __name__ == "__main__":
    PROGRAM = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *(f"MemoryVerdicts.test_{name}" for name in sys.argv[2:])])
