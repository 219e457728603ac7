// The logs of a window that rows and memory events of devices are written to, as they come.
// Each is for one thread at a time, and owns its chunks. What there is no room for is counted with
// the window's losses.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "recorder/journal/device_records.h"
#include "recorder/log/device_journal.h"
#include "recorder/log/log_home.h"
#include "recorder/log/thread_log.h"

namespace tbtrace::recorder::journal {

/// Where both write.
class RecordLog {
 public:
  /// `losses` may be null: they are not counted, then.
  RecordLog(std::shared_ptr<LogHome> home, std::atomic<std::uint64_t>* losses)
      : log_({}, std::make_shared<const RecordingOptions>(), ticks(), std::move(home)),
        losses_(losses) {}

  template <typename Kind>
  bool write(Kind kind, std::span<const std::uint64_t> words, std::string_view text = {}) noexcept {
    return write(static_cast<std::uint32_t>(kind), words, text);
  }
  void count_lost() noexcept {
    if (losses_ != nullptr) losses_->fetch_add(1);
  }

 private:
  bool write(std::uint32_t kind, std::span<const std::uint64_t> words,
             std::string_view text) noexcept;

  ThreadLog log_;
  std::atomic<std::uint64_t>* const losses_;
};

class DeviceLog final : public DeviceJournal {
 public:
  DeviceLog(std::shared_ptr<LogHome> home, std::atomic<std::uint64_t>* losses)
      : log_(std::move(home), losses) {}

  void begin(const DeviceTrace& known) noexcept override { write_head(known, false); }
  void end(const DeviceTrace& whole) noexcept override { write_head(whole, true); }
  void count(std::uint64_t lost, std::uint64_t untimed) noexcept override;
  void add_name(std::uint32_t number, std::string_view name) noexcept override;
  void add_launch(std::uint32_t number, const KernelLaunch& launch) noexcept override;
  void add_peers(std::uint32_t number, const DevicePeers& peers) noexcept override;
  void add_function(std::uint32_t number, const ApiFunction& function) noexcept override;
  void add(const DeviceActivity& activity) noexcept override;
  void add_outside(const DeviceActivity& activity) noexcept override;
  void add(const ApiCall& call) noexcept override;
  void add(const DeviceSynchronization& wait) noexcept override;
  void add(const DeviceEvent& event) noexcept override;
  void add(const DeviceOverhead& overhead) noexcept override;
  void add(const DeviceMarker& marker) noexcept override;
  void add(const DeviceCheck& check) noexcept override;

 private:
  struct KnownPlace {
    DevicePlace place;
    std::uint32_t number;
  };
  static constexpr std::size_t kKnownPlaces = 256;

  void write_head(const DeviceTrace& trace, bool is_whole) noexcept;
  void write_activity(DeviceRecordKind kind, const DeviceActivity& activity) noexcept;
  std::optional<std::uint32_t> number_of(const DevicePlace& place) noexcept;

  RecordLog log_;
  /// Places by hash, some of those in the log; others get another number.
  std::array<std::optional<KnownPlace>, kKnownPlaces> places_ = {};
  std::uint32_t next_place_ = 0;
};

class DeviceMemoryLog final : public DeviceMemoryJournal {
 public:
  DeviceMemoryLog(std::shared_ptr<LogHome> home, std::atomic<std::uint64_t>* losses)
      : log_(std::move(home), losses) {}

  void begin() noexcept override;
  void start(int device, const AllocatorTotals& totals) noexcept override;
  void add(const AllocatorEvent& told, const AllocatorTotals& totals, std::uint64_t ticks,
           const ThreadLog* log) noexcept override;
  void lose(int device) noexcept override;
  void close() noexcept override;
  void end(int device, const AllocatorTotals& totals) noexcept override;

 private:
  void write(MemoryRecordKind kind, const MemoryRecord& record, std::size_t words) noexcept;

  RecordLog log_;
  bool is_begun_ = false;   ///< what is written now has its begin
  std::uint64_t gaps_ = 0;  ///< devices of which something is missing, a bit each; the last: others
};

}  // namespace tbtrace::recorder::journal
