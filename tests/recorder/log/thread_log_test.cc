#include "recorder/log/thread_log.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

namespace tbtrace::recorder {
namespace {

constexpr std::size_t words_in(std::size_t chunk_bytes) {
  return (chunk_bytes - sizeof(Chunk)) / sizeof(std::uint64_t);
}
constexpr std::size_t kUsualWords = words_in(kChunkBytes);
constexpr std::size_t kFirstWords = words_in(kSmallestChunkBytes);

/// Writes `size` words of a value, as one record; false where there is no room.
bool write_words(ThreadLog& log, std::size_t size, std::uint64_t value) {
  std::uint64_t* const at = log.room(size);
  if (at == nullptr) return false;
  std::fill_n(at, size, value);
  log.commit(at + size);
  return true;
}

std::vector<std::uint64_t> written_words(const ThreadLog& log) {
  std::vector<std::uint64_t> all;
  log.for_each_chunk([&](const std::uint64_t* words, std::size_t count) {
    all.insert(all.end(), words, words + count);
  });
  return all;
}

/// Words in each of the log's chunks.
std::vector<std::size_t> counts_of(const ThreadLog& log) {
  std::vector<std::size_t> counts;
  log.for_each_chunk([&](const std::uint64_t*, std::size_t count) { counts.push_back(count); });
  return counts;
}

TEST(ThreadLog, OfAThreadThatWroteNothingIsEmpty) {
  ThreadLog log({});
  log.close();
  EXPECT_EQ(written_words(log), std::vector<std::uint64_t>());
  EXPECT_EQ(log.bytes(), 0U);
  EXPECT_EQ(log.lost(), 0U);
  log.drop_chunks();
}

TEST(ThreadLog, KeepsTheOrderOverManyChunks) {
  constexpr std::size_t kRecords = 50'000;
  ThreadLog log({});
  std::vector<std::uint64_t> written;
  for (std::uint64_t record = 0; record < kRecords; ++record) {
    const std::size_t size = 1 + record % 13;
    ASSERT_TRUE(write_words(log, size, record));
    written.insert(written.end(), size, record);
  }
  log.close();
  EXPECT_EQ(written_words(log), written);
  // Three smaller ones at first.
  EXPECT_EQ(counts_of(log).size(), written.size() / kUsualWords + 1 + 3);
}

TEST(ThreadLog, ItsChunksGrowFromASmallOneToTheUsualSize) {
  ThreadLog log({});
  std::vector<std::size_t> bytes;
  for (std::size_t before = 0; bytes.size() < 6;) {
    write_words(log, 1, 7);
    if (log.bytes() != before) bytes.push_back(log.bytes() - before + sizeof(Chunk));
    before = log.bytes();
  }
  log.close();
  EXPECT_EQ(bytes, (std::vector<std::size_t>{4096, 4 * 4096, 16 * 4096, kChunkBytes, kChunkBytes,
                                             kChunkBytes}));
}

TEST(ThreadLog, ARecordThatJustFitsTakesNoNewChunk) {
  ThreadLog log({});
  write_words(log, kUsualWords - 5, 1);
  write_words(log, 5, 2);
  write_words(log, 1, 3);
  log.close();
  EXPECT_EQ(counts_of(log), (std::vector<std::size_t>{kUsualWords, 1}));
}

TEST(ThreadLog, ARecordIsNeverDividedAmongChunks) {
  ThreadLog log({});
  write_words(log, kUsualWords - 5, 1);
  write_words(log, 6, 2);
  log.close();
  EXPECT_EQ(counts_of(log), (std::vector<std::size_t>{kUsualWords - 5, 6}));
}

TEST(ThreadLog, ARecordLargerThanAChunkGetsOneOfItsOwn) {
  ThreadLog log({});
  write_words(log, 3, 1);
  write_words(log, kUsualWords + 1, 2);
  write_words(log, 3, 3);
  write_words(log, 10 * kUsualWords, 4);
  log.close();
  EXPECT_EQ(counts_of(log), (std::vector<std::size_t>{3, kUsualWords + 1, 3, 10 * kUsualWords}));
  EXPECT_EQ(log.bytes(), (kFirstWords + 12 * kUsualWords + 1) * sizeof(std::uint64_t));
}

TEST(ThreadLog, RoomThatIsNotCommittedIsNoPart) {
  ThreadLog log({});
  write_words(log, 2, 1);
  ASSERT_NE(log.room(5), nullptr);
  write_words(log, 1, 2);
  ASSERT_NE(log.room(kUsualWords + 1), nullptr);  // a new chunk
  log.close();
  EXPECT_EQ(written_words(log), (std::vector<std::uint64_t>{1, 1, 2}));
}

TEST(ThreadLog, LessThanItsRoomMayBeCommitted) {
  ThreadLog log({});
  std::uint64_t* const at = log.room(10);
  at[0] = 7;
  log.commit(at + 1);
  write_words(log, 1, 8);
  log.close();
  EXPECT_EQ(written_words(log), (std::vector<std::uint64_t>{7, 8}));
}

TEST(ThreadLog, OnceClosedItsThreadFillsTheChunkForNothing) {
  ThreadLog log({});
  write_words(log, 3, 1);
  log.close();
  std::size_t written = 0;
  while (write_words(log, 4, 2)) ++written;
  EXPECT_EQ(written, (kFirstWords - 3) / 4);
  EXPECT_EQ(log.room(4), nullptr);
  EXPECT_EQ(log.lost(), 0U);
  EXPECT_EQ(written_words(log), (std::vector<std::uint64_t>{1, 1, 1}));
  log.close();
  EXPECT_EQ(written_words(log), (std::vector<std::uint64_t>{1, 1, 1}));
}

TEST(ThreadLog, ThatIsClosedBeforeTheFirstRecordHasNoRoom) {
  ThreadLog log({});
  log.close();
  EXPECT_EQ(log.room(1), nullptr);
  EXPECT_EQ(log.lost(), 0U);
  EXPECT_EQ(counts_of(log), std::vector<std::size_t>());
}

#ifndef TBTRACE_SANITIZED
TEST(ThreadLog, CountsRecordsForWhichThereIsNoMemory) {
  constexpr std::size_t kNobodyHasThatMuch = std::size_t{1} << 45;
  ThreadLog log({});
  write_words(log, 2, 1);
  EXPECT_EQ(log.room(kNobodyHasThatMuch), nullptr);
  EXPECT_EQ(log.room(kNobodyHasThatMuch), nullptr);
  write_words(log, 1, 2);
  log.close();
  EXPECT_EQ(log.lost(), 2U);
  EXPECT_EQ(written_words(log), (std::vector<std::uint64_t>{1, 1, 2}));
}
#endif

TEST(ThreadLog, DroppingLeavesTheChunkThatIsWrittenTo) {
  ThreadLog log({});
  for (std::uint64_t record = 0; record < 10; ++record) write_words(log, kUsualWords / 2, record);
  write_words(log, 5, 77);
  log.close();
  EXPECT_EQ(counts_of(log).size(), 6U);
  log.drop_chunks();
  EXPECT_EQ(written_words(log), (std::vector<std::uint64_t>(5, 77)));
  EXPECT_TRUE(write_words(log, 1, 1)) << "the thread may not have heard of the end";
}

TEST(ThreadLog, DroppedChunksAreThereForOthers) {
  auto log = std::make_unique<ThreadLog>(ThreadIdentity{});
  const std::uint64_t* const first = log->room(kUsualWords);
  write_words(*log, kUsualWords, 1);
  write_words(*log, 1, 2);
  log->close();
  log->drop_chunks();
  Chunk* const chunk = take_chunk();
  EXPECT_EQ(chunk->words(), first);
  give_chunk(chunk);
}

TEST(ThreadLog, SumsUpItsThreadsMemory) {
  ThreadLog log({});
  log.count_memory(100);
  log.count_memory(-130);
  EXPECT_EQ(log.memory_bytes(), -30);
}

// What the thread sanitizer would see as well: nothing is written behind what the reader takes.
TEST(ThreadLog, ClosedAmidWritingHoldsAWholePrefix) {
  for (int round = 0; round < 40; ++round) {
    ThreadLog log({});
    std::atomic<std::uint64_t> progress = 0;
    std::atomic<bool> stop = false;
    std::jthread writer([&] {
      for (std::uint64_t record = 0; !stop; ++record) {
        // Two words or, now and then, most of a chunk.
        write_words(log, record % 64 == 63 ? kUsualWords - 100 : 2, record);
        progress.store(record + 1, std::memory_order_relaxed);
        if (record % 64 == 63) std::this_thread::yield();
      }
    });
    const auto enough = std::uint64_t{5} * static_cast<std::uint64_t>(round);
    while (progress.load(std::memory_order_relaxed) < enough) std::this_thread::yield();
    log.close();
    const std::vector<std::uint64_t> words = written_words(log);
    std::size_t at = 0;
    std::uint64_t record = 0;
    for (; at < words.size(); ++record) {
      const std::size_t size = record % 64 == 63 ? kUsualWords - 100 : 2;
      ASSERT_LE(at + size, words.size());
      const auto begin = words.begin() + static_cast<std::ptrdiff_t>(at);
      ASSERT_EQ(std::count(begin, begin + static_cast<std::ptrdiff_t>(size), record),
                static_cast<std::ptrdiff_t>(size));
      at += size;
    }
    EXPECT_GE(record, enough);
    log.drop_chunks();
    stop = true;
    writer.join();
    EXPECT_EQ(log.lost(), 0U);
  }
}

TEST(ThreadIdentity, IsWhatTheSystemSays) {
  ThreadIdentity mine;
  std::jthread([&mine] {
    ::pthread_setname_np(::pthread_self(), "loader 3");
    mine = this_thread_identity();
  }).join();
  EXPECT_EQ(mine.name, "loader 3");
  EXPECT_NE(mine.system_id, ::getpid());
  EXPECT_GT(mine.system_id, 0);
  EXPECT_EQ(this_thread_identity().system_id, ::getpid()) << "tests run on the main thread";
}

}  // namespace
}  // namespace tbtrace::recorder
