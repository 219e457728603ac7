// A recording that is active, and what threads note down in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "recorder/log/active.h"
#include "recorder/log/record.h"

namespace tbtrace::recorder {

/// A recording that goes on until stop().
class Started {
 public:
  explicit Started(Reach reach = Reach::some_threads) {
    recording->start();
    slot = activate(recording, reach).value_or(kSlots);
  }
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;
  ~Started() { stop(); }

  void stop() {
    if (slot < kSlots) deactivate(slot);
    slot = kSlots;
  }

  std::shared_ptr<Recording> recording = std::make_shared<Recording>(RecordingOptions{});
  std::size_t slot;
};

/// Writes a number into the calling thread's log; false where it has none.
inline bool note(std::size_t slot, std::int64_t number, std::uint64_t writer = 0) {
  ThreadLog* const log = this_thread_log(slot);
  if (log != nullptr) write(*log, MemoryEvent{.ticks = 1, .address = writer, .bytes = number});
  return log != nullptr;
}

struct Notes {
  std::vector<std::int64_t> numbers;
  std::vector<std::uint64_t> writers;

  void operator()(const BeginRecord&, const std::uint64_t*) { ADD_FAILURE(); }
  void operator()(const EndRecord&) { ADD_FAILURE(); }
  void operator()(const InstantRecord&) { ADD_FAILURE(); }
  void operator()(const CounterRecord&) { ADD_FAILURE(); }
  void operator()(const MemoryEvent& event) {
    numbers.push_back(event.bytes);
    writers.push_back(event.address);
  }
};

inline Notes notes_of(const ThreadLog& log) {
  Notes notes;
  EXPECT_EQ(read_records(log, notes), 0U);
  return notes;
}

/// The numbers of each log.
inline std::vector<std::vector<std::int64_t>> notes_of(const Recording& recording) {
  std::vector<std::vector<std::int64_t>> all;
  for (const auto& log : recording.logs()) all.push_back(notes_of(*log).numbers);
  return all;
}

}  // namespace tbtrace::recorder
