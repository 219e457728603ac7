// What is wrong with the times of device work, for checks, for figures about time and for advice.
// Which work is misplaced is in trace/links.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tbtrace/trace.h>

#include "base/time_ranges.h"

namespace tbtrace::analyses {

/// An activity that goes on after a later one of its stream has begun and ended.
struct Overrun {
  EventId activity = EventId::none;
  std::int64_t ns = 0;  ///< from the start of that later one to its own end
};

/// Work on one stream is serial. By start; only overruns of more than a millisecond with two later
/// activities or more, and of more than ten with one. None of CUDA graphs, whose branches run side
/// by side on the stream of their launch.
std::vector<Overrun> stream_overruns(const Trace& trace);

/// A time in which the recording has nothing.
struct ClockJump {
  TimeRange time;
  EventId ended_by = EventId::none;
};

/// Those of ten minutes or more, by start: a clock jumped, the machine slept, or events have wrong
/// times. Misplaced work does not end one.
std::vector<ClockJump> clock_jumps(const Trace& trace);

/// Waits of the host for a device that go on for a millisecond or more after the last recorded work
/// of the process's devices: the device did something that is not in the file. Not those before the
/// first work, which wait for what was launched before the recording, or after the last, when the
/// recording ends. Sorted by id.
std::vector<EventId> waits_for_unrecorded_work(const Trace& trace);

/// Recordings before 2024 have whole microseconds; in these, short activities last 0.
bool has_whole_microseconds(const Trace& trace);

/// Whether so much of the device work has no duration that nothing follows from how long it took
/// or how busy the device was: more than 10 %, or half if all times are whole microseconds.
bool lacks_durations(const Trace& trace);

/// Sentences for people about all of this; empty if the times are sound.
std::vector<std::string> work_time_notes(const Trace& trace);

}  // namespace tbtrace::analyses
