#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/flops.h>

#include "analyses/flops/device_peaks.h"
#include "analyses/random_recording.h"
#include "fixtures/random_rounds.h"
#include "fixtures/trace_rows.h"
#include "report/totals.h"

namespace tbtrace {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;
using testing::SizeIs;

/// A step with a layer, its gradient, a recomputed layer, an operator without a rule, and kernels.
class Recording {
 public:
  explicit Recording(std::string_view device = "NVIDIA A100-SXM4-40GB") {
    builder_.set_metadata("deviceProperties",
                          R"([{"id": 0, "name": ")" + std::string(device) + R"("}])");
  }

  EventId op(std::string_view name, std::int64_t start, std::int64_t end,
             std::string_view dims = "", std::string_view types = "", std::int64_t thread = 1) {
    const EventId event = fixtures::add(
        builder_, {.name = name, .start = start, .duration = end - start, .thread = thread});
    if (!dims.empty()) {
      builder_.add_argument(event, Argument::input_dims, builder_.intern(dims));
      builder_.add_argument(event, Argument::input_types, builder_.intern(types));
    }
    return event;
  }
  void sequence(EventId event, std::int64_t number, std::int64_t forward_thread) {
    builder_.add_argument(event, Argument::sequence_number, number);
    builder_.add_argument(event, Argument::forward_thread, forward_thread);
  }
  void kernel(std::int64_t launched_at, std::int64_t duration, std::string_view name = "gemm",
              std::int64_t thread = 1, std::int64_t device = 0) {
    ++correlation_;
    fixtures::add(builder_, {.category = "cuda_runtime",
                             .name = "cudaLaunchKernel",
                             .start = launched_at,
                             .duration = 1,
                             .thread = thread,
                             .correlation = correlation_});
    fixtures::add(builder_, {.category = "kernel",
                             .name = name,
                             .start = 2000 + launched_at,
                             .duration = duration,
                             .thread = 7,
                             .process = device,
                             .correlation = correlation_});
  }
  void step(std::int64_t number, std::int64_t start, std::int64_t end) {
    fixtures::add(builder_, {.category = "user_annotation",
                             .name = "ProfilerStep#" + std::to_string(number),
                             .start = start,
                             .duration = end - start});
  }
  Trace trace() { return fixtures::finished(builder_); }

