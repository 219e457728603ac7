#include "symbols/names/encoded_name.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace tbtrace {
namespace {

using Kind = EncodedName::Kind;

std::size_t count(std::string_view name, Kind kind) {
  const EncodedName encoded = read_encoded_name(name);
  return static_cast<std::size_t>(
      std::count_if(encoded.pieces.begin(), encoded.pieces.end(),
                    [&](const EncodedName::Piece& piece) { return piece.kind == kind; }));
}

bool is_known(std::string_view name) { return count(name, Kind::rest) == 0; }

TEST(EncodedName, IdentifiersAreSkipped) {
  EXPECT_EQ(count("_Z14T_S_cvDpC1Ul_Z", Kind::parameter), 0u);
  EXPECT_TRUE(is_known("_Z14T_S_cvDpC1Ul_Zv"));
  EXPECT_FALSE(is_known("_Z99a")) << "it is not as long";
}

TEST(EncodedName, IsKnownToTheEnd) {
  for (const std::string_view name :
       {"_Z1fv", "Pf", "_ZN2at6TensorC1ERKS0_", "_ZZ1fIiEvT_ENKUlvE0_clEv", "_ZTI1A", "_ZGVZ1fvE1x",
        "_ZN1AcvT_IiEEv", "_Z1fIXadL_Z1gvEEEvv", "_Z1fILi4ELb1ELN1a1bE3EEvv", "_ZL1fPA4_KcM1AFvvE",
        "_ZNSt6vectorIiSaIiEE9push_backEOi", "_ZplRK1AS1_", "_Z1fIJidEEvDpT_", "_Z1fv.isra.0",
        "_ZN1AaSB5cxx11ERKS_", "_Zli1_wIiEvPT_"}) {
    EXPECT_TRUE(is_known(name)) << name;
  }
}

TEST(EncodedName, EndsWhereExpressionsBegin) {
  for (const std::string_view name : {"_Z1fIXsrSt1aIiE1bEEvv", "_Z1fIiEDTcl1gfp_EET_", "aten::add",
                                      "_GLOBAL__I_a", "_Z1fIiEJvT_", "_ZStC1i", "_ZoncvT_IiEvv"}) {
    EXPECT_FALSE(is_known(name)) << name;
  }
}

TEST(EncodedName, ArgumentsWithParametersHaveNoDepth) {
  EXPECT_EQ(read_encoded_name("_Z1fIiEvT_").depth, 1u);
  EXPECT_EQ(read_encoded_name("_Z1fIL_Z1gIiEvT_EEvv").depth, 2u);
  EXPECT_EQ(read_encoded_name("_ZN1AIT_E1BIiEEvv").depth, 0u);
  EXPECT_EQ(read_encoded_name("_ZN1AcvT_IiEEv").depth, 0u);
  EXPECT_EQ(read_encoded_name("_Z1fIZ1gvEUlT_E_EvS0_").depth, 1u) << "it is auto";
}

TEST(EncodedName, CountsThePartsOfPacks) {
  EXPECT_EQ(read_encoded_name("_Z1fIJiiiiiEEvDpT_").most_elements, 6u);  // with its end
  EXPECT_EQ(count("_Z1fIJiiiiiEEvDpT_", Kind::expansion), 1u);
  EXPECT_EQ(count("_Z1fIJiiiiiEEvDpT_", Kind::repetition_end), 0u) << "it goes to the end";
  EXPECT_EQ(count("_Z1fIJiiiiiEEvDpT_i", Kind::repetition_end), 1u);
}

TEST(EncodedName, MayHangOnlyBeforeAConstructorOrType) {
  EXPECT_TRUE(read_encoded_name("_Z1fDtsr1aIiDEE").may_hang);
  EXPECT_TRUE(read_encoded_name("_Z1fIXsr3stdEEvvU").may_hang);
  EXPECT_TRUE(read_encoded_name("_Z1fIXsrU").may_hang) << "the letter itself starts the name";
  EXPECT_FALSE(read_encoded_name("_Z1fDtsr1aIiEE").may_hang);
  EXPECT_FALSE(read_encoded_name("_Z1fDtsrSt1aC").may_hang);
  EXPECT_FALSE(read_encoded_name("Dx1sr").may_hang) << "nothing follows";
}

TEST(EncodedName, ReadsALongNameWithManyUnresolvedPartsInLinearTime) {
  // A search to the end of the name for each part would take minutes.
  std::string name = "x1";
  for (int part = 0; part < 350'000; ++part) name += "srA";
  EXPECT_FALSE(read_encoded_name(name + "C").may_hang);
}

}  // namespace
}  // namespace tbtrace
