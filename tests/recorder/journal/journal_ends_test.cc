// What a journal has after the end of its process or of its machine.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixtures/random_rounds.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"
#include "recorder/journal/checksums.h"
#include "recorder/journal/claim.h"
#include "recorder/journal/layout.h"
#include "recorder/journal/restore.h"
#include "recorder/journal/written_journal.h"
#include "recorder/log/active.h"
#include "recorder/log/inputs.h"
#include "recorder/log/range_arguments.h"
#include "recorder/log/record.h"
#include "recorder/log/recording.h"
#include "recorder/process/process.h"

namespace tbtrace::recorder::journal {
namespace {

/// A disk that keeps what was synced, and of what was stored since then any pages.
class CutFiles final : public SegmentFiles {
 public:
  explicit CutFiles(const std::atomic<std::uint64_t>& stored) : stored_(stored) {}

  Result<char*> create(const std::string& name, std::size_t bytes) override {
    const std::lock_guard lock(mutex_);
    File& file = files_[name];
    file.now.resize(bytes);
    file.synced.resize(bytes);
    return file.now.data();
  }
  Status sync() override {
    const std::lock_guard lock(mutex_);
    for (auto& [name, file] : files_) file.synced = file.now;
    // What was stored before the sync before this one is in marks that this one has synced.
    certain_ = stored_before_;
    stored_before_ = stored_.load();
    return {};
  }
  void remove(std::span<const std::span<char>> /*kept*/) override {}

  /// What the disk has after a power cut now, as another start of the machine finds it. Returns
  /// how many records have to be there.
  std::uint64_t cut(const fs::path& folder, std::mt19937_64& random) {
    const std::lock_guard lock(mutex_);
    constexpr std::size_t kPage = 4096;
    fs::create_directories(folder);
    for (auto& [name, file] : files_) {
      std::string left = file.synced;
      for (std::size_t at = 0; at < left.size(); at += kPage) {
        if (random() % 2 == 0) left.replace(at, kPage, file.now, at, kPage);
      }
      if (name == kHeadName) {
        Head head;
        std::memcpy(static_cast<void*>(&head), left.data(), sizeof head);
        head.boot.front() = 'x';
        head.checksum = checksum_of(head);
        std::memcpy(left.data(), static_cast<const void*>(&head), sizeof head);
      }
      std::ofstream(folder / name, std::ios::binary) << left;
    }
    return certain_;
  }

