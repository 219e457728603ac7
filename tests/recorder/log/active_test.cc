#include "recorder/log/active.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <latch>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fixtures/random_rounds.h"
#include "recorder/log/started.h"

namespace tbtrace::recorder {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Active, AThreadHasNoLogWhereNothingIsRecorded) {
  for (std::size_t slot = 0; slot < kSlots; ++slot) EXPECT_EQ(this_thread_log(slot), nullptr);
}

TEST(Active, EndingARecordingClosesIt) {
  Started started;
  const std::size_t slot = started.slot;
  EXPECT_TRUE(note(slot, 1));
  EXPECT_TRUE(note(slot, 2));
  EXPECT_FALSE(started.recording->is_closed());
  started.stop();
  EXPECT_TRUE(started.recording->is_closed());
  EXPECT_EQ(this_thread_log(slot), nullptr);
  EXPECT_THAT(notes_of(*started.recording), ElementsAre(ElementsAre(1, 2)));
}

/// How many numbers are missing among those that busy threads note while one recording takes the
/// place of another, over and over; of all windows, each thread's numbers are in order.
std::int64_t missing_notes(int windows) {
  Started first(Reach::all_threads);
  const std::size_t slot = first.slot;
  std::vector<std::shared_ptr<Recording>> all = {first.recording};
  constexpr int kThreads = 3;
  std::latch begun(kThreads);
  std::atomic<bool> is_over = false;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t writer = 1; writer <= kThreads; ++writer) {
      threads.emplace_back([&, writer] {
        for (std::int64_t number = 1; !is_over || number < 100; ++number) {
          note(slot, number, writer);
          if (number == 1) begun.count_down();
        }
      });
    }
    begun.wait();
    for (int window = 1; window < windows; ++window) {
      all.push_back(std::make_shared<Recording>(RecordingOptions{}));
      replace(slot, all.back());
      EXPECT_TRUE(all[all.size() - 2]->is_closed());
      std::this_thread::yield();
    }
    is_over = true;
  }
  first.stop();
  std::map<std::uint64_t, std::int64_t> last;
  std::int64_t missing = 0;
  for (const auto& recording : all) {
    for (const auto& log : recording->logs()) {
      const Notes notes = notes_of(*log);
      for (std::size_t at = 0; at < notes.numbers.size(); ++at) {
        std::int64_t& before = last[notes.writers[at]];
        EXPECT_GT(notes.numbers[at], before) << "a record is there twice";
        missing += notes.numbers[at] - before - 1;
        before = notes.numbers[at];
      }
    }
    EXPECT_EQ(recording->lost(), 0U);
  }
  EXPECT_THAT(last, testing::SizeIs(kThreads));
  return missing;
}

TEST(Active, NothingIsMissingBetweenARecordingAndTheNextOne) {
  EXPECT_EQ(missing_notes(static_cast<int>(20 + fixtures::random_rounds(200))), 0);
}

TEST(Active, ARecordThatWasBeingWrittenIsInTheRecordingThatEnded) {
  Started started;
  EXPECT_TRUE(note(started.slot, 1));
  ThreadLog* const log = this_thread_log(started.slot);
  const auto next = std::make_shared<Recording>(RecordingOptions{});
  replace(started.slot, next);
  write(*log, MemoryEvent{.ticks = 1, .address = 0, .bytes = 2});
  EXPECT_TRUE(note(started.slot, 3));
  started.stop();
  EXPECT_THAT(notes_of(*started.recording), ElementsAre(ElementsAre(1, 2)));
  EXPECT_THAT(notes_of(*next), ElementsAre(ElementsAre(3)));
  write(*log, MemoryEvent{.ticks = 1, .address = 0, .bytes = 4});
  EXPECT_THAT(notes_of(*started.recording), ElementsAre(ElementsAre(1, 2))) << "it was read";
}

TEST(Active, MemoryThatIsCountedLateIsNotForgotten) {
  const std::int64_t before = alive_bytes();
  {
    Started started;
    ThreadLog* const log = this_thread_log(started.slot);
    replace(started.slot, std::make_shared<Recording>(RecordingOptions{}));
    log->count_memory(2);
  }
  EXPECT_EQ(alive_bytes(), before + 2);
  watched_bytes.fetch_sub(2);
}

TEST(Active, EndingWhatIsNotActiveIsNoTrouble) {
  deactivate(3);
  Started started;
  EXPECT_TRUE(note(started.slot, 1));
}

