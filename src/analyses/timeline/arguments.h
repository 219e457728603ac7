// The arguments of the ranges of a timeline. Results own all their data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

#include "base/column.h"

namespace tbtrace::analyses {

/// One argument of all ranges, by range: as numbers of its different values, or, of integers that
/// seldom repeat, such as ids, as the integers themselves.
struct TimelineArgument {
  std::string_view key;   ///< as the newest writers spell it: `grid`
  std::string_view unit;  ///< empty: none
  bool is_integer = false;
  std::vector<std::string> texts;  ///< unless it is_integer: JSON, each value once
  Column<std::int64_t> values;     ///< 0: none, else one more than the number in `texts`
  Column<std::uint8_t> has;        ///< if it is_integer: whether the range has it
};

/// Whether any range has one.
bool has_arguments(const Trace& trace);

/// Those that the trace was read with, of these events.
std::vector<TimelineArgument> timeline_arguments(const Trace& trace,
                                                 std::span<const EventId> events);

/// A value of an event as JSON; empty if it has none.
std::string argument_json(const Trace& trace, EventId event, Argument argument);

/// Those that an event has, ids too.
std::vector<Argument> arguments_of(const Trace& trace, EventId event);

}  // namespace tbtrace::analyses
