// Formulas of operators against products written out by hand.
#include "analyses/flops/formulas.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/random_choices.h"
#include "fixtures/random_rounds.h"

namespace tbtrace::analyses {
namespace {

using testing::Optional;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::optional<Work> work(std::string_view name, std::string_view dims, std::string_view types = "",
                         std::string_view values = "") {
  const FlopRule* rule = flop_rule(name);
  const OperatorInputs inputs(dims, types, values);
  if (rule != nullptr) return product_work(*rule, inputs);
  const ElementRule* elements = element_rule(name);
  return elements == nullptr ? std::nullopt : element_work(*elements, inputs);
}

std::optional<std::uint64_t> macs(std::string_view name, std::string_view dims,
                                  std::string_view types = "", std::string_view values = "") {
  const std::optional<Work> found = work(name, dims, types, values);
  return found ? std::optional(found->macs) : std::nullopt;
}

TEST(FlopFormulas, CountProductsOfMatrices) {
  EXPECT_THAT(macs("aten::mm", "[[2, 3], [3, 5]]"), Optional(2 * 3 * 5));
  EXPECT_THAT(macs("aten::mm.out", "[[2, 3], [3, 5], [2, 5]]"), Optional(2 * 3 * 5));
  EXPECT_THAT(macs("aten::addmm", "[[5], [2, 3], [3, 5], [], []]"), Optional(2 * 3 * 5));
  EXPECT_THAT(macs("aten::bmm", "[[7, 2, 3], [7, 3, 5]]"), Optional(7 * 2 * 3 * 5));
  EXPECT_THAT(macs("aten::baddbmm", "[[7, 2, 5], [7, 2, 3], [7, 3, 5], [], []]"),
              Optional(7 * 2 * 3 * 5));
  EXPECT_THAT(macs("aten::addbmm", "[[2, 5], [7, 2, 3], [7, 3, 5], [], []]"),
              Optional(7 * 2 * 3 * 5));
  EXPECT_THAT(macs("aten::mv", "[[2, 3], [3]]"), Optional(6));
  EXPECT_THAT(macs("aten::addmv", "[[2], [2, 3], [3], [], []]"), Optional(6));
  EXPECT_THAT(macs("aten::dot", "[[9], [9]]"), Optional(9));
  EXPECT_THAT(macs("aten::vdot", "[[9], [9]]"), Optional(9));
  EXPECT_THAT(macs("aten::ger", "[[4], [9]]"), Optional(36));
  EXPECT_THAT(macs("aten::_scaled_mm", "[[16, 32], [32, 64], [], [], [], [], [], []]"),
              Optional(16 * 32 * 64));
  EXPECT_THAT(macs("aten::_int_mm", "[[2, 3], [3, 5]]"), Optional(30));
  EXPECT_THAT(macs("aten::linear", "[[4, 6, 3], [5, 3], [5]]"), Optional(4 * 6 * 3 * 5));
  EXPECT_THAT(macs("mkl::_mkl_linear", "[[4, 3], [999], [5, 3], [5], []]"), Optional(60));
  EXPECT_THAT(macs("aten::matmul", "[[8, 1, 2, 3], [4, 3, 5]]"), Optional(8 * 4 * 2 * 3 * 5));
  EXPECT_THAT(macs("aten::matmul", "[[3], [4, 3, 5]]"), Optional(60));
  EXPECT_THAT(macs("aten::_grouped_mm", "[[10, 3], [4, 3, 5], [4]]"), Optional(10 * 3 * 5));
  EXPECT_THAT(macs("aten::_grouped_mm", "[[4, 2, 3], [4, 3, 5]]"), Optional(4 * 2 * 3 * 5));
  EXPECT_THAT(macs("aten::mm", "[[0, 3], [3, 5]]"), Optional(0));
}

TEST(FlopFormulas, CountTrafficByTheTypesOfInputs) {
  EXPECT_EQ(work("aten::mm", "[[2, 3], [3, 5]]", R"(["float", "float"])"),
            (Work{30, 60, 4 * (6 + 15 + 10)}));
  EXPECT_EQ(work("aten::addmm", "[[5], [2, 3], [3, 5], [], []]",
                 R"(["c10::Half", "c10::Half", "c10::Half", "Scalar", "Scalar"])"),
            (Work{30, 60, 2 * (5 + 6 + 15 + 10)}));
  EXPECT_EQ(work("aten::mm", "[[2, 3], [3, 5]]", R"(["odd", "float"])"), (Work{30, 60, 0}));
  EXPECT_EQ(work("aten::add", "[[2, 1, 3], [4, 1], []]", R"(["float", "float", "Scalar"])"),
            (Work{0, 24, 4 * (6 + 4 + 24)}));
  EXPECT_EQ(work("aten::copy_", "[[2, 3], [2, 3], []]", R"(["c10::Half", "float", "Scalar"])"),
            (Work{0, 0, 2 * 6 + 4 * 6}));
}

TEST(FlopFormulas, AreUnknownForSizesThatDoNotFit) {
  for (const std::string_view dims :
       {"", "[]", "[[2, 3]]", "[[2, 3], [4, 5]]", "[[2, -3], [-3, 5]]", "[[[2, 3]], [3, 5]]",
        "[[2, x], [3, 5]]", "[[2, 3], []]"}) {
    EXPECT_EQ(work("aten::mm", dims), std::nullopt) << dims;
  }
  EXPECT_EQ(work("aten::add", "[[2, 3], [4, 3], []]"), std::nullopt);
  EXPECT_EQ(work("aten::linear", "[[4, 3], [5, 4]]"), std::nullopt);
  EXPECT_EQ(work("aten::matmul", "[[2, 2, 3], [3, 3, 5]]"), std::nullopt);
}

TEST(FlopFormulas, SaturateInsteadOfOverflowing) {
  const std::string huge = "9223372036854775807";
  const std::string dims = "[[" + huge + ", " + huge + "], [" + huge + ", " + huge + "]]";
  EXPECT_EQ(work("aten::mm", dims, R"(["double", "double"])"), (Work{kMost, kMost, kMost}));
  EXPECT_THAT(macs("aten::mm", "[[0, " + huge + "], [" + huge + ", " + huge + "]]"), Optional(0));
  EXPECT_EQ(work("aten::mul", "[[" + huge + ", 4], []]"), (Work{0, kMost, 0}));
  EXPECT_THAT(macs("aten::mm", "[[4294967296, 1], [1, 4294967295]]"),
              Optional(18446744069414584320U));
}

constexpr std::string_view kConvolutionTypes =
    R"(["float", "float", "", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar"])";

