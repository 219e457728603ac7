// Parameters and multiply-adds of recorded models against those of the models themselves, live and
// from the saved file.
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <tbtrace/modules.h>
#include <tbtrace/profiler.h>

#include "libtorch/record/recorded.h"

namespace tbtrace {
namespace {

namespace nn = torch::nn;

std::uint64_t parameters_of(const nn::Module& module) {
  std::uint64_t elements = 0;
  for (const at::Tensor& parameter : module.parameters()) {
    elements += static_cast<std::uint64_t>(parameter.numel());
  }
  return elements;
}

nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t size, std::int64_t stride) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, size).stride(stride).padding(size / 2).bias(false));
}

struct ResidualImpl : nn::Module {
  ResidualImpl(std::int64_t in, std::int64_t out, std::int64_t stride)
      : first(convolution(in, out, 3, stride)), second(convolution(out, out, 3, 1)) {
    register_module("first", first);
    register_module("first_norm", first_norm = nn::BatchNorm2d(out));
    register_module("second", second);
    register_module("second_norm", second_norm = nn::BatchNorm2d(out));
    if (stride != 1 || in != out) {
      shortcut = register_module(
          "shortcut", nn::Sequential(convolution(in, out, 1, stride), nn::BatchNorm2d(out)));
    }
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor inner = torch::relu(first_norm(first(x)));
    return torch::relu(second_norm(second(inner)) + (shortcut ? shortcut->forward(x) : x));
  }

  nn::Conv2d first;
  nn::Conv2d second;
  nn::BatchNorm2d first_norm{nullptr};
  nn::BatchNorm2d second_norm{nullptr};
  nn::Sequential shortcut{nullptr};
};
TORCH_MODULE(Residual);

struct ResNet18Impl : nn::Module {
  ResNet18Impl() {
    register_module("stem", stem);
    register_module("blocks", blocks);
    register_module("classifier", classifier);
    std::int64_t in = 64;
    for (const std::int64_t out : {64, 128, 256, 512}) {
      blocks->push_back(Residual(in, out, out == 64 ? 1 : 2));
      blocks->push_back(Residual(out, out, 1));
      in = out;
    }
  }

  torch::Tensor forward(torch::Tensor x) {
    x = blocks->forward(stem->forward(x));
    return classifier(torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
  }

  nn::Sequential stem{convolution(3, 64, 7, 2), nn::BatchNorm2d(64), nn::ReLU(),
                      nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1))};
  nn::Sequential blocks;
  nn::Linear classifier{512, 1000};
};
TORCH_MODULE(ResNet18);

/// Attention and two layers, each with a sum and a norm.
struct TransformerImpl : nn::Module {
  TransformerImpl() {
    register_module("embedding", embedding);
    register_module("attention", attention);
    register_module("norm", norm);
    register_module("widen", widen);
    register_module("narrow", narrow);
    register_module("head", head);
  }

  torch::Tensor forward(const torch::Tensor& tokens) {
    torch::Tensor x = embedding(tokens);  // length, texts, width
    x = x + std::get<0>(attention(x, x, x));
    x = x + narrow(torch::relu(widen(norm(x))));
    return head(x);
  }

  nn::Embedding embedding{50, 16};
  nn::MultiheadAttention attention{16, 2};
  nn::LayerNorm norm{nn::LayerNormOptions({16})};
  nn::Linear widen{16, 64};
  nn::Linear narrow{64, 16};
  nn::Linear head{16, 50};
};
TORCH_MODULE(Transformer);

/// Two training steps, and the modules of the live trace and of the saved file.
template <typename Model>
std::pair<ModuleTree, ModuleTree> trees_of(Model& model, const torch::Tensor& input) {
  torch::optim::SGD optimizer(model->parameters(), 0.01);
  Profiler profiler({.activities = {Activity::cpu}, .record_shapes = true});
  profiler.attach(model, "net");
  profiler.start();
  for (int step = 0; step < 2; ++step) {
    optimizer.zero_grad();
    model->forward(input).sum().backward();
    optimizer.step();
  }
  profiler.stop();
  const std::shared_ptr<const Trace> live = profiler.trace();
  EXPECT_NE(live, nullptr);
  const testing::Folder folder;
  EXPECT_TRUE(profiler.export_chrome_trace(folder / "trace.json").ok());
  const Result<Trace> saved = read_trace(folder / "trace.json", {.arguments = kModuleArguments});
  EXPECT_TRUE(saved.ok());
  return {*module_tree(*live), *module_tree(*saved)};
}

std::map<std::string, ModuleRow> rows_of(const ModuleTree& tree) {
  std::map<std::string, ModuleRow> rows;
  for (const ModuleRow& row : tree.modules) rows[row.path] = row;
  return rows;
}

