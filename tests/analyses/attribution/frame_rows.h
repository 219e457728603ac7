// Python frames as a test writes them down.
#pragma once

#include <cstdint>
#include <string_view>

#include <tbtrace/trace.h>

#include "fixtures/trace_rows.h"
#include "trace/trace_builder.h"

namespace tbtrace::analyses {

inline EventId add_frame(TraceBuilder& builder, std::string_view name, std::int64_t start,
                         std::int64_t duration, std::int64_t thread = 1) {
  EventRow row;
  row.start_ns = start;
  row.duration_ns = duration;
  row.flags = Events::kPythonFrame;
  row.name = builder.intern(name);
  row.track = fixtures::track(builder, 1, thread);
  row.category = builder.category(builder.intern("python_function"));
  return builder.add_event(row);
}

}  // namespace tbtrace::analyses
