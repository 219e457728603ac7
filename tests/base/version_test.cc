#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/version.h>

namespace tbtrace {
namespace {

TEST(Version, HasThreeNumbers) {
  EXPECT_THAT(std::string(version()), testing::MatchesRegex("[0-9]+[.][0-9]+[.][0-9]+"));
}

TEST(Version, IsThatOfTheHeaders) {
  EXPECT_EQ(version(), TBTRACE_VERSION);
  EXPECT_EQ(version(), std::to_string(TBTRACE_VERSION_MAJOR) + "." +
                           std::to_string(TBTRACE_VERSION_MINOR) + "." +
                           std::to_string(TBTRACE_VERSION_PATCH));
}

}  // namespace
}  // namespace tbtrace
