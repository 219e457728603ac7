"""The GPU is idle: compilation, garbage collection, launches, other processes and devices, or no fault of the host."""
from expect import (asks, busy, check, expects, found, gpu, has, idle, never, no_straggler, nothing_found, remedy,
                    rows, says, words)
from machine import ADD, GEMM, Machine, meet

LAUNCH_ADVICE = ("cuda graph", "larger batch")
USE_COMPILE = r"(use|try|with|as) torch\.compile|, torch\.compile"
GAPS = "tbtrace gpu --gaps trace.json --format json"
CHECK = "tbtrace check trace.json --format json"


def _layers(m, count, gpu_time, host=12.0):
    for _ in range(count):
        m.mm(gpu_time, host)


def _graph(m, kernels, gpu_time, took=25.0):
    m.launch([(GEMM, gpu_time)] * kernels, call=m.runtime["graph"], took=took)


def guards_of_a_decode_step(folder):
    m = Machine("H100")
    for _ in range(8):
        m.spend("TorchDynamo Cache Lookup", 1800, "cpu_op")
        with m.range("Torch-Compiled Region: 0/0", "cpu_op"):
            m.run(60)
            _graph(m, 20, 110)
        m.read()
    m.write(folder / "trace.json")
    return [asks(found({"compiler_overhead": (0.37, 0.5)}), says("compiler_overhead", "guard|cache lookup"),
                 never(USE_COMPILE)), gpu(idle(compiler=(0.9, 1), rest=0.1))]


def compiled_for_each_length(folder):
    m = Machine()
    for number in range(6):
        with m.step(number):
            m.spend("TorchDynamo Cache Lookup", 200, "cpu_op")
            with m.range("_compile.compile_inner (dynamo_timed)", "cpu_op"):
                m.run(10_000)
                m.spend("OutputGraph.call_user_compiler (dynamo_timed)", 40_000, "cpu_op")
            with m.range("Torch-Compiled Region: 0/%d" % number, "cpu_op"):
                for _ in range(10):
                    m.op(f"triton_poi_fused_add_{number}", 14, f"triton_poi_fused_add_{number}", 1000,
                         call="cuLaunchKernel", category="cuda_driver")
    m.write(folder / "trace.json")
    return [asks(found(compiler_overhead=(0.7, 0.84)), remedy("compiler_overhead", "shape|dynamic|guard"),
                 never(USE_COMPILE)), gpu(idle(compiler=(0.98, 1)))]


def compiled_in_the_first_step(folder):
    m = Machine()
    for number in range(4):
        with m.step(number):
            m.op("aten::zero_", 12, ADD, 4)
            m.spend("TorchDynamo Cache Lookup", 60, "cpu_op")
            if number == 0:
                m.spend("_compile.compile_inner (dynamo_timed)", 60_000, "cpu_op")
            with m.range("Torch-Compiled Region: 0/0", "cpu_op"):
                _layers(m, 10, 1500)
    m.write(folder / "trace.json")
    return [asks(found(cold_start=(0.44, 0.56)), remedy("cold_start", "warm"), says("cold_start", "compile_inner"),
                 never(*LAUNCH_ADVICE)),
            gpu(idle(cold_start=(0.98, 1))),
            expects("tbtrace gpu trace.json --steps 1-3 --format json", busy(0.99, 1))]


def graph_recorded_for_each_length(folder):
    m = Machine("H100")
    for number in range(6):
        with m.step(number):
            m.spend("TorchDynamo Cache Lookup", 60, "cpu_op")
            with m.range("Torch-Compiled Region: 0/0", "cpu_op"):
                m.call("cudaStreamBeginCapture_v10000", 40)
                for _ in range(5):
                    m.op("aten::mm", 60)
                m.call("cudaStreamEndCapture_v10000", 400)
                m.call("cudaGraphInstantiateWithFlags_v11040", 18_000)
                _graph(m, 20, 400)
    m.write(folder / "trace.json")

    def named(answer):
        first = answer.json["findings"][0]
        check(first["id"] in ("launch_bound", "compiler_overhead") and "cudaGraphInstantiate" in words(first),
              "first that the host is in cudaGraphInstantiate", words(first))
    return [asks(named, never("cuda graphs", "larger batch", "item\\(\\)")),
            gpu(busy(0.4, 0.55), idle(launches=(0, 1), compiler=(0, 1)))]


