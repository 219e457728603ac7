// Names of kernels that torch.compile made.
#include "analyses/changes/fusions.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::analyses {
namespace {

using Names = std::vector<std::string>;

const std::set<std::string_view> kOperators = {"aten::_to_copy",
                                               "aten::add",
                                               "aten::gelu",
                                               "aten::gelu_backward",
                                               "aten::native_layer_norm",
                                               "aten::view",
                                               "aten::norm",
                                               "aten::to",
                                               "lib::native_layer_norm_backward"};

TEST(FusedKernels, AreToldByTheirNames) {
  EXPECT_EQ(fused_stem("triton_poi_fused_gelu_view_8"), "triton_poi_fused_gelu_view");
  EXPECT_EQ(fused_stem("triton_per_fused_add_native_layer_norm_"),
            "triton_per_fused_add_native_layer_norm_");  // cut, and its number with it
  EXPECT_EQ(fused_stem("triton_poi_fused_0"), "triton_poi_fused");
  EXPECT_EQ(fused_part("graph_0_cpp_fused_add_12"), "add");
  EXPECT_EQ(fused_part("cpp_fused_add_relu_0"), "add_relu");
  for (const char* const name :
       {"aten::mm", "triton_mm_5", "my_fused_adam_3", "fused_", "", "triton_"}) {
    EXPECT_EQ(fused_stem(name), "") << name;
  }
}

TEST(FusedKernels, NameTheOperatorsThatTheOtherSideHas) {
  EXPECT_EQ(fused_operators("triton_poi_fused_gelu_gelu_backward_view_8", kOperators),
            Names({"aten::gelu", "aten::gelu_backward", "aten::view"}));
  // An underscore begins `_to_copy`, and one divides; the longer name wins over `to`.
  EXPECT_EQ(fused_operators("triton_per_fused__to_copy_native_layer_norm_backward_5", kOperators),
            Names({"aten::_to_copy", "lib::native_layer_norm_backward"}));
  // What no operator is called stays out.
  EXPECT_EQ(fused_operators("triton_red_fused_convert_element_type_add_3", kOperators),
            Names({"aten::add"}));
  EXPECT_EQ(fused_operators("triton_per_fused_add_native_layer_norm_native_layer_nor", kOperators),
            Names({"aten::add", "aten::native_layer_norm"}));
  EXPECT_EQ(fused_operators("triton_poi_fused_0", kOperators), Names());
  EXPECT_EQ(fused_operators("aten::add", kOperators), Names());
  EXPECT_EQ(fused_operators("triton_poi_fused____8", kOperators), Names());
}

TEST(CompiledRuns, HaveRegionsOrFusedKernels) {
  const auto is_compiled_with = [](const char* key) {
    RunFigures run;
    run.rows[static_cast<std::size_t>(DiffBy::op)].push_back({key, 10, 1});
    return is_compiled(run);
  };
  EXPECT_TRUE(is_compiled_with("CompiledFunctionBackward"));
  EXPECT_TRUE(is_compiled_with("Torch-Compiled Region: 0/0"));
  EXPECT_TRUE(is_compiled_with("triton_poi_fused_add_0"));
  EXPECT_FALSE(is_compiled_with("aten::add"));
  EXPECT_FALSE(is_compiled_with("[nothing ran]"));
}

}  // namespace
}  // namespace tbtrace::analyses
