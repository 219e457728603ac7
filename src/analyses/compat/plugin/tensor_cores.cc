#include "analyses/compat/plugin/tensor_cores.h"

#include <algorithm>
#include <array>

namespace tbtrace::analyses {
namespace {

/// Source: TC_Allowlist of torch-tb-profiler (kineto tb_plugin, profiler/tensor_core.py).
constexpr std::array<std::string_view, 18> kPluginTensorCores = {
    "h884",
    "s884",
    "h1688",
    "s1688",
    "hmma",
    "i8816",
    "16816",
    "dgrad_1x1_stride_2x2",
    "first_layer_wgrad_kernel",
    "conv1x1",
    "conv2d_c1_k1",
    "direct_group",
    "xmma_implicit_gemm",
    "xmma_sparse_conv",
    "xmma_warp_specialized_implicit_gemm",
    "xmma_gemm",
    "xmma_sparse_gemm",
    "c1688"};

/// Source: TC_OP_Allowlist of torch-tb-profiler, which has torch's list for autocast.
constexpr auto kPluginOperators = std::to_array<std::string_view>({
    "aten::_convolution",
    "aten::conv1d",
    "aten::conv2d",
    "aten::conv3d",
    "aten::conv_tbc",
    "aten::conv_transpose1d",
    "aten::conv_transpose2d",
    "aten::conv_transpose3d",
    "aten::convolution",
    "aten::cudnn_convolution",
    "aten::cudnn_convolution_transpose",
    "aten::prelu",
    "aten::addmm",
    "aten::addmv",
    "aten::addr",
    "aten::matmul",
    "aten::mm",
    "aten::mv",
    "aten::linear",
    "aten::addbmm",
    "aten::baddbmm",
    "aten::bmm",
    "aten::chain_matmul",
    "aten::linalg_multi_dot",
    "aten::_thnn_fused_lstm_cell",
    "aten::_thnn_fused_gru_cell",
    "aten::lstm_cell",
    "aten::gru_cell",
    "aten::rnn_tanh_cell",
    "aten::rnn_relu_cell",
    "CudnnConvolutionBackward",
    "BmmBackward0",
    "aten::cudnn_convolution_transpose_backward",
    "CudnnConvolutionTransposeBackward",
    "MmBackward",
    "aten::cudnn_convolution_backward_weight",
    "aten::addmm_",
    "AddmvBackward",
    "MvBackward",
    "aten::cudnn_convolution_transpose_backward_weight",
    "aten::cudnn_convolution_transpose_backward_input",
    "AddmmBackward",
    "aten::cudnn_convolution_backward_input",
    "AddbmmBackward",
    "aten::cudnn_convolution_backward",
});

}  // namespace

bool uses_tensor_cores_in_plugin(std::string_view kernel) {
  return std::any_of(
      kPluginTensorCores.begin(), kPluginTensorCores.end(),
      [&](std::string_view part) { return kernel.find(part) != std::string_view::npos; });
}

bool is_eligible_in_plugin(std::string_view op) {
  return std::find(kPluginOperators.begin(), kPluginOperators.end(), op) != kPluginOperators.end();
}

}  // namespace tbtrace::analyses
