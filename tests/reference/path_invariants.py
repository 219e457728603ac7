#!/usr/bin/env python3
"""What holds for each recording that `tbtrace whatif` predicts from, whatever is in it.

    path_invariants.py --tbtrace PATH FOLDER...

- a factor of 1 changes nothing
- the larger the factor, the longer the step
- a change saves at most the time that what changes has in all
- rows add up to the total, and as recorded no row is longer on the path than in all
The last line is 'N passed, N failed'.
"""
import argparse
import json
import pathlib
import subprocess

LARGEST = 1_500_000  # bytes of a file; the rest would take minutes
FACTORS = (0, 0.5, 1, 2)


def table(tbtrace, path, *options):
    done = subprocess.run([tbtrace, "whatif", "--format", "json", "--quiet", *options, str(path)], capture_output=True)
    return json.loads(done.stdout) if done.returncode == 0 and done.stdout else None


def adds_up(answer):
    return sum(row["on_path_ns"] for row in answer["rows"]) == answer["totals"]["on_path_ns"]


def problems_of_recorded(answer):
    if not adds_up(answer):
        yield "the rows do not add up to the total"
    for row in answer["rows"]:
        if row["total_ns"] is not None and row["on_path_ns"] > row["total_ns"]:
            yield f"{row['name']}: longer on the path than in all"


def problems_of_change(tbtrace, path, change, total_ns):
    answers = [table(tbtrace, path, "--set", f"{change} x{factor}") for factor in FACTORS]
    gains = [answer["totals"]["gain_ns"] for answer in answers]
    if gains[FACTORS.index(1)] != 0:
        yield f"{change} x1 saves {gains[FACTORS.index(1)]} ns"
    if sorted(gains, reverse=True) != gains:
        yield f"{change}: a larger factor saves more: {gains}"
    if total_ns is not None and gains[0] > total_ns / answers[0]["totals"]["steps"] + 1:
        yield f"{change} x0 saves {gains[0]} ns of {total_ns} ns"
    if not all(map(adds_up, answers)):
        yield f"{change}: the rows do not add up to the total"


def problems_of(tbtrace, path):
    """None if nothing is predicted from it."""
    recorded = table(tbtrace, path, "--critical-path")
    if recorded is None or not recorded["rows"]:
        return None
    problems = list(problems_of_recorded(recorded))
    if recorded["refusal"] is not None:
        return problems
    longest = max((row for row in recorded["rows"] if row["kind"] == "kernel"), default=None,
                  key=lambda row: row["on_path_ns"])
    changes = [("launch", None)]
    if longest is not None:
        changes.append((f"kernel:{longest['name']}", longest["total_ns"]))
    for change, total_ns in changes:
        problems += problems_of_change(tbtrace, path, change, total_ns)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    passed = failed = 0
    for path in sorted(path for folder in options.folders for path in folder.rglob("*.json*")):
        if not path.is_file() or path.stat().st_size > LARGEST:
            continue
        problems = problems_of(options.tbtrace, path)
        if problems is None:
            continue
        for problem in problems:
            print(f"{path}: {problem}")
        failed += bool(problems)
        passed += not problems
    print(f"{passed} passed, {failed} failed")


if __name__ == "__main__":
    main()