 private:
  TraceBuilder builder_;
  std::int64_t correlation_ = 0;
};

constexpr std::string_view kDims = "[[64, 32], [16, 32], [16]]";
constexpr std::string_view kFloats = R"(["float", "float", "float"])";
constexpr std::string_view kProduct = "[[64, 32], [32, 16]]";
constexpr std::uint64_t kMacs = 64 * 32 * 16;

const OperatorWork* row(const OperatorWorkSummary& summary, std::string_view name) {
  for (const OperatorWork& found : summary.rows) {
    if (found.name == name) return &found;
  }
  return nullptr;
}

TEST(OperatorWork, HasThePrecisionThatAutocastComputedIn) {
  Recording recording;
  recording.op("aten::mm", 0, 100, "[[8, 3], [3, 4]]", R"(["float", "float"])");
  recording.op("aten::mm", 20, 90, "[[8, 3], [3, 4]]", R"(["c10::Half", "c10::Half"])");
  recording.kernel(50, 30, "ampere_fp16_s16816gemm");
  const OperatorWorkSummary summary = *operator_work(recording.trace());
  EXPECT_EQ(summary.rows[0].precision, Precision::float16);
  EXPECT_THAT(summary.rows[0].traffic_bytes, Optional(2U * (8 * 3 + 3 * 4 + 8 * 4)));
}

TEST(OperatorWork, HasTheSamplesOfTheChosenSteps) {
  Recording recording;
  for (std::int64_t step = 0; step < 3; ++step) {
    recording.step(step, 100 * step, 100 * step + 100);
    const std::string dims = "[[" + std::to_string(8 * (step + 1)) + ", 3], [5, 3]]";
    recording.op("aten::linear", 100 * step + 10, 100 * step + 20, dims, R"(["float", "float"])");
  }
  const Trace trace = recording.trace();
  EXPECT_THAT(operator_work(trace)->samples, Optional(8U + 16 + 24));
  EXPECT_THAT(operator_work(trace, {.steps = StepRange{1, 1}})->samples, Optional(16U));
}

TEST(OperatorWork, CountsEachPieceOfWorkInOneRow) {
  Recording recording;
  recording.op("aten::linear", 0, 100, kDims, kFloats);
  recording.op("aten::mm", 10, 90, kProduct, kFloats);
  recording.kernel(20, 50);
  recording.op("custom::op", 200, 300);
  recording.kernel(210, 30, "secret");
  recording.kernel(400, 7, "unowned");
  recording.op("aten::add", 500, 520, "[[4], [4], []]", kFloats);
  recording.op("aten::bmm", 600, 630);
  const OperatorWorkSummary summary = *operator_work(recording.trace());
  ASSERT_THAT(summary.rows, SizeIs(6));
  EXPECT_EQ(summary.all.device_time_ns, 87);
  EXPECT_EQ(summary.all.cpu_time_ns, 100 + 100 + 20 + 30);
  const OperatorWork& product = summary.rows[0];
  EXPECT_EQ(product.name, "aten::mm");
  EXPECT_EQ(product.state, WorkState::counted);
  EXPECT_TRUE(product.on_device);
  EXPECT_THAT(product.macs, Optional(kMacs));
  EXPECT_THAT(product.flops, Optional(2 * kMacs));
  EXPECT_EQ(product.torch_flops, 2 * kMacs);
  EXPECT_THAT(product.traffic_bytes, Optional(4U * (64 * 32 + 32 * 16 + 64 * 16)));
  EXPECT_EQ(product.device_time_ns, 50);
  EXPECT_EQ(product.cpu_time_ns, 80);
  EXPECT_EQ(row(summary, "custom::op")->state, WorkState::no_rule);
  EXPECT_EQ(row(summary, "custom::op")->flops, std::nullopt);
  EXPECT_EQ(row(summary, "[unattributed]")->device_time_ns, 7);
  EXPECT_EQ(row(summary, "aten::linear")->state, WorkState::inside);
  EXPECT_EQ(row(summary, "aten::linear")->cpu_time_ns, 20);
  EXPECT_EQ(row(summary, "aten::bmm")->state, WorkState::unknown_sizes);
  EXPECT_FALSE(row(summary, "aten::add")->on_device);
}

TEST(OperatorWork, OperatorsWithoutARuleHaveAllThatOnlyMovesDataInThem) {
  Recording recording;
  recording.op("custom::outer", 0, 100);
  recording.op("aten::copy_", 10, 30, kDims, kFloats);
  recording.op("custom::inner", 40, 90);
  recording.kernel(50, 7);
  recording.op("aten::copy_", 60, 70, kDims, kFloats);
  const OperatorWorkSummary summary = *operator_work(recording.trace());
  ASSERT_THAT(summary.rows, SizeIs(1)) << "in no count, and in no other row";
  EXPECT_EQ(summary.rows[0].name, "custom::outer");
  EXPECT_EQ(summary.rows[0].state, WorkState::no_rule);
  EXPECT_EQ(summary.rows[0].count, 1U);
  EXPECT_EQ(summary.rows[0].device_time_ns, 7);
  EXPECT_EQ(summary.rows[0].cpu_time_ns, 100);
}

TEST(OperatorWork, CallersOfWorkWithoutFlopsAreCountedInside) {
  Recording recording;
  recording.op("aten::randn", 0, 100);
  recording.op("aten::empty", 10, 20);
  recording.op("aten::normal_", 30, 90, kDims, kFloats);
  const OperatorWorkSummary summary = *operator_work(recording.trace());
  EXPECT_EQ(row(summary, "aten::randn")->state, WorkState::inside);
  EXPECT_EQ(row(summary, "aten::normal_")->state, WorkState::counted);
}

TEST(OperatorWork, CallersAreCountedInsideUnlessTheyWorkThemselves) {
  Recording recording;
  recording.op("custom::calls", 0, 100);
  recording.op("aten::mm", 10, 20, kProduct, kFloats);
  recording.op("custom::launches", 200, 300);
  recording.op("aten::mm", 210, 220, kProduct, kFloats);
  recording.kernel(250, 7);
  recording.op("custom::unknown", 400, 500);
  recording.op("aten::mm", 410, 420);
  // A node of autograd calls operators, and without any computes nothing.
  recording.op("torch::autograd::AccumulateGrad", 600, 610, "", "", 2);
  recording.op("MyFunctionBackward", 700, 710, "", "", 2);
  recording.kernel(705, 9, "of a node", 2);
  const OperatorWorkSummary summary = *operator_work(recording.trace());
  EXPECT_EQ(row(summary, "custom::calls")->state, WorkState::inside);
  EXPECT_EQ(row(summary, "custom::launches")->state, WorkState::no_rule);
  EXPECT_EQ(row(summary, "custom::launches")->cpu_time_ns, 90) << "without what is counted";
  EXPECT_EQ(row(summary, "custom::unknown")->state, WorkState::inside);
  EXPECT_EQ(row(summary, "torch::autograd::AccumulateGrad")->state, WorkState::inside);
  EXPECT_EQ(row(summary, "MyFunctionBackward")->state, WorkState::no_rule);
  EXPECT_EQ(summary.all.macs, 2 * kMacs);
}

TEST(OperatorWork, ComparesWithThePeakOfThePrecision) {
  Recording recording;
  recording.op("aten::mm", 10, 90, kProduct, kFloats);
  recording.kernel(20, 50, "ampere_sgemm_128x64_tn");
  recording.op("aten::mm", 110, 190, kProduct, kFloats);
  recording.kernel(120, 40, "ampere_fp16_s1688gemm_fp16_128x128");
  recording.op("aten::mm", 210, 290, kProduct, R"(["c10::Half", "c10::Half"])");
  recording.kernel(220, 10, "ampere_fp16_s16816gemm");
  recording.op("aten::mm", 310, 390, kProduct, kFloats);
  const OperatorWorkSummary summary = *operator_work(recording.trace());
  ASSERT_THAT(summary.rows, SizeIs(4));
  EXPECT_EQ(summary.rows[0].precision, Precision::float32);
  EXPECT_THAT(summary.rows[0].peak_flops_per_s, Optional(DoubleEq(19.5e12)));
  EXPECT_THAT(summary.rows[0].flops_per_s, Optional(DoubleEq(2.0 * kMacs / 50e-9)));
  EXPECT_EQ(summary.rows[1].precision, Precision::tf32);
  EXPECT_THAT(summary.rows[1].peak_flops_per_s, Optional(DoubleEq(156e12)));
  EXPECT_EQ(summary.rows[2].precision, Precision::float16);
  EXPECT_THAT(summary.rows[2].peak_flops_per_s, Optional(DoubleEq(312e12)));
  // 65536 operations on 14336 bytes: below 312e12 / 1555e9 per byte.
  const double intensity = 65536.0 / (2 * (64 * 32 + 32 * 16 + 64 * 16));
  EXPECT_THAT(summary.rows[2].flops_per_byte, Optional(DoubleEq(intensity)));
  EXPECT_THAT(summary.rows[2].is_memory_bound, Optional(true));
  EXPECT_THAT(summary.rows[2].roof_flops_per_s, Optional(DoubleEq(intensity * 1555e9)));
  EXPECT_EQ(summary.rows[3].peak_flops_per_s, std::nullopt) << "ran on the host";
  EXPECT_EQ(summary.device, "NVIDIA A100-SXM4-40GB");
}

TEST(OperatorWork, TakesPeaksThatAreGiven) {
  Recording recording("Unheard-of GPU");
  recording.op("aten::mm", 10, 90, kProduct, kFloats);
  recording.kernel(20, 50);
  const Trace trace = recording.trace();
  EXPECT_EQ(operator_work(trace)->rows[0].peak_flops_per_s, std::nullopt);
  EXPECT_EQ(operator_work(trace)->model_peak_time_ns, std::nullopt);
  EXPECT_THAT(flops_report(trace)->notes, ElementsAre(HasSubstr("Unheard-of GPU is not known")));
  const FlopsOptions options = {.peak_flops_per_s = 1e12, .peak_bytes_per_s = 1e12};
  const OperatorWorkSummary summary = *operator_work(trace, options);
  EXPECT_THAT(summary.rows[0].peak_flops_per_s, Optional(DoubleEq(1e12)));
  EXPECT_THAT(summary.rows[0].is_memory_bound, Optional(false));
  EXPECT_THAT(summary.model_peak_time_ns, Optional(66));  // 65536 / 1e12 s
}

TEST(OperatorWork, KnowsOperationsUnlessNothingIsCountedThatComputes) {
  const auto knows = [](std::string_view name, std::int64_t duration, bool on_device = false) {
    Recording recording;
    recording.op(name, 0, duration, "[[4, 4], [4, 4]]", R"(["float", "float"])");
    recording.op("aten::view", 99, 100, "[[4, 4]]", R"(["float"])");  // the end of the window
    if (on_device) recording.kernel(1, 10);
    return operator_work(recording.trace())->knows_operations();
  };
  EXPECT_TRUE(knows("aten::mm", 1));
  EXPECT_TRUE(knows("aten::copy_", 80));
  EXPECT_FALSE(knows("aten::copy_", 20)) << "most of the time is in no operator";
  EXPECT_TRUE(knows("aten::copy_", 20, true)) << "kernels tell what ran";
  EXPECT_FALSE(knows("graph_0_cpp_fused_gelu_0", 80));
}

TEST(OperatorWork, KnowsMacsApartFromOtherOperations) {
  Recording recording;
  recording.op("aten::add", 0, 90, "[[4, 4], [4, 4]]", R"(["float", "float"])");
  EXPECT_TRUE(operator_work(recording.trace())->knows_macs());
  Recording with_graph;
  with_graph.op("aten::add", 0, 10, "[[4, 4], [4, 4]]", R"(["float", "float"])");
  with_graph.op("a graph", 10, 90);
  const OperatorWorkSummary summary = *operator_work(with_graph.trace());
  EXPECT_TRUE(summary.knows_operations());
  EXPECT_FALSE(summary.knows_macs());
}

TEST(OperatorWork, HasCommunicationApart) {
  Recording recording;
  recording.op("nccl:all_reduce", 0, 15);
  recording.op("aten::mm", 16, 50);
  recording.kernel(10, 70, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  recording.kernel(20, 30, "gemm");
  const OperatorWorkSummary summary = *operator_work(recording.trace());
  EXPECT_EQ(summary.all.device_time_ns, 100);
  EXPECT_EQ(summary.all.communication_time_ns, 70);
}

TEST(OperatorWork, TellsThePassesApart) {
  Recording recording;
  recording.sequence(recording.op("aten::mm", 0, 10, kProduct, kFloats), 5, 0);
  recording.sequence(recording.op("MmBackward0", 100, 200, "", "", 2), 5, 1);
  recording.op("aten::mm", 110, 120, kProduct, kFloats, 2);
  recording.op("aten::mm", 130, 140, kProduct, kFloats, 2);
  recording.sequence(recording.op("CheckpointFunctionBackward", 300, 400, "", "", 2), 4, 1);
  recording.sequence(recording.op("aten::mm", 310, 320, kProduct, kFloats, 2), 9, 0);
  const OperatorWorkSummary summary = *operator_work(recording.trace());
  EXPECT_EQ(summary.forward_macs, kMacs);
  EXPECT_EQ(summary.backward_macs, 2 * kMacs);
  EXPECT_EQ(summary.recomputed_macs, kMacs);
  EXPECT_EQ(row(summary, "MmBackward0")->state, WorkState::inside);
}

TEST(OperatorWork, OfStepsIsWhatTheyStarted) {
  Recording recording;
  recording.step(1, 0, 100);
  recording.op("aten::linear", 5, 50, "[[8, 4], [4, 4]]", R"(["float", "float"])");
  recording.kernel(10, 500);
  recording.step(2, 100, 200);
  recording.op("aten::mm", 110, 150, kProduct, kFloats);
  recording.kernel(120, 30);
  const Trace trace = recording.trace();
  const OperatorWorkSummary second = *operator_work(trace, {.steps = StepRange{2, 2}});
  ASSERT_THAT(second.rows, SizeIs(1));
  EXPECT_EQ(second.rows[0].name, "aten::mm");
  EXPECT_EQ(second.rows[0].device_time_ns, 30);
  EXPECT_EQ(second.steps, 1U);
  const OperatorWorkSummary both = *operator_work(trace);
  EXPECT_EQ(both.steps, 2U);
  EXPECT_THAT(both.samples, Optional(8U));
  EXPECT_EQ(both.flops_in_steps, 2 * (8 * 4 * 4 + kMacs));
  EXPECT_FALSE(operator_work(trace, {.steps = StepRange{7, 9}}).ok());
}

TEST(OperatorWork, SamplesAreUnknownIfTheFirstLayersRowsMayBeTokens) {
  const auto samples = [](std::string_view name, const char* dims, const char* of_another) {
    Recording recording;
    recording.step(1, 0, 1000);
    recording.op(name, 5, 10, dims, R"(["float", "float", "float"])");
    recording.op("aten::_softmax", 300, 310, of_another, R"(["float"])");
    return operator_work(recording.trace())->samples;
  };
  const char* const kMatrix = "[[2048, 64], [32, 64]]";
  EXPECT_THAT(samples("aten::linear", kMatrix, "[[2048, 32]]"), Optional(2048U));
  EXPECT_THAT(samples("aten::linear", kMatrix, "[[2048, 4, 8]]"), Optional(2048U));
  EXPECT_EQ(samples("aten::linear", kMatrix, "[[16, 128, 32]]"), std::nullopt);
  EXPECT_EQ(samples("aten::linear", kMatrix, "[[16, 4, 128, 8]]"), std::nullopt) << "heads";
  EXPECT_EQ(samples("aten::linear", kMatrix, "[[1, 2048, 32]]"), std::nullopt) << "one sequence";
  EXPECT_EQ(samples("aten::addmm", "[[32], [2048, 64], [64, 32]]", "[[2048, 32]]"), std::nullopt)
      << "compiled code";
  EXPECT_THAT(samples("aten::linear", "[[16, 128, 64], [32, 64]]", "[[16, 4, 128, 8]]"),
              Optional(16U));
}

TEST(OperatorWork, SamplesOfStepsWithSeveralBatchesAreUnknown) {
  const auto work = [](const char* second_dims, bool has_backward_between) {
    Recording recording;
    recording.step(1, 0, 1000);
    const char* const kLayer = "[[8, 4], [4, 4]]";
    recording.sequence(recording.op("aten::linear", 5, 10, kLayer, R"(["float", "float"])"), 5, 0);
    if (has_backward_between) {
      recording.sequence(recording.op("AddmmBackward0", 100, 200, "", "", 2), 5, 1);
    }
    recording.op("aten::linear", 300, 310, second_dims, R"(["float", "float"])");
    return *operator_work(recording.trace());
  };
  const OperatorWorkSummary again = work("[[8, 4], [4, 4]]", true);
  EXPECT_EQ(again.samples, std::nullopt);
  EXPECT_TRUE(again.has_several_batches);
  EXPECT_THAT(work("[[8, 4], [4, 4]]", false).samples, Optional(8U)) << "another layer";
  EXPECT_THAT(work("[[6, 6], [6, 6]]", true).samples, Optional(8U)) << "of an optimizer";
}

TEST(OperatorWork, OfSeveralKindsOfDevicesHasNoPeak) {
  TraceBuilder builder;
  builder.set_metadata("deviceProperties",
                       R"([{"id": 0, "name": "NVIDIA H200"}, {"id": 1, "name": "NVIDIA L4"}])");
  for (const std::int64_t device : {0, 1}) {
    fixtures::add(builder, {.category = "kernel",
                            .name = "k",
                            .start = 10,
                            .duration = 5,
                            .thread = 7,
                            .process = device});
  }
  const OperatorWorkSummary summary = *operator_work(fixtures::finished(builder));
  EXPECT_EQ(summary.device, "");
  EXPECT_EQ(summary.peak_bytes_per_s, std::nullopt);
  EXPECT_EQ(summary.window_ns, 2 * 5) << "once per device";
}

TEST(OperatorWork, OfRandomRecordingsAddsUpToAllTime) {
  const unsigned traces = fixtures::random_rounds(1500u);
  for (unsigned seed = 0; seed < traces; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = analyses::RandomRecording(seed, {.ranges = 20, .arguments = true}).make();
    std::int64_t expected = 0;
    for (const EventId event : trace.by_start()) {
      if (is_device_work(trace.kind(event))) expected += trace.events().duration_ns(event);
    }
    for (const bool by_shape : {false, true}) {
      const OperatorWorkSummary summary = *operator_work(trace, {.by_input_shape = by_shape});
      std::int64_t device = 0;
      std::int64_t cpu = 0;
      for (const OperatorWork& found : summary.rows) {
        device += found.device_time_ns;
        cpu += found.cpu_time_ns;
        EXPECT_EQ(found.flops.has_value(), found.state == WorkState::counted);
      }
      ASSERT_EQ(device, expected);
      ASSERT_EQ(cpu, summary.all.cpu_time_ns);
    }
  }
}

TEST(OperatorWorkReport, JoinsRatesOverAllTime) {
  std::vector<AnalysisReport> reports;
  for (const std::int64_t duration : {50, 150}) {
    Recording recording;
    recording.step(1, 0, 100);
    recording.op("aten::linear", 10, 90, kDims, kFloats);
    recording.kernel(20, duration);
    reports.push_back(*flops_report(recording.trace()));
  }
  const AnalysisReport joined = join_reports(std::move(reports));
  const auto total = [&](std::string_view name) {
    return *report::total_named(joined.totals, name);
  };
  EXPECT_EQ(std::get<std::uint64_t>(total("macs")), 2 * kMacs);
  EXPECT_EQ(std::get<std::uint64_t>(total("samples")), 2U * 64);
  EXPECT_DOUBLE_EQ(std::get<double>(total("forward_macs_per_sample")), 32 * 16);
  EXPECT_DOUBLE_EQ(std::get<double>(total("flops_per_step")), 2.0 * kMacs);
  const auto window = static_cast<double>(std::get<std::int64_t>(total("window_ns")));
  EXPECT_DOUBLE_EQ(std::get<double>(total("achieved_flops_per_s")), 4.0 * kMacs * 1e9 / window);
  EXPECT_THAT(joined.notes, SizeIs(1));
}

TEST(OperatorWork, IsARooflineOfWhatRanOnTheDevice) {
  Recording recording;
  recording.op("aten::mm", 10, 90, kProduct, kFloats);
  recording.kernel(20, 50, "ampere_sgemm_128x64_tn");
  recording.op("aten::mm", 110, 190, kProduct, R"(["c10::BFloat16", "c10::BFloat16"])");
  recording.kernel(120, 20);
  recording.op("aten::relu", 310, 390, "[[4]]", kFloats);
  recording.kernel(400, 7, "unowned");
  const OperatorWorkSummary summary = *operator_work(recording.trace());
  const Roofline picture = roofline(summary);
  ASSERT_THAT(picture.points, SizeIs(2));
  EXPECT_EQ(picture.points[0].name, "aten::mm");
  EXPECT_EQ(picture.points[0].time_ns, 50);
  EXPECT_EQ(picture.points[0].precision, "float32");
  EXPECT_EQ(picture.total_time_ns, 77);
  ASSERT_THAT(picture.peaks, SizeIs(2));
  EXPECT_EQ(picture.peaks[0].precisions, precision_name(Precision::bfloat16));
  EXPECT_DOUBLE_EQ(picture.peaks[1].flops_per_s, 19.5e12);
  EXPECT_EQ(picture.time, "device time");
  EXPECT_EQ(picture.device, "NVIDIA A100-SXM4-40GB; peaks: NVIDIA A100 data sheet");
}

TEST(OperatorWork, NamesItsStates) {
  EXPECT_EQ(work_state_name(WorkState::counted), "counted");
  EXPECT_EQ(work_state_name(WorkState::inside), "inside");
  EXPECT_EQ(work_state_name(WorkState::unknown_sizes), "unknown_sizes");
  EXPECT_EQ(work_state_name(WorkState::no_rule), "no_rule");
  EXPECT_EQ(precision_name(Precision::int8), "int8");
  EXPECT_EQ(precision_name(Precision::unknown), "");
}

TEST(DevicePeaks, AreFoundByWholeWordsOfTheName) {
  const auto source = [](std::string_view name) {
    const analyses::DevicePeaks* found = analyses::device_peaks(name);
    return found == nullptr ? std::string_view() : found->name;
  };
  EXPECT_EQ(source("Tesla V100-SXM2-16GB"), "V100-SXM2");
  EXPECT_EQ(source("Tesla T4"), "T4");
  EXPECT_EQ(source("NVIDIA A10"), "A10");
  EXPECT_EQ(source("NVIDIA A10G"), "A10G");
  EXPECT_EQ(source("NVIDIA A100-SXM4-80GB"), "A100-SXM4-80GB");
  EXPECT_EQ(source("NVIDIA A100 80GB PCIe"), "A100 80GB PCIe");
  EXPECT_EQ(source("NVIDIA L40S"), "L40S");
  EXPECT_EQ(source("NVIDIA L4"), "L4");
  EXPECT_EQ(source("NVIDIA H100 80GB HBM3"), "H100 80GB HBM3");
  EXPECT_EQ(source("NVIDIA H200 NVL"), "H200 NVL");
  EXPECT_EQ(source("NVIDIA GH200 480GB"), "GH200");
  EXPECT_EQ(source("NVIDIA GH200 144G HBM3e"), "GH200 144G");
  EXPECT_EQ(source("NVIDIA H20"), "H20");
  EXPECT_EQ(source("NVIDIA H20-3e"), "");
  EXPECT_EQ(source("NVIDIA H800"), "H800");
  EXPECT_EQ(source("NVIDIA H800 PCIe"), "");
  EXPECT_EQ(source("NVIDIA A800-SXM4-80GB"), "A800-SXM4-80GB");
  EXPECT_EQ(source("NVIDIA GB200"), "GB200");
  EXPECT_EQ(source("NVIDIA RTX A6000"), "RTX A6000");
  EXPECT_EQ(source("NVIDIA B300 SXM6 AC"), "B300");
  EXPECT_EQ(source("NVIDIA GB300"), "GB300");
  EXPECT_EQ(source("NVIDIA RTX 6000 Ada Generation"), "RTX 6000 Ada");
  EXPECT_EQ(source("NVIDIA RTX PRO 6000 Blackwell Workstation Edition"),
            "RTX PRO 6000 Blackwell Workstation");
  EXPECT_EQ(source("NVIDIA RTX PRO 6000 Blackwell Server Edition"),
            "RTX PRO 6000 Blackwell Server");
  EXPECT_EQ(source("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition"), "");
  EXPECT_EQ(source("NVIDIA GB10"), "GB10");
  EXPECT_EQ(source("NVIDIA Thor"), "Thor");
  EXPECT_EQ(source("Orin"), "Orin");
  EXPECT_EQ(source("Intel(R) Data Center GPU Max 1550"), "Data Center GPU Max 1550");
  EXPECT_EQ(analyses::device_peaks("NVIDIA B300 SXM6 AC")->flops_per_s(Precision::bfloat16),
            2250e12);
  EXPECT_EQ(analyses::device_peaks("NVIDIA GB300")->flops_per_s(Precision::bfloat16), 2500e12);
  EXPECT_EQ(source("NVIDIA GeForce RTX 5090"), "RTX 5090");
  EXPECT_EQ(source("NVIDIA GeForce RTX 5090 D"), "");
  EXPECT_EQ(source("Tesla V100-DGXS-32GB"), "V100-DGXS");
  EXPECT_EQ(source("AMD Instinct MI325X"), "MI325X");
  EXPECT_EQ(source("AMD Instinct MI355X"), "MI355X");
  EXPECT_EQ(source("NVIDIA A100-SXM4-40GB MIG 1g.5gb"), "");
  EXPECT_EQ(source("NVIDIA GeForce RTX 4090 Laptop GPU"), "");
  EXPECT_EQ(source("NVIDIA H100 NVL"), "H100 NVL");
  EXPECT_EQ(source("Tesla V100-SXM3-32GB"), "");
  EXPECT_EQ(source("NVIDIA H200"), "H200");
  EXPECT_EQ(source("NVIDIA GeForce RTX 3090"), "RTX 3090");
  EXPECT_EQ(source("NVIDIA GeForce RTX 3090 Ti"), "");
  EXPECT_EQ(source("AMD Instinct MI300X"), "MI300X");
  EXPECT_EQ(source("AMD Instinct MI250X"), "MI250X");
  EXPECT_EQ(source("AMD Instinct MI250X/MI250"), "");
  EXPECT_EQ(source("AMD Instinct MI250X / MI250"), "");
  EXPECT_EQ(source("AMD Radeon Graphics"), "");
  EXPECT_EQ(source(""), "");
}

TEST(DevicePeaks, DependOnTheKernelsForFloats) {
  const analyses::DevicePeaks* a100 = analyses::device_peaks("NVIDIA A100-SXM4-40GB");
  const analyses::DevicePeaks* v100 = analyses::device_peaks("Tesla V100-SXM2-16GB");
  const analyses::DevicePeaks* mi300 = analyses::device_peaks("AMD Instinct MI300X");
  EXPECT_EQ(analyses::precision_of("float", true, a100), Precision::tf32);
  EXPECT_EQ(analyses::precision_of("float", false, a100), Precision::float32);
  EXPECT_EQ(analyses::precision_of("float", true, v100), Precision::float32);
  EXPECT_EQ(analyses::precision_of("float", true, nullptr), Precision::float32);
  EXPECT_EQ(analyses::precision_of("double", true, mi300), Precision::float64_matrix);
  EXPECT_EQ(analyses::precision_of("c10::Float8_e4m3fn", true, a100), Precision::float8);
  EXPECT_EQ(a100->flops_per_s(Precision::float8), std::nullopt);
  EXPECT_EQ(analyses::precision_of("long int", true, a100), Precision::unknown);
}

}  // namespace
}  // namespace tbtrace
