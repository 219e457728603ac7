#!/usr/bin/env python3
"""Asks TensorBoard for what a SummaryWriter wrote, with both of its loaders, and compares it with what torch's own wrote.

    python3 -m e2e.tensorboard.summary_writer_test --program WRITE_SUMMARIES [--torch-python PYTHON] [--output DIR]

- Every scalar, text, histogram, picture, curve, hyperparameter and layout comes back as it was given, and as torch's
  SummaryWriter's do (where PYTHON has torch; TensorBoard is the running Python's).
- Of a file that is cut anywhere, both loaders deliver every event that is whole.
- Tags of any bytes break no loader. A writer that comes after another purges what that one wrote too much.
- --output takes screenshots of the dashboards in headless Chromium.

Prints a line for each failure and 'N passed, M failed'.
"""
import argparse
import html
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

from e2e.consumers import Report, TensorBoard, package_folder
from e2e.tensorboard.event_answers import Answers, take_pictures
from e2e.tensorboard.summary_calls import as_float, hexadecimal, make_calls, plain

check = Report()


def written(program, folder, calls, *arguments):
    """Has the program do the calls; its run is the folder."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps(call) + "\n" for call in calls)
        file.flush()
        subprocess.run([program, str(folder), file.name, *map(str, arguments)], check=True, timeout=300)


def event_file(folder):
    [file] = [file for file in folder.iterdir() if "tfevents" in file.name]
    return file


def wait_until_read(answers, runs):
    """Waits for what stands last in the files: runs are listed before they are read."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        curves, scalars = answers.json("plugin/pr_curves/tags"), answers.json("plugin/scalars/tags")
        below = [run for run in scalars if run.count("/")]
        if (all(curves.get(run) for run in runs) and answers.layout() and len(below) == 4 * len(runs)
                and all(len(answers.scalars(run, "both/curves")) == 20 for run in below if "both_curves" in run)):
            return
        time.sleep(0.2)
    raise RuntimeError("TensorBoard does not read the files to their ends")


def alike(one, two, tolerance=1e-6):
    """Equal but for 32-bit rounding of numbers."""
    if isinstance(one, (list, tuple)) and isinstance(two, (list, tuple)):
        return len(one) == len(two) and all(alike(a, b, tolerance) for a, b in zip(one, two))
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(alike(one[key], two[key], tolerance) for key in one)
    if isinstance(one, (int, float)) and isinstance(two, (int, float)):
        same = one == two or (math.isnan(one) and math.isnan(two))
        return same or math.isclose(one, two, rel_tol=tolerance, abs_tol=1e-37)
    return one == two


def check_calls(answers, run, calls):
    """What was written comes back, from the calls alone."""
    by_tag = {}
    for call in calls:
        by_tag.setdefault((call["call"], plain(call.get("tag", ""))), []).append(call)
    for (name, tag), done in by_tag.items():
        what = f"{name} {tag} of {run}"
        if name == "add_scalar":
            check(alike(answers.scalars(run, tag), [
                (call["step"], as_float(float(call["value"])), call["walltime"]) for call in done]), what)
        elif name == "add_scalars":
            for at, part in enumerate(done[0]["values"]):
                below = f"{run}/{tag.replace('/', '_')}_{plain(part[0])}"
                check(alike(answers.scalars(below, tag), [
                    (call["step"], as_float(call["values"][at][1]), call["walltime"]) for call in done]), what)
        elif name == "add_text":
            found = answers.texts(run, tag + "/text_summary")
            check([step for step, _ in found] == [call["step"] for call in done], what)
            for (_, shown), call in zip(found, done):
                for word in plain(call["text"]).replace("|", " ").replace("`", " ").split():
                    check(word.startswith("---") or html.escape(word, quote=False) in shown, f"{what}: {word} in {shown}")
        elif name == "add_histogram":
            for (step, buckets), call in zip(answers.histograms(run, tag), done, strict=True):
                inside = [value for value in call["values"]
                          if not call["edges"] or call["edges"][0] <= value <= call["edges"][-1]]
                check(step == call["step"] and sum(bucket[2] for bucket in buckets) == len(inside), what)
                check(alike([buckets[0][0], buckets[-1][1]], [min(call["values"]), max(call["values"])]), what)
        elif name == "add_image":
            for (step, width, height, body), call in zip(answers.images(run, tag), done, strict=True):
                check((step, width, height) == (call["step"], call["width"], call["height"]), what)
                check(list(body) == call["samples"], f"{what}: pixels")
        elif name == "add_hparams":
            for call in done:
                hparams, metrics = answers.sessions()[f"{run}/{plain(call['run'])}"]
                given = {plain(key): plain(value) if isinstance(value, str) else value for key, value in call["hparams"]}
                check(hparams == given, f"{what}: {hparams}")
                for metric, value in call["metrics"]:
                    check(alike(dict(metrics).get(plain(metric)), value), f"{what}: {metrics}")


