"""An archive of several traces: what each verb says of all is what it says of each."""
from answers import WRONG_USAGE, Answers
from sums import added

ROWS = ("kernels", "kernels --group-by family", "gpu", "gpu --group-by stream", "steps", "modules", "lines",
        "model --by operator", "memory")
SUMS = {
    "kernels": ("count", "total_ns", "tensor_core_ns", "launches", "without_launch", "launch_delay_total_ns",
                "memcpys", "memcpy_ns", "memsets", "memset_ns"),
    "gpu": ("window_ns", "busy_ns", "idle_ns"),
    "steps": ("steps", "dropped_steps", "outliers"),
    "modules": ("device_time_total_ns", "cpu_time_total_ns", "waiting_cpu_time_ns"),
    "lines": ("device_time_total_ns", "cpu_time_total_ns", "waiting_cpu_time_ns"),
    "model --by operator": ("device_time_total_ns", "cpu_time_total_ns", "flops", "macs"),
    "memory": ("peak_bytes", "allocations"),
    "ops --strict-totals": ("self_cpu_time_total_ns", "self_device_time_total_ns"),
}


def archive(answers, same):
    runs = answers["summary"]["run"]
    members = [Answers(answers.program, run["input"], answers.folder) for run in runs]
    for command in ROWS:
        same(f"{command}: rows = those of the members", without(answers.rows(command), "input"),
             [row for member in members for row in member.rows(command)])
    for command, keys in SUMS.items():
        for key in keys:
            same(f"{command}: {key} = sum of the members", answers.totals(command)[key] or 0,
                 added([member.totals(command) for member in members], key))
    for part, entries in answers["summary"].items():
        if part not in ("findings", "issues", "run", "schema", "checks"):
            same(f"summary: {part} = those of the members", without(entries, "trace"),
                 without([entry for member in members for entry in member["summary"][part]], "trace"))
    for verb in ("ops", "flamegraph --format folded"):
        same(f"{verb}: exit code of several ranks = wrong usage", answers.run(verb).returncode, WRONG_USAGE)


def without(rows, left_out):
    return [{key: value for key, value in row.items() if key != left_out} for row in rows]


CHECKS = (archive,)
