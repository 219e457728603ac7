// Which functions model_summary() gives to layers without tensors, where several could have called
// them.
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <tbtrace/model_summary.h>

#include "libtorch/toolbox/layers/layer_tree.h"

namespace tbtrace {
namespace {

namespace nn = torch::nn;

using ::testing::ElementsAre;

std::uint64_t calls_of(const ModelSummary& summary, const std::string& path) {
  const LayerCost* const layer = summary.layer(path);
  return layer != nullptr ? layer->calls.value_or(0) : 0;
}

/// Paths of the layers of this class that were called.
std::vector<std::string> called(const ModelSummary& summary, const std::string& type) {
  std::vector<std::string> paths;
  for (const LayerCost& layer : summary.layers) {
    if (layer.type == type && layer.calls.value_or(0) > 0) paths.push_back(layer.path);
  }
  return paths;
}

std::uint64_t functions_of(const ModelSummary& summary, const std::string& op) {
  std::uint64_t calls = 0;
  for (const LayerCost& layer : summary.layers) {
    if (layer.kind == LayerKind::function && layer.type == op) calls += layer.calls.value_or(0);
  }
  return calls;
}

// Its layers are called in another order than that of their registration: dropout1 before linear1.
TEST(RegisteredLayers, DropoutsOfATransformerStayFunctions) {
  struct Net : nn::Module {
    Net() {
      embedding = register_module("embedding", nn::Linear(8, 8));
      dropout = register_module("dropout", nn::Dropout(0.1));
      encoder = register_module("encoder", nn::TransformerEncoder(nn::TransformerEncoderOptions(
                                               nn::TransformerEncoderLayerOptions(8, 2), 2)));
    }
    torch::Tensor forward(const torch::Tensor& x) { return encoder(dropout(embedding(x))); }
    nn::Linear embedding{nullptr};
    nn::Dropout dropout{nullptr};
    nn::TransformerEncoder encoder{nullptr};
  } model;
  const ModelSummary summary = model_summary(model, {torch::randn({5, 1, 8})}, {.depth = 10});
  EXPECT_THAT(called(summary, "Dropout"), ElementsAre("dropout"));
  EXPECT_EQ(calls_of(summary, "dropout"), 1U);
  // Of the attention's weights, and three of each layer.
  EXPECT_EQ(functions_of(summary, "aten::dropout"), 2U * 4);
}

TEST(RegisteredLayers, AreKnownByTheOperatorsThatTheirClassesCall) {
  using libtorch::calls_operator;
  EXPECT_TRUE(calls_operator("Upsample", "aten::upsample_nearest2d"));
  EXPECT_TRUE(calls_operator("ZeroPad2d", "aten::constant_pad_nd"));
  EXPECT_TRUE(calls_operator("Dropout2d", "aten::feature_dropout_"));
  EXPECT_TRUE(calls_operator("AdaptiveAvgPool2d", "aten::adaptive_avg_pool2d"));
  EXPECT_FALSE(calls_operator("ReLU6", "aten::relu"));
}

/// A layer with tensors and an activation after it.
struct BranchImpl : nn::Module {
  BranchImpl() {
    linear = register_module("linear", nn::Linear(4, 4));
    act = register_module("act", nn::ReLU());
  }
  torch::Tensor forward(const torch::Tensor& x) { return act(linear(x)); }
  nn::Linear linear{nullptr};
  nn::ReLU act{nullptr};
};
TORCH_MODULE(Branch);

TEST(RegisteredLayers, ABranchThatIsNotCalledGetsNoFunctions) {
  struct Net : nn::Module {
    Net() {
      first = register_module("first", nn::Linear(4, 4));
      register_module("branch", Branch());
      last = register_module("last", nn::Linear(4, 4));
    }
    torch::Tensor forward(const torch::Tensor& x) { return last(torch::relu(first(x))); }
    nn::Linear first{nullptr}, last{nullptr};
  } model;
  const ModelSummary summary = model_summary(model, {torch::randn({2, 4})}, {.depth = 10});
  EXPECT_THAT(called(summary, "ReLU"), ElementsAre());
  EXPECT_EQ(functions_of(summary, "aten::relu"), 1U);
}

TEST(RegisteredLayers, ModulesWithoutTensorsHaveLayersThatAreKnownByTheirPlace) {
  struct Net : nn::Module {
    Net() {
      first = register_module("first", nn::Linear(4, 4));
      between = register_module("between", nn::Sequential(nn::ReLU(), nn::Dropout(0.1)));
      last = register_module("last", Branch());
    }
    torch::Tensor forward(const torch::Tensor& x) { return last(between->forward(first(x))); }
    nn::Linear first{nullptr};
    nn::Sequential between{nullptr};
    Branch last{nullptr};
  } model;
  const ModelSummary summary = model_summary(model, {torch::randn({2, 4})}, {.depth = 10});
  EXPECT_THAT(called(summary, "ReLU"), ElementsAre("between.0", "last.act"));
  EXPECT_THAT(called(summary, "Dropout"), ElementsAre("between.1"));
}

TEST(RegisteredLayers, AFunctionWithinAModuleIsNotOfALayerAroundIt) {
  struct BlockImpl : nn::Module {
    BlockImpl() {
      first = register_module("first", nn::Linear(4, 4));
      second = register_module("second", nn::Linear(4, 4));
    }
    torch::Tensor forward(const torch::Tensor& x) { return second(torch::relu(first(x))); }
    nn::Linear first{nullptr}, second{nullptr};
  };
  struct Net : nn::Module {
    Net() {
      stem = register_module("stem", nn::Linear(4, 4));
      relu = register_module("relu", nn::ReLU());
      block = register_module("block", std::make_shared<BlockImpl>());
    }
    torch::Tensor forward(const torch::Tensor& x) { return block->forward(relu(stem(x))); }
    nn::Linear stem{nullptr};
    nn::ReLU relu{nullptr};
    std::shared_ptr<BlockImpl> block;
  } model;
  const ModelSummary summary = model_summary(model, {torch::randn({2, 4})}, {.depth = 10});
  EXPECT_EQ(calls_of(summary, "relu"), 1U);
  EXPECT_EQ(functions_of(summary, "aten::relu"), 1U);
}

}  // namespace
}  // namespace tbtrace
