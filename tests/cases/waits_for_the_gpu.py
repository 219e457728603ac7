"""The GPU is idle after a wait of the host: for a copy, a synchronization, or the allocator."""
from expect import asks, busy, checks_are, expects, found, gain, gpu, idle, never, nothing_found, remedy, says
from machine import ADD, GEMM, Machine

ROCM_GEMM = "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI16x16x16x1_SN_1LDSB0"
LAUNCH_ADVICE = ("cuda graph", "larger batch")


def _layers(m, count, gpu_time, host=12.0, kernel=GEMM):
    for _ in range(count):
        m.mm(gpu_time, host, kernel=kernel)


def loss_read_after_a_busy_step(folder):
    m = Machine()
    for number in range(5):
        with m.step(number):
            m.run(8000)
            _layers(m, 20, 2250)
            m.read()
    m.write(folder / "trace.json")
    return [asks(found(blocking_copies=(0.11, 0.17)), gain("blocking_copies", 5000, 8300)),
            gpu(busy(0.83, 0.89), idle(copies=(0.97, 1)))]


def clip_grad_norm_branches(folder):
    m = Machine("V100")
    for number in range(4):
        with m.step(number):
            _layers(m, 6, 500, kernel="volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_tn")
            for test in ("aten::isnan", "aten::isinf", "aten::lt"):
                m.op(test, 14, ADD, 3)
                with m.range("aten::is_nonzero", "cpu_op"):
                    m.read()
            with m.range("Optimizer.step#AdamW.step"):
                for _ in range(30):
                    m.op("aten::addcmul_", 26, ADD, 5)
    m.write(folder / "trace.json")
    return [asks(found({"blocking_copies": (0.1, 0.3)}, also=("small_kernels",)),
                 remedy("blocking_copies", "item|copies")),
            gpu(idle(copies=(0.6, 1), launches=(0, 0.4)))]


def loss_read_twice(folder):
    m = Machine()
    for number in range(5):
        with m.step(number):
            for _ in range(2):
                _layers(m, 5, 1000)
                m.read()
                m.run(500)
    m.write(folder / "trace.json")
    return [asks(found(blocking_copies=(0.07, 0.11)), gain("blocking_copies", 700, 1150)),
            gpu(busy(0.89, 0.93), idle(copies=(0.96, 1)))]


def item_for_each_token(folder):
    m = Machine("H100")
    for number in range(4):
        m.launch([(GEMM, 50)] * 10, call="cudaGraphLaunch", took=20)
        for _ in range(20):
            m.read()
            m.run(4)
        with m.range("aten::copy_", "cpu_op"):
            m.copy("HtoD", 4096, 2, True)
    m.write(folder / "trace.json")
    return [asks(found({"blocking_copies": (0.35, 0.55)}), remedy("blocking_copies", "item|pinned|non_blocking")),
            gpu(busy(0.45, 0.62), idle(copies=(0.8, 1), rest=0.2))]


def bitmask_from_pageable_memory(folder):
    m = Machine("H100")
    for _ in range(8):
        m.launch([(GEMM, 300)] * 10, call="cudaGraphLaunch", took=25)
        with m.range("aten::to", "cpu_op"), m.range("aten::_to_copy", "cpu_op"), m.range("aten::copy_", "cpu_op"):
            m.copy("HtoD", 19_000, 6, True)
        m.run(250)
        for _ in range(8):
            m.op("aten::masked_fill_", 20, ADD, 25)
    m.write(folder / "trace.json")
    return [asks(found(blocking_copies=(0.06, 0.14)), remedy("blocking_copies", "non_blocking|pinned"),
                 never(*LAUNCH_ADVICE)), gpu(idle(copies=(0.85, 1), rest=0.15))]


