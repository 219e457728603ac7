// Which operators of a trace count, and what those know that lack sizes of their own.
#include "analyses/flops/counted_operators.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using fixtures::finished;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

struct Operator {
  std::string_view name;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::string_view dims = "";
  std::string_view values = "";
  std::int64_t sequence = -1;
  std::int64_t forward_thread = 0;
  std::int64_t thread = 1;
};

Trace trace_of(const std::vector<Operator>& operators) {
  TraceBuilder builder;
  for (const Operator& op : operators) {
    const EventId event = fixtures::add(
        builder,
        {.name = op.name, .start = op.start, .duration = op.end - op.start, .thread = op.thread});
    if (!op.dims.empty()) {
      builder.add_argument(event, Argument::input_dims, builder.intern(op.dims));
    }
    if (!op.values.empty()) {
      builder.add_argument(event, Argument::concrete_inputs, builder.intern(op.values));
    }
    if (op.sequence < 0) continue;
    builder.add_argument(event, Argument::sequence_number, op.sequence);
    builder.add_argument(event, Argument::forward_thread, op.forward_thread);
  }
  return finished(builder);
}

CountedOperator counted(std::uint32_t op, std::uint64_t macs) {
  return {EventId{op}, macs, 2 * macs, 0};
}

constexpr std::string_view kMatrices = "[[2, 3], [3, 5]]";

TEST(CountedOperators, CountWhatIsInsideInPlaceOfACaller) {
  const Trace trace = trace_of({{"aten::linear", 0, 100, "[[2, 3], [5, 3], [5]]"},
                                {"aten::t", 1, 5, "[[5, 3]]"},
                                {"aten::addmm", 10, 90, "[[5], [2, 3], [3, 5], [], []]"},
                                {"aten::expand", 20, 30, "[[5]]"}});
  EXPECT_THAT(counted_operators(trace),
              ElementsAre(CountedOperator{EventId{1}, 0, 0, 0, true}, counted(2, 30)));
}

TEST(CountedOperators, CountACallerIfNothingInsideDoes) {
  const Trace trace = trace_of({{"aten::linear", 0, 100, "[[2, 3], [5, 3], [5]]"},
                                {"other::gemm", 10, 50, "[[2, 3], [5, 3]]"},
                                {"aten::add_", 60, 90, "[[2, 5], [5], []]"}});
  EXPECT_THAT(counted_operators(trace), ElementsAre(counted(0, 30))) << "with its bias";
}

TEST(CountedOperators, CountTheOutermostConvolutionWhoseSizesAreKnown) {
  const std::string_view dims = "[[1, 4, 9, 9], [6, 4, 3, 3], [], [], [], [], []]";
  const std::string_view values = R"(["", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "1"])";
  const std::string_view inner_values = R"(["", "", "", "[0, 0]", "[1, 1]", "[1, 1]", "1"])";
  constexpr std::uint64_t kMacs = 7 * 7 * 6 * 4 * 9;
  EXPECT_THAT(counted_operators(trace_of({{"aten::conv2d", 0, 100, dims, values},
                                          {"aten::mkldnn_convolution", 20, 80, dims, inner_values},
                                          {"aten::mm", 30, 40, kMatrices}})),
              ElementsAre(counted(0, kMacs)));
  EXPECT_THAT(counted_operators(trace_of({{"aten::conv2d", 0, 100, dims},
                                          {"aten::mkldnn_convolution", 20, 80, dims, inner_values},
                                          {"aten::mm", 30, 40, kMatrices}})),
              ElementsAre(counted(1, kMacs)));
}

TEST(CountedOperators, NameTheOutermostOperatorOfUnknownSizes) {
  const Trace trace = trace_of({{"aten::conv2d", 0, 100},
                                {"aten::convolution", 10, 90},
                                {"aten::cudnn_convolution", 20, 80},
                                {"aten::add_", 85, 88, "[[2, 5], [5], []]"},
                                {"aten::mm", 200, 210},
                                {"aten::batch_norm", 300, 400},
                                {"aten::native_batch_norm", 310, 390, "[[2, 3], [3]]"},
                                {"custom::op", 500, 510, kMatrices}});
  const OperatorCounts counts = operator_counts(trace);
  EXPECT_THAT(counts.unknown, ElementsAre(EventId{0}, EventId{4}));
  EXPECT_THAT(counts.counted, ElementsAre(CountedOperator{EventId{3}, 0, 10, 0},
                                          CountedOperator{EventId{6}, 0, 30, 0}));
}

