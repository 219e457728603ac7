// A journal in a folder of a test, and what a thread writes into it: numbers that tell where they
// come from.
#pragma once

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
#include "recorder/journal/checksums.h"
#include "recorder/journal/journal.h"
#include "recorder/journal/layout.h"
#include "recorder/journal/restore.h"
#include "recorder/log/active.h"
#include "recorder/log/inputs.h"
#include "recorder/log/range_arguments.h"
#include "recorder/log/record.h"
#include "recorder/log/recording.h"
#include "recorder/process/process.h"
#include "recorder/window/window.h"

namespace tbtrace::recorder::journal {

namespace fs = std::filesystem;

/// With few slots, and without a thread: the test looks after the journal.
inline JournalOptions small_options() {
  JournalOptions options;
  options.slots.ready = 4;
  options.heartbeat = {};
  return options;
}

/// With a thread of its own.
inline JournalOptions live_options() {
  JournalOptions options = small_options();
  options.heartbeat = std::chrono::milliseconds(5);
  return options;
}

inline bool look_after(Journal& journal) { return journal.look_after(Journal::Clock::now()); }

/// What a thread writes as its record of this number, which no other one looks like.
constexpr std::uint64_t value_of(std::uint64_t thread, std::uint64_t number) {
  return (thread << 40 | number) * 0x9e3779b97f4a7c15;
}

inline void write_number(ThreadLog& log, std::uint64_t thread, std::uint64_t number) {
  write(log, MemoryEvent{.ticks = ticks(),
                         .address = value_of(thread, number),
                         .bytes = static_cast<std::int64_t>(number)});
}

/// The numbers of a log's records; a failure if one of them is not what its thread wrote.
inline std::vector<std::uint64_t> numbers_of(const ThreadLog& log) {
  struct Reader {
    std::uint64_t thread;
    std::vector<std::uint64_t> numbers = {};
    void operator()(const BeginRecord&, const std::uint64_t*) { ADD_FAILURE(); }
    void operator()(const EndRecord&) { ADD_FAILURE(); }
    void operator()(const InstantRecord&) { ADD_FAILURE(); }
    void operator()(const CounterRecord&) { ADD_FAILURE(); }
    void operator()(const MemoryEvent& event) {
      numbers.push_back(static_cast<std::uint64_t>(event.bytes));
      EXPECT_EQ(event.address, value_of(thread, numbers.back()));
    }
  };
  Reader reader{static_cast<std::uint64_t>(log.identity().system_id)};
  EXPECT_EQ(read_records(log, reader), 0U);
  return reader.numbers;
}

/// Its number in records.
inline NameNumber name_of_process(std::string_view text) {
  const std::lock_guard lock(process_mutex<PartOrder::names>());
  return static_cast<NameNumber>(static_cast<std::uint32_t>(process_names().find(text)) |
                                 kOfProcess);
}

inline std::vector<std::uint64_t> first_numbers(std::size_t count) {
  std::vector<std::uint64_t> all(count);
  for (std::size_t at = 0; at < count; ++at) all[at] = at;
  return all;
}

inline RestoredJournal restored(const fs::path& directory) {
  const auto folders = journals_in(directory);
  EXPECT_EQ(folders.size(), 1U);
  if (folders.empty()) return {};
  Result<RestoredJournal> journal = restore_journal(folders.front());
  EXPECT_TRUE(journal.ok()) << journal.status().message();
  return journal.ok() ? *std::move(journal) : RestoredJournal();
}

/// The files as they are now: what a process that ended now would leave.
inline fs::path copy_of(const fs::path& directory, const fixtures::ScratchFolder& to) {
  const fs::path copy = to.root() / "copy";
  fs::copy(directory, copy, fs::copy_options::recursive);
  return copy;
}

class JournalOf : public ::testing::Test {
 protected:
  std::shared_ptr<Journal> open(JournalOptions options = small_options()) {
    auto journal = Journal::open(directory(), std::move(options));
    EXPECT_TRUE(journal.ok()) << journal.status().message();
    return *journal;
  }
  fs::path directory() const { return dir_.root() / "journal"; }

  fixtures::ScratchFolder dir_;
};

}  // namespace tbtrace::recorder::journal
