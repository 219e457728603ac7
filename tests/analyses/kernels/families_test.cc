#include "analyses/kernels/families.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::analyses {
namespace {

using Names = std::vector<std::pair<std::string_view, KernelFamily>>;

TEST(KernelFamily, IsKnownForKernelsOfEachLibrary) {
  const Names names = {
      {"ampere_sgemm_128x64_nn", KernelFamily::gemm},
      {"volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn", KernelFamily::gemm},
      {"nvjet_tst_128x152_64x6_2x1_v_bz_TNT", KernelFamily::gemm},
      {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8>"
       "(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8::Params)",
       KernelFamily::gemm},
      {"void gemv2T_kernel_val<int, int, float, float>(float)", KernelFamily::gemm},
      {"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int>(float)",
       KernelFamily::gemm},
      {"void splitKreduce_kernel<float, float>(cublasSplitKParams<float>)", KernelFamily::gemm},
      {"Cijk_Ailk_Bjlk_SB_Bias_MT64x16x16_MI16x16x1_SN", KernelFamily::gemm},
      {"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32",
       KernelFamily::convolution},
      {"void cutlass_cudnn_infer::Kernel<cutlass_tensorop_s1688dgrad_optimized_tf32_64x128>(int)",
       KernelFamily::convolution},
      {"volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", KernelFamily::convolution},
      {"void implicit_convolve_sgemm<float, float, 128, 5, 5, 3>(int)", KernelFamily::convolution},
      {"void wgrad_alg0_engine<float, 128, 6, 7, 3>(int)", KernelFamily::convolution},
      {"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128>>(Flash_fwd_params)",
       KernelFamily::attention},
      {"fmha_cutlassF_f16_aligned_64x64_rf_sm80(AttentionKernel::Params)", KernelFamily::attention},
      {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7",
       KernelFamily::attention},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, "
       "std::array<char*, 3ul> >(int)",
       KernelFamily::elementwise},
      {"void (anonymous namespace)::elementwise_kernel_with_index<int, at::native::"
       "arange_cuda_out(c10::Scalar const&)::{lambda()#1}>(int)",
       KernelFamily::elementwise},
      {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
       "at::native::NormTwoOps<float>, unsigned int, float, 4> >(int)",
       KernelFamily::reduction},
      {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int)",
       KernelFamily::normalization},
      {"void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1, true>(int)",
       KernelFamily::normalization},
      {"void flashinfer::norm::RMSNormKernel<8u, __half>(int)", KernelFamily::normalization},
      {"void (anonymous namespace)::softmax_warp_forward<float, float, float, 10>(int)",
       KernelFamily::softmax},
      {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float>(int)",
       KernelFamily::softmax},
      {"void at::native::(anonymous namespace)::indexSelectLargeIndex<float, int>(int)",
       KernelFamily::embedding},
      {"void permute_pooled_embs_kernel<float>(int)", KernelFamily::embedding},
      {"void at::native::_scatter_gather_elementwise_kernel<128, 4, float>(int)",
       KernelFamily::embedding},
      {"void at::native::(anonymous namespace)::max_pool_forward_nchw<float, float>(int)",
       KernelFamily::pooling},
      {"void at::native::(anonymous namespace)::adaptive_average_pool<float>(int)",
       KernelFamily::pooling},
      {"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::"
       "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}>(int)::{lambda(int)#1}>("
       "int)",
       KernelFamily::copy},
      {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int>(int)",
       KernelFamily::copy},
      {"void nchwToNhwcKernel<float, float, float, true, false, (cudnnKernelDataType_t)0>(int)",
       KernelFamily::copy},
      {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
       "namespace)::TensorListMetadata<2>, std::plus<float>, float>(int)",
       KernelFamily::optimizer},
      {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", KernelFamily::collective},
      {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(int)", KernelFamily::collective},
      {"triton_red_fused_native_layer_norm_3", KernelFamily::triton},
      {"void at::native::radixSortKVInPlace<-2, -1, 32, 4>(int)", KernelFamily::sort},
      {"void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>(int)",
       KernelFamily::sort},
      {"void at::native::(anonymous namespace)::fused_dropout_kernel_vec<float, float>(int)",
       KernelFamily::random},
      {"kernel_no_tc", KernelFamily::other},
      {"", KernelFamily::other},
  };
  std::set<KernelFamily> seen;
  for (const auto& [name, family] : names) {
    EXPECT_EQ(kernel_family_name(kernel_family(name)), kernel_family_name(family)) << name;
    seen.insert(family);
  }
  EXPECT_EQ(seen.size(), kKernelFamilies);
}

TEST(KernelFamily, IsKnownForKernelsOfServingEngines) {
  const Names names = {
      {"void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<"
       "flash::CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>>>>>>(int)",
       KernelFamily::attention},
      {"void "
       "cutlass::device_kernel<vllm::enable_sm90_or_later<cutlass::gemm::kernel::GemmUniversal<"
       "cute::tuple<int, int, int, int>, float>>>(int)",
       KernelFamily::gemm},
      {"fused_moe_kernel", KernelFamily::gemm},
      {"fused_moe_kernel_gptq_awq", KernelFamily::gemm},
      {"bmm_E4m3_E4m3E4m3_Fp32_t128x8x128_s6_et64x8_m64x8x32_c1x1x1_rM_TN_transOut_sm100f",
       KernelFamily::gemm},
      {"void aiter::fmoe_bf16_blockscaleFp8_g1u1_vs_silu_1tg_32x256(int)", KernelFamily::gemm},
      {"void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 7168u, 4096u>(int)", KernelFamily::gemm},
      {"_bmm_chunk_fwd_kernel", KernelFamily::gemm},
      {"void machete::prepack_B_kernel<cute::tuple<int>>(int)", KernelFamily::copy},
      {"void marlin::gptq_marlin_repack_kernel<256, 4, true>(int)", KernelFamily::copy},
      {"fmhaSm100fKernel_QkvE4m3OBfloat16H128PagedKvCausalP64VarSeqQ128Kv128Persistent",
       KernelFamily::attention},
      {"void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0, "
       "2u>(int)",
       KernelFamily::attention},
      {"void flashinfer::PersistentVariableLengthMergeStatesKernel<8u, 16u>(int)",
       KernelFamily::attention},
      {"void flashinfer::sampling::TopPSamplingFromProbKernel<1024u, true>(float*)",
       KernelFamily::random},
      {"void flashinfer::sampling::TopKRenormProbKernel<1024u>(float*)", KernelFamily::sort},
      {"void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheKernel<true, 128u>(int)",
       KernelFamily::elementwise},
      {"void flashinfer::AppendPagedKVCacheKernel<128u, 8u>(int)", KernelFamily::copy},
      {"void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)",
       KernelFamily::elementwise},
      {"void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, unsigned char>(int)",
       KernelFamily::copy},
      {"void vllm::moe::moe_align_block_size_kernel<int>(int*)", KernelFamily::sort},
      {"void vllm::moe::topkGating<8, 128, 4, 16, 32, int>(float*)", KernelFamily::sort},
      {"void vllm::moe::moe_sum_kernel<c10::BFloat16, 4>(float*)", KernelFamily::reduction},
      {"void per_token_group_quant_8bit_kernel<c10::BFloat16, c10::Float8_e4m3fn>(void*)",
       KernelFamily::elementwise},
      {"void tensorrt_llm::kernels::cutlass_kernels::finalizeMoeRoutingKernel<float, float>(int)",
       KernelFamily::reduction},
      {"kernel_cutlass_kernel_quackrmsnormRMSNorm_object_at__tensorptrbf16gmem",
       KernelFamily::normalization},
      {"kernel_cutlass_kernel_quackcross_entropyCrossEntropy_object_at__tensorptrf32gmem",
       KernelFamily::reduction},
      {"liger_cross_entropy_kernel", KernelFamily::reduction},
      {"_swiglu_forward_kernel", KernelFamily::elementwise},
      {"void causal_conv1d_fwd_kernel<Causal_conv1d_fwd_kernel_traits<128, 4, true>>(int)",
       KernelFamily::convolution},
      {"void paged_attention_v2_kernel<float, 128>(int)", KernelFamily::attention},
  };
  for (const auto& [name, family] : names) {
    EXPECT_EQ(kernel_family_name(kernel_family(name)), kernel_family_name(family)) << name;
  }
}

TEST(KernelFamily, IsKnownForKernelsOfCuteFlashInferAndAiter) {
  const Names names = {
      {"kernel_cutlass_kernel_flashinfernormkernelsfused_add_rmsnormFusedAddRMSNormKernel_object_"
       "at__tensorptrbf16gmemalign16o40961",
       KernelFamily::normalization},
      {"kernel_cutlass_kernel_flashinfergemmkernelsmine_gemm_sm100Sm100DenseGemmKernel_object_at__"
       "CopyAtom_TVLayout",
       KernelFamily::gemm},
      {"kernel_cutlass_kernel_flashinferquantizationkernelsmxfp8_quantizeMXFP8QuantizeKernel_"
       "object_at__CopyAtom",
       KernelFamily::elementwise},
      {"kernel_cutlass_kernel_flash_attncuteflash_fwd_sm100FlashAttentionForwardSm100_object_at__"
       "TiledMMA",
       KernelFamily::attention},
      {"void fast_hadamard_transform_12N_kernel<fast_hadamard_transform_kernel_traits<64>>(int)",
       KernelFamily::other},
      {"void at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4>(int)",
       KernelFamily::optimizer},
      {"void moe::dev::routing::routingDeepSeek::routingIndicesClusterKernel<float>(int)",
       KernelFamily::sort},
      {"void tensorrt_llm::kernels::customMoeRoutingKernel<float, float, int, 128, 8>(int)",
       KernelFamily::sort},
      {"_ZN5aiter31mla_a8w8_qh16_qseqlen1_gqaratio16E", KernelFamily::attention},
      {"_ZN5aiter28pa_bf16_noquant_gqa8_1tg_4w_E", KernelFamily::attention},
      {"_ZN5aiter25paged_attention_ll4mqaQKVIDF16bEEvPKT_.kd", KernelFamily::attention},
      {"void deep_gemm::sm100_fp8_paged_mqa_logits<1u, 64u, 128u>(int)", KernelFamily::attention},
      {"mfma_moe2_afp8_wfp4_bf16_cshuffle_t64x128x256", KernelFamily::gemm},
      {"void aiter::fmoe_g1u1_kernel<__hip_bfloat16>(int)", KernelFamily::gemm},
      {"void aiter::dynamic_per_token_scaled_quant_kernel<__hip_bfloat16>(int)",
       KernelFamily::elementwise},
      {"void vllm::fused_qk_norm_rope_kernel<c10::BFloat16>(int)", KernelFamily::normalization},
      {"void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, "
       "normal_and_transform>(int)",
       KernelFamily::random},
  };
  for (const auto& [name, family] : names) {
    EXPECT_EQ(kernel_family_name(kernel_family(name)), kernel_family_name(family)) << name;
  }
}

TEST(KernelFamily, OfOperatorsThatSayWhatTheyCompute) {
  EXPECT_EQ(operator_family("aten::mm"), KernelFamily::gemm);
  EXPECT_EQ(operator_family("aten::_scaled_dot_product_flash_attention"), KernelFamily::attention);
  EXPECT_EQ(operator_family("aten::add"), KernelFamily::other);
  EXPECT_EQ(operator_family("mm"), KernelFamily::other);
}

TEST(KernelFamily, IsNotThatOfTheLibrary) {
  for (const std::string_view name :
       {"void flashinfer::activation::something_kernel<float>(int)",
        "void flashinfer::PackBitsKernel(bool*)", "kernel_cutlass_kernel_mine_object_at__tensor",
        "my_bmm_like_kernel", "submachine_kernel"}) {
    EXPECT_EQ(kernel_family_name(kernel_family(name)), "other") << name;
  }
}

TEST(KernelFamily, EachHasItsOwnName) {
  std::set<std::string_view> names;
  for (std::size_t family = 0; family < kKernelFamilies; ++family) {
    names.insert(kernel_family_name(static_cast<KernelFamily>(family)));
  }
  EXPECT_EQ(names.size(), kKernelFamilies);
}

TEST(TensorCores, AreKnownByName) {
  for (const std::string_view name :
       {"volta_fp16_s884cudnn_fp16_128x128_ldg8_splitK_relu_f2f_exp_small_nhwc_tn_v1",
        "ampere_fp16_s16816gemm_fp16_64x64_nn", "turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn",
        "sm80_xmma_fprop_implicit_gemm_tf32f32_nhwc_tilesize64x128x32_stage5_tensor16x8x8_execute",
        "nvjet_tst_128x152_64x6_2x1_v_bz_TNT", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n",
        "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7",
        "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>(Flash_fwd_params)",
        "fmha_cutlassF_f16_aligned_64x64_rf_sm80(AttentionKernel::Params)",
        "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_32x6_tn_align4>(int)",
        "Cijk_Ailk_Bjlk_SB_Bias_MT64x16x16_MI16x16x1_SN",
        "bmm_E2m1_E2m1E2m1_Fp32_t128x64x256_s5_et128x64_m128x64x64_cga1x1x1_16dp256b_TN_sm100f",
        "fmhaSm100fKernel_QkvBfloat16OBfloat16H128PagedKvDenseVarSeqQ16Kv128StaticSwapsAbForGen",
        "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int>, "
        "cutlass::gemm::collective::CollectiveMma<cutlass::gemm::"
        "MainloopSm100TmaUmmaWarpSpecialized"
        "<4>>>>(int)",
        "void deep_gemm::sm100_bf16_gemm_impl<1, 0u, 7168u>(int)",
        "kernel_cutlass_kernel_flashinfergemmkernelsmine_gemm_sm100Sm100DenseGemmKernel_object_at__"
        "TiledMMA_ThrLayoutVMNK"}) {
    EXPECT_EQ(uses_tensor_cores(name), true) << name;
  }
  for (const std::string_view name :
       {"ampere_sgemm_128x64_nn", "volta_scudnn_128x64_relu_small_nn_v1",
        "void cutlass::Kernel<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>(int)",
        "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4",
        "void flash_fwd_splitkv_combine_kernel<Traits>(Flash_fwd_params)",
        "void cutlass_cudnn_train::Kernel<cutlass_cudnn_train::reduction::kernel::ReduceSplitK<"
        "cutlass_cudnn_train::MatrixShape<4, 128>, cutlass::arch::OpClassTensorOp>>(int)",
        "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)",
        "void at::native::batch_norm_collect_statistics_kernel<float>(int)",
        "ampere_dgemm_64x64_nn", "cublasSgemm_v2",
        "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnBwdPreprocess<"
        "cute::tuple<int>>>>(int)",
        "void vllm::reshape_and_cache_flash_kernel_sm100<float>(int)",
        "void gemv2T_kernel_val<int, int, float, float, float>(int)",
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)"}) {
    EXPECT_EQ(uses_tensor_cores(name), false) << name;
  }
}

TEST(TensorCores, AreUnknownIfTheNameOnlySaysWhatIsComputed) {
  for (const std::string_view name :
       {"triton_tem_fused_mm_0", "void marlin::Marlin<__nv_bfloat16, 256, 1, 8, 8, 4>(int4 const*)",
        "void flashinfer::BatchDecodeWithPagedKVCacheKernel<flashinfer::PosEncodingMode>(int)",
        "Cijk_Ailk_Bljk_SB_MT64x64x16_SE_K1", "fused_moe_kernel", "my_kernel",
        "void fusedGemm<__nv_bfloat16>(int)", "kernel_GroupedGemmKernel_object_at",
        "void trtllm::batchedGemmKernel<int>(int)", "SubTensorOpWithScalar1d", ""}) {
    EXPECT_EQ(uses_tensor_cores(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace tbtrace::analyses
