#include "analyses/operators/exact_rows.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/bounded_sum.h"
#include "base/natural_order.h"
#include "report/duration.h"

namespace tbtrace::analyses {
namespace {

using report::duration_of_ns;

OperatorRow idle_row(const std::vector<ThreadTotal>& threads) {
  OperatorRow row;
  row.key = "[idle]";
  row.count = static_cast<std::int64_t>(threads.size());
  std::int64_t idle = 0;
  for (const ThreadTotal& thread : threads) add_bounded(idle, thread.idle_ns);
  row.cpu_time_total = duration_of_ns(idle);
  row.self_cpu_time_total = duration_of_ns(idle);
  return row;
}

OperatorRow unattributed_row(const DeviceAndMemory& spent) {
  OperatorRow row;
  row.key = "[unattributed]";
  row.device_time_total = duration_of_ns(spent.device_ns);
  row.self_device_time_total = row.device_time_total;
  row.cpu_memory_usage_bytes = spent.cpu_bytes;
  row.self_cpu_memory_usage_bytes = spent.cpu_bytes;
  row.device_memory_usage_bytes = spent.device_bytes;
  row.self_device_memory_usage_bytes = spent.device_bytes;
  return row;
}

const GroupValues& values_of(const OperatorRow& row) {
  static const GroupValues kNone;
  return row.values == nullptr ? kNone : *row.values;
}

auto key_of(const OperatorRow& row) {
  return std::tie(row.key, row.device_type, row.is_user_annotation, row.overload_name,
                  row.input_shapes, row.stack, values_of(row));
}

void sort_rows(std::vector<OperatorRow>& rows, const std::vector<std::uint32_t>& first) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t one, std::size_t two) {
    if (first[one] != first[two]) return first[one] < first[two];
    return key_of(rows[one]) < key_of(rows[two]);
  });
  std::vector<OperatorRow> sorted;
  sorted.reserve(rows.size() + 2);
  for (const std::size_t row : order) sorted.push_back(std::move(rows[row]));
  rows = std::move(sorted);
}

bool comes_before(const ThreadTotal& one, const ThreadTotal& two) {
  if (one.process != two.process) return in_natural_order(one.process, two.process);
  if (one.thread != two.thread) return in_natural_order(one.thread, two.thread);
  return std::tie(one.name, one.self_cpu_time_total_ns, one.idle_ns) <
         std::tie(two.name, two.self_cpu_time_total_ns, two.idle_ns);
}

}  // namespace

OperatorSummary exact_summary_of(ExactParts parts) {
  sort_rows(parts.rows.rows, parts.first);
  std::ranges::sort(parts.threads, comes_before);
  parts.rows.rows.push_back(idle_row(parts.threads));
  parts.rows.rows.push_back(unattributed_row(parts.unattributed));
  return OperatorSummary(std::move(parts.rows), Figures::exact, std::move(parts.source),
                         parts.window_ns, std::move(parts.threads));
}

}  // namespace tbtrace::analyses
