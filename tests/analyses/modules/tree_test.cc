#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/modules.h>

#include "analyses/modules/model_rows.h"
#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using testing::ElementsAre;

std::vector<std::string> paths_of(const ModuleTree& tree) {
  std::vector<std::string> paths;
  for (const ModuleRow& row : tree.modules) paths.push_back(row.path);
  return paths;
}

std::vector<std::optional<std::uint64_t>> parameters_of(const ModuleTree& tree) {
  std::vector<std::optional<std::uint64_t>> parameters;
  for (const ModuleRow& row : tree.modules) parameters.push_back(row.parameters);
  return parameters;
}

TEST(ModuleTree, HasForwardAndBackwardOfEachModule) {
  ModelRows rows;
  rows.module("Net_0", 0, 100);
  rows.module("Linear_0", 10, 30);
  rows.op("aten::addmm", 15, 20, 7);
  rows.module("Linear_1", 50, 30);
  rows.op("aten::addmm", 55, 20, 8);
  rows.op("aten::add", 110, 10, 9);
  rows.node("AddBackward0", 130, 5, 9);
  rows.node("AddmmBackward0", 140, 40, 8);
  rows.node("AddmmBackward0", 190, 60, 7);
  const ModuleTree tree = *module_tree(rows.finished());
  ASSERT_THAT(paths_of(tree), ElementsAre("Net_0", "Net_0.Linear_0", "Net_0.Linear_1"));
  EXPECT_EQ(tree.modules[0].type, "Net");
  EXPECT_EQ(tree.modules[0].depth, 0U);
  EXPECT_EQ(tree.modules[0].cpu_time_total_ns, 100 + 40 + 60);
  EXPECT_EQ(tree.modules[0].self_cpu_time_ns, 40);
  EXPECT_EQ(tree.modules[0].backward_cpu_time_ns, 100);
  EXPECT_EQ(tree.modules[1].type, "Linear");
  EXPECT_EQ(tree.modules[1].parent, 0U);
  EXPECT_EQ(tree.modules[1].cpu_time_total_ns, 30 + 60);
  EXPECT_EQ(tree.modules[1].backward_cpu_time_ns, 60);
  EXPECT_EQ(tree.modules[1].calls, 1U);
  EXPECT_EQ(tree.modules[2].backward_cpu_time_ns, 40);
  EXPECT_EQ(tree.unattributed.self_cpu_time_ns, 10 + 5);
  EXPECT_EQ(tree.unattributed.backward_cpu_time_ns, 5);
  EXPECT_EQ(tree.total.cpu_time_total_ns, 100 + 10 + 105);
}

EventId add_replayed(TraceBuilder& builder, std::string_view label, std::int64_t start,
                     std::int64_t correlation) {
  const EventId kernel = fixtures::add(builder, {.category = "kernel",
                                                 .name = "gemm",
                                                 .start = start,
                                                 .duration = 5,
                                                 .thread = 7,
                                                 .process = 0,
                                                 .correlation = correlation});
  builder.add_argument(kernel, Argument::graph_node_id, std::int64_t{3});
  builder.add_argument(kernel, Argument::label, builder.intern(label));
  return kernel;
}

TEST(ModuleTree, HasLabelsOfCudaGraphsForKernelsWithoutAModule) {
  TraceBuilder builder;
  fixtures::add(builder, {.category = "python_function",
                          .name = "nn.Module: Net_0",
                          .start = 0,
                          .duration = 20,
                          .is_module = true});
  const auto replay = [&](std::int64_t start, std::int64_t correlation) {
    fixtures::add(builder, {.category = "cuda_runtime",
                            .name = "cudaGraphLaunch",
                            .start = start,
                            .duration = 2,
                            .correlation = correlation});
  };
  replay(10, 1);
  replay(50, 2);
  add_replayed(builder, "attention", 60, 2);
  add_replayed(builder, "mlp", 70, 2);
  add_replayed(builder, "attention", 80, 3);  // its launch is not in the file
  add_replayed(builder, "of the module", 30, 1);
  const Trace trace = fixtures::finished(builder);
  EXPECT_TRUE(has_modules(trace));
  const ModuleTree tree = *module_tree(trace);
  ASSERT_THAT(paths_of(tree), ElementsAre("Net_0", "attention", "mlp"));
  EXPECT_EQ(tree.modules[0].self_device_time_ns, 5);
  EXPECT_EQ(tree.modules[1].self_device_time_ns, 10);
  EXPECT_EQ(tree.modules[1].type, "CUDA graph");
  EXPECT_EQ(tree.modules[1].calls, std::nullopt);
  EXPECT_EQ(tree.modules[2].self_device_time_ns, 5);
  EXPECT_EQ(tree.unattributed.self_device_time_ns, 0);
  EXPECT_EQ(tree.total.device_time_total_ns, 20);
}

