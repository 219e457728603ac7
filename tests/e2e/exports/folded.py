"""Folded stacks: those of the flame graph; of several traces the sum of what is below the first frames is that of all."""
import collections
import subprocess


def stacks(text):
    """The weight of each stack."""
    sums = collections.Counter()
    for line in text.splitlines():
        stack, weight = line.rsplit(b" ", 1)
        sums[stack] += int(weight)
    return sums


def check(report, where, tbtrace, path, file):
    """Compares, and returns the stacks."""
    command = [tbtrace, "flamegraph", path, "--format", "folded", *(["--sum-inputs"] if path.is_dir() else [])]
    wanted = stacks(subprocess.run(command, capture_output=True, check=True, timeout=300).stdout)
    lines = file.read_bytes()
    found = stacks(lines)
    if path.is_dir():
        found = stacks(b"\n".join(line.split(b";", 1)[1] for line in lines.splitlines()))
    report(found == wanted, f"{where}: {len(found)} stacks with {found.total()} ns, and the flame graph has {len(wanted)} with {wanted.total()} ns")
    return found
