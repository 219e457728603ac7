// The columns of a Trace. Only TraceBuilder and part_of() write them, only Trace reads them. What a
// part of a trace is a part of.
// Owned by one TraceBuilder, then by one Trace.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/trace.h>

#include "base/column.h"
#include "base/id_column.h"
#include "base/string_pool.h"
#include "base/time_ranges.h"
#include "trace/argument_values.h"
#include "trace/event_batch.h"

namespace tbtrace {

/// The time of a part of a trace, which trace_of_steps() makes. Devices have a time of their own,
/// as they run behind the host.
struct PartTime {
  TimeRange host;
  TimeRange devices;
  std::int64_t first_step = 0;  ///< steps from this number to the last one, both included
  std::int64_t last_step = 0;
};

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
  std::optional<PartTime> part;       // of a part of another trace
  std::vector<EventId> in_part = {};  // by event of that trace; none: it is not in the part
};

/// What a Trace keeps from others: its columns, and what is computed from them on first use.
struct DerivedOfTrace {
  static Trace::Derived& get(const Trace& trace) { return *trace.derived_; }
  static const TraceData& data(const Trace& trace) { return *trace.data_; }
  /// For a trace with other columns, to be made again.
  static std::unique_ptr<TraceData> taken(Trace&& trace) {
    // Whoever made the trace gave its data away.
    return std::unique_ptr<TraceData>(const_cast<TraceData*>(trace.data_.release()));
  }
  static Trace made(std::unique_ptr<const TraceData> data) { return Trace(std::move(data)); }
};

/// nullopt if the trace is whole.
std::optional<PartTime> part_time_of(const Trace& trace);

/// What an event of the trace that `part` is a part of is called there; EventId::none if it is not
/// in it. Of a trace that is whole, the event.
EventId event_in_part(const Trace& part, EventId event);

}  // namespace tbtrace
