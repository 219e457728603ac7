"""Links, costs, starts and stops, other profilers, log directories: parts that judge.py judges."""
import json
import re
import subprocess

from torch_parts import MODELS
from traces import Trace, gaps_us, median

TORCHS_FAULT = "torch's own profiler"


def doctor(part):
    done = subprocess.run([part.runner.tbtrace, "--version", "--format", "json"], capture_output=True, timeout=60)
    tracing = json.loads(done.stdout)["device_tracing"]
    part.measured["doctor"] = tracing
    part.check(tracing["available"], f"GPUs cannot be recorded: {tracing['problem']}")
    part.check(tracing["devices"], "no devices")
    part.figure(f"{', '.join(tracing['devices'])}, driver for CUDA {tracing['driver']}, CUPTI {tracing['cupti']} "
                f"{tracing['cupti_path']}")


def links(part):
    rounds = 3
    part.run("links", rounds, *MODELS)
    calls = different = unlinked = 0
    for model in MODELS:
        for number in range(rounds):
            trace = Trace(part.folder / f"links_{model}_{number}.json")
            check = trace.members.get("tbtrace_launch_check", {"calls": 0, "different": 0})
            part.check(check["calls"] >= len(trace.kernels) > 0,
                       f"{model}: {check['calls']} calls were compared, of {len(trace.kernels)} kernels")
            part.check(check["different"] == 0, f"{model}: {check['different']} of {check['calls']} calls differ")
            calls, different = calls + check["calls"], different + check["different"]
            unlinked += sum(1 for row in trace.kernels if not trace.operator(row))
    part.check(unlinked == 0, f"{unlinked} kernels without an operator")
    part.figure(f"{calls} calls compared, {different} different, {unlinked} kernels without an operator")


def launch_cost(part):
    got = part.run("launch_cost", 5, 200_000, timeout=240)
    part.check(got["kernels"] == got["launches"], f"{got['kernels']:.0f} of {got['launches']:.0f} launches recorded")
    ours, torchs = got["ours_cpu_cuda_ns"], got["torch_cpu_cuda_ns"]
    part.check(ours < torchs, f"a launch takes {ours:.0f} ns with ours and {torchs:.0f} ns with torch's profiler")
    part.figure(f"{got['off_ns']:.0f} ns, ours {ours:.0f}, torch's {torchs:.0f}; ours adds "
                f"{100 * (ours - got['off_ns']) / max(torchs - got['off_ns'], 1e-9):.0f} % of what torch's adds")
    part.note(f"before anything used CUPTI: {got['untouched_ns']:.0f} ns")
    for name in got:
        if name.endswith("_ns") and name != "untouched_ns":
            who = name[:-3]
            part.note(f"{who:<20} {got[name]:7.0f} ns a launch, {got[name] - got['off_ns']:+7.0f}; then "
                      f"{got.get(who + '_stop_ms', 0):8.1f} ms until stopped")


def step_time(part):
    got = part.run("step_time", 9, timeout=180)
    off, ours, torchs = got["off_step_ms"], got["ours_step_ms"], got["torch_step_ms"]
    part.check(ours <= 1.02 * torchs, f"a step takes {ours:.2f} ms with ours and {torchs:.2f} ms with torch's profiler")
    part.figure(f"off {off:.2f} ms, ours {ours:.2f} ({ours / off:.3f} of off), torch's {torchs:.2f} "
                f"({torchs / off:.3f} of off)")
    for who in ("ours", "torch"):
        part.note(f"{who:<6} start {got[who + '_start_ms']:.1f} ms, stop {got[who + '_stop_ms']:.1f} ms, export "
                  f"{got[who + '_export_ms']:.1f} ms, for five steps")


def cycles(part):
    rounds = 20
    got = part.run("cycles", rounds)
    counts, least, early, unlaunched = [], [], 0, 0
    all_gaps = []
    for number in range(rounds):
        trace = Trace(part.folder / f"cycles_{number}.json")
        gaps = gaps_us(trace)
        counts.append(len(trace.kernels))
        unlaunched += len(trace.kernels) - len(gaps)
        early += sum(1 for gap in gaps if gap < 0)
        least.append(min(gaps, default=float("nan")))
        all_gaps += gaps
        part.check(not trace.problems(), f"cycle {number} says {trace.problems()}")
    part.check(counts[0] > 0 and len(set(counts)) == 1, f"kernels by cycle: {counts}")
    part.check(unlaunched == 0, f"{unlaunched} kernels without their launch")
    part.check(early == 0, f"{early} kernels begin before their launch, at most {-min(all_gaps, default=0):.3f} us")
    part.figure(f"{rounds} cycles of {counts[0]} kernels; from a launch to its kernel at least "
                f"{min(all_gaps, default=0):.3f} us, in the median {median(all_gaps):.3f} us")
    part.note(f"least gap of each cycle: {', '.join(f'{gap:.2f}' for gap in sorted(least))} us")
    part.note(f"start {got['first_start_ms']:.0f} ms for the first, {got['start_ms']:.2f} ms in the median; stop "
              f"{got['stop_ms']:.2f} ms")