TEST(FlopFormulas, CountConvolutionsByTheirValues) {
  // ResNet's first layer: 112 * 112 * 64 * 3 * 7 * 7 per image.
  const std::string_view dims = "[[2, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], [], [], []]";
  const std::uint64_t first = 2ULL * 112 * 112 * 64 * 3 * 7 * 7;
  EXPECT_EQ(work("aten::convolution", dims, kConvolutionTypes,
                 R"(["", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1"])"),
            (Work{first, 2 * first,
                  4 * (2ULL * 3 * 224 * 224 + 64 * 3 * 7 * 7 + 2ULL * 64 * 112 * 112)}));
  EXPECT_THAT(macs("aten::conv2d", dims, "", R"(["", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "1"])"),
              Optional(first));
  EXPECT_THAT(macs("aten::cudnn_convolution", dims, "",
                   R"(["", "", "[3, 3]", "[2, 2]", "[1, 1]", "1", "False", "False", "True"])"),
              Optional(first));
  EXPECT_THAT(macs("aten::mkldnn_convolution", dims, "",
                   R"(["", "", "", "[3, 3]", "[2, 2]", "[1, 1]", "1"])"),
              Optional(first));
  EXPECT_THAT(macs("aten::thnn_conv2d", "[[1, 4, 9, 9], [6, 4, 3, 3], [], [], [], []]", "",
                   R"(["", "", "[3, 3]", "", "[1, 1]", "[0, 0]"])"),
              Optional(7 * 7 * 6 * 4 * 3 * 3));
  // A group per channel, dilation, one number for all axes, no batch.
  EXPECT_THAT(macs("aten::conv2d", "[[8, 20, 20], [8, 1, 3, 3], [8]]", "",
                   R"(["", "", "", "[1]", "[2]", "[2]", "8"])"),
              Optional(20 * 20 * 8 * 9));
  EXPECT_THAT(macs("aten::conv1d", "[[2, 4, 10], [6, 4, 3], []]", "",
                   R"(["", "", "", "[1]", "[0]", "[1]", "1"])"),
              Optional(2 * 8 * 6 * 4 * 3));
  EXPECT_THAT(macs("aten::conv3d", "[[1, 2, 5, 6, 7], [3, 2, 1, 2, 3], []]", "",
                   R"(["", "", "", "[1, 1, 1]", "[0, 0, 0]", "[1, 1, 1]", "1"])"),
              Optional(5 * 5 * 5 * 3 * 2 * 6));
}

