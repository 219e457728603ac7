// What a profiler does as its cycle says: gets ready, records, keeps results, calls the user.
// Owns recordings and results. One thread at a time, and not in a forked child: it is left alone
// there, and never destroyed.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <tbtrace/profiler.h>
#include <tbtrace/status.h>

#include "libtorch/profile/results.h"
#include "libtorch/record/attached_models.h"
#include "libtorch/record/gpu_recording.h"
#include "libtorch/record/observer.h"
#include "recorder/journal/journal.h"
#include "recorder/log/recording.h"
#include "recorder/schedule/cycle.h"
#include "recorder/schedule/flight.h"

namespace tbtrace::libtorch {

/// Thrown where a callback of the user returns in a forked child: nothing that follows is its.
struct ReturnedInChild {};

class CycleDriver final : public recorder::CycleTarget {
 public:
  /// Both must last.
  /// \throws std::invalid_argument for wrong options
  CycleDriver(Profiler& profiler, const ProfilerOptions& options);
  CycleDriver(const CycleDriver&) = delete;
  CycleDriver& operator=(const CycleDriver&) = delete;

  recorder::Cycle& cycle() { return cycle_; }
  Results& results() { return results_; }

  // Each throws what the first callback threw that did, once all else is done; and
  // std::invalid_argument if the schedule returns nonsense.

  void begin();
  void next_step();
  void finish();
  /// For the program's end, in the middle of a step: this stays without an end.
  void finish_within_step();
  /// The program ends, and all windows are written that should be.
  void end_journal();
  /// At the end of the running step.
  void take_snapshot();

  void toggle(bool enable, const std::vector<Activity>& activities);
  template <typename Module>
  void attach(const Module& model, const std::string& name) {
    models_.add(model, name);
  }
  void add_metadata(const std::string& key, std::string json);
  void set_distributed_info(std::string json);
  /// \throws std::invalid_argument if options are missing, or for an unknown device
  Status export_memory_timeline(const std::string& path, std::string_view device);

  // What the cycle asks for.

  void make() override { results_.clear(); }
  void prepare() override;
  void start() override;
  void stop() override;
  void renew() override;
  void drop() override;
  void ready(std::int64_t step) override;
  void open_step(std::int64_t step) override;
  void close_step() override {
    if (!step_stays_open_) step_range_.reset();
  }
  recorder::WindowAfterStep after_step() override;
  void warn(std::string_view sentence) override;
  bool device_stopped() override { return false; }

 private:
  void report(const Status& status);
  void in_cycle(const std::function<void()>& call);
  void stop_cycle();
  void keep_thrown();
  void try_to_prepare();
  std::shared_ptr<recorder::WindowJournal> new_window();
  void try_to_start();
  bool try_to_renew();
  void end_device_memory();
  void begin_device_memory();
  void keep_lost_windows();
  void tell_of_lost(const recorder::Recording& recording);
  void keep_ended(std::shared_ptr<recorder::Recording> ended, bool lacks_rows);
  void hand_over();
  void add_known_tensors();
  bool has(Activity activity) const;
  void toggle_cpu(bool enable);
  void keep(recorder::Recording& recording, const std::string& key, std::string json);
  void observe();
  void ignore();
  void warn_once(const std::string& sentence);

  Profiler& profiler_;
  const ProfilerOptions& options_;
  AttachedModels models_;
  recorder::Cycle cycle_;

  std::optional<recorder::FlightRecorder> flight_;
  std::uint32_t snapshots_seen_ = 0;  // requests by the signal
  bool snapshot_is_due_ = false;
  bool is_renewing_ = false;                     // the window that ends is kept for a snapshot
  bool is_dropping_ = false;                     // nobody wants it
  std::shared_ptr<recorder::Recording> before_;  // the window before this one, likewise

  std::shared_ptr<recorder::Recording> prepared_;
  std::shared_ptr<recorder::Recording> recording_;
  std::optional<std::size_t> slot_;
  std::optional<ObserverHandle> observer_;
  std::optional<record_function> step_range_;
  std::optional<GpuRecording> gpu_;
  std::exception_ptr thrown_;                   // by a callback within a call of the cycle
  std::atomic<std::thread::id> in_cycle_ = {};  // that makes such a call
  std::thread::id begun_by_;                    // the window

  std::shared_ptr<recorder::journal::Journal> journal_;
  bool tried_journal_ = false;
  std::atomic<bool> told_of_kept_ = false;
  std::map<std::string, std::string> metadata_;  // JSON by name, for the recording to come
  std::string distributed_info_;                 // JSON
  std::string warned_of_memory_;
  bool is_finishing_ = false;
  bool step_stays_open_ = false;
  bool may_be_empty_ =
      false;  // of the window that is recorded: it was paused, or begins at the end
  Results results_;
};

}  // namespace tbtrace::libtorch
