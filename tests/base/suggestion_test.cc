#include <array>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <tbtrace/status.h>

namespace tbtrace {
namespace {

constexpr std::array kVerbs = std::to_array<std::string_view>(
    {"summary", "ops", "flamegraph", "gpu", "steps", "kernels", "memory", "merge-partials"});
constexpr std::array kColumns = std::to_array<std::string_view>(
    {"rank", "start_ns", "duration_ns", "kernel_ns", "self_cpu_time_total", "cpu_time_total"});

TEST(NearestName, FindsWhatWasMisspelled) {
  EXPECT_EQ(nearest_name("sumary", kVerbs), "summary");
  EXPECT_EQ(nearest_name("sumamry", kVerbs), "summary") << "two letters swapped";
  EXPECT_EQ(nearest_name("flame-graph", kVerbs), "flamegraph");
  EXPECT_EQ(nearest_name("mergepartials", kVerbs), "merge-partials");
  EXPECT_EQ(nearest_name("Kernel", kVerbs), "kernels");
}

TEST(NearestName, FindsNamesThatAWordIsAPartOf) {
  EXPECT_EQ(nearest_name("duration", kColumns), "duration_ns");
  EXPECT_EQ(nearest_name("kernel", kColumns), "kernel_ns");
  EXPECT_EQ(nearest_name("cpu_time", kColumns), "cpu_time_total");
  EXPECT_EQ(nearest_name("partials", kVerbs), "merge-partials");
}

TEST(NearestName, IsEmptyIfNoneIsNear) {
  EXPECT_EQ(nearest_name("bandwidth", kColumns), "");
  EXPECT_EQ(nearest_name("", kColumns), "");
  EXPECT_EQ(nearest_name("h", std::array<std::string_view, 1>{"s"}), "");
  EXPECT_EQ(nearest_name("xyz", kVerbs), "");
  EXPECT_EQ(nearest_name(std::string(10'000, 's'), kVerbs), "");
  EXPECT_EQ(nearest_name("summary", {}), "");
}

TEST(Suggestion, IsTheEndOfAMessage) {
  EXPECT_EQ(suggestion("sumary", kVerbs), " (did you mean 'summary'?)");
  EXPECT_EQ(suggestion("xyz", kVerbs), "");
}

}  // namespace
}  // namespace tbtrace
