"""What a sample of tests is drawn by: the same in each run of a commit, and another one in the next commit."""

import pathlib
import subprocess


def commit_seed():
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=pathlib.Path(__file__).parent, capture_output=True,
                          text=True, check=False)
    return int(done.stdout.strip()[:8] or "1", 16)
