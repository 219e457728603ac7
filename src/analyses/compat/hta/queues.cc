#include "analyses/compat/hta/queues.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "base/bounded_sum.h"
#include "base/id_map.h"
#include "base/quantile.h"

namespace tbtrace::analyses {
namespace {

bool launches_in_hta(std::string_view name) {
  constexpr std::array<std::string_view, 11> kNames = {
      "cudaLaunchKernel",   "cudaLaunchKernelExC",
      "cuLaunchKernel",     "cudaMemcpyAsync",
      "cudaMemsetAsync",    "runFunction - job_prep_and_submit_for_execution",
      "hipLaunchKernel",    "hipExtModuleLaunchKernel",
      "hipMemsetAsync",     "hipMemcpyAsync",
      "hipMemcpyWithStream"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// The calls that launched something, by correlation. nullopt if two have the same.
std::optional<IdMap> calls_by_correlation(const Trace& trace, const HtaRows& rows,
                                          const HtaLinks& links) {
  IdMap calls;
  for (const std::vector<EventId>* list : {&rows.host, &rows.device}) {
    for (const EventId event : *list) {
      if (!launches_in_hta(trace.name(event)) || !links.has_activity(event)) continue;
      const auto row = static_cast<std::uint32_t>(index(event));
      if (!calls.insert(trace.correlation(event), row).second) return std::nullopt;
    }
  }
  return calls;
}

/// A time, and whether an activity starts then; otherwise a call launches one.
using Change = std::pair<std::int64_t, bool>;

}  // namespace

QueueChanges summary_of_changes(std::vector<std::int64_t> lengths) {
  std::sort(lengths.begin(), lengths.end());
  WideInteger sum = 0;
  WideInteger squares = 0;
  for (const std::int64_t length : lengths) {
    sum += length;
    squares += WideInteger{length} * length;
  }
  const auto count = static_cast<WideInteger>(lengths.size());
  QueueChanges changes;
  changes.count = lengths.size();
  changes.mean = static_cast<double>(sum) / static_cast<double>(count);
  if (count > 1) {
    // Lengths are below 2^32, like the number of rows: nothing overflows.
    changes.stddev = std::sqrt(static_cast<double>(count * squares - sum * sum) /
                               static_cast<double>(count) / static_cast<double>(count - 1));
  }
  changes.min = lengths.front();
  changes.quartile_1 = quantile(lengths, 0.25);
  changes.median = quantile(lengths, 0.5);
  changes.quartile_3 = quantile(lengths, 0.75);
  changes.max = lengths.back();
  return changes;
}

std::map<std::int64_t, QueueChanges> hta_queues(const Trace& trace, const HtaRows& rows,
                                                const HtaLinks& links) {
  const std::optional<IdMap> calls = calls_by_correlation(trace, rows, links);
  if (!calls) return {};
  const Events& events = trace.events();
  std::map<std::int64_t, std::vector<Change>> changes;
  IdMap with_activity;
  for (const EventId event : rows.device) {
    const std::uint32_t call = calls->find(trace.correlation(event));
    if (call == IdMap::kNone) continue;
    with_activity.insert(trace.correlation(event), 0);
    std::vector<Change>& of_stream = changes[hta_stream(trace, event)];
    of_stream.emplace_back(events.start_ns(static_cast<EventId>(call)), false);
    of_stream.emplace_back(events.start_ns(event), true);
  }
  if (with_activity.size() != calls->size()) return {};
  std::map<std::int64_t, QueueChanges> queues;
  for (auto& [stream, list] : changes) {
    std::sort(list.begin(), list.end());
    std::vector<std::int64_t> lengths;
    std::int64_t length = 0;
    for (const auto& [time, starts] : list) lengths.push_back(length += starts ? -1 : 1);
    queues[stream] = summary_of_changes(std::move(lengths));
  }
  return queues;
}

}  // namespace tbtrace::analyses
