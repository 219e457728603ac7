// The rows of a trace that HolisticTraceAnalysis counts as activities of a device, and its classes.
// Results are plain values.
// Source: HolisticTraceAnalysis 0.5.0, hta/common/{trace,trace_filter}.py, hta/utils/utils.py.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace tbtrace::analyses {

enum class HtaClass : unsigned char { computation, communication, memory, other };

/// By name alone, whatever the category.
HtaClass hta_class(std::string_view name);

// The next three, like hta_rows(), need ArgumentGroup::placement.

/// The profiler's own spans: it never sees them.
bool is_dropped_by_hta(const Trace& trace, EventId event);

/// The number of a row's stream, whatever its device; -1 for a row without one.
std::int64_t hta_stream(const Trace& trace, EventId event);

/// Whether a row is an activity when activities are linked to host rows. All others are host rows
/// then, also those with a stream and without a correlation.
bool is_hta_activity(const Trace& trace, EventId event);

/// What it keeps of a trace, by start. `device`: what has a `stream`. If the trace has more than
/// one step, rows that started after the end of the last one are dropped, and activities once for
/// each remaining host row with the same correlation: a row can occur several times, or not at all.
struct HtaRows {
  std::vector<EventId> device;
  std::vector<EventId> host;
};

/// Fails if that would be more than kMostHtaRows rows, as in damaged files of which many rows have
/// the same correlation.
Result<HtaRows> hta_rows(const Trace& trace);

inline constexpr std::uint64_t kMostHtaRows = 100'000'000;

/// The failure of figures that would count more than `most` rows.
Status too_many_hta_rows(std::uint64_t most);

}  // namespace tbtrace::analyses
