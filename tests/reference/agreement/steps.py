"""Steps: by themselves, in the summary, and in the tables of one step."""
from collections import Counter

from sums import added

ROLES = ("kernel_ns", "memcpy_ns", "memset_ns", "communication_ns", "runtime_ns", "data_loader_ns", "cpu_op_ns",
         "other_ns")
PHASES = ("forward_ns", "backward_ns", "optimizer_ns", "data_ns", "unphased_ns")
MEANS = ("duration_ns", "host_duration_ns", *ROLES, *PHASES)
MOST_STEPS = 3  # that other verbs are asked about


def steps(answers, same):
    rows, totals = answers.rows("steps"), answers.totals("steps")
    for row in rows:
        same(f"steps: {row['name']}: roles = duration_ns", sum(row[key] for key in ROLES), row["duration_ns"])
        same(f"steps: {row['name']}: phases = host_duration_ns", sum(row[key] for key in PHASES),
             row["host_duration_ns"])
        if row["idle_causes"] is not None:
            same(f"steps: {row['name']}: causes = idle_ns", added(row["idle_causes"], "ns"), row["idle_ns"])
    same("steps: rows = its total", len(rows), totals["steps"])
    same("steps: outliers = its total", sum(row["outlier"] for row in rows), totals["outliers"])
    for key in (*MEANS, "launched"):
        same(f"steps: mean of {key} = its total", added(rows, key) / len(rows) if rows else None, totals[key])
    if rows:
        durations = sorted(row["duration_ns"] for row in rows)
        same("steps: shortest, median and longest duration = its totals",
             (durations[0], durations[(len(durations) - 1) // 2], durations[-1]),
             tuple(totals[f"duration_{which}_ns"] for which in ("min", "median", "max")))
    kept = answers.totals("steps --keep-tail-steps")
    same("steps --keep-tail-steps: steps = steps + dropped_steps", kept["steps"],
         totals["steps"] + totals["dropped_steps"])
    same("steps --keep-tail-steps: dropped_steps = none", kept["dropped_steps"], 0)
    same("steps --keep-tail-steps: the first rows = steps",
         [row["name"] for row in answers.rows("steps --keep-tail-steps")[:len(rows)]], [row["name"] for row in rows])


def summary(answers, same):
    rows, found = answers.rows("steps"), answers["summary"]
    same("summary: steps = those of steps", added(found["steps"], "steps"),
         sum(row["name"] != "[all]" for row in rows))
    for entry in found["steps"]:
        for key in MEANS:
            same(f"summary: {key} of steps = the total of steps", entry[key], answers.totals("steps")[key])
    for entry in found["slowest_step"]:
        # Of an inference engine, only the batches that occur most often are compared.
        batches = Counter((row["kind"], row["requests"]) for row in rows)
        alike = [row for row in rows if batches[row["kind"], row["requests"]] == max(batches.values())]
        if len({(row["kind"], row["requests"]) for row in alike}) > 1:
            continue  # which one is not said here
        # Several annotations can have one step's name.
        longest = max(alike, key=lambda row: row["duration_ns"])
        same("summary: the slowest step = the longest of steps",
             (entry["name"], entry["duration_ns"]), (longest["name"], longest["duration_ns"]))
        same("summary: median_ns of the slowest step = of steps", entry["median_ns"],
             sorted(row["duration_ns"] for row in alike)[(len(alike) - 1) // 2])


def single_steps(answers, same):
    """Verbs with --steps N have the time of the row N."""
    rows = [row for row in answers.rows("steps") if row["step"] is not None]
    if len({row["step"] for row in rows}) != len(rows):
        return
    for row in rows[:MOST_STEPS]:
        of = f"--steps {row['step']}"
        devices = answers.rows(f"gpu {of}")
        if devices:
            same(f"gpu {of}: idle_ns of all devices = of steps", added(devices, "idle_ns"), row["idle_ns"])
        for device in devices:
            same(f"gpu {of}: window_ns = duration_ns of steps", device["window_ns"], row["duration_ns"])
        if len(devices) != 1:
            continue  # steps count each instant once for all devices
        device = devices[0]
        same(f"gpu {of}: computation = kernel_ns of steps", device["computation_ns"], row["kernel_ns"])
        by_kernels = any(each["family"] == "collective" for each in answers.rows("kernels --group-by family"))
        if by_kernels or not device["communication_ns"]:  # else memcpys communicate, which are no kernels
            same(f"gpu {of}: (computation + exposed communication) / window = gpu_utilization of steps",
                 (device["computation_ns"] + device["exposed_communication_ns"]) / device["window_ns"],
                 row["gpu_utilization"])
        if not device["communication_ns"]:
            # With communication `steps` counts memcpys first, and communication on the host, too.
            same(f"gpu {of}: exposed memory = memcpy_ns + memset_ns of steps", device["exposed_memory_ns"],
                 row["memcpy_ns"] + row["memset_ns"])
            same(f"gpu {of}: busy = kernel_ns + memcpy_ns + memset_ns of steps", device["busy_ns"],
                 row["kernel_ns"] + row["memcpy_ns"] + row["memset_ns"])


def peaks(answers, same):
    """The peak of a step is the most that its part of the curve has: of GPUs, else of the CPU."""
    curve = [row for row in answers.rows("memory --view curve") if row["totals"] != "summed"]
    for row in answers.rows("steps"):
        inside = [point for point in curve if row["start_ns"] <= point["at_ns"] < row["start_ns"] + row["duration_ns"]]
        devices = [point["allocated_bytes"] for point in inside if point["device_name"] != "cpu"]
        host = [point["allocated_bytes"] for point in inside if point["device_name"] == "cpu"]
        same(f"steps: {row['name']}: peak_memory_bytes = the most of memory --view curve", row["peak_memory_bytes"],
             max(devices or host, default=None))


CHECKS = (steps, summary, single_steps, peaks)
