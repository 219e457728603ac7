#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/anonymise.h>

#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"

namespace tbtrace {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// What is replaced in whole traces, tests/cli/anonymise_test.py holds against planted names.
class AnonymiseTest : public testing::Test {
 protected:
  AnonymiseTest() {
    fixtures::write_whole_file(input,
                               R"({"zebra": 1, "schemaVersion": 1, "traceEvents": [
{"ph":"X","cat":"cpu_op","name":"zebra::mm","pid":1,"tid":2,"ts":1.5,"dur":2,"args":{
"External id":7,"Input Dims":[[3]],"lion":"tiger","puma":4}}]})");
  }

  const fixtures::ScratchFolder folder;
  const std::string input = folder.path("trace.json");
  const std::string output = folder.path("public.json");
};

TEST_F(AnonymiseTest, ReplacesNamesAndKeepsNumbers) {
  const Result<AnonymiseReport> report =
      anonymise_trace(input, output, {.key = "1234567890123456"});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->events, 1U);
  EXPECT_EQ(report->names.size(), 2U);
  EXPECT_EQ(report->arguments_left_out, 1U);
  EXPECT_EQ(report->members_left_out, 1U);
  const std::string text = fixtures::read_whole_file(output);
  EXPECT_THAT(text, HasSubstr("\"" + report->names.at("zebra") + "::mm\""));
  EXPECT_THAT(text, HasSubstr(R"("ts":1.5,"dur":2,"args":{"External id":7,"Input Dims":[[3]],")" +
                              report->names.at("puma") + "\":4}}"));
  for (const char* const word : {"zebra", "lion", "tiger", "puma"}) {
    EXPECT_THAT(text, Not(HasSubstr(word)));
  }
  EXPECT_THAT(names_document(report->names),
              HasSubstr("\"zebra\": \"" + report->names.at("zebra") + "\""));
}

TEST_F(AnonymiseTest, RefusesAKeyThatCanBeFoundByTrying) {
  const Result<AnonymiseReport> report =
      anonymise_trace(input, output, {.key = std::string(kLeastAnonymiseKey - 1, 'k')});
  EXPECT_EQ(report.status().code(), StatusCode::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST_F(AnonymiseTest, FindsWhatIsStillThere) {
  const Result<AnonymiseReport> found = find_private_names(input);
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->names.contains("zebra"));
  ASSERT_TRUE(anonymise_trace(input, output).ok());
  const Result<AnonymiseReport> left = find_private_names(output);
  ASSERT_TRUE(left.ok());
  EXPECT_THAT(left->names, IsEmpty());
  EXPECT_EQ(left->arguments_left_out + left->members_left_out, 0U);
}

}  // namespace
}  // namespace tbtrace
