#include "analyses/kernels/families.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "analyses/attribution/communication.h"
#include "analyses/kernels/names.h"
#include "base/characters.h"
#include "symbols/names/function_name.h"

namespace tbtrace::analyses {
namespace {

struct FamilyRule {
  std::string_view part;  ///< in lower case
  KernelFamily family;
};

/// The first rule whose part is in the short name decides, else the first whose part is in the
/// name without its parameters.
constexpr std::array kFamilies = std::to_array<FamilyRule>({
    // torch.compile (Inductor): pointwise, reduction, persistent reduction, template and others
    {"triton_", KernelFamily::triton},
    // what serving engines do around attention: vLLM, SGLang, FlashInfer
    {"reshape_and_cache", KernelFamily::copy},
    {"concat_and_cache", KernelFamily::copy},
    {"concat_mla", KernelFamily::copy},
    {"appendpagedkv", KernelFamily::copy},
    {"store_kv", KernelFamily::copy},
    {"kv_buffer", KernelFamily::copy},
    {"kv_indices", KernelFamily::embedding},
    // rotary embeddings compute, they look up nothing: vLLM, FlashInfer, Transformer Engine
    {"rotary", KernelFamily::elementwise},
    {"fused_rope", KernelFamily::elementwise},
    // FlashInfer and AITER, whose names do not say attention
    {"prefillwith", KernelFamily::attention},
    {"decodewith", KernelFamily::attention},
    {"mergestate", KernelFamily::attention},
    {"mla_dec", KernelFamily::attention},
    {"mla_prefill", KernelFamily::attention},
    {"mla_metadata", KernelFamily::attention},
    // FlashAttention, xFormers and CUTLASS, cuDNN, FlashInfer, vLLM, AITER
    {"flash", KernelFamily::attention},
    {"fmha", KernelFamily::attention},
    {"attention", KernelFamily::attention},
    {"attn", KernelFamily::attention},
    {"sdpa", KernelFamily::attention},
    // ATen's foreach functions, Apex, ATen's fused optimizers
    {"multi_tensor_apply", KernelFamily::optimizer},
    {"adam", KernelFamily::optimizer},
    {"lamb_", KernelFamily::optimizer},
    {"fusedsgd", KernelFamily::optimizer},
    // FlashInfer's sampling; experts of tokens: vLLM, SGLang, TensorRT-LLM's generated kernels
    {"samplingfrom", KernelFamily::random},
    {"speculativesampling", KernelFamily::random},
    {"topprenorm", KernelFamily::sort},
    {"moe_align", KernelFamily::sort},
    {"moe_fused_gate", KernelFamily::sort},
    {"moe::dev::routing", KernelFamily::sort},
    {"moe::dev::permute", KernelFamily::embedding},
    {"moe::dev::finalize", KernelFamily::reduction},
    {"moe::dev::activation", KernelFamily::elementwise},
    {"expandinputrows", KernelFamily::embedding},
    {"finalizemoerouting", KernelFamily::reduction},
    {"moe_sum", KernelFamily::reduction},
    {"topk", KernelFamily::sort},
    {"top_k", KernelFamily::sort},
    // ATen's and FBGEMM's indexing and embedding tables
    {"embedding", KernelFamily::embedding},
    {"pooled_emb", KernelFamily::embedding},
    {"implicit_gemm", KernelFamily::convolution},  // may be `_indexed`
    {"kernel_with_index", KernelFamily::elementwise},
    {"scatter", KernelFamily::embedding},
    {"gather", KernelFamily::embedding},
    {"index", KernelFamily::embedding},
    {"indices", KernelFamily::embedding},
    {"permute_2d", KernelFamily::embedding},
    {"permute_1d", KernelFamily::embedding},
    {"permute_indices", KernelFamily::embedding},
    {"offsets_range", KernelFamily::embedding},
    // cuDNN, ATen, Apex, vLLM
    {"layer_norm", KernelFamily::normalization},
    {"layernorm", KernelFamily::normalization},
    {"batch_norm", KernelFamily::normalization},
    {"batchnorm", KernelFamily::normalization},
    {"bn_fw", KernelFamily::normalization},
    {"bn_bw", KernelFamily::normalization},
    {"bnorm", KernelFamily::normalization},
    {"group_norm", KernelFamily::normalization},
    {"groupnorm", KernelFamily::normalization},
    {"instance_norm", KernelFamily::normalization},
    {"rms_norm", KernelFamily::normalization},
    {"rmsnorm", KernelFamily::normalization},
    {"rowwisemoments", KernelFamily::normalization},
    {"gammabeta", KernelFamily::normalization},
    {"softmax", KernelFamily::softmax},
    // ATen's radix and bitonic sorts, CUB
    {"sort", KernelFamily::sort},
    {"kthvalue", KernelFamily::sort},
    {"unique", KernelFamily::sort},
    {"dropout", KernelFamily::random},
    {"distribution", KernelFamily::random},
    {"bernoulli", KernelFamily::random},
    {"philox", KernelFamily::random},
    {"curand", KernelFamily::random},
    {"rocrand", KernelFamily::random},
    {"randperm", KernelFamily::random},
    {"pool", KernelFamily::pooling},
    {"quantize", KernelFamily::elementwise},
    {"qparam", KernelFamily::elementwise},
    {"fp8rowwise", KernelFamily::elementwise},
    // changes of type, and of layout around convolutions of cuDNN
    {"convert", KernelFamily::copy},
    {"nchwtonhwc", KernelFamily::copy},
    {"nhwctonchw", KernelFamily::copy},
    // cuDNN, MIOpen, ATen; before gemm, since many convolutions are implicit ones
    {"fprop", KernelFamily::convolution},
    {"dgrad", KernelFamily::convolution},
    {"wgrad", KernelFamily::convolution},
    {"winograd", KernelFamily::convolution},
    {"implicitgemm", KernelFamily::convolution},
    {"cudnn", KernelFamily::convolution},
    {"convol", KernelFamily::convolution},
    {"conv1", KernelFamily::convolution},
    {"conv2", KernelFamily::convolution},
    {"conv3", KernelFamily::convolution},
    {"conv_", KernelFamily::convolution},
    {"_conv", KernelFamily::convolution},
    {"im2col", KernelFamily::convolution},
    {"col2im", KernelFamily::convolution},
    {"fft2d_", KernelFamily::convolution},
    {"offsetskernel", KernelFamily::convolution},
    {"igemm_", KernelFamily::convolution},
    {"miopen", KernelFamily::convolution},
    // weights in the layout of Marlin and Machete (vLLM)
    {"repack", KernelFamily::copy},
    {"prepack", KernelFamily::copy},
    // losses: Liger, Quack, Apex
    {"cross_entropy", KernelFamily::reduction},
    {"crossentropy", KernelFamily::reduction},
    {"kldiv", KernelFamily::reduction},
    // products for experts: vLLM and SGLang, AITER; of Mamba's chunks
    {"fused_moe_kernel", KernelFamily::gemm},
    {"fmoe_bf16", KernelFamily::gemm},
    {"fmoe_fp16", KernelFamily::gemm},
    {"fmoe_fp8", KernelFamily::gemm},
    {"fmoe_int8", KernelFamily::gemm},
    {"bmm_chunk", KernelFamily::gemm},
    {"machete", KernelFamily::gemm},
    // cuBLAS, cuBLASLt (nvjet), CUTLASS, Tensile, MAGMA, Marlin
    {"gemm", KernelFamily::gemm},
    {"gemv", KernelFamily::gemm},
    {"nvjet", KernelFamily::gemm},
    {"cijk_", KernelFamily::gemm},
    {"cublas", KernelFamily::gemm},
    {"splitk", KernelFamily::gemm},
    {"matmul", KernelFamily::gemm},
    {"dot_kernel", KernelFamily::gemm},
    {"cutlass", KernelFamily::gemm},
    {"marlin", KernelFamily::gemm},
    {"epilogue", KernelFamily::gemm},
    // ATen
    {"copy", KernelFamily::copy},
    {"memcpy", KernelFamily::copy},
    {"memset", KernelFamily::copy},
    {"catarray", KernelFamily::copy},
    {"transpose", KernelFamily::copy},
    {"fillbuffer", KernelFamily::copy},
    {"reduc", KernelFamily::reduction},
    {"sum_functor", KernelFamily::reduction},
    {"nll_loss", KernelFamily::reduction},
    {"nllcriterion", KernelFamily::reduction},
    {"scan", KernelFamily::reduction},
    {"cumsum", KernelFamily::reduction},
    {"argmax", KernelFamily::reduction},
    {"argmin", KernelFamily::reduction},
    {"elementwise", KernelFamily::elementwise},
    {"pointwise", KernelFamily::elementwise},
    {"vectorized", KernelFamily::elementwise},
    {"functor", KernelFamily::elementwise},
    {"add_kernel", KernelFamily::elementwise},
    {"mul_kernel", KernelFamily::elementwise},
    {"scal_kernel", KernelFamily::elementwise},
    {"relu", KernelFamily::elementwise},
    {"gelu", KernelFamily::elementwise},
    {"silu", KernelFamily::elementwise},
    {"act_and_mul", KernelFamily::elementwise},
    {"swiglu", KernelFamily::elementwise},
    {"geglu", KernelFamily::elementwise},
    // quantization of activations: vLLM, SGLang, DeepSeek
    {"fp8_quant", KernelFamily::elementwise},
    {"int8_quant", KernelFamily::elementwise},
    {"fp4_quant", KernelFamily::elementwise},
    {"group_quant", KernelFamily::elementwise},
    {"act_quant", KernelFamily::elementwise},
    {"repetition_penalt", KernelFamily::elementwise},
});

/// The same for how a name starts. TensorRT-LLM's generated kernels: `bmm_E4m3_E4m3E4m3_Fp32_...`.
constexpr std::array kFamiliesByStart = std::to_array<FamilyRule>({
    {"bmm_", KernelFamily::gemm},
});

/// Parts that name a library, not what the kernel computes: FlashInfer's namespace, and how CuTe's
/// Python functions begin (`kernel_cutlass_kernel_quackrmsnorm...`).
constexpr std::array<std::string_view, 2> kLibraryNames = {"flashinfer::", "kernel_cutlass_"};

struct CoreRule {
  std::string_view part;  ///< in lower case
  bool uses = true;
  bool starts_word = false;  ///< `sgemm` of `cublasSgemm`, not of `fusedGemm`
};

/// The first rule whose part is in the name decides.
constexpr std::array kTensorCores = std::to_array<CoreRule>({
    // what belongs to such kernels, or is named like them, but only adds or copies
    {"simt", false},
    {"_ffma", false},
    {"reducesplitk", false},
    {"splitkv_combine", false},
    {"flash_bwd_dot_do_o", false},
    {"flash_bwd_convert", false},
    {"flash_bwd_clear", false},
    {"offsetskernel", false},
    // instruction shapes in names of cuBLAS, cuDNN and CUTLASS: Volta, Turing, Ampere
    {"h884"},
    {"s884"},
    {"h1688"},
    {"s1688"},
    {"c1688"},
    {"i8816"},
    {"16816"},
    {"16832"},
    {"i16864"},
    {"161616"},
    {"hmma"},
    {"imma_"},
    {"wmma"},
    {"_tensorop"},
    {"opclasstensorop"},
    {"tensor16x8x"},
    {"tensor8x8x"},
    // Hopper and Blackwell
    {"gmma"},
    {"nvjet"},
    {"sm90_xmma"},
    {"sm100_xmma"},
    {"sm90_gemm"},
    {"tcgen05"},
    {"deep_gemm"},
    // cuDNN, without an instruction shape in the name
    {"dgrad_1x1_stride_2x2"},
    {"first_layer_wgrad_kernel"},
    {"conv1x1"},
    {"conv2d_c1_k1"},
    {"direct_group"},
    {"xmma_implicit_gemm"},
    {"xmma_sparse_conv"},
    {"xmma_warp_specialized_implicit_gemm"},
    {"xmma_gemm"},
    {"xmma_sparse_gemm"},
    // attention
    {"flash_fwd"},
    {"flash_bwd"},
    {"flash_attn"},
    {"flashattnfwd"},
    {"flashattnbwd"},
    {"fmha_cutlassf_f16"},
    {"fmha_cutlassf_bf16"},
    {"fmha_cutlassb_f16"},
    {"fmha_cutlassb_bf16"},
    {"native_sdpa"},
    {"fmha_v2"},
    // AMD: matrix instructions in names of Tensile, Composable Kernel
    {"mfma"},
    {"_mi16x16x"},
    {"_mi32x32x"},
    {"_mi4x4x"},
    {"_xdl"},
    // names of kernels in single and double precision, and of products with vectors
    {"sgemm", false, true},
    {"scudnn", false, true},
    {"dgemm", false, true},
    {"cgemm", false, true},
    {"zgemm", false, true},
    {"gemv", false},
    {"dot_kernel", false},
});

/// Double precision and products with vectors gain nothing from half precision's tensor cores.
constexpr std::array kWithoutGain = std::to_array<CoreRule>({
    {"dgemm", false, true},
    {"zgemm", false, true},
    {"f64", false},
    {"gemv", false},
    {"dot_kernel", false},
});

/// Families whose kernels may use tensor cores, or may be anything.
bool may_use_tensor_cores(KernelFamily family) {
  return family == KernelFamily::gemm || family == KernelFamily::convolution ||
         family == KernelFamily::attention || family == KernelFamily::triton ||
         family == KernelFamily::other;
}

template <typename Rules>
auto first_rule(const Rules& rules, std::string_view text) {
  return std::find_if(rules.begin(), rules.end(), [&](const auto& rule) {
    return text.find(rule.part) != std::string_view::npos;
  });
}

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

bool starts_word(std::string_view text, std::size_t at) {
  if (at == 0 || !is_letter(text[at - 1])) return true;
  const bool goes_on_small = at + 1 < text.size() && !is_capital(text[at + 1]);
  return is_capital(text[at]) && (goes_on_small || !is_capital(text[at - 1]));
}

bool fits(const CoreRule& rule, std::string_view name, std::string_view lower) {
  for (std::size_t at = lower.find(rule.part); at != std::string_view::npos;
       at = lower.find(rule.part, at + 1)) {
    if (!rule.starts_word || starts_word(name, at)) return true;
  }
  return false;
}

template <typename Rules>
auto first_core_rule(const Rules& rules, std::string_view name) {
  const std::string lower = lower_case(name);
  return std::ranges::find_if(rules, [&](const CoreRule& rule) { return fits(rule, name, lower); });
}

/// In lower case, without names of libraries.
std::string family_text(std::string_view name) {
  std::string text = lower_case(name);
  for (const std::string_view library : kLibraryNames) {
    for (std::size_t at = 0; (at = text.find(library, at)) != std::string::npos;) {
      text.erase(at, library.size());
    }
  }
  return text;
}

}  // namespace

KernelFamily kernel_family(std::string_view name) {
  if (is_communication_kernel(name)) return KernelFamily::collective;
  const std::string readable = readable_kernel_name(name);
  for (const std::string& text :
       {family_text(short_kernel_name(name)), family_text(without_signature(readable))}) {
    for (const FamilyRule& rule : kFamiliesByStart) {
      if (text.starts_with(rule.part)) return rule.family;
    }
    const auto rule = first_rule(kFamilies, text);
    if (rule != kFamilies.end()) return rule->family;
  }
  return KernelFamily::other;
}

std::optional<bool> uses_tensor_cores(std::string_view name) {
  const auto* const rule = first_core_rule(kTensorCores, name);
  if (rule != kTensorCores.end()) return rule->uses;
  if (may_use_tensor_cores(kernel_family(name))) return std::nullopt;
  return false;
}

bool gains_from_tensor_cores(std::string_view name) {
  if (first_core_rule(kWithoutGain, name) != kWithoutGain.end()) return false;
  const KernelFamily family = kernel_family(name);
  return family == KernelFamily::gemm || family == KernelFamily::convolution ||
         family == KernelFamily::attention;
}

}  // namespace tbtrace::analyses