TEST(CountedOperators, FindTheOutputOfAConvolutionByItsSequenceNumber) {
  const std::string_view dims = "[[2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], []]";
  constexpr std::uint64_t kMacs = 2 * 4 * 4 * 4 * 3 * 9;
  const Operator forward = {"aten::conv2d", 0, 10, dims, "", 7};
  EXPECT_THAT(counted_operators(trace_of({forward,
                                          {.name = "CudnnConvolutionBackward",
                                           .start = 20,
                                           .end = 30,
                                           .dims = "[[2, 4, 4, 4]]",
                                           .sequence = 7,
                                           .forward_thread = 1,
                                           .thread = 2}})),
              ElementsAre(counted(0, kMacs)));
  // The node has no sizes, but the operator in it has.
  EXPECT_THAT(
      operator_counts(trace_of({forward,
                                {.name = "ConvolutionBackward0",
                                 .start = 20,
                                 .end = 30,
                                 .sequence = 7,
                                 .forward_thread = 1,
                                 .thread = 2},
                                {.name = "aten::convolution_backward",
                                 .start = 21,
                                 .end = 29,
                                 .dims = "[[2, 4, 4, 4], [2, 3, 8, 8], [4, 3, 3, 3], [], []]",
                                 .thread = 2}}))
          .counted,
      ElementsAre(counted(0, kMacs)));
  const OperatorCounts other = operator_counts(trace_of({forward,
                                                         {.name = "CudnnConvolutionBackward",
                                                          .start = 20,
                                                          .end = 30,
                                                          .dims = "[[2, 4, 4, 4]]",
                                                          .sequence = 8,
                                                          .forward_thread = 1,
                                                          .thread = 2}}));
  EXPECT_THAT(other.counted, IsEmpty());
  EXPECT_THAT(other.unknown, ElementsAre(EventId{0}));
}

TEST(CountedOperators, TakeSizesOfGradientsFromTheOperatorAround) {
  const Trace trace = trace_of({{"aten::cudnn_convolution_backward", 0, 100,
                                 "[[2, 3, 8, 8], [2, 4, 4, 4], [4, 3, 3, 3], [], []]"},
                                {"aten::cudnn_convolution_backward_input", 10, 20,
                                 "[[], [2, 4, 4, 4], [4, 3, 3, 3], [], []]"},
                                {"aten::cudnn_convolution_backward_weight", 30, 40,
                                 "[[], [2, 4, 4, 4], [2, 3, 8, 8], [], []]"}});
  constexpr std::uint64_t kMacs = 2 * 4 * 4 * 4 * 3 * 9;
  const OperatorCounts counts = operator_counts(trace);
  EXPECT_THAT(counts.counted, ElementsAre(counted(1, kMacs), counted(2, kMacs)));
  EXPECT_THAT(counts.unknown, IsEmpty());
}

TEST(CountedOperators, DoNotCountAnAttentionInsideAnother) {
  const std::string_view dims = "[[2, 8, 10, 64], [2, 8, 10, 64], [2, 8, 10, 64]]";
  const Trace trace = trace_of({{"aten::scaled_dot_product_attention", 0, 100, dims},
                                {"aten::_scaled_dot_product_flash_attention", 10, 90, dims},
                                {"aten::_flash_attention_forward", 20, 80,
                                 "[[2, 10, 8, 64], [2, 10, 8, 64], [2, 10, 8, 64]]"}});
  EXPECT_THAT(counted_operators(trace), ElementsAre(counted(1, 2ULL * 8 * 10 * 10 * 128)));
}

// DTensor calls the operator of the whole tensor, which calls that of the shard.
TEST(CountedOperators, CountTheShardInsideAnOperatorOfAWholeTensor) {
  const Trace trace = trace_of({{"aten::linear", 0, 100, "[[64, 128], [512, 128], []]"},
                                {"aten::matmul", 5, 95, "[[64, 128], [128, 512]]"},
                                {"aten::mm", 10, 90, "[[64, 128], [128, 512]]"},
                                {"aten::mm", 20, 80, "[[64, 128], [128, 256]]"}});
  EXPECT_THAT(counted_operators(trace), ElementsAre(counted(3, 64 * 128 * 256)));
}

TEST(CountedOperators, CountAnEmptyShard) {
  const Trace trace = trace_of({{"aten::mm", 10, 90, "[[64, 128], [128, 512]]"},
                                {"aten::mm", 20, 80, "[[64, 128], [128, 0]]"}});
  EXPECT_THAT(counted_operators(trace), ElementsAre(counted(1, 0)));
}

TEST(CountedOperators, CountAShardWhoseCallerHasAnotherName) {
  const std::string_view values = R"(["", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "1"])";
  const std::string_view all =
      R"(["", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1"])";
  const std::string_view whole = "[[8, 4, 9, 9], [6, 4, 3, 3], [], [], [], [], []]";
  const std::string_view whole_inside = "[[8, 4, 9, 9], [6, 4, 3, 3], [], [], [], [], [], [], []]";
  const std::string_view shard = "[[2, 4, 9, 9], [6, 4, 3, 3], [], [], [], [], [], [], []]";
  EXPECT_THAT(counted_operators(trace_of({{"aten::conv2d", 0, 100, whole, values},
                                          {"aten::convolution", 10, 90, whole_inside, all},
                                          {"aten::convolution", 20, 80, shard, all},
                                          {"aten::_convolution", 30, 70, shard, all}})),
              ElementsAre(counted(2, 2 * 7 * 7 * 6 * 4 * 9)));
}

