#include "analyses/kernels/families.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "analyses/attribution/communication.h"
#include "analyses/kernels/names.h"
#include "base/characters.h"
#include "symbols/names/function_name.h"

namespace tbtrace::analyses {
namespace {

/// Where a part may be in a name. Words are separated by `_`, by digits and by capitals: `Adam` of
/// `FusedAdamFunctor`.
enum class At : std::uint8_t {
  any,
  start,  ///< of a word: `adam` of `AdamW`, not of `hadamard`
  word,   ///< whole words: `norm` of `qk_norm`, not of `normal`
};

struct FamilyRule {
  std::string_view part;  ///< in lower case
  KernelFamily family;
  At at = At::any;
};

/// The first rule whose part is in the short name decides, else the first whose part is in the
/// name without its parameters.
constexpr std::array kFamilies = std::to_array<FamilyRule>({
    // torch.compile (Inductor): pointwise, reduction, persistent reduction, template and others
    {"triton_", KernelFamily::triton},
    // what inference engines do around attention: vLLM, SGLang, FlashInfer
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
    {"mla", KernelFamily::attention, At::word},
    {"mha", KernelFamily::attention, At::word},
    {"pa_", KernelFamily::attention, At::start},  // paged: `pa_bf16_noquant_a16w16_2tg_g8`
    // DeepSeek's sparse attention, in DeepGEMM
    {"mqa_logits", KernelFamily::attention},
    // FlashAttention, xFormers and CUTLASS, cuDNN, FlashInfer, vLLM, AITER
    {"flash", KernelFamily::attention, At::start},
    {"fmha", KernelFamily::attention},
    {"attention", KernelFamily::attention},
    {"attn", KernelFamily::attention},
    {"sdpa", KernelFamily::attention},
    // ATen's foreach functions, Apex, ATen's fused optimizers
    {"multi_tensor_apply", KernelFamily::optimizer},
    {"adam", KernelFamily::optimizer, At::start},
    {"lamb_", KernelFamily::optimizer},
    {"fusedsgd", KernelFamily::optimizer},
    // FlashInfer's sampling; experts of tokens: vLLM, SGLang, TensorRT-LLM's generated kernels
    {"samplingfrom", KernelFamily::random},
    {"speculativesampling", KernelFamily::random},
    {"topprenorm", KernelFamily::sort},
    {"moe_align", KernelFamily::sort},
    {"moe_fused_gate", KernelFamily::sort},
    {"moe::dev::permute", KernelFamily::embedding},
    {"moe::dev::finalize", KernelFamily::reduction},
    {"moe::dev::activation", KernelFamily::elementwise},
    {"expandinputrows", KernelFamily::embedding},
    {"finalizemoerouting", KernelFamily::reduction},
    {"routing", KernelFamily::sort, At::start},
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
    {"index", KernelFamily::embedding, At::start},
    {"indices", KernelFamily::embedding, At::start},
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
    {"fmoe", KernelFamily::gemm, At::word},
    {"mfma_moe", KernelFamily::gemm},
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
    // after the reductions of ATen's norms
    {"norm", KernelFamily::normalization, At::word},
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
    {"quant", KernelFamily::elementwise, At::word},
    {"repetition_penalt", KernelFamily::elementwise},
});

/// The same for how a name starts. TensorRT-LLM's generated kernels: `bmm_E4m3_E4m3E4m3_Fp32_...`.
constexpr std::array kFamiliesByStart = std::to_array<FamilyRule>({
    {"bmm_", KernelFamily::gemm},
});

/// Parts that name a library, not what the kernel computes: FlashInfer, also without a separator
/// after it (`flashinfernormkernelsrmsnorm`), and how CuTe's Python functions begin
/// (`kernel_cutlass_kernel_quackrmsnorm...`).
constexpr std::array<std::string_view, 2> kLibraryNames = {"flashinfer", "kernel_cutlass_"};

/// CuTe's Python functions go on with the types of their arguments: `CopyAtom`, `TiledMMA`.
constexpr std::array<std::string_view, 2> kCuteArguments = {"_object_at_", "_tensorptr"};

/// What operators launch whose kernels' names do not say it, such as those of MTIA: by the start of
/// the name, the first that fits.
constexpr std::array kFamiliesOfOperators = std::to_array<FamilyRule>({
    {"aten::mm", KernelFamily::gemm},
    {"aten::bmm", KernelFamily::gemm},
    {"aten::addmm", KernelFamily::gemm},
    {"aten::addbmm", KernelFamily::gemm},
    {"aten::baddbmm", KernelFamily::gemm},
    {"aten::matmul", KernelFamily::gemm},
    {"aten::linear", KernelFamily::gemm},
    {"aten::_int_mm", KernelFamily::gemm},
    {"aten::_scaled_mm", KernelFamily::gemm},
    {"aten::_grouped_mm", KernelFamily::gemm},
    {"aten::_scaled_grouped_mm", KernelFamily::gemm},
    {"aten::_addmm_activation", KernelFamily::gemm},
    {"aten::convolution", KernelFamily::convolution},
    {"aten::_convolution", KernelFamily::convolution},
    {"aten::cudnn_convolution", KernelFamily::convolution},
    {"aten::miopen_convolution", KernelFamily::convolution},
    {"aten::mkldnn_convolution", KernelFamily::convolution},
    {"aten::_scaled_dot_product_", KernelFamily::attention},
    {"aten::_flash_attention_", KernelFamily::attention},
    {"aten::_efficient_attention_", KernelFamily::attention},
    {"aten::_softmax", KernelFamily::softmax},
    {"aten::_log_softmax", KernelFamily::softmax},
    {"aten::native_layer_norm", KernelFamily::normalization},
    {"aten::native_batch_norm", KernelFamily::normalization},
    {"aten::native_group_norm", KernelFamily::normalization},
    {"aten::_fused_rms_norm", KernelFamily::normalization},
    {"aten::_fused_adam", KernelFamily::optimizer},
    {"aten::_fused_sgd", KernelFamily::optimizer},
    {"aten::embedding", KernelFamily::embedding},
    {"aten::_embedding_bag", KernelFamily::embedding},
});

struct CoreRule {
  std::string_view part;  ///< in lower case
  bool uses = true;
  At at = At::any;  ///< `sgemm` of `cublasSgemm`, not of `fusedGemm`
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
    {"bwd_preprocess", false},
    {"bwd_postprocess", false},
    {"bwdpreprocess", false},
    {"bwdpostprocess", false},
    {"fwd_combine", false},
    {"fwdcombine", false},
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
    {"umma", true, At::start},
    {"tiledmma"},
    {"fmhasm100"},
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
    {"sgemm", false, At::start},
    {"scudnn", false, At::start},
    {"dgemm", false, At::start},
    {"cgemm", false, At::start},
    {"zgemm", false, At::start},
    {"gemv", false},
    {"dot_kernel", false},
});

/// Double precision and products with vectors gain nothing from half precision's tensor cores.
constexpr std::array kWithoutGain = std::to_array<CoreRule>({
    {"dgemm", false, At::start},
    {"zgemm", false, At::start},
    {"f64", false},
    {"gemv", false},
    {"dot_kernel", false},
});

bool is_of_matrices(KernelFamily family) {
  return family == KernelFamily::gemm || family == KernelFamily::convolution ||
         family == KernelFamily::attention;
}

/// Families whose kernels may use tensor cores, or may be anything.
bool may_use_tensor_cores(KernelFamily family) {
  return is_of_matrices(family) || family == KernelFamily::triton || family == KernelFamily::other;
}

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

bool starts_word(std::string_view text, std::size_t at) {
  if (at == 0 || !is_letter(text[at - 1])) return true;
  const bool goes_on_small = at + 1 < text.size() && !is_capital(text[at + 1]);
  return is_capital(text[at]) && (goes_on_small || !is_capital(text[at - 1]));
}

template <typename Rule>
bool fits(const Rule& rule, std::string_view name, std::string_view lower) {
  for (std::size_t at = lower.find(rule.part); at != std::string_view::npos;
       at = lower.find(rule.part, at + 1)) {
    const std::size_t end = at + rule.part.size();
    if (rule.at != At::any && !starts_word(name, at)) continue;
    if (rule.at == At::word && end < name.size() && !starts_word(name, end) &&
        is_letter(name[end])) {
      continue;
    }
    return true;
  }
  return false;
}

/// The first rule that fits decides.
template <typename Rules>
auto first_rule(const Rules& rules, std::string_view name) {
  const std::string lower = lower_case(name);
  return std::ranges::find_if(rules, [&](const auto& rule) { return fits(rule, name, lower); });
}

/// Without names of libraries, and what is not of the kernel's name.
std::string family_text(std::string_view name) {
  constexpr std::string_view kOfCute = "kernel_cutlass_";
  std::string text(name);
  if (text.starts_with(kOfCute)) {
    for (const std::string_view arguments : kCuteArguments) {
      text.resize(std::min(text.size(), text.find(arguments)));
    }
  }
  for (const std::string_view library : kLibraryNames) {
    for (std::size_t at = 0; (at = text.find(library, at)) != std::string::npos;) {
      text.erase(at, library.size());
    }
  }
  return text;
}

/// Architectures whose matrix kernels all use tensor cores: `bmm_E2m1_..._sm100f`,
/// `MainloopSm100TmaUmma`.
bool is_for_tensor_cores(std::string_view name) {
  constexpr auto kArchitectures = std::to_array<CoreRule>({
      {"sm90", true, At::start},
      {"sm100", true, At::start},
      {"sm103", true, At::start},
      {"sm120", true, At::start},
  });
  return first_rule(kArchitectures, name) != kArchitectures.end();
}

}  // namespace