TEST(ModuleTree, TakesPathsWhereTheTraceHasThem) {
  ModelRows rows;
  rows.module("Net_0", 0, 100, "net");
  rows.module("Linear_0", 10, 30, "net.layers.0.fc");
  rows.module("Linear_1", 50, 30);
  EXPECT_THAT(paths_of(*module_tree(rows.finished())),
              ElementsAre("net", "net.layers.0.fc", "net.Linear_1"));
}

TEST(ModuleTree, ReadsTheHierarchiesOfTorchScript) {
  ModelRows rows;
  rows.text(rows.op("aten::conv2d", 0, 10), Argument::module_hierarchy,
            "TOP(Net)::forward.conv(Conv2d)::forward._conv_forward");
  const EventId outer = rows.op("aten::linear", 20, 10);
  rows.text(outer, Argument::module_hierarchy, "TOP(Net)::forward");
  rows.text(rows.op("aten::addmm", 22, 4), Argument::module_hierarchy,
            "TOP(Net)::forward.fc(Linear)::forward");
  const ModuleTree tree = *module_tree(rows.finished());
  ASSERT_THAT(paths_of(tree), ElementsAre("Net", "Net.conv", "Net.fc"));
  EXPECT_EQ(tree.modules[1].type, "Conv2d");
  EXPECT_EQ(tree.modules[0].self_cpu_time_ns, 6);
  EXPECT_EQ(tree.modules[2].self_cpu_time_ns, 4);
  EXPECT_EQ(tree.modules[2].calls, std::nullopt) << "the trace does not say";
}

TEST(ModuleTree, MethodsThatAScriptedModuleCallsItselfAreTheModules) {
  ModelRows rows;
  rows.text(rows.op("aten::conv2d", 0, 10), Argument::module_hierarchy,
            "TOP(Net)::forward.conv(Conv2d)::forward.SELF(Conv2d)::_conv_forward");
  rows.text(rows.op("aten::linear", 20, 10), Argument::module_hierarchy,
            "TOP()::<forward op>.fc(Linear)::forward");
  const ModuleTree tree = *module_tree(rows.finished());
  ASSERT_THAT(paths_of(tree), ElementsAre("Net", "Net.conv", "fc"));
  EXPECT_EQ(tree.modules[1].self_cpu_time_ns, 10);
  EXPECT_EQ(tree.modules[2].type, "Linear");
}

TEST(ModuleTree, TakesTheFrameAroundAHierarchyForItsOutermostModule) {
  ModelRows rows;
  rows.module("RecursiveScriptModule_0", 0, 100);
  rows.text(rows.op("forward", 10, 80), Argument::module_hierarchy, "TOP(Outer)::forward.");
  rows.text(rows.op("aten::mm", 20, 10), Argument::module_hierarchy, "TOP()::<forward op>.");
  rows.text(rows.op("aten::relu", 40, 10), Argument::module_hierarchy,
            "TOP()::<forward op>.inner(Inner)::forward.");
  rows.module("RecursiveScriptModule_1", 200, 100);
  rows.text(rows.op("forward", 210, 80), Argument::module_hierarchy, "TOP(Other)::forward.");
  const ModuleTree tree = *module_tree(rows.finished());
  ASSERT_THAT(paths_of(tree),
              ElementsAre("RecursiveScriptModule_0", "RecursiveScriptModule_0.inner",
                          "RecursiveScriptModule_1"));
  EXPECT_EQ(tree.modules[0].type, "Outer");
  EXPECT_EQ(tree.modules[0].self_cpu_time_ns, 90);
  EXPECT_EQ(tree.modules[1].type, "Inner");
  EXPECT_EQ(tree.modules[2].type, "Other");
}

