#include "recorder/log/recording.h"

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recorder/log/record.h"

namespace tbtrace::recorder {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Pair;

std::shared_ptr<Recording> started() {
  auto recording = std::make_shared<Recording>(RecordingOptions{});
  recording->start();
  return recording;
}

TEST(Recording, NoTwoHaveTheSameId) {
  std::set<std::string> ids;
  for (int count = 0; count < 1000; ++count) {
    const Recording recording({});
    EXPECT_THAT(recording.trace_id(), MatchesRegex("[0-9A-F]{32}"));
    ids.insert(recording.trace_id());
  }
  EXPECT_EQ(ids.size(), 1000U);
}

TEST(Recording, LastsFromItsStartToTheFirstClose) {
  const auto recording = started();
  const std::uint64_t amid = ticks();
  EXPECT_FALSE(recording->is_closed());
  recording->close();
  EXPECT_TRUE(recording->is_closed());
  EXPECT_LE(recording->started().ticks, amid);
  EXPECT_LE(amid, recording->ended().ticks);
  const std::uint64_t ended = recording->ended().ticks;
  recording->close();
  EXPECT_EQ(recording->ended().ticks, ended);
}

TEST(Recording, ThreadsThatComeAfterTheEndGetNoLog) {
  const auto recording = started();
  const auto early = recording->add_thread({.system_id = 5, .logical_id = 2, .name = "early"});
  ASSERT_NE(early, nullptr);
  EXPECT_EQ(early->identity().name, "early");
  recording->close();
  EXPECT_EQ(recording->add_thread({}), nullptr);
  EXPECT_THAT(recording->logs(), ElementsAre(early));
}

TEST(Recording, ClosingClosesTheLogs) {
  const auto recording = started();
  const auto log = recording->add_thread({});
  write(*log, EndRecord{.ticks = 1, .key = 1});
  recording->close();
  write(*log, EndRecord{.ticks = 2, .key = 2});
  std::vector<std::uint64_t> keys;
  struct Visitor {
    std::vector<std::uint64_t>& keys;
    void operator()(const BeginRecord&, const std::uint64_t*) { ADD_FAILURE(); }
    void operator()(const EndRecord& end) { keys.push_back(end.key); }
    void operator()(const MemoryEvent&) { ADD_FAILURE(); }
    void operator()(const InstantRecord&) { ADD_FAILURE(); }
    void operator()(const CounterRecord&) { ADD_FAILURE(); }
  };
  read_records(*log, Visitor{keys});
  EXPECT_THAT(keys, ElementsAre(1));
}

TEST(Recording, TheLastMetadataOfANameCounts) {
  const auto recording = started();
  EXPECT_TRUE(recording->add_metadata("model", "\"a\"").ok());
  EXPECT_TRUE(recording->add_metadata("epoch", "1").ok());
  EXPECT_TRUE(recording->add_metadata("model", "{\"b\": 2}").ok());
  recording->close();
  EXPECT_THAT(recording->metadata(), ElementsAre(Pair("epoch", "1"), Pair("model", "{\"b\": 2}")));
}

TEST(Recording, MembersThatAFileIsReadByAreNoMetadata) {
  const auto recording = started();
  for (const char* key :
       {"schemaVersion", "deviceProperties", "displayTimeUnit", "baseTimeNanoseconds",
        "traceEvents", "traceName", "tbtrace_lost_records", "tbtrace_unreadable_chunks"}) {
    const Status refused = recording->add_metadata(key, "1");
    EXPECT_EQ(refused.code(), StatusCode::invalid_argument);
    EXPECT_THAT(refused.message(), AllOf(HasSubstr("metadata '" + std::string(key) + "'"),
                                         HasSubstr("choose another name")));
  }
  EXPECT_THAT(recording->metadata(), IsEmpty());
}

TEST(Recording, MetadataThatComeAfterTheEndAreRefused) {
  const auto recording = started();
  EXPECT_TRUE(recording->add_metadata("in time", "1").ok());
  recording->close();
  EXPECT_THAT(recording->add_metadata("late", "2").message(), HasSubstr("add it before stop()"));
  EXPECT_FALSE(recording->add_metadata("in time", "3").ok());
  EXPECT_THAT(recording->metadata(), ElementsAre(Pair("in time", "1")));
}

// The thread sanitizer sees it if metadata come in while whoever closed the recording reads them.
TEST(Recording, MetadataStayWhileAClosedRecordingIsRead) {
  for (int round = 0; round < 50; ++round) {
    const auto recording = started();
    std::size_t kept = 0;
    std::jthread writer([&] {
      while (recording->add_metadata(std::to_string(kept), "1").ok()) ++kept;
    });
    recording->close();
    std::size_t size = recording->metadata().size();
    writer.join();
    EXPECT_EQ(size, kept);
    EXPECT_EQ(recording->metadata().size(), kept);
  }
}

TEST(Recording, KnowsTheMemoryThatWasThereBefore) {
  const std::int64_t before = watched_bytes.load();
  const auto first = started();
  first->add_thread({})->count_memory(1000);
  first->add_thread({})->count_memory(-200);
  EXPECT_EQ(watched_bytes.load(), before) << "a recording that goes on has not counted yet";
  first->close();
  const auto second = started();
  second->close();
  EXPECT_EQ(first->bytes_at_start(), before);
  EXPECT_EQ(second->bytes_at_start(), before + 800);
  watched_bytes.store(before);
}

TEST(Recording, ItsBytesIncludeWhatDevicesDidOnceThatIsKnown) {
  const auto recording = started();
  std::promise<std::shared_ptr<const DeviceTrace>> records;
  recording->set_device_trace(records.get_future().share());
  recording->close();
  EXPECT_EQ(recording->bytes(), 0U);
  DeviceTrace trace;
  for (int row = 0; row < 1000; ++row) {
    trace.activities.push_back({});
    trace.calls.push_back({});
  }
  records.set_value(std::make_shared<const DeviceTrace>(std::move(trace)));
  EXPECT_GE(recording->bytes(), 1000 * (sizeof(ApiCall) + 24));
}

TEST(Recording, AThreadsLogOutlivesIt) {
  auto recording = started();
  const auto log = recording->add_thread({});
  for (std::uint64_t at = 0; at < 100'000; ++at) write(*log, EndRecord{.ticks = at, .key = at});
  recording.reset();
  EXPECT_EQ(log.use_count(), 1);
  for (std::uint64_t at = 0; at < 100'000; ++at) write(*log, EndRecord{.ticks = at, .key = at});
  EXPECT_EQ(log->room(kChunkBytes), nullptr) << "it was closed, so there are no more chunks";
}

TEST(Recording, EndsWhileThreadsCome) {
  for (int round = 0; round < 50; ++round) {
    const auto recording = started();
    std::vector<std::size_t> added(8);
    {
      std::vector<std::jthread> threads;
      threads.reserve(added.size());
      for (std::size_t& count : added) {
        threads.emplace_back([&] {
          while (const auto log = recording->add_thread(this_thread_identity())) {
            write(*log, EndRecord{.ticks = 1, .key = 1});
            ++count;
            std::this_thread::yield();
          }
        });
      }
      recording->close();
    }
    std::size_t sum = 0;
    for (const std::size_t count : added) sum += count;
    EXPECT_EQ(recording->logs().size(), sum);
    EXPECT_EQ(recording->lost(), 0U);
  }
}

}  // namespace
}  // namespace tbtrace::recorder
