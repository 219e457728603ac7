// Kernels that took the place of others: pairs whose answer is known.
#include "analyses/changes/matches.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::analyses {
namespace {

struct Kernel {
  const char* name;
  const char* op;
  const char* shapes;
  std::uint64_t count = 1;
};

RunFigures run_with(const std::vector<Kernel>& kernels) {
  RunFigures run;
  run.step_ns = {1000};
  for (const Kernel& kernel : kernels) {
    run.rows[static_cast<std::size_t>(DiffBy::kernel)].push_back(
        {kernel.name, 10, kernel.count, kernel.op, kernel.shapes});
  }
  return run;
}

/// `new <- base (how)` for each match.
std::vector<std::string> matched(const std::vector<Kernel>& base,
                                 const std::vector<Kernel>& changed) {
  const RunFigures before = run_with(base);
  const RunFigures after = run_with(changed);
  std::vector<std::string> found;
  for (const auto& [key, match] : renamed_rows({&before, 1}, {&after, 1}, DiffBy::kernel)) {
    found.push_back(std::string(key) + " <- " + std::string(match.key) + " (" +
                    std::string(match.matched_by) + ")");
  }
  return found;
}

using Matches = std::vector<std::string>;

TEST(RenamedKernels, AreMatchedByTheOperatorAndItsShapes) {
  EXPECT_EQ(matched({{"volta_sgemm_128x64_nn", "aten::mm", "[[64, 32], [32, 8]]"},
                     {"volta_sgemm_32x128_tn", "aten::mm", "[[8, 64], [64, 8]]"},
                     {"relu_v1", "aten::relu", "[[64]]"}},
                    {{"ampere_sgemm_128x64_nn", "aten::mm", "[[64, 32], [32, 8]]"},
                     {"ampere_sgemm_32x128_tn", "aten::mm", "[[8, 64], [64, 8]]"},
                     {"relu_v1", "aten::relu", "[[64]]"}}),
            Matches({"ampere_sgemm_128x64_nn <- volta_sgemm_128x64_nn (shape)",
                     "ampere_sgemm_32x128_tn <- volta_sgemm_32x128_tn (shape)"}));
}

TEST(RenamedKernels, AreMatchedByTheOperatorAlone) {
  EXPECT_EQ(matched({{"fmha_v2", "aten::scaled_dot_product_attention", "[[1, 8]]"}},
                    {{"flash_fwd", "aten::scaled_dot_product_attention", "[[2, 8]]"}}),
            Matches({"flash_fwd <- fmha_v2 (operator)"}));
}

TEST(RenamedKernels, AreNotGuessedAmongSeveral) {
  EXPECT_EQ(matched({{"gemm_a", "aten::mm", "[[1]]"}, {"gemm_b", "aten::mm", "[[1]]"}},
                    {{"gemm_c", "aten::mm", "[[1]]"}}),
            Matches());
  // One was split into two.
  EXPECT_EQ(
      matched({{"norm", "aten::layer_norm", "[[1]]"}},
              {{"norm_1", "aten::layer_norm", "[[1]]"}, {"norm_2", "aten::layer_norm", "[[1]]"}}),
      Matches());
}

/// Of an H200: a transformer with and without autocast, and a convolutional network in both memory
/// formats. Labelled by hand: kernels of one call that compute the same with other numbers or
/// layouts are pairs; where the library divides calls among kernels in another way, none is.
TEST(RenamedKernels, OfRealRecordingsAreThoseThatReplaceEachOther) {
  const char* const kFeedForward = "[[4096, 2048], [2048, 512]]";
  EXPECT_EQ(
      matched({{"nvjet_sm90_tst_256x128_64x4_coopA_NNT", "aten::mm", kFeedForward, 6},
               {"nvjet_sm90_tst_128x128_64x6_2x1_v_bz_bias_TNT", "aten::addmm", "[[512]]", 12},
               {"nvjet_sm90_tst_256x128_64x4_bias_TNT", "aten::addmm", "[[2048]]", 7},
               {"reduce_kernel<128, 4, ReduceOp<c10::BFloat16>>", "aten::sum", "[[4096, 512]]", 25},
               {"vectorized_elementwise_kernel<8, Gelu>", "aten::gelu", "[[16, 256, 2048]]", 6},
               {"unrolled_elementwise_kernel<to bfloat16>", "aten::copy_", "[[512, 512]]", 64}},
              {{"cutlass_80_simt_sgemm_256x128_8x4_nn", "aten::mm", kFeedForward, 6},
               {"sm80_xmma_gemm_f32f32_tilesize128x128x8", "aten::addmm", "[[512]]", 18},
               {"sm80_xmma_gemm_f32f32_tilesize256x64x8", "aten::addmm", "[[2048]]", 1},
               {"reduce_kernel<128, 4, ReduceOp<float>>", "aten::sum", "[[4096, 512]]", 25},
               {"vectorized_elementwise_kernel<4, Gelu>", "aten::gelu", "[[16, 256, 2048]]", 6}}),
      Matches(
          {"cutlass_80_simt_sgemm_256x128_8x4_nn <- nvjet_sm90_tst_256x128_64x4_coopA_NNT (shape)",
           "reduce_kernel<128, 4, ReduceOp<float>> <- reduce_kernel<128, 4, "
           "ReduceOp<c10::BFloat16>> (shape)",
           "vectorized_elementwise_kernel<4, Gelu> <- vectorized_elementwise_kernel<8, Gelu> "
           "(shape)"}));
  EXPECT_EQ(
      matched(
          {{"cudnn::bn_fw_tr_1C11_kernel_NCHW<512>", "aten::cudnn_batch_norm", "[[64, 64]]", 1},
           {"cudnn::bn_fw_tr_1C11_kernel_NCHW<128>", "aten::cudnn_batch_norm", "[[64, 128]]", 4},
           {"max_pool_backward_nchw", "aten::max_pool2d_backward", "[[64, 64, 32, 32]]", 1},
           {"max_pool_forward_nchw", "aten::max_pool2d", "[[64, 64, 64, 64]]", 1},
           {"sm80_xmma_fprop_nchwkcrs_nchw", "aten::cudnn_convolution", "[[64, 3]]", 1}},
          {{"cudnn::batchnorm_fwtr_nhwc<0>", "aten::cudnn_batch_norm", "[[64, 64]]", 1},
           {"cudnn::batchnorm_fwtr_nhwc<1>", "aten::cudnn_batch_norm", "[[64, 128]]", 19},
           {"max_pool_backward_nhwc", "aten::max_pool2d_backward", "[[64, 64, 32, 32]]", 1},
           {"max_pool_forward_nhwc", "aten::max_pool2d", "[[64, 64, 64, 64]]", 1},
           {"sm90_xmma_fprop_nhwckrsc_nhwc", "aten::cudnn_convolution", "[[64, 3]]", 1}}),
      Matches({"cudnn::batchnorm_fwtr_nhwc<0> <- cudnn::bn_fw_tr_1C11_kernel_NCHW<512> (shape)",
               "max_pool_backward_nhwc <- max_pool_backward_nchw (shape)",
               "max_pool_forward_nhwc <- max_pool_forward_nchw (shape)",
               "sm90_xmma_fprop_nhwckrsc_nhwc <- sm80_xmma_fprop_nchwkcrs_nchw (shape)"}));
}

TEST(RenamedKernels, OfTorchCompileAreMatchedButForTheirNumber) {
  EXPECT_EQ(matched({{"triton_poi_fused_gelu_view_8", "triton_poi_fused_gelu_view_8", ""},
                     {"triton_poi_fused_add_2", "triton_poi_fused_add_2", ""}},
                    {{"triton_poi_fused_gelu_view_11", "triton_poi_fused_gelu_view_11", ""},
                     {"triton_poi_fused_add_3", "triton_poi_fused_add_3", ""},
                     {"triton_poi_fused_add_4", "triton_poi_fused_add_4", ""}}),
            Matches({"triton_poi_fused_gelu_view_11 <- triton_poi_fused_gelu_view_8 (fusion)"}));
}

TEST(RenamedKernels, NeedAnOperator) {
  EXPECT_EQ(matched({{"old", "", ""}}, {{"new", "", ""}}), Matches());
  EXPECT_EQ(matched({{"old", "aten::mm", ""}}, {{"new", "aten::bmm", ""}}), Matches());
}

TEST(RenamedKernels, KeepTheSumsOfBothSides) {
  const RunFigures before = run_with({{"old", "aten::mm", ""}});
  RunFigures after = run_with({{"new", "aten::mm", ""}});
  after.rows[static_cast<std::size_t>(DiffBy::kernel)][0].ns = 25;
  const Result<Diff> found = diff({&before, 1}, {&after, 1});
  const std::vector<DiffRow>& rows = found->rows[static_cast<std::size_t>(DiffBy::kernel)];
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].key, "new");
  EXPECT_EQ(rows[0].base_key, "old");
  EXPECT_EQ(rows[0].matched_by, "operator");
  EXPECT_EQ(rows[0].change_ns, 15);
}

}  // namespace
}  // namespace tbtrace::analyses
