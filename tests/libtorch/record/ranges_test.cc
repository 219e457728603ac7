#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <ATen/ThreadLocalState.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <tbtrace/convert.h>
#include <tbtrace/profiler.h>
#include <tbtrace/trace.h>

#include "libtorch/record/recorded.h"

namespace tbtrace {
namespace {

/// A view of a temporary argument would be gone with it.
static_assert(
    std::is_same_v<decltype(std::declval<RangeArgument>().value()), RangeArgument::Value>);

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::names;
using ::testing::Not;

TEST(RecordFunction, MarksAScope) {
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  {
    const record_function outer("outer");
    TBTRACE_RECORD_FUNCTION("inner");
    torch::ones({1});
  }
  profiler.stop();
  const EventList events = profiler.events();
  ASSERT_GE(events.size(), 3);
  EXPECT_EQ(events[0].key, "outer");
  EXPECT_EQ(events[1].key, "inner");
  EXPECT_EQ(events[1].parent, 0);
  EXPECT_EQ(events[2].key, "aten::ones");
  EXPECT_EQ(events[2].parent, 1);
  EXPECT_TRUE(events[0].is_user_annotation);
  EXPECT_FALSE(events[2].is_user_annotation);
}

TEST(RecordFunction, NamesAreAnyBytes) {
  const std::string zero("a\0b", 3);
  const std::string large(1 << 20, 'x');
  const std::string hostile = "\"quoted\" \\back\\ \n\t <b> \xf0\x9f\x94\xa5";
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  for (const std::string& name : {zero, large, hostile, std::string()}) {
    const record_function range(name);
  }
  profiler.stop();
  EXPECT_THAT(names(profiler), ElementsAre(zero, large, hostile, ""));
}

TEST(RecordFunction, EndsWithAnException) {
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  try {
    const record_function range("throws");
    throw std::runtime_error("no");
  } catch (const std::runtime_error&) {
  }
  { const record_function range("after"); }
  profiler.stop();
  const EventList events = profiler.events();
  ASSERT_EQ(events.size(), 2);
  EXPECT_EQ(events[1].key, "after");
  EXPECT_FALSE(events[1].parent.has_value());
}

TEST(RecordFunction, ARangeThatWasOpenIsUnfinished) {
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  {
    const record_function range("open");
    profiler.stop();
  }
  profiler.start();
  profiler.stop();  // and its end is not part of this recording
  EXPECT_THAT(names(profiler), ElementsAre());
}

std::string text_of(const Trace& trace, std::string_view range) {
  for (std::uint32_t row = 0; row < trace.events().size(); ++row) {
    if (trace.name(EventId{row}) == range) {
      return std::string(trace.argument_text(EventId{row}, Argument::range_arguments));
    }
  }
  return "no such range";
}

TEST(RangeArgument, HasItsKeyAndTheValueOfItsType) {
  const RangeArgument batch("batch", 16U);
  EXPECT_EQ(batch.key(), "batch");
  EXPECT_EQ(batch.value(), RangeArgument::Value(std::uint64_t{16}));
  EXPECT_EQ(RangeArgument("a", true).value(), RangeArgument::Value(true));
  EXPECT_EQ(RangeArgument("a", short{-7}).value(), RangeArgument::Value(std::int64_t{-7}));
  EXPECT_EQ(RangeArgument("a", 0.5F).value(), RangeArgument::Value(0.5));
  EXPECT_EQ(RangeArgument("a", "b").value(), RangeArgument::Value(std::string_view("b")));
}

TEST(RecordFunction, ArgumentsSurviveTheFileAndItsCopies) {
  const testing::Folder folder;
  const std::string file = folder / "trace.json";
  const std::string text = "a \"b\"\n";
  Profiler profiler({.activities = {Activity::cpu}, .record_shapes = true});
  profiler.start();
  {
    const record_function range("forward", {{"batch", 16}, {"lr", 0.5}, {"text", text}});
    TBTRACE_RECORD_FUNCTION("inner", {{"External id", 7}});
    torch::ones({1});
    const record_function without("without");
  }
  profiler.stop();
  const std::string expected = R"({"batch": 16, "lr": 0.5, "text": "a \"b\"\n"})";
  EXPECT_EQ(text_of(*profiler.trace(), "forward"), expected);
  EXPECT_EQ(text_of(*profiler.trace(), "without"), "");
  EXPECT_EQ(text_of(*profiler.trace(), "aten::ones"), "");

  ASSERT_TRUE(profiler.export_chrome_trace(file).ok());
  const ReadOptions all = {.strict = true, .arguments = ArgumentSet::all()};
  const Result<Trace> read = read_trace(file, all);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(text_of(*read, "forward"), expected);
  EXPECT_EQ(text_of(*read, "inner"), R"({"External id": 7})");
  for (const Dialect dialect : {Dialect::kineto, Dialect::plugin}) {
    const std::string copy = folder / "copy.json";
    ASSERT_TRUE(write_chrome_trace(*read, copy, {.dialect = dialect, .overwrite = true}).ok());
    const Result<Trace> again = read_trace(copy, all);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(text_of(*again, "forward"), expected);
  }
}