TEST(FlopFormulas, CountTransposedConvolutionsByTheirInput) {
  const std::string_view dims = "[[2, 6, 5, 5], [6, 4, 3, 3], [4], [], [], [], [], []]";
  const std::uint64_t expected = 2ULL * 5 * 5 * 6 * 4 * 9;
  EXPECT_THAT(macs("aten::conv_transpose2d", dims, "",
                   R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "1", "[1, 1]"])"),
              Optional(expected));
  // Output: (5 - 1) * 2 - 2 * 1 + 1 * (3 - 1) + 1 + 1 = 10.
  EXPECT_EQ(work("aten::convolution", "[[2, 6, 5, 5], [6, 4, 3, 3], [], [], [], [], [], [], []]",
                 kConvolutionTypes,
                 R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[1, 1]", "1"])"),
            (Work{expected, 2 * expected, 4 * (2 * 6 * 25 + 6 * 4 * 9 + 2 * 4 * 100)}));
}

// As torch 2.13 records them in a model that torch.compile froze.
TEST(FlopFormulas, CountFusedOperatorsWithATensorToAdd) {
  EXPECT_THAT(macs("mkldnn::_linear_pointwise", "[[32, 16], [24, 16], [24], [], [], []]"),
              Optional(32 * 16 * 24));
  EXPECT_THAT(macs("mkldnn::_linear_pointwise", "[[32, 16], [32, 16], [16, 16], [16], []]"),
              Optional(32 * 16 * 16));
  EXPECT_THAT(macs("mkldnn::_linear_pointwise", "[[32, 16], [32, 24], [24, 16], [], []]"),
              Optional(32 * 16 * 24));
  EXPECT_THAT(macs("mkldnn::_convolution_pointwise",
                   "[[2, 8, 10, 10], [12, 2, 3, 3], [12], [], [], [], [], [], [], []]", "",
                   R"(["", "", "", "[0, 0]", "[1, 1]", "[1, 1]", "4", "", "", ""])"),
              Optional(2 * 8 * 8 * 12 * 2 * 9));
  EXPECT_THAT(
      macs("mkldnn::_convolution_pointwise",
           "[[2, 8, 10, 10], [2, 12, 8, 8], [12, 2, 3, 3], [], [], [], [], [], [], [], [], "
           "[]]",
           "", R"(["", "", "", "", "[0, 0]", "[1, 1]", "[1, 1]", "4", "", "1.", "", "", ""])"),
      Optional(2 * 8 * 8 * 12 * 2 * 9));
  EXPECT_THAT(
      macs("mkldnn::_convolution_pointwise_",
           "[[2, 8, 10, 10], [2, 8, 10, 10], [8, 8, 3, 3], [8], [], [], [], [], [], [], [], "
           "[]]",
           "", R"(["", "", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "1", "", "1.", "", "", ""])"),
      Optional(2 * 10 * 10 * 8 * 8 * 9));
}

TEST(FlopFormulas, CountTransposedConvolutionsWithAPackedWeight) {
  const std::string_view values =
      R"(["", "", "", "[1, 1]", "[1, 1]", "[2, 2]", "[1, 1]", "2", "", "", ""])";
  // 8 channels in and 6 out in 2 groups; the output is 2 x 6 x 20 x 20.
  EXPECT_EQ(work("mkldnn::_convolution_transpose_pointwise",
                 "[[2, 8, 10, 10], [6, 4, 3, 3], [6], [], [], [], [], [], [], [], []]",
                 R"(["float", "float", "float"])", values),
            (Work{43200, 86400, 4 * (2 * 8 * 100 + 6 * 4 * 9 + 6 + 2 * 6 * 400)}));
  EXPECT_EQ(macs("mkldnn::_convolution_transpose_pointwise",
                 "[[2, 8, 10, 10], [5, 4, 3, 3], [5], [], [], [], [], [], [], [], []]", "", values),
            std::nullopt)
      << "channels do not fit";
}

