#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/version.h>

namespace tbtrace {
namespace {

TEST(Version, HasThreeNumbers) {
  EXPECT_THAT(std::string(version()), testing::MatchesRegex("[0-9]+[.][0-9]+[.][0-9]+"));
}

}  // namespace
}  // namespace tbtrace
