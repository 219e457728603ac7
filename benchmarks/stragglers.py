#!/usr/bin/env python3
"""How often `tbtrace collectives` names the right rank, on 600 made jobs.

    python3 benchmarks/stragglers.py build/tools/tbtrace [--seed N] [--count N]

The same as tests/jobs/made_jobs_score.py, whose options it takes; a sample of that is a test. Takes about a second per
job and 100 MB.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/jobs"))
import made_jobs_score  # noqa: E402

if __name__ == "__main__":
    if not any(argument.startswith("--count") for argument in sys.argv):
        sys.argv += ["--count", "600"]
    sys.exit(made_jobs_score.main())