TEST(ModuleTree, KnowsAGraphOfTorchScriptByTheHierarchyAroundIt) {
  ModelRows rows;
  rows.text(rows.op("forward", 0, 80), Argument::module_hierarchy, "TOP(Net)::forward.");
  rows.text(rows.op("aten::relu", 40, 10), Argument::module_hierarchy,
            "TOP()::<forward op>.act(ReLU)::forward.");
  rows.text(rows.op("aten::relu", 100, 10), Argument::module_hierarchy,
            "TOP()::<forward op>.act(ReLU)::forward.");
  EXPECT_THAT(paths_of(*module_tree(rows.finished())), ElementsAre("Net", "Net.act", "act"));
}

/// Hooks of DistributedDataParallel run in the node that adds a gradient to its parameter.
TEST(ModuleTree, GradientsThatAreSentAreOfNoModule) {
  ModelRows rows;
  rows.module("Linear_0", 0, 100);
  rows.op("aten::linear", 10, 50, 7);
  rows.node("AddmmBackward0", 200, 20, 7);
  rows.gradient("[4, 3]", 230);
  rows.op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 240, 50, -1, {},
          2);
  const auto launched = [&](std::int64_t start, std::string_view kernel, std::int64_t correlation,
                            std::int64_t duration) {
    fixtures::add(rows.builder(), {.category = "cuda_runtime",
                                   .name = "cudaLaunchKernel",
                                   .start = start,
                                   .duration = 2,
                                   .thread = 2,
                                   .correlation = correlation});
    fixtures::add(rows.builder(), {.category = "kernel",
                                   .name = kernel,
                                   .start = start + 10,
                                   .duration = duration,
                                   .thread = 7,
                                   .process = 0,
                                   .correlation = correlation});
  };
  launched(205, "gemm", 1, 30);
  launched(250, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 2, 70);
  launched(260, "add_kernel", 3, 5);
  const Trace trace = rows.finished();
  const ModuleTree tree = *module_tree(trace);
  ASSERT_THAT(paths_of(tree), ElementsAre("Linear_0"));
  EXPECT_EQ(tree.modules[0].device_time_total_ns, 30 + 5) << "the copy of the gradient stays";
  EXPECT_EQ(tree.communication.device_time_total_ns, 70);
  EXPECT_EQ(tree.communication.backward_device_time_ns, 70);
  EXPECT_EQ(tree.unattributed.device_time_total_ns, 0);
  EXPECT_EQ(tree.total.device_time_total_ns, 105);
}

TEST(ModuleTree, ReadsLightningsMarks) {
  ModelRows rows;
  rows.builder().set_metadata("Framework", "\"pytorch-lightning\"");
  rows.op("[pl][module]torch.nn.modules.container.Sequential: encoder", 0, 50);
  rows.op("[pl][module]torch.nn.modules.linear.Linear: encoder.0", 10, 20);
  const ModuleTree tree = *module_tree(rows.finished());
  ASSERT_THAT(paths_of(tree), ElementsAre("encoder", "encoder.0"));
  EXPECT_EQ(tree.modules[1].type, "Linear");
  EXPECT_EQ(tree.modules[1].calls, 1U);
  EXPECT_EQ(tree.modules[0].self_cpu_time_ns, 30);
}

TEST(ModuleTree, OnlyOfChosenSteps) {
  ModelRows rows;
  for (std::int64_t step = 0; step < 3; ++step) {
    fixtures::add(rows.builder(), {.category = "user_annotation",
                                   .name = step == 0   ? "ProfilerStep#5"
                                           : step == 1 ? "ProfilerStep#6"
                                                       : "ProfilerStep#7",
                                   .start = 100 * step,
                                   .duration = 100});
    rows.module("Net_0", 100 * step + 10, 10 + step);
  }
  const Trace trace = rows.finished();
  EXPECT_EQ(module_tree(trace, {.steps = StepRange{6, 7}})->modules[0].cpu_time_total_ns, 23);
  EXPECT_EQ(module_tree(trace, {.steps = StepRange{6, 7}})->modules[0].calls, 2U);
  EXPECT_EQ(module_tree(trace, {.steps = StepRange{9, 9}}).status().code(),
            StatusCode::invalid_argument);
}

