#!/usr/bin/env python3
"""Runs tbtrace on traces that it once read wrongly, and compares what it says with what is right.

    check_cases.py --tbtrace PATH CASES-FOLDER [NAME...]

A case is a folder with a README.md, which has the command and what it should print. Each function below has the name of
its folder. Cases of the same kind with inputs of our own are in tests/golden/. The last line is 'N passed, N failed'.
Python 3, nothing besides.
"""
import argparse
import base64
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# Folders that have no function here yet.
OPEN = {
    "mangled_name_of_5000_characters",
}
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


class Output:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def text(self):
        return self.out + self.err

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def rows(self):
        return self.json["rows"]


class Program:
    """The program, in the folder of a case."""

    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def __call__(self, *arguments):
        done = subprocess.run([self.path, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=120,
                              stdin=subprocess.DEVNULL)
        return Output(done.returncode, done.stdout, done.stderr)

    def rows(self, *arguments):
        return self(*arguments, "--format", "json").rows

    def only_row(self, *arguments):
        rows = self.rows(*arguments)
        check(len(rows) == 1, "one row", rows)
        return rows[0]

    def summary(self, *arguments):
        return self("summary", *arguments, "--format", "json").json

    def findings(self, *arguments):
        return {finding["id"] for finding in self.summary(*arguments)["findings"]}


def check(holds, what, got):
    if not holds:
        raise AssertionError(f"expected {what}; got {got}")


def check_equal(got, expected, what):
    check(got == expected, f"{what} {expected!r}", repr(got))


def check_has(text, *parts):
    for part in parts:
        check(part in text, f"a text with {part!r}", text)


def check_lacks(text, *parts):
    for part in parts:
        check(part not in text, f"a text without {part!r}", text)


def ids(rows):
    return {row["id"] for row in rows}


@case
def diff_of_a_trace_with_itself(tbtrace):
    same = "no change: both sides are the same recording"
    chance = ("chance", "inconclusive", "warning", "a side", "vary", "interval")
    with tempfile.TemporaryDirectory() as folder:
        packed = pathlib.Path(folder) / "packed.json.gz"
        packed.write_bytes(gzip.compress((tbtrace.folder / "trace.json").read_bytes()))
        for other in ("trace.json", str(packed)):
            for form in ("text", "md"):
                output = tbtrace("diff", "trace.json", other, "--format", form)
                check_equal(output.code, 0, f"exit code of {form}")
                check_has(output.out, same)
                check_lacks(output.text, *chance)
            page = tbtrace("diff", "trace.json", other, "--format", "html").out
            parts = [gzip.decompress(base64.b64decode(part)).decode() for part in re.findall(r">(H4sI[^<]*)<", page)]
            check_has("\n".join(parts), f'"why": "{same}"')
            found = tbtrace("diff", "trace.json", other, "--format", "json").json
            check_equal((found["same_recording"], found["verdict"], found["why"], found["comparable"], found["reasons"]),
                        (True, "same", same, "yes", []), "JSON")
            check_equal([found["step"][bound] for bound in ("low", "high", "steps_low", "steps_high")], [None] * 4,
                        "intervals")
            gate = tbtrace("diff", "trace.json", other, "--fail-if", "step_time>+0%")
            check_equal(gate.code, 0, "exit code of a limit")
            check_has(gate.out, f"kept: step_time>+0%: {same}")


@case
def first_kernels_on_other_clock(tbtrace):
    gpu = tbtrace.only_row("gpu", "trace.json")
    check(27_000_000 < gpu["window_ns"] < 30_000_000, "a window without the outliers", gpu["window_ns"])
    check(0.75 < gpu["busy_ns"] / gpu["window_ns"] < 0.79, "busy about 77 %", gpu["busy_ns"])
    summary = tbtrace.summary("trace.json")
    check_equal([(row["id"], row["count"]) for row in summary["checks"]], [("misplaced_device_work", 2)], "checks")
    check_has(tbtrace("gpu", "trace.json").text, "2 device activities lie far outside the recording")


def finding(summary, wanted):
    return next(each for each in summary["findings"] if each["id"] == wanted)


def idle_causes(tbtrace, device=0):
    """The causes of a device's idle time, in ms; they add up to it."""
    row = next(row for row in tbtrace("gpu", "trace.json", "--format", "json").rows if row["device"] == device)
    causes = {each["cause"]: each["ns"] / 1e6 for each in row["idle_causes"]}
    check_equal(sum(each["ns"] for each in row["idle_causes"]), row["idle_ns"], "sum of the causes")
    return causes


@case
def allocator_in_every_step(tbtrace):
    summary = tbtrace.summary("trace.json")
    found = finding(summary, "allocator_calls")
    check(0.4 < found["share"] < 0.55, "half of the time", found["share"])
    evidence = {each["what"]: each["value"] for each in found["evidence"]}
    check_equal((evidence["in cudaFree"], evidence["in cudaMalloc"]), (85_800_000, 27_300_000), "ns in the calls")
    check_has(found["remedy"], "smaller batch", "expandable_segments", "empty_cache")
    check_lacks(json.dumps(summary["findings"]), "launch_bound", "CUDA graphs", "torch.compile")


@case
def blocking_copies_counted_twice(tbtrace):
    found = finding(tbtrace.summary("trace.json"), "blocking_copies")
    counted = [each["value"] for each in found["evidence"] if each["what"] == "copies that the host waited for"]
    check_equal(counted, [5], "copies")


@case
def cold_start_is_the_finding(tbtrace):
    summary = tbtrace.summary("trace.json")
    check_equal([each["id"] for each in summary["findings"]], ["cold_start"], "findings")
    cold, = summary["findings"]
    check_equal(cold["evidence"][0]["value"], 690_000_000, "ns in first calls")
    check_equal(cold["gain_ns"], None, "nothing to gain")
    check_has(cold["remedy"], "warmup")
    check_has(json.dumps(cold["evidence"]), "cudaLaunchKernel in aten::cudnn_convolution")


@case
def device_synchronize_by_timers(tbtrace):
    found = finding(tbtrace.summary("trace.json"), "device_synchronization")
    check(found["share"] > 0.4, "most of the 54 %", found["share"])
    text = json.dumps(found)
    check_has(text, "cudaDeviceSynchronize", "timers")
    counted = [each["value"] for each in found["evidence"] if each["what"] == "calls that waited"]
    check(counted[0] in (47, 48), "48 calls, the last one after all work", counted)


@case
def gap_after_a_short_copy(tbtrace):
    causes = idle_causes(tbtrace)
    check(causes["nothing_recorded"] > 119 and causes.get("copies", 0) < 0.1, "the code after the copy", causes)
    summary = tbtrace.summary("trace.json")
    check("blocking_copies" not in ids(summary["findings"]), "no blocking_copies", summary["findings"])
    check_has(finding(summary, "low_gpu_utilization")["remedy"], "with_stack=True")


@case
def gpus_take_turns(tbtrace):
    for device in range(4):
        causes = idle_causes(tbtrace, device)
        check(causes["other_device"] > 0.9 * sum(causes.values()), "another GPU of the process", causes)
    summary = tbtrace.summary("trace.json")
    check_has(finding(summary, "gpus_take_turns")["remedy"], "micro batches", "one process per GPU")
    check_lacks(tbtrace("summary", "trace.json").out, "host too late", "nothing recorded ran on the host 9")


@case
def graph_while_node(tbtrace):
    causes = idle_causes(tbtrace)
    check(causes["unrecorded_work"] > 139, "the waits for work that the file lacks", causes)
    found = tbtrace.findings("trace.json")
    check_equal(found, {"unrecorded_device_work"}, "findings")
    output = tbtrace("check", "trace.json", "--format", "json")
    check_equal(output.code, 1, "exit code")
    check("unrecorded_device_work" in ids(output.rows), "a warning of check", output.rows)


@case
def idle_while_python_runs(tbtrace):
    causes = idle_causes(tbtrace)
    check(causes["code"] > 37 and "nothing_recorded" not in causes, "Python code", causes)
    found = finding(tbtrace.summary("trace.json"), "host_code")
    check_has(json.dumps(found["evidence"]), "model.py(400): prepare_inputs")


@case
def item_on_xpu(tbtrace):
    found = finding(tbtrace.summary("trace.json"), "blocking_copies")
    check(found["share"] > 0.35, "what the waits cost", found["share"])
    check_has(found["remedy"], ".item()")


@case
def range_in_the_gap(tbtrace):
    causes = idle_causes(tbtrace)
    check(35.9 < causes["code"] < 36.1, "tokenize_and_pad", causes)
    check_has(json.dumps(finding(tbtrace.summary("trace.json"), "host_code")["evidence"]), "in tokenize_and_pad")


@case
def iterations_folder(tbtrace):
    lines = tbtrace("summary", ".").out.splitlines()
    labels = [re.split(r"  +", line)[0] for line in lines[2:6]]
    check_equal(labels, [f"rank {rank}, iteration_{step}/rank{rank}" for step in (10, 20) for rank in (0, 1)],
                "labels")


@case
def kernel_overruns_stream(tbtrace):
    found = tbtrace.rows("check", "trace.json")
    check_equal([(row["id"], row["count"]) for row in found], [("stream_overruns", 1)], "checks")
    for verb in ("gpu", "kernels", "summary"):
        check_has(tbtrace(verb, "trace.json").text, "of the same stream begin and end")


@case
def all_kernels_lost(tbtrace):
    lost = [row for row in tbtrace.rows("check", "trace.json") if row["id"] == "launches_without_kernels"]
    check_equal([(row["severity"], row["count"]) for row in lost], [("error", 39)], "in check")
    summary = tbtrace("summary", "trace.json").text
    check_has(summary, "launches_without_kernels, 39 x", "device records are missing", "CUPTI", "permissions",
              "another profiler")
    check_lacks(summary, "no GPU activities")
    check(not re.search(r"^No findings\. Looked for", summary, re.MULTILINE), "no all-clear", summary)
    for verb in ("gpu", "kernels"):
        check_lacks(tbtrace(verb, "trace.json").text, "record CUDA", "CUDA activities too")
        check_has(tbtrace(verb, "trace.json").text, "39 launches were recorded, but their kernels are missing", "CUPTI",
                  "permissions", "another profiler")


@case
def communication_of_custom_all_reduce(tbtrace):
    gpu = tbtrace.only_row("gpu", "trace.json")
    check_equal((gpu["communication_ns"], gpu["computation_ns"]), (10_000, 0), "communication and computation")
    check_equal(tbtrace.only_row("kernels", "trace.json", "--group-by", "family")["family"], "collective", "family")


@case
def custom_all_reduce_serving(tbtrace):
    gpu = tbtrace.only_row("gpu", "trace.json")
    parts = ("communication_ns", "exposed_communication_ns", "computation_ns")
    check_equal([gpu[part] for part in parts], [600_000, 600_000, 1_000_000], "gpu")
    step = tbtrace.only_row("steps", "trace.json")
    check_equal((step["communication_ns"], step["kernel_ns"]), (600_000, 1_000_000), "steps")
    summary = tbtrace.summary("trace.json")
    check_equal((summary["gpu"][0]["exposed_communication_ns"], summary["gpu"][0]["computation_ns"]),
                (600_000, 1_000_000), "summary")
    check("exposed_communication" in ids(summary["findings"]), "exposed_communication", summary["findings"])
    families = {row["family"]: row["total_ns"] for row in tbtrace.rows("kernels", "trace.json", "--group-by", "family")}
    check_equal(families.get("collective"), 600_000, "family collective")
    with tempfile.TemporaryDirectory() as folder:
        check_equal(tbtrace("convert", "trace.json", "-o", folder + "/logs", "--to", "tensorboard").code, 0, "exit code")
        events = b"".join(path.read_bytes() for path in pathlib.Path(folder).rglob("*tfevents*"))
        check(b"profile/step_part/communication_ms" in events, "communication in the event file", "none")


@case
def flash_attention_3_names(tbtrace):
    names = {row["short_name"] for row in tbtrace.rows("kernels", "trace.json")}
    check_equal(names, {"FlashAttnFwdSm90", "FlashAttnBwdSm90"}, "short names")
    check_equal({row["short_name"] for row in tbtrace.summary("trace.json")["kernels"]}, names, "short names")
    for verb in ("kernels", "summary"):
        check_has(tbtrace(verb, "trace.json").out, *names)
        check_lacks(tbtrace(verb, "trace.json").out, "enable_sm90_or_later")


@case
def folder_with_zstd_rank(tbtrace):
    for options in ((), ("--strict",)):
        with tempfile.TemporaryDirectory() as folder:
            done = tbtrace("convert", "ranks", "-o", folder + "/logs", "--format", "json", *options)
            states = {pathlib.Path(row["input"]).name: row["state"] for row in done.json["inputs"]}
            check_equal(states, {"rank0.pt.trace.json": "written", "rank1.pt.trace.json.zst": "written"}, "inputs")
            check_equal(done.code, 0, "exit code")
    check_equal([run["rank"] for run in tbtrace.summary("ranks")["run"]], [0, 1], "ranks of the summary")
    missing = [row for row in tbtrace.rows("check", "ranks") if row["id"] == "missing_ranks"]
    check_equal([row["count"] for row in missing], [6], "missing ranks of 8")


@case
def legacy_autograd_cuda_functions(tbtrace):
    kernels = tbtrace("kernels", "trace.json", "--format", "json").json
    check_equal([(row["name"], row["total_ns"]) for row in kernels["rows"]], [("aten::cudnn_convolution", 996_000)],
                "the innermost row")
    check_equal(kernels["totals"]["total_ns"], 996_000, "kernel time")
    gpu = tbtrace.summary("trace.json")["gpu"][0]
    check_equal((gpu["busy_ns"], gpu["window_ns"]), (996_000, 996_000), "busy time and window")


@case
def loader_on_background_thread(tbtrace):
    check_lacks(str(tbtrace.findings("trace.json")), "data_loader_bound")
    check_lacks(tbtrace("summary", "trace.json").text, "data loader", "waited for data")
    for step in tbtrace.rows("steps", "trace.json"):
        check_equal((step["data_ns"], step["data_loader_ns"]), (0, 0), "time of data in a step")


@case
def memory_holders_small_cpu_first(tbtrace):
    rows = tbtrace.rows("memory", "--view", "alive", "trace.json")
    sizes = [row["bytes"] for row in rows]
    check_equal(sizes, sorted(sizes, reverse=True), "sizes, the largest first")
    check_equal(rows[0]["device_name"], "cuda:0", "the first holder's device")
    lines = tbtrace("memory", "--view", "alive", "trace.json").out.splitlines()
    check(lines[2].startswith("cuda:0"), "the GPU's holders in the first row", lines[2])
    devices = tbtrace.summary("trace.json")["memory"]
    check_equal([device["device_name"] for device in devices][:1], ["cuda:0"], "the summary's first device")
    for device in devices:
        names = [(holder["operator"], holder["module"]) for holder in device["alive"]]
        check_equal(len({name for name, _ in names}), len(names), "holders with different names")
    text = tbtrace("summary", "trace.json").out
    check(text.count("[unattributed]") <= 1, "[unattributed] at most once", text)


@case
def optimizer_time_invented(tbtrace):
    step = tbtrace.only_row("steps", "trace.json")
    phases = ("forward_ns", "backward_ns", "optimizer_ns", "unphased_ns")
    check_equal([step[phase] for phase in phases], [90_000, 100_000, 0, 810_000], "phases")


@case
def own_code_transformers(tbtrace):
    lines = tbtrace.rows("lines", "trace.json")
    check_equal({row["file"] for row in lines}, {"train_hf.py", "[unattributed]"}, "files")
    first = lines[0]
    check_equal(first["function"], "train_step", "the most expensive line is that of")
    own = sum(row["self_cpu_time_ns"] for row in lines if row["file"] == "train_hf.py")
    check(own > 20_000_000, "what libraries did in the lines that called them (20 ms)", own)
    waiting = [row for row in lines if row["function"] == "monitor"]
    check(all(row["self_cpu_time_ns"] < 100_000 for row in waiting), "idle threads without cost", waiting)


@case
def page_per_step_without_steps(tbtrace):
    with tempfile.TemporaryDirectory() as folder:
        check_equal(tbtrace("report", "trace.json", "-o", folder + "/page.html").code, 0, "exit code")
        html = (pathlib.Path(folder) / "page.html").read_text(encoding="utf-8")
    section = re.search(r'id="view-0-summary">([^<]*)<', html)[1]
    tables = {table["name"]: table for table in json.loads(gzip.decompress(base64.b64decode(section)))["tables"]}
    check_lacks(json.dumps(tables["findings"]), "per step", '"step"')
    per = [finding["gain_per"] for finding in tbtrace.summary("trace.json")["findings"] if finding["gain_ns"]]
    check(per and set(per) == {"recording"}, "gains of the whole recording", per)


@case
def pretty_printed_json(tbtrace):
    for command in (("model", "--by", "operator"), ("modules",), ("lines",), ("modules", "--format", "json"),
                    ("model", "--by", "operator", "--format", "json"), ("lines", "--format", "json"),
                    ("ops", "--group-by-input-shape", "--format", "json")):
        pretty, compact = (tbtrace(command[0], name, *command[1:]) for name in ("trace.json", "same_compact.json"))
        check_equal((pretty.out, pretty.err, pretty.code),
                    (compact.out, compact.err.replace("same_compact.json", "trace.json"), compact.code), command[0])
    rows = tbtrace.rows("model", "--by", "operator", "trace.json")
    macs = {row["name"]: row["macs"] for row in rows if row["state"] == "counted"}
    check_equal(macs, {"aten::addmm": 1_572_864, "aten::mm": 1_572_864}, "MACs")


@case
def merged_by_sglang(tbtrace):
    for verb in ("summary", "gpu", "steps", "ops", "report"):
        refused = tbtrace(verb, "merged-1760000000.5.trace.json.gz")
        check_equal(refused.code, 3, f"{verb}: exit code")
        check_has(refused.err, "merge of several ranks", "use the traces that it was made from")
        check_lacks(refused.out, "GPU 7", "GPU 16")


@case
def vllm_front_end_beside_workers(tbtrace):
    said = "is of a process that is not a rank"
    collectives = tbtrace("collectives", ".", "--format", "json")
    check_has(collectives.err, "async_llm", said)
    found = collectives.json
    check_equal((found["totals"]["collectives"], found["totals"]["unmatched"]), (200, 0), "collectives")
    check_lacks(str(found), "async_llm")
    text = tbtrace("collectives", ".").out
    check_has(text, "taken from the file names", "rank 1 holds up the job")
    steps = tbtrace("steps", ".", "--infer-steps", "--format", "json")
    check_has(steps.err, "async_llm", said)
    check_equal((len(steps.rows), {row["duration_ns"] for row in steps.rows}), (40, {7_000_000}), "steps")
    summary = tbtrace("summary", ".", "--format", "json")
    check_has(summary.err, "async_llm", said)
    check_equal(len(summary.json["run"]), 2, "traces of the summary")
    names = sorted(path.name for path in tbtrace.folder.glob("*.gz"))
    check_equal(tbtrace("collectives", *names, "--format", "json").json["totals"]["collectives"], 200, "named files")


@case
def second_half_at_time_zero(tbtrace):
    steps = tbtrace.rows("steps", "trace.json")
    check_equal([row["duration_ns"] for row in steps], [4_900_000] * 5, "steps")
    gpu = tbtrace.only_row("gpu", "trace.json")
    check(gpu["window_ns"] < 30_000_000, "a window without the second half", gpu["window_ns"])
    check(0.48 < gpu["busy_ns"] / gpu["window_ns"] < 0.50, "busy 49 %", gpu)
    summary = tbtrace.summary("trace.json")
    check(summary["run"][0]["window_ns"] < 30_000_000, "a recording without the second half", summary["run"])
    check_equal([(row["id"], row["severity"], row["count"]) for row in summary["checks"]],
                [("times_of_zero", "error", 289)], "checks")
    for finding in summary["findings"]:
        check((finding["share"] or 0) < 0.6, "findings of the first half", finding)


@case
def gpu_behind_the_host(tbtrace):
    rows = tbtrace.rows("steps", "trace.json")
    check_equal([(row["step"], row["duration_ns"]) for row in rows], [(15, 19_000_000), (16, 19_000_000),
                                                                      (17, 19_000_000)], "steps")
    check_equal({row["kernel_ns"] for row in rows}, {18_810_000}, "kernels of a step")
    check_has(tbtrace("summary", "trace.json").out, "with its GPU activities   19.000 ms")
    latency = {row["figure"]: row["value"] for row in tbtrace.rows("model", "trace.json")}["latency_mean_ns"]
    check_equal(latency, 19_000_000, "model")


@case
def copy_engine_all_gather(tbtrace):
    gpu = tbtrace.only_row("gpu", "trace.json")
    check_equal((gpu["communication_ns"], gpu["exposed_communication_ns"], gpu["exposed_memory_ns"]),
                (28_672_000, 28_672_000, 0), "gpu")
    check("exposed_communication" in tbtrace.findings("trace.json"), "exposed_communication", "none")
    collectives = tbtrace("collectives", "trace.json", "--format", "json")
    text = tbtrace("collectives", "trace.json").out
    check_has(text, "32 records: no trace of another rank")
    check_lacks(text + collectives.text, "kernels were not recorded", "record CUDA")


@case
def hybrid_ep_dispatch(tbtrace):
    gpu = tbtrace.only_row("gpu", "trace.json")
    check_equal((gpu["communication_ns"], gpu["computation_ns"]), (10_000, 0), "gpu")
    check_equal(tbtrace.only_row("kernels", "trace.json", "--group-by", "family")["family"], "collective", "family")


@case
def cute_dsl_and_hadamard_names(tbtrace):
    parts = {"RMSNormKernel": "normalization", "NVFP4Quantize": "elementwise", "DenseGemmKernel": "gemm",
             "fast_hadamard": "other", "routingIndices": "sort"}
    rows = tbtrace.rows("kernels", "trace.json", "--group-by", "family,name")
    found = {part: row["family"] for part in parts for row in rows if part in row["name"]}
    check_equal(found, parts, "families")


@case
def peaks_of_blackwell_ultra(tbtrace):
    for name, tera in (("NVIDIA_B300_SXM6_AC.json", 2250), ("NVIDIA_GB300.json", 2500)):
        output = tbtrace("model", "--by", "operator", name, "--format", "json")
        check_lacks(output.text, "is not known")
        shares = [row for row in output.rows if row["peak_share"] is not None]
        check(shares, "a share of the peak", output.rows)
        check_equal({row["peak_flops_per_s"] for row in shares if row["precision"] == "bfloat16"}, {tera * 1e12},
                    "peak of bfloat16")


@case
def proton_json_lines(tbtrace):
    for verb in ("kernels", "summary"):
        refused = tbtrace(verb, "proton.chrome_trace")
        check_equal(refused.code, 3, f"{verb}: exit code")
        check_has(refused.err, "several documents, each on a line of its own")
    command = re.search(r"split -l 1 .*", refused.err)[0].strip()
    with tempfile.TemporaryDirectory() as folder:
        path = tbtrace.folder.resolve() / "proton.chrome_trace"
        subprocess.run(command.replace("FILE", str(path)).split(), cwd=folder, check=True)
        parts = sorted(str(part) for part in pathlib.Path(folder).iterdir())
        kernels = tbtrace("kernels", *parts, "--format", "json").json
    check_equal(sum(row["count"] for row in kernels["rows"]), 40, "kernels of the parts")


@case
def rocprof_json(tbtrace):
    summary = tbtrace.summary("results.json")
    check_equal([(kernel["short_name"], kernel["total_ns"]) for kernel in summary["kernels"]],
                [("Cijk_Ailk_Bljk.kd", 1_000_000)], "kernels")
    check_lacks(str([row["key"] for row in summary["operators"]]), "Cijk")
    check_equal([(gpu["device"], gpu["busy_ns"]) for gpu in summary["gpu"]], [(0, 1_000_000)], "GPU")
    on_host = [row["key"] for row in tbtrace.rows("ops", "results.json") if row["self_cpu_time_total_ns"] > 0]
    check_lacks(str(on_host), "Cijk")
    check("kernels_without_launch" in ids(tbtrace.rows("check", "results.json")), "a warning of check", "none")


@case
def tensor_cores_quantized_serving(tbtrace):
    check_lacks(str(tbtrace.findings("trace.json")), "no_tensor_cores")
    check_lacks(tbtrace("summary", "trace.json").out, "autocast", "do not use tensor cores")
    states = {row["short_name"]: row["tensor_cores_used"] for row in tbtrace.rows("kernels", "trace.json")}
    check(states and not any(state is False for state in states.values()), "no claim of missing tensor cores", states)


@case
def tensor_parallel_flops(tbtrace):
    totals = tbtrace("model", "--by", "operator", "rank0.json", "--format", "json").json
    counted = sum(row["macs"] for row in totals["rows"] if row["state"] == "counted")
    check_equal(counted, 10_485_760, "macs")
    check_equal(totals["totals"]["forward_macs"], 4_194_304, "forward_macs")


@case
def tensorflow1_timeline(tbtrace):
    matmul = {row["device_type"]: row for row in tbtrace.rows("ops", "timeline.json") if row["key"] == "MatMul"}
    check_equal(matmul["CPU"]["count"], 5, "MatMul on the host")
    check_equal(matmul["CUDA"]["self_device_time_total_ns"], 500_000, "MatMul on the GPU")
    gpu = tbtrace.summary("timeline.json")["gpu"][0]
    check_equal((gpu["device"], gpu["computation_ns"], gpu["exposed_memory_ns"]), (0, 500_000, 150_000), "GPU 0")
    kernels = tbtrace("kernels", "timeline.json", "--format", "json")
    check_equal([(row["name"], row["count"], row["total_ns"]) for row in kernels.rows], [("MatMul", 5, 500_000)],
                "kernels")
    check_lacks(tbtrace("summary", "timeline.json").text, "no GPU activities")


@case
def trace_without_events(tbtrace):
    text = tbtrace("summary", "trace.json").text
    check_has(text, "the trace has no events", "call step()", "active steps")
    check_lacks(text, "No findings. Looked for")
    check_equal(ids(tbtrace.rows("check", "trace.json")), {"no_events"}, "in check")


@case
def traces_tar_gz(tbtrace):
    summary = tbtrace.summary("traces.tar.gz")
    check_equal([(run["rank"], run["input"]) for run in summary["run"]],
                [(rank, f"traces.tar.gz/traces/rank{rank}.pt.trace.json") for rank in (0, 1)], "members")
    check_equal([step["steps"] for step in summary["steps"]], [2, 2], "steps")


@case
def vllm_iterations(tbtrace):
    rows = tbtrace.rows("steps", "trace.json", "--infer-steps")
    check_equal([row["step"] for row in rows], list(range(10)), "steps")
    check_equal(rows[0]["name"], "execute_context_1(512)_generation_0(0)", "prefill")
    check_equal(rows[1]["name"], "execute_context_0(0)_generation_1(1)", "decode")
    chosen = tbtrace.rows("steps", "trace.json", "--infer-steps", "--steps", "3-5")
    check_equal([row["step"] for row in chosen], [3, 4, 5], "chosen steps")


@case
def with_stack_but_no_frames(tbtrace):
    for verb in ("lines", "modules"):
        text = tbtrace(verb, "trace.json").text
        check_has(text, "the file says with_stack=1 and has no Python frames: the recorder lost them",
                  "Python 3.12.0 to 3.12.4", "record with Python 3.12.5 or newer")
        check_lacks(text, "record with with_stack")
    found = {row["id"]: row["example"] for row in tbtrace.rows("check", "trace.json")}
    check_equal(found.get("option_without_data"), "with_stack", "in check")


@case
def attention_by_math_kernels(tbtrace):
    summary = tbtrace.summary("trace.json")
    found = {row["id"]: row for row in summary["findings"]}
    check_equal(list(found), ["math_attention"], "findings")
    values = {item["what"]: item["value"] for item in found["math_attention"]["evidence"]}
    check_equal(values["of the time in which the GPU computed"], 1.0, "share of the computation")
    check_equal(values["calls of _scaled_dot_product_attention_math"], 24, "calls")
    check_equal(found["math_attention"]["gain_ns"], 15_600_000, "all but the products, per step")
    check_has(found["math_attention"]["remedy"], "a mask")
    check_lacks(found["math_attention"]["remedy"], "head size", "precision")


@case
def eager_to_cuda_graph(tbtrace):
    output = tbtrace("diff", "before.json", "after.json")
    check_equal(output.code, 0, "exit code")
    check_has(output.out, "-50.8 %", "by 80 calls per step before and by 1 now", "no longer waits for launches")
    check_lacks(output.text, "not comparable", "Is it the same model")
    found = tbtrace("diff", "before.json", "after.json", "--format", "json").json
    check(found["comparable"] != "no", "comparable", found["comparable"])


@case
def mps_advice(tbtrace):
    for verb in ("gpu", "kernels", "summary", "check"):
        text = tbtrace(verb, "trace.json").text
        check_lacks(text, "CUDA", "cuda")
        check_has(text, "MPS", "torch.profiler does not record", "Instruments", "torch.mps.profiler")
    check_has(tbtrace("summary", "trace.json").out, "62.4 ms in aten::_local_scalar_dense", "waits for the GPU")


@case
def offload_copies_without_finding(tbtrace):
    found = tbtrace.summary("trace.json")["findings"]
    check_equal([row["id"] for row in found], ["exposed_copies"], "findings")
    check(0.767 < found[0]["share"] < 0.769, "a share of 76.8 %", found[0]["share"])
    rates = [item["value"] for item in found[0]["evidence"] if item["unit"] == "bytes_per_s"]
    check(len(rates) == 1 and 16.3e9 < rates[0] < 16.5e9, "16.4 GB/s", rates)
    check_equal(found[0]["evidence"][0]["what"], "copies to the GPU from pageable memory", "what")
    check_has(found[0]["remedy"], "pinned memory", "stream of its own", "keep on the GPU")


@case
def one_pause_of_one_rank(tbtrace):
    text = tbtrace("summary", ".").text
    check_has(text, "rank 1 held up the job once: 2.00 s longer", "number 6 of 10 steps", "host recorded nothing")
    check(not re.search(r"more than \d{3,} %", text), "no limit above 100 %", text)
    check_lacks(text, "backward pass (DDP", "DDP", "FSDP")
    found = {row["id"]: row for row in tbtrace.summary(".")["findings"]}
    check_has(found["exposed_communication"]["remedy"], "waits for ranks that come later: rank 1 in step")
    check("pause" in found, "a finding", list(found))


@case
def pipeline_bubble_summary(tbtrace):
    text = tbtrace("summary", ".").text
    check_has(text, "bubbles of the pipeline", "micro batches", "interleaved", "zero-bubble")
    check_lacks(text, "DDP", "FSDP", "backward pass")
    of_job = [line for line in tbtrace("collectives", ".").text.splitlines() if "bubbles of the pipeline" in line]
    check(of_job and of_job[0].split(": ", 1)[-1][:60] in text, "the sentence of collectives", of_job)
    first = tbtrace.summary(".")["findings"][0]
    check_equal(first["id"], "exposed_communication", "first finding")
    shares = [item["value"] for item in first["evidence"] if item["what"] == "bubbles of the pipeline, of the steps"]
    check(len(shares) == 1 and 0.25 < shares[0] < 0.34, "the bubble's share", shares)


@case
def reserved_grows_allocated_does_not(tbtrace):
    found = tbtrace.summary("trace.json")["findings"]
    check_equal([(row["id"], row["share_of"]) for row in found], [("reserved_growth", "peak_memory")], "findings")
    values = {item["what"]: item["value"] for item in found[0]["evidence"]}
    check_equal((values["growth per step"], values["most that was allocated"]), (2 << 30, int(22.5 * 2**30)), "bytes")
    check_has(found[0]["title"], "fragmentation")
    check_has(found[0]["remedy"], "expandable_segments", "fewer different sizes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbtrace", required=True)
    parser.add_argument("cases", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    program = str(pathlib.Path(options.tbtrace).resolve())
    there = {path.parent.name for path in options.cases.glob("*/README.md")}
    problems = {name: "has no function in check_cases.py" for name in there - CASES.keys() - OPEN}
    problems |= {name: "is both open and tested" for name in CASES.keys() & OPEN}
    passed = 0
    for name, function in CASES.items():
        if options.names and name not in options.names:
            continue
        try:
            check(name in there, f"a folder {name}", sorted(there))
            function(Program(program, options.cases / name))
            passed += 1
        except (AssertionError, KeyError, IndexError, ValueError, subprocess.TimeoutExpired) as error:
            problems[name] = f"{type(error).__name__}: {error}"
    for name, problem in sorted(problems.items()):
        print(f"{name}: {problem}")
    print(f"{passed} passed, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
