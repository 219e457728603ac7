"""The GPU is idle: settings for debugging or searching, the host's waits for others, and what comes again."""
import contextlib

from expect import asks, found, gain, gpu, idle, never, remedy, says
from machine import ADD, GEMM, MAIN, Machine

LOCK = "<built-in method acquire of _thread.lock object at 0x7f20>"


@contextlib.contextmanager
def _module(m, name, frame):
    with m.module(name), m.frame("torch/nn/modules/module.py(1773): _wrapped_call_impl"):
        m.run(2)
        with m.frame("torch/nn/modules/module.py(1784): _call_impl"):
            m.run(3)
            with m.frame(frame):
                m.run(1)
                yield
            m.run(1)


def launch_blocking_is_set(folder):
    m = Machine()
    for number in range(4):
        with m.step(number):
            for _ in range(60):
                with m.range("aten::mm", "cpu_op"):
                    m.run(14)
                    _, end = m.launch([(GEMM, 60)])
                    call = [event for event in m.events if event["name"] == "cudaLaunchKernel"][-1]
                    m.now = end + 6
                    call["dur"] = round(m.now - call["ts"], 3)
                    m.run(8)
                m.run(12)
    m.write(folder / "trace.json")
    return [asks(found(device_synchronization=(0.4, 0.5)), remedy("device_synchronization", "CUDA_LAUNCH_BLOCKING"),
                 never("less Python")), gpu(idle(synchronization=(0.95, 1)))]


def requests_come_slowly(folder):
    m = Machine("H100")
    with m.frame("server.py(12): main"):
        for _ in range(20):
            with m.frame("server.py(50): infer"):
                for _ in range(20):
                    m.mm(200)
                m.read()
            with m.frame("queue.py(154): get"), m.frame("threading.py(327): wait"):
                m.spend(LOCK, 3000, "python_function")
    m.write(folder / "trace.json")
    return [asks(found(host_code=(0.38, 0.45)), remedy("host_code", "request"), never("another thread or process, or after",
                                                                                     r"\.item\(\)")),
            gpu(idle(code=(0.97, 1)))]


def stacks_of_a_launch_bound_model(folder):
    m = Machine()
    for number in range(5):
        with m.step(number), m.frame("train.py(10): train_step"):
            for block in range(12):
                with _module(m, f"Block_{block}", "model.py(30): forward"):
                    for layer in range(4):
                        with _module(m, f"Linear_{block * 4 + layer}", "torch/nn/modules/linear.py(130): forward"):
                            with m.frame("<built-in function linear>"):
                                m.run(2)
                                m.op("aten::addmm", 14, GEMM, 6)
                    with m.frame("<built-in function gelu>"):
                        m.op("aten::gelu", 9, ADD, 3)
    m.write(folder / "trace.json")
    return [asks(found({"small_kernels": None, "host_code": None}), remedy("host_code", "larger batches"),
                 remedy("host_code", "CUDA graphs"), never('make "torch/nn'))]


def convolutions_search_for_each_size(folder):
    m = Machine()
    kernel = "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32_execute_kernel__5x_cudnn"
    for number in range(5):
        with m.step(number):
            size = 224 + 16 * number
            for _ in range(6):
                with m.range("aten::conv2d", "cpu_op", **{"Input Dims": [[8, 64, size, size], [64, 64, 3, 3]]}):
                    with m.range("aten::cudnn_convolution", "cpu_op"):
                        m.run(20)
                        for _ in range(8):
                            m.call("cudaMalloc", 300)
                            for _ in range(2):
                                m.launch([(kernel, 90)])
                                m.wait("cudaEventSynchronize")
                        m.wait("cudaDeviceSynchronize")
                        for _ in range(6):
                            m.call("cudaFree", 350)
                        m.launch([(kernel, 80)])
                        m.run(10)
    m.write(folder / "trace.json")
    return [asks(found(allocator_calls=None), remedy("allocator_calls", r"cudnn\.benchmark"), never("expandable_segments"))]


def segments_are_expandable(folder):
    m = Machine()
    for number in range(5):
        with m.step(number):
            for place in range(20):
                m.mm(500)
                if place % 7 != 3:
                    continue
                with m.range("aten::empty", "cpu_op"):
                    for name, took in (("cuMemUnmap", 300), ("cuMemRelease", 100), ("cuMemCreate", 250),
                                       ("cuMemMap", 20), ("cuMemSetAccess", 90)):
                        for _ in range(10):
                            m.call(name, took, "cuda_driver")
    m.write(folder / "trace.json")
    return [asks(found(allocator_calls=None), remedy("allocator_calls", "smaller batch"),
                 never("expandable_segments:True"))]


def counts_on_the_cpu_in_three_steps(folder):
    m = Machine()
    for number in range(3):
        with m.step(number):
            for _ in range(20):
                m.mm(400)
            m.read()
            m.op("aten::bincount", 1900)
            m.mm(400)
    m.write(folder / "trace.json")
    return [asks(found(launch_bound=None), remedy("launch_bound", "CPU"))]


