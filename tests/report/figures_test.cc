#include <gtest/gtest.h>

#include <tbtrace/report.h>

namespace tbtrace {
namespace {

TEST(Figures, HaveTheNamesOfTheCommandLine) {
  EXPECT_EQ(figures_name(Figures::exact), "exact");
  EXPECT_EQ(figures_name(Figures::torch), "torch");
  EXPECT_EQ(figures_name(Figures::plugin), "plugin");
}

}  // namespace
}  // namespace tbtrace
