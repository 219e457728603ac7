#include "analyses/modules/weight_rules.h"

#include <algorithm>

namespace tbtrace::analyses {
namespace {

// The arguments are those of torch's schemas from 1.8 to 2.14, which a test compares them with
// (tests/data/operator_schemas.tsv).
constexpr std::array kWeightRules = std::to_array<WeightRule>({
    {"aten::linear", {1, 2}},
    {"aten::addmm", {0, 2}},
    {"aten::conv1d", {1, 2}},
    {"aten::conv2d", {1, 2}},
    {"aten::conv3d", {1, 2}},
    {"aten::conv_transpose1d", {1, 2}},
    {"aten::conv_transpose2d", {1, 2}},
    {"aten::conv_transpose3d", {1, 2}},
    {"aten::convolution", {1, 2}},
    {"aten::batch_norm", {1, 2}},
    {"aten::instance_norm", {1, 2}},
    {"aten::layer_norm", {2, 3}},
    {"aten::group_norm", {2, 3}},
    {"aten::rms_norm", {2, -1}},
    {"aten::embedding", {0, -1}},
    {"aten::embedding_bag", {0, -1}},
    {"aten::prelu", {1, -1}},
    {"aten::bilinear", {2, 3}},
});

}  // namespace

std::span<const WeightRule> weight_rules() { return kWeightRules; }

const WeightRule* weight_rule(std::string_view name) {
  const auto* const found = std::ranges::find(kWeightRules, name, &WeightRule::name);
  return found == kWeightRules.end() ? nullptr : found;
}

}  // namespace tbtrace::analyses
