"""What options of a recording make of it: parts that judge.py judges."""
import shutil
import subprocess

from traces import Trace, gaps_us


def options(part):
    got = part.run("options", 500)
    launches = got["launches"]
    waits = 0
    for way in got["ways"]:
        for number in range(2):
            trace = Trace(part.folder / f"{way}_{number}.json")
            linked = len(gaps_us(trace))
            part.check(len(trace.kernels) == linked == launches,
                       f"{way}, recording {number}: {len(trace.kernels)} kernels, {linked} with their launch")
            part.check(not trace.problems(), f"{way}, recording {number} says {trace.problems()}")
            waits += len(trace.waits) if way == "sync_events" else 0
    part.check(waits > 0, "no synchronization was recorded with enable_cuda_sync_events")
    part.figure(f"{launches:.0f} kernels with each of {', '.join(got['ways'])}")
    part.note(f"a launch that nothing records: {got['untouched_ns']:.0f} ns before any recording, "
              f"{got['attached_ns']:.0f} ns after recordings, {got['detached_ns']:.0f} ns after detach_at_end")


def unfinished(part):
    got = part.run("unfinished", 100)
    trace = Trace(part.folder / "unfinished.json")
    products = {row["args"].get("External id") for row in trace.kernels if trace.operator_name(row) == "aten::mm"}
    part.check(len(products) == got["products"], f"{len(products)} of {got['products']:.0f} products have a kernel")
    part.check(not trace.problems(), f"the file says {trace.problems()}")
    part.check(got["stop_ms"] < got["wait_ms"], f"the end of the window took {got['stop_ms']:.1f} ms, and the GPU was "
                                                f"done {got['wait_ms']:.1f} ms later")
    part.figure(f"{len(products)} products; the window ended in {got['stop_ms']:.1f} ms, {got['wait_ms']:.1f} ms before "
                f"the GPU was done")


def journal(part):
    shutil.rmtree(part.folder / "journal", ignore_errors=True)
    got = part.run("journal", 2000)
    recovered = subprocess.run([part.runner.tbtrace, "recover", part.folder / "journal", "-o", part.folder / "left",
                                "--remove"], capture_output=True, text=True)
    if not part.check(recovered.returncode == 0, f"tbtrace recover: {recovered.stderr[:400]}"):
        return
    files = list((part.folder / "left").glob("*.pt.trace.json"))
    if not part.check(len(files) == 1, f"{len(files)} traces were recovered, not 1"):
        return
    trace = Trace(files[0])
    linked = len(gaps_us(trace))
    part.check(len(trace.kernels) == linked == got["launches"],
               f"{len(trace.kernels)} kernels, {linked} with their launch, of {got['launches']:.0f} launches")
    part.check("tbtrace_recovered" in trace.members, "the trace does not say that it was recovered")
    part.figure(f"{len(trace.kernels)} kernels of a process that ended without notice")
