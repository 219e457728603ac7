"""Files that are a little other than expected, other backends, and pairs of recordings."""
import json

from expect import asks, busy, check, expects, found, gpu, has, idle, lacks, never, rows, value
from machine import GEMM, MAIN, Machine, PID, meet

CHECK = "tbtrace check trace.json --format json"
OPS = "tbtrace ops trace.json --format json"
KERNELS = "tbtrace kernels trace.json --format json"
DIFF = "tbtrace diff base.json new.json --format json"


def nonzero_on_mps(folder):
    m = Machine(gpus=0)
    del m.header["deviceProperties"]
    for number in range(4):
        with m.step(number):
            for _ in range(10):
                m.op("aten::_mps_convolution", 90)
            m.op("aten::nonzero", 12_000)
    m.write(folder / "trace.json")

    def nonzero_first(table):
        first = max(table, key=lambda row: row["self_cpu_time_total_ns"])
        total = sum(row["self_cpu_time_total_ns"] for row in table if not row["key"].startswith("ProfilerStep"))
        return first["key"] == "aten::nonzero" and 0.85 < first["self_cpu_time_total_ns"] / total < 0.95
    return [expects(OPS, rows(nonzero_first, "aten::nonzero with nine tenths of the time")),
            expects("tbtrace summary trace.json", has("aten::nonzero"),
                    lacks("record CUDA", r"ProfilerActivity\.CUDA", "CUDA activities"))]


def trace_view_is_not_valid(folder):
    m = Machine(gpus=1)
    for _ in range(30):
        m.mm(200)
    parts = [json.dumps(event) for event in m.events]
    middle = len(parts) // 2
    text = "[" + ",".join(parts[:middle]) + ",".join(parts[middle:]) + "]"
    (folder / "trace_view.json").write_text(text)
    place = len(("[" + ",".join(parts[:middle])).encode())
    return [expects("tbtrace check trace_view.json --format json",
                    rows(lambda table: any(abs((row["example_offset"] or 0) - place) < 3 for row in table),
                         f"a row about byte {place}"), code=(0, 1)),
            expects("tbtrace kernels trace_view.json", has(r"\b30\b", r"at byte \d+", "comma|damage|not valid"))]


def overhead_rows_of_xpu_launches(folder):
    m = Machine("B580", runtime="xpu")
    for _ in range(60):
        with m.range("aten::add", "cpu_op"):
            m.event("X", "Instrumentation", PID, MAIN, m.now + 1, "overhead", 2.5, {})
            m.run(4)
            m.launch([("at::native::xpu::VectorizedElementwiseKernel<4, AddFunctor>", 7.274)],
                     call="urEnqueueKernelLaunchWithArgsExp")
            m.run(2)
    m.write(folder / "trace.json")

    def once(table):
        kernels = [row for row in table if row["device_type"] != "CPU" and not row["key"].startswith("[")]
        host = {row["key"]: row for row in table if row["device_type"] == "CPU"}
        return (abs(sum(row["self_device_time_total_ns"] for row in kernels) - 60 * 7274) < 100
                and abs(host["aten::add"]["device_time_total_ns"] - 60 * 7274) < 100
                and all(row["self_device_time_total_ns"] == 0 for key, row in host.items() if key != "aten::add"))
    return [expects(OPS, rows(once, "the kernels' time at aten::add once and nowhere else")),
            expects(KERNELS, value("totals.total_ns", (60 * 7274 - 100, 60 * 7274 + 100)))]


def kernels_at_time_zero(folder):
    m = Machine("V100")
    for number in range(40):
        m.op("aten::mm", 12, "volta_sgemm_64x64_nt", 500)
        if number % 8 == 3:
            m.events[-1] |= {"ts": 0, "dur": 0}
    m.write(folder / "trace.json")
    return [expects(CHECK, has('"(zero_durations|times_of_zero|misplaced_device_work)"'), code=1),
            gpu(busy(0.8, 1), rows(lambda table: table[0]["window_ns"] < 25e6, "a window of 20 ms"))]


