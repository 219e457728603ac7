"""Runs a check of made inputs as often as asked, and keeps those that fail."""

import argparse
import os
import pathlib
import random
import shutil
import tempfile


def run_rounds(description, what, usual, problem_of):
    """`problem_of(tbtrace, folder, rng, number)` says what is wrong with what it made in the folder, or None.

    There are `usual` rounds, or as many of them as TBTRACE_RANDOM_PERCENT says (tests/fixtures/random_rounds.h). The last line
    is 'N passed, N failed'.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument(f"--{what}s", type=int, dest="rounds",
                        default=max(1, usual * int(os.environ.get("TBTRACE_RANDOM_PERCENT", "100")) // 100))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help=f"where the traces of {what}s that fail are kept")
    options = parser.parse_args()
    failed = 0
    for number in range(options.rounds):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            problem = problem_of(options.tbtrace, folder, random.Random(f"{options.seed} {number}"), number)
            if problem:
                print(f"{what} {number}: {problem}")
                if options.keep:
                    shutil.copytree(folder, options.keep / f"{what}_{number}")
            failed += bool(problem)
    print(f"{options.rounds - failed} passed, {failed} failed")
