// The bound against the library's own text, on random encodings full of references.
#include "symbols/names/demangled_size.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include <cxxabi.h>
#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"

namespace tbtrace {
namespace {

/// Encodings by the grammar, mostly; identifiers are long, so that a copy that the bound misses
/// exceeds it.
class RandomEncoding {
 public:
  explicit RandomEncoding(unsigned seed) : random_(seed) {
    left_ = 2 + below(40);
    references_ = below(60);
    parameters_ = below(60);
    parts_ = 1 + below(20);
  }

  std::string make() {
    std::string name = "_Z" + symbol();
    if (below(6) == 0) {
      const std::size_t at = below(name.size());
      name.insert(at, any(kTokens));
    }
    return name;
  }

 private:
  static constexpr std::array<std::string_view, 24> kTokens = {
      "E", "I",  "J",  "S_", "S0_", "T_", "Dp", "1a", "St", "M",  "F",  "L",
      "Z", "cv", "C1", "X",  "sr",  "DT", "_",  "5",  "N",  "on", "li", "R"};

  std::size_t below(std::size_t limit) { return random_() % limit; }
  bool chance(std::size_t percent) { return below(100) < percent; }
  template <std::size_t kSize>
  std::string any(const std::array<std::string_view, kSize>& texts) {
    return std::string(texts[below(kSize)]);
  }

  std::string reference() {
    const std::size_t part = below(parts_ + 1);
    return part == 0 ? "S_" : "S" + std::string(1, "0123456789ABCDEFGHIJKL"[part - 1]) + "_";
  }
  std::string parameter() { return chance(50) ? "T_" : "T" + std::to_string(below(3)) + "_"; }
  std::string identifier() {
    constexpr std::array<std::size_t, 6> kSizes = {1, 2, 90, 200, 200, 250};
    const std::size_t size = kSizes[below(kSizes.size())];
    return std::to_string(size) + std::string(size, static_cast<char>('a' + below(26)));
  }

  std::string types(std::size_t most) {
    std::string text;
    for (std::size_t count = below(most + 1); count > 0; --count) text += type();
    return text;
  }

  std::string argument() {
    switch (below(12)) {
      case 0:
        return "Li42E";
      case 1:
        return "LN1a1bE3E";
      case 2:
        return left_ > 0 ? "L_Z" + symbol() + "E" : "Lb1E";
      case 3:
        return left_ > 0 ? "XadL_Z" + symbol() + "EE" : "XT_E";
      case 4:
        return "J" + types(3) + "E";
      case 5:
        return "Dp" + type();
      default:
        return type();
    }
  }

  std::string arguments() {
    std::string text = "I";
    for (std::size_t count = 1 + below(3); count > 0; --count) text += argument();
    return text + "E";
  }

  std::string maybe_with_arguments(std::string name, std::size_t percent) {
    return chance(percent) ? name + arguments() : name;
  }

  std::string nested(bool own) {
    std::string text = own && chance(30) ? "NK" : "N";
    if (chance(references_)) text += reference();
    for (std::size_t count = 1 + below(3); count > 0; --count) {
      const std::size_t kind = own && count == 1 ? below(10) : 0;
      if (kind == 9) {
        text += "cv" + type();
      } else {
        text += kind == 8 ? "C1" : kind == 7 ? "cl" : kind == 6 ? "UliE_" : identifier();
      }
      if (chance(40) && left_ > 0) text += arguments();
    }
    return text + "E";
  }

  std::string local() {
    constexpr std::array<std::string_view, 5> kEntities = {"UlvE_", "1x_0", "Ut_", "NKUliE_clE",
                                                           "1yIiE"};
    const std::string function = symbol();
    return "Z" + function + "E" + any(kEntities);
  }

  std::string type() {
    if (left_ == 0) return chance(50) ? "i" : chance(50) ? parameter() : reference();
    --left_;
    if (chance(parameters_)) return parameter();
    if (chance(references_)) return maybe_with_arguments(reference(), 20);
    constexpr std::array<std::string_view, 8> kPrefixes = {"P",   "R",   "K",  "O",
                                                           "A3_", "M1c", "Dp", "G"};
    constexpr std::array<std::string_view, 6> kNames = {"v", "y", "Dn", "Ss", "SaIcE", "u3bar"};
    switch (below(9)) {
      case 0: {
        std::string function = "F" + type();
        function += type();
        return function + types(2) + "E";
      }
      case 1: {
        const std::string of = type();
        return "M" + of + type();
      }
      case 2:
        return nested(false);
      case 3:
        return left_ > 3 ? local() : "i";
      case 4:
        return maybe_with_arguments(identifier(), 50);
      case 5:
        return any(kNames);
      default: {
        const std::string prefix = any(kPrefixes);
        return prefix + type();
      }
    }
  }

  std::string symbol() {
    if (left_ > 0) --left_;
    std::string text;
    switch (below(5)) {
      case 0:
        text = nested(true);
        break;
      case 1:
        text = left_ > 3 ? local() : identifier();
        break;
      case 2:
        text = "pl";
        break;
      default:
        text = identifier();
    }
    if (chance(60)) text += arguments();
    text += type();
    return text + types(4);
  }

  std::mt19937 random_;
  std::size_t left_;        // types and symbols
  std::size_t references_;  // in 100 types
  std::size_t parameters_;
  std::size_t parts_;
};

TEST(DemangledSize, IsNeverBelowTheLibrarysText) {
  constexpr double kSizeLimit = 1 << 20;
  const unsigned names = fixtures::random_rounds(400'000u);
  std::size_t demangled = 0;
  std::size_t long_ones = 0;
  for (unsigned seed = 0; seed < names; ++seed) {
    const std::string name = RandomEncoding(seed).make();
    if (name.size() > 1024) continue;  // the library takes no more
    const double bound = demangled_size_bound(name, kSizeLimit);
    if (std::isinf(bound)) continue;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    if (text == nullptr) continue;
    ++demangled;
    const std::size_t size = std::strlen(text.get());
    long_ones += size > 3 * name.size() ? 1 : 0;
    ASSERT_LE(static_cast<double>(size), bound) << name;
  }
  EXPECT_GT(demangled, names / 80);
  EXPECT_GT(long_ones, names / 8000);
}

TEST(DemangledSize, OfKernelsIsFarBelowTheLimit) {
  for (const std::string_view name :
       {"_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_15exp_kernel_cudaERNS_"
        "18TensorIterato"
        "rBaseEENKUlvE_clEvENKUlvE0_clEvEUlfE_St5arrayIPcLm2EEEEviT0_T1_",
        "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_14func_wrapper_tIfZNS0_11sum_"
        "functo"
        "rIfffEclERNS_14TensorIteratorEEUlffE_EEjfLi4EEEEEvT1_",
        "_ZN10tensorpipe14recvFromSocketIjJNS_2FdES1_S1_S1_EEENS_5ErrorEiRT_S4_DpRT0_"}) {
    EXPECT_LT(demangled_size_bound(name, 1e9), 1e5) << name;
  }
}

TEST(DemangledSize, OfManyLevelsOfParametersIsInfinite) {
  // Each symbol stands in the arguments of the one around, and is its parameters' value.
  std::string name = "1aIiEvT_T_";
  for (int level = 0; level < 40; ++level) name = "1fIL_Z" + name + "EEvT_T_";
  EXPECT_TRUE(std::isinf(demangled_size_bound("_Z" + name, 1e9)));
}

}  // namespace
}  // namespace tbtrace