def kernels_without_runtime_rows(folder):
    m = Machine("H100")
    for _ in range(40):
        m.mm(60, 100)
    m.events = [event for event in m.events if event.get("cat") not in ("cuda_runtime", "cpu_op")]
    m.write(folder / "trace.json")
    return [asks(found({"low_gpu_utilization": (0.35, 0.45)}),
                 never("cuda graph", "larger batch", "too late", "more workers")),
            gpu(busy(0.58, 0.64), idle(unknown=(0.98, 1)))]


def launches_by_cuLaunchKernelEx(folder):
    m = Machine("H100")
    for _ in range(50):
        m.op("triton_poi_fused_add_0", 100, "triton_poi_fused_add_0", 30, call="cuLaunchKernelEx",
             category="cuda_driver")
    m.write(folder / "trace.json")
    return [asks(found(launch_bound=(0.62, 0.75))), gpu(idle(launches=(0.94, 1), rest=0.06)),
            expects(KERNELS, rows(lambda table: len(table) == 1 and table[0]["without_launch"] == 0
                                  and table[0]["launches"] == 50, "50 kernels with their launches"))]


def operator_without_an_end(folder):
    m = Machine()
    for _ in range(20):
        m.mm(100)
    with m.range("aten::convolution", "cpu_op") as event:
        pass
    event["dur"] = -1
    m.write(folder / "trace.json")

    def others_unchanged(table):
        by_key = {row["key"]: row for row in table}
        return (by_key["aten::mm"]["count"] == 20 and by_key["aten::mm"]["cpu_time_total_ns"] == 20 * 12_000
                and all(row["cpu_time_total_ns"] >= 0 for row in table)
                and by_key.get("aten::convolution", {"cpu_time_total_ns": 0})["cpu_time_total_ns"] <= 1000)
    return [expects(CHECK, has("aten::convolution"), has("end|negative|duration"), code=(0, 1)),
            expects(OPS, rows(others_unchanged, "an operator that adds nothing"))]


def ranks_without_distributed_info(folder):
    machines = [Machine("V100", rank=rank, world=2) for rank in range(2)]
    for _ in range(4):
        for m in machines:
            for _ in range(3):
                m.mm(400)
        meet(machines, "all_reduce", 1_000_000, 200)
    for m in machines:
        del m.header["distributedInfo"]
        for event in m.events:
            event.get("args", {}).pop("Rank", None)
        m.write(folder / f"trace_rank{m.rank}.json")
    def both_files(answer):
        inputs = sorted(run["input"].split("/")[-1] for run in answer.json["run"])
        check(inputs == ["trace_rank0.json", "trace_rank1.json"], "both files", inputs)
    return [expects("tbtrace summary . --format json", both_files),
            expects("tbtrace collectives . --format json", value("totals.collectives", equals=4),
                    value("totals.unmatched", equals=0),
                    rows(lambda table: all(row["ranks"] == 2 for row in table), "collectives of two ranks"))]


def sidecar_beside_the_trace(folder):
    m = Machine("MI300X", runtime="hip", rank=0, world=1)
    for _ in range(20):
        m.mm(500)
    m.write(folder / "rank_0.trace.json")
    details = {"world_size": 8, "steps": [{"name": "denoise", "seconds": 1.5}]}
    (folder / "execution_details.json").write_text(json.dumps(details))
    return [expects("tbtrace summary . --format json",
                    lambda answer: check(len(answer.json["run"]) == 1, "one trace", answer.json["run"])),
            expects("tbtrace summary .", has(r"execution_details\.json"), lacks("rank 1"))]


def child_ends_after_its_parent(folder):
    m = Machine(gpus=0)
    del m.header["deviceProperties"]
    for number in range(3):
        with m.step(number) as step:
            for _ in range(20):
                with m.range("aten::linear", "cpu_op") as parent, m.range("aten::addmm", "cpu_op") as child:
                    m.run(10)
                child["dur"] = 11.0
                m.run(2)
            m.event("X", "aten::add", PID, MAIN, m.now - 1, "cpu_op", 4.0, {})
        parent["dur"] = step["dur"] = round(step["dur"] - 1)
        parent["dur"] = 10.0
        m.run(10)
    m.write(folder / "trace.json")

    def adds_up(table):
        steps = [row for row in table if row["key"].startswith("ProfilerStep")]
        return (all(row["self_cpu_time_total_ns"] >= 0 for row in table)
                and 0 <= sum(row["self_cpu_time_total_ns"] for row in steps) < 200_000
                and sum(row["self_cpu_time_total_ns"] for row in table if not row["key"].startswith("[")) < 3 * 260_000)
    return [expects(OPS, rows(adds_up, "self times of at least 0 that add up to the steps"))]