def repeat_interleave_reads_a_length(folder):
    m = Machine("H100")
    for _ in range(8):
        _layers(m, 10, 200)
        m.op("aten::cumsum", 12, ADD, 4)
        m.read("aten::repeat_interleave")
        m.run(500)
    m.write(folder / "trace.json")
    return [asks(found(blocking_copies=(0.16, 0.24)), says("blocking_copies", "repeat_interleave"),
                 never(*LAUNCH_ADVICE)),
            gpu(idle(copies=(0.93, 1), rest=0.07))]


def boolean_mask_in_the_loss(folder):
    m = Machine()
    for number in range(6):
        with m.step(number):
            _layers(m, 8, 500)
            with m.range("aten::index", "cpu_op"), m.range("aten::nonzero", "cpu_op"):
                m.run(6)
                m.launch([("void at_cuda_detail::cub::DeviceReduceSingleTileKernel<bool, int>(bool*, int*)", 5)])
                m.copy("DtoH", 8, 1.5, False)
                m.wait("cudaStreamSynchronize")
                m.run(4)
            m.run(1000)
    m.write(folder / "trace.json")
    return [asks(found(blocking_copies=(0.15, 0.23)), says("blocking_copies", "nonzero"),
                 never(*LAUNCH_ADVICE, "in aten::mm")),
            gpu(idle(copies=(0.95, 1)))]


def splits_as_a_list(folder):
    m = Machine()
    for number in range(6):
        with m.step(number):
            _layers(m, 4, 500)
            with m.range("aten::to", "cpu_op"), m.range("aten::_to_copy", "cpu_op"), m.range("aten::copy_", "cpu_op"):
                m.copy("DtoH", 64, 1.5, True)
            m.run(900)
    m.write(folder / "trace.json")
    return [asks(found(blocking_copies=(0.24, 0.35)), never(*LAUNCH_ADVICE)), gpu(idle(copies=(0.95, 1)))]


def item_on_rocm(folder):
    m = Machine("MI300X", runtime="hip")
    for _ in range(8):
        _layers(m, 10, 300, kernel=ROCM_GEMM)
        m.read()
        m.run(2000)
    m.write(folder / "trace.json")
    return [asks(found(blocking_copies=(0.33, 0.43)), never(*LAUNCH_ADVICE, "cudaMemcpy", "CUDA")),
            gpu(busy(0.58, 0.68), idle(copies=(0.97, 1)))]


def progress_bar_reads_metrics(folder):
    m = Machine()
    for number in range(6):
        with m.step(number):
            _layers(m, 8, 1000)
            with m.range("[pl][profile][Callback]TQDMProgressBar.on_train_batch_end"):
                m.read()
                m.run(2000)
    m.write(folder / "trace.json")
    return [asks(found(blocking_copies=(0.14, 0.22)), never(*LAUNCH_ADVICE)), gpu(idle(copies=(0.95, 1)))]


def sizes_read_once_after_the_loop(folder):
    m = Machine("H100")
    for _ in range(20):
        _layers(m, 10, 1000)
    m.read()
    m.run(4000)
    _layers(m, 6, 1000)
    m.write(folder / "trace.json")
    return [asks(nothing_found), gpu(busy(0.975, 0.99))]


def synchronize_in_each_iteration(folder):
    m = Machine()
    for number in range(6):
        with m.step(number):
            _layers(m, 8, 1000)
            m.wait()
            m.run(2000)
    m.write(folder / "trace.json")
    return [asks(found(device_synchronization=(0.15, 0.22)), never(*LAUNCH_ADVICE, "item\\(\\)")),
            gpu(idle(synchronization=(0.96, 1)))]


def synchronize_to_read_the_allocator(folder):
    m = Machine()
    for number in range(6):
        with m.step(number):
            _layers(m, 6, 500)
            m.wait()
            m.run(1000)
            for _ in range(6):
                m.op("aten::_foreach_norm", 14, ADD, 12)
    m.write(folder / "trace.json")
    return [asks(found(device_synchronization=(0.17, 0.27)), never(*LAUNCH_ADVICE)),
            gpu(idle(synchronization=(0.9, 1), rest=0.1))]


