// Turns CUPTI's records into rows of a window: activity within the window, and activity that was
// launched in the window and began after it.
// Owns its rows. One thread adds at a time; end(), pause() and resume() may come from another.
// A record without times is counted and dropped; null names become empty ones.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "cupti/abi.h"
#include "cupti/calls.h"
#include "recorder/log/device_journal.h"
#include "recorder/log/device_trace.h"

namespace tbtrace::cupti {

class WindowActivity {
 public:
  /// The calls must outlive it. Without `all_calls`, only chosen calls are kept. With a journal,
  /// rows are there, too, as soon as they are added.
  WindowActivity(const Calls& calls, std::uint64_t start_ticks, bool all_calls = false,
                 std::shared_ptr<recorder::DeviceJournal> journal = nullptr);

  /// What begins later does not belong to it.
  void end(std::uint64_t ticks) { end_ticks_.store(ticks, std::memory_order_release); }

  /// What begins between the two does not belong to it, but for activities that it launched. Pauses
  /// do not overlap.
  void pause();
  void resume();

  void add(const KernelRecord& record);
  void add(const MemcpyRecord& record);
  void add(const MemcpyPeerRecord& record);
  void add(const MemsetRecord& record);
  void add(const ApiRecord& record);
  void add(const ExternalCorrelationRecord& record);
  void add(const OverheadRecord& record);
  void add(const SynchronizationRecord& record);
  void add(const CudaEventRecord& record);
  void add(const MarkerRecord& record);

  void count_lost(std::uint64_t records);

  /// What was added, but for activities of other windows. Nothing may be added afterwards.
  recorder::DeviceTrace take();
  /// Null: there is none.
  const std::shared_ptr<recorder::DeviceJournal>& journal() const { return journal_; }

 private:
  struct Times {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    bool are_known = false;
  };
  struct Pause {
    std::uint64_t start = 0;
    std::uint64_t end = 0;  // kNotEnded while it lasts
  };
  struct CachedLaunch {
    const char* name = nullptr;
    std::uint32_t row = 0;
    recorder::KernelLaunch launch;
  };
  struct HashLaunch {
    std::size_t operator()(const recorder::KernelLaunch& launch) const;
  };
  static constexpr std::size_t kCachedLaunches = 1024;

  template <typename List, typename Row>
  void keep(List& list, const Row& row);
  void count_untimed();
  /// In the recorder's clock; counts what has none.
  Times times(std::uint64_t start_ns, std::uint64_t end_ns);
  bool is_within(std::uint64_t ticks) const;
  /// Whether a time outside of the window is one that neither of the two clocks has shown; it is
  /// counted.
  bool is_of_another_clock(std::uint64_t start_ns);
  /// An activity of which `add_rest(activity)` adds what its kind has besides; nothing if it is of
  /// no use here.
  template <typename Record, typename AddRest>
  void add_activity(const Record& record, recorder::DeviceActivityKind kind, AddRest&& add_rest);
  std::uint32_t text(const char* text);
  std::uint32_t launch_row(const char* name, recorder::KernelLaunch launch);
  std::uint32_t function(recorder::ApiLibrary library, std::uint32_t number);

  const Calls& calls_;
  const bool all_calls_;
  const std::uint64_t start_ticks_;
  const std::shared_ptr<recorder::DeviceJournal> journal_;
  std::atomic<std::uint64_t> end_ticks_;
  std::atomic<bool> was_paused_ = false;
  mutable std::mutex pauses_mutex_;
  std::vector<Pause> pauses_;

  recorder::DeviceTrace rows_;
  recorder::DeviceActivities outside_;  // of the window's time; it may have begun them
  std::unordered_map<const char*, std::uint32_t> by_address_;
  std::unordered_map<std::string, std::uint32_t> by_text_;
  std::unordered_map<recorder::KernelLaunch, std::uint32_t, HashLaunch> launch_rows_;
  std::vector<CachedLaunch> cached_launches_;
  std::array<std::vector<std::uint32_t>, 2> functions_;  // their rows + 1 by number; 0: not yet
  std::unordered_map<std::uint32_t, recorder::DeviceMarker> open_markers_;  // by id
};

}  // namespace tbtrace::cupti
