"""Communication: what is exposed and what may help, and who waits for whom."""
from expect import (asks, busy, check, expects, exposed, found, gpu, has, idle, never, no_straggler, remedy, rows,
                    says, straggler)
from machine import COLLECTIVES, GEMM, Machine, collective, meet

SUMMARY = "tbtrace summary . --format json"
COLLECTIVES = "tbtrace collectives . --format json"
KERNELS = "tbtrace kernels trace.json --format json"
# What helps data parallel training only.
TRAINING_ADVICE = ("bucket", "gradient accumulation", "prefetch", "backward pass")


def _layers(m, count, gpu_time, host=12.0, **kwargs):
    for _ in range(count):
        times = m.mm(gpu_time, host, **kwargs)
    return times


def _times(expected):
    """Microseconds by a part of the kernel's name."""
    def holds(table):
        got = {part: sum(row["total_ns"] for row in table if part in row["name"]) for part in expected}
        return all(abs(got[part] - 1000 * time) < 1000 for part, time in expected.items())
    return holds


def _job(folder, ranks, steps, rank_of_step, transfer=1000.0, reads=True):
    """Ranks that do their part of each step and then reduce together."""
    machines = [Machine(rank=rank, world=ranks) for rank in range(ranks)]
    for number in range(steps):
        open_steps = [m.step(number) for m in machines]
        for m, step in zip(machines, open_steps):
            step.__enter__()
            rank_of_step(m, number)
        meet(machines, "all_reduce", 50_000_000, transfer)
        for m, step in zip(machines, open_steps):
            if reads:
                m.read()
            step.__exit__(None, None, None)
    for m in machines:
        m.write(folder / f"rank{m.rank}.json")


def gathers_and_scatters_on_one_stream(folder):
    m = Machine(rank=0, world=8)
    for number in range(4):
        with m.step(number):
            computed = m.free.get((0, 7), 0.0)
            for _ in range(6):
                gathered = collective(m, "all_gather", 20_000_000, 500, after=[computed])[1]
                computed = m.mm(2000, after=[gathered])[1]
                collective(m, "reduce_scatter", 20_000_000, 500, after=[computed])
    m.write(folder / "trace.json")
    return [asks(found(exposed_communication=(0.29, 0.36)), says("exposed_communication", "all.?gather"),
                 says("exposed_communication", "reduce.?scatter"), remedy("exposed_communication", "prefetch|overlap")),
            gpu(exposed(0.29, 0.36))]


def gathers_of_the_forward_pass(folder):
    m = Machine(rank=0, world=8)
    for number in range(4):
        with m.step(number):
            computed = 0.0
            for _ in range(6):
                gathered = collective(m, "all_gather", 20_000_000, 800, after=[computed])[1]
                computed = m.mm(1000, after=[gathered])[1]
            for layer in range(6):
                computed = m.mm(2000, after=[computed])[1]
                collective(m, "reduce_scatter", 20_000_000, 700, after=[computed] if layer < 5 else [computed - 800])
    m.write(folder / "trace.json")
    return [asks(found(exposed_communication=(0.17, 0.26)), says("exposed_communication", "all.?gather"),
                 never("reduce.?scatter.{0,40}(most|largest)")), gpu(exposed(0.17, 0.26)),
            expects(KERNELS, rows(_times({"AllGather": 24 * 800, "ReduceScatter": 24 * 700}), "gathers and scatters"))]


def ccl_without_overlap_on_xpu(folder):
    m = Machine("PVC", runtime="xpu", rank=0, world=2)
    for number in range(5):
        with m.step(number):
            computed = _layers(m, 4, 500, kernel="gemm_kernel", after=[m.free.get((0, 20), 0.0)])[1]
            with m.range("c10d::allreduce_", "cpu_op"), m.range("xccl:all_reduce"):
                m.launch([("oneccl_allreduce_small<sycl::ext::oneapi::bfloat16>", 1500)], 20, after=[computed])
    m.write(folder / "trace.json")
    return [asks(found(exposed_communication=(0.38, 0.48)), never("NCCL", "CUDA")), gpu(exposed(0.38, 0.48))]


def first_gather_sets_up_nccl(folder):
    m = Machine("V100", rank=0, world=8)
    for number in range(6):
        with m.step(number):
            computed = _layers(m, 10, 1000, after=[m.free.get((0, 20), 0.0)])[1]
            collective(m, "all_gather", 2048, 500 if number else 100_000, after=[computed])
    m.write(folder / "trace.json")
    return [asks(found({"exposed_communication": (0.55, 0.7)}),
                 says("exposed_communication", "single|one (event|collective|call|kernel|of)|the first|once|longest"),
                 never(*TRAINING_ADVICE)),
            gpu(exposed(0.55, 0.7))]


