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
};

RunFigures run_with(const std::vector<Kernel>& kernels) {
  RunFigures run;
  run.step_ns = {1000};
  for (const Kernel& kernel : kernels) {
    run.rows[static_cast<std::size_t>(DiffBy::kernel)].push_back(
        {kernel.name, 10, 1, kernel.op, kernel.shapes});
  }
  return run;
}

/// `new <- base (how)` for each match.
std::vector<std::string> matched(const std::vector<Kernel>& base,
                                 const std::vector<Kernel>& changed) {
  const RunFigures before = run_with(base);
  const RunFigures after = run_with(changed);
  std::vector<std::string> found;
  for (const auto& [key, match] : renamed_kernels({&before, 1}, {&after, 1})) {
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