// vmap hides the batch from the operators that the program calls.
TEST(CountedOperators, CountTheBatchInsideAnOperatorOfVmap) {
  const Trace trace = trace_of({{"aten::mm", 0, 100, "[[2, 3], [3, 5]]"},
                                {"aten::unsqueeze", 5, 8, "[[2, 3]]"},
                                {"aten::bmm", 10, 90, "[[16, 2, 3], [16, 3, 5]]"}});
  EXPECT_THAT(counted_operators(trace),
              ElementsAre(CountedOperator{EventId{1}, 0, 0, 0, true}, counted(2, 16 * 30)));
}

TEST(CountedOperators, CountTheBatchInsideNestedVmap) {
  const Trace trace = trace_of({{"aten::dot", 0, 100, "[[3], [3]]"},
                                {"aten::mv", 10, 90, "[[4, 3], [3]]"},
                                {"aten::matmul", 20, 80, "[[5, 4, 3], [5, 3, 1]]"},
                                {"aten::bmm", 30, 70, "[[5, 4, 3], [5, 3, 1]]"}});
  EXPECT_THAT(counted_operators(trace), ElementsAre(counted(3, 60)));
}

TEST(CountedOperators, CountElementsOfTheShard) {
  const Trace trace = trace_of({{"aten::relu", 0, 100, "[[64, 512]]"},
                                {"aten::relu", 10, 90, "[[64, 256]]"},
                                {"aten::mm", 200, 300, "[[2, 3], [3, 5]]"},
                                {"aten::relu", 210, 220, "[[9]]"}});
  EXPECT_THAT(counted_operators(trace),
              ElementsAre(CountedOperator{EventId{1}, 0, 64 * 256, 0}, counted(2, 30)));
}

TEST(CountedOperators, CountTheOuterOperatorIfTheInnerOnesComputeTheSame) {
  EXPECT_THAT(counted_operators(trace_of({{"aten::mm", 0, 100, "[[4, 3], [3, 5]]"},
                                          {"aten::mm", 10, 40, "[[2, 3], [3, 5]]"},
                                          {"aten::mm", 50, 90, "[[2, 3], [3, 5]]"}})),
              ElementsAre(counted(0, 60)))
      << "divided";
  EXPECT_THAT(counted_operators(
                  trace_of({{"aten::mm", 0, 100, "[[4, 3], [3, 5]]"}, {"aten::mm", 10, 40, ""}})),
              ElementsAre(counted(0, 60)))
      << "unknown sizes inside";
}

TEST(CountedOperators, CountOnlyOperators) {
  TraceBuilder builder;
  const EventId event =
      fixtures::add(builder, {.category = "user_annotation", .name = "aten::mm", .duration = 5});
  builder.add_argument(event, Argument::input_dims, builder.intern(kMatrices));
  EXPECT_THAT(counted_operators(finished(builder)), IsEmpty());
}

TEST(FirstDimensionOf, WhatMayBeAFirstLayerCanBeABatchOrTwoDimensions) {
  using Found = std::optional<std::pair<std::uint64_t, bool>>;
  const auto of = [](std::string_view name, std::string_view dims) -> Found {
    const auto found = first_dimension(trace_of({{name, 0, 5, dims}}), EventId{0});
    if (!found) return std::nullopt;
    return std::pair(found->size, found->may_be_flattened);
  };
  EXPECT_EQ(of("aten::add", "[[9, 9], [9, 9], []]"), std::nullopt);
  EXPECT_EQ(of("aten::conv2d", "[[32, 3, 8, 8], [4, 3, 3, 3]]"), Found({32, false}));
  EXPECT_EQ(of("aten::conv2d", "[[3, 8, 8], [4, 3, 3, 3]]"), Found({1, false}));
  EXPECT_EQ(of("aten::embedding", "[[200, 16], [5, 3]]"), Found({5, false}));
  EXPECT_EQ(of("aten::embedding", "[[200, 16], [15]]"), Found({15, true}));
  EXPECT_EQ(of("aten::linear", "[[5, 3, 16], [8, 16]]"), Found({5, false}));
  EXPECT_EQ(of("aten::linear", "[[15, 16], [8, 16]]"), Found({15, true}));
  EXPECT_EQ(of("aten::addmm", "[[8], [15, 16], [16, 8]]"), Found({15, true}));
  EXPECT_EQ(of("aten::mm", kMatrices), std::nullopt);
}

}  // namespace
}  // namespace tbtrace::analyses