def one_gpu_is_always_late(folder):
    _job(folder, 4, 6, lambda m, number: _layers(m, 10, 1300 if m.rank == 2 else 1000))
    def before_communication(answer):
        order = [finding["id"] for finding in answer.json["findings"]]
        check(order and order[0] == "straggler", "first that rank 2 holds up the job", order)
    return [expects(SUMMARY, straggler(2, "compute"), before_communication, has("rank 2")),
            expects(COLLECTIVES, straggler(2, "compute"))]


def busy_wait_in_one_backward(folder):
    def step(m, number):
        _layers(m, 3, 1000)
        if m.rank == 1:
            m.spend("hooks.py(12): slow_backward", 8000, "python_function")
        with m.range("autograd::engine::evaluate_function: MmBackward0", "cpu_op"):
            _layers(m, 5, 1000)
    _job(folder, 4, 6, step)
    return [expects(SUMMARY, straggler(1, "launch"), has("rank 1")), expects(COLLECTIVES, straggler(1, "launch"))]


def loader_of_one_rank(folder):
    def step(m, number):
        m.spend("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 8000 if m.rank == 2 else 80)
        _layers(m, 10, 1000)
    _job(folder, 4, 6, step)
    return [expects(SUMMARY, straggler(2, "input"), has("rank 2")), expects(COLLECTIVES, straggler(2, "input"))]


def tensor_parallel_over_pcie(folder):
    m = Machine(rank=0, world=8)
    reduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
    for _ in range(4):
        with m.range("execute_context_0(0)_generation_8(8)"):
            m.launch([(GEMM, 66), (GEMM, 66), (reduce, 292)] * 20, call="cudaGraphLaunch", took=30)
            m.read()
    m.write(folder / "trace.json")
    return [asks(found({"exposed_communication": (0.63, 0.72)}), never(*TRAINING_ADVICE)), gpu(exposed(0.63, 0.72))]


def buffers_broadcast_in_each_forward(folder):
    m = Machine(rank=0, world=4)
    for number in range(4):
        with m.step(number):
            sent = max(m.free.get((0, 20), 0.0), m.free.get((0, 7), 0.0))
            for _ in range(5):
                sent = collective(m, "broadcast", 4_000_000, 1400, after=[sent], ranks=4)[1]
            _layers(m, 4, 1000, after=[sent])
            for _ in range(3):
                computed = _layers(m, 3, 1000)[1]
                collective(m, "all_reduce", 20_000_000, 900, after=[computed - 1000], ranks=4)
    m.write(folder / "trace.json")
    return [asks(found(exposed_communication=(0.3, 0.38)), says("exposed_communication", "broadcast")),
            gpu(exposed(0.3, 0.38)),
            expects(KERNELS, rows(_times({"Broadcast": 20 * 1400, "AllReduce": 12 * 900}), "both kinds"))]


def decoding_rank_launches_late(folder):
    machines = [Machine("H100", rank=rank, world=4) for rank in range(4)]
    for _ in range(5):
        ranges = [m.range("execute_context_0(0)_generation_8(8)") for m in machines]
        for m, decode in zip(machines, ranges):
            decode.__enter__()
            m.run(2000 if m.rank == 3 else 50)
        for _ in range(3):
            for m in machines:
                _layers(m, 2, 200)
            meet(machines, "all_reduce", 100_000, 30)
        for m, decode in zip(machines, ranges):
            m.read()
            decode.__exit__(None, None, None)
    for m in machines:
        m.write(folder / f"rank{m.rank}.json")

    def rank_3_last(table):
        late = [row for row in table if (row["wait_max_ns"] or 0) > 1e6]
        return len(table) == 15 and len(late) == 5 and all(row["last_rank"] == 3 for row in late)
    return [expects(SUMMARY, has("rank 3"), never(*TRAINING_ADVICE, "profiler\\.step")),
            expects(COLLECTIVES, rows(rank_3_last, "rank 3 as the last one of the first all-reduce of each step"))]


def loss_reduced_per_micro_batch(folder):
    machines = [Machine(rank=rank, world=2) for rank in range(2)]
    for number in range(6):
        steps = [m.step(number) for m in machines]
        for step in steps:
            step.__enter__()
        for batch in range(4):
            for m in machines:
                _layers(m, 5, 1200 if (batch + m.rank) % 2 else 1000)
            meet(machines, "all_reduce", 2, 15)
        for m, step in zip(machines, steps):
            m.read()
            step.__exit__(None, None, None)
    for m in machines:
        m.write(folder / f"rank{m.rank}.json")

    def in_turn(table):
        last = [row["last_rank"] for row in sorted(table, key=lambda row: row["start_ns"])]
        return last == [1, 0, 1, 0] * 6 or last == [0, 1, 0, 1] * 6
    return [expects(SUMMARY, no_straggler), expects(COLLECTIVES, no_straggler, rows(in_turn, "each rank last in turn"))]


def launch_skew_in_one_step(folder):
    machines = [Machine("H100", rank=rank, world=2) for rank in range(2)]
    steps = [m.step(0) for m in machines]
    for m, step in zip(machines, steps):
        step.__enter__()
        m.run(10_000 if m.rank == 1 else 20)
    for _ in range(4):
        for m in machines:
            _layers(m, 2, 200)
        meet(machines, "all_gather", 1_000_000, 30)
    for m, step in zip(machines, steps):
        step.__exit__(None, None, None)
        m.write(folder / f"rank{m.rank}.json")

    def skew(table):
        first = max(table, key=lambda row: row["wait_max_ns"] or 0)
        return 9e6 < first["wait_max_ns"] < 11e6 and first["transfer_ns"] < 60_000 and len(table) == 4 \
            and all((row["wait_max_ns"] or 0) < 200_000 for row in table if row is not first)
    return [expects(SUMMARY, no_straggler, never(*TRAINING_ADVICE)),
            expects(COLLECTIVES, no_straggler, rows(skew, "10 ms of waiting in the first all-gather only"))]


def all_reduce_is_short_on_the_host(folder):
    machines = [Machine(rank=rank, world=2) for rank in range(2)]
    for number in range(5):
        steps = [m.step(number) for m in machines]
        for m, step in zip(machines, steps):
            step.__enter__()
            _layers(m, 5, 1000 + 20 * m.rank)
        meet(machines, "all_reduce", 100_000_000, 5000)
        for m, step in zip(machines, steps):
            m.read()
            step.__exit__(None, None, None)
    for m in machines:
        m.write(folder / f"rank{m.rank}.json")

    def as_long_as_kernels(table):
        return len(table) == 5 and all(4.9e6 < row["transfer_ns"] < 5.1e6 and row["bytes"] == 200_000_000
                                       and 39e9 < row["bus_bandwidth_bytes_per_s"] < 41e9 for row in table)
    return [expects(SUMMARY, no_straggler, has("exposed_communication")),
            expects(COLLECTIVES, no_straggler, rows(as_long_as_kernels, "five all-reduces of 5 ms"))]


def expert_counts_read_back(folder):
    m = Machine("H100", rank=0, world=8)
    for number in range(3):
        with m.step(number):
            for _ in range(4):
                moved = m.free.get((0, 20), 0.0)
                routed = m.mm(100, after=[moved])[1]
                counted = collective(m, "all_to_all", 64, 20, after=[routed])[1]
                with m.range("aten::to", "cpu_op"), m.range("aten::copy_", "cpu_op"):
                    m.copy("DtoH", 256, 1.5, True, after=[counted])
                m.run(700)
                sent = collective(m, "all_to_all", 8_000_000, 150, after=[counted])[1]
                expert = m.mm(600, after=[sent])[1]
                collective(m, "all_to_all", 8_000_000, 150, after=[expert])
    m.write(folder / "trace.json")
    return [asks(found({"blocking_copies": (0.34, 0.48), "exposed_communication": (0.13, 0.24)}),
                 says("exposed_communication", "all.?to.?all")), gpu(idle(copies=(0.85, 1), rest=0.15))]


def five_reductions_for_metrics(folder):
    m = Machine(rank=0, world=8)
    for number in range(4):
        with m.step(number):
            _layers(m, 8, 1000, after=[m.free.get((0, 20), 0.0)])
            for _ in range(5):
                reduced = collective(m, "all_reduce", 1, 20, after=[m.free[0, 7]])[1]
                m.read(after=[reduced])
                m.run(380)
    m.write(folder / "trace.json")
    return [asks(found(blocking_copies=(0.13, 0.24))), gpu(idle(copies=(0.85, 1), rest=0.15))]


def receive_before_the_all_to_all(folder):
    m = Machine("MI300X", runtime="hip", rank=0, world=2)
    for number in range(4):
        with m.step(number):
            for _ in range(3):
                computed = _layers(m, 2, 1000, after=[m.free.get((0, 20), 0.0)])[1]
                collective(m, "recv", 8_000_000, 3000, after=[computed], ranks=2, group="pp")
                sent = collective(m, "all_to_all", 8_000_000, 300, ranks=2, group="ep")[1]
                _layers(m, 2, 1000, after=[sent])
    m.write(folder / "trace.json")
    return [asks(found({"exposed_communication": (0.4, 0.5)}), says("exposed_communication", "recv|send|pipeline"),
                 never("bucket", "prefetch", "gradient accumulation")), gpu(exposed(0.4, 0.5))]


def offload_of_a_small_model(folder):
    m = Machine()
    for number in range(4):
        with m.step(number):
            with m.range("aten::copy_", "cpu_op"):
                m.copy("HtoD", 150_000_000, 6500, False)
            _layers(m, 7, 1000)
            with m.range("aten::copy_", "cpu_op"):
                m.copy("DtoH", 150_000_000, 6500, False)
    m.write(folder / "trace.json")
    return [asks(found(exposed_copies=(0.6, 0.7)), never("cuda graph", "larger batch")),
            gpu(exposed(0.6, 0.7, what="memory"), busy(0.98, 1))]
