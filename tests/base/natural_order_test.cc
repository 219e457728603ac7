#include "base/natural_order.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbtrace {
namespace {

TEST(NaturalOrder, CountsDigitsByTheirValues) {
  std::vector<std::string> names = {"t_10.json", "t_9.json", "t_100.json", "a", "t_9.gz", "t",
                                    "T",         "t_09",     "t_9",        "",  "\xff",   "1"};
  std::sort(names.begin(), names.end(), in_natural_order);
  EXPECT_THAT(names, testing::ElementsAre("", "1", "T", "a", "t", "t_09", "t_9", "t_9.gz",
                                          "t_9.json", "t_10.json", "t_100.json", "\xff"));
}

TEST(NaturalOrder, TakesNumbersOfAnyLength) {
  EXPECT_TRUE(in_natural_order("w.9" + std::string(100, '9'), "w.1" + std::string(101, '0')));
  EXPECT_TRUE(in_natural_order("w.000", "w.1"));
}

TEST(NaturalOrder, IsAnOrder) {
  std::mt19937 random(3);  // NOLINT(cert-msc51-cpp): the same at each run
  std::vector<std::string> names;
  for (int number = 0; number < 60; ++number) {
    std::string name;
    for (unsigned size = random() % 6; size > 0; --size) name += "0012ab"[random() % 6];
    names.push_back(name);
  }
  for (const std::string& a : names) {
    for (const std::string& b : names) {
      EXPECT_EQ(in_natural_order(a, b) || in_natural_order(b, a), a != b) << a << ' ' << b;
      EXPECT_FALSE(in_natural_order(a, b) && in_natural_order(b, a)) << a << ' ' << b;
      if (!in_natural_order(a, b)) continue;
      for (const std::string& c : names) {
        EXPECT_TRUE(!in_natural_order(b, c) || in_natural_order(a, c)) << a << ' ' << b << ' ' << c;
      }
    }
  }
}

}  // namespace
}  // namespace tbtrace
