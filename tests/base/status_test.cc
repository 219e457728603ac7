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

TEST(Result, PrintsItsText) {
  std::ostringstream stream;
  stream << Result<std::string>("table\n");
  EXPECT_EQ(stream.str(), "table\n");
}

TEST(Result, PrintsItsFailureAndTheProgramGoesOn) {
  std::ostringstream stream;
  stream << Result<std::string>(Status(StatusCode::invalid_argument, "there is no such column"))
         << "next";
  EXPECT_EQ(stream.str(), "tbtrace: there is no such column\nnext");
}

TEST(Result, SaysWhetherItHasAValue) {
  EXPECT_TRUE(Result<int>(0));
  EXPECT_FALSE(Result<int>(Status(StatusCode::check_failed, "no")));
  EXPECT_EQ(Result<int>(5).value(), 5);
}

TEST(ResultDeathTest, EndsTheProgramWithItsMessageHoweverAFailureIsUsed) {
  Result<std::string> failed = Status(StatusCode::invalid_argument, "there is no such column");
  const Result<std::string>& constant = failed;
  const char* const message = "tbtrace: .*: there is no such column. Check ok";
  std::ostringstream stream;
  EXPECT_DEATH(static_cast<void>(failed.value()), message);
  EXPECT_DEATH(static_cast<void>(constant.value()), message);
  EXPECT_DEATH(static_cast<void>(std::move(failed).value()), message);
  EXPECT_DEATH(static_cast<void>(*failed), message);
  EXPECT_DEATH(static_cast<void>(*constant), message);
  EXPECT_DEATH(static_cast<void>(*std::move(failed)), message);
  EXPECT_DEATH(static_cast<void>(failed->size()), message);
  EXPECT_DEATH(static_cast<void>(constant->size()), message);
}

TEST(ResultDeathTest, SaysThatItsFailureWasMovedAway) {
  Result<int> failed = Status(StatusCode::invalid_argument, "there is no such column");
  const Result<int> other = std::move(failed);
  EXPECT_EQ(other.status().message(), "there is no such column");
  EXPECT_DEATH(static_cast<void>(failed.value()),  // NOLINT(bugprone-use-after-move)
               "tbtrace: .*: its Status was moved to another Result. Check ok");
}

template <typename T>
concept Printable = requires(std::ostream& stream, const T& value) {
  stream << value;
};

TEST(Result, IsPrintedOnlyIfItIsAText) {
  EXPECT_TRUE(Printable<Result<std::string>>);
  EXPECT_FALSE(Printable<Result<int>>);
  EXPECT_FALSE(Printable<Status>) << "a Status is not taken for a failed Result";
}

TEST(ResultDeathTest, EndsTheProgramWithoutAValueAndAFailure) {
  EXPECT_DEATH(Result<int>{Status()}, "tbtrace: .*not a failure");
}

TEST(Result, GivesAwayWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> value = *std::move(result);
  EXPECT_EQ(*value, 5);
}

}  // namespace
}  // namespace tbtrace
