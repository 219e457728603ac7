#include "symbols/names/demangle.h"

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include <cxxabi.h>
#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"

namespace tbtrace {
namespace {

constexpr std::size_t kLimit = std::size_t{1} << 20;

/// `Sn_`: the reference to the part of a name that has this number.
std::string reference(std::size_t number) {
  if (number == 0) return "S_";
  std::string digits;
  for (std::size_t rest = number - 1; digits.empty() || rest > 0; rest /= 36) {
    digits.insert(digits.begin(), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[rest % 36]);
  }
  return "S" + digits + "_";
}

/// f(b<c<d<a, a>, d<a, a>>, c<...>>): a few characters for each doubling of the text.
std::string doubling(std::size_t levels) {
  std::string name = "_Z1f";
  for (std::size_t level = 0; level < levels; ++level) {
    name += '1';
    name += static_cast<char>('b' + level % 24);
    name += 'I';
  }
  name += "1a";
  for (std::size_t level = 0; level < levels; ++level) name += reference(levels + level) + "E";
  return name;
}

TEST(Demangle, ReadsSymbols) {
  EXPECT_EQ(demangle("_Z1fv", kLimit), "f()");
  EXPECT_EQ(demangle("_ZN2at4_ops10add_Tensor4callERKNS_6TensorES4_RKN3c106ScalarE", kLimit),
            "at::_ops::add_Tensor::call(at::Tensor const&, at::Tensor const&, c10::Scalar const&)");
}

TEST(Demangle, ReadsEncodingsOfTypes) {
  EXPECT_EQ(demangle("Pf", kLimit), "float*");
  EXPECT_EQ(demangle("i", kLimit), "int");
}

TEST(Demangle, ReadsFloatingPointTypesOfC23AndSuffixes) {
  EXPECT_EQ(demangle("_Z1fDF16bDF16_DF32_DF64_", kLimit),
            "f(std::bfloat16_t, _Float16, _Float32, _Float64)");
  EXPECT_EQ(demangle("_ZN5aiter21mla_decode_fwd_kernelIDF16bEEvPKT_.kd", kLimit),
            "void aiter::mla_decode_fwd_kernel<std::bfloat16_t>(std::bfloat16_t const*) [clone "
            ".kd]");
  EXPECT_EQ(demangle("_Z1f10decimal128DF16b", kLimit), std::nullopt) << "has the stand-in's text";
  EXPECT_EQ(demangle("_Z1fDe", kLimit), "f(decimal128)");
}

TEST(Demangle, ReadsKernelsWithManyReferences) {
  const std::string name =
      "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_14func_wrapper_tIfZNS0_11sum_"
      "functorIfffEclERNS_14TensorIteratorEEUlffE_EEjfLi4EEEEEvT1_";
  const std::optional<std::string> text = demangle(name, std::size_t{16} << 20);
  ASSERT_TRUE(text.has_value());
  EXPECT_TRUE(text->starts_with("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<"));
}

// Of LibTorch 2.11 for CUDA 13.
TEST(Demangle, ReadsKernelsWhoseBoundIsFarAboveTheirText) {
  const std::string threshold =
      "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13BinaryFunctorIfffZNS0_67_GLOBAL__N__"
      "06c19b41_28_ActivationThresholdKernel_cu_751192d7_1581121threshold_kernel_implIfEEvRNS_"
      "18TensorIteratorBaseET_S7_EUlffE_EESt5arrayIPcLm3EEEEviT0_T1_";
  const std::string functor =
      "at::native::BinaryFunctor<float, float, float, at::native::(anonymous namespace)::"
      "threshold_kernel_impl<float>(at::TensorIteratorBase&, float, float)::"
      "{lambda(float, float)#1}>";
  const std::string text = "void at::native::vectorized_elementwise_kernel<4, " + functor +
                           ", std::array<char*, 3ul> >(int, " + functor +
                           ", std::array<char*, 3ul>)";
  EXPECT_EQ(demangle(threshold, std::size_t{64} << 10), text);
  EXPECT_EQ(demangle(threshold, text.size()), text);
  EXPECT_EQ(demangle(threshold, text.size() - 1), std::nullopt);
  EXPECT_EQ(demangled_own_name(threshold), text);
}

TEST(Demangle, NamesOfOwnCodeHaveNoBound) {
  const std::string power =
      "_ZN2at6native27unrolled_elementwise_kernelIZNS0_51_GLOBAL__N__b1108092_12_PowKernel_cu_"
      "751192d7_2139629pow_tensor_scalar_kernel_implIffEEvRNS_18TensorIteratorBaseET0_EUlfE_"
      "St5arrayIPcLm2EELi4E23TrivialOffsetCalculatorILi1EjESC_NS0_6memory15LoadWithoutCastENSD_"
      "16StoreWithoutCastEEEviT_S6_T2_T3_T4_T5_";
  EXPECT_EQ(demangle(power, kLimit), std::nullopt);
  EXPECT_TRUE(demangled_own_name(power).starts_with(
      "void at::native::unrolled_elementwise_kernel<at::native::(anonymous namespace)::"
      "pow_tensor_scalar_kernel_impl<float, float>("));
  for (const std::string other : {"", "aten::add", "_Z", "volta_sgemm_128x64_nn"}) {
    EXPECT_EQ(demangled_own_name(other), other);
  }
}

TEST(Demangle, LettersOfIdentifiersAreNotOperators) {
  EXPECT_EQ(demangle("_Z10recvKernelIfEvPT_", std::size_t{16} << 20),
            "void recvKernel<float>(float*)");
  // OpenCV's namespace is the operator of conversions, T_ a parameter, S_ a reference.
  EXPECT_EQ(demangle("_ZN2cv4cuda6T_S_DpIfLi4EEEvPT_", std::size_t{16} << 20),
            "void cv::cuda::T_S_Dp<float, 4>(float*)");
}

TEST(Demangle, ReadsConversions) {
  EXPECT_EQ(demangle("_ZN1AcvT_IiEEv", kLimit), "A::operator int<int>()");
  EXPECT_EQ(demangle("_ZNK3c106ScalarcvbEv", kLimit), "c10::Scalar::operator bool() const");
}

TEST(Demangle, LeavesOtherNamesAlone) {
  for (const std::string name : {"", "aten::add", "_Z", "_Z1", "ProfilerStep#3", "cudaLaunchKernel",
                                 "_ZN", "Memcpy HtoD (Pageable -> Device)", "_Z99x"}) {
    EXPECT_EQ(demangle(name, kLimit), std::nullopt) << name;
  }
}

TEST(Demangle, ANameWithAZeroByteIsNoSymbol) {
  EXPECT_EQ(demangle(std::string("_Z1fv\0x", 7), kLimit), std::nullopt);
  EXPECT_EQ(demangle(std::string("i\0", 2), kLimit), std::nullopt);
}

TEST(Demangle, NamesThatDoubleStayBelowTheLimit) {
  for (std::size_t levels = 1; levels < 200; ++levels) {
    const std::optional<std::string> text = demangle(doubling(levels), kLimit);
    EXPECT_LE(text.value_or("").size(), kLimit) << levels;
    EXPECT_TRUE(text.has_value() || levels >= 8) << levels;
  }
}

TEST(Demangle, NestedPackExpansionsStayBelowTheLimit) {
  constexpr std::size_t kMembers = 30;
  std::string packs;
  std::string nested = "E";
  for (int level = 0; level < 8; ++level) {
    packs += "J" + std::string(kMembers, 'i') + "E";
    nested = "Dp1xIJT" + (level == 0 ? "" : std::to_string(level - 1)) + "_" + nested + "E";
    const std::optional<std::string> text = demangle("_Z1fI" + packs + "Ev" + nested, kLimit);
    EXPECT_LE(text.value_or("").size(), kLimit) << level;
  }
}

TEST(Demangle, PointersToMembersOfFunctionsStayBelowTheLimit) {
  // The library writes such a class twice: 30 of them would be 50 GB.
  std::string nested = "1a";
  for (int level = 1; level < 60; ++level) {
    nested = "MFv" + nested + "Ei";
    const std::optional<std::string> text = demangle("_Z1f" + nested, kLimit);
    EXPECT_LE(text.value_or("").size(), kLimit) << level;
    EXPECT_TRUE(text.has_value() || level > 8) << level;
  }
}

TEST(Demangle, ReferencesToNothingDoNotHideOthers) {
  // The library leaves out the prefix S9_, which is not there, and goes on.
  const std::string name = "_ZNS9_300" + std::string(300, 'n') + "1aE" + "S_S_S_S_";
  const std::optional<std::string> text = demangle(name, 1000);
  EXPECT_LE(text.value_or("").size(), 1000u);
}

TEST(Demangle, NamesOnWhichTheLibraryHangsAreRefused) {
  // Where an unresolved name goes wrong before a C, D or U, libstdc++ 12 never returns.
  for (const char* name :
       {"Z1CT_1pDtsrfpD", "_Z1fIXsr3stdEEvv", "_Z1fDtsr1aIiDEE", "_ZN4a9INS_u3barXsr3Dx"}) {
    EXPECT_EQ(demangle(name, kLimit), std::nullopt) << name;
  }
  EXPECT_EQ(demangle("_Z1fIiENSt9enable_ifIXsrSt8is_arrayIT_E5valueEvE4typeEv", kLimit),
            "std::enable_if<std::is_array<int>::value, void>::type f<int>()");
}

TEST(Demangle, TheLimitIsTheCallersChoice) {
  EXPECT_EQ(demangle("Pf", 1), std::nullopt);
  EXPECT_EQ(demangle("_Z1fv", 3), "f()");
  EXPECT_EQ(demangle("_Z1fv", 2), std::nullopt);
}

// Most names of events are not mangled; their first characters tell.
TEST(Demangle, AgreesWithTheLibraryOnNamesOfAllKindsOfCharacters) {
  constexpr std::string_view kParts = "SaILiEN5_.$:# ()<>-ZvfPKRc4tk";
  std::mt19937 random(5);
  int encodings = 0;
  for (int round = 0; round < fixtures::random_rounds(60'000); ++round) {
    std::string name(1 + random() % 10, ' ');
    for (char& c : name) c = kParts[random() % kParts.size()];
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> expected(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    const std::optional<std::string> found = demangle(name, 100'000);
    ASSERT_EQ(found.has_value(), expected != nullptr) << name;
    if (expected == nullptr) continue;
    ASSERT_EQ(*found, expected.get()) << name;
    ++encodings;
  }
  EXPECT_GT(encodings, fixtures::random_rounds(200));
}

}  // namespace
}  // namespace tbtrace