def without_empty_start(buckets):
    """TensorBoard's default loader leaves in what torch puts before the first bucket, its ends in the wrong order."""
    if len(buckets) > 1 and buckets[0][2] == 0:
        return [[buckets[0][0], *buckets[1][1:]], *buckets[2:]]
    return buckets


def compare(answers, ours, torchs, calls):
    """Both runs say the same."""
    for call_name, tag in sorted({(call["call"], plain(call["tag"])) for call in calls if "tag" in call}):
        ask = {"add_scalar": answers.scalars, "add_histogram": answers.histograms, "add_pr_curve": answers.curve,
               "add_histogram_raw": answers.histograms, "add_image": answers.images}.get(call_name)
        if ask:
            one, two = ask(ours, tag), ask(torchs, tag)
            if "histogram" in call_name:
                two = [(step, without_empty_start(buckets)) for step, buckets in two]
            if tag == "picture/1":  # torch writes its grey in three colours
                one = [(*image[:3], bytes(sample for sample in image[3] for _ in range(3))) for image in one]
            # Edges of torch's histograms have 32 bits.
            check(alike(one, two), f"{call_name} {tag} as torch's: {str(one)[:400]} and {str(two)[:400]}")
        elif call_name == "add_text":
            # torch's are tables of one cell.
            one, two = answers.texts(ours, tag + "/text_summary"), answers.texts(torchs, tag + "/text_summary")
            check([step for step, _ in one] == [step for step, _ in two], f"{call_name} {tag} as torch's")
    sessions = answers.sessions()
    for name in sessions:
        if name.startswith(ours + "/"):
            check(sessions[name][0] == sessions[torchs + name[len(ours):]][0], f"hparams of {name} as torch's")


def check_loaders(program, folder, calls, torch_python):
    logs = folder / "calls"
    written(program, logs / "ours", calls)
    runs = ["ours"]
    if torch_python:
        environment = {**os.environ, "PYTHONPATH": str(package_folder("tensorboard").parent)}
        with open(folder / "calls.jsonl", "w") as file:
            file.writelines(json.dumps(call) + "\n" for call in calls)
        done = subprocess.run([torch_python, str(pathlib.Path(__file__).with_name("summary_calls.py")),
                               str(folder / "calls.jsonl"), str(logs / "torch")],
                              timeout=300, env=environment, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"torch's SummaryWriter did not do the calls:\n{done.stderr}")
        runs.append("torch")
    layouts = []
    for load_fast in True, False:
        with TensorBoard(logs, folder / f"log_{load_fast}", load_fast) as board:
            answers = Answers(board)
            answers.wait_for([*runs, *(f"{run}/{below}" for run in runs for below in (
                "hparams_first", "hparams_second", "both_curves_train", "both_curves_valid"))])
            wait_until_read(answers, runs)
            check_calls(answers, "ours", calls)
            layouts.append(answers.layout())
            if len(runs) > 1:
                compare(answers, *runs, calls)
        log = (folder / f"log_{load_fast}").read_text(errors="replace")
        check("rror" not in log and "panic" not in log, f"a loader's log: {log[-500:]}")
    check(layouts[0] == layouts[1], "layouts of both loaders")
    titles = {category["title"]: [chart["title"] for chart in category["chart"]] for category in layouts[0]["category"]}
    check(titles == {"Losses": ["all"], "Bands": ["one"]}, f"layout: {layouts[0]}")


def records(data):
    """Where each whole record of the bytes ends."""
    ends, at = [], 0
    while at + 12 <= len(data):
        at += 16 + struct.unpack_from("<Q", data, at)[0]
        if at <= len(data):
            ends.append(at)
    return ends


