#include "chrome/anonymise/anonymous_kernels.h"

#include <array>
#include <cstddef>
#include <optional>

#include "analyses/kernels/families.h"

namespace tbtrace::chrome {
namespace {

/// What the tables say of a kernel by its name.
struct Meaning {
  KernelFamily family = KernelFamily::other;
  std::optional<bool> uses_tensor_cores;
  bool gains_from_tensor_cores = false;

  explicit Meaning(std::string_view name)
      : family(analyses::kernel_family(name)),
        uses_tensor_cores(analyses::uses_tensor_cores(name)),
        gains_from_tensor_cores(analyses::gains_from_tensor_cores(name)) {}
  bool operator==(const Meaning&) const = default;
};

/// A word by which kernel_family() knows the family.
std::string_view word_of(KernelFamily family) {
  switch (family) {
    case KernelFamily::normalization:
      return "layernorm";
    case KernelFamily::optimizer:
      return "adam";
    case KernelFamily::random:
      return "dropout";
    case KernelFamily::collective:
      return "nccl";
    case KernelFamily::other:
      return {};
    default:
      return kernel_family_name(family);
  }
}

}  // namespace

std::string anonymous_kernel(std::string_view name, AnonymousTexts& texts) {
  constexpr std::string_view kResult = "void ";
  constexpr auto kHints = std::to_array<std::string_view>(
      {"", "_tensorop", "_simt", "_f64", "_f64_tensorop", "_f64_simt"});
  std::string replaced = texts.of(name, AnonymousTexts::Kind::words);
  if (replaced == name) return replaced;
  const Meaning meaning(name);
  const std::string word(word_of(meaning.family));
  const std::size_t start = replaced.starts_with(kResult) ? kResult.size() : 0;
  std::string with_word = replaced;
  if (!word.empty()) with_word.insert(start, word + "_");
  // The last one as a whole: what is left of the name may say something else.
  std::string whole = (word.empty() ? "kernel" : word) + "_" + texts.whole(name);
  for (const std::string& each : {replaced, with_word, whole}) {
    for (const std::string_view hint : kHints) {
      std::string hinted = each + std::string(hint);
      if (Meaning(hinted) == meaning) return hinted;
    }
  }
  return whole;
}

}  // namespace tbtrace::chrome
