"""What the host did: ops, modules, lines, flops, flame graphs."""
from sums import added, chosen, grouped

EXACT = "ops --strict-totals"
FIGURES = ("count", "self_cpu_time_total_ns", "self_device_time_total_ns", "self_cpu_memory_usage_bytes",
           "self_device_memory_usage_bytes", "flops")
PLACES = ("modules", "modules --group-by layer", "modules --group-by type", "lines", "lines --all-code")
# Of modules and lines: a total, and the column that adds up to it.
PARTS = {"device_time_total_ns": "self_device_time_ns", "cpu_time_total_ns": "self_cpu_time_ns",
         "cpu_memory_bytes": "self_cpu_memory_bytes", "device_memory_bytes": "self_device_memory_bytes"}
NOBODY = ("[unattributed]", "[communication]")
WEIGHTS = ("self_cpu_time_total", "self_device_time_total", "cpu_memory")


def busy_ns(answers):
    """Of all host threads."""
    return added(answers[EXACT]["threads"], "self_cpu_time_total_ns")


def operators(answers, same):
    rows, totals, threads = answers.rows(EXACT), answers.totals(EXACT), answers[EXACT]["threads"]
    same(f"{EXACT}: self CPU time of rows = its total", added(rows, "self_cpu_time_total_ns"),
         totals["self_cpu_time_total_ns"])
    on_device = [row for row in rows if row["device_type"] != "CPU"]
    on_host = [row for row in rows if row["device_type"] == "CPU"]
    for name, some in (("device rows", on_device), ("host rows and [unattributed]", on_host)):
        same(f"{EXACT}: self device time of {name} = its total", added(some, "self_device_time_total_ns"),
             totals["self_device_time_total_ns"])
    same(f"{EXACT}: [idle] = idle time of threads",
         added([row for row in rows if row["key"] == "[idle]"], "self_cpu_time_total_ns"), added(threads, "idle_ns"))
    same(f"{EXACT}: threads' busy and idle time = self CPU time", busy_ns(answers) + added(threads, "idle_ns"),
         totals["self_cpu_time_total_ns"])
    for thread in threads:
        same(f"{EXACT}: {thread['name']}: busy + idle = window", thread["self_cpu_time_total_ns"] + thread["idle_ns"],
             answers[EXACT]["window_ns"])
    names = ("key", "device_type", "is_user_annotation")
    for by in ("--group-by-input-shape", "--group-by-overload-name", "--group-by-stack-n 5"):
        same(f"{EXACT} {by}: totals = those without", answers.totals(f"{EXACT} {by}"), totals)
        same(f"{EXACT} {by}: rows added up by name = those without",
             grouped(answers.rows(f"{EXACT} {by}"), names, FIGURES), grouped(rows, names, FIGURES))


def places(answers, same):
    """Modules and lines divide one total."""
    whole = answers.totals("lines")
    for command in PLACES:
        rows, totals = answers.rows(command), answers.totals(command)
        for key in whole:
            same(f"{command}: {key} = the total of lines", totals[key], whole[key])
        for total, part in PARTS.items() if rows else ():
            # Memory that was not recorded is unknown in all rows.
            same(f"{command}: {part} is known where {total} is", {row[part] is None for row in rows},
                 {totals[total] is None})
            same(f"{command}: {part} of rows = {total}", added(rows, part), totals[total] or 0)
        if rows and totals.get("parameters") is not None:
            same(f"{command}: self_parameters of rows = parameters", added(rows, "self_parameters"),
                 totals["parameters"])
    same(f"lines: cpu_time_total_ns + waiting_cpu_time_ns = busy threads of {EXACT}",
         whole["cpu_time_total_ns"] + whole["waiting_cpu_time_ns"], busy_ns(answers))
    for key, column in (("cpu_memory_bytes", "self_cpu_memory_usage_bytes"),
                        ("device_memory_bytes", "self_device_memory_usage_bytes")):
        same(f"lines: {key} = {column} of {EXACT}", whole[key] or 0, added(answers.rows(EXACT), column))
    work = answers.totals("model --by operator")
    for key in ("macs", "flops"):
        # Without sizes of operators nothing is known.
        same(f"flops: {key} = the total of lines", work[key] or 0, whole[key] or 0)
    same("flops: backward_macs + recomputed_macs = backward_macs of lines",
         (work["backward_macs"] or 0) + (work["recomputed_macs"] or 0), whole["backward_macs"] or 0)