def autotuner_in_the_first_step(folder):
    m = Machine("H100", header={"with_stack": 1})
    with m.frame("bench.py(20): main"):
        for number in range(4):
            with m.step(number):
                m.op("aten::fill_", 12, ADD, 4)
                if number == 0:
                    with m.frame("triton/runtime/autotuner.py(150): run"):
                        for _ in range(8):
                            with m.frame("triton/runtime/autotuner.py(110): _bench"):
                                m.spend("triton/compiler/compiler.py(226): compile", 4500, "python_function")
                                m.launch([("softmax_kernel", 60)], call="cuLaunchKernel", category="cuda_driver")
                                m.wait()
                for _ in range(10):
                    m.launch([("softmax_kernel", 600)], call="cuLaunchKernel", category="cuda_driver")
    m.write(folder / "trace.json")
    return [asks(found(cold_start=(0.5, 0.65)), says("cold_start", "autotuner|_bench"), never(*LAUNCH_ADVICE)),
            gpu(idle(cold_start=(0.97, 1)))]


def collector_in_a_decode_worker(folder):
    m = Machine("MI300X", runtime="hip")
    for number in range(10):
        if number == 5:
            m.spend("Python GC", 98_000)
        m.run(300)
        _graph(m, 20, 100)
    m.write(folder / "trace.json")
    return [asks(found(garbage_collection=(0.75, 0.9)), remedy("garbage_collection", "freeze"), never(*LAUNCH_ADVICE)),
            gpu(idle(garbage_collection=(0.97, 1)))]


def gc_collect_in_each_round(folder):
    m = Machine(header={"with_stack": 1})
    with m.frame("client.py(50): fit"):
        for number in range(6):
            with m.step(number):
                _layers(m, 6, 1000)
                with m.frame("client.py(737): train_round"):
                    m.spend("<built-in function collect>", 15_000, "python_function")
    m.write(folder / "trace.json")
    return [asks(found(garbage_collection=(0.5, 0.65)), remedy("garbage_collection", "freeze|collect")),
            gpu(idle(garbage_collection=(0.98, 1)))]


def collector_of_one_rank(folder):
    ranks = [Machine(rank=rank, world=2) for rank in range(2)]
    for number in range(6):
        steps = [m.step(number) for m in ranks]
        for step in steps:
            step.__enter__()
        for m in ranks:
            if number == 3 and m.rank == 1:
                m.spend("Python GC", 60_000)
            _layers(m, 10, 1000)
        meet(ranks, "all_reduce", 50_000_000, 1000)
        for m, step in zip(ranks, steps):
            m.read()
            step.__exit__(None, None, None)
    for m in ranks:
        m.write(folder / f"rank{m.rank}.json")

    def only_rank_1(answer):
        got = answer.json["stragglers"]
        check(all(row["rank"] == 1 and row["cause"] == "garbage_collection" for row in got),
              "nobody but rank 1, for its collector", got)

    def waited(table):
        longest = max(table, key=lambda row: row["wait_max_ns"] or 0)
        return longest["step"] == 3 and 55e6 < longest["wait_max_ns"] < 65e6 and longest["last_rank"] == 1
    def collector_first(answer):
        first = answer.json["findings"][0]["id"]
        check(first in ("garbage_collection", "straggler"), "the collector first", first)
    return [expects("tbtrace summary . --format json", only_rank_1, collector_first, has("Python GC|garbage")),
            expects("tbtrace collectives . --format json", rows(waited, "rank 1 last by 60 ms in step 3"), only_rank_1)]


