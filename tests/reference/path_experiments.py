#!/usr/bin/env python3
"""Compares `tbtrace whatif` with programs of which one thing was really changed.

    path_experiments.py --tbtrace PATH --python PYTHON_WITH_TORCH [--only NAME] [--keep FOLDER]

A prediction from the recording of the program before the change has to be within 5 % of a step after it, or within
what steps of the same program differ by. Prints a row for each experiment; the last line is 'N of M hold'. Those whose name
ends in `!` are of what docs/whatif.md says that it does not know: they are shown, and do not count.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

PROGRAMS = pathlib.Path(__file__).with_name("path_experiment_programs.py")
LINE_OF = {name: f"{PROGRAMS.name}({number}): {does}" for name, does in (("a", "_work"), ("b", "_other_work"))
           for number, text in enumerate(PROGRAMS.read_text().splitlines(), 1) if text.endswith(f"# line of {name}")}
TRAIN = {"backward": 6}
LOADER = {"a": 2, "b": 2, "sleep_ms": 15.0}
LOADER_BOUND = {"workers": 1, "a": 2, "b": 2, "sleep_ms": 25.0}
COMPUTE_BOUND = {"workers": 1, "a": 8, "b": 4, "sleep_ms": 4.0}

MOST_NOISE = 0.1  # of a step that counts
# Name, settings before, what is different after, and the change that says so.
EXPERIMENTS = [
    ("operator_half", {"a": 8}, {"a": 4}, "operator:bench::a x0.5"),
    ("operator_double", {"a": 4}, {"a": 8}, "operator:bench::a x2"),
    ("operator_tenth", {"b": 10}, {"b": 1}, "operator:bench::b x0.1"),
    ("operator_gone", {"a": 6}, {"a": 0}, "operator:bench::a x0"),
    ("operators_both", {"a": 8, "b": 4}, {"a": 4, "b": 8}, "operator:bench::a x0.5,operator:bench::b x2"),
    ("operator_inside", {"a": 8, "b": 6}, {"a": 4, "b": 3}, "operator:aten::mm x0.5"),
    ("backward_half", TRAIN, {"backward": 3}, "operator:bench::a_backward x0.5"),
    ("backward_triple", TRAIN, {"backward": 18}, "operator:bench::a_backward x3"),
    ("forward_of_training", {**TRAIN, "a": 8}, {"a": 2}, "operator:bench::a x0.25"),
    ("all_of_training", {"a": 8, "b": 6, "backward": 8}, {"a": 4, "b": 3, "backward": 4}, "operator:aten::mm x0.5"),
    ("module_half", {"a": 8, "stack": True}, {"a": 4}, "module:First_{} x0.5"),
    ("module_double", {"b": 4, "stack": True}, {"b": 8}, "module:Second_{} x2"),
    ("module_fifth", {"a": 10, "stack": True}, {"a": 2}, "module:First_{} x0.2"),
    ("line_half", {"a": 8, "stack": True}, {"a": 4}, f"line:{LINE_OF['a']} x0.5"),
    ("line_double", {"b": 4, "stack": True}, {"b": 8}, f"line:{LINE_OF['b']} x2"),
    ("line_and_loader", {**LOADER, "a": 6, "stack": True}, {"a": 3, "sleep_ms": 0.0},
     f"line:{LINE_OF['a']} x0.5,data_loader x0"),
    ("loader_gone", LOADER, {"sleep_ms": 0.0}, "data_loader x0"),
    ("loader_half", LOADER, {"sleep_ms": 7.5}, "data_loader x0.5"),
    ("loader_double", LOADER, {"sleep_ms": 30.0}, "data_loader x2"),
    ("loader_works", {"a": 2, "b": 2, "load": 4}, {"load": 1}, "data_loader x0.25"),
    ("loader_and_operator", {**LOADER, "a": 8}, {"a": 4, "sleep_ms": 7.5}, "data_loader x0.5,operator:bench::a x0.5"),
    ("workers_limit", LOADER_BOUND, {"a": 1}, "operator:bench::a x0.5"),
    ("workers_limit_half", LOADER_BOUND, {"sleep_ms": 12.5}, "data_loader x0.5"),
    ("workers_limit_no_more", LOADER_BOUND, {"sleep_ms": 2.5}, "data_loader x0.1"),
    ("workers_hide", LOADER_BOUND, {"a": 4}, "operator:bench::a x2"),
    ("workers_hide_no_more", LOADER_BOUND, {"a": 20}, "operator:bench::a x10"),
    ("two_workers_limit", {**LOADER_BOUND, "workers": 2, "sleep_ms": 40.0}, {"a": 1, "b": 1}, "operator:aten::mm x0.5"),
    ("two_workers_half", {**LOADER_BOUND, "workers": 2, "sleep_ms": 60.0}, {"sleep_ms": 30.0}, "data_loader x0.5"),
    ("workers_in_time", COMPUTE_BOUND, {"a": 4}, "operator:bench::a x0.5"),
    ("workers_in_time_double", COMPUTE_BOUND, {"b": 8}, "operator:bench::b x2"),
    ("other_thread!", {"a": 4, "b": 1, "beside": 16}, {"a": 1}, "operator:bench::a x0.25"),
]


def table(tbtrace, *options):
    done = subprocess.run([tbtrace, "whatif", "--format", "json", "--quiet", *options], capture_output=True, text=True)
    if not done.stdout:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def change_of(tbtrace, path, change):
    """With the number that a module has in this recording."""
    if "{}" not in change:
        return change
    prefix = change.split(":")[1].split("{}")[0]
    rows = table(tbtrace, "--critical-path", "--group-by", "module", str(path))["rows"]
    return change.replace(prefix + "{}", next(row["name"] for row in rows if prefix in row["name"]))


def predicted_s(tbtrace, path, change):
    answer = table(tbtrace, "--set", change_of(tbtrace, path, change), str(path))
    if answer["refusal"]:
        return None, answer["refusal"]
    return answer["totals"]["predicted_ns"] * 1e-9, None


def holds(tbtrace, folder, name, change, times):
    predictions = [predicted_s(tbtrace, folder / f"{name}_before_{turn}.json", change)
                   for turn in range(len(times["before"]))]
    before, after = statistics.median(times["before"]), statistics.median(times["after"])
    made = [seconds for seconds, _ in predictions if seconds is not None]
    row = f"{name:24} {before * 1e3:8.2f} ms -> {after * 1e3:8.2f} ms"
    if not made:
        print(f"{row}  refused: {predictions[0][1]}")
        return False
    predicted = statistics.median(made)
    noise = max(max(all_times) - min(all_times) for all_times in times.values())
    good = abs(predicted - after) <= max(0.05 * after, min(noise, MOST_NOISE * after))
    print(f"{row}  predicted {predicted * 1e3:8.2f} ms ({(predicted / after - 1) * 100:+6.1f} %, noise"
          f" {noise / after * 100:4.1f} %)  {'' if good else 'no'}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--only", help="experiments whose names begin so")
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    chosen = [each for each in EXPERIMENTS if not options.only or each[0].startswith(options.only)]
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(exist_ok=True)
        inputs = [{"name": name, "before": before, "after": {**before, **after}} for name, before, after, _ in chosen]
        done = subprocess.run([options.python, PROGRAMS, folder], input=json.dumps(inputs), capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        times = json.loads(done.stdout.splitlines()[-1])
        counted = [name for name, *_ in chosen if not name.endswith("!")]
        good = {name: holds(options.tbtrace, folder, name, change, times[name]) for name, _, _, change in chosen}
    print(f"{sum(good[name] for name in counted)} of {len(counted)} hold")


if __name__ == "__main__":
    main()