def summary(answers, same):
    layers = {row["path"]: row for row in answers.rows("modules --group-by layer") if row["path"] not in NOBODY}
    own = "self_device_time_ns" if answers.totals("modules")["device_time_total_ns"] else "self_cpu_time_ns"
    largest = sorted((row[own] for row in layers.values() if row[own]), reverse=True)[:5]
    same(f"summary: {own} of modules = the five largest of modules --group-by layer",
         [entry[own] for entry in answers["summary"]["modules"]], largest)
    for entry in answers["summary"]["modules"]:
        keys = [key for key in entry if key not in ("trace", "rank")]
        same(f"summary: {entry['path']} = its row of modules --group-by layer", chosen(entry, keys),
             chosen(layers[entry["path"]], keys))
    rows = [row for row in answers.rows(EXACT) if row["device_type"] == "CPU"]
    keys = ("key", *FIGURES[:3])
    for entry in answers["summary"]["operators"]:
        same(f"summary: {entry['key']} = its row of {EXACT}",
             chosen(entry, keys) in [chosen(row, keys) for row in rows], True)


def tree(answers, same):
    """A module is itself and the modules inside it."""
    rows = [row for row in answers.rows("modules") if row["path"] not in NOBODY]
    for at, row in enumerate(rows):
        inside = []
        for other in rows[at + 1:]:
            if other["depth"] <= row["depth"]:
                break
            if other["depth"] == row["depth"] + 1:
                inside.append(other)
        for total, part in PARTS.items():
            same(f"modules: {row['path']}: {part} + {total} of modules inside = {total}",
                 (row[part] or 0) + added(inside, total), row[total] or 0)
        same(f"modules: {row['path']}: self_parameters + parameters of modules inside = parameters",
             (row["self_parameters"] or 0) + added(inside, "parameters"), row["parameters"] or 0)


def flops(answers, same):
    rows, totals = answers.rows("model --by operator"), answers.totals("model --by operator")
    keys = ("count", "macs", "flops", "torch_flops", "device_time_total_ns", "cpu_time_total_ns")
    for key in keys:
        same(f"flops: {key} of rows = its total", added(rows, key), totals[key] or 0)
    for state in ("unknown_sizes", "no_rule", "inside"):
        some = [row for row in rows if row["state"] == state]
        for name, key in (("count", "count"), ("device_time_ns", "device_time_total_ns"),
                          ("cpu_time_ns", "cpu_time_total_ns")):
            if f"{state}_{name}" in totals:
                same(f"flops: rows with {state} = {state}_{name}", added(some, key), totals[f"{state}_{name}"])
    parts = [totals[f"{part}_macs"] for part in ("forward", "backward", "recomputed")]
    same("flops: all sums are known or none", len({total is None for total in (*parts, totals["macs"], totals["flops"])}), 1)
    same("flops: forward + backward + recomputed MACs = macs", sum(part or 0 for part in parts), totals["macs"] or 0)
    shapes = "model --by operator --group-by-input-shape"
    same(f"{shapes}: totals = those of flops", answers.totals(shapes), totals)
    names = ("name", "state", "runs_on", "precision")
    same(f"{shapes}: rows added up = flops", grouped(answers.rows(shapes), names, keys), grouped(rows, names, keys))


def flame_graphs(answers, same):
    weights = {weight: answers.stacks(f"flamegraph --weight {weight}") for weight in WEIGHTS}
    sums = {weight: sum(own for _, own in stacks) for weight, stacks in weights.items()}
    same(f"flamegraph: CPU time = busy threads of {EXACT}", sums["self_cpu_time_total"], busy_ns(answers))
    for option in ("--all-frames", "--merge-recursion", "--by-thread"):
        for weight in WEIGHTS:
            same(f"flamegraph --weight {weight} {option}: sum = the one without",
                 sum(own for _, own in answers.stacks(f"flamegraph --weight {weight} {option}")), sums[weight])
    allocated = [row for row in answers.rows("memory --view allocations")
                 if row["allocated_at_ns"] is not None and row["device_name"] == "cpu"]
    # Memory that no operator allocated is in the flame graph if a Python function or an annotation did.
    others = added([row for row in allocated if row["operator"] == "[unattributed]"], "bytes")
    outside = added(allocated, "bytes") - sums["cpu_memory"]
    same("flamegraph: allocated memory that it lacks is [unattributed] in memory --view allocations",
         0 <= outside <= others, True)


CHECKS = (operators, places, summary, tree, flops, flame_graphs)