TEST(FlopFormulas, TakeTheOutputOfAConvolutionFromItsGradient) {
  const FlopRule& rule = *flop_rule("aten::conv2d");
  const OperatorInputs inputs("[[32, 64, 56, 56], [128, 64, 3, 3], [], [], [], [], []]", "", "");
  EXPECT_EQ(product_work(rule, inputs), std::nullopt);
  const Sizes gradient = {32, 128, 28, 28};
  const auto with = [&](const std::vector<Sizes>& gradients) {
    const std::optional<Work> found = product_work(rule, inputs, {.gradients = gradients});
    return found ? std::optional(found->macs) : std::nullopt;
  };
  const std::uint64_t expected = 32ULL * 28 * 28 * 128 * 64 * 9;
  EXPECT_THAT(with({gradient}), Optional(expected));
  EXPECT_THAT(with({{32, 5, 28, 28}, gradient, {7}}), Optional(expected));
  EXPECT_EQ(with({gradient, {32, 128, 56, 56}}), std::nullopt) << "two that fit";
  EXPECT_EQ(with({{31, 128, 28, 28}}), std::nullopt);
}

TEST(FlopFormulas, CountGradientsOfConvolutionsByTheirMask) {
  const std::string_view dims =
      "[[2, 128, 4, 4], [2, 64, 8, 8], [128, 64, 3, 3], [], [], [], [], "
      "[], [], [], []]";
  const auto with = [&](std::string_view transposed, std::string_view mask) {
    return macs("aten::convolution_backward", dims, "",
                R"(["", "", "", "[0]", "[2, 2]", "[1, 1]", "[1, 1]", ")" + std::string(transposed) +
                    R"(", "[0, 0]", "1", ")" + std::string(mask) + "\"]");
  };
  const std::uint64_t once = 2ULL * 16 * 128 * 64 * 9;
  EXPECT_THAT(with("False", "[True, True, False]"), Optional(2 * once));
  EXPECT_THAT(with("False", "[False, True, True]"), Optional(once));
  EXPECT_THAT(with("False", "[False, False, True]"), Optional(0));
  EXPECT_EQ(with("False", ""), std::nullopt);
  EXPECT_EQ(with("True", "[True, True, False]"), std::nullopt) << "channels do not fit";
  EXPECT_THAT(
      macs("aten::convolution_backward",
           "[[2, 4, 10, 10], [2, 6, 5, 5], [6, 4, 3, 3], [], [], [], [], [], [], [], []]", "",
           R"(["", "", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[1, 1]", "1", )"
           R"("[True, True, True]"])"),
      Optional(2ULL * 2 * 25 * 6 * 4 * 9));
}

TEST(FlopFormulas, CountEarlierGradientsOfConvolutionsOneByOne) {
  const std::uint64_t once = 2ULL * 16 * 128 * 64 * 9;
  const OperatorInputs around("[[2, 64, 8, 8], [2, 128, 4, 4], [128, 64, 3, 3], [], []]", "", "");
  // The mask moved in 1.11.
  const std::string_view slow = "[[2, 128, 4, 4], [2, 64, 8, 8], [128, 64, 3, 3], [], [], [], []]";
  for (const std::string_view values :
       {R"(["", "", "", "[3, 3]", "[2, 2]", "[1, 1]", "[True, True, True]"])",
        R"(["", "", "", "[3, 3]", "[2, 2]", "[1, 1]", "", "", "[True, True, True]"])"}) {
    EXPECT_THAT(macs("aten::_slow_conv2d_backward", slow, "", values), Optional(2 * once));
  }
  const OperatorInputs of_input("[[], [2, 128, 4, 4], [128, 64, 3, 3], [], []]", "", "");
  const OperatorInputs of_weight("[[], [2, 128, 4, 4], [2, 64, 8, 8], [], []]", "", "");
  const FlopRule& rule = *flop_rule("aten::cudnn_convolution_backward");
  const OutsideInputs outside = {.around = &rule, .inputs_around = &around};
  EXPECT_EQ(product_work(rule, around), std::nullopt) << "which gradients is not known";
  const FlopRule& input_rule = *flop_rule("aten::cudnn_convolution_backward_input");
  const FlopRule& weight_rule = *flop_rule("aten::cudnn_convolution_backward_weight");
  EXPECT_EQ(product_work(input_rule, of_input), (Work{once, 2 * once, 0}));
  EXPECT_EQ(product_work(weight_rule, of_weight), std::nullopt);
  EXPECT_EQ(product_work(weight_rule, of_weight, outside), (Work{once, 2 * once, 0}));
  EXPECT_THAT(
      macs("aten::cudnn_convolution_backward_weight", "[[], [2, 128, 4, 4], [2, 64, 8, 8], [], []]",
           "", R"(["[128, 64, 3, 3]", "", "", "", ""])"),
      Optional(once));
}

