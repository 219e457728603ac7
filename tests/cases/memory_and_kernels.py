"""Memory that grows or not, attention, and tensor cores."""
from expect import asks, expects, found, gpu, never, nothing_found, remedy, rows, says
from machine import ADD, GEMM, Machine

MEMORY = "tbtrace memory trace.json --format json"
GIB = 1 << 30
MIB = 1 << 20
SOFTMAX = "void (anonymous namespace)::softmax_warp_forward<float, float, float, 12, false, false>(float*)"


def _trained(growths, reserved_growths=None, spikes=None):
    """Steps that allocate for their activations, free them, and keep what `growths` says."""
    m = Machine(header={"profile_memory": 1})
    m.allocate(4 * GIB, grow=20 * GIB)
    for number, growth in enumerate(growths):
        with m.step(number):
            reserved = (reserved_growths or growths)[number]
            blocks = []
            for layer in range(5):
                with m.range("aten::mm", "cpu_op"):
                    spike = spikes[number] if spikes else 2 * GIB
                    blocks.append(m.allocate(spike // 5, grow=reserved if layer == 0 else 0))
                    m.launch([(GEMM, 2000)])
            with m.range("aten::add_", "cpu_op"):
                if growth:
                    m.allocate(growth)
                m.launch([(ADD, 10)])
            for block in blocks:
                m.release(block)
    return m


def _memory(peak_gib, grows):
    """The peak, and whether each step ends with more than the one before."""
    def holds(table):
        gpus = [row for row in table if row["device_name"].startswith("cuda")]
        return (len(gpus) == 1 and abs(gpus[0]["peak_bytes"] / GIB - peak_gib) < 0.1
                and ((gpus[0]["growth_per_step_bytes"] or 0) > MIB) == grows)
    return expects(MEMORY, rows(holds, f"a peak of {peak_gib} GiB that {'grows' if grows else 'does not grow'}"))


def losses_kept_with_their_graphs(folder):
    _trained([300 * MIB] * 6).write(folder / "trace.json")
    return [asks(found(memory_growth=(0.03, 0.08)), says("memory_growth", "graph|loss|kept|keep|detach")),
            _memory(4 + 2 + 6 * 300 / 1024, True)]


def memory_settles_after_two_steps(folder):
    _trained([1479 * MIB, 20 * MIB, 104 * MIB, 0, 0, 0]).write(folder / "trace.json")
    return [asks(nothing_found), _memory(4 + 2 + 1603 / 1024, False)]


def lengths_fragment_the_cache(folder):
    spikes = [6 * GIB, 9 * GIB, 7 * GIB, 10 * GIB, 8 * GIB, 10 * GIB]
    _trained([0] * 6, [5 * GIB, 9 * GIB, 7 * GIB, 9 * GIB, 8 * GIB, 9 * GIB], spikes).write(folder / "trace.json")
    return [asks(found(fragmented_memory=None), remedy("fragmented_memory", "expandable_segments"),
                 never("keeps tensors")),
            _memory(4 + 10, False)]


def head_dimension_without_flash(folder):
    m = Machine("H100")
    shape = [1, 8, 4096, 320]
    for number in range(4):
        with m.step(number):
            for _ in range(4):
                args = {"Input Dims": [shape, shape, shape, [1, 1, 4096, 4096], [], [], [], []]}
                with m.range("aten::scaled_dot_product_attention", "cpu_op", **args), \
                        m.range("aten::_scaled_dot_product_attention_math", "cpu_op", **args):
                    m.op("aten::bmm", 12, GEMM, 500, shapes=[[8, 4096, 320], [8, 320, 4096]])
                    m.op("aten::add_", 12, ADD, 250, shapes=[[1, 8, 4096, 4096], [1, 1, 4096, 4096]])
                    m.op("aten::_softmax", 12, SOFTMAX, 450, shapes=[[1, 8, 4096, 4096]])
                    m.op("aten::bmm", 12, GEMM, 500, shapes=[[8, 4096, 4096], [8, 4096, 320]])
                m.mm(730)
    m.write(folder / "trace.json")
    return [asks(found(math_attention=(0.62, 0.76)), remedy("math_attention", "flash|efficient|fused|backend")),
            gpu(rows(lambda table: table[0]["busy_share"] > 0.97, "a busy GPU"))]


def efficient_attention_is_fused(folder):
    m = Machine()
    shape = [32, 8, 512, 64]
    kernel = "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::bfloat16_t, " \
             "cutlass::arch::Sm80, true, 64, 64, 64, true, true>::Params)"
    for number in range(4):
        with m.step(number):
            for _ in range(5):
                args = {"Input Dims": [shape, shape, shape, [32, 8, 512, 512], [], [], [], []]}
                with m.range("aten::scaled_dot_product_attention", "cpu_op", **args), \
                        m.range("aten::_scaled_dot_product_efficient_attention", "cpu_op", **args):
                    m.op("aten::_efficient_attention_forward", 20, kernel, 1200)
                m.mm(600)
    m.write(folder / "trace.json")
    return [asks(nothing_found), gpu(rows(lambda table: table[0]["busy_share"] > 0.97, "a busy GPU"))]


def _products(device, kernels, dtype="float"):
    m = Machine(device)
    for number in range(4):
        with m.step(number):
            for kernel, gpu_time in kernels:
                if "elementwise" in kernel:
                    m.op("aten::add", 12, kernel, gpu_time, shapes=[[1024, 4096]], dtype=dtype)
                else:
                    m.op("aten::mm", 12, kernel, gpu_time, shapes=[[4096, 4096], [4096, 4096]], dtype=dtype)
    return m


def hessian_in_single_precision(folder):
    adds = "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::BinaryFunctor<float, " \
           "float, float, at::native::AddFunctor<float> > > >(int, at::native::AddFunctor<float>)"
    _products("A100", [("ampere_sgemm_128x64_nn", 3250), ("ampere_sgemm_128x128_tn", 500), (adds, 1250)]) \
        .write(folder / "trace.json")
    return [asks(found(no_tensor_cores=(0.7, 0.8)), remedy("no_tensor_cores", "TF32|matmul_precision|bfloat16"))]


def tf32_is_on(folder):
    _products("A100", [("cutlass_80_tensorop_s1688gemm_128x128_16x4_nn_align4", 2500),
                       ("ampere_sgemm_32x32_sliced1x4_tn", 10)]).write(folder / "trace.json")
    return [asks(nothing_found)]


def pascal_has_no_tensor_cores(folder):
    _products("GTX1080", [("maxwell_sgemm_128x64_nn", 3000), ("maxwell_sgemm_128x128_tn", 1000)]) \
        .write(folder / "trace.json")
    return [asks(nothing_found)]


def layouts_around_convolutions(folder):
    m = Machine()
    kernel = "void cudnn::ops::{}<__half, __half, float, true, false, (cudnnKernelDataType_t)0>(float)"
    for number in range(4):
        with m.step(number):
            for _ in range(30):
                with m.range("aten::cudnn_convolution", "cpu_op"):
                    m.run(5)
                    for name, took in ((kernel.format("nchwToNhwcKernel"), 60), ("sm80_xmma_fprop_implicit_gemm_f16f16_"
                                       "f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32_execute_kernel__5x_cudnn", 200),
                                       (kernel.format("nhwcToNchwKernel"), 55)):
                        m.launch([(name, took)])
    m.write(folder / "trace.json")
    return [asks(found(layout_conversions=(0.34, 0.39)), remedy("layout_conversions", "channels_last"))]


def attention_alone_uses_tensor_cores(folder):
    m = Machine()
    for number in range(4):
        with m.step(number):
            for _ in range(20):
                m.mm(400, kernel="ampere_sgemm_128x64_tn", dtype="float")
                m.op("aten::_flash_attention_forward", 12, "void pytorch_flash::flash_fwd_kernel<bf16>(Params)", 15)
    m.write(folder / "trace.json")
    return [asks(found(no_tensor_cores=(0.9, 1)), remedy("no_tensor_cores", "TF32"))]
