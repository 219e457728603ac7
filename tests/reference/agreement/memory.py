"""Memory: the views of one curve, and the summary."""
from sums import added, chosen

HOLDER = ("operator", "module", "source_line", "category", "category_estimated", "bytes", "allocations")
SUMMARY = ("device", "device_name", "peak_bytes", "peak_reserved_bytes", "growth_per_step_bytes")


def memory(answers, same):
    peaks = answers.rows("memory")
    same("memory: peak_bytes of rows = its total", added(peaks, "peak_bytes"), answers.totals("memory")["peak_bytes"])
    same("memory: out_of_memory of rows = its total", added(peaks, "out_of_memory"),
         answers.totals("memory")["out_of_memory"])
    same("memory --view allocations: rows = allocations of memory", len(answers.rows("memory --view allocations")),
         answers.totals("memory")["allocations"])
    for view in ("alive", "curve", "allocations"):
        same(f"memory --view {view}: totals = those of memory", answers.totals(f"memory --view {view}"),
             answers.totals("memory"))
    for peak in peaks:
        def of(view, peak=peak):
            return [row for row in answers.rows(f"memory --view {view}")
                    if all(row[key] == peak[key] for key in ("rank", "process", "device_name"))]

        name = f"{peak['device_name']} of process {peak['process']}"
        same(f"memory --view alive: {name} = alive of memory", [chosen(row, HOLDER) for row in of("alive")],
             peak["alive"])
        same(f"memory: {name}: bytes of alive = peak_bytes", added(peak["alive"], "bytes"), peak["peak_bytes"] or 0)
        curve = of("curve")
        same(f"memory --view curve: {name}: the most = peak_bytes",
             max((row["allocated_bytes"] for row in curve), default=None), peak["peak_bytes"])
        same(f"memory --view curve: {name}: the first time of the most = peak_at_ns",
             min((row["at_ns"] for row in curve if row["allocated_bytes"] == peak["peak_bytes"]), default=None),
             peak["peak_at_ns"])
        same(f"memory --view curve: {name}: most reserved = peak_reserved_bytes",
             max((row["reserved_bytes"] for row in curve if row["reserved_bytes"] is not None), default=None),
             peak["peak_reserved_bytes"])
    # The summary begins with the device that has the largest peak.
    same("summary: memory = memory", [chosen(entry, SUMMARY) for entry in answers["summary"]["memory"]],
         [chosen(row, SUMMARY) for row in sorted(peaks, key=lambda row: -(row["peak_bytes"] or 0))])


CHECKS = (memory,)
