#!/usr/bin/env python3
"""Do all verbs, formats, partials and the Python package say the same of a trace?

    check_agreement.py --tbtrace PROGRAM [--sample SECONDS] [--seed N] [--only REGEX] FOLDER...

Every figure that is in more than one answer has to be the same in all of them, to the nanosecond and byte. Where two
figures differ by their definitions, the difference is a row, a total or a column of the output, and they have to be
equal with it. agreement/ has the identities: device.py, steps.py, host.py, memory.py, tables.py (formats, partials,
converted traces), package.py (Python, if the package can be imported) and archives.py. Of an input that cannot be read
all verbs have to end with the same code.

All traces below the folders are asked. With --sample only as many as that time allows, in an order that follows from
--seed, by default from the commit: the small ones, and one of the large ones. The last line is 'N passed, N failed':
traces, without those that cannot be read. Python 3, nothing besides.
"""
import argparse
import collections
import pathlib
import random
import re
import sys
import tempfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent / "agreement"), str(pathlib.Path(__file__).resolve().parents[1])]
import archives
import device
import host
import memory
import package
import steps
import tables
from answers import UNREADABLE, Answers, Refused
from check_cases import OPEN
from support.sampling import commit_seed

ENDINGS = (".json", ".json.gz", ".json.zst", ".json.xz", ".zip", ".tar", ".tar.gz")
# Beside traces lie what other programs said about them.
OTHERS = ("case.json", "events.json.gz", "key_averages.json", "timeline.json", "timeline.raw.json.gz", "views.json.gz")
VERBS = ("summary", "ops", "ops --strict-totals", "steps", "kernels", "model --by operator", "gpu", "memory", "modules", "lines",
         "check", "flamegraph --format folded", "save -o -")
LARGE = 250_000  # bytes of a file: tens of seconds
SHOWN = 300  # characters of a figure


def inputs(folders):
    found = []
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            # A name of tests/cases is that of a trace, too: timeline.json of a program with other contents.
            is_other = path.name.endswith(OTHERS) and not (path.parent / "README.md").is_file()
            is_open = path.parent.name in OPEN  # known to be answered wrongly
            if (path.is_file() and path.name.endswith(ENDINGS) and not is_other and not is_open
                    and "plugin_out" not in path.parts):
                found.append(path)
    return found


def sampled(found, seed):
    """In the order of the seed, with one of the large ones, first."""
    rng = random.Random(seed)
    rng.shuffle(found)
    large = [path for path in found if path.stat().st_size > LARGE]
    return large[:1] + [path for path in found if path.stat().st_size <= LARGE]


def differences(program, path):
    """What does not agree, or None if the input cannot be read; and how many figures were compared."""
    problems, compared = [], 0

    def same(what, got, expected):
        nonlocal compared
        compared += 1
        if got != expected:
            problems.append(f"{what}\n    got      {shown(got, expected)}\n    expected {shown(expected, got)}")

    with tempfile.TemporaryDirectory(prefix="tbtrace-agreement-") as folder:
        answers = Answers(program, path, folder)
        try:
            several = len(answers["summary"]["run"]) > 1
        except Refused as refusal:
            for verb in VERBS:
                same(f"{verb}: exit code = of summary", answers.run(verb).returncode, refusal.code)
            same("exit code of an input that cannot be read", refusal.code, UNREADABLE)
            return problems or None, compared
        modules = (archives,) if several else (device, steps, host, memory, tables, package)
        for check in (check for module in modules for check in module.CHECKS):
            try:
                check(answers, same)
            except (Refused, KeyError, ValueError, RuntimeError) as error:
                problems.append(f"{check.__module__}.{check.__name__}: {type(error).__name__}: {error}")
    return problems, compared


def shown(value, other):
    """The part where it differs."""
    if isinstance(value, list) and isinstance(other, list) and len(value) == len(other):
        value = next(one for one, two in zip(value, other) if one != two)
    elif isinstance(value, dict) and isinstance(other, dict):
        value = {key: some for key, some in value.items() if key not in other or other[key] != some}
    text = repr(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("--sample", type=float, metavar="SECONDS")
    parser.add_argument("--seed", type=int, metavar="N")
    parser.add_argument("--only", default="", metavar="REGEX", help="only paths that match")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    program = str(pathlib.Path(options.tbtrace).resolve())
    found = [path for path in inputs(options.folders) if re.search(options.only, str(path))]
    everything = len(found)
    seed = options.seed if options.seed is not None else commit_seed()
    if options.sample:
        found = sampled(found, seed)
    started, counts, figures = time.monotonic(), collections.Counter(), 0
    for path in found:
        if options.sample and time.monotonic() - started > options.sample:
            break
        problems, compared = differences(program, path)
        figures += compared
        state = "unreadable" if problems is None else "failed" if problems else "passed"
        counts[state] += 1
        for problem in problems or ():
            print(f"{path}: {problem}", flush=True)
    print(f"{sum(counts.values())} of {everything} inputs{f', seed {seed}' if options.sample else ''}: {figures} "
          f"comparisons in {time.monotonic() - started:.0f} s, {'with' if package.tbtrace else 'without'} the Python "
          f"package; {counts['unreadable']} cannot be read, which all verbs say")
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
