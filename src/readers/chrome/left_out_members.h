// Members of rows that whoever takes the rows writes anew, so that they need not be listed.
#pragma once

#include <cstdint>

#include <tbtrace/arguments.h>

#include "trace/event_batch.h"

namespace tbtrace::readers {

struct LeftOutMembers {
  /// One bit for each EventField.
  static constexpr std::uint32_t bit(EventField field) {
    return std::uint32_t{1} << static_cast<std::uint32_t>(field);
  }

  std::uint32_t fields = 0;          ///< of all rows
  std::uint32_t range_fields = 0;    ///< of ranges
  ArgumentSet range_arguments = {};  ///< of ranges
};

}  // namespace tbtrace::readers
