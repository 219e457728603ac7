#include "readers/formats/format.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/source.h"

namespace tbtrace::readers {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StrEq;

std::string_view name_of(std::string_view start) {
  const Result<const Format*> format = find_format(start);
  return format.ok() ? (*format)->name : "none";
}

TEST(FindFormat, KnowsChromeTracesByTheirFirstCharacter) {
  EXPECT_EQ(name_of("{\"traceEvents\": ["), "chrome_json");
  EXPECT_EQ(name_of("[{\"ph\": \"X\""), "chrome_json");
  EXPECT_EQ(name_of("\xef\xbb\xbf \n{"), "chrome_json");
}

TEST(FindFormat, RefusesRocprofsOwnJsonWithARemedy) {
  const std::string_view start = "{\n    \"rocprofiler-sdk-tool\": [\n        {";
  const Result<const Format*> format = find_format(start);
  ASSERT_TRUE(format.ok());
  EXPECT_THAT((*format)->name, StrEq("rocprofv3"));
  const auto source = io::memory_source(start);
  const Result<Reading> trace = (*format)->read(*source, {});
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.status().code(), StatusCode::unreadable_input);
  EXPECT_THAT(trace.status().message(),
              AllOf(HasSubstr("rocprofv3"), HasSubstr("--output-format")));
}

TEST(FindFormat, RefusesRocprofsOwnJsonOnlyByItsFirstKey) {
  for (const std::string_view start :
       {"{\"rocprofiler-sdk-tool\":", " \n{ \"rocprofiler-sdk-tool\" : ["}) {
    EXPECT_EQ(name_of(start), "rocprofv3") << start;
  }
  for (const std::string_view start :
       {R"({"traceEvents":[{"ph":"X","name":"rocprofiler-sdk-tool"}]})",
        R"({"note":1,"rocprofiler-sdk-tool":[],"traceEvents":[]})",
        R"([{"rocprofiler-sdk-tool":[]}])", R"({"rocprofiler-sdk-tool-2":[]})",
        R"({"a":{"rocprofiler-sdk-tool":[]}})"}) {
    EXPECT_EQ(name_of(start), "chrome_json") << start;
  }
}

Status failure_of(std::string_view start) { return find_format(start).status(); }

TEST(FindFormat, SaysThatAnEmptyInputIsEmpty) {
  for (const std::string_view start : {"", " ", "\n\r\n\t"}) {
    EXPECT_EQ(failure_of(start).code(), StatusCode::unreadable_input);
    EXPECT_THAT(failure_of(start).message(),
                AllOf(HasSubstr("is empty"), HasSubstr("the recording may have been stopped")));
  }
}

TEST(FindFormat, SaysWhatItExpectedInsteadOfSomethingElse) {
  for (const std::string_view start : {"%PDF-1.7", "name,self", "\"text\"", "17"}) {
    EXPECT_EQ(failure_of(start).code(), StatusCode::unreadable_input) << start;
    EXPECT_THAT(failure_of(start).message(),
                AllOf(HasSubstr("is not a trace"), HasSubstr("prof.export_chrome_trace()")))
        << start;
    EXPECT_EQ(failure_of(start).message().find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace tbtrace::readers