TEST(ModuleTree, WithoutModulesHasNone) {
  ModelRows rows;
  rows.op("aten::mm", 0, 10);
  const ModuleTree tree = *module_tree(rows.finished());
  EXPECT_TRUE(tree.modules.empty());
  EXPECT_EQ(tree.unattributed.cpu_time_total_ns, 10);
  EXPECT_EQ(tree.parameters, std::nullopt);
  EXPECT_EQ(tree.parameter_source, ParameterSource::none);
}

TEST(ModuleTree, CountsWhatACheckpointRepeatsForTheModuleThatIsThere) {
  // The first node of the block that needs an input has it computed again, inside itself.
  ModelRows rows;
  rows.module("Net_0", 0, 100);
  rows.module("Block_0", 10, 60);
  rows.module("Linear_0", 15, 20);
  rows.op("aten::addmm", 16, 10, 1);
  rows.module("Linear_1", 40, 20);
  rows.op("aten::addmm", 41, 10, 2);
  rows.node("AddmmBackward0", 200, 100, 2, 1);
  rows.module("Block_0", 210, 60);
  rows.module("Linear_0", 215, 20);
  rows.op("aten::addmm", 216, 10, 3);
  rows.module("Linear_1", 240, 20);
  const ModuleTree tree = *module_tree(rows.finished());
  ASSERT_THAT(paths_of(tree), ElementsAre("Net_0", "Net_0.Block_0", "Net_0.Block_0.Linear_0",
                                          "Net_0.Block_0.Linear_1"));
  EXPECT_EQ(tree.modules[1].calls, 2U);
  EXPECT_EQ(tree.modules[2].cpu_time_total_ns, 20 + 20);
  EXPECT_EQ(tree.modules[2].backward_cpu_time_ns, 20);
  EXPECT_EQ(tree.modules[3].backward_cpu_time_ns, 20 + 40) << "the node without what it repeats";
}

TEST(ModuleTree, FindsNodesOfWhatACheckpointComputedAgain) {
  // With `use_reentrant` the repeated operators have a graph of their own, in the node.
  ModelRows rows;
  rows.module("Net_0", 0, 100);
  rows.op("CheckpointFunction", 10, 60, 1);
  rows.module("Linear_0", 15, 20);
  rows.op("aten::addmm", 16, 10);
  rows.node("CheckpointFunctionBackward", 200, 100, 1);
  rows.op("aten::ones", 205, 2, -1, {}, 2);
  const std::int64_t thread = 2;
  rows.op("aten::addmm", 220, 10, 5, {}, thread);
  rows.node("AddmmBackward0", 250, 30, 5);
  const ModuleTree tree = *module_tree(rows.finished());
  ASSERT_THAT(paths_of(tree), ElementsAre("Net_0", "Net_0.Linear_0"));
  EXPECT_EQ(tree.modules[0].backward_cpu_time_ns, 100);
  EXPECT_EQ(tree.unattributed.cpu_time_total_ns, 0);
}

TEST(ModuleTree, NestingIsBounded) {
  ModelRows rows;
  constexpr std::int64_t kLevels = 1000;
  for (std::int64_t level = 0; level < kLevels; ++level) {
    rows.module("Net_" + std::to_string(level), level, 2 * (kLevels - level));
  }
  const ModuleTree tree = *module_tree(rows.finished());
  EXPECT_EQ(tree.modules.size(), 200U);
  EXPECT_EQ(tree.modules.back().self_cpu_time_ns, 2 * (kLevels - 199));
}

/// One backward pass of two linear layers, in the order of autograd.
void add_pass(ModelRows& rows, std::int64_t start, std::int64_t sequence) {
  rows.node("AddmmBackward0", start, 10, sequence + 1);
  rows.gradient("[5]", start + 12);
  rows.gradient("[5, 4]", start + 16);
  rows.node("AddmmBackward0", start + 20, 10, sequence);
  rows.gradient("[4]", start + 32);
  rows.gradient("[4, 3]", start + 36);
}

