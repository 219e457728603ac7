#!/usr/bin/env python3
"""What a job of many ranks costs: `collectives` and `summary` of its folder against `ops` of one trace after the other.

    python3 benchmarks/job_scale.py build/tools/tbtrace [--ranks 64] [--megabytes 50] [--folder F]

Makes a job with tests/jobs/made_jobs (data parallel). Prints seconds and the largest resident memory of each command.
Memory is compared with that of `ops` on one rank.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

MAKER = pathlib.Path(__file__).resolve().parents[1] / "tests/jobs"
BYTES_PER_STEP = 460_000  # of a rank with 24 layers


def run(command):
    """Seconds and MB of a command."""
    start = time.perf_counter()
    child = os.posix_spawn(command[0], command, os.environ,
                           file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(child, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)} failed: {status}")
    return time.perf_counter() - start, usage.ru_maxrss / 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tbtrace")
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--folder", help="keep the job here; one that is there is used again")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.folder or temporary)
        if not (folder / "jobs").exists():
            steps = max(3, options.megabytes * 1_000_000 // BYTES_PER_STEP)
            # In another process, whose memory commands would inherit.
            code = f"import made_jobs; made_jobs.make({str(folder)!r}, 7, kind='ddp', world_size={options.ranks}, " \
                   f"layers=24, clean=True, steps={steps})"
            subprocess.run([sys.executable, "-c", code], check=True, cwd=MAKER)
        traces = sorted(str(path) for path in (folder / "jobs").rglob("*.json"))
        size = sum(os.path.getsize(path) for path in traces) / 1e6
        print(f"{len(traces)} ranks, {size:.0f} MB", flush=True)
        single = [run([options.tbtrace, "ops", path, "-q"]) for path in traces]
        ops, memory = sum(seconds for seconds, _ in single), max(memory for _, memory in single)
        print(f"ops, one by one: {ops:.2f} s, {size / ops:.0f} MB/s, {memory:.0f} MB", flush=True)
        for verb in ("collectives", "summary"):
            seconds, peak = run([options.tbtrace, verb, str(folder / "jobs"), "-q"])
            print(f"{verb}: {seconds:.2f} s, {ops / seconds:.2f} of the speed of ops, {peak:.0f} MB, "
                  f"{peak / memory:.2f} times ops of a rank", flush=True)


if __name__ == "__main__":
    main()