def check_damage(program, folder):
    """Of a file that is cut anywhere both loaders have every whole event."""
    calls = [{"call": "add_scalar", "tag": hexadecimal("a"), "step": step, "walltime": 1.0 + step, "value": step}
             for step in range(4)]
    written(program, folder / "whole", calls)
    data = event_file(folder / "whole").read_bytes()
    ends = records(data)
    check(ends[-1] == len(data) and len(ends) == 5, "the file has whole records")
    logs = folder / "cut"
    expected = {}
    for size in range(len(data) + 1):
        run = logs / f"run{size:04}"
        run.mkdir(parents=True)
        (run / "events.out.tfevents.0000000001.cut").write_bytes(data[:size])
        expected[run.name] = max(sum(end <= size for end in ends) - 1, 0)
    for load_fast in True, False:
        with TensorBoard(logs, folder / "cut_log", load_fast) as board:
            answers = Answers(board)
            answers.wait_for([run for run, count in expected.items() if count])
            tags = {}
            for _ in range(300):
                tags = answers.json("plugin/scalars/tags")
                if len(tags[f"run{len(data):04}"]) and sum("a" in found for found in tags.values()) == sum(
                        count > 0 for count in expected.values()):
                    break
                time.sleep(0.2)
            wrong = []
            for run, count in expected.items():
                found = [step for step, _, _ in answers.scalars(run, "a")] if "a" in tags.get(run, {}) else []
                if found != list(range(count)):
                    wrong.append((run, found, count))
            check(not wrong, f"load_fast={load_fast}: cut files: {wrong[:5]}")


def check_purge(program, folder):
    """A writer that comes after one that ended too late."""
    def scalars(steps, value):
        return [{"call": "add_scalar", "tag": hexadecimal(tag), "step": step, "walltime": 1.0 + step, "value": value}
                for step in steps for tag in ("a", "b")]
    logs = folder / "purge"
    written(program, logs / "run", scalars(range(10), 1))
    first = event_file(logs / "run")
    first.write_bytes(first.read_bytes()[:-3])  # as a crash leaves it
    written(program, logs / "run", scalars(range(5, 8), 2), 5)
    for load_fast in True, False:
        with TensorBoard(logs, folder / "purge_log", load_fast) as board:
            answers = Answers(board)
            answers.wait_for(["run"])
            for _ in range(300):
                found = {tag: [(step, value) for step, value, _ in answers.scalars("run", tag)] for tag in ("a", "b")}
                if found["b"] and found["b"][-1] == (7, 2):
                    break
                time.sleep(0.2)
            expected = [(step, 1) for step in range(5)] + [(step, 2) for step in range(5, 8)]
            check(found == {"a": expected, "b": expected}, f"load_fast={load_fast}: purged: {found}")


def check_hostile(program, folder):
    """Tags of any bytes; a good one behind them shows that the loaders read on."""
    tags = [b"bad \xff\xfe utf-8", b"\xed\xa0\x80 surrogate", b"nul \0 and \x01\x1f\x7f", b"new\nline", b"x" * 1_000_000,
            "\u202e\ufeff\U0001f600".encode(), b"<script>alert(1)</script>", b"../../etc/passwd", b"", b"_hparams_/x", b"good"]
    calls = [{"call": name, "tag": hexadecimal(tag), "text": hexadecimal(tag), "step": 1, "walltime": 1.0, "value": 4}
             for tag in tags for name in ("add_scalar", "add_text")]
    logs = folder / "hostile"
    written(program, logs / "run", calls)
    expected = {plain(hexadecimal(tag)) for tag in tags}
    for load_fast in True, False:
        with TensorBoard(logs, folder / "hostile_log", load_fast) as board:
            answers = Answers(board)
            answers.wait_for(["run"])
            for _ in range(300):
                found = set(answers.json("plugin/scalars/tags").get("run", []))
                if "good" in found:
                    break
                time.sleep(0.2)
            # U+FFFD is put for each wrong byte here, for each group of them in Python.
            check(len(found) == len(expected) and len(found & expected) >= len(expected) - 2,
                  f"load_fast={load_fast}: tags {sorted(map(ascii, found ^ expected))}"[:600])
            for tag in found:
                if len(tag) > 1000:
                    continue  # is listed, but longer than an address can be
                check([point[:2] for point in answers.scalars("run", tag)] == [(1, 4)], f"the tag {ascii(tag)[:80]}")
            check(len(answers.texts("run", "good/text_summary")) == 1, "a text behind them")


# Dashboard: how its page says that it has something to show.
DASHBOARDS = {"timeseries": "band/lower", "text": "text_summary", "images": "picture/3", "histograms": "weights",
              "distributions": "weights", "hparams": "batch", "custom_scalars": "Bands", "pr_curves": "curve"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--torch-python")
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    calls = make_calls()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_loaders(options.program, folder, calls, options.torch_python)
        check_damage(options.program, folder)
        check_purge(options.program, folder)
        check_hostile(options.program, folder)
        if options.output:
            take_pictures(check, folder / "calls", ["ours"], DASHBOARDS, options.output, folder / "pictures_log")
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