TEST(Active, ARecordingStartsWithWhatOthersCountedSoFar) {
  const std::int64_t before = alive_bytes();
  Started outer;
  this_thread_log(outer.slot)->count_memory(100);
  const Started inner;
  EXPECT_EQ(inner.recording->bytes_at_start(), before + 100);
  this_thread_log(outer.slot)->count_memory(20);
  outer.stop();
  EXPECT_EQ(alive_bytes(), before + 120);
  this_thread_log(inner.slot)->count_memory(-120);
  const Started last;
  EXPECT_EQ(last.recording->bytes_at_start(), before);
}

TEST(Active, TwoRecordingsAtOnceGetTheirOwnLogs) {
  Started outer;
  EXPECT_TRUE(note(outer.slot, 1));
  Started inner;
  ASSERT_NE(outer.slot, inner.slot);
  EXPECT_NE(this_thread_log(outer.slot), this_thread_log(inner.slot));
  EXPECT_TRUE(note(inner.slot, 10));
  EXPECT_TRUE(note(outer.slot, 2));
  inner.stop();
  EXPECT_TRUE(note(outer.slot, 3));
  outer.stop();
  EXPECT_THAT(notes_of(*outer.recording), ElementsAre(ElementsAre(1, 2, 3)));
  EXPECT_THAT(notes_of(*inner.recording), ElementsAre(ElementsAre(10)));
}

TEST(Active, ASlotThatIsUsedAgainNeverMixesRecordings) {
  std::vector<std::shared_ptr<Recording>> recordings;
  for (std::int64_t round = 0; round < 100; ++round) {
    Started started;
    EXPECT_EQ(started.slot, 0U);
    if (round % 3 != 0) {
      EXPECT_TRUE(note(started.slot, round));
    }
    recordings.push_back(started.recording);
  }
  for (std::int64_t round = 0; round < 100; ++round) {
    const Recording& recording = *recordings[static_cast<std::size_t>(round)];
    if (round % 3 != 0) {
      EXPECT_THAT(notes_of(recording), ElementsAre(ElementsAre(round)));
    } else {
      EXPECT_THAT(recording.logs(), IsEmpty());
    }
  }
}

TEST(Active, NoMoreThanTheSlotsAreRecordedAtATime) {
  std::vector<std::unique_ptr<Started>> all;
  for (const Reach reach : {Reach::some_threads, Reach::all_threads}) {
    for (std::size_t slot = 0; slot < kSlotsOfReach; ++slot) {
      all.push_back(std::make_unique<Started>(reach));
      EXPECT_EQ(all.back()->slot, all.size() - 1);
      EXPECT_TRUE(note(all.back()->slot, 1));
    }
    const auto refused = std::make_shared<Recording>(RecordingOptions{});
    EXPECT_EQ(activate(refused, reach), std::nullopt);
    EXPECT_FALSE(refused->is_closed());
    EXPECT_EQ(refused.use_count(), 1);
  }
  EXPECT_EQ(all.size(), kSlots);
  all[5]->stop();
  const Started next;
  EXPECT_EQ(next.slot, 5U);
}

TEST(Active, ASlotThatWasSetAsideStaysUnused) {
  std::optional<Started> started(std::in_place);
  ASSERT_EQ(started->slot, 0U);
  set_slot_aside(0);
  EXPECT_TRUE(note(0, 1)) << "its recording goes on";
  started.reset();
  EXPECT_FALSE(note(0, 2));
  {
    const Started next;
    EXPECT_EQ(next.slot, 1U);
    EXPECT_FALSE(note(0, 3));
  }
  release_slot(0);
  const Started next;
  EXPECT_EQ(next.slot, 0U);
}

TEST(Active, AThreadThatEndsLeavesItsRecords) {
  Started started;
  std::jthread([&] { note(started.slot, 7); }).join();
  EXPECT_TRUE(note(started.slot, 1));
  std::jthread([&] { note(started.slot, 8); }).join();
  started.stop();
  EXPECT_THAT(notes_of(*started.recording),
              ElementsAre(ElementsAre(7), ElementsAre(1), ElementsAre(8)));
}

/// Destroyed after its thread's logs where it is used before them.
struct NotesAtItsEnd {
  std::size_t slot = kSlots;
  std::atomic<int>* noted = nullptr;
  ~NotesAtItsEnd() {
    if (noted != nullptr) *noted = note(slot, 2) ? 1 : 0;
  }
};
thread_local NotesAtItsEnd at_end;

