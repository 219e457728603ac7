// Multiply-adds of a ResNet-50 that torch 1.9 recorded in 2021, without values of inputs.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/analysis_context.h>
#include <tbtrace/flops.h>
#include <tbtrace/trace.h>

#include "analyses/flops/counted_operators.h"
#include "reference/recorded_traces.h"

namespace tbtrace::reference {
namespace {

using testing::IsEmpty;
using testing::Optional;

constexpr std::uint64_t kImages = 32;
constexpr std::uint64_t kSteps = 6;
/// All convolutions and the last layer: the published 4.09 GMAC.
constexpr std::uint64_t kMacsPerImage = 4'089'184'256;
/// The first convolution, whose input needs no gradient.
constexpr std::uint64_t kFirstLayer = 112ULL * 112 * 64 * 3 * 7 * 7;

TEST(FlopsOfResNet50, AreThePublishedOnesForwardAndTwiceThatBackward) {
  for (const std::string& file : trace_files({"traces/tb_plugin/samples/resnet50_num_workers_0"})) {
    SCOPED_TRACE(file);
    const Result<Trace> trace = read_trace(file);
    ASSERT_TRUE(trace.ok()) << trace.status().message();
    EXPECT_THAT(operator_work(*trace)->samples, Optional(kImages * kSteps));
    const analyses::OperatorCounts counts = analyses::operator_counts(*trace);
    EXPECT_THAT(counts.unknown, IsEmpty());
    std::uint64_t forward = 0;
    std::uint64_t backward = 0;
    for (const analyses::CountedOperator& counted : counts.counted) {
      const std::string_view name = trace->name(counted.op);
      const bool is_forward = name == "aten::conv2d" || name == "aten::addmm";
      (is_forward ? forward : backward) += counted.macs;
    }
    EXPECT_EQ(forward, kMacsPerImage * kImages * kSteps);
    EXPECT_EQ(backward, (2 * kMacsPerImage - kFirstLayer) * kImages * kSteps);
  }
}

TEST(FlopsOfAllRecordings, AreInOperatorsThatAreNotInsideEachOther) {
  for_each_recording([](const Trace& trace) {
    const AnalysisContext context(trace);
    std::vector<bool> has_flops(trace.events().size(), false);
    const std::vector<analyses::CountedOperator> all = analyses::counted_operators(trace);
    for (const analyses::CountedOperator& counted : all) {
      has_flops[index(counted.op)] = counted.flops > 0;
    }
    for (const analyses::CountedOperator& counted : all) {
      ASSERT_GE(counted.flops, counted.macs);
      if (counted.flops == 0) continue;
      EventId above = context.parent(counted.op);
      for (; above != EventId::none; above = context.parent(above)) {
        ASSERT_FALSE(has_flops[index(above)]) << trace.name(counted.op) << trace.name(above);
      }
    }
  });
}

}  // namespace
}  // namespace tbtrace::reference
