#include <tbtrace/version.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbtrace {
namespace {

TEST(Version, HasThreeNumbers) {
  EXPECT_THAT(std::string(version()), testing::MatchesRegex("[0-9]+[.][0-9]+[.][0-9]+"));
}

}  // namespace
}  // namespace tbtrace
