// Reading from sources: options, failures half way, and items too large to hold.
#include "readers/chrome/reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/chrome_text.h"
#include "fixtures/failing_source.h"
#include "fixtures/huge_source.h"
#include "fixtures/read_text.h"

namespace tbtrace::readers {
namespace {

using fixtures::ChromeText;
using fixtures::describe;
using fixtures::issue_counts;
using fixtures::Layout;
using fixtures::names;
using fixtures::op;
using fixtures::read;
using fixtures::trace_of;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(SniffChrome, TakesWhatStartsLikeJson) {
  for (const std::string_view start :
       {"{", "[", " \r\n\t{", "\xef\xbb\xbf[", "\xef\xbb\xbf {\"a\""}) {
    EXPECT_EQ(sniff_chrome(start), Sniff::yes) << start;
  }
  for (const std::string_view start :
       {"", " \n", "<html>", "x", "\"text\"", "7", "\x1f\x8b", "\xef\xbb\xbf", "\xef\xbb"}) {
    EXPECT_EQ(sniff_chrome(start), Sniff::no) << start;
  }
}

std::string text_with_everything(std::string_view with_stack) {
  ChromeText trace;
  trace.before = {{"with_stack", std::string(with_stack)}};
  trace.events = {op("a").arg("Input Dims", "[[1]]").arg("Input type", "[\"float\"]"),
                  op("b").arg("Call stack", "\"f;g;\"").arg("Sequence number", "3")};
  return trace.text();
}

std::size_t count(const Trace& trace, Argument which) { return trace.argument(which).size(); }

TEST(ReadOptions, LeaveInputsOutIfAsked) {
  const Trace with = read(text_with_everything("0"), {.threads = 1});
  const Trace without =
      read(text_with_everything("0"),
           {.threads = 1, .arguments = {ArgumentGroup::autograd, ArgumentGroup::call_stacks}});
  EXPECT_EQ(count(with, Argument::input_dims), 1u);
  EXPECT_EQ(count(without, Argument::input_dims), 0u);
  EXPECT_EQ(count(without, Argument::sequence_number), 1u);
  EXPECT_EQ(count(without, Argument::call_stack), 1u);
  EXPECT_EQ(names(without), names(with));
}

TEST(ReadOptions, KeepIdsAndMarksWhateverIsAsked) {
  ChromeText text;
  text.events = {op("a").arg("External id", "7").arg("correlation", "8").arg("Python id", "0"),
                 op("b").arg("External id", "0").arg("finished", "false")};
  const Trace trace = read(text.text(), {.threads = 1, .arguments = {}});
  EXPECT_EQ(trace.external_id(EventId{0}), 7);
  EXPECT_EQ(trace.correlation(EventId{0}), 8);
  EXPECT_TRUE(trace.events().is_python_frame(EventId{0}));
  EXPECT_TRUE(trace.events().has_zero_external_id(EventId{1}));
  EXPECT_TRUE(trace.events().unfinished(EventId{1}));
  for (std::size_t row = 0; row < kArgumentCount; ++row) {
    EXPECT_EQ(count(trace, static_cast<Argument>(row)), 0u) << kArgumentRows[row].name;
  }
}

TEST(ReadOptions, LeaveCallStacksOutIfAskedUnlessTheFileWasRecordedWithThem) {
  for (const int threads : {1, 2}) {
    const ReadOptions options = {.threads = threads, .arguments = {ArgumentGroup::inputs}};
    const Trace without = read(text_with_everything("0"), options);
    EXPECT_EQ(count(without, Argument::call_stack), 0u);
    EXPECT_EQ(count(without, Argument::input_dims), 1u);
    EXPECT_EQ(count(read(text_with_everything("1"), options), Argument::call_stack), 1u);
  }
}

std::string text_of_events(int count) {
  std::vector<fixtures::ChromeEvent> events;
  for (int row = 0; row < count; ++row) events.push_back(op("op " + std::to_string(row)));
  return fixtures::trace_text(std::move(events), Layout::event_a_line);
}

TEST(ReadOptions, ReportProgressToTheCallingThreadInAscendingNumbers) {
  const std::string text = text_of_events(40'000);
  for (const int threads : {1, 2, 3}) {
    std::vector<std::uint64_t> reported;
    const auto caller = std::this_thread::get_id();
    ReadOptions options = {.threads = threads};
    options.on_progress = [&](std::uint64_t done, std::uint64_t total) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_EQ(total, text.size());
      EXPECT_LE(done, total);
      reported.push_back(done);
      return true;
    };
    read(text, options);
    ASSERT_FALSE(reported.empty()) << threads;
    EXPECT_TRUE(std::is_sorted(reported.begin(), reported.end())) << threads;
    if (threads == 1) {
      EXPECT_GT(reported.size(), 4u) << "now and then";
      EXPECT_EQ(reported.back(), text.size());
    }
  }
}

TEST(ReadOptions, ReportNoTotalWhereNobodyKnowsIt) {
  struct Pipe final : io::ByteSource {
    explicit Pipe(std::string_view text) : source(io::memory_source(text)) {}
    Result<std::size_t> read(std::span<char> buffer) override { return source->read(buffer); }
    std::uint64_t position() const override { return source->position(); }
    std::uint64_t total() const override { return 0; }
    std::unique_ptr<io::ByteSource> source;
  };
  const std::string text = text_of_events(100);
  Pipe pipe(text);
  ReadOptions options = {.threads = 1};
  int calls = 0;
  options.on_progress = [&](std::uint64_t, std::uint64_t total) {
    EXPECT_EQ(total, 0u);
    ++calls;
    return true;
  };
  ASSERT_TRUE(read_chrome(pipe, options).ok());
  EXPECT_GT(calls, 0);
}

TEST(ReadChrome, KeepsWhatCameBeforeTheSourceFailed) {
  const std::string text = text_of_events(30'000);
  for (const std::size_t fail_after : {std::size_t{100}, std::size_t{200'000}, text.size() - 5}) {
    for (const int threads : {1, 2, 3}) {
      fixtures::FailingSource source(text, fail_after, 70'000);
      const Result<Trace> trace = trace_of(read_chrome(source, {.threads = threads}));
      ASSERT_TRUE(trace.ok()) << trace.status().message();
      const std::size_t whole = names(read(text.substr(0, fail_after))).size();
      EXPECT_EQ(trace->events().size(), whole);
      EXPECT_EQ(issue_counts(*trace), "input_truncated 1, input_damaged 1");
      EXPECT_EQ(trace->issues()[1].offsets.front(), fail_after);
    }
  }
}

TEST(ReadChrome, CountsDamageBehindAWholeDocument) {
  const std::string text = text_of_events(3);
  fixtures::FailingSource source(text, text.size());
  const Result<Trace> trace = trace_of(read_chrome(source, {.threads = 1}));
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->events().size(), 3u);
  EXPECT_EQ(issue_counts(*trace), "input_damaged 1") << "a bad checksum is damage";
}

TEST(ReadChrome, FailsWhereNothingCouldBeRead) {
  fixtures::FailingSource source("", 0);
  const Result<Trace> trace = trace_of(read_chrome(source, {.threads = 2}));
  ASSERT_FALSE(trace.ok());
  EXPECT_THAT(trace.status().message(), HasSubstr("the cable was pulled"));
}

// Long events and members. Sanitizers need memory of their own, and time.
#ifdef TBTRACE_SANITIZED
constexpr std::uint64_t kLong = std::uint64_t{5} << 20;
#else
constexpr std::uint64_t kLong = std::uint64_t{70} << 20;
#endif

/// Reads a text with `kLong` times `fill` between `head` and `tail`.
Trace read_long(const std::string& head, char fill, const std::string& tail, int threads) {
  fixtures::HugeSource source(head, kLong, fill, tail);
  Result<Trace> trace = trace_of(read_chrome(source, {.threads = threads}));
  EXPECT_TRUE(trace.ok()) << trace.status().message();
  if (trace.ok()) return *std::move(trace);
  return read("[]");
}

std::string event(std::string_view name) {
  return fixtures::event_text(op(name), Layout::minified);
}

TEST(ReadChrome, HoldsLongEvents) {
  const std::string before = "[" + event("a") + "," + event("b") + ",";
  for (const int threads : {1, 3}) {
    const Trace named =
        read_long(before + R"({"ph":"X","ts":1,"name":")", 'x', "\"}," + event("c") + "]", threads);
    ASSERT_EQ(named.events().size(), 4u);
    EXPECT_EQ(named.name(EventId{2}).size(), kLong);
    EXPECT_EQ(named.name(EventId{3}), "c");
    EXPECT_EQ(issue_counts(named), "");
    const Trace nested =
        read_long(before + R"({"ph":"X","ts":1,"args":{"list":[{"ph":"X","name":"no","ts":1},)",
                  '1', R"(]},"name":"long"},)" + event("c") + "]", threads);
    EXPECT_THAT(names(nested), ElementsAre("a", "b", "long", "c"));
    EXPECT_EQ(issue_counts(nested), "");
  }
}

TEST(ReadChrome, HoldsLongMembersOnBothSidesOfTheEvents) {
  const std::string events = "\"traceEvents\":[" + event("a") + "," + event("b") + "]";
  for (const int threads : {1, 3}) {
    const Trace before = read_long("{\"log\":\"", '}', "\"," + events + "}", threads);
    EXPECT_THAT(names(before), ElementsAre("a", "b"));
    EXPECT_EQ(before.metadata().at("log").size(), kLong + 2);
    EXPECT_EQ(issue_counts(before), "");
    const Trace after = read_long("{" + events + ",\"log\":\"", ']', "\",\"b\":1}", threads);
    EXPECT_THAT(names(after), ElementsAre("a", "b"));
    EXPECT_EQ(after.metadata().at("log").size(), kLong + 2);
    EXPECT_EQ(after.metadata().at("b"), "1");
    EXPECT_EQ(issue_counts(after), "");
  }
}

TEST(ReadChrome, KeepsWhatComesBeforeALongEventWithoutAnEnd) {
  for (const int threads : {1, 3}) {
    const Trace trace = read_long(
        "[" + event("a") + "," + event("b") + ",{\"ph\":\"X\",\"name\":\"", 'x', "", threads);
    EXPECT_THAT(names(trace), ElementsAre("a", "b"));
    EXPECT_EQ(issue_counts(trace), "input_truncated 1");
  }
}

}  // namespace
}  // namespace tbtrace::readers