 private:
  struct File {
    std::string now;
    std::string synced;
  };
  const std::atomic<std::uint64_t>& stored_;
  std::mutex mutex_;
  std::map<std::string, File> files_;  // texts stay where they are
  std::uint64_t stored_before_ = 0;
  std::uint64_t certain_ = 0;
};

TEST(JournalAfterAPowerCut, HasWhatWasSyncedAndNothingElseThanWasWritten) {
  std::mt19937_64 random(20260102);
  for (int round = 0; round < fixtures::random_rounds(5); ++round) {
    const fixtures::ScratchFolder dir;
    std::atomic<std::uint64_t> stored = 0;
    auto files = std::make_unique<CutFiles>(stored);
    CutFiles& disk = *files;
    JournalOptions options = small_options();
    options.sync = std::chrono::milliseconds(10);
    const auto journal = Journal::open_in(std::move(files), options);
    ASSERT_TRUE(journal.ok());
    Recording recording({}, (*journal)->new_window());
    recording.start();
    const auto log = recording.add_thread({.system_id = 1});
    Journal::Clock::time_point now = Journal::Clock::now();
    const std::uint64_t records = 2'000 + random() % 60'000;
    for (std::uint64_t number = 0; number < records; ++number) {
      write_number(*log, 1, number);
      stored.store(number + 1);
      if (random() % 500 != 0) continue;
      now += std::chrono::milliseconds(random() % 10);
      (*journal)->look_after(now);
    }
    const std::uint64_t certain = disk.cut(dir.root() / "left", random);
    const auto found = restore_journal(dir.root() / "left");
    ASSERT_TRUE(found.ok()) << found.status().message();
    if (certain == 0) continue;  // it was not synced twice
    ASSERT_EQ(found->windows.size(), 1U);
    const auto numbers = numbers_of(*found->windows[0].recording->logs().at(0));
    EXPECT_EQ(numbers, first_numbers(numbers.size()));
    EXPECT_GE(numbers.size(), certain);
  }
}

/// Recovers and removes all journals of dead processes that it finds, until it is told to stop or
/// its parent is another process. Returns how many.
int take_all(const fs::path& directory, const std::atomic<bool>& is_over) {
  const pid_t parent = ::getppid();
  int taken = 0;
  while (!is_over.load() && ::getppid() == parent) {
    for (const fs::path& folder : journals_in(directory)) {
      if (is_open_here(folder)) continue;
      const Claim claim(folder);
      if (!claim.is_ours()) continue;
      ++taken;
      remove_journal(folder);
    }
  }
  return taken;
}

/// As ranks do that start at the same time with one directory.
TEST(JournalThatBegins, IsLeftAloneByWhoRecoversOthers) {
  const fixtures::ScratchFolder dir;
  void* const shared = ::mmap(nullptr, sizeof(std::atomic<bool>), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& is_over = *new (shared) std::atomic<bool>(false);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(take_all(dir.root(), is_over) == 0 ? 0 : 1);
  int taken = 0;
  std::thread own([&] { taken = take_all(dir.root(), is_over); });
  int whole = 0;
  const int rounds = fixtures::random_rounds(20);
  for (int round = 0; round < rounds; ++round) {
    const auto journal = Journal::open(dir.root(), live_options());
    if (!journal.ok()) continue;
    if (fs::exists((*journal)->path() / kHeadName)) ++whole;
    (*journal)->end();
  }
  is_over.store(true);
  own.join();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(whole, rounds);
  EXPECT_EQ(status, 0);  // of the other process
  EXPECT_EQ(taken, 0);
  ::munmap(shared, sizeof(std::atomic<bool>));
}

/// What the threads of a process that is about to be killed have written, as they say themselves.
struct Accounts {
  static constexpr std::size_t kThreads = 8;
  std::atomic<std::uint64_t> written[kThreads];
  std::atomic<bool> is_running;
};

[[noreturn]] void write_until_killed(const fs::path& directory, Accounts& accounts,
                                     bool has_cycles) {
  JournalOptions options = live_options();
  options.slots.ready = 48;
  const auto journal = Journal::open(directory, options);
  if (!journal.ok()) ::_exit(1);
  for (;;) {
    auto recording = std::make_shared<Recording>(RecordingOptions{}, (*journal)->new_window());
    for (auto& count : accounts.written) count.store(0);
    recording->start();
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < Accounts::kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        const auto log = recording->add_thread({.system_id = static_cast<std::int64_t>(thread)});
        const std::uint64_t most = has_cycles ? 4'000 : ~std::uint64_t{0};
        for (std::uint64_t number = 0; number < most; ++number) {
          write_number(*log, thread, number);
          if (log->lost() > 0) {  // the machine is too busy to make room: it waits
            while (log->room(3) == nullptr) std::this_thread::yield();
            ::_exit(2);
          }
          accounts.written[thread].store(number + 1, std::memory_order_release);
          accounts.is_running.store(true);
          if (number % 2'000 == 0) std::this_thread::sleep_for(std::chrono::microseconds(500));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    recording->close();
  }
}

class KilledAtAnyMoment : public ::testing::TestWithParam<bool> {};

TEST_P(KilledAtAnyMoment, LosesOnlyTheRecordThatIsBeingWritten) {
  void* const shared =
      ::mmap(nullptr, sizeof(Accounts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  std::mt19937_64 random(20260101);
  int killed = 0;
  for (int round = 0; round < fixtures::random_rounds(20); ++round) {
    const fixtures::ScratchFolder dir;
    auto& accounts = *new (shared) Accounts;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_until_killed(dir.root(), accounts, GetParam());
    while (!accounts.is_running.load()) {
      ::siginfo_t ended = {};
      ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT), 0);
      if (ended.si_pid == child) break;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
      continue;  // no slot was free when it needed one
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    ++killed;
    const RestoredJournal found = restored(dir.root());
    EXPECT_EQ(found.unreadable_chunks, 0U);
    EXPECT_FALSE(found.is_alive);
    if (GetParam()) {
      // Each window is whole, or the last one, which the accounts are of.
      for (std::size_t at = 0; at + 1 < found.windows.size(); ++at) {
        EXPECT_FALSE(found.windows[at].was_open);
      }
      for (const RestoredWindow& window : found.windows) {
        for (const auto& log : window.recording->logs()) {
          const auto numbers = numbers_of(*log);
          EXPECT_EQ(numbers, first_numbers(numbers.size()));
          if (!window.was_open) EXPECT_EQ(numbers.size(), 4'000U);
        }
      }
      continue;
    }
    ASSERT_EQ(found.windows.size(), 1U);
    std::uint64_t threads = 0;
    for (const auto& log : found.windows[0].recording->logs()) {
      const auto thread = static_cast<std::size_t>(log->identity().system_id);
      const std::uint64_t written = accounts.written[thread].load();
      const auto numbers = numbers_of(*log);
      EXPECT_EQ(numbers, first_numbers(numbers.size()));
      EXPECT_GE(numbers.size(), written);
      EXPECT_LE(numbers.size(), written + 1);
      ++threads;
    }
    for (const auto& count : accounts.written) threads -= count.load() > 0 ? 1 : 0;
    EXPECT_LE(threads, Accounts::kThreads);
  }
  EXPECT_GT(killed, 0);
  ::munmap(shared, sizeof(Accounts));
}

INSTANTIATE_TEST_SUITE_P(Windows, KilledAtAnyMoment, ::testing::Bool());

/// As another start of the machine finds the folder's head.
void forget_boot(const fs::path& folder) {
  const std::string path = (folder / kHeadName).string();
  std::string bytes = fixtures::read_whole_file(path);
  Head head;
  std::memcpy(static_cast<void*>(&head), bytes.data(), sizeof head);
  head.boot.front() = 'x';
  head.checksum = checksum_of(head);
  std::memcpy(bytes.data(), static_cast<const void*>(&head), sizeof head);
  fixtures::write_whole_file(path, bytes);
}

/// Frees a slot of the first thread's log, as if its head had not come to the disk.
void lose_slot(const fs::path& folder, std::uint64_t sequence) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::string bytes = fixtures::read_whole_file(entry.path().string());
    SegmentHead segment;
    std::memcpy(static_cast<void*>(&segment), bytes.data(), sizeof segment);
    if (segment.magic != kSegmentMagic) continue;
    for (std::size_t slot = 0; slot < segment.slots; ++slot) {
      char* const at = bytes.data() + kSegmentHeadBytes + slot * segment.slot_bytes;
      SlotHead head;
      std::memcpy(static_cast<void*>(&head), at, sizeof head);
      if (head.window.load() == 0 || head.log != 0 || head.sequence != sequence) continue;
      head.window.store(0);
      std::memcpy(at, static_cast<const void*>(&head), sizeof head);
    }
    fixtures::write_whole_file(entry.path().string(), bytes);
  }
}

/// Adds a file of slots whose head has only some of its fields, and what may follow it.
void add_segment(const fs::path& folder, unsigned fields, char last) {
  const bool has_magic = (fields & 1U) != 0;
  const bool has_version = (fields & 2U) != 0;
  const bool has_order = (fields & 4U) != 0;
  const bool has_bytes = (fields & 8U) != 0;
  SegmentHead head;
  if (has_magic) head.magic = kSegmentMagic;
  if (has_version) head.version = kVersion;
  if (has_order) head.byte_order = kByteOrder;
  if (has_bytes) head.slot_bytes = 16384;
  std::string bytes(kSegmentHeadBytes + 16384, '\0');
  std::memcpy(bytes.data(), static_cast<const void*>(&head), sizeof head);
  bytes.back() = last;
  fixtures::write_whole_file((folder / "segment-000009.tbj").string(), bytes);
}

TEST_F(JournalOf, AFileThatWasJustBeingMadeIsNotDamage) {
  const auto journal = open();
  Recording recording({}, journal->new_window());
  recording.start();
  write_number(*recording.add_thread({.system_id = 1}), 1, 0);
  const fs::path copy = journals_in(copy_of(directory(), dir_)).front();
  // The fields may be stored in any order, but for the last one.
  for (unsigned fields = 0; fields < 16; ++fields) {
    add_segment(copy, fields, '\0');
    EXPECT_EQ(restore_journal(copy)->unreadable_chunks, 0U) << fields;
    add_segment(copy, fields, 'x');
    EXPECT_EQ(restore_journal(copy)->unreadable_chunks, 1U) << fields;
  }
}

TEST_F(JournalOf, TheWindowSaysWhatOfItIsDamaged) {
  const auto journal = open();
  Recording recording({}, journal->new_window());
  recording.start();
  const auto log = recording.add_thread({.system_id = 1});
  for (std::size_t number = 0; number < 30'000; ++number) write_number(*log, 1, number);
  const fs::path copy = journals_in(copy_of(directory(), dir_)).front();
  EXPECT_EQ(Window(restore_journal(copy)->windows.at(0).recording).unreadable_chunks(), 0U);
  lose_slot(copy, 1);
  add_segment(copy, 15, 'x');
  const auto damaged = restore_journal(copy);
  EXPECT_EQ(damaged->unreadable_chunks, 2U);
  EXPECT_EQ(Window(damaged->windows.at(0).recording).unreadable_chunks(), 2U);
}

TEST_F(JournalOf, AfterTheMachinesEndNothingFollowsAHole) {
  const auto journal = open();
  Recording recording({}, journal->new_window());
  recording.start();
  const auto log = recording.add_thread({.system_id = 1});
  for (std::size_t number = 0; number < 30'000; ++number) {  // three slots
    write_number(*log, 1, number);
    if (number % 5'000 == 0) look_after(*journal);
  }
  look_after(*journal);
  const fs::path copy = journals_in(copy_of(directory(), dir_)).front();
  lose_slot(copy, 1);
  const auto same_boot = restore_journal(copy);
  ASSERT_TRUE(same_boot.ok());
  EXPECT_GT(same_boot->unreadable_chunks, 0U) << "damage, then";
  forget_boot(copy);
  const auto found = restore_journal(copy);
  ASSERT_TRUE(found.ok());
  EXPECT_GT(found->unchecked_words, 0U);
  const auto numbers = numbers_of(*found->windows.at(0).recording->logs().at(0));
  EXPECT_EQ(numbers, first_numbers(numbers.size()));
  EXPECT_GT(numbers.size(), 0U);
}

}  // namespace
}  // namespace tbtrace::recorder::journal
