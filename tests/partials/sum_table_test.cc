#include "partials/sum_table.h"

#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::partials {
namespace {

constexpr std::string_view kKeys[] = {"one", "two"};
constexpr FigureShape kFigures[] = {
    {"sum", Fold::sum}, {"least", Fold::least}, {"most", Fold::most}};
constexpr TableShape kShape = {"example", kKeys, kFigures};

std::vector<Figure> row_of(WideInteger value) { return {value, value, value}; }

TEST(Figure, WhatIsAddedToAnUnknownFigureRemains) {
  for (const Fold fold : {Fold::sum, Fold::least, Fold::most}) {
    Figure figure;
    figure.fold_in(fold, Figure());
    EXPECT_FALSE(figure.is_known());
    figure.fold_in(fold, Figure(WideInteger{-5}));
    EXPECT_EQ(figure, Figure(WideInteger{-5}));
    figure.fold_in(fold, Figure());
    EXPECT_EQ(figure, Figure(WideInteger{-5}));
  }
}

TEST(Figure, NothingIsNotZero) {
  EXPECT_FALSE(Figure(std::optional<std::uint64_t>()).is_known());
  EXPECT_TRUE(Figure(std::optional<std::uint64_t>(0)).is_known());
}

TEST(Figure, SumsHoldMoreThanSixtyFourBits) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  Figure sum = WideInteger{kMost};
  sum.fold_in(Fold::sum, WideInteger{kMost});
  EXPECT_EQ(sum.whole(), kMost);  // the nearest number
  sum.fold_in(Fold::sum, WideInteger{-kMost});
  sum.fold_in(Fold::sum, WideInteger{-kMost});
  EXPECT_EQ(sum.whole(), 0);
}

TEST(Figure, SumsOfSquaresSaturate) {
  Figure sum = ~(WideInteger{1} << 127);
  sum.fold_in(Fold::sum, WideInteger{1});
  EXPECT_EQ(sum, Figure(~(WideInteger{1} << 127)));
}

TEST(SumTable, RowsWithTheSameKeyBecomeOne) {
  SumTable table(kShape);
  table.add(std::vector<std::uint32_t>{1, 2}, row_of(5));
  table.add(std::vector<std::uint32_t>{2, 1}, row_of(100));
  table.add(std::vector<std::uint32_t>{1, 2}, row_of(-7));
  ASSERT_EQ(table.size(), 2U);
  EXPECT_EQ(table.figures(0)[0], Figure(WideInteger{-2}));
  EXPECT_EQ(table.figures(0)[1], Figure(WideInteger{-7}));
  EXPECT_EQ(table.figures(0)[2], Figure(WideInteger{5}));
  EXPECT_EQ(table.figures(1)[0], Figure(WideInteger{100}));
}

TEST(SumTable, TextsOfAnotherTableHaveOtherNumbers) {
  SumTable one(kShape);
  SumTable two(kShape);
  one.add(std::vector<std::uint32_t>{1, 0}, row_of(1));
  two.add(std::vector<std::uint32_t>{0, 1}, row_of(2));
  one.add(two, std::vector<std::uint32_t>{1, 0});
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one.figures(0)[0], Figure(WideInteger{3}));
}

}  // namespace
}  // namespace tbtrace::partials
