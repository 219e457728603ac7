"""What torch-tb-profiler says in TensorBoard's log, and what in a trace makes it say so."""
import collections
import re

from e2e.trace_reading import RECOGNISED_COLLECTIVES, worker_of

# A line of TensorBoard's log: level, thread, source, text.
LOG_LINE = re.compile(r"^([DIWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +(\d+) ([\w.]+:\d+)\] (.*)$")


# What the plugin may log because of what is in a trace, and when.
def removes_steps(run):
    return any(len(trace.shown_steps()) < len(trace.steps) for trace in run.traces)


def has_collectives(run):
    return any(row.name in RECOGNISED_COLLECTIVES for trace in run.traces for row in trace.rows)


FORCED = [
    # The last steps launched nothing, or the profiler missed it.
    (re.compile(r"Remove the last \d+ steps from overview"), removes_steps),
    # A collective that ran outside of all annotated steps.
    (re.compile(r"Found (a )?communication ops? not belong to any step"), has_collectives),
    # Ranks of a run that recorded different collectives.
    (re.compile(r"Number of communication (operation nodes|kernels) don't match between workers"),
     lambda run: len(run.traces) > 1 and has_collectives(run)),
    # nccl: and gloo: in one trace.
    (re.compile(r"Multiple communication libs are found"), has_collectives),
    # A type of tensor whose size the plugin does not know.
    (re.compile(r"Found an unknown tensor type"), has_collectives),
    # A kernel with Tensor Core instructions under an operator that is not on the plugin's list.
    (re.compile(r"New Tensor Cores eligible operator found"), lambda run: any(trace.kernels for trace in run.traces)),
    # Workers of which the file does not say host and rank, and whose names do not hold them.
    (re.compile(r"cannot parse node name from worker name"),
     lambda run: has_collectives(run) and any(worker_of(trace) is None for trace in run.traces)),
    # Memory that was freed twice without an allocation between, as recorded.
    (re.compile(r"Address \d+ is freed multiple times"), lambda run: any(trace.memory for trace in run.traces)),
]


def check_log(report, log, runs):
    """Lines of the plugin at WARNING or above, each of which a run's content has to force."""
    threads = collections.defaultdict(set)
    lines = log.read_text(errors="replace").splitlines()
    parsed = [LOG_LINE.match(line) for line in lines]
    for match in filter(None, parsed):
        found = re.match(r"Parse trace, run_dir=(.*), worker=", match[4])
        if found:
            threads[match[2]].add(found[1])
    by_folder = {run.folder: run for run in runs}
    counts, bad = collections.Counter(), collections.Counter()
    for match in filter(None, parsed):
        if match[1] in "DI":
            continue
        if threads[match[2]] and not any(folder in by_folder for folder in threads[match[2]]):
            continue  # about an original
        possible = [by_folder[folder] for folder in threads[match[2]] if folder in by_folder] or runs
        forced = any(pattern.search(match[4]) and any(condition(run) for run in possible)
                     for pattern, condition in FORCED)
        text = re.sub(r"\d+", "N", match[4])
        (counts if forced else bad)[(match[3], text[:160], possible[0].name if len(possible) == 1 else "?")] += 1
    for key, count in list(bad.items())[:20]:
        report(False, f"the log says {count} times: {key}")
    for number, line in enumerate(lines):
        report(not line.startswith("Traceback"), f"the log holds a traceback: {lines[number:number + 40][-3:]}")
        if re.search(r"\.py:\d+: \w*Warning:", line):
            report("torch_tb_profiler" not in line, f"the log: {line}")
    report(any(match and "started all processing" in match[4] for match in parsed), "the log is that of the plugin")
    for key, count in sorted(counts.items()):
        print(f"forced, {count} times: {key}")
