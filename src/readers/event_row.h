// What kind of row an event of a Chrome trace is, and when it was: the decisions that everyone who
// reads events must make alike.
// Pure functions of an event's texts.
// What makes no sense is told by the kind, or by a missing time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <tbtrace/trace.h>

#include "readers/chrome_tokenizer.h"

namespace tbtrace::readers {

enum class RowKind : std::uint8_t {
  range,        ///< `ph` X
  memory,       ///< memory was allocated or freed, or there was none left
  flow,         ///< an end of an arrow, `ph` s or f
  label,        ///< metadata, `ph` M
  instant,      ///< another `ph` i, and stops on the way of an arrow
  unsupported,  ///< a phase that means nothing to the model
  incomplete,   ///< without a phase, or a range without a name or a time
};

RowKind row_kind(const RawEvent& event);

/// What the arrows of a category mean.
FlowEnd::Type flow_type(std::string_view category);

/// Nothing if the field is no number or too far away.
std::optional<std::int64_t> time_of(const RawEvent& event, Field field);

/// The field is there and not `null`.
bool is_given(const RawEvent& event, Field field);

struct RangeTimes {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  bool negative = false;  ///< the file says less than 0
};

/// Nothing if the range's times are unreadable.
std::optional<RangeTimes> range_times(const RawEvent& event);

}  // namespace tbtrace::readers