def collectors_of_all_ranks(folder):
    ranks = [Machine(rank=rank, world=2) for rank in range(2)]
    for number in range(6):
        steps = [m.step(number) for m in ranks]
        for m, step in zip(ranks, steps):
            step.__enter__()
            if number == 3:
                m.spend("Python GC", 35_000 + 100 * m.rank)
            _layers(m, 10, 1000)
        meet(ranks, "all_reduce", 50_000_000, 500)
        for m, step in zip(ranks, steps):
            m.read()
            step.__exit__(None, None, None)
    for m in ranks:
        m.write(folder / f"rank{m.rank}.json")
    return [expects("tbtrace summary . --format json", found(garbage_collection=(0.3, 0.4)), no_straggler,
                    remedy("garbage_collection", "freeze")),
            expects("tbtrace collectives . --format json", no_straggler,
                    rows(lambda table: len(table) == 6 and max(row["wait_max_ns"] or 0 for row in table) < 200_000,
                         "six all-reduces that nobody waits for"))]


def event_records_on_the_stream(folder):
    m = Machine("H100")
    for number in range(60):
        start, end = m.mm(100, 200)
        m.activity("Event Record", "cuda_sync", end, 95, 7, 0, {"wait_on_stream": 7, "wait_on_cuda_event_id": number})
        m.activity("Stream Wait Event", "cuda_sync", end + 1, 90, 7, 0, {"wait_on_stream": 20})
    m.write(folder / "trace.json")
    return [asks(found(launch_bound=(0.42, 0.53))), gpu(busy(0.47, 0.53), idle(launches=(0.95, 1))),
            expects("tbtrace kernels trace.json --format json",
                    rows(lambda table: len(table) == 1 and table[0]["count"] == 60, "60 kernels of one name"))]


def foreach_adamw_on_dtensors(folder):
    m = Machine("H100")
    for number in range(4):
        with m.step(number):
            _layers(m, 10, 600, 550)
            with m.range("Optimizer.step#AdamW.step"):
                for _ in range(40):
                    m.op("aten::_foreach_addcdiv_", 90, ADD, 8)
    m.write(folder / "trace.json")
    return [asks(found(small_kernels=(0.23, 0.36)), remedy("small_kernels", "fuse|cuda graph|compile"),
                 says("small_kernels", "AdamW|_foreach")), gpu(idle(launches=(0.95, 1)))]


def hundreds_of_launches_per_decode(folder):
    m = Machine("H100")
    for _ in range(3):
        _graph(m, 10, 120)
        for _ in range(60):
            m.op("aten::index_select", 65, ADD, 4)
    m.write(folder / "trace.json")
    return [asks(found(small_kernels=(0.55, 0.72)), remedy("small_kernels", "cuda graph")),
            gpu(idle(launches=(0.93, 1)))]


def fp8_linear_forward(folder):
    m = Machine("H100")
    for number in range(3):
        with m.step(number):
            with m.range("forward"):
                _layers(m, 40, 60, 140)
            with m.range("backward"):
                _layers(m, 40, 100, 100)
    m.write(folder / "trace.json")
    return [asks(found(launch_bound=(0.27, 0.37)), never("too short")), gpu(busy(0.63, 0.72), idle(launches=(0.95, 1)))]


def launches_wait_for_a_full_queue(folder):
    m = Machine()
    for number in range(60):
        m.launch([(f"ptxcall_simple_kernel_{2 + number % 2}", 95 if number % 2 else 58)], call="cuLaunchKernel",
                 category="cuda_driver", took=6 if number < 12 else 76)
    m.write(folder / "trace.json")
    return [asks(nothing_found), gpu(busy(0.97, 1))]


