// The user's buffers: asked for when a record needs one, given back when they are full and all
// work in them is done, by a thread of the library or by who flushes.
// Buffers are the user's memory; after reset() they are forgotten. Any thread: a slot's lock is for
// the buffer that is being filled, and held while one is asked for; that of Buffers is for the
// rest, and never held while a user's function runs. A record without a buffer is dropped and
// counted.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "support/fake_cuda/cupti_device.h"
#include "support/fake_cuda/cupti_records.h"
#include "support/fake_cuda/fake_cuda.h"

namespace tbtrace::fake_cuda {

class Buffers {
 public:
  using Request = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records);
  using Complete = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer,
                            std::size_t size, std::size_t valid);

  explicit Buffers(Clock& clock) : clock_(clock) {}

  void register_callbacks(Request request, Complete complete);
  void take_over();
  void set_zeroed(bool zeroed) { zeroed_ = zeroed; }
  void set_per_thread(bool per_thread);
  void set_faults(const Faults& faults);

  /// False: no callbacks are registered.
  bool flush(bool forced);
  std::uint64_t take_dropped();
  Counters counters();
  /// Buffers, callbacks and the library's thread; settings and counters with reset().
  void forget();
  void reset();

 private:
  friend class Writer;
  using SteadyTime = std::chrono::steady_clock::time_point;

  struct Unfinished {
    std::size_t offset;
    std::uint64_t end;
  };

  struct Buffer {
    std::uint8_t* data = nullptr;
    std::size_t size = 0;
    std::size_t used = 0;
    std::size_t records = 0;
    std::size_t most_records = 0;
    std::uint64_t latest_end = 0;
    std::vector<Unfinished> unfinished = {};
    SteadyTime not_before = {};
  };

  struct Delayed {
    std::uint32_t kind;
    std::vector<std::uint8_t> bytes;
  };

  struct Slot {
    std::mutex mutex;  // what follows; locked before that of Buffers
    std::optional<Buffer> current;
    std::vector<Delayed> delayed;
  };

  std::shared_ptr<Slot> slot_of_thread();
  std::vector<std::shared_ptr<Slot>> slots();
  bool next_buffer(Slot& slot);
  std::optional<Buffer> accept(std::uint8_t* data, std::size_t size, std::size_t most_records);
  void retire(Buffer buffer);
  std::vector<Buffer> collect(bool forced);
  void write_delayed();
  void deliver(std::unique_lock<std::mutex>& lock, const std::vector<Buffer>& batch);
  void stop_worker(std::unique_lock<std::mutex>& lock);
  void start_worker();
  void work();
  /// Those of the full ones for which it is true, in their order.
  template <typename Predicate>
  std::vector<Buffer> take_full(Predicate is_taken);
  std::vector<Buffer> take_ready(std::uint64_t done_until);
  SteadyTime not_before() const;
  void request_own(std::uint8_t** buffer, std::size_t* size);

  Clock& clock_;
  std::atomic<bool> registered_ = false;
  std::atomic<bool> zeroed_ = false;
  std::atomic<bool> per_thread_ = false;
  std::atomic<std::uint64_t> generation_ = 1;  // of the slots
  std::atomic<std::uint64_t> written_ = 0;
  std::atomic<std::uint64_t> dropped_ever_ = 0;
  std::atomic<std::uint64_t> dropped_ = 0;
  std::atomic<std::uint64_t> to_drop_ = 0;
  std::atomic<std::uint64_t> zero_times_every_ = 0;
  std::atomic<std::uint64_t> works_ = 0;
  std::atomic<bool> calls_last_ = false;

  std::mutex mutex_;  // what follows
  std::condition_variable changed_;
  Request request_ = nullptr;
  Complete complete_ = nullptr;
  bool taken_over_ = false;
  Faults faults_;
  Counters counters_;
  std::vector<std::uint8_t*> swallowed_;  // for good: their owner may not free them
  std::uint64_t completions_ = 0;         // since the faults were set
  std::vector<std::shared_ptr<Slot>> slots_ = {std::make_shared<Slot>()};  // the first is global
  std::vector<Buffer> full_;
  std::set<const std::uint8_t*> in_flight_;
  std::map<const std::uint8_t*, std::unique_ptr<std::uint8_t[]>> own_;
  std::size_t delivering_ = 0;
  bool working_ = false;
  bool stopping_ = false;
  pid_t worker_process_ = 0;
  std::unique_ptr<std::thread> worker_;  // of that process
};

/// Writes records of the calling thread; others that share its buffer wait while it lives.
class Writer {
 public:
  explicit Writer(Buffers& buffers)
      : buffers_(buffers), slot_(buffers.slot_of_thread()), lock_(slot_->mutex) {}

  /// A record that is complete. False: it was dropped.
  template <typename Record>
  bool write(const Record& record) {
    return put(record.kind, &record, sizeof record) != nullptr;
  }

  /// Of a call, or of what goes before it.
  template <typename Record>
  void write_call(const Record& record) {
    if (buffers_.calls_last_) {
      delay(record.kind, &record, sizeof record);
    } else {
      write(record);
    }
  }

  /// Of a device's work, with its times; it is complete when the work is done. Such times as were
  /// said by the test itself are not waited for.
  template <typename Record>
  void write_work(Record record, bool said) {
    const std::uint64_t every = buffers_.zero_times_every_;
    if (every != 0 && ++buffers_.works_ % every == 0) {
      record.start = 0;
      record.end = 0;
      said = true;
    }
    const std::uint64_t end = record.end;
    if (put(record.kind, &record, sizeof record) != nullptr && !said) finish_at(record.kind, end);
  }

  void write_bytes(const void* bytes, std::size_t size);

 private:
  friend class Buffers;
  Writer(Buffers& buffers, std::shared_ptr<Buffers::Slot> slot)
      : buffers_(buffers), slot_(std::move(slot)), lock_(slot_->mutex) {}

  std::uint8_t* put(std::uint32_t kind, const void* record, std::size_t known);
  std::uint8_t* room(std::size_t size);
  void finish_at(std::uint32_t kind, std::uint64_t end);
  void delay(std::uint32_t kind, const void* record, std::size_t known);

  Buffers& buffers_;
  std::shared_ptr<Buffers::Slot> slot_;
  std::unique_lock<std::mutex> lock_;
};

}  // namespace tbtrace::fake_cuda
