// Of builds without protobuf.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/convert.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"
#include "logdir/log_folder.h"

namespace tbtrace {
namespace {

using testing::HasSubstr;

constexpr const char* kRemedy = "install libprotobuf-dev and protobuf-compiler";

class SummaryLogsWithoutProtobuf : public LogFolder {};

TEST_F(SummaryLogsWithoutProtobuf, AreRefusedBeforeAnythingIsWritten) {
  ConvertOptions options;
  options.log.format = LogFormat::event_files;
  const auto converted = convert_to_log_directory({folder.path("no such file")}, log, options);
  EXPECT_EQ(converted.status().code(), StatusCode::invalid_argument);
  EXPECT_THAT(converted.status().message(), HasSubstr(kRemedy));
  const Trace trace = fixtures::read(fixtures::ChromeText{}.text());
  const auto written = write_log_directory(trace, log, options.log);
  EXPECT_EQ(written.status().code(), StatusCode::invalid_argument);
  EXPECT_THAT(written.status().message(), HasSubstr(kRemedy));
  EXPECT_FALSE(std::filesystem::exists(log));
}

}  // namespace
}  // namespace tbtrace
