"""Are tbtrace's rows of the device those of torch's own profiler? For steps of training, judged for judge.py."""
import concurrent.futures
import json
import multiprocessing
import pathlib
import subprocess
import sys

from traces import compare_round, durations

MODELS = ("resnet50", "transformer", "transformer_bf16")
# Median times of kernels of one name. Two processes have other clocks and places in memory.
MOST_APART_IN_TURNS = 0.02
MOST_APART_IN_PROCESSES = 0.05
ASPECTS = {"kernels": "kernels by name", "launch": "grid, block, registers, shared memory or stream",
           "occupancy": "occupancy", "operator": "operators of kernels", "copies": "copies and settings"}


def judge_model(part, model, pairs, most_apart):
    # Not by fork: the parent may have threads.
    with concurrent.futures.ProcessPoolExecutor(8, multiprocessing.get_context("spawn")) as pool:
        rounds = list(pool.map(compare_round, pairs))
    counts = [one["kernels"] for one in rounds]
    part.check(min(counts) > 0, f"{model}: a recording of ours without kernels; counts {counts}")
    apart = [number for number, one in enumerate(rounds) if one["sequence"] != rounds[0]["sequence"]]
    part.check(not apart, f"{model}: ours recorded other kernels in rounds {apart} than in round 0; counts {counts}")
    part.check(all(one["copies"] == rounds[0]["copies"] for one in rounds), f"{model}: copies of ours differ by round")
    for one in rounds:
        part.check(not one["problems"], f"{model}: ours says {one['problems']}")
    for aspect, title in ASPECTS.items():
        found = [text for one in rounds for text in one["different"].get(aspect, [])]
        part.check(not found, f"{model}: {title} differ {len(found)} times (ours, torch's), such as {found[:1]}")
    lacking = [one["missing"] for one in rounds]
    whole = sum(1 for one in rounds if not one["missing"] and "kernels" not in one["different"])
    part.check(whole > 0, f"{model}: torch's profiler has all kernels in no round; it lacks {lacking}")
    if any(lacking):
        part.note(f"{model}: torch's profiler lacks {sum(lacking)} kernels at the beginnings of "
                  f"{sum(map(bool, lacking))} of {len(rounds)} recordings; the others are compared")
    ratios = sorted(durations(rounds).items(), key=lambda item: -abs(item[1]))
    part.check(ratios, f"{model}: no times to compare")
    for name, ratio in ratios:
        part.check(abs(ratio) <= most_apart, f"{model}: {100 * ratio:+.2f} % of torch's time: {name[:100]}")
    listed = ", ".join(f"{100 * ratio:+.2f} % {name[:40]}" for name, ratio in ratios[:6])
    part.note(f"{model}: times by name, ours to torch's: {listed}")
    linked = sum(one["linked"] for one in rounds)
    worst = f"{100 * ratios[0][1]:+.2f} %" if ratios else "none"
    part.figure(f"{model} {counts[0]} kernels, {whole} of {len(rounds)} rounds whole, {linked} linked, worst {worst}")


def thin_out(paths):
    """Of many files only the first pair is worth keeping."""
    for pair in paths[1:]:
        for path in pair:
            path.unlink(missing_ok=True)


def judge_models(part, rounds, most_apart):
    for model in MODELS:
        pairs = [tuple(part.folder / f"{model}_{who}_{number}.json" for who in ("ours", "torch"))
                 for number in range(rounds)]
        try:
            failures = len(part.failures)
            judge_model(part, model, pairs, most_apart)
            if len(part.failures) == failures:
                thin_out(pairs)
        except Exception as error:  # the other models may tell more
            part.check(False, f"{model}: {type(error).__name__}: {error}")


def in_turns(part):
    rounds = 20
    part.run("kernels", "both", rounds, *MODELS, timeout=240)
    judge_models(part, rounds, MOST_APART_IN_TURNS)


def in_processes(part):
    """torch's profiler is whole in a process's first recording, whatever it does to later ones."""
    rounds = 6
    for who in ("ours", "torch"):
        part.run("kernels", who, rounds, *MODELS, timeout=120)
    judge_models(part, rounds, MOST_APART_IN_PROCESSES)


def tables(part):
    """Not of ours: `tbtrace ops` of what torch's profiler wrote prints what torch's profiler printed."""
    script = pathlib.Path(__file__).parent / "tables.py"
    made = subprocess.run([sys.executable, script, part.folder], capture_output=True, text=True, timeout=120)
    (part.folder / "tables.log").write_text(made.stderr)
    if not part.check(made.returncode == 0, f"tables.py: exit {made.returncode}: {made.stderr.strip()[-300:]}"):
        return
    asked = json.loads(made.stdout.splitlines()[-1])
    for table in asked:
        done = subprocess.run([part.runner.tbtrace, "ops", part.folder / table["trace"], *table["options"]],
                              capture_output=True, timeout=60)
        wanted = (part.folder / table["table"]).read_bytes()
        part.check(done.stdout == wanted, f"{table['table']}: exit {done.returncode}, other text than torch's "
                                          f"{done.stderr.decode(errors='replace')[-200:]}")
    part.check(asked, "no tables")
    part.figure(f"{len(asked)} tables of {len({table['trace'] for table in asked})} recordings")