TEST(Active, AThreadThatIsEndingRecordsNothingMore) {
  Started started;
  std::atomic<int> noted = -1;
  std::jthread([&] {
    at_end.slot = started.slot;
    at_end.noted = &noted;
    note(started.slot, 1);
  }).join();
  started.stop();
  EXPECT_EQ(noted, 0);
  EXPECT_THAT(notes_of(*started.recording), ElementsAre(ElementsAre(1)));
}

TEST(Active, AThreadMayComeLateOrAfterTheEnd) {
  Started started;
  EXPECT_TRUE(note(started.slot, 1));
  std::latch recorded(1);
  std::latch stopped(1);
  bool after = true;
  const std::size_t slot = started.slot;
  std::jthread late([&] {
    note(slot, 2);
    recorded.count_down();
    stopped.wait();
    after = note(slot, 3);
  });
  recorded.wait();
  started.stop();
  stopped.count_down();
  late.join();
  EXPECT_FALSE(after);
  EXPECT_THAT(notes_of(*started.recording), ElementsAre(ElementsAre(1), ElementsAre(2)));
}

TEST(Active, LogsCarryTorchsNumberOfTheirThread) {
  logical_thread_id.store([] { return std::uint64_t{42}; });
  Started started;
  ASSERT_NE(this_thread_log(started.slot), nullptr);
  logical_thread_id.store(nullptr);
  EXPECT_EQ(this_thread_log(started.slot)->identity().logical_id, 42U);
  EXPECT_EQ(this_thread_log(started.slot)->identity().system_id, ::getpid());
}

/// Each log holds one thread's numbers, without a gap.
void expect_in_order(const Recording& recording) {
  for (const auto& log : recording.logs()) {
    const Notes notes = notes_of(*log);
    for (std::size_t at = 1; at < notes.numbers.size(); ++at) {
      ASSERT_EQ(notes.numbers[at], notes.numbers[at - 1] + 1);
      ASSERT_EQ(notes.writers[at], notes.writers[0]);
    }
  }
}

// For the thread sanitizer, above all.
TEST(Active, ThreadsWriteInOrderWhileRecordingsComeAndGo) {
  std::atomic<bool> stop = false;
  std::atomic<int> noted = 0;
  std::vector<std::jthread> threads;
  for (std::uint64_t thread = 0; thread < 16; ++thread) {
    threads.emplace_back([&stop, &noted, thread] {
      std::int64_t numbers[3] = {};
      while (!stop) {
        for (std::size_t slot = 0; slot < 3; ++slot) {
          if (!note(slot, numbers[slot], thread)) continue;
          ++numbers[slot];
          noted.fetch_add(1, std::memory_order_relaxed);
        }
        std::this_thread::yield();
      }
    });
  }
  std::size_t logs = 0;
  std::unique_ptr<Started> last;
  for (int round = 0; round < 200 && !testing::Test::HasFailure(); ++round) {
    auto next = std::make_unique<Started>();
    const int enough = noted + round % 20;
    while (noted < enough) std::this_thread::yield();
    if (last != nullptr) {
      last->stop();
      logs += last->recording->logs().size();
      expect_in_order(*last->recording);
    }
    last = std::move(next);  // which overlaps with the one after it
  }
  stop = true;
  threads.clear();
  EXPECT_GT(logs, 0U);
}

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

TEST(Active, ShortThreadsTakeLittleMemoryAndAlwaysTheSame) {
  const std::size_t threads = fixtures::many_rows<std::size_t>(10'000);
  std::vector<double> resident;
  for (int window = 0; window < 4; ++window) {
    Started started;
    for (std::size_t thread = 0; thread < threads; ++thread) {
      std::jthread([&] { note(started.slot, 1); }).join();
    }
    started.stop();
    std::size_t bytes = 0;
    for (const auto& log : started.recording->logs()) bytes += log->bytes() + sizeof(Chunk);
    EXPECT_EQ(started.recording->logs().size(), threads);
    EXPECT_EQ(bytes, threads * kSmallestChunkBytes);
    resident.push_back(resident_bytes());
  }
#ifndef TBTRACE_SANITIZED
  // Three windows whose logs stay would be six times as much; allocators need some on their own.
  EXPECT_LT(resident.back() - resident.front(),
            0.5 * static_cast<double>(threads * kSmallestChunkBytes));
#endif
}

}  // namespace
}  // namespace tbtrace::recorder
