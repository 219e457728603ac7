// Reading from sources: options, failures half way, and items too large to hold.
#include "readers/chrome_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
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

TEST(ReadOptions, LeaveInputsOutIfAsked) {
  const Trace with = read(text_with_everything("0"), {.threads = 1});
  const Trace without = read(text_with_everything("0"), {.threads = 1, .inputs = false});
  EXPECT_EQ(with.inputs().size(), 1u);
  EXPECT_EQ(without.inputs().size(), 0u);
  EXPECT_EQ(without.autograd().size(), 1u);
  EXPECT_EQ(without.call_stacks().size(), 1u);
  EXPECT_EQ(names(without), names(with));
}

TEST(ReadOptions, LeaveCallStacksOutIfAskedUnlessTheFileWasRecordedWithThem) {
  for (const int threads : {1, 2}) {
    const ReadOptions options = {.threads = threads, .call_stacks = false};
    EXPECT_EQ(read(text_with_everything("0"), options).call_stacks().size(), 0u);
    EXPECT_EQ(read(text_with_everything("0"), options).inputs().size(), 1u);
    EXPECT_EQ(read(text_with_everything("1"), options).call_stacks().size(), 1u);
  }
}

std::string many_events(int count) {
  std::vector<fixtures::ChromeEvent> events;
  for (int row = 0; row < count; ++row) events.push_back(op("op " + std::to_string(row)));
  return fixtures::trace_text(std::move(events), Layout::event_a_line);
}

