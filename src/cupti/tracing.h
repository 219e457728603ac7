// What CUPTI is told to record in this process: its settings, its clock, the activity kinds, and
// the functions whose calls are left out.
// All of it belongs to the process: other profilers (Kineto) change it as well, and CUPTI has no
// function to ask which kinds are on. So settings are read before they are changed and restored
// afterwards, and once another profiler's clock is seen, kinds that it may use stay on.
// For one thread at a time, but is_taken_over(), which is for any.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <tbtrace/status.h>

#include "cupti/calls.h"
#include "cupti/cupti_library.h"
#include "cupti/driver_library.h"
#include "cupti/record_stream.h"

namespace tbtrace::cupti {

/// What is recorded besides kernels, memcpys, memsets and chosen API calls.
struct Extras {
  bool synchronization = false;
  bool overhead = false;
  bool markers = false;
  bool operator_ids = false;
  bool all_calls = false;

  Extras operator|(const Extras& other) const;
};

class Tracing {
 public:
  /// Everything must outlive it.
  Tracing(const CuptiLibrary& cupti, const DriverLibrary& driver, const Calls& calls,
          RecordStream& stream)
      : cupti_(cupti), driver_(driver), calls_(calls), stream_(stream) {}
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

  /// Whether recording would work. Switches one activity kind on and off again; callbacks, clock
  /// and settings stay unchanged. Not while something is on.
  Status check();

  /// Settings, clock and callbacks; again whenever somebody begins to record.
  Status attach();
  /// Switches on what is not on yet. An extra that is refused is added to `shortcoming`, in a
  /// sentence; without kernels, memcpys or memsets it fails.
  Status enable(const Extras& extras, std::string& shortcoming);
  /// Switches off the extras that are on and not among these.
  void keep(const Extras& extras);
  /// Switches everything off and restores the settings.
  void stop();
  bool is_on() const { return !on_.empty(); }

  /// Whether another profiler has set CUPTI's clock since attach(), as Kineto does when it begins.
  bool is_taken_over() const;
  /// CUPTI was finalized: it has to be set up anew. Nothing may be on.
  void forget();

 private:
  enum class Clock : std::uint8_t { ours, original, foreign, unknown };
  struct Setting {
    int attribute;
    std::uint8_t value;
  };

  Status refused(const char* call, ResultCode result) const;
  Status check_library() const;
  Clock clock() const;
  void change_setting(int attribute);
  void restore_settings();
  ResultCode start(ActivityKind kind);
  ResultCode start_calls(recorder::ApiLibrary library, bool all_calls);

  const CuptiLibrary& cupti_;
  const DriverLibrary& driver_;
  const Calls& calls_;
  RecordStream& stream_;
  std::atomic<bool> has_clock_ = false;   // ours was set
  std::atomic<bool> shows_clock_ = true;  // cuptiGetTimestamp() then returned our time
  bool all_calls_on_ = false;
  std::vector<ActivityKind> on_;
  std::vector<Setting> changed_;  // with their values from before
};

}  // namespace tbtrace::cupti