KernelFamily kernel_family(std::string_view name) {
  if (is_communication_kernel(name)) return KernelFamily::collective;
  const std::string readable = readable_kernel_name(name);
  for (const std::string& text :
       {family_text(short_kernel_name(name)), family_text(without_signature(readable))}) {
    for (const FamilyRule& rule : kFamiliesByStart) {
      if (lower_case(text).starts_with(rule.part)) return rule.family;
    }
    const auto rule = first_rule(kFamilies, text);
    if (rule != kFamilies.end()) return rule->family;
  }
  return KernelFamily::other;
}

KernelFamily operator_family(std::string_view op) {
  for (const FamilyRule& rule : kFamiliesOfOperators) {
    if (op.starts_with(rule.part)) return rule.family;
  }
  return KernelFamily::other;
}

std::optional<bool> uses_tensor_cores(std::string_view name) {
  const auto* const rule = first_rule(kTensorCores, name);
  if (rule != kTensorCores.end()) return rule->uses;
  const KernelFamily family = kernel_family(name);
  if (is_of_matrices(family) && is_for_tensor_cores(name)) return true;
  if (may_use_tensor_cores(family)) return std::nullopt;
  return false;
}

bool gains_from_tensor_cores(std::string_view name) {
  if (first_rule(kWithoutGain, name) != kWithoutGain.end()) return false;
  return is_of_matrices(kernel_family(name));
}

}  // namespace tbtrace::analyses
