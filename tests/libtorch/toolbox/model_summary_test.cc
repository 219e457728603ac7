// What model_summary() says of models whose sizes are published, and of what it cannot know.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <tbtrace/flops.h>
#include <tbtrace/model_summary.h>
#include <tbtrace/profiler.h>

#include "libtorch/toolbox/layers/layer_tree.h"
#include "libtorch/toolbox/layers/recorded_run.h"
#include "libtorch/toolbox/tied_model.h"
#include "published_models.h"

namespace tbtrace {
namespace {

namespace nn = torch::nn;

using published::resnet18;
using published::resnet50;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::uint64_t count_of(const std::vector<at::Tensor>& tensors) {
  std::uint64_t elements = 0;
  for (const at::Tensor& tensor : tensors) elements += static_cast<std::uint64_t>(tensor.numel());
  return elements;
}

const LayerCost& layer_of(const ModelSummary& summary, std::string_view path) {
  const LayerCost* const layer = summary.layer(path);
  if (layer == nullptr) throw std::out_of_range(std::string(path));
  return *layer;
}

TensorShape shape(std::vector<std::int64_t> sizes, std::string type = "float32") {
  return {std::move(sizes), std::move(type)};
}

TEST(ModelSummary, CountsResNet18) {
  const auto model = resnet18();
  const ModelSummary summary =
      model_summary(model, {torch::randn({1, 3, 224, 224})}, {.depth = 10, .name = "resnet18"});
  const LayerCost& total = summary.total();
  EXPECT_EQ(total.name, "resnet18");
  EXPECT_EQ(total.parameters, 11689512U);
  EXPECT_EQ(total.trainable_parameters, 11689512U);
  EXPECT_EQ(total.parameter_bytes, 4 * 11689512U);
  EXPECT_EQ(total.buffers, count_of(model->buffers()));
  EXPECT_EQ(total.macs, 1814073344U);
  EXPECT_THAT(total.inputs, ElementsAre(shape({1, 3, 224, 224})));
  EXPECT_THAT(total.outputs, ElementsAre(shape({1, 1000})));
  EXPECT_TRUE(summary.uncounted.empty());

  const LayerCost& convolution = layer_of(summary, "layer2.0.downsample.0");
  EXPECT_EQ(convolution.type, "Conv2d");
  EXPECT_EQ(convolution.depth, 4U);
  EXPECT_EQ(convolution.calls, 1U);
  EXPECT_EQ(convolution.parameters, 64U * 128);
  EXPECT_EQ(convolution.macs, 64U * 128 * 28 * 28);
  EXPECT_EQ(convolution.flops, 2U * 64 * 128 * 28 * 28);
  EXPECT_EQ(convolution.activations, 128U * 28 * 28);
  EXPECT_EQ(convolution.activation_bytes, 4U * 128 * 28 * 28);
  EXPECT_THAT(convolution.inputs, ElementsAre(shape({1, 64, 56, 56})));
  EXPECT_THAT(convolution.outputs, ElementsAre(shape({1, 128, 28, 28})));
}

// torchinfo 1.8 of torchvision's resnet18, input (1, 3, 224, 224).
TEST(ModelSummary, PrintsTorchinfosTotals) {
  const ModelSummary summary = model_summary(resnet18(), {torch::randn({1, 3, 224, 224})});
  EXPECT_THAT(
      summary.table({.style = "torchinfo"}),
      AllOf(HasSubstr("Total params: 11,689,512\n"), HasSubstr("Total mult-adds (G): 1.81\n"),
            HasSubstr("Input size (MB): 0.60\n"),
            HasSubstr("Forward/backward pass size (MB, estimated): 39.75\n"),
            HasSubstr("Params size (MB): 46.76\n"), HasSubstr("Estimated Total Size (MB): 87.11\n"),
            HasSubstr("├─Sequential (layer1): 1-5"), HasSubstr("│    │    ├─Conv2d (conv1): 3-1 "),
            Not(HasSubstr("aten::add_"))));
}

TEST(ModelSummary, LayersWithoutTensorsAreRecognised) {
  const ModelSummary summary = model_summary(resnet18(), {torch::randn({1, 3, 64, 64})});
  EXPECT_EQ(layer_of(summary, "maxpool").calls, 1U);
  EXPECT_THAT(layer_of(summary, "maxpool").outputs, ElementsAre(shape({1, 64, 16, 16})));
  EXPECT_EQ(layer_of(summary, "avgpool").calls, 1U);
  EXPECT_EQ(layer_of(summary, "relu").calls, 1U);
  // The second call is after the last layer that the block could be recognised by.
  for (const char* block : {"layer1.0", "layer1.1", "layer2.0", "layer4.1"}) {
    EXPECT_EQ(layer_of(summary, std::string(block) + ".relu").calls, 2U) << block;
  }
  EXPECT_EQ(layer_of(summary, "flatten").kind, LayerKind::function);
  // In the order of execution.
  std::vector<std::string> outermost;
  for (const LayerCost& layer : summary.layers) {
    if (layer.depth == 1 && layer.kind == LayerKind::module) outermost.push_back(layer.name);
  }
  EXPECT_THAT(outermost, ElementsAre("conv1", "bn1", "relu", "maxpool", "layer1", "layer2",
                                     "layer3", "layer4", "avgpool", "fc"));
}

TEST(ModelSummary, LayersAddUp) {
  const ModelSummary summary =
      model_summary(resnet18(), {torch::randn({1, 3, 64, 64})}, {.depth = 2});
  std::int64_t self_ns = 0;
  for (std::size_t at = 0; at < summary.layers.size(); ++at) {
    const LayerCost& layer = summary.layers[at];
    self_ns += layer.self_cpu_time_ns;
    std::uint64_t macs = 0;
    std::uint64_t flops = 0;
    std::uint64_t activations = 0;
    bool has_layers = false;
    for (const LayerCost& inner : summary.layers) {
      if (inner.parent != at) continue;
      has_layers = true;
      macs += inner.macs.value();
      flops += inner.flops.value();
      activations += inner.activations.value();
    }
    if (!has_layers) continue;
    EXPECT_EQ(layer.macs, macs) << layer.path;
    EXPECT_EQ(layer.flops, flops) << layer.path;
    EXPECT_EQ(layer.activations, activations) << layer.path;
  }
  EXPECT_EQ(summary.depth, 2U);
  EXPECT_EQ(self_ns, summary.total().cpu_time_total_ns);
}

TEST(ModelSummary, CountsResNet50AndItsTraining) {
  const auto model = resnet50();
  const torch::Tensor input = torch::randn({1, 3, 224, 224});
  model->eval();  // a batch of one, whose statistics batch norm refuses at 1 x 1
  const ModelSummary summary = model_summary(
      *model, [&] { model->forward(input).sum().backward(); }, {.depth = 1, .warmup = 0});
  const LayerCost& total = summary.total();
  EXPECT_EQ(total.parameters, 25557032U);
  EXPECT_EQ(total.macs.value() - total.backward_macs, 4089184256U);
  // Twice the forward pass, but for the gradient of the image.
  EXPECT_EQ(total.backward_macs, std::uint64_t{2} * 4089184256U - 118013952U);
  EXPECT_EQ(total.macs, 12149538816U);
  EXPECT_EQ(layer_of(summary, "conv1").backward_macs, 118013952U);
}

TEST(ModelSummary, WhatAStepDoesWithTheModelsOwnTensorsIsNoPartOfItsFlow) {
  nn::Sequential model(nn::Linear(6, 5), nn::ReLU(), nn::Linear(5, 3));
  const torch::Tensor input = torch::randn({8, 6});
  torch::optim::SGD optimizer(model->parameters(), torch::optim::SGDOptions(0.1));
  const ModelSummary summary = model_summary(*model, [&] {
    for (const torch::Tensor& parameter : model->parameters()) {  // as zero_grad() does it
      const torch::Tensor& gradient = parameter.grad();
      if (gradient.defined()) parameter.mutable_grad() = gradient.detach();
      parameter.mutable_grad().reset();
    }
    model->forward(input).sum().backward();
    optimizer.step();
  });
  EXPECT_THAT(summary.total().inputs, ElementsAre(shape({8, 6})));
  const auto is_detach = [](const LayerCost& layer) { return layer.type == "aten::detach"; };
  const auto detach = std::ranges::find_if(summary.layers, is_detach);
  ASSERT_NE(detach, summary.layers.end());
  EXPECT_EQ(detach->calls, 4U);
  EXPECT_EQ(std::ranges::count_if(summary.layers, is_detach), 1);
}

TEST(ModelSummary, WhatAnOptimizerAllocatesIsNoActivation) {
  nn::Sequential model(nn::Linear(6, 5), nn::ReLU(), nn::Linear(5, 3));
  const torch::Tensor input = torch::randn({8, 6});
  torch::optim::AdamW optimizer(model->parameters());
  const auto step = [&](bool with_optimizer) {
    const ModelSummary summary = model_summary(*model, [&] {
      model->forward(input).sum().backward();
      if (with_optimizer) optimizer.step();
    });
    return summary.total().activations.value();
  };
  const std::uint64_t forward = model_summary(model, {input}).total().activations.value();
  EXPECT_EQ(step(true), step(false));
  const ModelSummary summary = model_summary(*model, [&] {
    model->forward(input).sum().backward();
    optimizer.step();
  });
  EXPECT_THAT(summary.total().inputs, ElementsAre(shape({8, 6})));
  EXPECT_THAT(summary.total().outputs, ElementsAre(shape({})));  // of ones_like: backward() begins
  // Four parameters, a row for each operator.
  const auto is_root = [](const LayerCost& layer) { return layer.type == "aten::sqrt"; };
  const auto root = std::ranges::find_if(summary.layers, is_root);
  ASSERT_NE(root, summary.layers.end());
  EXPECT_EQ(root->calls, 4U);
  EXPECT_THAT(root->inputs, ElementsAre());
  EXPECT_EQ(std::ranges::count_if(summary.layers, is_root), 1);
  EXPECT_GE(step(false), forward);
  EXPECT_LE(step(false), forward + 2);  // the sum, and the gradient that backward() begins with
}

TEST(ModelSummary, LeavesTheModelAsItWas) {
  nn::Sequential model(nn::Linear(4, 4), nn::BatchNorm1d(4), nn::Dropout(0.5));
  model[1]->eval();
  const torch::Tensor before = model[1]->named_buffers()["running_mean"].clone();
  model_summary(model, {torch::randn({8, 4})});
  EXPECT_TRUE(model->is_training());
  EXPECT_TRUE(model[0]->is_training());
  EXPECT_FALSE(model[1]->is_training());
  EXPECT_TRUE(torch::equal(before, model[1]->named_buffers()["running_mean"]));
  model_summary(model, {torch::randn({8, 4})}, {.mode = ModelMode::train});
  EXPECT_FALSE(torch::equal(before, model[1]->named_buffers()["running_mean"]));
  EXPECT_FALSE(model[1]->is_training());
}

TEST(ModelSummary, SequentialLayersAreInOrder) {
  nn::Sequential model(nn::ReLU(), nn::Linear(4, 4), nn::ReLU(), nn::Dropout(0.5), nn::Linear(4, 2),
                       nn::ReLU());
  const ModelSummary summary = model_summary(model, {torch::randn({2, 4})});
  std::vector<std::string> rows;
  for (const LayerCost& layer : summary.layers) rows.push_back(layer.path + ":" + layer.type);
  EXPECT_THAT(rows, ElementsAre(":Sequential", "0:ReLU", "1:Linear", "2:ReLU", "3:Dropout",
                                "4:Linear", "5:ReLU"));
  for (const LayerCost& layer : summary.layers) EXPECT_EQ(layer.calls, 1U) << layer.path;
}

TEST(ModelSummary, TiedAndFrozenParametersCountOnce) {
  testing::TiedModel model;
  model->hidden->bias.set_requires_grad(false);
  const ModelSummary summary = model_summary(model, {torch::randint(100, {3, 5}, torch::kLong)});
  const LayerCost& total = summary.total();
  EXPECT_EQ(total.parameters, 100U * 16 + 16 * 16 + 16 + 100);
  EXPECT_EQ(total.frozen_parameters(), 16U);
  EXPECT_EQ(total.tied_parameters, 0U);
  const LayerCost& decoder = layer_of(summary, "decoder");
  EXPECT_EQ(decoder.parameters, 100U * 16 + 100);
  EXPECT_EQ(decoder.tied_parameters, 100U * 16);
  EXPECT_THAT(summary.notes,
              ElementsAre(HasSubstr("decoder.weight is the same memory as embedding.weight")));
  EXPECT_THAT(total.inputs, ElementsAre(shape({3, 5}, "int64")));
  EXPECT_EQ(total.macs, 3U * 5 * (16 * 16 + 16 * 100));
  EXPECT_EQ(decoder.macs, 3U * 5 * 16 * 100);
  EXPECT_EQ(decoder.calls, 1U);
  EXPECT_THAT(decoder.outputs, ElementsAre(shape({3, 5, 100})));
  EXPECT_EQ(layer_of(summary, "embedding").calls, 1U);
  EXPECT_EQ(layer_of(summary, "embedding").macs, 0U);
}

TEST(ModelSummary, OfLayersOfOneClassThatShareAWeightTheSecondIsUnknown) {
  nn::Sequential model(nn::Linear(4, 4), nn::Linear(nn::LinearOptions(4, 4).bias(false)));
  model->children()[1]->named_parameters(false)["weight"].set_data(
      model->children()[0]->named_parameters(false)["weight"]);
  const ModelSummary summary = model_summary(model, {torch::randn({2, 4})});
  EXPECT_EQ(summary.total().macs, 2U * 2 * 4 * 4);
  EXPECT_EQ(layer_of(summary, "0").macs, 2U * 2 * 4 * 4);
  EXPECT_EQ(layer_of(summary, "1").macs, std::nullopt);
  EXPECT_EQ(layer_of(summary, "1").activations, std::nullopt);
  EXPECT_EQ(layer_of(summary, "1").calls, std::nullopt);
}

TEST(ModelSummary, UnusedLayersHaveNoCalls) {
  struct Net : nn::Module {
    Net() : used(register_module("used", nn::Linear(4, 4))) {
      register_module("unused", nn::Linear(4, 4));
      register_module("silent", nn::Identity());
    }
    torch::Tensor forward(const torch::Tensor& x) { return used(used(x)); }
    nn::Linear used;
  } model;
  const ModelSummary summary = model_summary(model, {torch::randn({2, 4})});
  EXPECT_EQ(layer_of(summary, "used").calls, 2U);
  EXPECT_EQ(layer_of(summary, "used").macs, 2U * 2 * 4 * 4);
  EXPECT_EQ(layer_of(summary, "unused").calls, 0U);
  EXPECT_EQ(layer_of(summary, "unused").parameters, 20U);
  EXPECT_EQ(layer_of(summary, "silent").calls, std::nullopt);
}

TEST(ModelSummary, CountsTheOperatorsThatTheVerbFlopsDoesNot) {
  const torch::Tensor matrix = torch::eye(8).requires_grad_();
  libtorch::RunToRecord what;
  what.run = [&] {
    (torch::linalg_inv(matrix) + matrix.mm(matrix) + torch::linalg_matrix_exp(matrix))
        .sum()
        .backward();
  };
  what.run();
  const libtorch::RecordedRun run = libtorch::record_run(what);
  const libtorch::LayerTree tree = libtorch::layer_tree_of(run, nullptr);
  std::map<std::string, std::pair<std::uint64_t, std::int64_t>> expected;  // calls and time
  const Result<OperatorWorkSummary> work = operator_work(*run.trace);
  ASSERT_TRUE(work.ok());
  for (const OperatorWork& row : work->rows) {
    if (row.state != WorkState::no_rule && row.state != WorkState::unknown_sizes) continue;
    auto& [calls, time_ns] = expected[row.name];
    calls += row.count;
    time_ns += row.cpu_time_ns;
  }
  EXPECT_GE(expected.size(), 2U);
  std::map<std::string, std::pair<std::uint64_t, std::int64_t>> found;
  for (const UncountedOperator& op : tree.uncounted) found[op.name] = {op.calls, op.cpu_time_ns};
  EXPECT_EQ(found, expected);
}

TEST(ModelSummary, OperatorsWithoutRuleAreListedAndNeverZero) {
  const torch::Tensor matrix = torch::eye(8);
  const ModelSummary summary = model_summary([&] {
    auto result = torch::linalg_inv(matrix) + matrix.mm(matrix);
    return result;
  });
  EXPECT_FALSE(summary.has_model);
  EXPECT_EQ(summary.total().macs, 8U * 8 * 8);
  EXPECT_EQ(summary.total().uncounted_calls, 1U);
  ASSERT_EQ(summary.uncounted.size(), 1U);
  EXPECT_EQ(summary.uncounted.front().name, "aten::linalg_inv");
  EXPECT_EQ(summary.uncounted.front().calls, 1U);
  EXPECT_GT(summary.uncounted.front().cpu_time_ns, 0);
  EXPECT_FALSE(summary.uncounted.front().has_rule);
  EXPECT_EQ(layer_of(summary, "linalg_inv").macs, std::nullopt);
  EXPECT_EQ(layer_of(summary, "mm").macs, 512U);
  EXPECT_THAT(summary.table({.style = "operators"}), HasSubstr("linalg_inv"));
  EXPECT_THAT(summary.table(), HasSubstr("Operators without a rule are in no count"));
  EXPECT_THAT(summary.json(), AllOf(HasSubstr("\"parameters\": \"not recorded\""),
                                    HasSubstr("\"reason\":\"no_rule\"")));
}

TEST(ModelSummary, ReadsTorchScript) {
  torch::jit::Module head("Head");
  head.register_parameter("weight", torch::randn({10, 16}), false);
  head.define("def forward(self, x):\n  return torch.matmul(x, self.weight.t())\n");
  torch::jit::Module model("Net");
  model.register_parameter("hidden", torch::randn({16, 8}), false);
  model.register_module("head", head);
  model.define(
      "def forward(self, x):\n  return self.head.forward(torch.relu(torch.matmul(x, "
      "self.hidden.t())))\n");
  const ModelSummary summary = model_summary(model, {torch::randn({4, 8})});
  EXPECT_EQ(summary.total().parameters, 10U * 16 + 16 * 8);
  EXPECT_EQ(summary.total().macs, 4U * 8 * 16 + 4 * 16 * 10);
  EXPECT_THAT(summary.total().outputs, ElementsAre(shape({4, 10})));
  EXPECT_EQ(layer_of(summary, "head").macs, 4U * 16 * 10);
  EXPECT_EQ(layer_of(summary, "head").parameters, 160U);
  EXPECT_EQ(layer_of(summary, "head").calls, std::nullopt);
  EXPECT_EQ(layer_of(summary, "relu").kind, LayerKind::function);
}

// Operators of a script name their modules, without a frame around them.
TEST(ModelSummary, CountsTrainingOfTorchScript) {
  torch::jit::Module layer("Layer");
  layer.register_parameter("weight", torch::randn({4, 3, 3, 3}), false);
  layer.define("def forward(self, x):\n  return torch.conv2d(x, self.weight)\n");
  torch::jit::Module model("Net");
  model.register_module("layer", layer);
  model.define("def forward(self, x):\n  return self.layer.forward(x)\n");
  for (const auto& parameter : model.parameters()) parameter.set_requires_grad(true);
  const torch::Tensor input = torch::randn({2, 3, 8, 8});
  const ModelSummary summary =
      model_summary([&] { model.forward({input}).toTensor().sum().backward(); });
  const std::uint64_t forward = std::uint64_t{2} * 4 * 3 * 3 * 3 * 6 * 6;
  EXPECT_EQ(summary.total().macs, 2 * forward);  // and the gradient of the weight
  EXPECT_EQ(summary.total().backward_macs, forward);
}

TEST(ModelSummary, ModulesOfCallablesAreThoseOfTheirScopes) {
  nn::Linear layer(4, 2);
  const torch::Tensor input = torch::randn({3, 4});
  const ModelSummary summary = model_summary([&] {
    const module_scope scope(*layer);
    return torch::relu(layer(input));
  });
  const LayerCost& linear = layer_of(summary, "Linear_0");
  EXPECT_EQ(linear.calls, 1U);
  EXPECT_EQ(linear.macs, 24U);
  EXPECT_EQ(layer_of(summary, "Linear_0.relu").flops, 6U);
}

TEST(ModelSummary, RefusesWhatItCannotRun) {
  nn::Linear model(4, 2);
  EXPECT_THROW(model_summary(model, {torch::randn({1, 4}), torch::randn({1, 4})}),
               std::invalid_argument);
  EXPECT_THROW(model_summary(model, {torch::Tensor()}), std::invalid_argument);
  EXPECT_THROW(model_summary(model, {torch::randn({1, 4})}, {.warmup = -1}), std::invalid_argument);
  EXPECT_THROW(model_summary(model, {torch::randn({1, 5})}), c10::Error);
  EXPECT_TRUE(model->is_training());
  const ModelSummary summary = model_summary(model, {torch::randn({1, 4})});
  EXPECT_THROW(summary.table({.style = "keras"}), std::invalid_argument);
  EXPECT_THROW(summary.table({.sort_by = "size"}), std::invalid_argument);
}

TEST(ModelSummary, PrintsTables) {
  const ModelSummary summary = model_summary(resnet18(), {torch::randn({1, 3, 64, 64})});
  std::ostringstream printed;
  printed << summary;
  EXPECT_EQ(printed.str(), summary.table());
  EXPECT_THAT(summary.table({.sort_by = "macs", .row_limit = 2}),
              AllOf(HasSubstr("layer1"), Not(HasSubstr("avgpool"))));
  EXPECT_THAT(summary.table({.style = "types"}), HasSubstr("Conv2d"));
  EXPECT_THAT(summary.table({.style = "flops_profiler", .top = 1}),
              AllOf(HasSubstr("    params   - {'Sequential': '11.2 M'}\n"),
                    HasSubstr("  (fc): Linear(513 k = 4.39% Params")));
  EXPECT_EQ(summary.report().table.rows.size(), summary.layers.size());
  const AnalysisReport types = summary.types_report();
  EXPECT_EQ(types.schema, "tbtrace.model_summary/1");
  EXPECT_EQ(layer_kind_name(LayerKind::function), "function");
  EXPECT_GT(summary.total().flops_per_s().value(), 0);
}

}  // namespace
}  // namespace tbtrace
