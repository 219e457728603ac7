// The members of a window's text beside the events.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "recorder/window/hand_written.h"
#include "recorder/window/read_window.h"
#include "wire/json_text.h"

namespace tbtrace::recorder {
namespace {

using namespace std::string_view_literals;

TEST(WindowMetadata, MetadataAreMembersWhateverTheirNames) {
  const std::vector<std::string> keys = {"",
                                         "plain",
                                         "a\"b\\",
                                         "line\nbreak",
                                         std::string("zero\0"sv),
                                         "{}{0}",
                                         std::string(9999, 'k')};
  const std::string json = R"({"rank": [1, "two", null]})";
  HandWritten written;
  for (const std::string& key : keys) EXPECT_TRUE(written.recording->add_metadata(key, json).ok());
  const WindowPointer window = written.window();
  const Trace trace = read(window);
  for (const std::string& key : keys) {
    const auto found = trace.metadata().find(key);
    ASSERT_NE(found, trace.metadata().end()) << key;
    EXPECT_EQ(found->second, json) << key;
  }
  const auto id = trace.metadata().find("trace_id");
  ASSERT_NE(id, trace.metadata().end());
  EXPECT_EQ(id->second, "\"" + written.recording->trace_id() + "\"");
}

TEST(WindowMetadata, MetadataThatAreNoJsonAreTexts) {
  HandWritten written;
  written.thread().range(1, 2, "op");
  EXPECT_TRUE(written.recording->add_metadata("a", "not json").ok());
  EXPECT_TRUE(written.recording->add_metadata("b", R"(1}, "traceEvents": [)").ok());
  const Trace trace = read(written.window());
  ASSERT_EQ(trace.events().size(), 2U) << "the range and the profiler's own";
  EXPECT_EQ(trace.name(EventId{0}), "op");
  EXPECT_EQ(trace.metadata().find("a")->second, "\"not json\"");
  EXPECT_EQ(trace.metadata().find("b")->second, R"("1}, \"traceEvents\": [")");
}

TEST(WindowMetadata, MetadataReplaceWhatTheRecordingSaysByItself) {
  const std::vector<std::string> keys = {"host_name",     "trace_id",   "profile_memory",
                                         "record_shapes", "with_flops", "with_modules",
                                         "with_stack"};
  HandWritten written({.record_shapes = true,
                       .profile_memory = true,
                       .with_stack = true,
                       .with_flops = true,
                       .with_modules = true});
  for (const std::string& key : keys) {
    EXPECT_TRUE(written.recording->add_metadata(key, R"("mine")").ok());
  }
  const WindowPointer window = written.window();
  const std::string text = text_of(window);
  const Trace trace = read(window);
  for (const std::string& key : keys) {
    const std::size_t first = text.find("\"" + key + "\": ");
    ASSERT_NE(first, std::string::npos) << key;
    EXPECT_EQ(text.find("\"" + key + "\": ", first + 1), std::string::npos) << key;
    EXPECT_EQ(trace.metadata().find(key)->second, R"("mine")") << key;
  }
}

TEST(WindowMetadata, SaysThatChunksWereWrittenOver) {
  HandWritten written;
  auto thread = written.thread();
  thread.range(10, 20, "aten::mm");
  std::uint64_t* const at = thread.log()->room(1);
  *at = 0xff;
  thread.log()->commit(at + 1);
  thread.range(30, 40, "aten::add");
  const WindowPointer window = written.window();
  EXPECT_EQ(window->unreadable_chunks(), 1U);
  const Trace trace = read(window);
  EXPECT_EQ(trace.metadata().find("tbtrace_unreadable_chunks")->second, "1");
  EXPECT_EQ(trace.name(EventId{0}), "aten::mm");
  EXPECT_EQ(trace.events().size(), 2U);  // with the window's own range
}

#ifndef TBTRACE_SANITIZED
TEST(WindowMetadata, TellsHowManyRecordsWereLost) {
  HandWritten written;
  written.thread();
  const auto log = written.recording->add_thread({});
  EXPECT_EQ(log->room(std::size_t{1} << 45), nullptr);
  const Trace trace = read(written.window());
  EXPECT_EQ(trace.metadata().find("tbtrace_lost_records")->second, "1");
}
#endif

}  // namespace
}  // namespace tbtrace::recorder
