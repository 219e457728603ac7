"""Samples of what tests could take all of: the same in each run of a commit, and others in the next commit."""

import math
import os
import pathlib
import random
import subprocess


def commit_seed():
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=pathlib.Path(__file__).parent, capture_output=True,
                          text=True, check=False)
    return int(done.stdout.strip()[:8] or "1", 16)


def share_of(things):
    """As many of them as TBTRACE_RANDOM_PERCENT says (tests/fixtures/random_rounds.h), at least one."""
    percent = min(int(os.environ.get("TBTRACE_RANDOM_PERCENT", "100")), 100)
    return random.Random(commit_seed()).sample(things, math.ceil(len(things) * percent / 100))
