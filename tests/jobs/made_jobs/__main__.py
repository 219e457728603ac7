"""Makes jobs and their truth: python3 -m made_jobs OUT --seed N --count N"""
import argparse
import pathlib
import time

from .damage import DAMAGES
from .dialects import DIALECTS
from .effects import CAUSES
from .jobs import make
from .settings import KINDS


def main():
    parser = argparse.ArgumentParser(prog="made_jobs", description=__doc__)
    parser.add_argument("out", help="folder for jobs/ and truth/")
    parser.add_argument("--seed", type=int, default=0, help="of the first job; the next ones have the next seeds")
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--ranks", type=int, dest="world_size")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--dialect", choices=list(DIALECTS))
    parser.add_argument("--clocks", choices=("close", "per_node", "free"), dest="clock_kind")
    parser.add_argument("--length", choices=("short", "long_steps", "pause"))
    parser.add_argument("--clean", action="store_true", default=None, help="no rank is to blame")
    parser.add_argument("--cause", choices=CAUSES, help="the one cause of all jobs")
    parser.add_argument("--damage", choices=DAMAGES)
    options = vars(parser.parse_args())
    out, seed, count = pathlib.Path(options.pop("out")), options.pop("seed"), options.pop("count")
    cause = options.pop("cause")
    given = {name: value for name, value in options.items() if value is not None}
    if cause:
        given |= {"clean": False, "cause_names": (cause,)}
    total = 0
    begin = time.monotonic()
    for number in range(seed, seed + count):
        truth = make(out, number, **given)
        size = sum((out / name).stat().st_size for name in truth["files"].values())
        total += size
        causes = ", ".join(f"{row['cause']} of rank {row['rank']} (+{row['excess_share']:.1%})"
                           for row in truth["causes"])
        print(f"{truth['job']}: {len(truth['step_numbers'])} steps, {truth['dialect']}, {size / 1e6:.1f} MB, "
              f"{causes or 'clean'}", flush=True)
    print(f"{count} jobs, {total / 1e6:.1f} MB, {time.monotonic() - begin:.1f} s")


if __name__ == "__main__":
    main()