def algorithms_found_in_later_steps(folder):
    m = Machine("MI300X", runtime="hip")
    for number in range(10):
        with m.step(number):
            for _ in range(10):
                m.mm(200, kernel="Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI16x16x16x1_SN_1LDSB0")
            if number in (4, 8):
                with m.range("aten::miopen_convolution", "cpu_op"):
                    for _ in range(4):
                        m.call("hipModuleLoadData", 6000)
                    m.launch([("miopenSp3AsmConv_v30_3_1_gfx9_fp16_f2x3_stride1", 200)],
                             call="hipExtModuleLaunchKernel")
    m.write(folder / "trace.json")
    return [asks(found(low_gpu_utilization=None), remedy("low_gpu_utilization", "loaded again"), never("only once")),
            gpu(idle(launches=(0.95, 1)))]


def kernel_compiled_in_each_step(folder):
    m = Machine()
    for number in range(6):
        with m.step(number):
            for _ in range(20):
                m.mm(100)
            with m.range("triton_poi_fused_add_0", "cpu_op"):
                m.run(3000)
                m.call("cuModuleLoadData", 1800, "cuda_driver")
                m.launch([("triton_poi_fused_add_0", 30)], call="cuLaunchKernel", category="cuda_driver")
    m.write(folder / "trace.json")
    return [asks(found(launch_bound=None), remedy("launch_bound", "each new size"), never("less Python", "CUDA graphs"))]


def launching_thread_is_not_scheduled(folder):
    m = Machine()
    for number in range(4):
        with m.step(number):
            for layer in range(40):
                for place, name in enumerate(("aten::view", "aten::slice", "aten::empty", "aten::t")):
                    m.op(name, 330 if (layer + place) % 2 else 3)
                m.mm(90, 30)
    m.write(folder / "trace.json")
    return [asks(found(launch_bound=None), remedy("launch_bound", "processor"), never("compute on the CPU"))]


def anomaly_detection_is_on(folder):
    m = Machine()
    for number in range(4):
        with m.step(number):
            for _ in range(20):
                m.mm(80)
            with m.on(MAIN + 50):
                for _ in range(20):
                    with m.range("autograd::engine::evaluate_function: MmBackward0", "cpu_op"):
                        with m.range("MmBackward0", "cpu_op"):
                            m.mm(80)
                            m.mm(80)
                        for _ in range(2):
                            with m.range("aten::isnan", "cpu_op"):
                                m.op("aten::ne", 10, ADD, 4)
                            with m.range("aten::_is_any_true", "cpu_op"):
                                m.op("aten::any", 12, ADD, 4)
                            m.read()
                        m.run(5)
    m.write(folder / "trace.json")
    return [asks(found(blocking_copies=None), remedy("blocking_copies", "set_detect_anomaly"), never("print"))]


def unused_parameters_are_searched(folder):
    m = Machine(rank=0, world=8)
    for number in range(5):
        with m.step(number):
            with m.range("DistributedDataParallel.forward"):
                for _ in range(20):
                    m.mm(80)
                with m.range("torch.distributed.ddp.reducer::search_unused_parameters"):
                    m.run(5000)
            with m.on(MAIN + 50):
                for _ in range(20):
                    m.mm(160)
    m.write(folder / "trace.json")
    return [asks(found(host_code=None), remedy("host_code", "find_unused_parameters"), never("with_stack"))]


def short_gaps_beside_long_ones(folder):
    m = Machine()
    for number in range(4):
        with m.step(number), m.frame("train.py(10): train_step"):
            for _ in range(500):
                m.run(3)
                m.mm(8, 5)
            for _ in range(5):
                m.spend("train.py(40): log_metrics", 20_000, "python_function")
                m.mm(8, 5)
    m.write(folder / "trace.json")
    return [asks(found(host_code=None), remedy("host_code", "log_metrics"), never("many short gaps"))]


def modules_loaded_first_and_twice_later(folder):
    m = Machine()
    for number in range(10):
        with m.step(number):
            for _ in range(10):
                m.mm(200)
            for _ in range({0: 200, 1: 1, 6: 1}.get(number, 0)):
                m.call("cuModuleLoadData", 300, "cuda_driver")
            m.mm(200)
    m.write(folder / "trace.json")
    return [asks(found(cold_start=None), never("again and again")), gpu(idle(cold_start=(0.95, 1)))]


def convolutions_out_of_memory(folder):
    m = Machine()
    for number in range(5):
        with m.step(number):
            for _ in range(10):
                with m.range("aten::conv2d", "cpu_op"), m.range("aten::cudnn_convolution", "cpu_op"):
                    m.run(20)
                    m.call("cudaFree", 900)
                    m.call("cudaMalloc", 900)
                    m.launch([(GEMM, 500)])
    m.write(folder / "trace.json")
    return [asks(found(allocator_calls=None), remedy("allocator_calls", "runs out of memory"), never("benchmark"))]


def products_beside_a_slow_host(folder):
    m = Machine()
    for number in range(5):
        with m.step(number):
            m.spend("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 4000)
            for _ in range(50):
                m.mm(100, 160, kernel="ampere_sgemm_128x64_tn", dtype="float")
    m.write(folder / "trace.json")
    return [asks(found({"data_loader_bound": None, "launch_bound": None, "low_gpu_utilization": None,
                        "no_tensor_cores": (0.4, 0.5)}), says("no_tensor_cores", "tensor cores"),
                 gain("no_tensor_cores", 0, 150), gain("data_loader_bound", 3100, 3300))]
