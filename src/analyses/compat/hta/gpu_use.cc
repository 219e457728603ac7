#include "analyses/compat/hta/gpu_use.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analyses/compat/hta/links.h"
#include "analyses/compat/hta/queues.h"
#include "analyses/compat/hta/rows.h"
#include "base/bounded_sum.h"
#include "base/time_ranges.h"

namespace tbtrace::analyses {
namespace {

/// All streams together, each instant once.
HtaGpuUse use_of_all(const Trace& trace, const std::vector<EventId>& rows) {
  const Events& events = trace.events();
  std::vector<TimeRange> busy;
  std::map<HtaClass, std::vector<TimeRange>> classes;
  for (const EventId event : rows) {
    const TimeRange time = {events.start_ns(event), events.end_ns(event)};
    add_range(busy, time);
    add_range(classes[hta_class(trace.name(event))], time);
  }
  const std::vector<TimeRange>& computation = classes[HtaClass::computation];
  const std::vector<TimeRange>& communication = classes[HtaClass::communication];
  const std::vector<TimeRange>& memory = classes[HtaClass::memory];
  HtaGpuUse use;
  use.window_ns = busy.back().end - busy.front().start;
  use.busy_ns = total_length(busy);
  use.idle_ns = use.window_ns - use.busy_ns;
  use.computation_ns = total_length(computation);
  use.communication_ns = total_length(communication);
  use.memory_ns = total_length(memory);
  use.overlap_ns = total_length(intersection(computation, communication));
  use.exposed_communication_ns = use.communication_ns - use.overlap_ns;
  use.exposed_memory_ns = total_length(difference(difference(memory, computation), communication));
  use.activities = rows.size();
  return use;
}

bool counts_for_idle_time(std::string_view category) {
  constexpr std::array<std::string_view, 7> kCategories = {
      "kernel", "Kernel", "gpu_memset", "Memset", "gpu_memcpy", "Memcpy", "mtia_ccp_events"};
  return std::find(kCategories.begin(), kCategories.end(), category) != kCategories.end();
}

/// The start of the host row that an activity is linked to, if it is one of the rows that count.
class LaunchTimes {
 public:
  LaunchTimes(const Trace& trace, const HtaRows& rows, const HtaLinks& links)
      : trace_(trace), links_(links), counts_(trace.events().size(), false) {
    for (const EventId event : rows.host) counts_[index(event)] = true;
    for (const EventId event : rows.device) counts_[index(event)] = true;
  }

  std::optional<std::int64_t> of(EventId activity) const {
    const EventId row = links_.host_row(activity);
    if (row == EventId::none || !counts_[index(row)]) return std::nullopt;
    return trace_.events().start_ns(row);
  }

 private:
  const Trace& trace_;
  const HtaLinks& links_;
  std::vector<bool> counts_;  // by event
};

/// Gaps after the previous row of a stream. `rows`: by start.
HtaGpuUse idle_of_stream(const Trace& trace, const std::vector<EventId>& rows,
                         const LaunchTimes& launches, std::int64_t kernel_wait_limit_ns) {
  const Events& events = trace.events();
  WideInteger host_wait = 0;
  WideInteger kernel_wait = 0;
  WideInteger other = 0;
  for (std::size_t row = 1; row < rows.size(); ++row) {
    const std::int64_t previous_end = events.end_ns(rows[row - 1]);
    const WideInteger gap = WideInteger{events.start_ns(rows[row])} - previous_end;
    const std::optional<std::int64_t> launch = launches.of(rows[row]);
    if (launch && *launch > previous_end) {
      host_wait += gap;
    } else if (gap < kernel_wait_limit_ns) {
      kernel_wait += gap;
    } else {
      other += gap;
    }
  }
  HtaGpuUse use;
  use.idle_host_wait_ns = bounded(host_wait);
  use.idle_kernel_wait_ns = bounded(kernel_wait);
  use.idle_other_ns = bounded(other);
  use.idle_ns = bounded(host_wait + kernel_wait + other);
  use.activities = rows.size();
  return use;
}

}  // namespace

Result<std::vector<HtaGpuUse>> hta_gpu_use(const Trace& trace, const GpuOptions& options) {
  const Result<HtaRows> found = hta_rows(trace);
  if (!found.ok()) return found.status();
  const HtaRows& rows = *found;
  if (rows.device.empty()) return std::vector<HtaGpuUse>();
  if (!options.by_stream) return std::vector<HtaGpuUse>{use_of_all(trace, rows.device)};
  const HtaLinks links(trace);
  const LaunchTimes launches(trace, rows, links);
  std::map<std::int64_t, std::vector<EventId>> streams;
  for (const EventId event : rows.device) {
    if (counts_for_idle_time(trace.string(trace.category(event).name))) {
      streams[hta_stream(trace, event)].push_back(event);
    }
  }
  std::map<std::int64_t, HtaGpuUse> use;
  for (const auto& [stream, of_stream] : streams) {
    use[stream] = idle_of_stream(trace, of_stream, launches, options.kernel_wait_limit_ns);
  }
  for (const auto& [stream, changes] : hta_queues(trace, rows, links)) {
    use[stream].queue_changes = changes;
  }
  std::vector<HtaGpuUse> result;
  for (auto& [stream, row] : use) {
    row.stream = std::to_string(stream);
    result.push_back(std::move(row));
  }
  return result;
}

}  // namespace tbtrace::analyses