/// Every module with parameters has a row with as many as the model says.
void expect_parameters(const nn::Module& model, const ModuleTree& tree) {
  const std::map<std::string, ModuleRow> rows = rows_of(tree);
  for (const auto& module : model.named_modules("net")) {
    if (module.value()->parameters().empty()) continue;
    const auto row = rows.find(module.key());
    ASSERT_NE(row, rows.end()) << module.key();
    EXPECT_EQ(row->second.parameters, parameters_of(*module.value())) << module.key();
    EXPECT_EQ(row->second.calls, 2U) << module.key();
  }
  EXPECT_EQ(tree.parameter_source, ParameterSource::recorded);
  EXPECT_EQ(tree.parameters, parameters_of(model));
  EXPECT_EQ(tree.trainable_parameters, parameters_of(model));
  EXPECT_EQ(tree.parameter_bytes, 4 * parameters_of(model));
}

void expect_equal(const ModuleTree& live, const ModuleTree& saved) {
  ASSERT_EQ(live.modules.size(), saved.modules.size());
  for (std::size_t row = 0; row < live.modules.size(); ++row) {
    EXPECT_EQ(live.modules[row].path, saved.modules[row].path);
    EXPECT_EQ(live.modules[row].parameters, saved.modules[row].parameters);
    EXPECT_EQ(live.modules[row].macs, saved.modules[row].macs) << live.modules[row].path;
    EXPECT_EQ(live.modules[row].backward_macs, saved.modules[row].backward_macs);
  }
}

TEST(ModuleCosts, OfAResNet18AreThoseOfTheModel) {
  torch::manual_seed(0);
  ResNet18 model;
  ASSERT_EQ(parameters_of(*model), 11'689'512U) << "the published number";
  constexpr std::uint64_t kImages = 2;
  const auto [live, saved] = trees_of(model, torch::randn({kImages, 3, 64, 64}));
  expect_parameters(*model, live);
  expect_parameters(*model, saved);
  expect_equal(live, saved);

  // A convolution multiplies each weight once per output pixel; its gradients by input and by
  // weight do so as well. The first one needs no gradient by its input.
  std::map<std::string, ModuleRow> rows = rows_of(saved);
  const auto expect = [&](const std::string& path, std::uint64_t macs, int gradients = 2) {
    ASSERT_TRUE(rows.contains(path)) << path;
    const ModuleRow& row = rows[path];
    EXPECT_EQ(row.macs - row.backward_macs, 2 * kImages * macs) << path;
    EXPECT_EQ(row.backward_macs, static_cast<std::uint64_t>(gradients) * 2 * kImages * macs)
        << path;
  };
  expect("net.stem.0", 32ULL * 32 * 64 * 3 * 7 * 7, 1);
  std::uint64_t size = 16;
  std::uint64_t in = 64;
  for (int block = 0; block < 8; ++block) {
    const std::uint64_t out = 64ULL << (block / 2);
    const std::string path = "net.blocks." + std::to_string(block);
    if (out != in) {
      size /= 2;
      expect(path + ".shortcut.0", size * size * in * out);
    }
    expect(path + ".first", size * size * in * out * 9);
    expect(path + ".second", size * size * out * out * 9);
    in = out;
  }
  expect("net.classifier", 512 * 1000);
}

TEST(LiveTrace, IsTheLastCycleAndOutlivesTheProfiler) {
  std::shared_ptr<const Trace> kept;
  {
    Profiler profiler({.activities = {Activity::cpu}, .profile_memory = true});
    EXPECT_EQ(profiler.trace(), nullptr) << "nothing was recorded yet";
    profiler.start();
    const torch::Tensor first = torch::ones({4});
    profiler.stop();
    kept = profiler.trace();
    EXPECT_EQ(profiler.trace(), kept) << "made once";
    profiler.start();
    profiler.stop();
    EXPECT_NE(profiler.trace(), kept);
  }
  ASSERT_NE(kept, nullptr);
  EXPECT_GT(kept->events().size(), 0U);
  EXPECT_FALSE(kept->memory_argument(Argument::address).empty());
}

TEST(ModuleCosts, OfATransformerAreThoseOfTheModel) {
  torch::manual_seed(0);
  Transformer model;
  constexpr std::uint64_t kLength = 5;
  constexpr std::uint64_t kTexts = 3;
  constexpr std::uint64_t kTokens = kLength * kTexts;
  const auto [live, saved] = trees_of(model, torch::randint(50, {kLength, kTexts}, torch::kLong));
  expect_equal(live, saved);
  expect_parameters(*model, live);
  expect_parameters(*model, saved);
  std::map<std::string, ModuleRow> rows = rows_of(saved);
  const auto expect = [&](const std::string& path, std::uint64_t forward) {
    const ModuleRow& row = rows[path];
    EXPECT_EQ(row.macs - row.backward_macs, 2 * forward) << path;
    EXPECT_EQ(row.backward_macs, 4 * forward) << path;
  };
  expect("net.widen", kTokens * 16 * 64);
  expect("net.head", kTokens * 16 * 50);
  expect("net.narrow", kTokens * 64 * 16);
  expect("net.attention.out_proj", kTokens * 16 * 16);
  // Two heads: scores, and the sums of values that they weigh. Each has two gradients.
  const std::uint64_t pairs = kTexts * 2 * kLength * kLength * 8;
  expect("net.attention", kTokens * 16 * 16 * 4 + 2 * pairs);
}

}  // namespace
}  // namespace tbtrace
