#include "writers/tables/column_fit.h"

#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::writers {
namespace {

using Widths = std::vector<std::size_t>;

TEST(FitColumns, HaveAllTheirWidthWithoutALimitOrWithRoom) {
  const std::vector<ColumnWidth> columns = {{60, 24}, {10, 10}};
  EXPECT_EQ(fit_columns(columns, 0), (Widths{60, 10}));
  EXPECT_EQ(fit_columns(columns, 72), (Widths{60, 10}));
  EXPECT_EQ(fit_columns({}, 80), Widths{});
}

TEST(FitColumns, BecomeNarrowerBeforeAnyIsLeftOut) {
  const std::vector<ColumnWidth> columns = {{60, 24}, {10, 10}, {10, 10}};
  EXPECT_EQ(fit_columns(columns, 60), (Widths{36, 10, 10}));
  EXPECT_EQ(fit_columns(columns, 48), (Widths{24, 10, 10}));
  EXPECT_EQ(fit_columns(columns, 47), (Widths{35, 10}));
}

TEST(FitColumns, ShareTheRoomThatIsLeft) {
  const std::vector<ColumnWidth> columns = {{60, 24}, {26, 24}, {60, 24}};
  EXPECT_EQ(fit_columns(columns, 4 + 72 + 22), (Widths{34, 26, 34}));
}

TEST(FitColumns, AreAtLeastTwo) {
  const std::vector<ColumnWidth> columns = {{60, 24}, {10, 10}, {10, 10}};
  EXPECT_EQ(fit_columns(columns, 5), (Widths{24, 10}));
}

TEST(CutMiddle, KeepsBothEnds) {
  EXPECT_EQ(cut_middle("abcdefghijklmnop", 12), "abcde...mnop");
  EXPECT_EQ(cut_middle("abcdefghijkl", 12), "abcdefghijkl");
  EXPECT_EQ(cut_middle("abcdef", 2), "ab");
}

TEST(CutMiddle, KeepsTheFileAndTheLineOfAPlace) {
  const std::string place = "/home/me/envs/lib/python3.9/torch/nn/functional.py(1296): relu";
  EXPECT_EQ(cut_middle(place, 40), "....9/torch/nn/functional.py(1296): relu");
  EXPECT_EQ(cut_middle(place, 28), "...functional.py(1296): relu");
  EXPECT_EQ(cut_middle(place, 24), "functional.py(1296): ...");
  EXPECT_EQ(cut_middle(place, 14), "funct...(1296)") << "a line is not without its number";
  EXPECT_EQ(cut_middle(place, 12), "funct...relu") << "no room for the number";
  EXPECT_EQ(cut_middle("C:\\code\\model.py(12): forward", 24), "...model.py(12): forward");
  EXPECT_EQ(cut_middle("/home/me/code/train.py", 14), "...de/train.py");
  EXPECT_EQ(cut_middle("a/bcdefghijklmno", 12), "a/bcd...lmno") << "not a place";
}

TEST(CutMiddle, CountsCharacters) {
  EXPECT_EQ(cut_middle("\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4", 6), "\u00e4...\u00e4\u00e4");
}

}  // namespace
}  // namespace tbtrace::writers