def some_launches_take_long(folder):
    m = Machine()
    for number in range(150):
        long = number % 15 == 14
        m.mm(100, 2512 if long else 12, took=2500.0 if long else 5.0)
    m.write(folder / "trace.json")
    return [asks(found(launch_bound=(0.33, 0.5)), says("launch_bound", "cudaLaunchKernel"),
                 never("less Python")),
            gpu(idle(launches=(0.97, 1))),
            expects(GAPS, rows(lambda gaps: gaps[0]["host"] == "cudaLaunchKernel" and gaps[0]["why"] == "launches",
                               "cudaLaunchKernel in the longest gap"))]


def kernel_lookup_on_xpu(folder):
    m = Machine("PVC", runtime="xpu")
    for _ in range(80):
        m.op("aten::mul", 52, "at::native::xpu::VectorizedElementwiseKernel<4, MulFunctor>", 8)
    m.write(folder / "trace.json")
    return [asks(found(small_kernels=(0.78, 0.9)), never("CUDA")),
            gpu(busy(0.1, 0.2), idle(launches=(0.9, 1), rest=0.1))]


def replay_prepared_on_the_host(folder):
    m = Machine("H100")
    for _ in range(5):
        with m.range("replay_prepare"):
            for _ in range(11):
                with m.range("aten::copy_", "cpu_op"):
                    m.run(100)
                    m.copy("HtoD", 512, 1.5, False)
                    m.run(105)
        with m.range("replay"):
            _graph(m, 20, 500)
        m.read()
    m.write(folder / "trace.json")
    return [asks(found({"launch_bound": (0.15, 0.21)}, also=("blocking_copies",)),
                 says("launch_bound", "copy_|replay_prepare")),
            gpu(busy(0.78, 0.86), idle(launches=(0.8, 1), copies=(0, 0.2))),
            expects(GAPS, rows(lambda gaps: "aten::copy_" in (gaps[0]["host"] or ""),
                               "aten::copy_ in the longest gap"))]


def small_batch_is_overhead_bound(folder):
    m = Machine("H100")
    for _ in range(100):
        m.op("LigerRMSNorm", 10, "_rms_norm_forward_kernel", 4, call="cuLaunchKernel", category="cuda_driver")
    m.write(folder / "trace.json")
    return [asks(found(small_kernels=(0.3, 0.7)), never("other streams", "other ranks", "host is in time")),
            gpu(busy(0.35, 0.5), idle(launches=(0.9, 1), rest=0.1))]


def optimizer_operators_on_the_cpu(folder):
    m = Machine()
    for number in range(5):
        with m.step(number):
            _layers(m, 5, 2000)
            with m.range("aten::copy_", "cpu_op"):
                m.copy("DtoH", 12_000_000, 500, True)
            with m.range("Optimizer.step#AdamW.step"):
                for name in ("aten::mul_", "aten::lerp_", "aten::addcmul_", "aten::sqrt", "aten::addcdiv_") * 4:
                    m.op(name, 500)
            with m.range("aten::copy_", "cpu_op"):
                m.copy("HtoD", 12_000_000, 500, False)
    m.write(folder / "trace.json")

    def named(answer):
        text = "\n".join(words(finding) for finding in answer.json["findings"])
        check("Optimizer.step" in text or "CPU" in text, "the optimizer, or operators on the CPU", text)
    return [asks(named, never(*LAUNCH_ADVICE, "less Python", "item\\(\\)", "pinned memory")),
            gpu(busy(0.48, 0.58), idle(copies=(0, 0.15), launches=(0.85, 1)))]


def runtime_calls_without_operators(folder):
    m = Machine("H100")
    for _ in range(120):
        m.run(34)
        m.launch([(ADD, 8)])
    m.write(folder / "trace.json")
    return [asks(found({"low_gpu_utilization": (0.7, 0.85)}, also=("small_kernels",)),
                 remedy("low_gpu_utilization", r"operators|CPU activit|Activity\.CPU"), never("more workers")),
            gpu(busy(0.15, 0.25), idle(launches=(0.1, 0.35), nothing_recorded=(0.6, 0.9), rest=0.15))]


