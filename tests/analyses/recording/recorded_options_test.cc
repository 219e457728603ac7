#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/analysis_context.h>
#include <tbtrace/checks.h>

#include "analyses/attribution/frame_rows.h"
#include "fixtures/read_text.h"
#include "fixtures/trace_rows.h"
#include "trace/trace_builder.h"

namespace tbtrace::analyses {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// The severity and option of each finding of options without data.
std::string lost_options(const Trace& trace) {
  std::string found;
  for (const CheckFinding& finding : trace_checks(trace)) {
    if (finding.id != "option_without_data") continue;
    found += std::string(check_severity_name(finding.severity)) + " " + finding.example + ";";
  }
  return found;
}

TEST(RecordedOptions, ThatWereOnAndLeftNothingAreLost) {
  TraceBuilder builder;
  for (const char* name : {"with_stack", "record_shapes", "profile_memory", "with_modules"}) {
    builder.set_metadata(name, "1");
  }
  fixtures::add(builder, {.name = "aten::empty", .duration = 10});
  const Trace trace = fixtures::finished(builder);
  for (const RecordedOptionState& option : recorded_options(trace)) {
    EXPECT_TRUE(option.is_lost()) << option.name;
    EXPECT_FALSE(option.is_missing()) << option.name << " would be lost again";
    EXPECT_FALSE(option.causes.empty());
    EXPECT_FALSE(option.remedy.empty());
    EXPECT_FALSE(option.unlocks.empty());
  }
  EXPECT_EQ(lost_options(trace),
            "warning record_shapes;warning profile_memory;warning with_stack;info with_modules;");
  EXPECT_THAT(missing_data_text(trace, RecordedOption::with_stack),
              StartsWith("the file says with_stack=1 and has no Python frames: the recorder lost "
                         "them. Known causes: Python 3.12.0 to 3.12.4"));
  EXPECT_THAT(missing_modules_text(trace), StartsWith("the file says with_stack=1"));
  EXPECT_EQ(recorded_lines(recorded_options(trace)).size(), 0U) << "lost ones are check's";
}

TEST(RecordedOptions, ThatWereOffAreToBeRecorded) {
  TraceBuilder builder;
  builder.set_metadata("with_stack", "0");
  fixtures::add(builder, {.name = "aten::empty", .duration = 10});
  const Trace trace = fixtures::finished(builder);
  EXPECT_EQ(recorded_option(trace, RecordedOption::with_stack).was_on, false);
  EXPECT_TRUE(recorded_option(trace, RecordedOption::with_stack).is_missing());
  EXPECT_FALSE(recorded_option(trace, RecordedOption::with_modules).is_missing());
  EXPECT_EQ(recorded_option(trace, RecordedOption::record_shapes).was_on, std::nullopt);
  EXPECT_EQ(lost_options(trace), "");
  const std::vector<std::string> lines = recorded_lines(recorded_options(trace));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[0],
              StartsWith("not recorded: input shapes; record with record_shapes=True for flops, "));
  EXPECT_EQ(missing_data_text(trace, RecordedOption::with_stack), "record with with_stack=True");
  EXPECT_EQ(missing_data_text(trace, RecordedOption::profile_memory),
            "record with profile_memory=True");
}

TEST(RecordedOptions, AreThereWhereTheirDataAre) {
  TraceBuilder builder;
  for (const char* name : {"with_stack", "record_shapes", "profile_memory"}) {
    builder.set_metadata(name, "1");
  }
  const EventId op = fixtures::add(builder, {.name = "aten::empty", .duration = 10});
  builder.add_argument(op, Argument::input_dims, builder.intern("[[2]]"));
  MemoryRecord record;
  record.bytes = 8;
  record.track = fixtures::track(builder, 1, 1);
  builder.add_memory(record);
  add_frame(builder, "train.py(3): main", 0, 20);
  const Trace trace = fixtures::finished(builder);
  for (const RecordedOptionState& option : recorded_options(trace)) {
    EXPECT_EQ(option.has_data, option.option != RecordedOption::with_modules) << option.name;
  }
  EXPECT_EQ(lost_options(trace), "");
  EXPECT_THAT(missing_modules_text(trace), HasSubstr("no nn.Module was called"));
}

TEST(RecordedOptions, AreNotMissingWhereNothingCouldHaveThem) {
  TraceBuilder builder;
  for (const char* name : {"with_stack", "record_shapes", "profile_memory"}) {
    builder.set_metadata(name, "1");
  }
  fixtures::add(builder, {.category = "kernel", .name = "gemm", .duration = 10});
  EXPECT_EQ(lost_options(fixtures::finished(builder)), "");
  // An operator that allocates nothing.
  TraceBuilder in_place;
  in_place.set_metadata("profile_memory", "1");
  fixtures::add(in_place, {.name = "aten::add_", .duration = 10});
  EXPECT_EQ(lost_options(fixtures::finished(in_place)), "");
}

TEST(RecordedOptions, OfATraceThatWasReadWithoutThemAreNotLost) {
  const std::string text =
      R"({"record_shapes": 1, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", )"
      R"("pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {"Input Dims": [[2, 3], [3, 4]]}}]})";
  ReadOptions options;
  options.arguments = ArgumentSet();
  EXPECT_FALSE(fixtures::read(text, options).has_read(Argument::input_dims));
  EXPECT_EQ(lost_options(fixtures::read(text, options)), "");
  options.arguments = kRecordedOptionArguments;
  const Trace trace = fixtures::read(text, options);
  EXPECT_TRUE(recorded_option(trace, RecordedOption::record_shapes).has_data);
}

TEST(MissingModules, InCallStacksAreThoseOfAnOldTorch) {
  TraceBuilder builder;
  const EventId op = fixtures::add(builder, {.name = "aten::mm", .duration = 10});
  builder.add_argument(op, Argument::call_stack, builder.intern("train.py(3): <module>"));
  EXPECT_THAT(missing_modules_text(fixtures::finished(builder)), HasSubstr("before 1.12"));
}

}  // namespace
}  // namespace tbtrace::analyses
