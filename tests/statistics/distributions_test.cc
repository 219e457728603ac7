// Expected values are those of scipy 1.17.1; a comment has the expression.
#include "statistics/distributions.h"

#include <cmath>
#include <limits>
#include <optional>

#include <gtest/gtest.h>

namespace tbtrace::statistics {
namespace {

TEST(Distributions, AgreeWithScipy) {
  EXPECT_NEAR(upper_quantile({}, 0.0015), 2.9677379253417833, 1e-13);  // norm.isf(.0015)
  EXPECT_NEAR(upper_quantile(1, 0.0015), 212.2050199905415, 1e-10);    // t.isf(.0015, 1)
  EXPECT_NEAR(upper_quantile(8, 0.0015), 4.199149028045568, 1e-12);
  EXPECT_NEAR(upper_tail(7.3, 2.5), 0.019825117332800214, 1e-15);            // t.sf(2.5, 7.3)
  EXPECT_NEAR(chi_squared_upper_tail(5, 20), 0.0012497305630313773, 1e-15);  // chi2.sf(20, 5)
}

TEST(NoncentralityFor, AgreesWithScipy) {
  struct Row {
    double degrees, critical, noncentrality;
  };
  // t = stats.t.isf(.0015, v); brentq(lambda d: stats.nct.sf(t, v, d) - .9, 0, 4 * t + 10)
  for (const Row& row :
       {Row{1, 212.2050199905415, 349.05007239097523}, Row{4, 6.434848355145924, 9.23085591044845},
        Row{8, 4.199149028045568, 5.9284462206658235},
        Row{18, 3.4279303544401163, 4.856625512433661},
        Row{98, 3.0437300583611573, 4.347464160803699}}) {
    EXPECT_NEAR(noncentrality_for(row.degrees, row.critical, 0.9), row.noncentrality,
                1e-9 * row.noncentrality)
        << row.degrees;
  }
}

TEST(NoncentralityFor, HasThePower) {
  for (const double degrees : {1.0, 1.7, 2.0, 5.3, 30.0, 1e3, 1e6, 1e15}) {
    for (const double level : {0.5, 0.9, 0.997, 0.999999}) {
      const double critical = upper_quantile(degrees, (1 - level) / 2);
      for (const double power : {0.5, 0.9, 0.999}) {
        const double noncentrality = noncentrality_for(degrees, critical, power);
        EXPECT_TRUE(std::isfinite(noncentrality));
        if (critical > 1000) continue;
        EXPECT_NEAR(power_of(degrees, critical, noncentrality), power, 1e-9)
            << degrees << ' ' << level;
      }
    }
  }
}

TEST(NoncentralityFor, GoesOnWhereBoostFails) {
  for (const double degrees : {1.0, 1.7, 3.0}) {
    const double below = noncentrality_for(degrees, 1000, 0.9);
    EXPECT_NEAR(noncentrality_for(degrees, 1000.0001, 0.9), below, 1e-5 * below);
  }
}

TEST(WithoutLastDigits, Keeps32) {
  EXPECT_EQ(without_last_digits(1 + 0x1p-40), 1);
  EXPECT_EQ(without_last_digits(-3.25), -3.25);
  EXPECT_EQ(without_last_digits(0), 0);
  EXPECT_NEAR(without_last_digits(1e-300) / 1e-300, 1, 1e-9);
  EXPECT_NEAR(without_last_digits(0.1), 0.1, 1e-10);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(without_last_digits(kInfinity), kInfinity);
}

}  // namespace
}  // namespace tbtrace::statistics