def host_bound_on_two_threads(folder):
    m = Machine("H100", header={"with_stack": 1})
    with m.frame("train.py(30): main"):
        for number in range(3):
            with m.step(number):
                with m.frame("model.py(80): forward"):
                    _layers(m, 25, 40, 100)
                with m.frame("torch/autograd/graph.py(800): _engine_run_backward"), m.on(4200):
                    for _ in range(25):
                        with m.range("autograd::engine::evaluate_function: MmBackward0", "cpu_op"):
                            m.mm(40, 90)
                            m.run(10)
    m.write(folder / "trace.json")
    return [asks(found(launch_bound=(0.5, 0.62)), never("too short")),
            gpu(busy(0.37, 0.45), idle(launches=(0.9, 1), rest=0.1))]


def allocations_of_the_first_iteration(folder):
    m = Machine("V100")
    for number in range(5):
        with m.step(number):
            m.op("aten::zero_", 12, ADD, 4)
            for layer in range(8):
                with m.range("aten::mm", "cpu_op"):
                    m.run(4)
                    if number == 0:
                        m.call("cudaMalloc", 3000 + 10 * layer)
                    m.launch([("volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_tn", 500)])
    m.write(folder / "trace.json")
    return [asks(found(cold_start=(0.4, 0.6)), remedy("cold_start", "warm"), says("cold_start", "cudaMalloc"),
                 never("smaller batch", "expandable")),
            gpu(idle(cold_start=(0.95, 1)))]


def metadata_by_gloo(folder):
    m = Machine("H100", rank=0, world=4)
    for _ in range(7):
        with m.range("c10d::broadcast_", "cpu_op"), m.range("gloo:broadcast"):
            m.run(3300)
        _graph(m, 20, 300)
        m.read()
    m.write(folder / "trace.json")
    return [asks(found(host_communication=(0.26, 0.38)), says("host_communication", "gloo:broadcast"),
                 never("nccl", *LAUNCH_ADVICE)),
            gpu(idle(host_communication=(0.95, 1)))]


def barrier_before_each_reduction(folder):
    m = Machine("V100", rank=0, world=2)
    for number in range(6):
        with m.step(number):
            _layers(m, 10, 1000)
            m.read()
            with m.range("c10d::barrier", "cpu_op"), m.range("gloo:barrier"):
                m.run(4300)
    m.write(folder / "trace.json")
    return [asks(found(host_communication=(0.22, 0.32)), says("host_communication", "barrier")),
            gpu(idle(host_communication=(0.97, 1)))]


def replicas_on_two_threads(folder):
    m = Machine("V100", gpus=2)
    start = m.now
    for device, thread in ((0, 4301), (1, 4302)):
        m.now = start + 7 * device
        with m.on(thread):
            for _ in range(60):
                m.op("aten::add_", 50, ADD, 9, device=device)
    m.write(folder / "trace.json")
    return [asks(found(small_kernels=(0.68, 0.85)), never("micro batch", "tensor parallel")),
            gpu(busy(0.15, 0.22), busy(0.15, 0.22, device=1), idle(launches=(0.88, 1), rest=0.12),
                idle(1, launches=(0.88, 1), rest=0.12))]


def collector_while_autograd_launches(folder):
    m = Machine("H100", header={"with_stack": 1})
    with m.frame("train.py(30): main"):
        for number in range(4):
            with m.step(number):
                _layers(m, 6, 500)
                with m.frame("torch/autograd/graph.py(800): _engine_run_backward"):
                    with m.on(4200):
                        _layers(m, 3, 500)
                    m.run(4000)
                    m.spend("Python GC", 3000)
                    with m.on(4200):
                        _layers(m, 3, 500)
    m.write(folder / "trace.json")
    return [asks(found(garbage_collection=(0.1, 0.45)), remedy("garbage_collection", "freeze")),
            gpu(idle(garbage_collection=(0.9, 1), rest=0.1))]


