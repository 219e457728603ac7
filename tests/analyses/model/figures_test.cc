// Figures of a small training, computed by hand.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/model.h>
#include <tbtrace/modules.h>

#include "fixtures/read_text.h"

namespace tbtrace {
namespace {

using fixtures::try_read;

/// Two steps of 100 and 120 us. In each a product of (2, 3) and (3, 4), 24 multiply-adds, and in
/// the backward pass one of as many; 12 parameters of 4 bytes get gradients.
std::string training() {
  std::string rows;
  const auto add = [&](const std::string& row) { rows += (rows.empty() ? "" : ",\n") + row; };
  const auto memory = [&](int at, int bytes, int total) {
    add(R"({"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":)" +
        std::to_string(at) + R"(,"args":{"Device Type":0,"Device Id":-1,"Addr":)" +
        std::to_string(at) + R"(,"Bytes":)" + std::to_string(bytes) + R"(,"Total Allocated":)" +
        std::to_string(total) + R"(,"Total Reserved":0}})");
  };
  const auto range = [&](const std::string& category, const std::string& name, int start, int us,
                         const std::string& arguments) {
    add(R"({"ph":"X","cat":")" + category + R"(","name":")" + name + R"(","pid":1,"tid":1,"ts":)" +
        std::to_string(start) + R"(,"dur":)" + std::to_string(us) + R"(,"args":{)" + arguments +
        "}}");
  };
  memory(50, 1000, 1000);
  int number = 0;
  for (const int start : {100, 200}) {
    range("user_annotation", "ProfilerStep#" + std::to_string(++number), start,
          start == 100 ? 100 : 120, "");
    range("cpu_op", "aten::mm", start + 5, 10,
          R"("Input Dims":[[2,3],[3,4]],"Input type":["float","float"],"Sequence number":)" +
              std::to_string(number));
    memory(start + 10, start == 100 ? 500 : 600, start == 100 ? 1500 : 1600);
    const std::string sequence = R"("Fwd thread id":1,"Sequence number":)" + std::to_string(number);
    range("cpu_op", "MmBackward0", start + 40, 30, sequence);
    range("cpu_op", "aten::mm", start + 45, 10,
          R"("Input Dims":[[3,2],[2,4]],"Input type":["float","float"])");
    if (start == 100) memory(150, 1000, 2500);
    range("cpu_op", "torch::autograd::AccumulateGrad", start + 80, 5,
          R"("Input Dims":[[3,4]],"Input type":["float"])");
    memory(start + 90, start == 100 ? -1500 : -600, 1000);
  }
  return R"({"record_shapes":1,"profile_memory":1,"traceEvents":[)" + rows + "]}";
}

using ByName = std::map<std::string, ModelFigure>;

ByName figures_of(const std::string& text, const ModelOptions& options = {}) {
  const Result<Trace> trace = try_read(text, {.threads = 1, .arguments = kModelArguments});
  EXPECT_TRUE(trace.ok());
  Result<std::vector<ModelFigure>> figures = model_figures(*trace, options);
  EXPECT_TRUE(figures.ok());
  ByName by_name;
  for (ModelFigure& figure : *figures) by_name.emplace(figure.name, figure);
  EXPECT_EQ(by_name.size(), figures->size()) << "each once, with one device";
  return by_name;
}

double number(const ByName& figures, const std::string& name) {
  const Cell& value = figures.at(name).value;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* count = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*count);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nan("");
}

TEST(ModelFigures, OfATrainingAreThoseComputedByHand) {
  const ByName figures = figures_of(training(), {.samples_per_step = 8});
  EXPECT_EQ(number(figures, "parameters"), 12);
  EXPECT_EQ(number(figures, "trainable_parameters"), 12);
  EXPECT_EQ(number(figures, "model_bytes"), 48);
  EXPECT_EQ(figure_origin_name(figures.at("parameters").how), "counted");
  EXPECT_EQ(number(figures, "macs"), 24);
  EXPECT_EQ(number(figures, "backward_macs"), 24);
  EXPECT_EQ(number(figures, "recomputed_macs"), 0);
  EXPECT_EQ(number(figures, "flops"), 96);
  EXPECT_EQ(number(figures, "peak_bytes"), 2500);
  EXPECT_EQ(figures.at("peak_bytes").device, "cpu");
  EXPECT_EQ(number(figures, "peak_over_step_start_bytes"), 1500);
  EXPECT_EQ(number(figures, "activation_bytes"), 600) << "the most of the steps";
  EXPECT_EQ(number(figures, "steps"), 2);
  EXPECT_EQ(number(figures, "latency_mean_ns"), 110'000);
  EXPECT_EQ(number(figures, "latency_min_ns"), 100'000);
  EXPECT_EQ(number(figures, "latency_max_ns"), 120'000);
  EXPECT_EQ(number(figures, "latency_p50_ns"), 110'000);
  EXPECT_DOUBLE_EQ(number(figures, "latency_std_ns"), std::sqrt(2.0) * 10'000);
  EXPECT_DOUBLE_EQ(number(figures, "throughput_per_s"), 8 / 110e-6);
  EXPECT_DOUBLE_EQ(number(figures, "achieved_flops_per_s"), 96 / 110e-6);
}

TEST(ModelFigures, OfChosenStepsAreOfTheseAlone) {
  const ByName figures = figures_of(training(), {.steps = StepRange{2, 2}});
  EXPECT_EQ(number(figures, "steps"), 1);
  EXPECT_EQ(number(figures, "latency_mean_ns"), 120'000);
  EXPECT_EQ(number(figures, "macs"), 24);
  EXPECT_EQ(number(figures, "peak_bytes"), 1600);
  const Result<Trace> trace = try_read(training(), {.threads = 1, .arguments = kModelArguments});
  EXPECT_FALSE(model_figures(*trace, {.steps = StepRange{7, 8}}).ok());
}

TEST(ModelFigures, ABackwardPassCountsForItsOwnStepAlone) {
  // The memory of the first step, which has none, is more than that of the second one.
  const ByName figures = figures_of(R"({"profile_memory":1,"traceEvents":[
      {"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":1,"args":{"Device Type":0,"Device Id":-1,"Addr":1,"Bytes":100,"Total Allocated":100,"Total Reserved":0}},
      {"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":10,"dur":10},
      {"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":12,"args":{"Device Type":0,"Device Id":-1,"Addr":2,"Bytes":900,"Total Allocated":1000,"Total Reserved":0}},
      {"ph":"X","cat":"user_annotation","name":"ProfilerStep#2","pid":1,"tid":1,"ts":30,"dur":10},
      {"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":31,"args":{"Device Type":0,"Device Id":-1,"Addr":3,"Bytes":50,"Total Allocated":1050,"Total Reserved":0}},
      {"ph":"X","cat":"cpu_op","name":"MmBackward0","pid":1,"tid":1,"ts":35,"dur":2,"args":{"Fwd thread id":1,"Sequence number":1}}]})");
  EXPECT_EQ(number(figures, "activation_bytes"), 50);
  EXPECT_EQ(number(figures, "peak_over_step_start_bytes"), 900);
}

TEST(ModelFigures, ActivationsAreWhatTheStepAllocatedWhateverItFrees) {
  const ByName figures = figures_of(R"({"profile_memory":1,"traceEvents":[
      {"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":1,"args":{"Device Type":0,"Device Id":-1,"Addr":1,"Bytes":900,"Total Allocated":900,"Total Reserved":0}},
      {"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":10,"dur":40},
      {"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":11,"args":{"Device Type":0,"Device Id":-1,"Addr":1,"Bytes":-900,"Total Allocated":0,"Total Reserved":0}},
      {"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":12,"args":{"Device Type":0,"Device Id":-1,"Addr":2,"Bytes":50,"Total Allocated":50,"Total Reserved":0}},
      {"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":13,"args":{"Device Type":0,"Device Id":-1,"Addr":3,"Bytes":70,"Total Allocated":120,"Total Reserved":0}},
      {"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":14,"args":{"Device Type":0,"Device Id":-1,"Addr":3,"Bytes":-70,"Total Allocated":50,"Total Reserved":0}},
      {"ph":"X","cat":"cpu_op","name":"MmBackward0","pid":1,"tid":1,"ts":35,"dur":2,"args":{"Fwd thread id":1,"Sequence number":1}}]})");
  EXPECT_EQ(number(figures, "activation_bytes"), 50);
}

TEST(ModelFigures, ActivationsAreUnknownWithoutAddresses) {
  const auto trace = [](const char* address) {
    return figures_of(
        R"({"profile_memory":1,"traceEvents":[
      {"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":1,"args":{"Device Type":0,"Device Id":-1,"Addr":1,"Bytes":100}},
      {"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":10,"dur":40},
      {"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":13,"args":{"Device Type":0,"Device Id":-1,)" +
        std::string(address) + R"("Bytes":70}},
      {"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":14,"args":{"Device Type":0,"Device Id":-1,)" +
        address + R"("Bytes":-70}},
      {"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":15,"args":{"Device Type":0,"Device Id":-1,)" +
        address + R"("Bytes":70}},
      {"ph":"X","cat":"cpu_op","name":"MmBackward0","pid":1,"tid":1,"ts":35,"dur":2,"args":{"Fwd thread id":1,"Sequence number":1}}]})");
  };
  const ByName known = trace(R"("Addr":3,)");
  EXPECT_EQ(number(known, "activation_bytes"), 70);
  EXPECT_EQ(number(known, "peak_bytes"), 170);
  const ByName unknown = trace("");
  EXPECT_EQ(number(unknown, "peak_bytes"), 170);
  EXPECT_EQ(unknown.at("activation_bytes").how, FigureOrigin::not_recorded)
      << "140 would be more than the peak over the step's start";
  EXPECT_THAT(unknown.at("activation_bytes").note, testing::HasSubstr("have no addresses"));
}

TEST(ModelFigures, OfAStepThatIsCutAreInNoMean) {
  const std::string kernel =
      R"("cat":"kernel","name":"k","pid":0,"tid":7,"args":{"device":0,"stream":7,"correlation":)";
  const std::string launch =
      R"("cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"args":{"correlation":)";
  const std::string text = R"({"record_shapes":1,"traceEvents":[
      {"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":100},
      {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":5,
       "args":{"Input Dims":[[2,3],[3,4]],"Input type":["float","float"]}},
      {"ph":"X","ts":2,"dur":1,)" +
                           launch +
                           R"(1}},
      {"ph":"X","ts":20,"dur":50,)" +
                           kernel + R"(1}},
      {"ph":"X","cat":"user_annotation","name":"ProfilerStep#2","pid":1,"tid":1,"ts":100,"dur":1}]})";
  const ByName figures = figures_of(text);
  EXPECT_EQ(number(figures, "steps"), 1);
  EXPECT_EQ(number(figures, "macs"), 24);
  EXPECT_EQ(number(figures, "latency_mean_ns"), 100'000);
  EXPECT_EQ(figures.at("backward_ns").how, FigureOrigin::not_recorded) << "none was seen";
  EXPECT_EQ(number(figures, "gpu_kernel_ns"), 50'000);
  const ByName cut = figures_of(text, {.steps = StepRange{2, 2}});
  EXPECT_EQ(cut.at("latency_mean_ns").note, "no such step is whole: the recording ended too early");
}

TEST(ModelFigures, PercentilesNeedAHundredSteps) {
  const auto steps = [](int count) {
    std::string rows;
    for (int step = 1; step <= count; ++step) {
      rows += (step == 1 ? "" : ",") +
              std::string(R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#)") +
              std::to_string(step) + R"(","pid":1,"tid":1,"ts":)" + std::to_string(1000 * step) +
              R"(,"dur":)" + std::to_string(step) + "}";
    }
    return figures_of(R"({"traceEvents":[)" + rows + "]}");
  };
  const ByName few = steps(99);
  EXPECT_EQ(few.at("latency_p99_ns").how, FigureOrigin::not_recorded);
  EXPECT_EQ(few.at("latency_p99_ns").note, "needs 100 steps, and there are 99");
  EXPECT_EQ(number(few, "latency_p50_ns"), 50'000);
  // Of 1, 2, ..., 100 us, as numpy.percentile has them.
  const ByName enough = steps(100);
  EXPECT_DOUBLE_EQ(number(enough, "latency_p50_ns"), 50'500);
  EXPECT_DOUBLE_EQ(number(enough, "latency_p90_ns"), 90'100);
  EXPECT_DOUBLE_EQ(number(enough, "latency_p99_ns"), 99'010);
}

TEST(ModelFigures, WithoutDataSayWhatToRecord) {
  const ByName figures = figures_of(
      R"({"record_shapes":0,"profile_memory":0,"traceEvents":[
      {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":5}]})");
  for (const char* const name : {"parameters", "trainable_parameters", "model_bytes", "macs",
                                 "backward_macs", "flops", "peak_bytes", "activation_bytes",
                                 "latency_mean_ns", "throughput_per_s", "mfu", "energy_j"}) {
    const ModelFigure& figure = figures.at(name);
    EXPECT_EQ(figure.how, FigureOrigin::not_recorded) << name;
    EXPECT_TRUE(std::holds_alternative<std::monostate>(figure.value)) << name;
    EXPECT_FALSE(figure.note.empty()) << name;
  }
  for (const char* const name : {"parameters", "trainable_parameters", "model_bytes", "macs"}) {
    EXPECT_NE(figures.at(name).note.find("record_shapes"), std::string::npos) << name;
  }
  EXPECT_NE(figures.at("peak_bytes").note.find("profile_memory"), std::string::npos);
}

TEST(ModelFigures, ReasonsOfTheReportNameEachFigureOnce) {
  const Result<Trace> trace = try_read(training(), {.threads = 1, .arguments = kModelArguments});
  const Result<AnalysisReport> report = model_report(*trace);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->table.rows.size(), figures_of(training()).size());
  EXPECT_NE(std::ranges::find(report->notes,
                              "not recorded: latency_p90_ns, latency_p99_ns: needs 100 steps, and "
                              "there are 2"),
            report->notes.end());
}

/// A step of 100 us with an operator of 80 us, or less.
std::string one_operator(const std::string& name, int us) {
  return R"({"record_shapes":1,"traceEvents":[
      {"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":100},
      {"ph":"X","cat":"cpu_op","name":")" +
         name + R"(","pid":1,"tid":1,"ts":1,"dur":)" + std::to_string(us) +
         R"(,"args":{"Input Dims":[[2,3]],"Input type":["float"]}}]})";
}

TEST(ModelFigures, WithoutAnyCountAreNoZeros) {
  // A kernel of torch.compile or AOTInductor; and a copy, beside something that no operator shows.
  for (const auto& [text, reason] :
       {std::pair(one_operator("graph_0_cpp_fused_gelu_0", 80),
                  "nothing is known of what graph_0_cpp_fused_gelu_0 computed"),
        std::pair(one_operator("aten::conv2d", 80), "has no sizes of aten::conv2d"),
        std::pair(one_operator("aten::copy_", 10), "compiled code")}) {
    const ByName figures = figures_of(text);
    for (const char* const name : {"macs", "flops", "achieved_flops_per_s", "mfu"}) {
      const ModelFigure& figure = figures.at(name);
      EXPECT_EQ(figure.how, FigureOrigin::not_recorded) << name;
      EXPECT_NE(figure.note.find(reason), std::string::npos) << name << ": " << figure.note;
    }
  }
  const ByName copies = figures_of(one_operator("aten::copy_", 80));
  EXPECT_EQ(number(copies, "flops"), 0);
  EXPECT_EQ(copies.at("flops").how, FigureOrigin::counted);
}

TEST(ModelFigures, WithoutStepsOperationsAreOfTheRecording) {
  const ByName figures = figures_of(
      R"({"record_shapes":1,"traceEvents":[
      {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":5,
       "args":{"Input Dims":[[2,3],[3,4]],"Input type":["float","float"]}}]})");
  EXPECT_EQ(number(figures, "macs"), 24);
  EXPECT_NE(figures.at("macs").note.find("has no steps"), std::string::npos);
  EXPECT_EQ(number(figures, "steps"), 0);
}

}  // namespace
}  // namespace tbtrace
