// The columns of a Trace. Only TraceBuilder writes them, only Trace reads them.
// Owned by one TraceBuilder, then by one Trace.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/trace.h>

#include "base/column.h"
#include "base/id_column.h"
#include "base/string_pool.h"
#include "trace/argument_values.h"
#include "trace/event_batch.h"

namespace tbtrace {

// One column per field: an analysis touches the few it needs, and memory grows by 31-47 bytes per
// event instead of 150 with one object per event. Arguments are columns that cost next to nothing
// for events without them.
struct TraceData {
  StringPool strings;

  Column<std::int64_t> start_ns;
  Column<std::int64_t> duration_ns;
  Column<StringId> name;
  Column<TrackId> track;
  Column<CategoryId> category;
  Column<std::uint8_t> flags;
  IdColumn external_id;
  IdColumn correlation;
  Column<EventId> by_start;

  Column<MemoryRecord> memory;
  Column<FlowEnd> flows;
  std::vector<Instant> instants;
  std::vector<CounterValue> counter_values;
  std::array<ArgumentValues, kArgumentCount> arguments;         // by event
  std::array<ArgumentValues, kArgumentCount> memory_arguments;  // by record

  ArgumentSet arguments_read = ArgumentSet::all();

  std::vector<Track> tracks;
  std::vector<Category> categories;
  std::vector<Step> steps;
  std::map<std::string, std::string, std::less<>> metadata;
  std::vector<Issue> issues;

  std::optional<DeviceType> device;
  std::int64_t base_time_ns = 0;
  std::int64_t first_time_ns = 0;
  std::int64_t window_start_ns = 0;
  std::int64_t window_end_ns = 0;
  bool has_window = false;
};

}  // namespace tbtrace
