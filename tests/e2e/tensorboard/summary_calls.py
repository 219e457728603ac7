#!/usr/bin/env python3
"""Calls of a SummaryWriter, and torch's own SummaryWriter doing them.

    summary_calls.py CALLS LOG_DIR    does the calls of a file that make_calls() filled; needs torch and TensorBoard

Texts are hexadecimal in the file, so that any bytes can be one.
"""
import json
import random
import struct
import sys


def hexadecimal(text):
    return (text if isinstance(text, bytes) else text.encode()).hex()


def plain(digits):
    return bytes.fromhex(digits).decode(errors="replace")


def real(value):
    """As JSON has no word for it."""
    return value if value == value and abs(value) != float("inf") else str(value)


def as_float(value):
    """What is left of it in 32 bits."""
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def make_calls():
    """One of everything that both writers have; steps grow for each tag."""
    numbers = random.Random(5)
    calls = []

    def add(name, step, **arguments):
        calls.append({"call": name, "step": step, "walltime": 1.7e9 + len(calls) * 0.25, **arguments})

    for step in range(200):
        add("add_scalar", step * 3, tag=hexadecimal("loss/train"), value=numbers.lognormvariate(0, 3))
    for step, value in enumerate([0.0, -0.0, 1e-40, 3e38, float("inf"), float("-inf"), float("nan"), 0.1]):
        add("add_scalar", step, tag=hexadecimal("special"), value=real(value))
    for step in range(20):
        for tag, width in ("band/middle", 0), ("band/lower", -1), ("band/upper", 1):
            add("add_scalar", step, tag=hexadecimal(tag), value=step + width)
        add("add_scalars", step, tag=hexadecimal("both/curves"),
            values=[[hexadecimal("train"), step / 2], [hexadecimal("valid"), step / 3]])
    add("add_scalar", 2**40, tag=hexadecimal("late"), value=1)
    add("add_scalar", -5, tag=hexadecimal("early"), value=1)
    for step, text in enumerate(["plain", "| a | b |\n|---|---|\n| `x<int>::f` | 1 |", "ünï < & > cödé", ""]):
        add("add_text", step, tag=hexadecimal("notes"), text=hexadecimal(text))
    edges = [float(edge) for edge in range(-5, 6)]
    for step in range(5):
        values = [numbers.gauss(0, 10 ** (step - 2)) for _ in range(1000)]
        add("add_histogram", step, tag=hexadecimal("weights"), values=values, edges=[], max_bins=0)
        add("add_histogram", step, tag=hexadecimal("few"), values=values, edges=[], max_bins=30)
        add("add_histogram", step, tag=hexadecimal("edges"), values=values, edges=edges, max_bins=0)
    add("add_histogram", 0, tag=hexadecimal("one value"), values=[0.5] * 7, edges=[], max_bins=0)
    add("add_histogram", 0, tag=hexadecimal("zeros"), values=[0.0] * 7, edges=[], max_bins=0)
    add("add_histogram_raw", 1, tag=hexadecimal("raw"), min=0.5, max=3.5, limits=[1, 2, 3, 4], counts=[2, 0, 5, 1])
    for channels in 1, 3, 4:
        add("add_image", 1, tag=hexadecimal(f"picture/{channels}"), width=5, height=4, channels=channels,
            samples=[numbers.randrange(256) for _ in range(5 * 4 * channels)])
    predictions = [numbers.random() for _ in range(500)]
    add("add_pr_curve", 2, tag=hexadecimal("curve"), predictions=predictions,
        labels=[int(numbers.random() < value) for value in predictions])
    for run, rate in ("first", 0.1), ("second", 0.2):
        add("add_hparams", 0, run=hexadecimal("hparams_" + run), metrics=[[hexadecimal("hparam/accuracy"), rate * 4]],
            hparams=[[hexadecimal("lr"), rate], [hexadecimal("batch"), 64], [hexadecimal("optimizer"), hexadecimal("adam")]])
    add("add_custom_scalars", 0, layout=[
        [hexadecimal("Losses"), [[hexadecimal("all"), "Multiline", [hexadecimal("loss/.*")]]]],
        [hexadecimal("Bands"), [[hexadecimal("one"), "Margin",
                                 [hexadecimal(f"band/{part}") for part in ("middle", "lower", "upper")]]]]])
    return calls


def do_calls(calls, log_dir):
    import numpy
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(log_dir)
    for call in calls:
        step, walltime = call["step"], call["walltime"]
        tag = plain(call["tag"]) if "tag" in call else None
        if call["call"] == "add_scalar":
            writer.add_scalar(tag, float(call["value"]), step, walltime)
        elif call["call"] == "add_scalars":
            writer.add_scalars(tag, {plain(name): value for name, value in call["values"]}, step, walltime)
        elif call["call"] == "add_text":
            writer.add_text(tag, plain(call["text"]), step, walltime)
        elif call["call"] == "add_histogram":
            writer.add_histogram(tag, numpy.array(call["values"]), step, call["edges"] or "tensorflow", walltime,
                                 call["max_bins"] or None)
        elif call["call"] == "add_histogram_raw":
            writer.add_histogram_raw(tag, call["min"], call["max"], sum(call["counts"]), 0.0, 0.0, call["limits"],
                                     call["counts"], step, walltime)
        elif call["call"] == "add_image":
            samples = numpy.array(call["samples"], numpy.uint8).reshape(call["height"], call["width"], call["channels"])
            writer.add_image(tag, samples, step, walltime, "HWC")
        elif call["call"] == "add_pr_curve":
            writer.add_pr_curve(tag, numpy.array(call["labels"]), numpy.array(call["predictions"], numpy.float32), step,
                                walltime=walltime)
        elif call["call"] == "add_hparams":
            writer.add_hparams({plain(name): plain(value) if isinstance(value, str) else value
                                for name, value in call["hparams"]},
                               {plain(name): value for name, value in call["metrics"]}, run_name=plain(call["run"]),
                               global_step=step)
        elif call["call"] == "add_custom_scalars":
            writer.add_custom_scalars({plain(category): {plain(title): [kind, [plain(tag) for tag in tags]]
                                                         for title, kind, tags in charts}
                                       for category, charts in call["layout"]})
    writer.close()


if __name__ == "__main__":
    with open(sys.argv[1]) as lines:
        do_calls([json.loads(line) for line in lines], sys.argv[2])
