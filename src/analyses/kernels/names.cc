#include "analyses/kernels/names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "base/characters.h"
#include "base/utf8.h"
#include "symbols/names/demangle.h"
#include "symbols/names/function_name.h"

namespace tbtrace::analyses {
namespace {

constexpr std::size_t kLongestReadable = std::size_t{1} << 16;  // bytes
constexpr std::size_t kLongestShort = 100;                      // characters

/// Functions whose own name says nothing: what they run is a template argument, or their namespace.
/// Source: CUTLASS (device_kernel.h), Composable Kernel (ck_tile/host/kernel_launch.hpp), cuBLAS,
/// rocPRIM (trampoline_kernel), Thrust and CUB (_kernel_agent, static_kernel).
constexpr std::array<std::string_view, 10> kGenericFunctions = {
    "Kernel",        "Kernel2",        "kernel", "device_kernel",
    "globalKernel",  "cutlass_kernel", "kentry", "trampoline_kernel",
    "_kernel_agent", "static_kernel"};

/// Template arguments that do not say what a kernel computes. Source: ATen/native/cuda (Loops.cuh,
/// Reduce.cuh, MultiTensorApply.cuh, ForeachFunctors.cuh, IndexKernel.cu), CUTLASS, cuBLAS,
/// rocPRIM.
constexpr auto kPlumbing = std::to_array<std::string_view>({
    "AUnaryFunctor",
    "Array",
    "ArrayRef",
    "BFloat16",
    "BUnaryFunctor",
    "BinaryFunctor",
    "BinaryOpListAlphaFunctor",
    "BinaryOpScalarFunctor",
    "BinaryOpScalarListFunctor",
    "Half",
    "LoadWithoutCast",
    "LoadWithCast",
    "OffsetCalculator",
    "OpaqueType",
    "PointwiseOpScalarFunctor",
    "PointwiseOpScalarListFunctor",
    "ReduceOp",
    "Scalar",
    "StoreWithCast",
    "StoreWithoutCast",
    "Tensor",
    "TensorInfo",
    "TensorIterator",
    "TensorIteratorBase",
    "TensorListMetadata",
    "TensorListScalarListMetadata",
    "TrivialOffsetCalculator",
    "UnaryOpFunctor",
    "__half",
    "__half2",
    "__nv_bfloat16",
    "_cuda_scatter_gather_internal_kernel",
    "anonymous",
    "array",
    "bfloat16_t",
    "bool",
    "char",
    "complex",
    "const",
    "decltype",
    "default_config",
    "double",
    "false",
    "float",
    "float2",
    "float4",
    "func_wrapper_t",
    "gpu_index_kernel",
    "gpu_kernel",
    "gpu_kernel_impl",
    "gpu_kernel_impl_nocast",
    "half_t",
    "int",
    "lambda",
    "long",
    "namespace",
    "nullptr",
    "operator",
    "short",
    "signed",
    "true",
    "unsigned",
    "void",
});
constexpr std::array<std::string_view, 5> kPlumbingEnds = {"Params", "StridedBatched", "_traits",
                                                           "Type_t", "DataType_t"};

bool is_name_start(char c) { return is_letter(c) || c == '_'; }

template <typename List>
bool contains(const List& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

/// Compiles a kernel for some architectures only, and is empty for others: `enable_sm90_or_later`,
/// `enable_sm80_to_sm89`, `enable_3x_kernel_for_sm9x`. Source: FlashAttention 3, vLLM, SGLang,
/// ATen.
bool is_architecture_guard(std::string_view identifier) {
  if (!identifier.starts_with("enable_")) return false;
  const std::size_t architecture = identifier.find("_sm");
  return architecture != std::string_view::npos && architecture + 3 < identifier.size() &&
         is_digit(identifier[architecture + 3]);
}

/// How a library tunes a kernel: `wrapped_radix_sort_block_sort_config` of rocPRIM,
/// `policy_hub_t` and `policy_500_t` of CUB.
bool is_tuning(std::string_view identifier) {
  return (identifier.starts_with("wrapped_") && identifier.ends_with("_config")) ||
         (identifier.starts_with("policy_") && identifier.ends_with("_t"));
}

bool is_plumbing(std::string_view identifier) {
  return contains(kPlumbing, identifier) || is_architecture_guard(identifier) ||
         is_tuning(identifier) ||
         std::any_of(kPlumbingEnds.begin(), kPlumbingEnds.end(),
                     [&](std::string_view end) { return identifier.ends_with(end); });
}

/// The first identifier that says what is computed; empty if none does. Of `a::b::c` only `c` is
/// looked at.
std::string_view operation_in(std::string_view arguments) {
  for (std::size_t at = 0; at < arguments.size();) {
    if (is_digit(arguments[at])) {  // a number with its suffix, `3ul`
      while (at < arguments.size() && (is_digit(arguments[at]) || is_name_start(arguments[at])))
        ++at;
      continue;
    }
    if (!is_name_start(arguments[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < arguments.size() && (is_name_start(arguments[end]) || is_digit(arguments[end])))
      ++end;
    const std::string_view identifier = arguments.substr(at, end - at);
    const bool is_namespace = arguments.substr(end, 2) == "::";
    if (!is_namespace && !is_plumbing(identifier)) return identifier;
    at = end;
  }
  return {};
}

/// Without the result type: what follows the last blank that is in no brackets.
std::string_view without_result(std::string_view name) {
  std::size_t depth = 0;
  std::size_t start = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char c = name[at];
    if (c == '<' || c == '(' || c == '{') ++depth;
    if ((c == '>' || c == ')' || c == '}') && depth > 0) --depth;
    if (c == ' ' && depth == 0) start = at + 1;
  }
  return start < name.size() ? name.substr(start) : name;
}

/// A run of digits and `x`, such as `128x128x16`, from `at` on.
std::size_t after_sizes(std::string_view name, std::size_t at) {
  while (at < name.size() && (is_digit(name[at]) || name[at] == 'x')) ++at;
  return at;
}

/// AMD's Tensile encodes all parameters of a kernel in its name; the problem's layout and type, and
/// the macro tile, are what people look for: `Cijk_Ailk_Bjlk_SB_MT64x16x16`.
std::string tensile_name(std::string_view name) {
  const std::size_t tile = name.find("_MT");
  std::size_t type_end = 0;
  for (int part = 0; part < 4 && type_end != std::string_view::npos; ++part) {
    type_end = name.find('_', type_end == 0 ? 0 : type_end + 1);
  }
  if (tile == std::string_view::npos || type_end == std::string_view::npos || type_end > tile) {
    return std::string(name);
  }
  const std::size_t end = after_sizes(name, tile + 3);
  return std::string(name.substr(0, type_end)).append(name.substr(tile, end - tile));
}

/// Generated names go on with stages, warps and alignments after the tile size.
std::string_view without_tuning(std::string_view name) {
  constexpr std::string_view kTile = "_tilesize";
  const std::size_t tile = name.find(kTile);
  if (tile == std::string_view::npos) return name;
  return name.substr(0, after_sizes(name, tile + kTile.size()));
}

/// Without what stands in brackets after the function: ` [clone .kd]` of AMD's compiler, or
/// unitrace's sizes, `[SIMD16 {256; 1; 1}]`.
std::string_view without_suffixes(std::string_view name) {
  for (;;) {
    const std::size_t bracket = name.ends_with(']') ? name.rfind('[') : 0;
    if (bracket == 0 || bracket == std::string_view::npos) return name;
    name = name.substr(0, bracket);
    while (name.ends_with(' ')) name.remove_suffix(1);
  }
}

/// The function with its template arguments, but without result type, namespaces and parameters.
std::string_view function_of(std::string_view readable) {
  return without_namespaces(without_result(without_signature(readable)));
}

/// `gemvx::kernel` of `internal::gemvx::kernel<int>`.
std::string_view with_last_namespace(std::string_view readable) {
  const std::string_view whole =
      without_template_arguments(without_result(without_signature(readable)));
  const std::size_t last = whole.rfind("::");
  if (last == std::string_view::npos || last == 0) return whole;
  const std::size_t before = whole.rfind("::", last - 1);
  return before == std::string_view::npos ? whole : whole.substr(before + 2);
}

std::string short_form(std::string_view whole_name) {
  const std::string_view readable = without_suffixes(whole_name);
  if (readable.starts_with("Cijk_")) return tensile_name(readable);
  // `Memcpy HtoD (Pageable -> Device)` is not a function.
  if (without_signature(readable).ends_with(' ')) return std::string(readable);
  const std::string_view whole = function_of(readable);
  const std::string_view function = without_tuning(without_template_arguments(whole));
  const std::string_view operation = operation_in(template_arguments(whole));
  if (function.empty()) return std::string(readable);
  if (contains(kGenericFunctions, function)) {
    return std::string(operation.empty() ? with_last_namespace(readable) : operation);
  }
  std::string name(function);
  if (!operation.empty()) name.append("<").append(operation).append(">");
  return name;
}

/// The types that the operation works on: its template arguments, or the parameters of the
/// innermost lambda in it. Empty if there are none, or too many to read.
std::string_view types_after(std::string_view operation, std::string_view arguments) {
  constexpr std::size_t kMost = 40;
  constexpr std::string_view kLambda = "{lambda(";
  const auto start = static_cast<std::size_t>(operation.data() - arguments.data());
  const std::string_view rest = arguments.substr(start + operation.size());
  std::string_view types;
  if (rest.starts_with("<")) {
    types = template_arguments(rest);
  } else if (const std::size_t lambda = rest.rfind(kLambda); lambda != std::string_view::npos) {
    const std::string_view parameters = rest.substr(lambda + kLambda.size());
    types = parameters.substr(0, parameters.find(')'));
  }
  return types.size() <= kMost ? types : std::string_view();
}

/// The short form with the operation's types; empty if that adds nothing.
std::string with_types(std::string_view readable) {
  const std::string_view whole = function_of(without_suffixes(readable));
  const std::string_view arguments = template_arguments(whole);
  const std::string_view operation = operation_in(arguments);
  if (operation.empty()) return {};
  const std::string_view types = types_after(operation, arguments);
  if (types.empty()) return {};
  std::string name(without_tuning(without_template_arguments(whole)));
  return name.append("<").append(operation).append("<").append(types).append(">>");
}

/// The function with all its template arguments; empty if that is too long.
std::string with_arguments(std::string_view readable) {
  const std::string_view whole = function_of(without_suffixes(readable));
  return utf8_length(whole) <= kLongestShort ? std::string(whole) : std::string();
}

/// The same bytes give the same number in every version and on every machine (FNV-1a).
std::uint64_t stable_number(std::string_view text) {
  std::uint64_t number = 0xcbf29ce484222325;
  for (const char c : text) {
    number = (number ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return number;
}

/// The lowest `digits` hexadecimal digits.
std::string hexadecimal(std::uint64_t number, int digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (int digit = digits - 1; digit >= 0; --digit) text += kDigits[number >> (digit * 4) & 0xf];
  return text;
}

/// Gives labels to different names.
class DistinctNames {
 public:
  explicit DistinctNames(const std::set<std::string_view>& names) {
    std::vector<std::string_view> left(names.begin(), names.end());
    left = label(left, [](std::string_view name) { return short_kernel_name(name); });
    left =
        label(left, [](std::string_view name) { return with_types(readable_kernel_name(name)); });
    left = label(left,
                 [](std::string_view name) { return with_arguments(readable_kernel_name(name)); });
    for (const std::string_view name : left) number(name);
  }

  const std::string& of(std::string_view name) const { return labels_.at(name); }

 private:
  /// Gives names whose label is theirs alone that label. Returns the others.
  template <typename LabelOf>
  std::vector<std::string_view> label(const std::vector<std::string_view>& names,
                                      LabelOf label_of) {
    std::map<std::string, std::vector<std::string_view>> groups;
    for (const std::string_view name : names) groups[label_of(name)].push_back(name);
    std::vector<std::string_view> left;
    for (auto& [label, group] : groups) {
      if (group.size() == 1 && !taken_.contains(label) && (!label.empty() || group[0].empty())) {
        give(group[0], label);
      } else {
        left.insert(left.end(), group.begin(), group.end());
      }
    }
    return left;
  }

  void give(std::string_view name, std::string label) {
    taken_.insert(label);
    labels_.emplace(name, std::move(label));
  }

  void number(std::string_view name) {
    const std::string label = short_kernel_name(name) + " #";
    const std::uint64_t number = stable_number(name);
    for (int digits = 4; digits <= 16; ++digits) {
      std::string numbered = label + hexadecimal(number, digits);
      if (!taken_.contains(numbered)) return give(name, std::move(numbered));
    }
    give(name, label + std::string(name));  // the whole name is distinct
  }

  std::set<std::string> taken_;
  std::map<std::string_view, std::string> labels_;
};

}  // namespace

std::string readable_kernel_name(std::string_view name) {
  std::string text(name);
  if (!name.starts_with("_Z")) return text;
  return demangle(text, kLongestReadable).value_or(text);
}

std::string short_kernel_name(std::string_view name) {
  std::string label = short_form(readable_kernel_name(name));
  if (label.empty()) label = name;
  if (utf8_length(label) <= kLongestShort) return label;
  return std::string(utf8_prefix(label, kLongestShort - 3)) + "...";
}

std::vector<std::string> distinct_kernel_names(std::span<const std::string_view> names) {
  const DistinctNames labels({names.begin(), names.end()});
  std::vector<std::string> result;
  result.reserve(names.size());
  for (const std::string_view name : names) result.push_back(labels.of(name));
  return result;
}

}  // namespace tbtrace::analyses