def synchronize_at_the_end_of_the_recording(folder):
    m = Machine("H100")
    for number in range(3):
        with m.step(number):
            m.run(20)
            for name in ("aten::matmul", "aten::mm", "aten::add", "aten::relu"):
                m.op(name, 60, GEMM if name == "aten::mm" else ADD, 3)
    m.call("cudaDeviceSynchronize", 1800)
    m.write(folder / "trace.json")
    return [asks(found({"small_kernels": (0.6, 1)}), never("synchroniz", "missing", "lacks")),
            gpu(idle(launches=(0.8, 1), rest=0.2)),
            expects("tbtrace check trace.json --format json", checks_are())]


def empty_cache_in_each_step(folder):
    m = Machine()
    for number in range(5):
        with m.step(number):
            with m.range("aten::empty", "cpu_op"):
                m.call("cudaMalloc", 2500)
            _layers(m, 5, 1000)
            m.wait()
            m.call("cudaFree", 1500)
    m.write(folder / "trace.json")
    return [asks(found(allocator_calls=(0.35, 0.47)), remedy("allocator_calls", "empty_cache"), never(*LAUNCH_ADVICE)),
            gpu(busy(0.52, 0.64), idle(allocation=(0.97, 1)))]


def pinned_buffer_in_each_iteration(folder):
    m = Machine("H100")
    for _ in range(7):
        with m.range("aten::empty", "cpu_op"):
            m.call("cudaHostAlloc", 5000)
        with m.range("aten::copy_", "cpu_op"):
            m.copy("HtoD", 33_500_000, 400, False)
        m.launch([(GEMM, 270)] * 10, call="cudaGraphLaunch", took=25)
    m.write(folder / "trace.json")
    return [asks(found({"allocator_calls": (0.28, 0.45)}, also=("exposed_copies",)),
                 says("allocator_calls", "cudaHostAlloc"),
                 remedy("allocator_calls", "page-locked|pinned|once|reuse|keep"),
                 never(*LAUNCH_ADVICE, "smaller batch", "expandable_segments")),
            gpu(idle(allocation=(0.97, 1)))]


def staging_of_pageable_memory(folder):
    m = Machine("MI300X", runtime="hip")
    for _ in range(10):
        with m.range("aten::copy_", "cpu_op"):
            called = m.now
            m.run(3000)
            m.copy("HtoD", 1_000_000, 60, True, call="hipMemcpyAsync")
            call = m.events[-1]
            call["ts"], call["dur"] = round(called, 3), round(m.now - called, 3)
        _layers(m, 4, 300, kernel=ROCM_GEMM)
        m.wait()
    m.write(folder / "trace.json")
    return [asks(found(blocking_copies=(0.6, 0.75)), remedy("blocking_copies", "pinned"), never(*LAUNCH_ADVICE)),
            gpu(busy(0.25, 0.4), idle(copies=(0.95, 1)))]


def waits_while_the_next_batch_runs(folder):
    m = Machine("H100")
    last = 0.0
    for _ in range(12):
        end = m.launch([(GEMM, 200)] * 10, call="cudaGraphLaunch", took=25)[1]
        m.run(300)
        if last > m.now:
            m.call("cudaEventSynchronize", last - m.now + 4)
        m.run(400)
        last = end
    m.write(folder / "trace.json")
    return [asks(nothing_found), gpu(busy(0.98, 1))]


def wait_for_a_busy_gpu(folder):
    m = Machine()
    for _ in range(12):
        with m.range("ExecutionContext::enqueueV2"):
            for _ in range(8):
                m.launch([("trt_ampere_h16816cudnn_128x128_ldg8_relu_exp_interior_nhwc_tn_v1", 250)])
        m.wait("cudaStreamSynchronize")
        m.run(30)
    m.write(folder / "trace.json")
    return [asks(nothing_found), gpu(busy(0.95, 0.99))]
