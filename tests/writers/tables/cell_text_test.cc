#include "writers/tables/cell_text.h"

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::writers {
namespace {

using Texts = std::vector<std::string>;

TEST(CellText, WritesWholeNumbersExactly) {
  EXPECT_EQ(cell_text(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(cell_text(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
}

TEST(CellText, WritesDoublesSoThatTheyComeBack) {
  EXPECT_EQ(cell_text(0.1), "0.1");
  EXPECT_EQ(cell_text(1e300), "1e+300");
  for (const double value : {1.0 / 3, 1717171717171717.1, 5e-324}) {
    EXPECT_EQ(std::strtod(cell_text(value).c_str(), nullptr), value);
  }
}

TEST(CellText, WritesTheOtherKinds) {
  EXPECT_EQ(cell_text(std::monostate()), "");
  EXPECT_EQ(cell_text(true), "true");
  EXPECT_EQ(cell_text(false), "false");
  EXPECT_EQ(cell_text(std::string("aten::mm")), "aten::mm");
  EXPECT_EQ(cell_text(Json{"[[1]]"}), "[[1]]");
  EXPECT_EQ(cell_text(Texts{"a", "b"}), "a;b");
  EXPECT_EQ(cell_text(Texts{}), "");
}

TEST(CellText, IsBlankWhereNothingStands) {
  for (const Cell& blank :
       {Cell(std::monostate()), Cell(false), Cell(std::int64_t{0}), Cell(std::uint64_t{0}),
        Cell(0.0), Cell(std::string()), Cell(Json{"[]"}), Cell(Json{}), Cell(Texts{})}) {
    EXPECT_TRUE(is_blank(blank)) << blank.index();
  }
  for (const Cell& full : {Cell(true), Cell(std::int64_t{-1}), Cell(std::uint64_t{1}), Cell(0.5),
                           Cell(std::string("0")), Cell(Json{"[[]]"}), Cell(Texts{""})}) {
    EXPECT_FALSE(is_blank(full)) << full.index();
  }
}

}  // namespace
}  // namespace tbtrace::writers
