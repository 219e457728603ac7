#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <tbtrace/status.h>

namespace tbtrace {
namespace {

TEST(Status, IsSuccessByDefault) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::ok);
  EXPECT_EQ(status.message(), "");
}

TEST(Status, KeepsCodeAndSentence) {
  const Status status(StatusCode::unreadable_input, "is empty");
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::unreadable_input);
  EXPECT_EQ(status.message(), "is empty");
}

TEST(Result, HoldsAValue) {
  Result<std::string> result = std::string("text");
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result.status().ok());
  EXPECT_EQ(*result, "text");
  EXPECT_EQ(result->size(), 4U);
}

TEST(Result, HoldsAFailure) {
  const Result<int> result = Status(StatusCode::check_failed, "no");
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::check_failed);
  EXPECT_EQ(result.status().message(), "no");
}

TEST(Result, PrintsItsTextOrWhyThereIsNone) {
  std::ostringstream stream;
  stream << Result<std::string>("table\n")
         << Result<std::string>(Status(StatusCode::invalid_argument, "no such column"));
  EXPECT_EQ(stream.str(), "table\nno such column\n");
}

TEST(Result, GivesAwayWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> value = *std::move(result);
  EXPECT_EQ(*value, 5);
}

}  // namespace
}  // namespace tbtrace
