// What is thrown while a trace is read: it reaches the caller, and no thread is left behind.
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <set>
#include <sstream>
#include <stdexcept>
#include <streambuf>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/chrome_text.h"
#include "fixtures/gzip_member.h"
#include "fixtures/read_text.h"
#include "fixtures/throwing_source.h"
#include "readers/chrome/document.h"
#include "readers/formats/format.h"

namespace tbtrace::readers {
namespace {

using fixtures::op;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kThreadCounts[] = {1, 2, 8};

std::string many_events(int count = 20'000) {
  std::vector<fixtures::ChromeEvent> events;
  for (int row = 0; row < count; ++row) events.push_back(op("op " + std::to_string(row)));
  return fixtures::trace_text(std::move(events), fixtures::Layout::event_a_line);
}

std::ptrdiff_t running_threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

/// A thread that was joined may be listed for a moment longer.
void expect_no_more_threads_than(std::ptrdiff_t before) {
  for (int tries = 0; running_threads() > before && tries < 1000; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_LE(running_threads(), before);
}

/// What `call` throws.
std::string thrown_by(const std::function<void()>& call) {
  const std::ptrdiff_t before = running_threads();
  std::string what = "nothing";
  try {
    call();
  } catch (const std::exception& error) {
    what = error.what();
  }
  expect_no_more_threads_than(before);
  return what;
}

void pull_cable() { throw std::runtime_error("the cable was pulled"); }

TEST(ReadChromeFailures, OfASourceReachTheCaller) {
  const std::string text = many_events();
  for (const int threads : kThreadCounts) {
    for (const std::size_t reads : {0u, 1u, 5u, 20u}) {
      fixtures::ThrowingSource source(text, 50'000, reads, pull_cable);
      const std::string thrown =
          thrown_by([&] { static_cast<void>(read_chrome(source, {.threads = threads}, {4096})); });
      EXPECT_EQ(thrown, "the cable was pulled") << reads << " reads, " << threads << " threads";
    }
  }
}

/// Throws at the rows after so many times.
class ThrowingSink final : public EventSink {
 public:
  explicit ThrowingSink(int times) : times_left_(times) {}
  void add(const EventBatch&) override {
    if (times_left_-- == 0) throw std::runtime_error("the sink is full");
  }
  void restart() override {}

 private:
  int times_left_;
};

TEST(ReadChromeFailures, OfASinkReachTheCaller) {
  const std::string text = many_events();
  for (const int threads : kThreadCounts) {
    for (const int times : {0, 1, 30}) {
      const auto source = io::memory_source(text);
      TraceBuilder builder;
      ThrowingSink sink(times);
      ChromeDocument document({}, builder, sink);
      const std::string thrown = thrown_by(
          [&] { static_cast<void>(read_events(*source, document, {.threads = threads}, {4096})); });
      EXPECT_EQ(thrown, "the sink is full") << times << " times, " << threads << " threads";
    }
  }
}

TEST(ReadChromeFailures, OfACallbackReachTheCaller) {
  const std::string text = many_events();
  for (const int threads : kThreadCounts) {
    for (const int calls : {0, 1, 30}) {
      int calls_left = calls;
      ReadOptions options = {.threads = threads};
      options.on_progress = [&](std::uint64_t, std::uint64_t) {
        if (calls_left-- == 0) throw std::runtime_error("thrown");
        return true;
      };
      const std::string thrown = thrown_by([&] {
        const auto source = io::memory_source(text);
        static_cast<void>(read_chrome(*source, options, {4096}));
      });
      EXPECT_EQ(thrown, "thrown") << calls << " calls, " << threads << " threads";
    }
  }
}

TEST(ReadChromeFailures, ACallbackThatReturnsFalseCancels) {
  const std::string text = many_events();
  for (const int threads : kThreadCounts) {
    for (const int calls : {0, 1, 30}) {
      int calls_left = calls;
      ReadOptions options = {.threads = threads};
      options.on_progress = [&](std::uint64_t, std::uint64_t) { return calls_left-- > 0; };
      const auto source = io::memory_source(text);
      const Result<Reading> reading = read_chrome(*source, options, {4096});
      ASSERT_FALSE(reading.ok()) << calls << " calls, " << threads << " threads";
      EXPECT_EQ(reading.status().code(), StatusCode::cancelled);
      EXPECT_EQ(calls_left, -1) << "not called again";
      EXPECT_LT(source->position(), text.size()) << "the rest is not read";
    }
  }
}

TEST(ReadSource, SaysThatMemoryRanOut) {
  const std::string text = many_events();
  const auto no_memory = [] { throw std::bad_alloc(); };
  const auto too_long = [] { throw std::length_error("vector"); };
  for (const int threads : kThreadCounts) {
    for (const std::size_t reads : {0u, 1u, 2u, 5u, 20u}) {
      for (const std::function<void()>& fail : {std::function<void()>(no_memory), {too_long}}) {
        const std::ptrdiff_t before = running_threads();
        auto source = std::make_unique<fixtures::ThrowingSource>(text, 50'000, reads, fail);
        const Result<Reading> reading = read_source(std::move(source), {.threads = threads});
        ASSERT_FALSE(reading.ok());
        EXPECT_EQ(reading.status().code(), StatusCode::out_of_memory);
        EXPECT_EQ(reading.status().message(), out_of_memory(threads).message());
        expect_no_more_threads_than(before);
      }
    }
  }
}

/// Gives its text and remembers who asked.
class WatchedBuffer final : public std::streambuf {
 public:
  explicit WatchedBuffer(std::string text) : text_(std::move(text)) {}

  std::set<std::thread::id> readers;

 private:
  int_type underflow() override {
    readers.insert(std::this_thread::get_id());
    if (at_ == text_.size()) return traits_type::eof();
    const std::size_t count = std::min<std::size_t>(text_.size() - at_, 10'000);
    setg(text_.data() + at_, text_.data() + at_, text_.data() + at_ + count);
    at_ += count;
    return traits_type::to_int_type(*gptr());
  }

  std::string text_;
  std::size_t at_ = 0;
};

TEST(ReadTraceOfAStream, ReadsItOnTheCallingThreadOnly) {
  for (const int threads : kThreadCounts) {
    for (const std::string& text : {many_events(), fixtures::gzip_member(many_events())}) {
      WatchedBuffer buffer(text);
      std::istream stream(&buffer);
      const Result<Trace> trace = read_trace(stream, {.threads = threads});
      ASSERT_TRUE(trace.ok()) << trace.status().message();
      EXPECT_EQ(trace->events().size(), 20'000u);
      EXPECT_THAT(buffer.readers, ElementsAre(std::this_thread::get_id()));
    }
  }
}

TEST(ReadTraceOfAStream, DoesNotThrowAtItsEndThoughTheStreamDoes) {
  constexpr auto kAll = std::ios::failbit | std::ios::badbit | std::ios::eofbit;
  for (const int threads : kThreadCounts) {
    for (const auto mask :
         {std::ios::iostate(std::ios::failbit), std::ios::iostate(std::ios::eofbit), kAll}) {
      for (const int events : {0, 3, 20'000}) {
        std::istringstream stream(many_events(events));
        stream.exceptions(mask);
        const Result<Trace> trace = read_trace(stream, {.threads = threads});
        ASSERT_TRUE(trace.ok()) << trace.status().message();
        EXPECT_EQ(trace->events().size(), static_cast<std::size_t>(events));
        EXPECT_EQ(stream.exceptions(), mask) << "the stream is its owner's";
      }
    }
  }
}

TEST(ReadTraceOfAStream, SaysThatItCannotBeReadThoughTheStreamThrows) {
  class Broken final : public std::streambuf {
    int_type underflow() override { throw std::runtime_error("the cable was pulled"); }
  };
  for (const auto mask :
       {std::ios::goodbit, std::ios::badbit, std::ios::failbit | std::ios::badbit}) {
    Broken buffer;
    std::istream stream(&buffer);
    stream.exceptions(mask);
    const Result<Trace> trace = read_trace(stream, {.threads = 2});
    ASSERT_FALSE(trace.ok());
    EXPECT_THAT(trace.status().message(), HasSubstr("cannot read the stream"));
  }
}

}  // namespace
}  // namespace tbtrace::readers
