"""What the Python package says of a trace: its tables, and its events added up."""
import json

from sums import added, covered_ns, device_count

try:
    import tbtrace
except ImportError:
    tbtrace = None

WORK = ("kernel", "gpu_memcpy", "gpu_memset")
EVENTS = ("kind", "start_ns", "duration_ns", "self_time_ns", "operator", "step", "launch", "process", "thread")
# Methods, and the commands that print their tables.
TABLES = {
    "ops --strict-totals": lambda trace: trace.operators(figures="exact"),
    "ops --strict-totals --group-by-input-shape": lambda trace: trace.operators("shape", figures="exact"),
    "ops": lambda trace: trace.operators(),
    "kernels": lambda trace: trace.kernels(),
    "kernels --group-by launch": lambda trace: trace.kernels("launch"),
    "kernels --group-by name,stream": lambda trace: trace.kernels(("name", "stream")),
    "gpu": lambda trace: trace.gpu(),
    "gpu --group-by stream": lambda trace: trace.gpu("stream"),
    "steps": lambda trace: trace.steps(),
    "modules": lambda trace: trace.modules(),
    "modules --group-by layer": lambda trace: trace.modules("layer"),
    "lines": lambda trace: trace.lines(),
    "lines --all-code": lambda trace: trace.lines(libraries=True),
    "model --by operator": lambda trace: trace.flops(),
    "memory": lambda trace: trace.memory(),
    "memory --view alive": lambda trace: trace.memory("alive"),
    "memory --view curve": lambda trace: trace.memory("curve"),
    "memory --view allocations": lambda trace: trace.memory("allocations"),
    "check": lambda trace: trace.checks(),
}
# The package's names for members of JSON.
LINKS = {"linked_device_time_ns": "linked_ns", "unlinked_device_time_ns": "unlinked_ns"}
WEIGHTS = ("self_cpu_time_total", "self_device_time_total", "cpu_memory")


def tables(answers, same):
    trace = tbtrace.read(answers.path)
    for command, table_of in TABLES.items():
        table, printed = table_of(trace), answers[command]
        if command == "check":
            same("Python: rows of check = of JSON", found(table.to_dicts()), found(printed["rows"]))
            continue
        same(f"Python: rows of {command} = of JSON", table.to_dicts(), printed["rows"])
        same(f"Python: totals of {command} = of JSON", dict(table.totals), printed["totals"])
        same(f"Python: to_json() of {command}: rows = of JSON", json.loads(table.to_json())["rows"], printed["rows"])
    for part, entries in trace.summary().to_dict().items():
        if part != "issues":
            same(f"Python: {part} of summary = JSON", entries, answers["summary"][part])
    for weight in WEIGHTS:
        same(f"Python: total of the flame graph with {weight} = the command line's", trace.flame_graph(weight).total,
             sum(own for _, own in answers.stacks(f"flamegraph --weight {weight}")))
    links = {LINKS.get(key, key): value for key, value in answers["kernels"]["links"].items()}
    same("Python: links = JSON", dict(trace.links), links)


def found(rows):
    """Without the damage, which has an offset: how much of it is met depends on what is read."""
    return [row for row in rows if row["example_offset"] is None]


def events(answers, same):
    """Figures of the verbs, from single events."""
    trace = tbtrace.read(answers.path)
    rows = trace.events(EVENTS).to_dicts()
    work = [row for row in rows if row["kind"] in WORK]
    same("Python: kernels, memcpys and memsets among events = kernels", len(work),
         device_count(answers.totals("kernels")))
    same("Python: their durations = device time of lines", added(work, "duration_ns"),
         answers.totals("lines")["device_time_total_ns"])
    same("Python: self times of events = CPU time of lines, with waits", added(rows, "self_time_ns"),
         answers.totals("lines")["cpu_time_total_ns"] + answers.totals("lines")["waiting_cpu_time_ns"])
    same("Python: self times of events in operators = CPU time of flops",
         added([row for row in rows if row["operator"] is not None], "self_time_ns"),
         answers.totals("model --by operator")["cpu_time_total_ns"])
    same("summary: window_ns = the recording", added(answers["summary"]["run"], "window_ns"), trace.window_ns)
    # Ranges can stick out of the recording: threads are busy and idle in the time of all that have a time.
    if not answers.found("times_of_zero"):
        same("ops --strict-totals: window_ns = the recording with all events",
             answers["ops --strict-totals"]["window_ns"],
             max([trace.window_ns, *(row["start_ns"] + row["duration_ns"] for row in rows)])
             - min([0, *(row["start_ns"] for row in rows)]))
    if answers.has_wrong_times():
        return
    busy = {}
    for row in work:
        busy.setdefault(row["process"], []).append((row["start_ns"], row["start_ns"] + row["duration_ns"]))
    if len(busy) == len(answers.rows("gpu")):  # else streams are processes of their own
        same("Python: time covered by kernels, memcpys and memsets = busy_ns of gpu",
             sorted(covered_ns(ranges) for ranges in busy.values()),
             sorted(row["busy_ns"] for row in answers.rows("gpu")))
    single_steps(answers, same, rows, work)


def single_steps(answers, same, rows, work):
    """`gpu --steps N` has the work that runs in the step, `kernels --steps N` what starts in it, and `launched` what
    the step launched."""
    steps = [row for row in answers.rows("steps") if row["step"] is not None]
    numbers = [row["step"] for row in steps]
    if len(set(numbers)) != len(steps):
        return
    for row in steps[:3]:
        first, last = row["start_ns"], row["start_ns"] + row["duration_ns"]
        before = [event for event in work if event["start_ns"] < first < event["start_ns"] + event["duration_ns"]]
        inside = [event for event in work if first <= event["start_ns"] < last]
        of = f"--steps {row['step']}"
        same(f"kernels {of}: kernels + memcpys + memsets = work that starts in the step",
             device_count(answers.totals(f"kernels {of}")), len(inside))
        same(f"gpu {of}: activities = work that starts in the step + work that began before",
             added(answers.rows(f"gpu {of}"), "activities"), len(inside) + len(before))


CHECKS = (tables, events) if tbtrace else ()