def model_split_over_two_gpus(folder):
    m = Machine(gpus=2)
    moved = 0.0
    for number in range(4):
        with m.step(number):
            for device in (0, 1, 1, 0):
                for _ in range(5):
                    moved = m.mm(1000, device=device, after=[moved])[1]
    m.write(folder / "trace.json")
    return [asks(found(gpus_take_turns=(0.38, 0.55)), remedy("gpus_take_turns", "pipelin|micro|process"),
                 never(*LAUNCH_ADVICE)),
            gpu(busy(0.45, 0.62), busy(0.45, 0.7, device=1), idle(other_device=(0.97, 1)),
                idle(1, other_device=(0.97, 1)))]


def replicas_of_data_parallel(folder):
    m = Machine(gpus=4)
    for number in range(5):
        with m.step(number):
            _layers(m, 10, 500)
            ends = [m.free[0, 7]]
            for _ in range(3):
                ends += [m.mm(600, device=device, after=[ends[0]])[1] for device in range(4)]
            m.mm(200, after=ends)
            m.read()
            m.run(3000)
    m.write(folder / "trace.json")
    others = [check_row for device in (1, 2, 3) for check_row in (
        busy(0.15, 0.3, device=device), idle(device, other_device=(0.5, 0.75), copies=(0.25, 0.5)))]
    return [gpu(busy(0.65, 0.77), *others)]


def stalls_between_queued_kernels(folder):
    m = Machine()
    for number in range(60):
        stall = m.free.get((0, 7), 0.0) + 2000 if number in (17, 31, 50) else 0.0
        m.mm(100, after=[stall])
    m.write(folder / "trace.json")
    return [asks(found({"low_gpu_utilization": (0.45, 0.55)}), never(*LAUNCH_ADVICE, "too late", "more workers")),
            gpu(idle(causes={"device": (0.98, 1)}))]


def graph_kernels_partly_recorded(folder):
    m = Machine("MI300X", runtime="hip")
    for _ in range(6):
        _graph(m, 20, 370)
        m.call("hipEventSynchronize", 10_000)
        m.run(60)
    m.write(folder / "trace.json")
    return [asks(found({"unrecorded_device_work": (0.2, 0.3)}), never(*LAUNCH_ADVICE)),
            gpu(idle(unrecorded_work=(0.93, 1), rest=0.07)),
            expects(CHECK, has("unrecorded|missing|lacks|not in the file"), code=1)]


def activity_buffers_in_the_window(folder):
    m = Machine("H100")
    for number in range(120):
        long = number % 15 == 14
        if long:
            m.event("X", "Activity Buffer Request", -1, 0, m.now + 5, "overhead", 2490)
        m.mm(100, 2512 if long else 12, took=2500.0 if long else 5.0)
    m.write(folder / "trace.json")
    return [asks(found(profiler_overhead=(0.33, 0.5)), never(*LAUNCH_ADVICE)), gpu(idle(profiler=(0.95, 1)))]


def first_forward_loads_libraries(folder):
    m = Machine()
    with m.range("aten::copy_", "cpu_op"):
        m.copy("HtoD", 200_000, 30, True)
    for number in range(5):
        with m.step(number):
            for layer in range(4):
                with m.range("aten::cudnn_convolution", "cpu_op"):
                    if number == 0:
                        m.call("cuModuleLoadData" if layer else "cuLibraryLoadData", 10_000)
                    m.launch([(f"sm80_xmma_fprop_implicit_gemm_bf16_{layer}", 2000)])
    m.write(folder / "trace.json")
    return [asks(found(cold_start=(0.38, 0.52)), remedy("cold_start", "warm"),
                 says("cold_start", "cuModuleLoadData|cuLibraryLoadData"), never(*LAUNCH_ADVICE)),
            gpu(idle(cold_start=(0.97, 1)))]


def no_gaps_in_the_stream(folder):
    m = Machine()
    for number in range(4):
        with m.step(number):
            _layers(m, 20, 900)
            m.op("aten::copy_", 12, ADD, 300)
    m.write(folder / "trace.json")
    return [asks(nothing_found), gpu(busy(0.98, 1))]
