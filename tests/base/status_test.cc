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

TEST(OutOfMemory, AdvisesFewerThreadsWhereThereWereSeveral) {
  EXPECT_EQ(out_of_memory().code(), StatusCode::out_of_memory);
  EXPECT_EQ(out_of_memory().message(), out_of_memory(1).message());
  EXPECT_EQ(out_of_memory(1).message().find("threads"), std::string::npos);
  for (const int threads : {0, 2, 8}) {
    EXPECT_NE(out_of_memory(threads).message().find("use fewer threads"), std::string::npos);
  }
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
