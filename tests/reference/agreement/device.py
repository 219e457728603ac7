"""Device work: kernels, gpu, and whatever else has device time. Streams run their work in order, or the union of it
counts; what `check` calls misplaced is in no window of `gpu`."""
from collections import Counter

from sums import added, chosen, covered_ns, device_count, device_time, grouped

KERNELS = ("count", "total_ns", "tensor_core_ns", "without_launch", "launch_delay_total_ns", "short_kernels")
GROUPINGS = ("name", "launch", "operator", "family", "label", "name,device", "name,stream", "family,stream")
# Rows of the first grouping, added up by the column, are those of the second one.
FINER = (("name,device", "name", "name"), ("name,stream", "name", "name"), ("launch", "name", "name"),
         ("name", "family", "family"), ("family,stream", "family", "family"), ("launch", "operator", "operator"))
EXACT = "ops --strict-totals"


def key_of(name):
    """What the row of `ops` is called: all steps are one."""
    return "ProfilerStep*" if name.startswith("ProfilerStep#") else name


def kernels(answers, same):
    totals = answers.totals("kernels")
    for grouping in GROUPINGS:
        command = f"kernels --group-by {grouping}"
        same(f"totals of {command} = of kernels", answers.totals(command), totals)
        for key in KERNELS:
            same(f"{command}: rows' {key} = its total", added(answers.rows(command), key), totals[key])
    for fine, coarse, column in FINER:
        same(f"kernels --group-by {fine}, added up by {column} = --group-by {coarse}",
             grouped(answers.rows(f"kernels --group-by {fine}"), (column,), KERNELS),
             grouped(answers.rows(f"kernels --group-by {coarse}"), (column,), KERNELS))
    events = answers.rows("kernels --per-event")
    same("kernels --per-event: rows + without_launch = count", len(events) + totals["without_launch"], totals["count"])
    same("kernels --per-event: launch_delay_ns = launch_delay_total_ns", added(events, "launch_delay_ns"),
         totals["launch_delay_total_ns"])
    counts = Counter(row["name"] for row in events)
    times = grouped(events, ("name",), ("duration_ns",))
    for row in answers.rows("kernels"):
        if not row["without_launch"]:
            same(f"kernels --per-event: {row['name']} = its row of kernels",
                 (counts[row["name"]], times[row["name"],]["duration_ns"]), (row["count"], row["total_ns"]))


def device_work(answers, same):
    """One time, and one count, of all kernels, memcpys and memsets."""
    totals = answers.totals("kernels")
    time, count = device_time(totals), device_count(totals)
    for command in ("modules", "lines", "lines --all-code", "model --by operator"):
        same(f"{command}: device_time_total_ns = kernels + memcpys + memsets",
             answers.totals(command)["device_time_total_ns"], time)
    same(f"{EXACT}: self_device_time_total_ns = kernels + memcpys + memsets",
         answers.totals(EXACT)["self_device_time_total_ns"], time)
    same("flamegraph: device time = kernels + memcpys + memsets",
         sum(weight for _, weight in answers.stacks("flamegraph --weight self_device_time_total")), time)
    for command in ("kernels", "gpu", "steps", "modules", "lines", "model --by operator", "check", "ops", EXACT):
        links = answers[command]["links"]
        same(f"{command}: linked + unlinked device time = kernels + memcpys + memsets",
             links["linked_device_time_ns"] + links["unlinked_device_time_ns"], time)
    same("summary: device_activities = kernels + memcpys + memsets",
         added(answers["summary"]["run"], "device_activities"), count)
    if not answers.found("times_of_zero"):  # it counts host ranges, too
        same("gpu: activities + misplaced_device_work of check = kernels + memcpys + memsets",
             added(answers.rows("gpu"), "activities") + answers.found("misplaced_device_work"), count)


def unattributed(answers, same):
    """What no host range owns, and what no operator does: the second has what annotations and calls own, too."""
    unlinked = answers[EXACT]["links"]["unlinked_device_time_ns"]
    rows = answers.rows(EXACT)
    same(f"{EXACT}: [unattributed] = unlinked_device_time_ns",
         added([row for row in rows if row["key"] == "[unattributed]"], "self_device_time_total_ns"), unlinked)
    same("flamegraph: device time in [unattributed] = unlinked_device_time_ns",
         sum(weight for frames, weight in answers.stacks("flamegraph --weight self_device_time_total")
             if frames.split(";")[0] == "[unattributed]"), unlinked)
    # In old files a step is an operator, which --kind counts with the annotations.
    kinds = answers.rows(f"{EXACT} --kind operators") + [
        row for row in answers.rows(f"{EXACT} --kind annotations") if not row["is_user_annotation"]]
    operators = {row["key"] for row in kinds if row["device_type"] == "CPU"}
    # What an annotation launches is its operator's, if it has one around it.
    same("flops: [unattributed] = device time of stacks without an operator",
         added([row for row in answers.rows("model --by operator") if row["name"] == "[unattributed]"], "device_time_total_ns"),
         sum(weight for frames, weight in answers.stacks("flamegraph --weight self_device_time_total")
             if not any(key_of(frame) in operators for frame in frames.split(";"))))
    totals = answers.totals("kernels")
    if totals["memcpys"] + totals["memsets"]:
        return
    host = grouped([row for row in rows if row["device_type"] == "CPU"], ("key",), ("self_device_time_total_ns",))
    for row in answers.rows("kernels --group-by operator"):
        name = key_of(row["operator"])
        if name != "[unattributed]":
            same(f"kernels --group-by operator: {name} = its row of {EXACT}", row["total_ns"],
                 host[name,]["self_device_time_total_ns"])


