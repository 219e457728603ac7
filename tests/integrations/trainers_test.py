#!/usr/bin/env python3
"""The samples of docs/integrations.md work in the frameworks themselves.

    trainers_test.py PROGRAM [NAME...]

Each method is a CTest test python.NAME. A sample runs in a process of its own, in a folder of its own, after what it
takes for granted: a model, an optimizer, data. Those of torch alone need only that; the others need the packages of
requirements.txt. With two ranks, torchrun starts it.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import tbtrace

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = re.compile(r"^### ([^\n]+)\n(?:(?!^#).)*?^```python no-run\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SAMPLES = dict(SAMPLE.findall((ROOT / "docs/integrations.md").read_text()))
# With two ranks, steps have a collective, as in data-parallel training.
TORCH = """
import os
import torch
torch.set_num_threads(1)
if "RANK" in os.environ:
    torch.distributed.init_process_group("gloo")
torch.manual_seed(0)
model = torch.nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = [torch.randn(4, 8) for _ in range(6)]
def train_step(batch):
    optimizer.zero_grad()
    model(batch).square().mean().backward()
    if torch.distributed.is_initialized():
        torch.distributed.all_reduce(model.weight.grad)
    optimizer.step()
"""
TRAINER = """
import torch
import transformers
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 2)
    def forward(self, inputs, labels):
        logits = self.linear(inputs)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}
model = Model()
dataset = [{"inputs": torch.randn(8), "labels": torch.tensor(number % 2)} for number in range(64)]
arguments = transformers.TrainingArguments(
    "out", max_steps=20, per_device_train_batch_size=4, gradient_accumulation_steps=2, use_cpu=True, report_to=[],
    save_strategy="no", disable_tqdm=True)
"""
LIGHTNING = """
import torch
import lightning
class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 2)
    def training_step(self, batch, number):
        return self.linear(batch).square().mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
