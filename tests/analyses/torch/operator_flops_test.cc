#include "analyses/torch/operator_flops.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::analyses {
namespace {

/// All arguments are tensors of floats.
OperatorArguments tensors(std::initializer_list<std::vector<std::int64_t>> sizes) {
  OperatorArguments arguments;
  for (const std::vector<std::int64_t>& size : sizes) {
    arguments.dims.push_back({size, false});
    arguments.types.emplace_back("float");
    arguments.concrete.emplace_back();
  }
  return arguments;
}

TEST(Flops, OfAProductAreTwiceItsMultiplications) {
  EXPECT_EQ(operator_flops("aten::mm", tensors({{2, 3}, {3, 5}})), 60u);  // 2 * 2 * 3 * 5
  EXPECT_EQ(operator_flops("aten::addmm", tensors({{5}, {2, 3}, {3, 5}})), 60u);
  EXPECT_EQ(operator_flops("aten::bmm", tensors({{7, 2, 3}, {7, 3, 5}})), 420u);
  EXPECT_EQ(operator_flops("aten::baddbmm", tensors({{7, 2, 5}, {7, 2, 3}, {7, 3, 5}})), 420u);
}

TEST(Flops, OfElementwiseOperatorsAreTheElementsOfTheFirst) {
  EXPECT_EQ(operator_flops("aten::mul", tensors({{4, 5}, {5}})), 20u);
  EXPECT_EQ(operator_flops("aten::add", tensors({{5}, {4, 5}})), 5u);
  EXPECT_EQ(operator_flops("aten::add", tensors({{}, {4, 5}})), 1u) << "a tensor of no dimensions";
  EXPECT_EQ(operator_flops("aten::mul", tensors({{4, 0}})), 0u);
}

OperatorArguments convolution(std::string_view stride, std::string_view padding,
                              std::string_view dilation, std::string_view groups) {
  OperatorArguments arguments = tensors({{2, 4, 10, 12}, {8, 2, 3, 3}, {8}, {}, {}, {}, {}});
  arguments.concrete[3] = stride;
  arguments.concrete[4] = padding;
  arguments.concrete[5] = dilation;
  arguments.concrete[6] = groups;
  return arguments;
}

TEST(Flops, OfAConvolutionFollowItsOutput) {
  // 8 x 10 outputs, each 3 * 3 * 4 multiplications for 8 channels in 2 groups, 2 images.
  EXPECT_EQ(operator_flops("aten::conv2d", convolution("[1, 1]", "[0, 0]", "[1, 1]", "2")),
            2u * 2 * 8 * 10 * 3 * 3 * 4 * 8 / 2);
  // (10 + 2 - 2 - 1) / 2 + 1 = 5 and (12 + 4 - 4 - 1) / 3 + 1 = 4 outputs.
  EXPECT_EQ(operator_flops("aten::conv2d", convolution("[2, 3]", "[1, 2]", "[1, 2]", "1")),
            2u * 2 * 5 * 4 * 3 * 3 * 4 * 8);
}

TEST(Flops, OfAConvolutionNeedItsNumbers) {
  const auto flops = [](auto... texts) {
    return operator_flops("aten::conv2d", convolution(texts...));
  };
  EXPECT_EQ(flops("[1, 1]", "same", "[1, 1]", "1"), 0u);
  EXPECT_EQ(flops("[1]", "[0, 0]", "[1, 1]", "1"), 0u);
  EXPECT_EQ(flops("[0, 1]", "[0, 0]", "[1, 1]", "1"), 0u);
  EXPECT_EQ(flops("[1, 1]", "[0, 0]", "[1, 1]", "0"), 0u);
  EXPECT_EQ(flops("[1, 1]", "[0, 0]", "[1, 1]", ""), 0u);
  OperatorArguments three_d = convolution("[1, 1]", "[0, 0]", "[1, 1]", "1");
  three_d.dims[0].sizes.push_back(2);
  EXPECT_EQ(operator_flops("aten::conv2d", three_d), 0u);
  OperatorArguments short_list = convolution("[1, 1]", "[0, 0]", "[1, 1]", "1");
  short_list.concrete.pop_back();
  EXPECT_EQ(operator_flops("aten::conv2d", short_list), 0u);
}

TEST(Flops, AreUnknownForWhatIsNoTensor) {
  for (const std::string_view type : {"", "Scalar", "ScalarList", "TensorList"}) {
    OperatorArguments arguments = tensors({{2, 3}, {3, 5}});
    arguments.types[1] = type;
    EXPECT_EQ(operator_flops("aten::mm", arguments), 0u) << type;
    EXPECT_EQ(operator_flops("aten::mul", arguments), 6u) << "only the first counts";
    arguments.types[0] = type;
    EXPECT_EQ(operator_flops("aten::mul", arguments), 0u) << type;
  }
}

TEST(Flops, AreUnknownWithoutArguments) {
  for (const std::string_view name :
       {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::mul", "aten::conv2d"}) {
    EXPECT_TRUE(has_flops(name));
    EXPECT_EQ(operator_flops(name, {}), 0u) << name;
  }
  OperatorArguments untyped = tensors({{2, 3}, {3, 5}});
  untyped.types.clear();
  EXPECT_EQ(operator_flops("aten::mm", untyped), 0u);
}

TEST(Flops, AreUnknownForSizesThatMakeNoProduct) {
  EXPECT_EQ(operator_flops("aten::mm", tensors({{}, {3, 5}})), 0u);
  EXPECT_EQ(operator_flops("aten::mm", tensors({{2, 0}, {0, 5}})), 0u);
  EXPECT_EQ(operator_flops("aten::bmm", tensors({{0, 2, 3}, {0, 3, 5}})), 0u);
}

TEST(Flops, DoNotFallOverSizesOfADamagedFile) {
  const std::vector<std::int64_t> huge = {INT64_MIN, INT64_MAX, -1, INT64_MIN};
  EXPECT_NO_FATAL_FAILURE(operator_flops("aten::mm", tensors({huge, huge})));
  OperatorArguments arguments =
      convolution("[-1, -1]", "[9223372036854775807, -1]", "[1, 1]", "-1");
  arguments.dims[0].sizes = huge;
  arguments.dims[1].sizes = huge;
  EXPECT_NO_FATAL_FAILURE(operator_flops("aten::conv2d", arguments));
}

TEST(Flops, AreOfSevenOperatorsByTheirExactNames) {
  for (const std::string_view name : {"aten::mm.out", "mm", "aten::matmul", "aten::add_", ""}) {
    EXPECT_FALSE(has_flops(name)) << name;
    EXPECT_EQ(operator_flops(name, tensors({{2, 3}, {3, 5}})), 0u);
  }
  EXPECT_TRUE(has_flops("aten::add"));
}

}  // namespace
}  // namespace tbtrace::analyses
