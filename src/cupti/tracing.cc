#include "cupti/tracing.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <string_view>

#include "cupti/clock.h"
#include "cupti/refusal.h"

namespace tbtrace::cupti {

namespace {

using recorder::ApiLibrary;

constexpr std::array<ActivityKind, 3> kDeviceKinds = {ActivityKind::kernel, ActivityKind::memcpy,
                                                      ActivityKind::memset};

struct ExtraKind {
  ActivityKind kind;
  bool Extras::*is_wanted;
  std::string_view name;
};
constexpr std::array<ExtraKind, 4> kExtraKinds = {
    {{ActivityKind::synchronization, &Extras::synchronization, "synchronization events"},
     {ActivityKind::overhead, &Extras::overhead, "CUPTI's overhead"},
     {ActivityKind::marker, &Extras::markers, "NVTX ranges"},
     {ActivityKind::external_correlation, &Extras::operator_ids, "operator ids"}}};

// CUPTI answers a call that fails in 18 to 35 us, so a thousand of them would be felt.
constexpr int kMostRefusals = 8;

std::uint64_t now_ns(clockid_t clock) {
  std::timespec time = {};
  ::clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

bool are_close(std::uint64_t one, std::uint64_t other) {
  constexpr std::uint64_t kApart = 1'000'000'000;
  return (one > other ? one - other : other - one) < kApart;
}

/// Kineto enables the other kinds whenever it records, and disables them when it ends.
bool is_rare(ActivityKind kind) {
  return kind == ActivityKind::synchronization || kind == ActivityKind::overhead ||
         kind == ActivityKind::marker;
}

}  // namespace

Extras Extras::operator|(const Extras& other) const {
  return {.synchronization = synchronization || other.synchronization,
          .overhead = overhead || other.overhead,
          .markers = markers || other.markers,
          .operator_ids = operator_ids || other.operator_ids,
          .all_calls = all_calls || other.all_calls};
}

Status Tracing::refused(const char* call, ResultCode result) const {
  return {StatusCode::check_failed, refusal(cupti_, call, result)};
}

Status Tracing::check_library() const {
  if (Status status = check_versions(cupti_, driver_); !status.ok()) return status;
  if (stream_.understands({ActivityKind::kernel, ActivityKind::memcpy, ActivityKind::memset,
                           ActivityKind::runtime})) {
    return {};
  }
  return {StatusCode::check_failed,
          "the CUPTI in use (" + cupti_.path +
              ") writes records of another form than those of CUDA 11.6 and later; use a "
              "LibTorch built for a later CUDA"};
}

Status Tracing::check() {
  if (is_on()) return {};
  if (Status status = check_library(); !status.ok()) return status;
  // To switch off the kernels of a profiler that is recording would cut it off. Kineto does not use
  // markers.
  const ActivityKind kind = clock() == Clock::foreign ? ActivityKind::marker : ActivityKind::kernel;
  const ResultCode result = cupti_.enable(kind);
  if (result != results::kSuccess) return refused("cuptiActivityEnable", result);
  static_cast<void>(cupti_.disable(kind));
  return {};
}

Status Tracing::attach() {
  if (Status status = check_library(); !status.ok()) return status;
  if (const ResultCode result = cupti_.set_thread_id_type(kSystemThreadIds);
      result != results::kSuccess) {
    return refused("cuptiSetThreadIdType", result);
  }
  const Clock found = clock();
  // Both only save time. They are changed before callbacks are registered and kinds enabled, as
  // CUPTI asks for, and not if another profiler may be recording: its buffers are not zeroed, and
  // per-thread buffers must not change while something is recorded.
  if (!is_on() && (found == Clock::ours || found == Clock::original)) {
    change_setting(kZeroedOutBuffers);
    change_setting(kPerThreadBuffers);
  }
  // Each time that a clock is set makes some releases report more kernels in their own clock
  // (pytorch#192021), so it is only set if it has to be.
  if (!has_clock_ || (found != Clock::ours && found != Clock::unknown)) {
    clock_ns();  // measures the clock, now and not at the first record
    const ResultCode result = cupti_.register_timestamp(clock_ns);
    if (result != results::kSuccess) {
      if (!is_on()) restore_settings();
      return refused("cuptiActivityRegisterTimestampCallback", result);
    }
    // Whoever set another clock may have disabled kinds since.
    if (has_clock_) {
      on_.clear();
      all_calls_on_ = false;
    }
    has_clock_ = true;
    shows_clock_ = true;
    shows_clock_ = clock() == Clock::ours;
  }
  // Another profiler may have registered its callbacks since.
  if (const ResultCode result = stream_.connect(); result != results::kSuccess) {
    if (!is_on()) restore_settings();
    return refused("cuptiActivityRegisterCallbacks", result);
  }
  return {};
}

/// Whose clock CUPTI's records are in.
Tracing::Clock Tracing::clock() const {
  std::uint64_t theirs = 0;
  if (!shows_clock_ || cupti_.get_timestamp == nullptr ||
      cupti_.get_timestamp(&theirs) != results::kSuccess) {
    return Clock::unknown;
  }
  if (has_clock_ && are_close(theirs, clock_ns())) return Clock::ours;
  // CUPTI's own is CLOCK_REALTIME, and under WSL CLOCK_MONOTONIC_RAW.
  const bool is_original =
      are_close(theirs, now_ns(CLOCK_REALTIME)) || are_close(theirs, now_ns(CLOCK_MONOTONIC_RAW));
  return is_original ? Clock::original : Clock::foreign;
}

bool Tracing::is_taken_over() const {
  const Clock found = clock();
  return found == Clock::foreign || found == Clock::original;
}

/// Switches a setting on, if its value from before can be restored.
void Tracing::change_setting(int attribute) {
  const bool is_changed =
      std::any_of(changed_.begin(), changed_.end(),
                  [&](const Setting& setting) { return setting.attribute == attribute; });
  if (is_changed || cupti_.get_attribute == nullptr) return;
  std::uint8_t before = 0;
  std::size_t size = sizeof before;
  if (cupti_.get_attribute(attribute, &size, &before) != results::kSuccess || before != 0) return;
  changed_.reserve(2);
  std::uint8_t on = 1;
  size = sizeof on;
  if (cupti_.set_attribute(attribute, &size, &on) == results::kSuccess) {
    changed_.push_back({.attribute = attribute, .value = before});
  }
}

void Tracing::restore_settings() {
  const bool is_shared = is_taken_over();
  for (const Setting& setting : changed_) {
    if (is_shared && setting.attribute == kPerThreadBuffers) continue;
    std::uint8_t before = setting.value;
    std::size_t size = sizeof before;
    static_cast<void>(cupti_.set_attribute(setting.attribute, &size, &before));
  }
  changed_.clear();
}

ResultCode Tracing::start(ActivityKind kind) {
  if (std::count(on_.begin(), on_.end(), kind) > 0) return results::kSuccess;
  on_.reserve(on_.size() + 1);
  const ResultCode result = cupti_.enable(kind);
  if (result == results::kSuccess) on_.push_back(kind);
  return result;
}

/// The kind first, which switches all calls on, then the others off: with CUDA 13.0, functions that
/// are switched on one by one after a context was made record nothing, although each call succeeds.
ResultCode Tracing::start_calls(ApiLibrary library, bool all_calls) {
  const bool is_runtime = library == ApiLibrary::runtime;
  const ActivityKind kind = is_runtime ? ActivityKind::runtime : ActivityKind::driver;
  const bool is_on = std::count(on_.begin(), on_.end(), kind) > 0;
  if (is_on && (!all_calls || all_calls_on_)) return results::kSuccess;
  if (is_on) std::erase(on_, kind);  // to enable it again switches all calls on again
  const ResultCode result = start(kind);
  auto* const choose = is_runtime ? cupti_.enable_runtime_call : cupti_.enable_driver_call;
  if (result != results::kSuccess || all_calls || choose == nullptr) return result;
  const std::vector<Calls::Function>& functions = calls_.functions(library);
  int refusals = 0;
  for (std::uint32_t number = 0; number < functions.size() && refusals < kMostRefusals; ++number) {
    if (functions[number].name.empty() || functions[number].is_chosen) continue;
    // A call that stays on is left out when its records are read.
    if (choose(number, 0) != results::kSuccess) ++refusals;
  }
  return results::kSuccess;
}

Status Tracing::enable(const Extras& extras, std::string& shortcoming) {
  const auto add_shortcoming = [&](std::string_view what, ResultCode result) {
    if (result == results::kSuccess) return;
    if (!shortcoming.empty()) shortcoming += "; ";
    shortcoming +=
        std::string(what) + " are not recorded: " + refusal(cupti_, "cuptiActivityEnable", result);
  };
  add_shortcoming("calls of the CUDA runtime", start_calls(ApiLibrary::runtime, extras.all_calls));
  add_shortcoming("calls of the CUDA driver", start_calls(ApiLibrary::driver, extras.all_calls));
  all_calls_on_ = all_calls_on_ || extras.all_calls;
  for (const ActivityKind kind : kDeviceKinds) {
    if (const ResultCode result = start(kind); result != results::kSuccess) {
      return refused("cuptiActivityEnable", result);
    }
  }
  for (const ExtraKind& extra : kExtraKinds) {
    if (!(extras.*extra.is_wanted)) continue;
    add_shortcoming(extra.name,
                    stream_.understands({extra.kind}) ? start(extra.kind) : results::kInvalidKind);
  }
  return {};
}

void Tracing::keep(const Extras& extras) {
  for (const ExtraKind& extra : kExtraKinds) {
    if (extras.*extra.is_wanted || std::erase(on_, extra.kind) == 0) continue;
    static_cast<void>(cupti_.disable(extra.kind));
  }
}

void Tracing::stop() {
  const bool is_shared = is_on() && is_taken_over();
  for (const ActivityKind kind : on_) {
    if (!is_shared || is_rare(kind)) static_cast<void>(cupti_.disable(kind));
  }
  on_.clear();
  all_calls_on_ = false;
  restore_settings();
}

void Tracing::forget() {
  on_.clear();
  changed_.clear();
  all_calls_on_ = false;
  has_clock_ = false;
  shows_clock_ = true;
}

}  // namespace tbtrace::cupti