TEST(Marks, AreInTheFilesOfTheThreadsThatAreRecorded) {
  counter("before", 1);
  instant("before");
  Profiler one({.activities = {Activity::cpu}});
  Profiler other({.activities = {Activity::cpu}, .with_stack = true});
  one.start();
  other.start();
  counter("loss", 0.25);
  instant("checkpoint", {{"path", "a\\b"}});
  std::thread([] { counter("elsewhere", 1); }).join();
  other.stop();
  counter("loss", 0.125);
  torch::ones({1});
  one.stop();
  const testing::Folder folder;
  const auto text = [&](Profiler& profiler) {
    EXPECT_TRUE(profiler.export_chrome_trace(folder / "trace.json").ok());
    std::ifstream file(folder / "trace.json");
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string of_one = text(one);
  for (const std::string& file : {of_one, text(other)}) {
    EXPECT_THAT(file, HasSubstr(R"("name":"loss")"));
    EXPECT_THAT(file, HasSubstr(R"("args":{"value":0.25})"));
    EXPECT_THAT(file, HasSubstr(R"("Arguments":{"path": "a\\b"})"));
    EXPECT_THAT(file, Not(HasSubstr("before")));
    EXPECT_THAT(file, Not(HasSubstr("elsewhere")));
    EXPECT_EQ(file.find("0.125") != std::string::npos, file == of_one);
  }
  EXPECT_THAT(names(other), ElementsAre()) << "marks are no ranges";
}

TEST(Marks, AreOfAllThreadsIfThoseAreRecorded) {
  Profiler profiler({.activities = {Activity::cpu}, .all_threads = true});
  profiler.start();
  std::thread([] { counter("elsewhere", std::nan("")); }).join();
  profiler.stop();
  const testing::Folder folder;
  ASSERT_TRUE(profiler.export_chrome_trace(folder / "trace.json").ok());
  std::ifstream file(folder / "trace.json");
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(file), {}),
              HasSubstr(R"("args":{"value":"NaN"})"));
}

TEST(AsyncRange, HasArgumentsToo) {
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  { const async_range range("request", {{"id", std::uint64_t{1} << 63}}); }
  profiler.stop();
  EXPECT_EQ(text_of(*profiler.trace(), "request"), R"({"id": 9223372036854775808})");
}

TEST(AsyncRange, EndsOnAnotherThread) {
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  async_range request("request");
  {
    const record_function other("other");
    std::thread([range = std::move(request)]() mutable { range.end(); }).join();
  }
  profiler.stop();
  const EventList events = profiler.events();
  ASSERT_EQ(events.size(), 2);
  EXPECT_EQ(events[0].key, "request");
  EXPECT_TRUE(events[0].is_async);
  EXPECT_LT(events[0].end_ns, events[1].end_ns);
  EXPECT_EQ(events[1].key, "other");
  EXPECT_FALSE(events[1].is_async);
  EXPECT_FALSE(events[1].parent.has_value());
}

// As collectives of Gloo do.
TEST(AsyncRange, BeginsAndEndsOnAThreadOfAPool) {
  constexpr std::chrono::milliseconds kTime(5);
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  const at::ThreadLocalState state;
  std::thread([&] {
    const at::ThreadLocalStateGuard guard(state);
    async_range collective("collective");
    std::this_thread::sleep_for(kTime);
    collective.end();
    const record_function after("after");
  }).join();
  { const record_function here("here"); }
  profiler.stop();
  const EventList events = profiler.events();
  ASSERT_EQ(events.size(), 3);
  EXPECT_EQ(events[0].key, "collective");
  EXPECT_TRUE(events[0].is_async);
  EXPECT_GE(events[0].end_ns - events[0].start_ns, std::chrono::nanoseconds(kTime).count());
  EXPECT_LE(events[0].end_ns, events[1].start_ns);
  EXPECT_EQ(events[1].key, "after");
  EXPECT_FALSE(events[1].parent.has_value());
  EXPECT_EQ(events[0].tid, events[1].tid);
  EXPECT_NE(events[0].tid, events[2].tid);
}

TEST(AsyncRange, ByteForByteAsynchronousAlsoOnItsOwnThread) {
  Profiler profiler({.activities = {Activity::cpu}});
  profiler.start();
  { const async_range range("request"); }
  profiler.stop();
  const EventList events = profiler.events();
  ASSERT_EQ(events.size(), 1);
  EXPECT_TRUE(events[0].is_async);
}

}  // namespace
}  // namespace tbtrace
