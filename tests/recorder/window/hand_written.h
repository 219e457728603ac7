// A recording whose logs a test writes by hand; times are ticks after its start.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "recorder/log/record.h"
#include "recorder/log/recording.h"
#include "recorder/window/window.h"

namespace tbtrace::recorder {

class HandWritten {
 public:
  /// One thread's log.
  class Thread {
   public:
    Thread(std::shared_ptr<ThreadLog> log, std::uint64_t start)
        : log_(std::move(log)), start_(start) {}

    /// `more` gives what is not named here.
    void begin(std::uint64_t at, std::uint64_t key, std::string_view name, BeginRecord more = {}) {
      more.ticks = start_ + at;
      more.name = log_->names().find(name);
      more.key = key;
      write(*log_, more);
    }
    void end(std::uint64_t at, std::uint64_t key, bool is_async = false) {
      write(*log_, EndRecord{.ticks = start_ + at, .key = key, .is_async = is_async});
    }
    void range(std::uint64_t from, std::uint64_t to, std::string_view name, BeginRecord more = {}) {
      begin(from, 999, name, more);
      end(to, 999);
    }
    void collective(std::uint64_t from, std::uint64_t to, Collective described) {
      write(*log_, BeginRecord{.ticks = start_ + from,
                               .name = log_->names().add(kCollectiveRange, std::move(described)),
                               .key = 998});
      end(to, 998);
    }
    void memory(std::uint64_t at, std::int64_t bytes, std::uint64_t address = 0x7f00'0000'1000) {
      write(*log_, MemoryEvent{.ticks = start_ + at, .address = address, .bytes = bytes});
    }

    ThreadLog* log() const { return log_.get(); }

   private:
    std::shared_ptr<ThreadLog> log_;
    std::uint64_t start_;
  };

  explicit HandWritten(RecordingOptions options = {})
      : recording(std::make_shared<Recording>(std::move(options))) {
    recording->start();
  }

  /// `logical_id`: torch's number, which arrows go by.
  Thread thread(std::int64_t system_id = 1, std::uint64_t logical_id = 0, std::string name = {}) {
    return {recording->add_thread(
                {.system_id = system_id, .logical_id = logical_id, .name = std::move(name)}),
            recording->started().ticks};
  }

  /// What a device did, in ticks of the recorder.
  void device(DeviceTrace trace) {
    std::promise<std::shared_ptr<const DeviceTrace>> promise;
    promise.set_value(std::make_shared<const DeviceTrace>(std::move(trace)));
    recording->set_device_trace(promise.get_future().share());
  }
  std::uint64_t start() const { return recording->started().ticks; }

  /// Ends the recording, some time after all that a test writes.
  std::shared_ptr<const Window> window() {
    while (ticks() < recording->started().ticks + 100'000) {
    }
    recording->close();
    return std::make_shared<const Window>(recording);
  }

  std::shared_ptr<Recording> recording;
};

}  // namespace tbtrace::recorder