TEST(FlopFormulas, CountAttentionDense) {
  const std::uint64_t pairs = 2ULL * 8 * 10 * 12;
  const std::string_view dims = "[[2, 8, 10, 64], [2, 2, 12, 64], [2, 2, 12, 32], [], []]";
  for (const std::string_view name :
       {"aten::_scaled_dot_product_flash_attention",
        "aten::_scaled_dot_product_efficient_attention",
        "aten::_scaled_dot_product_cudnn_attention", "aten::scaled_dot_product_attention"}) {
    EXPECT_THAT(macs(name, dims), Optional(pairs * (64 + 32))) << name;
  }
  EXPECT_THAT(macs("aten::_flash_attention_forward",
                   "[[2, 10, 8, 64], [2, 12, 2, 64], [2, 12, 2, 32], [], []]"),
              Optional(pairs * (64 + 32)));
  EXPECT_EQ(
      macs("aten::_flash_attention_forward", "[[20, 8, 64], [20, 2, 64], [20, 2, 64], [3], [3]]"),
      std::nullopt)
      << "sequences of several lengths";
  EXPECT_THAT(
      macs("aten::_scaled_dot_product_flash_attention_backward",
           "[[2, 8, 10, 32], [2, 8, 10, 64], [2, 2, 12, 64], [2, 2, 12, 32], [2, 8, 10, 32]]"),
      Optional(pairs * (3 * 64 + 2 * 32)));
  EXPECT_EQ(macs("aten::scaled_dot_product_attention", "[[2, 8, 10, 64], [2, 8, 12, 63], [1]]"),
            std::nullopt);
}

TEST(FlopFormulas, CountRecurrentLayersByTheirWeights) {
  const std::uint64_t weights = 128 * 24 + 128 * 32 + 2 * 128 * 32;
  EXPECT_THAT(macs("aten::lstm",
                   "[[15, 4, 24], [[2, 4, 32], [2, 4, 32]], [[128, 24], [128, 32], [128], [128], "
                   "[128, 32], [128, 32], [128], [128]], [], []]"),
              Optional(15 * 4 * weights));
  EXPECT_THAT(macs("aten::lstm",
                   "[[60, 24], [15], [[2, 4, 32], [2, 4, 32]], [[128, 24], [128, 32], [128], "
                   "[128], [128, 32], [128, 32], [128], [128]], [], []]"),
              Optional(60 * weights))
      << "packed";
  EXPECT_THAT(macs("aten::mkldnn_rnn_layer", "[[15, 4, 24], [128, 24], [128, 32], [128], [128]]"),
              Optional(15 * 4 * (128 * 24 + 128 * 32)));
  // From its values: 2 layers, one direction, 4 gates.
  EXPECT_THAT(macs("aten::_cudnn_rnn", "[[15, 4, 24], [], [], [], [], [], [], []]", "",
                   R"(["", "", "4", "", "", "", "2", "32", "0", "2", "False", "0.", "True", )"
                   R"("False", "[]", ""])"),
              Optional(15 * 4 * weights));
  EXPECT_EQ(macs("aten::_cudnn_rnn", "[[15, 4, 24], [], [], [], [], [], [], []]"), std::nullopt);
  EXPECT_THAT(
      macs("aten::mkldnn_rnn_layer_backward", "[[15, 4, 24], [128, 24], [128, 32], [128], [128]]"),
      Optional(2 * 15 * 4 * (128 * 24 + 128 * 32)));
  EXPECT_THAT(macs("aten::_cudnn_rnn_backward", "[[15, 4, 24], [[128, 24], [128, 32], [128]], []]",
                   "", R"(["", "", "[True, False, False, True]"])"),
              Optional(2 * 15 * 4 * (128 * 24 + 128 * 32)));
}

