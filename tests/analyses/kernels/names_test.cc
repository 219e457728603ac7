#include "analyses/kernels/names.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbtrace::analyses {
namespace {

using ::testing::ElementsAre;
using ::testing::MatchesRegex;
using ::testing::Ne;

std::vector<std::string> distinct(const std::vector<std::string_view>& names) {
  return distinct_kernel_names(names);
}

TEST(ShortKernelName, KeepsTheFunctionAndTheOperation) {
  EXPECT_EQ(short_kernel_name("void at::native::vectorized_elementwise_kernel<4, "
                              "at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >"
                              "(int, at::native::CUDAFunctor_add<float>, "
                              "at::detail::Array<char*, 3>)"),
            "vectorized_elementwise_kernel<CUDAFunctor_add>");
  EXPECT_EQ(short_kernel_name(
                "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
                "at::native::func_wrapper_t<float, at::native::sum_functor<float, float, "
                "float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, "
                "float, 4> >(at::native::ReduceOp<float, unsigned int, float, 4>)"),
            "reduce_kernel<sum_functor>");
  EXPECT_EQ(short_kernel_name(
                "void at::native::elementwise_kernel<128, 2, "
                "at::native::gpu_kernel_impl<at::native::(anonymous namespace)::"
                "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::operator()() "
                "const::{lambda(float)#1}>(at::TensorIteratorBase&)::{lambda(int)#1}>(int)"),
            "elementwise_kernel<direct_copy_kernel_cuda>");
  EXPECT_EQ(short_kernel_name(
                "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<"
                "at::native::(anonymous namespace)::TensorListMetadata<1>, at::native::(anonymous "
                "namespace)::BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies<float>, "
                "float>(at::native::(anonymous namespace)::TensorListMetadata<1>)"),
            "multi_tensor_apply_kernel<multiplies>");
  EXPECT_EQ(short_kernel_name("void at::native::_scatter_gather_elementwise_kernel<128, 4, "
                              "at::native::_cuda_scatter_gather_internal_kernel<false, "
                              "at::native::OpaqueType<4> >::operator()<at::native::TensorAssign>("
                              "at::TensorIterator&, long)::{lambda(int)#1}>(int)"),
            "_scatter_gather_elementwise_kernel<TensorAssign>");
}

TEST(ShortKernelName, OfAGenericFunctionIsWhatItRuns) {
  EXPECT_EQ(
      short_kernel_name("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_32x6_tn_"
                        "align4>(cutlass_80_tensorop_s1688gemm_64x64_32x6_tn_align4::Params)"),
      "cutlass_80_tensorop_s1688gemm_64x64_32x6_tn_align4");
  EXPECT_EQ(
      short_kernel_name("std::enable_if<!(false), void>::type internal::gemvx::kernel<int, "
                        "int, float, float, 7, cublasGemvParams<cublasGemvTensorStridedBatched"
                        "<float const>, float> >(cublasGemvParams<float>)"),
      "gemvx::kernel");
  EXPECT_EQ(short_kernel_name("void epilogue::impl::globalKernel<float, true>(int)"),
            "impl::globalKernel");
}

TEST(ShortKernelName, LooksThroughGuardsOfArchitectures) {
  EXPECT_EQ(short_kernel_name(
                "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<"
                "flash::CollectiveMainloopFwdSm90<2, cute::tuple<cute::C<1>>>>>>"
                "(flash::FlashAttnFwdSm90<int>::Params)"),
            "FlashAttnFwdSm90");
  EXPECT_EQ(short_kernel_name("void cutlass::device_kernel<flash::enable_sm80_to_sm89<"
                              "flash::FlashAttnBwdSm80<float>>>(int)"),
            "FlashAttnBwdSm80");
  EXPECT_EQ(short_kernel_name("void cutlass::device_kernel<at::cuda::detail::"
                              "enable_3x_kernel_for_sm9x<cutlass::gemm::kernel::GemmUniversal<"
                              "cute::tuple<int, int>, float>>>(int)"),
            "GemmUniversal");
  EXPECT_EQ(short_kernel_name("void cutlass::Kernel<vllm::enable_sm89_to_sm90<cutlass::gemm::"
                              "kernel::GemmWithVisitor<float>>>(int)"),
            "GemmWithVisitor");
  EXPECT_EQ(short_kernel_name("void cutlass::device_kernel<vllm::enable_sm100f_only<"
                              "cutlass::fmha::kernel::Sm100FmhaMlaKernel<int>>>(int)"),
            "Sm100FmhaMlaKernel");
  EXPECT_EQ(
      short_kernel_name("void ck_tile::kentry<256, 2, ck_tile::FmhaFwdKernel<int, int>>(int)"),
      "FmhaFwdKernel");
  EXPECT_EQ(short_kernel_name("void cutlass::device_kernel<mine::enable_small<Gemm>>(int)"),
            "enable_small");
}

TEST(ShortKernelName, WithoutAnOperationIsTheFunction) {
  EXPECT_EQ(short_kernel_name("void (anonymous namespace)::softmax_warp_forward<float, float, "
                              "float, 10, true>(float*, float const*, int)"),
            "softmax_warp_forward");
  EXPECT_EQ(short_kernel_name("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"),
            "ncclKernel_AllReduce_RING_LL_Sum_float");
  EXPECT_EQ(short_kernel_name("ampere_sgemm_128x64_nn"), "ampere_sgemm_128x64_nn");
  EXPECT_EQ(short_kernel_name("Memcpy HtoD (Pageable -> Device)"),
            "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(short_kernel_name("triton_poi_fused_add_cos_sin_0"), "triton_poi_fused_add_cos_sin_0");
}

TEST(ShortKernelName, EndsAfterTheTileSize) {
  EXPECT_EQ(short_kernel_name(
                "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32_"
                "stage5_warpsize2x2x1_g1_tensor16x8x8_execute_kernel_cudnn_infer"),
            "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32");
  EXPECT_EQ(short_kernel_name("Cijk_Ailk_Bjlk_SB_Bias_AS_SAV_UserArgs_MT64x16x16_MI16x16x1_SN_1"),
            "Cijk_Ailk_Bjlk_SB_MT64x16x16");
  EXPECT_EQ(short_kernel_name("Cijk_odd"), "Cijk_odd");
}

TEST(ShortKernelName, ResolvesEncodedNames) {
  EXPECT_EQ(short_kernel_name("_ZN2at6native10add_kernelIfEEvPT_"), "add_kernel");
  // Cut by the profiler.
  EXPECT_EQ(short_kernel_name("_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23Implicit"),
            "_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23Implicit");
}

TEST(ShortKernelName, TakesAnyBytes) {
  for (const std::string_view name : {"<",
                                      ">",
                                      "<<<",
                                      "a<b",
                                      "a>b<c>",
                                      "operator<<int>(x)",
                                      "(",
                                      ")",
                                      "()",
                                      "void ",
                                      "void",
                                      "::",
                                      "a::",
                                      "::<>",
                                      "Cijk_",
                                      "_Z",
                                      "_tilesize",
                                      " ",
                                      "f<>",
                                      "kernel",
                                      "kernel<1>",
                                      "x<->>",
                                      "\xff\xfe<\xff>",
                                      "a\nb<c\td>(\x01)",
                                      "</script><img>"}) {
    EXPECT_FALSE(short_kernel_name(name).empty()) << name;
  }
  EXPECT_EQ(short_kernel_name(""), "");
  EXPECT_EQ(short_kernel_name(std::string(200, 'x')), std::string(97, 'x') + "...");
}

TEST(DistinctKernelNames, KeepTemplateArgumentsWhereNeeded) {
  EXPECT_THAT(distinct({"void ns::softmax<float, 1>(int)", "void ns::softmax<float, 10>(int)",
                        "void ns::other<float>(int)"}),
              ElementsAre("softmax<float, 1>", "softmax<float, 10>", "other"));
}

TEST(DistinctKernelNames, KeepTheTypesOfTheOperationWhereNeeded) {
  EXPECT_THAT(
      distinct({"void at::elementwise<4, at::CUDAFunctor_add<float>, at::Array<char*, 3> >(int)",
                "void at::elementwise<4, at::CUDAFunctor_add<int>, at::Array<char*, 3> >(int)",
                "void at::elementwise<4, at::tanh_cuda(at::TensorIteratorBase&)::{lambda()#2}::"
                "operator()() const::{lambda(float)#1}>(int)",
                "void at::elementwise<4, at::tanh_cuda(at::TensorIteratorBase&)::{lambda()#2}::"
                "operator()() const::{lambda(double)#1}>(int)"}),
      ElementsAre("elementwise<CUDAFunctor_add<float>>", "elementwise<CUDAFunctor_add<int>>",
                  "elementwise<tanh_cuda<float>>", "elementwise<tanh_cuda<double>>"));
}

TEST(DistinctKernelNames, NumberNamesThatOnlyLongPartsTellApart) {
  const std::string one = "void f<" + std::string(120, '1') + ">(int)";
  const std::string two = "void f<" + std::string(120, '2') + ">(int)";
  const std::vector<std::string> names = distinct({one, two});
  EXPECT_THAT(names[0], MatchesRegex("f #[0-9a-f]+"));
  EXPECT_THAT(names[1], MatchesRegex("f #[0-9a-f]+"));
  EXPECT_THAT(names[0], Ne(names[1]));
  // The same in a file that also has others.
  EXPECT_EQ(distinct({"a", two, one, "b"})[1], names[1]);
}

TEST(DistinctKernelNames, OverloadsDiffer) {
  const std::vector<std::string> names = distinct({"f(int)", "f(float)", "f"});
  EXPECT_EQ((std::set<std::string>(names.begin(), names.end()).size()), 3U);
  EXPECT_EQ(distinct({"f(int)", "f(int)"}), (std::vector<std::string>{"f", "f"}));
}

}  // namespace
}  // namespace tbtrace::analyses
