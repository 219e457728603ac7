// Which steps of a training loop a profiler records: torch.profiler's schedules. Does not need
// torch.
// Values; a schedule owns its parameters. It is called from the thread that calls step().
// Wrong arguments throw std::invalid_argument with the text of torch 2.13.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <tbtrace/export.h>

namespace TBTRACE_EXPORT tbtrace {

/// What a profiler does during a step.
enum class ProfilerAction : std::uint8_t {
  none,
  warmup,  ///< get ready to record
  record,
  record_and_save,  ///< record, and hand over the cycle at the step's end
  /// Set by the profiler itself if a device stopped recording; a schedule must not return it.
  device_stopped,
};

/// As torch prints it: `RECORD_AND_SAVE`.
const char* action_name(ProfilerAction action);

/// The action of a step. Steps count from 0; any callable of this form is a schedule.
using Schedule = std::function<ProfilerAction(std::int64_t step)>;

/// After `skip_first` steps, cycles of `wait`, `warmup` and `active` steps.
struct ScheduleOptions {
  std::int64_t skip_first = 0;
  std::int64_t wait = 0;
  std::int64_t warmup = 0;
  std::int64_t active = 0;           ///< at least 1
  std::int64_t repeat = 0;           ///< number of cycles; 0: unlimited
  std::int64_t skip_first_wait = 0;  ///< not 0: the first cycle has no wait
};

/// What torch.profiler.schedule() returns. Without warm-up it warns on stderr, as torch does.
/// \throws std::invalid_argument if a number is negative, or `active` is not positive.
/// The schedule itself throws it for a negative step.
Schedule schedule(const ScheduleOptions& options);

/// The steps that are recorded after a signal.
struct SignalOptions {
  std::int64_t warmup = 1;
  std::int64_t active = 3;  ///< at least 1
};

/// A schedule that records when the running program is asked to: after the signal
/// (`kill -USR1 <process id>`), the next step() begins a cycle of `warmup` and `active` steps. More
/// signals until its end ask for nothing else. Until then it costs what a waiting schedule costs.
/// The signal's handler only counts, then calls the one that stood there before, and stays for the
/// rest of the process; the signal no longer ends it.
/// `.schedule = tbtrace::on_signal(SIGUSR1, {.warmup = 1, .active = 3})`, with `<csignal>`
/// \throws std::invalid_argument for other signals than SIGUSR1, SIGUSR2, SIGHUP and those from
/// SIGRTMIN to SIGRTMAX, or if a number is wrong.
Schedule on_signal(int signal, const SignalOptions& options = {});

/// Describes what a profiler does with `schedule` during the first `steps` steps, one line per
/// stretch, and at which calls to step() it hands over a cycle. For checking a schedule before a
/// long run.
std::string explain(const Schedule& schedule, std::int64_t steps);

}  // namespace tbtrace