void add_forward(ModelRows& rows, std::int64_t start, std::int64_t sequence) {
  rows.module("Net_0", start, 50);
  rows.module("Linear_0", start, 20);
  rows.op("aten::addmm", start + 5, 10, sequence, "[[4], [8, 3], [3, 4]]");
  rows.module("Linear_1", start + 20, 20);
  rows.op("aten::addmm", start + 25, 10, sequence + 1, "[[5], [8, 4], [4, 5]]");
}

TEST(ModuleTree, CountsParametersByTheirGradients) {
  ModelRows rows;
  for (std::int64_t step = 0; step < 3; ++step) {
    add_forward(rows, 1000 * step, 10 * step);
    add_pass(rows, 1000 * step + 100, 10 * step);
  }
  const ModuleTree tree = *module_tree(rows.finished());
  EXPECT_EQ(tree.parameter_source, ParameterSource::gradients);
  EXPECT_THAT(parameters_of(tree), ElementsAre(41U, 4U + 12U, 5U + 20U));
  EXPECT_EQ(tree.parameters, 41U);
}

TEST(ModuleTree, CountsParametersOnceWithoutSteps) {
  // Two passes over one graph, and one that the recording's start has cut.
  ModelRows rows;
  rows.gradient("[4, 3]", 1);
  add_forward(rows, 1000, 10);
  add_pass(rows, 1100, 10);
  add_pass(rows, 1200, 10);
  EXPECT_EQ(module_tree(rows.finished())->parameters, 4U + 12U + 5U + 20U + 12U)
      << "the gradient before any forward operator is of no module";
}

TEST(ModuleTree, CountsTheParametersOfACheckpointWithItsPass) {
  // A pass inside a node: the checkpoint computes its part again, with higher numbers.
  ModelRows rows;
  add_forward(rows, 0, 1);
  rows.node("AddmmBackward0", 100, 10, 2);
  rows.gradient("[5]", 112);
  const EventId checkpoint = rows.op("CheckpointFunctionBackward", 120, 60, 1, {}, 2);
  rows.number(checkpoint, Argument::forward_thread, 1);
  rows.node("AddmmBackward0", 130, 10, 50);
  rows.gradient("[4]", 142);
  rows.node("AddmmBackward0", 190, 5, 0);
  rows.gradient("[9]", 200);
  const ModuleTree tree = *module_tree(rows.finished());
  EXPECT_EQ(tree.parameters, 5U + 4U + 9U);
}

TEST(ModuleTree, CountsParametersOfSeveralDevices) {
  // A node of the second device becomes ready late, so numbers go up on the first one's thread.
  ModelRows rows;
  add_forward(rows, 0, 10);
  for (std::int64_t pass = 0; pass < 2; ++pass) {
    const std::int64_t start = 100 + 100 * pass;
    rows.node("AddmmBackward0", start, 5, 40 + 50 * pass, 3);
    rows.gradient("[7]", start + 6, 3);
    rows.node("AddmmBackward0", start + 10, 5, 20 + 50 * pass, 2);
    rows.gradient("[3]", start + 16, 2);
    rows.node("AddmmBackward0", start + 20, 5, 30 + 50 * pass, 2);
    rows.gradient("[3]", start + 26, 2);
  }
  EXPECT_EQ(module_tree(rows.finished())->parameters, 7U + 3U + 3U);
}

TEST(ModuleTree, CountsParametersOfSeveralDevicesOnceForTwoPassesOverOneGraph) {
  ModelRows rows;
  add_forward(rows, 0, 10);
  for (std::int64_t pass = 0; pass < 2; ++pass) {
    const std::int64_t start = 100 + 100 * pass;
    rows.node("AddmmBackward0", start, 5, 40, 3);
    rows.gradient("[7]", start + 6, 3);
    rows.node("AddmmBackward0", start + 10, 5, 20, 2);
    rows.gradient("[3]", start + 16, 2);
  }
  EXPECT_EQ(module_tree(rows.finished())->parameters, 7U + 3U);
}

