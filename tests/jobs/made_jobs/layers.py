"""The operators and kernels of a layer, and how long each takes on a GPU, in nanoseconds."""

GEMM = "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn"
GEMM_BACKWARD = "ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_32x3_nt"
NORM = ("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float, "
        "c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)")
ELEMENTWISE = ("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
               "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, "
               "at::detail::Array<char*, 3>)")
FLASH = "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4> >(Flash_fwd_params)"
FLASH_BACKWARD = "void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<128> >(Flash_bwd_params)"
ADAM = ("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
        "FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4> >")
SOFTMAX = ("void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float, float>(float*, "
           "c10::BFloat16 const*, int)")

ATTENTION = (("aten::native_layer_norm", NORM, 35_000), ("aten::mm", GEMM, 260_000),
             ("aten::_scaled_dot_product_flash_attention", FLASH, 310_000), ("aten::mm", GEMM, 120_000))
FEED_FORWARD = (("aten::mm", GEMM, 420_000), ("aten::gelu", ELEMENTWISE, 60_000), ("aten::mm", GEMM, 410_000))
FEED_FORWARD_BACKWARD = (("aten::mm", GEMM_BACKWARD, 800_000), ("aten::gelu_backward", ELEMENTWISE, 80_000),
                         ("aten::mm", GEMM_BACKWARD, 790_000))
ATTENTION_BACKWARD = (("aten::mm", GEMM_BACKWARD, 250_000),
                      ("aten::_scaled_dot_product_flash_attention_backward", FLASH_BACKWARD, 690_000),
                      ("aten::mm", GEMM_BACKWARD, 500_000))
DECODE_ATTENTION = (("aten::native_layer_norm", NORM, 6_000), ("aten::mm", GEMM, 22_000),
                    ("vllm::unified_attention", FLASH, 31_000), ("aten::mm", GEMM, 12_000))
DECODE_FEED_FORWARD = (("aten::mm", GEMM, 38_000), ("aten::gelu", ELEMENTWISE, 5_000), ("aten::mm", GEMM, 36_000))


def run(rank, kernels, thread=0, scale=1.0):
    for operator, kernel, nominal in kernels:
        rank.kernel(operator, kernel, nominal * scale, thread)


def backward_operator(rank, kernels, scale=1.0):
    """As autograd runs it: a range around the kernels, on its thread."""
    rank.begin("autograd::engine::evaluate_function: MmBackward0", thread=1)
    run(rank, kernels, 1, scale)
    rank.end()


def optimizer(rank, layers):
    rank.begin("Optimizer.step#AdamW.step", "user_annotation")
    for _ in range(min(3, layers)):
        rank.kernel("aten::_fused_adamw_", ADAM, 160_000)
    rank.end()
