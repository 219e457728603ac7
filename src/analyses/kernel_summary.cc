#include "analyses/kernel_summary.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "base/bounded_sum.h"

namespace tbtrace::analyses {

std::vector<KernelRow> kernel_summary(const Trace& trace) {
  const Events& events = trace.events();
  std::unordered_map<std::uint32_t, std::size_t> rows_of_names;
  std::vector<KernelRow> rows;
  for (const EventId event : trace.by_start()) {
    if (trace.kind(event) != EventKind::kernel) continue;
    const std::int64_t ns = events.duration_ns(event);
    const auto [found, is_new] =
        rows_of_names.try_emplace(static_cast<std::uint32_t>(events.name(event)), rows.size());
    if (is_new)
      rows.push_back({.name = std::string(trace.name(event)), .min_ns = ns, .max_ns = ns});
    KernelRow& row = rows[found->second];
    ++row.count;
    add_bounded(row.total_ns, ns);
    row.min_ns = std::min(row.min_ns, ns);
    row.max_ns = std::max(row.max_ns, ns);
  }
  std::sort(rows.begin(), rows.end(), [](const KernelRow& one, const KernelRow& two) {
    return std::tie(two.total_ns, one.name) < std::tie(one.total_ns, two.name);
  });
  return rows;
}

}  // namespace tbtrace::analyses