def torch_first(part):
    got = part.run("torch_first", warns=True)
    launches = got["launches"]
    part.check(len(got["warnings"]) == 1 and TORCHS_FAULT in "".join(got["warnings"]), f"warnings: {got['warnings']}")
    trace = Trace(part.folder / "torch_first.json")
    part.check(TORCHS_FAULT in trace.members.get("tbtrace_device_tracing", ""), f"the file says {trace.problems()}")
    part.check(len(trace.operators) >= launches, f"{len(trace.operators)} operators of {launches} launches")
    torchs = Trace(part.folder / "torch_first_torch.json")
    part.check(len(torchs.kernels) >= 0.9 * 2 * launches,
               f"torch's profiler has {len(torchs.kernels)} of {2 * launches} kernels")
    part.figure(f"refused, {len(trace.operators)} operators; torch's has {len(torchs.kernels)} of {2 * launches}")


def ours_first(part):
    got = part.run("ours_first", warns=True)
    launches = got["launches"]
    trace = Trace(part.folder / "ours_first.json")
    missing = 3 * launches - len(trace.kernels)
    part.check(missing == 0 or trace.problems(), f"{missing} of {3 * launches} kernels are missing; nothing says so")
    part.check(len(trace.operators) >= 3 * launches, f"{len(trace.operators)} operators of {3 * launches} launches")
    part.figure(f"{missing} of {3 * launches} kernels missing, the file says {trace.problems() or 'nothing'}")
    after = Trace(part.folder / "ours_first_after.json")
    torchs = Trace(part.folder / "ours_first_torch.json")
    part.check(len(after.kernels) == launches and not after.problems(),
               f"ours after that has {len(after.kernels)} of {launches} kernels and says {after.problems()}")
    part.note(f"a recording of ours after that has {len(after.kernels)} of {launches} kernels and says "
              f"{after.problems() or 'nothing'}; torch's has {len(torchs.kernels)} of {launches}")
    part.note(f"stop {got['stop_ms']:.0f} ms, export {got['export_ms']:.0f} ms; warnings {got['warnings']}")


def torch_before(part):
    got = part.run("torch_before")
    launches = got["launches"]
    counts = []
    for window in range(3):
        trace = Trace(part.folder / f"torch_before_{window}.json")
        gaps = gaps_us(trace)
        counts.append(len(trace.kernels))
        part.check(len(gaps) == launches, f"window {window}: {counts[-1]} kernels, {len(gaps)} with their launch, of "
                                          f"{launches}; the file says {trace.problems() or 'nothing'}")
        part.check(not gaps or 0 <= min(gaps) and max(gaps) < 1e6,
                   f"window {window}: {min(gaps, default=0):.3f} to {max(gaps, default=0):.3f} us until kernels")
    part.figure(f"{counts} of {launches} kernels")


def logs(part):
    part.run("logs")
    files = sorted((part.folder / "logs").glob("*.pt.trace.json*"))
    if not part.check(len(files) == 1, f"files {[path.name for path in files]}"):
        return
    done = subprocess.run(
        [part.runner.tbtrace, "ops", "--sort-by", "self_cuda_time_total", "--row-limit", "15", str(files[0])],
        capture_output=True, timeout=60)
    table = done.stdout.decode(errors="replace")
    (part.folder / "ops.txt").write_text(table)
    part.check(done.returncode == 0, f"exit {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")
    for column in ("Self CUDA", "Self CUDA %", "CUDA total", "CUDA time avg"):
        part.check(column in table, f"no column '{column}'")
    total = re.search(r"Self CUDA time total: ([0-9.]+)(us|ms|s)", table)
    part.check(total and float(total[1]) > 0, f"no time on the device: {table[-200:]}")
    part.figure(f"{files[0].name}; {total[0] if total else table[-100:]}")
