// Attention that no fused kernel computes.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/findings.h>

#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using fixtures::add;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kUs = 1'000;

/// Operators one after the other; each runs a kernel as long as itself.
class Operators {
 public:
  EventId run(std::string_view name, std::string_view sizes = "", std::int64_t us = 100,
              std::string_view types = "", std::int64_t sequence = -1, std::int64_t thread = 1) {
    const EventId op =
        add(builder_, {.name = name, .start = now_, .duration = us * kUs, .thread = thread});
    if (!sizes.empty()) {
      builder_.add_argument(op, Argument::input_dims, builder_.intern(sizes));
    }
    if (!types.empty()) {
      builder_.add_argument(op, Argument::input_types, builder_.intern(types));
    }
    if (sequence >= 0) builder_.add_argument(op, Argument::sequence_number, sequence);
    const std::int64_t correlation = ++correlation_;
    add(builder_, {.category = "cuda_runtime",
                   .name = "cudaLaunchKernel",
                   .start = now_ + 1,
                   .duration = 100,
                   .thread = thread,
                   .correlation = correlation});
    add(builder_, {.category = "kernel",
                   .name = "kernel_of_" + std::string(name),
                   .start = now_ + 200,
                   .duration = us * kUs - 200,
                   .thread = 7,
                   .process = 0,
                   .correlation = correlation});
    now_ += us * kUs;
    return op;
  }

  /// A range around what runs until end_call().
  void begin_call() { call_ = now_; }
  void end_call(std::string_view name, std::string_view sizes = "", std::string_view types = "") {
    const EventId op = add(builder_, {.name = name, .start = call_, .duration = now_ - call_});
    if (!sizes.empty()) {
      builder_.add_argument(op, Argument::input_dims, builder_.intern(sizes));
    }
    if (!types.empty()) {
      builder_.add_argument(op, Argument::input_types, builder_.intern(types));
    }
  }

  std::optional<Finding> finding() {
    const Trace trace = fixtures::finished(builder_);
    for (Finding& found : findings(trace)) {
      if (found.id == "math_attention") return std::move(found);
    }
    return std::nullopt;
  }

 private:
  TraceBuilder builder_;
  std::int64_t now_ = 0;
  std::int64_t call_ = 0;
  std::int64_t correlation_ = 0;
};

std::optional<Finding> math(std::string_view sizes, std::string_view types = "") {
  Operators operators;
  operators.run("aten::linear");
  operators.begin_call();
  operators.run("aten::bmm");
  operators.run("aten::_softmax", "", 200);
  operators.run("aten::bmm");
  operators.end_call("aten::_scaled_dot_product_attention_math", sizes, types);
  return operators.finding();
}

TEST(MathAttention, IsFoundWithItsShare) {
  const std::optional<Finding> found = math("");
  ASSERT_TRUE(found);
  EXPECT_THAT(found->title, HasSubstr("math implementation"));
  EXPECT_NEAR(found->share, 0.8, 0.01);
  EXPECT_EQ(found->gain_ns, 200 * kUs - 200) << "what is no product";
  EXPECT_THAT(found->remedy, HasSubstr("a mask, a head size"));
}

TEST(MathAttention, SaysWhatFusedKernelsDoNotTake) {
  const std::string types = R"(["c10::Half", "c10::Half", "c10::Half"])";
  EXPECT_THAT(
      math("[[2, 8, 64, 64], [2, 8, 64, 64], [2, 8, 64, 64], [2, 1, 64, 64]]", types)->remedy,
      AllOf(HasSubstr("a mask"), Not(HasSubstr("head size"))));
  EXPECT_THAT(math("[[2, 8, 64, 60], [2, 8, 64, 60], [2, 8, 64, 60], []]", types)->remedy,
              AllOf(HasSubstr("a head size of 60, not a multiple of 8"), Not(HasSubstr("a mask"))));
  EXPECT_THAT(math("[[2, 8, 64, 512], [2, 8, 64, 512], [2, 8, 64, 512], []]", types)->remedy,
              HasSubstr("a head size of 512, above 256"));
  EXPECT_THAT(
      math("[[2, 8, 64, 64], [2, 8, 64, 64], [2, 8, 64, 64], []]", R"(["float", "float", "float"])")
          ->remedy,
      AllOf(HasSubstr("single precision"), Not(HasSubstr("a mask"))));
}

TEST(MathAttention, OfAProgramThatWritesItOut) {
  const auto written = [](std::string_view softmax_sizes) {
    Operators operators;
    for (int layer = 0; layer < 3; ++layer) {
      operators.run("aten::mm");
      operators.run("aten::bmm", "[[16, 128, 64], [16, 64, 128]]");
      operators.run("aten::mul");
      operators.run("aten::masked_fill_");
      operators.run("aten::_softmax", softmax_sizes);
      operators.run("aten::bmm", softmax_sizes.empty() ? "" : "[[16, 128, 128], [16, 128, 64]]");
    }
    return operators.finding();
  };
  const std::optional<Finding> found = written("[[2, 8, 128, 128], [], []]");
  ASSERT_TRUE(found);
  EXPECT_THAT(found->title, HasSubstr("written out"));
  EXPECT_NEAR(found->share, 5.0 / 6, 0.01);
  EXPECT_THAT(found->remedy, HasSubstr("scaled_dot_product_attention"));
  EXPECT_FALSE(written("[[2, 8, 10], [], []]")) << "a softmax of something else";
}

TEST(MathAttention, WithoutSizesTheOrderHasToDo) {
  Operators operators;
  operators.run("aten::bmm");
  operators.run("aten::_softmax");
  operators.run("aten::bmm");
  EXPECT_TRUE(operators.finding());
  Operators another;
  another.run("aten::bmm");
  another.run("aten::mm");
  another.run("aten::_softmax");
  another.run("aten::bmm");
  EXPECT_FALSE(another.finding()) << "the softmax is of another product";
}

TEST(MathAttention, HasItsBackwardPass) {
  Operators operators;
  operators.run("aten::mm");
  operators.run("aten::bmm", "", 100, "", 10);
  operators.run("aten::_softmax", "", 100, "", 11);
  operators.run("aten::bmm", "", 100, "", 12);
  operators.run("BmmBackward0", "", 300, "", 12, 2);
  const std::optional<Finding> found = operators.finding();
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->share, 6.0 / 7, 0.01);
}

TEST(MathAttention, OfFusedKernelsIsNone) {
  Operators operators;
  operators.begin_call();
  operators.run("aten::_scaled_dot_product_flash_attention");
  operators.end_call("aten::scaled_dot_product_attention");
  operators.run("aten::_softmax");
  EXPECT_FALSE(operators.finding());
}

}  // namespace
}  // namespace tbtrace
