#include "analyses/compat/hta/rows.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>

#include "base/id_map.h"

namespace tbtrace::analyses {
namespace {

constexpr std::string_view kStep = "ProfilerStep";

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// How many host rows there are by correlation.
class CountsById {
 public:
  void add(std::int64_t id) {
    const auto row = static_cast<std::uint32_t>(counts_.size());
    const auto [at, is_new] = rows_.insert(id, row);
    if (is_new) counts_.push_back(0);
    ++counts_[at];
  }
  std::size_t of(std::int64_t id) const {
    const std::uint32_t row = rows_.find(id);
    return row == IdMap::kNone ? 0 : counts_[row];
  }

 private:
  IdMap rows_;
  std::vector<std::size_t> counts_;
};

class Rows {
 public:
  explicit Rows(const Trace& trace) : trace_(trace) {}

  HtaRows all() const {
    HtaRows rows;
    for (const EventId event : trace_.by_start()) {
      if (is_dropped(event)) continue;
      (stream(event) == -1 ? rows.host : rows.device).push_back(event);
    }
    return rows;
  }

  Result<HtaRows> until(std::int64_t last_end) const {
    HtaRows rows;
    CountsById host_rows;
    for (const EventId event : trace_.by_start()) {
      const bool too_late = trace_.events().start_ns(event) > last_end;
      if (!is_dropped(event) && !is_hta_activity(trace_, event) && !too_late) {
        host_rows.add(trace_.correlation(event));
      }
    }
    std::uint64_t count = 0;
    for (const EventId event : trace_.by_start()) {
      if (is_dropped(event)) continue;
      const bool too_late = trace_.events().start_ns(event) > last_end;
      const std::size_t copies = is_hta_activity(trace_, event)
                                     ? host_rows.of(trace_.correlation(event))
                                     : static_cast<std::size_t>(!too_late);
      count += copies;
      if (count > kMostHtaRows) return too_many_hta_rows(kMostHtaRows);
      std::vector<EventId>& kind = stream(event) == -1 ? rows.host : rows.device;
      kind.insert(kind.end(), copies, event);
    }
    return rows;
  }

  /// The end of the last step on the host, if the trace has steps of several names.
  std::int64_t last_end() const {
    std::set<StringId> steps;
    std::int64_t last_end = std::numeric_limits<std::int64_t>::min();
    for (const EventId event : trace_.by_start()) {
      if (is_dropped(event) || !contains(trace_.name(event), kStep)) continue;
      steps.insert(trace_.events().name(event));
      if (!is_hta_activity(trace_, event))
        last_end = std::max(last_end, trace_.events().end_ns(event));
    }
    return steps.size() > 1 ? last_end : std::numeric_limits<std::int64_t>::max();
  }

 private:
  bool is_dropped(EventId event) const { return is_dropped_by_hta(trace_, event); }
  std::int64_t stream(EventId event) const { return hta_stream(trace_, event); }

  const Trace& trace_;
};

}  // namespace

HtaClass hta_class(std::string_view name) {
  const bool is_nccl = name.starts_with("nccl") && contains(name.substr(4), "Kernel");
  if (is_nccl) return HtaClass::communication;
  if (name.starts_with("Memcpy") || name.starts_with("Memset") || name.starts_with("dma")) {
    return HtaClass::memory;
  }
  return contains(name, "Memcpy") || contains(name, "Sync") ? HtaClass::other
                                                            : HtaClass::computation;
}

bool is_dropped_by_hta(const Trace& trace, EventId event) {
  return trace.kind(event) == EventKind::trace_span;
}

std::int64_t hta_stream(const Trace& trace, EventId event) {
  return trace.argument(Argument::stream).integer(event).value_or(-1);
}

bool is_hta_activity(const Trace& trace, EventId event) {
  if (hta_stream(trace, event) >= 0 && trace.correlation(event) > 0) return true;
  const std::string_view name = trace.name(event);
  return name == "Event Sync" || name == "Context Sync";
}

Result<HtaRows> hta_rows(const Trace& trace) {
  const Rows rows(trace);
  const std::int64_t last_end = rows.last_end();
  if (last_end == std::numeric_limits<std::int64_t>::max()) return rows.all();
  return rows.until(last_end);
}

Status too_many_hta_rows(std::uint64_t most) {
  return {StatusCode::invalid_argument,
          "so many rows share a correlation id that HolisticTraceAnalysis would count more than " +
              std::to_string(most) + " rows; use exact figures"};
}

}  // namespace tbtrace::analyses