def duration_that_overflowed(folder):
    m = Machine("H100")
    for _ in range(30):
        m.mm(100)
    m.event("X", "aten::convolution", PID, MAIN, m.now, "cpu_op", 9_223_372_036_854_775.0, {})
    m.write(folder / "trace.json")

    def others_unchanged(table):
        by_key = {row["key"]: row for row in table}
        return by_key["aten::mm"]["count"] == 30 and by_key["aten::mm"]["cpu_time_total_ns"] == 30 * 12_000 \
            and all(row["cpu_time_total_ns"] < 3_600_000_000_000 for row in table)
    place = (folder / "trace.json").read_text().index('{"ph":"X","name":"aten::convolution"')

    def warned(table):
        return any(row["severity"] == "warning" and row["count"] == 1
                   and abs((row["example_offset"] or 0) - place) < 300 for row in table)
    return [expects(CHECK, rows(warned, "a warning about the operator"), code=1),
            expects(OPS, rows(others_unchanged, "no operator of more than an hour")),
            gpu(busy(0.95, 1), rows(lambda table: table[0]["window_ns"] < 4e6, "a window of 3 ms"))]


# Pairs

def _row(key, base=None, new=None, change=None, counts=None, share=None, by="operator"):
    """The row of a diff whose key has this: nanoseconds per step and counts per step, as ranges."""
    def run(answer):
        got = [row for row in answer.json["rows"] if row["by"] == by and key in row["key"]]
        check(len(got) == 1, f"one row of {key}", [row["key"] for row in answer.json["rows"] if row["by"] == by])
        for limits, name in ((base, "base_ns"), (new, "new_ns"), (change, "change_ns"), (share, "share")):
            if limits:
                check(limits[0] <= (got[0][name] or 0) <= limits[1], f"{name} of {key} from {limits}", got[0])
        if counts:
            check((got[0]["base_count"], got[0]["new_count"]) == counts, f"counts {counts}", got[0])
    return run


def _slower(low, high, verdict="slower"):
    """The step changed by a share, in this direction, as far as single runs can tell."""
    def run(answer):
        document = answer.json
        check(document["comparable"] in ("yes", "warning"), "two sides that can be compared", document["reasons"])
        check(document["verdict"] in (verdict, "inconclusive"), f"{verdict}, or not known", document["verdict"])
        check(low <= document["step"]["change"] <= high, f"a change from {low} to {high}", document["step"])
    return run


def guards_slower_after_upgrade(folder):
    for name, guards in (("base", 400), ("new", 1600)):
        m = Machine("H100")
        for number in range(6):
            with m.step(number):
                m.spend("TorchDynamo Cache Lookup", guards + number, "cpu_op")
                with m.range("Torch-Compiled Region: 0/0", "cpu_op"):
                    for _ in range(10):
                        m.op("aten::mm", 14, GEMM, 300)
                m.read()
        m.write(folder / f"{name}.json")
    return [expects(DIFF, _slower(0.3, 0.4), _row("TorchDynamo Cache Lookup", change=(1.15e6, 1.25e6), counts=(1, 1),
                                                  share=(0.9, 1.1)),
                    _row("s16816gemm", change=(-1000, 1000), by="kernel"))]


def fused_norm_slower_after_upgrade(folder):
    kernels = {"triton_poi_fused__native_batch_norm_legit_no_training_cat_relu_27": (981, 1421),
               "triton_poi_fused__native_batch_norm_legit_no_training_cat_relu_42": (799, 1369),
               "triton_poi_fused__native_batch_norm_legit_no_training_relu_6": (575, 717),
               "gen_conv_kernel": (12_000, 11_920)}
    for side, name in enumerate(("base", "new")):
        m = Machine("PVC", runtime="xpu")
        for number in range(6):
            with m.step(number):
                for kernel, times in kernels.items():
                    m.op("aten::convolution_overrideable" if "conv" in kernel else kernel, 20, kernel, times[side])
                m.read()
        m.write(folder / f"{name}.json")
    return [expects(DIFF, _slower(0.06, 0.1), _row("cat_relu_42", change=(560e3, 580e3), by="kernel"),
                    _row("cat_relu_27", change=(430e3, 450e3), by="kernel"),
                    _row("gen_conv_kernel", change=(-90e3, -70e3), by="kernel", share=(-0.12, 0)))]