TEST(ReadOptions, ReportProgressToTheCallingThreadInAscendingNumbers) {
  const std::string text = many_events(40'000);
  for (const int threads : {1, 2, 3}) {
    std::vector<std::uint64_t> reported;
    const auto caller = std::this_thread::get_id();
    ReadOptions options = {.threads = threads};
    options.on_progress = [&](std::uint64_t done, std::uint64_t total) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_EQ(total, text.size());
      EXPECT_LE(done, total);
      reported.push_back(done);
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
  const std::string text = many_events(100);
  Pipe pipe(text);
  ReadOptions options = {.threads = 1};
  int calls = 0;
  options.on_progress = [&](std::uint64_t, std::uint64_t total) {
    EXPECT_EQ(total, 0u);
    ++calls;
  };
  ASSERT_TRUE(read_chrome(pipe, options).ok());
  EXPECT_GT(calls, 0);
}

TEST(ReadChrome, KeepsWhatCameBeforeTheSourceFailed) {
  const std::string text = many_events(30'000);
  for (const std::size_t fail_after : {std::size_t{100}, std::size_t{200'000}, text.size() - 5}) {
    for (const int threads : {1, 2, 3}) {
      fixtures::FailingSource source(text, fail_after, 70'000);
      const Result<Trace> trace = read_chrome(source, {.threads = threads});
      ASSERT_TRUE(trace.ok()) << trace.status().message();
      const std::size_t whole = names(read(text.substr(0, fail_after))).size();
      EXPECT_EQ(trace->events().size(), whole);
      EXPECT_EQ(issue_counts(*trace), "input_truncated 1, input_damaged 1");
      EXPECT_EQ(trace->issues()[1].offsets.front(), fail_after);
    }
  }
}

TEST(ReadChrome, CountsDamageBehindAWholeDocument) {
  const std::string text = many_events(3);
  fixtures::FailingSource source(text, text.size());
  const Result<Trace> trace = read_chrome(source, {.threads = 1});
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->events().size(), 3u);
  EXPECT_EQ(issue_counts(*trace), "input_damaged 1") << "a bad checksum is damage";
}

TEST(ReadChrome, FailsWhereNothingCouldBeRead) {
  fixtures::FailingSource source("", 0);
  const Result<Trace> trace = read_chrome(source, {.threads = 2});
  ASSERT_FALSE(trace.ok());
  EXPECT_THAT(trace.status().message(), HasSubstr("the cable was pulled"));
}

// Items of more than 32 MiB. Memory is watched while the reader asks for more.

std::size_t resident_bytes() {
  std::size_t pages = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * 4096;
}

struct HugeCase {
  std::string head;
  char fill;
  std::string tail;
};

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Sanitizers need memory of their own, and time.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // fewer sizes and threads: every page costs much
#else
constexpr bool kSanitized = false;
#endif

/// Reads a text with an item of `size` bytes between `head` and `tail`; most memory goes to
/// `grown`.
Trace read_huge(const HugeCase& huge, std::uint64_t size, int threads, std::size_t& grown) {
  const std::size_t before = resident_bytes();
  std::size_t most = before;
  fixtures::HugeSource source(huge.head, size, huge.fill, huge.tail);
  source.on_read = [&] { most = std::max(most, resident_bytes()); };
  Result<Trace> trace = read_chrome(source, {.threads = threads});
  grown = most - before;
  EXPECT_TRUE(trace.ok()) << trace.status().message();
  if (trace.ok()) return *std::move(trace);
  return read("[]");
}

const std::string& first_and_second() {
  static const std::string text = fixtures::event_text(op("a"), Layout::minified) + "," +
                                  fixtures::event_text(op("b"), Layout::minified);
  return text;
}

void expect_left_out(const HugeCase& huge, std::string_view issues) {
  for (const int threads : {1, 3}) {
    if (kSanitized && threads == 1) continue;
    std::size_t grown = 0;
    const Trace trace = read_huge(huge, (kSanitized ? 70 : 300) * kMiB, threads, grown);
    EXPECT_THAT(names(trace), testing::IsSupersetOf({"a", "b"})) << threads << " threads";
    EXPECT_EQ(issue_counts(trace), issues) << threads << " threads";
    if (!kSanitized) EXPECT_LT(grown, 200 * kMiB) << "the item is not held";
  }
}

TEST(ReadChrome, LeavesOutEventsTooLargeToHold) {
  expect_left_out({"[" + first_and_second() + ",{\"ph\":\"X\",\"name\":\"", 'x',
                   "\",\"ts\":1}," + fixtures::event_text(op("c"), Layout::minified) + "]"},
                  "event_too_large 1");
}

TEST(ReadChrome, LeavesOutNestedEventsTooLargeToHold) {
  expect_left_out(
      {"{\"traceEvents\":[" + first_and_second() + ",{\"ph\":\"X\",\"args\":{\"list\":[", '1',
       "]}}," + fixtures::event_text(op("c"), Layout::minified) + "]}"},
      "event_too_large 1");
}

TEST(ReadChrome, LeavesOutMembersTooLargeToHold) {
  expect_left_out({"{\"before\":\"", '}', "\",\"traceEvents\":[" + first_and_second() + "]}"},
                  "event_too_large 1");
  expect_left_out({"{\"traceEvents\":[" + first_and_second() + "],\"log\":\"", ']', "\",\"b\":1}"},
                  "event_too_large 1");
}

TEST(ReadChrome, LeavesOutWhatHasNoEnd) {
  expect_left_out({"[" + first_and_second() + ",{\"ph\":\"X\",\"name\":\"", 'x', ""},
                  "input_truncated 1, event_too_large 1");
}

TEST(ReadChrome, ReadsOnBehindAnItemThatIsTooLarge) {
  HugeCase huge = {"[" + first_and_second() + ",{\"ph\":\"X\",\"name\":\"", 'x', "\",\"ts\":1}"};
  for (int row = 0; row < 20'000; ++row) {
    huge.tail += "," + fixtures::event_text(op("op " + std::to_string(row)), Layout::minified);
  }
  for (const int threads : {1, 2}) {
    if (kSanitized && threads == 1) continue;
    std::size_t grown = 0;
    const Trace trace = read_huge(huge, 70 * kMiB, threads, grown);
    EXPECT_EQ(trace.events().size(), 20'002u);
    EXPECT_EQ(issue_counts(trace), "event_too_large 1");
    ASSERT_EQ(trace.issues()[0].offsets.size(), 1u);
    EXPECT_EQ(trace.issues()[0].offsets[0], 1 + first_and_second().size() + 1);
  }
}

TEST(ReadChrome, HoldsItemsOfUpTo32MiB) {
  const HugeCase huge = {"[" + first_and_second() + ",{\"ph\":\"X\",\"ts\":1,\"name\":\"", 'x',
                         "\"}," + fixtures::event_text(op("c"), Layout::minified) + "]"};
  std::size_t grown = 0;
  for (const int threads : {1, 2}) {
    const Trace trace = read_huge(huge, 31 * kMiB, threads, grown);
    EXPECT_EQ(trace.events().size(), 4u);
    EXPECT_EQ(issue_counts(trace), "");
  }
}

TEST(ReadChrome, DecidesWhatIsTooLargeWhateverTheThreads) {
  const HugeCase huge = {"[" + first_and_second() + ",{\"ph\":\"X\",\"ts\":1,\"name\":\"", 'x',
                         "\"}," + fixtures::event_text(op("c"), Layout::minified) + "]"};
  for (const std::uint64_t size : {33 * kMiB, 63 * kMiB, 65 * kMiB}) {
    if (kSanitized && size == 63 * kMiB) continue;
    std::size_t grown = 0;
    const Trace one = read_huge(huge, size, 1, grown);
    const Trace two = read_huge(huge, size, 2, grown);
    EXPECT_EQ(issue_counts(one), issue_counts(two)) << size;
    EXPECT_EQ(one.events().size(), two.events().size()) << size;
  }
}

}  // namespace
}  // namespace tbtrace::readers