TEST(FlopFormulas, CountOperationsPerElement) {
  const auto flops = [](std::string_view name, std::string_view dims,
                        std::string_view values = "") {
    const std::optional<Work> found = work(name, dims, "", values);
    return found ? std::optional(found->flops) : std::nullopt;
  };
  EXPECT_THAT(flops("aten::relu_", "[[2, 3]]"), Optional(6));
  EXPECT_THAT(flops("aten::add_.Tensor", "[[2, 3], [3], []]"), Optional(6));
  EXPECT_THAT(flops("aten::addcmul_", "[[2, 3], [2, 3], [2, 3], []]"), Optional(18));
  EXPECT_THAT(flops("aten::_foreach_mul_", "[[[2, 3], [4]], []]"), Optional(10));
  EXPECT_THAT(flops("aten::layer_norm", "[[2, 3], [], [3], [3], []]"), Optional(30));
  EXPECT_THAT(flops("aten::batch_norm", "[[2, 3, 4, 4], [3], [3], [3], [3], [], [], [], []]",
                    R"(["", "", "", "", "", "True", "0.1", "1e-5", "True"])"),
              Optional(96 * 5));
  EXPECT_THAT(flops("aten::batch_norm", "[[2, 3, 4, 4], [3], [3], [3], [3], [], [], [], []]",
                    R"(["", "", "", "", "", "False", "0.1", "1e-5", "True"])"),
              Optional(96 * 2));
  EXPECT_THAT(flops("aten::instance_norm", "[[2, 3, 4, 4], [], [], [3], [3], [], [], [], []]",
                    R"(["", "", "", "", "", "False", "0.1", "1e-5", "True"])"),
              Optional(96 * 4));
  EXPECT_THAT(flops("aten::view", ""), Optional(0));
  EXPECT_THAT(flops("aten::embedding", ""), Optional(0));
  EXPECT_EQ(flops("aten::relu", ""), std::nullopt);
  EXPECT_EQ(flops("aten::relu_backward_of_someone", "[[2, 3]]"), std::nullopt);
}

/// Any inputs, of all operators: nothing overflows, divides by 0 or takes long.
TEST(FlopFormulas, TakeRandomHostileInputs) {
  constexpr std::array<std::string_view, 14> kPieces = {"0",
                                                        "1",
                                                        "2",
                                                        "-1",
                                                        "9223372036854775807",
                                                        "-9223372036854775808",
                                                        "18446744073709551616",
                                                        "[",
                                                        "]",
                                                        "[]",
                                                        "3",
                                                        "x",
                                                        "\"",
                                                        "64"};
  constexpr std::array<std::string_view, 12> kValues = {
      "[0, 0]", "[1, 1]", "[-1, -1]",           "[9223372036854775807, 1]", "[2]",
      "True",   "False",  "[True, True, True]", "9223372036854775807",      "0",
      "-1",     "[]"};
  constexpr std::array<std::string_view, 16> kNames = {"aten::mm",
                                                       "aten::matmul",
                                                       "aten::linear",
                                                       "aten::_grouped_mm",
                                                       "aten::convolution",
                                                       "aten::conv2d",
                                                       "aten::conv_transpose2d",
                                                       "aten::convolution_backward",
                                                       "aten::cudnn_convolution_backward_weight",
                                                       "aten::_scaled_dot_product_flash_attention",
                                                       "aten::_flash_attention_backward",
                                                       "aten::_cudnn_rnn",
                                                       "aten::lstm",
                                                       "aten::add",
                                                       "aten::_foreach_add_",
                                                       "aten::batch_norm"};
  const std::array<std::string, 3> typed = {"", R"(["float", "float", "double"])",
                                            R"(["long", "", "x"])"};
  const unsigned rounds = fixtures::random_rounds(20000U);
  for (unsigned seed = 0; seed < rounds; ++seed) {
    fixtures::RandomChoices random(seed);
    std::string dims = "[";
    for (std::int64_t input = 2 + random.below(9); input > 0; --input) {
      dims += dims.size() > 1 ? ", [" : "[";
      for (std::int64_t axis = random.below(6); axis > 0; --axis) {
        // Mostly numbers.
        dims += random.below(4) > 0 ? kPieces[static_cast<std::size_t>(random.below(7))]
                                    : random.one_of(kPieces);
        dims += ", ";
      }
      dims += "]";
    }
    dims += "]";
    std::string values = "[";
    for (std::int64_t input = random.below(15); input > 0; --input) {
      values += (values.size() > 1 ? ", \"" : "\"") + std::string(random.one_of(kValues)) + "\"";
    }
    values += "]";
    const std::string_view name = random.one_of(kNames);
    SCOPED_TRACE(std::string(name) + dims + values);
    const std::optional<Work> found = work(name, dims, typed[seed % typed.size()], values);
    if (found && found->macs > 0) {
      EXPECT_GE(found->flops, found->macs);
    }
  }
}

}  // namespace
}  // namespace tbtrace::analyses