def more_copies_on_nightly(folder):
    for name, copies in (("base", 50), ("new", 89)):
        m = Machine(gpus=0)
        del m.header["deviceProperties"]
        for number in range(6):
            with m.step(number):
                for _ in range(20):
                    m.op("aten::_mps_convolution", 190)
                for _ in range(copies):
                    m.op("aten::copy_", 6)
        m.write(folder / f"{name}.json")
    return [expects(DIFF, _slower(0.04, 0.07), _row("aten::copy_", change=(225e3, 245e3), counts=(50, 89),
                                                    share=(0.95, 1.05)),
                    _row("aten::_mps_convolution", change=(-2000, 2000), counts=(20, 20)))]


def layout_conversions_appear(folder):
    types = "float, float, float, false, true"
    for name, converts in (("base", False), ("new", True)):
        m = Machine("V100")
        for number in range(6):
            with m.step(number):
                for _ in range(5):
                    with m.range("aten::cudnn_convolution", "cpu_op"):
                        kernels = [("volta_scudnn_128x64_relu_interior_nn_v1", 1600)]
                        if converts:
                            kernels = [(f"void cudnn::ops::nhwcToNchwKernel<{types}>(int)", 700), *kernels,
                                       (f"void cudnn::ops::nchwToNhwcKernel<{types}>(int)", 400)]
                        for kernel in kernels:
                            m.launch([kernel])
                m.read()
        m.write(folder / f"{name}.json")
    return [expects(DIFF, _slower(0.6, 0.72),
                    _row("nhwcToNchwKernel", change=(3.4e6, 3.6e6), counts=(0, 5), by="kernel"),
                    _row("nchwToNhwcKernel", change=(1.9e6, 2.1e6), counts=(0, 5), by="kernel"),
                    _row("volta_scudnn", change=(-1000, 1000), counts=(5, 5), by="kernel"))]


def decodes_in_groups_of_eight(folder):
    for name, group in (("base", 1), ("new", 8)):
        m = Machine("H100", header={"with_stack": 1})
        for number in range(4):
            with m.step(number):
                for decode in range(8):
                    m.launch([(GEMM, 600)] * 10, call="cudaGraphLaunch", took=25)
                    if decode % group == group - 1:
                        m.read()
                        with m.frame("vllm/engine/llm_engine.py(700): _process_model_outputs"):
                            m.run(4000)
        m.write(folder / f"{name}.json")

    def idle_less(answer):
        quantities = {row["name"]: row for row in answer.json["quantities"]}
        idle_time = quantities["gpu_idle_ns"]
        check(idle_time["base"] > 28e6 and idle_time["new"] < 5e6, "idle 32 ms before and 4 ms now", idle_time)
        busy_time = quantities["gpu_busy_ns"]
        check(abs(busy_time["base"] - busy_time["new"]) < 50e3, "the same time busy", busy_time)
    return [expects(DIFF, _slower(-0.4, -0.3, "faster"), idle_less,
                    _row("s16816gemm", change=(-5000, 5000), counts=(80, 80), by="kernel"))]


def staging_slows_the_kernels(folder):
    for name, slower in (("base", 1), ("new", 3)):
        m = Machine("H100")
        for number in range(5):
            with m.step(number):
                if slower > 1:
                    m.copy("DtoH", 400_000_000, 29_000, False, stream=30)
                for _ in range(10):
                    m.mm(1000 * slower)
                m.wait("cudaStreamSynchronize")
        m.write(folder / f"{name}.json")
    return [expects(DIFF, _slower(1.9, 2.1),
                    _row("s16816gemm", change=(19.9e6, 20.1e6), counts=(10, 10), share=(0.95, 1.05), by="kernel"))]
