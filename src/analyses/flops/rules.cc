#include "analyses/flops/rules.h"

#include <algorithm>
#include <vector>

#include "analyses/attribution/operator_names.h"

namespace tbtrace::analyses {
namespace {

using F = FlopFormula;

constexpr bool kFallback = true;
constexpr bool kMayAdd = true;

// The positions are those of torch's schemas from 1.8 to 2.14, which a test compares them with
// (tests/data/operator_schemas.tsv). flash_attn: flash_attn/flash_attn_interface.py of 2.7.
// Formulas: torch/utils/flop_counter.py counts products, convolutions and attention the same way.
constexpr std::array kFlopRules = std::to_array<FlopRule>({
    // Products of matrices and vectors.
    {"aten::mm", F::product, {0, 1}},
    {"aten::addmm", F::product, {1, 2}},
    {"aten::addmm_", F::product, {1, 2}},
    {"aten::_addmm_activation", F::product, {1, 2}},
    {"aten::bmm", F::product, {0, 1}},
    {"aten::baddbmm", F::product, {1, 2}},
    {"aten::baddbmm_", F::product, {1, 2}},
    {"aten::addbmm", F::product, {1, 2}},
    {"aten::addbmm_", F::product, {1, 2}},
    {"aten::mv", F::product, {0, 1}},
    {"aten::addmv", F::product, {1, 2}},
    {"aten::addmv_", F::product, {1, 2}},
    {"aten::dot", F::product, {0, 1}},
    {"aten::vdot", F::product, {0, 1}},
    {"aten::_scaled_mm", F::product, {0, 1}},
    {"aten::_scaled_mm_v2", F::product, {0, 1}},
    {"aten::_int_mm", F::product, {0, 1}},
    {"aten::_grouped_mm", F::grouped, {0, 1}},
    {"aten::_scaled_grouped_mm", F::grouped, {0, 1}},
    {"aten::_scaled_grouped_mm_v2", F::grouped, {0, 1}},
    {"aten::ger", F::outer, {0, 1}, kFallback},
    {"aten::outer", F::outer, {0, 1}, kFallback},
    {"aten::addr", F::outer, {1, 2}, kFallback},
    {"aten::matmul", F::product, {0, 1}, kFallback},
    {"aten::linear", F::linear, {0, 1}, kFallback},
    {"aten::mkldnn_linear", F::linear, {0, 1}, kFallback},
    {"aten::_weight_int8pack_mm", F::linear, {0, 1}},
    {"mkl::_mkl_linear", F::linear, {0, 2}, kFallback},
    {"mkldnn::_linear_pointwise", F::linear, {0, 1}, kFallback, kMayAdd},

    // Convolutions: the outermost one whose sizes are known counts.
    {"aten::convolution", F::convolution, {0, 1, 3, 4, 5, 6, 7, 8}},
    {"aten::_convolution", F::convolution, {0, 1, 3, 4, 5, 6, 7, 8}},
    {"aten::convolution_overrideable", F::convolution, {0, 1, 3, 4, 5, 6, 7, 8}},
    {"aten::conv1d", F::convolution, {0, 1, 3, 4, 5, -1, -1, 6}},
    {"aten::conv2d", F::convolution, {0, 1, 3, 4, 5, -1, -1, 6}},
    {"aten::conv3d", F::convolution, {0, 1, 3, 4, 5, -1, -1, 6}},
    {"aten::_convolution_mode", F::convolution, {0, 1, 3, 4, 5, -1, -1, 6}},
    {"aten::cudnn_convolution", F::convolution, {0, 1, 3, 2, 4, -1, -1, 5}},
    {"aten::cudnn_convolution_relu", F::convolution, {0, 1, 3, 4, 5, -1, -1, 6}},
    {"aten::cudnn_convolution_add_relu", F::convolution, {0, 1, 5, 6, 7, -1, -1, 8}},
    {"aten::mkldnn_convolution", F::convolution, {0, 1, 4, 3, 5, -1, -1, 6}},
    {"mkldnn::_convolution_pointwise",
     F::convolution,
     {0, 1, 4, 3, 5, -1, -1, 6},
     !kFallback,
     kMayAdd},
    {"mkldnn::_convolution_pointwise_", F::convolution, {1, 2, 5, 4, 6, -1, -1, 7}},
    {"aten::miopen_convolution", F::convolution, {0, 1, 4, 3, 5, -1, -1, 6}},
    {"aten::miopen_convolution_relu", F::convolution, {0, 1, 3, 4, 5, -1, -1, 6}},
    {"aten::miopen_convolution_add_relu", F::convolution, {0, 1, 5, 6, 7, -1, -1, 8}},
    {"aten::miopen_depthwise_convolution", F::convolution, {0, 1, 4, 3, 5, -1, -1, 6}},
    {"aten::thnn_conv2d", F::convolution, {0, 1, 4, 5, -1, -1, -1, -1}},
    {"aten::_slow_conv2d_forward", F::convolution, {0, 1, 4, 5, -1, -1, -1, -1}},
    {"aten::slow_conv3d", F::convolution, {0, 1, 4, 5, -1, -1, -1, -1}},
    {"aten::slow_conv3d_forward", F::convolution, {0, 1, 4, 5, -1, -1, -1, -1}},
    {"aten::slow_conv_dilated2d", F::convolution, {0, 1, 4, 5, 6, -1, -1, -1}},
    {"aten::slow_conv_dilated3d", F::convolution, {0, 1, 4, 5, 6, -1, -1, -1}},
    {"aten::_conv_depthwise2d", F::convolution, {0, 1, 4, 5, 6, -1, -1, -1}},
    {"aten::thnn_conv_depthwise2d", F::convolution, {0, 1, 4, 5, 6, -1, -1, -1}},
    {"aten::conv_depthwise3d", F::convolution, {0, 1, 4, 5, 6, -1, -1, -1}},
    {"aten::conv_transpose1d", F::transposed, {0, 1, 3, 4, 7, -1, 5, 6}},
    {"aten::conv_transpose2d", F::transposed, {0, 1, 3, 4, 7, -1, 5, 6}},
    {"aten::conv_transpose3d", F::transposed, {0, 1, 3, 4, 7, -1, 5, 6}},
    {"aten::cudnn_convolution_transpose", F::transposed, {0, 1, 4, 2, 5, -1, 3, 6}},
    {"aten::miopen_convolution_transpose", F::transposed, {0, 1, 5, 3, 6, -1, 4, 7}},
    {"mkldnn::_convolution_transpose_pointwise", F::transposed_packed, {0, 1, 5, 3, 6, -1, 4, 7}},
    {"aten::slow_conv_transpose2d", F::transposed, {0, 1, 4, 5, 7, -1, 6, -1}},
    {"aten::slow_conv_transpose3d", F::transposed, {0, 1, 4, 5, 7, -1, 6, -1}},

    // Gradients of convolutions. 1.11 and later.
    {"aten::convolution_backward", F::gradients, {0, 1, 2, 7, 10, 9}},
    {"aten::convolution_backward_overrideable", F::gradients, {0, 1, 2, 6, 9, 8}},
    {"aten::_slow_conv2d_backward", F::gradients, {0, 1, 2, -1, -1, -1}},  // 1.10 and later
    // Before 1.11. Input and gradient are the other way round, and without values the operators
    // inside tell which gradients there were.
    {"aten::cudnn_convolution_backward", F::gradients, {1, 0, 2, -1, 10, 6}},
    {"aten::cudnn_convolution_backward_input", F::input_gradient, {1, 0, 2}},
    {"aten::cudnn_convolution_backward_weight", F::weight_gradient, {1, 2, 0}},
    {"aten::cudnn_convolution_transpose_backward", F::transposed_gradients, {1, 0, 2, -1, 11, 7}},
    {"aten::cudnn_convolution_transpose_backward_input", F::transposed_input_gradient, {0, -1, 1}},
    {"aten::cudnn_convolution_transpose_backward_weight", F::transposed_weight_gradient, {1, 2, 0}},
    {"aten::mkldnn_convolution_backward", F::gradients, {1, 0, 2, -1, 7, 6}},
    {"aten::mkldnn_convolution_backward_input", F::input_gradient, {1, 0, 2}},
    {"aten::mkldnn_convolution_backward_weights", F::weight_gradient, {1, 2, 0}},
    {"aten::miopen_convolution_backward", F::gradients, {1, 0, 2, -1, 9, 6}},
    {"aten::miopen_convolution_backward_input", F::input_gradient, {1, 0, 2}},
    {"aten::miopen_convolution_backward_weight", F::weight_gradient, {1, 2, 0}},
    {"aten::miopen_convolution_transpose_backward", F::transposed_gradients, {1, 0, 2, -1, 10, 7}},
    {"aten::miopen_depthwise_convolution_backward", F::gradients, {1, 0, 2, -1, 9, 6}},
    {"aten::miopen_depthwise_convolution_backward_input", F::input_gradient, {1, 0, 2}},
    {"aten::miopen_depthwise_convolution_backward_weight", F::weight_gradient, {1, 2, 0}},
    {"aten::thnn_conv2d_backward", F::gradients, {0, 1, 2, -1, 8, -1}},
    {"aten::slow_conv3d_backward", F::gradients, {0, 1, 2, -1, 8, -1}},
    {"aten::slow_conv_dilated2d_backward", F::gradients, {0, 1, 2, -1, 7, -1}},
    {"aten::slow_conv_dilated3d_backward", F::gradients, {0, 1, 2, -1, 7, -1}},
    {"aten::slow_conv_transpose2d_backward", F::transposed_gradients, {0, 1, 2, -1, -1, -1}},
    {"aten::slow_conv_transpose3d_backward", F::transposed_gradients, {0, 1, 2, -1, -1, -1}},

    // Attention, as 2 or 5 products; a causal mask does not halve them. Implementations inside
    // another do not count again. torch.nn.functional.scaled_dot_product_attention and its
    // unfused implementation contain the products that they compute.
    {"aten::scaled_dot_product_attention", F::attention, {0, 1, 2}, kFallback},
    {"aten::_scaled_dot_product_attention_math", F::attention, {0, 1, 2}, kFallback},
    {"aten::_scaled_dot_product_flash_attention", F::attention, {0, 1, 2}},
    {"aten::_scaled_dot_product_flash_attention_for_cpu", F::attention, {0, 1, 2}},
    {"aten::_scaled_dot_product_efficient_attention", F::attention, {0, 1, 2}},
    {"aten::_scaled_dot_product_cudnn_attention", F::attention, {0, 1, 2}},
    {"aten::_scaled_dot_product_fused_attention_overrideable", F::attention, {0, 1, 2}},
    {"aten::_flash_attention_forward", F::attention_by_sequence, {0, 1, 2, 3}},
    {"aten::_efficient_attention_forward", F::attention_by_sequence, {0, 1, 2, 4}},
    {"flash_attn::_flash_attn_forward", F::attention_by_sequence, {0, 1, 2, -1}},
    {"aten::_scaled_dot_product_flash_attention_backward", F::attention_gradients, {1, 2, 3}},
    {"aten::_scaled_dot_product_flash_attention_for_cpu_backward",
     F::attention_gradients,
     {1, 2, 3}},
    {"aten::_scaled_dot_product_efficient_attention_backward", F::attention_gradients, {1, 2, 3}},
    {"aten::_scaled_dot_product_cudnn_attention_backward", F::attention_gradients, {1, 2, 3}},
    {"aten::_scaled_dot_product_fused_attention_overrideable_backward",
     F::attention_gradients,
     {1, 2, 3}},
    {"aten::_flash_attention_backward", F::attention_gradients_by_sequence, {1, 2, 3, 6}},
    {"aten::_efficient_attention_backward", F::attention_gradients_by_sequence, {1, 2, 3, 6}},
    {"flash_attn::_flash_attn_backward", F::attention_gradients_by_sequence, {1, 2, 3, -1}},

    // Recurrent layers. The values of _cudnn_rnn are those of 1.8 and later.
    {"aten::_cudnn_rnn", F::recurrent, {0, 1, 6, 7, 8, 9, 13}},
    {"aten::miopen_rnn", F::recurrent, {0, 1, -1, -1, -1, -1, -1}},
    {"aten::mkldnn_rnn_layer", F::recurrent_layer, {0, 1, 2}},
    {"aten::lstm", F::recurrent, {0, -1, -1, -1, -1, -1, -1}, kFallback},
    {"aten::gru", F::recurrent, {0, -1, -1, -1, -1, -1, -1}, kFallback},
    {"aten::rnn_tanh", F::recurrent, {0, -1, -1, -1, -1, -1, -1}, kFallback},
    {"aten::rnn_relu", F::recurrent, {0, -1, -1, -1, -1, -1, -1}, kFallback},
    {"aten::_cudnn_rnn_backward", F::recurrent_gradients, {0, 1, -1}},
    {"aten::miopen_rnn_backward", F::recurrent_gradients, {0, 1, -1}},
    {"aten::mkldnn_rnn_layer_backward", F::recurrent_layer_gradients, {0, 1, 2}},
});

struct SamplesRule {
  std::string_view name;
  int position;
};

constexpr std::array kSamples = std::to_array<SamplesRule>({
    {"aten::conv1d", 0},
    {"aten::conv2d", 0},
    {"aten::conv3d", 0},
    {"aten::convolution", 0},
    {"aten::_convolution", 0},
    {"aten::cudnn_convolution", 0},
    {"aten::mkldnn_convolution", 0},
    {"aten::miopen_convolution", 0},
    {"aten::linear", 0},
    {"aten::addmm", 1},
    {"aten::embedding", 1},
});

/// The rules by name.
const std::vector<const FlopRule*>& sorted_rules() {
  static const std::vector<const FlopRule*> sorted = [] {
    std::vector<const FlopRule*> rules;
    rules.reserve(kFlopRules.size());
    for (const FlopRule& rule : kFlopRules) rules.push_back(&rule);
    std::sort(rules.begin(), rules.end(),
              [](const FlopRule* one, const FlopRule* two) { return one->name < two->name; });
    return rules;
  }();
  return sorted;
}

}  // namespace

std::span<const FlopRule> flop_rules() { return kFlopRules; }

const FlopRule* flop_rule(std::string_view name) {
  name = without_overload(name);
  const std::vector<const FlopRule*>& rules = sorted_rules();
  const auto found =
      std::lower_bound(rules.begin(), rules.end(), name,
                       [](const FlopRule* rule, std::string_view key) { return rule->name < key; });
  return found != rules.end() && (*found)->name == name ? *found : nullptr;
}

int position_of_samples(std::string_view name) {
  name = without_overload(name);
  const auto* found = std::find_if(kSamples.begin(), kSamples.end(),
                                   [&](const SamplesRule& rule) { return rule.name == name; });
  return found == kSamples.end() ? -1 : found->position;
}

}  // namespace tbtrace::analyses