TEST(ModuleTree, CountsTheWeightsOfInference) {
  ModelRows rows;
  for (std::int64_t call = 0; call < 2; ++call) {
    const std::int64_t start = 1000 * call;
    rows.module("Net_0", start, 100);
    rows.module("Linear_0", start + 10, 30);
    rows.op("aten::linear", start + 12, 20, -1, "[[8, 3], [4, 3], [4]]");
    rows.op("aten::addmm", start + 15, 10, -1, "[[4], [8, 3], [3, 4]]");
    rows.module("LayerNorm_0", start + 50, 30);
    rows.op("aten::layer_norm", start + 52, 20, -1, "[[8, 4], [], [4], [4]]");
  }
  const ModuleTree tree = *module_tree(rows.finished());
  EXPECT_EQ(tree.parameter_source, ParameterSource::weights);
  EXPECT_THAT(parameters_of(tree), ElementsAre(24U, 16U, 8U));
}

TEST(ModuleTree, PrefersWhatTheRecorderNoted) {
  ModelRows rows;
  add_forward(rows, 0, 10);
  add_pass(rows, 100, 10);
  rows.number(rows.module("Linear_2", 500, 10), Argument::module_parameters, 77);
  const ModuleTree tree = *module_tree(rows.finished());
  EXPECT_EQ(tree.parameter_source, ParameterSource::recorded);
  EXPECT_EQ(tree.parameters, 77U);
}

TEST(ModuleTree, HostileShapesAreNotCounted) {
  ModelRows rows;
  rows.module("Net_0", 0, 50);
  rows.op("aten::mm", 5, 10, 1, "[[1], [1]]");
  rows.node("MmBackward0", 100, 10, 1);
  rows.gradient("[9223372036854775807, 9223372036854775807]", 112);
  rows.gradient("[-3]", 116);
  rows.gradient("[6]", 120);
  EXPECT_EQ(module_tree(rows.finished())->parameters, 6U);
}

TEST(ModuleTree, InputsOfACheckpointAreNotParameters) {
  ModelRows rows;
  add_forward(rows, 0, 1);
  const EventId checkpoint = rows.op("CheckpointFunctionBackward", 100, 80, 2, {}, 2);
  rows.number(checkpoint, Argument::forward_thread, 1);
  rows.node("AddmmBackward0", 110, 10, 2);
  rows.gradient("[5]", 122);
  rows.gradient("[8, 4]", 126);  // of the detached input
  EXPECT_EQ(module_tree(rows.finished())->parameters, 5U);
}

TEST(ModuleTree, OfSeveralPassesOverOneNodeTakesOne) {
  ModelRows rows;
  rows.module("Net_0", 0, 50);
  rows.op("aten::sum", 5, 10, 1);
  for (std::int64_t pass = 0; pass < 3; ++pass) {
    rows.node("SumBackward0", 100 + 100 * pass, 10, 1);
    rows.gradient("[6]", 120 + 100 * pass);
  }
  EXPECT_EQ(module_tree(rows.finished())->parameters, 6U);
}

TEST(ModuleTree, AGradientAfterAnUnknownNodeIsOfNoModule) {
  ModelRows rows;
  add_forward(rows, 0, 1);
  rows.node("AddmmBackward0", 100, 10, 2);
  rows.node("OddBackward0", 120, 10, 0);
  rows.gradient("[5]", 132);
  const ModuleTree tree = *module_tree(rows.finished());
  EXPECT_EQ(tree.unattributed_parameters, 5U);
}

TEST(ModuleTree, RecordedParametersOfAModuleCalledInTwoCountOnce) {
  ModelRows rows;
  rows.number(rows.module("Net_0", 0, 100, "net"), Argument::module_parameters, 1);
  rows.number(rows.module("A_0", 10, 30, "net.a"), Argument::module_parameters, 2);
  rows.number(rows.module("Linear_0", 15, 10, "net.shared"), Argument::module_parameters, 50);
  rows.number(rows.module("Linear_0", 60, 10, "net.shared"), Argument::module_parameters, 50);
  rows.module("Odd_0", 80, 10);
  const ModuleTree tree = *module_tree(rows.finished());
  EXPECT_EQ(tree.parameters, 53U);
  EXPECT_EQ(tree.modules.back().parameters, std::nullopt) << "the recorder does not know it";
}

}  // namespace
}  // namespace tbtrace::analyses
