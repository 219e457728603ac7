#!/usr/bin/env python3
"""Does the trace reader make of every valid JSON text the rows that are in it?

    grid.py --build DIR [--full | --sample SECONDS] [--seed N] [--traces DIR...]

Each real trace (the original) is written again in many other valid texts (rewrite.py), each text is read with several
block sizes and numbers of threads (tbtrace_rows), and the rows have to be those that Python's json module gives
(expected.py). A rewriting that keeps the values has to give the rows of the original, too. A valid text is not damaged,
so nothing may be counted as lost.

--full    all rewritings of all originals. Small texts are read with all block sizes and numbers of threads, texts above
          10 MB with a pair for each block size. Originals above 10 MB are not enlarged further. Events of 5 MB come
          with every eighth of the other originals, events of 40 MB with two of them.
--sample  runs for that many seconds: rounds of all rewritings, each of another original, cut to --max-events events,
          with a few block sizes and numbers of threads. Each round has one event of 5 MB and one of 40 MB.

Prints a line for each combination that failed, then for each rewriting how many passed and failed; exit code 1 if any
failed. `rewrite.py FILE REWRITING --source ORIGINAL --seed N --max-events N` writes a text again. Python 3; orjson, if
present, saves time.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import itertools
import os
import pathlib
import random
import re
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import expected
import originals
from reader import Reader
from rewriting import ALL, DAMAGE, REWRITINGS, ROWS
from support.sampling import commit_seed

BLOCKS = (64, 100, 257, 1 << 10, 4 << 10, 64 << 10, 256 << 10)
THREADS = (1, 2, 3, 8)
COVERING = ((64, 8), (100, 3), (257, 2), (1 << 10, 1), (4 << 10, 8), (64 << 10, 3), (256 << 10, 2), (256 << 10, 1))
LARGE_TEXT = 10_000_000  # bytes
SIZE_CLASSES = ((0, 1), (20_000, 2), (300_000, 3), (originals.LARGE, 1))  # of originals: smallest size in bytes, weight
SHOWN = 160  # characters of a row, around the first difference


@dataclasses.dataclass
class Count:
    passed: int = 0
    failed: int = 0
    texts: int = 0
    failed_texts: int = 0

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.texts += other.texts
        self.failed_texts += other.failed_texts


def first_difference(want, got):
    for at, (row, other) in enumerate(itertools.zip_longest(want, got, fillvalue="(nothing)")):
        if row != other:
            same = len(os.path.commonprefix((row, other)))
            start = max(0, min(same - SHOWN // 2, max(len(row), len(other)) - SHOWN))
            row, other = (("..." if start else "") + text[start:start + SHOWN] for text in (row, other))
            return f"row {at} of {len(want)}: expected {row} read {other}"
    return "the rows are equal now: another reading of the same text differed"


class Checker:
    """Reads texts and counts; one process of its own."""

    def __init__(self, program, seed, pairs):
        self.reader = Reader(program)
        self.seed = seed
        self.pairs = pairs  # (text size, random) -> (block, threads) to read with
        self.counts = collections.defaultdict(Count)
        self.folder = tempfile.TemporaryDirectory(prefix="tbtrace_oracle.")
        self.failures = []

    def close(self):
        self.reader.stop()
        self.folder.cleanup()

    def check(self, original, rewriting):
        """Writes one text and reads it in all ways."""
        label = f"{original.name} {rewriting.name}"
        text = rewriting.text(original.document, original.name, self.seed)
        try:
            want = expected.rows(expected.parse(text.data))
        except ValueError as error:
            raise AssertionError(f"{label} is not valid JSON: {error}") from error
        count = Count(texts=1)
        problem = kept_problem(original.rows, want, text.keeps)
        if problem:
            count.failed += 1
            self.failures.append(f"FAILED {label}: the rewriting changed the rows: {problem}")
        path = os.path.join(self.folder.name, "text.json")
        with open(path, "wb") as file:
            file.write(text.data)
        digest = expected.digest(want)
        known = {}  # of answers that differ, to the difference
        for block, threads in self.pairs(len(text.data), random.Random(f"{self.seed}/{label}")):
            answer = self.reader.ask(path, threads, block)
            problem = answer.get("error")
            if not problem and answer["digest"] != digest:
                if answer["digest"] not in known:
                    known[answer["digest"]] = first_difference(want, self.reader.lines(path, threads, block))
                problem = known[answer["digest"]]
            if not problem:
                problem = issue_problem(answer["issues"], text)
            if problem:
                count.failed += 1
                self.failures.append(f"FAILED {label} block {block} threads {threads}: {problem}")
            else:
                count.passed += 1
        count.failed_texts = int(count.failed > 0)
        self.counts[rewriting.name].add(count)
        os.unlink(path)


def kept_problem(original, want, keeps):
    """Where the expected rows are not those of the original although the rewriting keeps them."""
    if keeps == ROWS:
        original, want = without_members(original), without_members(want)
    if keeps not in (ALL, ROWS) or original == want:
        return None
    return first_difference(original, want)


def without_members(rows):
    return [row for row in rows if not row.startswith(('["base",', '["member",'))]


def issue_problem(issues, text):
    lost = {issue: count for issue, count in issues.items() if issue in DAMAGE and issue not in text.allowed}
    if lost:
        return f"the text is valid, but issues say {lost}"
    return None


def all_pairs(size, _):
    return COVERING if size > LARGE_TEXT else list(itertools.product(BLOCKS, THREADS))


def few_pairs(size, rng):
    return rng.sample(list(itertools.product(BLOCKS, THREADS)), 2 if size > LARGE_TEXT else 4)


def rewritings_of(original, at, rewritings):
    """The rewritings of --full for the original with this number."""
    for rewriting in rewritings:
        large = original.size > LARGE_TEXT
        if rewriting.size and large:
            continue
        if 2_000_000 < rewriting.size <= LARGE_TEXT and at % 8 != 0:
            continue
        if rewriting.size > LARGE_TEXT and at not in (0, 8):
            continue
        yield rewriting


def check_original(options, original, at, names):
    """--full for one original, in a process of its own: (failures, counts, a line that says what was done)."""
    checker = Checker(options.program, options.seed, all_pairs)
    rewritings = [REWRITINGS[name] for name in names]
    started = time.monotonic()
    try:
        original.load(options.max_events)
        for rewriting in rewritings_of(original, at, rewritings):
            checker.check(original, rewriting)
    except (ValueError, EOFError, KeyError) as error:
        return [f"SKIPPED {original.name}: {error}"], {}, f"{original.name}: skipped"
    finally:
        checker.close()
    failed = sum(count.failed for count in checker.counts.values())
    readings = failed + sum(count.passed for count in checker.counts.values())
    done = f"{original.name}: {readings} readings, {failed} failed, {time.monotonic() - started:.0f} s"
    return checker.failures, dict(checker.counts), done


def run_full(options, found, rewritings):
    counts = collections.defaultdict(Count)
    names = [rewriting.name for rewriting in rewritings]
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        waiting = [pool.submit(check_original, options, original, at, names)
                   for at, original in enumerate(found)]
        for future in waiting:
            failures, counted, done = future.result()
            for failure in failures:
                print(failure)
            print(done, flush=True)
            for name, count in counted.items():
                counts[name].add(count)
    return counts


def sampled(found, rewritings, rng):
    """Rounds of (original, rewriting) without an end. A size class is drawn first: many originals are tiny. Of the
    large originals, which cost seconds to load, there is one."""
    classes = []
    for (least, weight), (end, _) in zip(SIZE_CLASSES, (*SIZE_CLASSES[1:], (1 << 60, 0))):
        members = [original for original in found if least <= original.size < end]
        if least == originals.LARGE:
            members = rng.sample(members, min(1, len(members)))
        classes += [members] * weight if members else []
    while True:
        turn = [one for one in rewritings if one.size <= 2_000_000]
        for low, high in ((2_000_000, LARGE_TEXT), (LARGE_TEXT, 1 << 40)):
            some = [one for one in rewritings if low < one.size <= high]
            turn += rng.sample(some, min(1, len(some)))
        rng.shuffle(turn)
        for rewriting in turn:
            yield rng.choice(rng.choice(classes)), rewriting


def run_sample(options, found, rewritings):
    checker = Checker(options.program, options.seed, few_pairs)
    end = time.monotonic() + options.sample
    try:
        for original, rewriting in sampled(found, rewritings, random.Random(options.seed)):
            if time.monotonic() >= end:
                break
            original.load(options.max_events)
            checker.check(original, rewriting)
            for failure in checker.failures:
                print(failure, flush=True)
            checker.failures.clear()
    finally:
        checker.close()
    return checker.counts


def print_table(counts):
    width = max(map(len, counts), default=0)
    print(f"\n{'rewriting':{width}}  texts  failed   readings  failed")
    total = Count()
    for name in REWRITINGS:
        if name in counts:
            count = counts[name]
            total.add(count)
            print_count(f"{name:{width}}", count)
    print_count(f"{'all':{width}}", total)
    return total


def print_count(name, count):
    print(f"{name}  {count.texts:5}  {count.failed_texts:6}   {count.passed + count.failed:8}  {count.failed:6}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build", help="the build folder")
    parser.add_argument("--program", help="tbtrace_rows, if it is not in the build folder")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--full", action="store_true")
    mode.add_argument("--sample", type=float, default=90, metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=commit_seed(), help="another one for each commit, if none is named")
    parser.add_argument("--traces", nargs="+", help="folders of originals (default: ../shared, else the repository's)")
    parser.add_argument("--originals", default="", metavar="REGEX", help="only originals whose name matches")
    parser.add_argument("--rewritings", default="", metavar="REGEX", help="only rewritings whose name matches")
    parser.add_argument("--max-events", type=int, default=0, help="of an original; default 5000 in a sample, else all")
    parser.add_argument("--jobs", type=int, default=2, help="processes of --full")
    options = parser.parse_args()
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    options.max_events = options.max_events or (0 if options.full else 5000)
    options.program = options.program or str(pathlib.Path(options.build).resolve() / "tests/oracle/tbtrace_rows")

    folders = options.traces or [folder for folder in originals.SHARED if folder.is_dir()] or originals.OWN
    found, invalid = originals.find(folders)
    found = [original for original in found if re.search(options.originals, original.name)]
    rewritings = [one for one in REWRITINGS.values() if re.search(options.rewritings, one.name)]
    if not found or not rewritings:
        sys.exit("oracle: there is nothing to compare")
    print(f"oracle: {len(found)} originals, {len(rewritings)} rewritings, block sizes {', '.join(map(str, BLOCKS))}, "
          f"seed {options.seed}, --max-events {options.max_events or 'all'}\n"
          f"oracle: {len(invalid)} files are not valid JSON and have no oracle: {', '.join(invalid)}", flush=True)
    run = run_full if options.full else run_sample
    total = print_table(run(options, found, rewritings))
    print(f"oracle: {total.passed} passed, {total.failed} failed, seed {options.seed}")
    sys.exit(total.failed > 0 or total.passed == 0)


if __name__ == "__main__":
    main()