module = Module()
batches = torch.utils.data.DataLoader(torch.randn(100, 8), batch_size=4)
"""
ACCELERATE = """
import accelerate
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 2)
    def forward(self, batch):
        return self.linear(batch).square().mean()
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = [torch.randn(4, 8) for _ in range(6)]
"""


class Trainers(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="tbtrace-python-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def run_sample(self, name, before, change=lambda sample: sample, ranks=1):
        """What the sample printed to standard error."""
        (self.folder / "program.py").write_text(before + change(SAMPLES[name]))
        launcher = [] if ranks == 1 else ["-m", "torch.distributed.run", "--nproc-per-node", str(ranks), "--standalone"]
        environment = os.environ | {"CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1", "WANDB_MODE": "offline",
                                    "MLFLOW_ALLOW_FILE_STORE": "true", "MLFLOW_TRACKING_URI": "file:mlruns",
                                    "HOME": str(self.folder), "OMP_NUM_THREADS": "1"}
        done = subprocess.run([sys.executable, "-W", "ignore", *launcher, "program.py"], cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stderr

    def check_recording(self, said, steps, ranks=1, operator="aten::linear"):
        """Traces of these steps of all ranks, and one page about them."""
        [page] = (self.folder / "traces").glob("*/report.html")
        self.assertIn(f"tbtrace: {page}: the report about {ranks} of {ranks} ranks\n", said)
        names = [f"rank{rank}.json" for rank in range(ranks)]
        self.assertEqual(sorted(path.name for path in page.parent.iterdir()), [*names, "report.html"])
        for rank, name in enumerate(names):
            trace = tbtrace.read(page.parent / name, strict=True)
            self.assertEqual([row["step"] for row in trace.steps()], steps)
            self.assertIn(operator, [row["key"] for row in trace.operators()])
        text = page.read_text()
        start = text.index('{"schema": "tbtrace.report/')
        traces = json.JSONDecoder().raw_decode(text[start:])[0]["traces"]
        self.assertEqual(len(traces), ranks)
        if ranks > 1:
            self.assertEqual([trace["rank"] for trace in traces], list(range(ranks)))
            found = tbtrace.TraceSet.open(self.folder / "traces").steps().to_dicts()
            self.assertEqual(sorted({row["rank"] for row in found}), list(range(ranks)))

    def test_torch_sample_records_two_ranks(self):
        said = self.run_sample("torch.profiler", TORCH, ranks=2)
        self.check_recording(said, [2, 3, 4], ranks=2)

    def test_trainer_sample_records_steps(self):
        said = self.run_sample("Hugging Face Trainer", TRAINER)
        self.check_recording(said, [12, 13, 14, 15, 16])

    def test_trainer_sample_records_two_ranks(self):
        said = self.run_sample("Hugging Face Trainer", TRAINER, ranks=2)
        self.check_recording(said, [12, 13, 14, 15, 16], ranks=2)

    def lightning_program(self, sample):
        quiet = 'accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, callbacks='
        self.assertIn("callbacks=", sample)
        return sample.replace("callbacks=", quiet)

    def test_lightning_sample_records_steps(self):
        said = self.run_sample("Lightning", LIGHTNING, self.lightning_program)
        self.check_recording(said, [12, 13, 14, 15, 16])

    def test_lightning_sample_records_steps_under_its_older_name(self):
        before = LIGHTNING.replace("import lightning", "import pytorch_lightning as lightning")
        said = self.run_sample("Lightning", before, self.lightning_program)
        self.check_recording(said, [12, 13, 14, 15, 16])

    def test_lightning_sample_records_a_training_that_fails(self):
        before = LIGHTNING.replace("return self.linear", "assert number < 18\n        return self.linear")
        sample = self.lightning_program

        def change(text):
            return "try:\n" + re.sub("^", "    ", sample(text), flags=re.MULTILINE) + "\nexcept AssertionError:\n    pass\n"
        said = self.run_sample("Lightning", before, change)
        self.check_recording(said, [12, 13, 14, 15, 16])

    def test_accelerate_sample_records_steps(self):
        def on_cpu(sample):
            self.assertIn("Accelerator(", sample)
            return sample.replace("Accelerator(", "Accelerator(cpu=True, ").replace("ProfileKwargs(",
                                                                                   'ProfileKwargs(activities=["cpu"], ')
        said = self.run_sample("Accelerate", ACCELERATE, on_cpu)
        self.check_recording(said, [2, 3, 4])

    def put_trace(self):
        place = self.folder / "traces/iteration_5/rank0.json"
        place.parent.mkdir(parents=True)
        place.write_bytes((ROOT / "tests/data/gpu_step.json").read_bytes())
        return tbtrace.read(place)

    def test_mlflow_sample_logs_the_report(self):
        trace = self.put_trace()
        self.run_sample("MLflow", "")
        [page] = (self.folder / "mlruns").rglob("artifacts/report.html")
        self.assertIn("<html", page.read_text())
        [steps] = (self.folder / "mlruns").rglob("metrics/step_ms")
        logged = [line.split() for line in steps.read_text().splitlines()]
        self.assertEqual([(float(value), int(step)) for _, value, step, *_ in logged],
                         [(row["duration_ns"] / 1e6, row["step"]) for row in trace.steps()])
        found = {path.name for path in (self.folder / "mlruns").rglob("metrics/finding/*")}
        self.assertEqual(found, {finding["id"] for finding in trace.summary().findings})
        self.assertTrue(found)

    def test_wandb_sample_logs_the_report(self):
        trace = self.put_trace()
        self.run_sample("Weights & Biases", "")
        [run] = (self.folder / "wandb").glob("offline-run-*")
        [page] = run.rglob("media/html/report_*.html")
        self.assertEqual(page.read_bytes(), (self.folder / "report.html").read_bytes())
        [table] = run.rglob("media/table/operators_*.table.json")
        logged = json.loads(table.read_text())
        rows = trace.operators().to_dicts()
        self.assertEqual(logged["columns"], list(rows[0]))
        self.assertEqual([row[logged["columns"].index("key")] for row in logged["data"]], [row["key"] for row in rows])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(f"Trainers.test_{name}" for name in sys.argv[2:])])
