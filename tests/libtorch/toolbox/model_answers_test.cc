// What model_summary() counts of torchvision's models, against what torchinfo, fvcore and
// flop_counter say of them (tests/data/model_costs.json, made by torch/model_costs_answers.py).
// Each difference has its reason here.
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <simdjson.h>
#include <torch/torch.h>

#include <tbtrace/model_summary.h>

#include "published_models.h"

namespace tbtrace {
namespace {

constexpr std::uint64_t kImageConvolution = 118013952;  // ResNet's first one

std::uint64_t number(simdjson::simdjson_result<simdjson::dom::element> element) {
  return element.get_uint64();
}

class Answers {
 public:
  explicit Answers(std::string_view model)
      : json_(simdjson::padded_string::load(TBTRACE_TEST_DATA "/model_costs.json")),
        model_(parser_.parse(json_)["models"][model]) {}

  simdjson::dom::element operator[](std::string_view tool) const { return model_[tool]; }
  std::uint64_t number(std::string_view tool, std::string_view key) const {
    return model_[tool][key].get_uint64();
  }
  /// Of fvcore, multiply-adds of an operator.
  std::uint64_t fvcore(std::string_view name) const {
    return model_["fvcore"]["by_operator"][name].get_uint64();
  }

 private:
  simdjson::padded_string json_;
  simdjson::dom::parser parser_;
  simdjson::dom::element model_;
};

/// Layer by layer, and in all.
template <typename Model>
void expect_answers(const Model& model, const Answers& answers) {
  const ModelSummary summary =
      model_summary(*model, {torch::randn({1, 3, 224, 224})}, {.depth = 10, .warmup = 0});
  const std::uint64_t macs = summary.total().macs.value();
  EXPECT_EQ(summary.total().parameters, answers.number("torchinfo", "parameters"));
  EXPECT_EQ(summary.total().trainable_parameters, answers.number("torchinfo", "trainable"));
  EXPECT_EQ(2 * macs, answers.number("flop_counter", "forward"));
  // fvcore counts norms and pooling as well.
  EXPECT_EQ(macs, answers.fvcore("conv") + answers.fvcore("linear"));

  std::uint64_t no_products = 0;
  std::uint64_t compared = 0;
  const simdjson::dom::object layers = answers["torchinfo"]["layers"];
  for (const auto& [path, row] : layers) {
    const std::uint64_t parameters = number(row.at(0));
    const std::uint64_t mult_adds = number(row.at(1));
    if (parameters == 0) continue;
    const LayerCost* const layer = summary.layer(path);
    ASSERT_NE(layer, nullptr) << path;
    EXPECT_EQ(layer->parameters, parameters) << path;
    if (layer->type == "BatchNorm2d") {
      // torchinfo counts a multiply-add for each parameter of a norm, which multiplies no matrices.
      EXPECT_EQ(layer->macs, 0U) << path;
      EXPECT_EQ(mult_adds, parameters) << path;
      no_products += mult_adds;
    } else {
      // And one for each element of a bias.
      const std::uint64_t bias = layer->type == "Linear" ? 1000 : 0;
      EXPECT_EQ(layer->macs.value() + bias, mult_adds) << path;
      EXPECT_EQ(layer->macs.value(), number(answers["fvcore"]["by_module"][path])) << path;
      no_products += bias;
    }
    ++compared;
  }
  EXPECT_GT(compared, 40U);
  EXPECT_EQ(macs + no_products, answers.number("torchinfo", "mult_adds"));
}

/// A training step of two images.
template <typename Model>
void expect_step(const Model& model, const Answers& answers) {
  const torch::Tensor images = torch::randn({2, 3, 224, 224});
  model->train();
  const ModelSummary summary = model_summary(
      *model, [&] { model->forward(images).sum().backward(); }, {.depth = 1, .warmup = 0});
  EXPECT_EQ(2 * summary.total().macs.value(), answers.number("flop_counter", "step_of_two"));
}

TEST(ModelAnswers, OfResNet18) {
  const Answers answers("resnet18");
  const auto model = published::resnet18();
  expect_answers(model, answers);
  expect_step(model, answers);
  EXPECT_EQ(answers.number("flop_counter", "step_of_two") / 4,
            3 * answers.number("flop_counter", "forward") / 2 - kImageConvolution);
}

TEST(ModelAnswers, OfResNet50) {
  const Answers answers("resnet50");
  expect_answers(published::resnet50(), answers);
  // ModelSummary.CountsResNet50AndItsTraining counts a step of one image.
  EXPECT_EQ(answers.number("flop_counter", "step_of_two"), 4 * 12149538816U);
}

TEST(ModelAnswers, OfVisionTransformer) {
  const Answers answers("vit_b_16");
  published::VisionTransformer model;
  const ModelSummary summary =
      model_summary(model, {torch::randn({1, 3, 224, 224})}, {.depth = 10, .warmup = 0});
  EXPECT_EQ(summary.total().parameters, answers.number("torchinfo", "parameters"));
  const std::uint64_t macs = summary.total().macs.value();
  constexpr std::uint64_t kTokens = 197;
  constexpr std::uint64_t kWidth = 768;
  constexpr std::uint64_t kLayers = 12;
  // fvcore has no rule for the one operator that computes attention, and says so.
  constexpr std::uint64_t kAttention = kLayers * 2 * kTokens * kTokens * kWidth;
  static_assert(kAttention == 715327488);
  EXPECT_EQ(macs, 17563828224U);
  EXPECT_EQ(macs - kAttention, answers.fvcore("conv") + answers.fvcore("linear"));
  EXPECT_EQ(number(answers["fvcore"]["unsupported"]["aten::scaled_dot_product_attention"]),
            kLayers);
  // flop_counter has none for it on the host either, nor for the one that in eval mode has the
  // projections in it.
  constexpr std::uint64_t kProjections = kLayers * 4 * kTokens * kWidth * kWidth;
  EXPECT_EQ(2 * (macs - kAttention - kProjections), answers.number("flop_counter", "forward"));
  // torchinfo counts a linear layer once for an image, not for each of its tokens, and leaves
  // attention out. The head has one token; its bias counts.
  const simdjson::dom::element first =
      answers["torchinfo"]["layers"]["encoder.layers.encoder_layer_0.mlp.0"];
  const LayerCost* const layer = summary.layer("encoder.0.mlp.0");
  ASSERT_NE(layer, nullptr);
  EXPECT_EQ(layer->parameters, number(first.at(0)));
  EXPECT_EQ(layer->macs, kTokens * (number(first.at(1)) - 3072));
  const LayerCost* const attention = summary.layer("encoder.3.self_attention");
  ASSERT_NE(attention, nullptr);
  EXPECT_EQ(attention->macs, kTokens * kWidth * kWidth * 4 + kAttention / kLayers);
  EXPECT_EQ(summary.layer("encoder.3")->calls, 1U);
  EXPECT_TRUE(summary.uncounted.empty()) << summary.table({.style = "operators"});
}

}  // namespace
}  // namespace tbtrace