def gpu(answers, same):
    for command in ("gpu", "gpu --group-by stream"):
        rows = answers.rows(command)
        for row in rows:
            of = f"{command}: {row['device']} {row['stream_name'] or ''}"
            same(f"{of}: computation + exposed communication + exposed memory = busy", row["computation_ns"]
                 + row["exposed_communication_ns"] + row["exposed_memory_ns"], row["busy_ns"])
            same(f"{of}: overlap + exposed communication = communication",
                 row["overlap_ns"] + row["exposed_communication_ns"], row["communication_ns"])
            same(f"{of}: busy + idle = window", row["busy_ns"] + row["idle_ns"], row["window_ns"])
            same(f"{of}: host wait + kernel wait + other = idle", row["idle_host_wait_ns"] + row["idle_kernel_wait_ns"]
                 + row["idle_other_ns"], row["idle_ns"])
        for key in ("window_ns", "busy_ns", "idle_ns"):
            same(f"{command}: rows' {key} = its total", added(rows, key), answers.totals(command)[key])
    counts = ("activities", "short_kernels", "copied_bytes")
    by_stream = answers.rows("gpu --group-by stream")
    same("gpu --group-by stream, added up by device = gpu", grouped(by_stream, ("device",), counts),
         grouped(answers.rows("gpu"), ("device",), counts))
    windows = {row["device"]: row["window_ns"] for row in answers.rows("gpu")}
    same("gpu --group-by stream: windows = those of gpu", [row["window_ns"] for row in by_stream],
         [windows[row["device"]] for row in by_stream])


def kernel_time(answers, same):
    """`gpu` counts each instant once, `kernels` each kernel."""
    if answers.totals("kernels")["without_launch"] or answers.has_wrong_times():
        return  # kernels --per-event lacks some, or gpu does
    events = {}
    for row in answers.rows("kernels --per-event"):
        time = row["start_ns"], row["start_ns"] + row["duration_ns"]
        events.setdefault((row["device"], row["stream"]), []).append(time)
    for row in answers.rows("gpu"):
        ranges = [one for (device, _), some in events.items() if device == row["device"] for one in some]
        same(f"gpu: {row['device']}: computation + exposed communication = time covered by kernels",
             row["computation_ns"] + row["exposed_communication_ns"], covered_ns(ranges))
    times = {key: Counter() for key in ("communication_ns", "computation_ns")}
    for row in answers.rows("kernels --group-by family,stream"):
        key = "communication_ns" if row["family"] == "collective" else "computation_ns"
        times[key][row["device"], row["stream"]] += row["total_ns"]
    for row in answers.rows("gpu --group-by stream"):
        stream = row["device"], row["stream"]
        ranges = events.get(stream, [])
        same(f"gpu --group-by stream: {stream}: computation + exposed communication = time covered by kernels",
             row["computation_ns"] + row["exposed_communication_ns"], covered_ns(ranges))
        if covered_ns(ranges) == sum(end - start for start, end in ranges):
            for key, time in times.items():
                same(f"gpu --group-by stream: {stream}: {key} = kernels of its families", row[key], time[stream])


def summary(answers, same):
    found = answers["summary"]
    devices = {(row["rank"], row["device"]): row for row in answers.rows("gpu")}
    for member in ("gpu", "communication"):
        for entry in found[member]:
            entry = {key: value for key, value in entry.items() if key != "trace"}
            row = dict(devices[entry["rank"], entry["device"]])
            row["idle_causes"] = [chosen(cause, ("cause", "ns", "share")) for cause in row["idle_causes"]]
            same(f"summary: {member}, {entry['device']} = gpu", entry, chosen(row, entry))
    same("summary: devices = those of gpu", [entry["device"] for entry in found["gpu"]],
         [row["device"] for row in answers.rows("gpu")])
    same("summary: devices that communicated = those of gpu", [entry["device"] for entry in found["communication"]],
         [row["device"] for row in answers.rows("gpu") if row["communication_ns"]])
    keys = ("name", "short_name", "family", "count", "total_ns", "mean_ns")
    same("summary: kernels = the first five of kernels", [chosen(entry, keys) for entry in found["kernels"]],
         [chosen(row, keys) for row in answers.rows("kernels")[:5]])
    same("summary: checks = errors and warnings of check",
         [(entry["id"], entry["count"]) for entry in found["checks"]],
         [(row["id"], row["count"]) for row in answers.rows("check") if row["severity"] != "info"])


CHECKS = (kernels, device_work, unattributed, gpu, kernel_time, summary)
