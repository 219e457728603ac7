#include "analyses/flops/known_operations.h"

#include "base/bounded_sum.h"

namespace tbtrace::analyses {

UncountedWork uncounted_work(const OperatorWorkSummary& summary) {
  UncountedWork work;
  work.on_device = summary.has_device_work;
  work.all_time_ns = work.on_device ? summary.all.device_time_ns : summary.all.cpu_time_ns;
  std::int64_t longest_ns = -1;
  for (const OperatorWork& row : summary.rows) {
    if (!is_uncounted(row.state)) continue;
    const bool is_communication =
        row.device_time_ns > 0 && row.communication_time_ns == row.device_time_ns;
    if (is_communication) continue;
    const std::int64_t time_ns =
        work.on_device ? row.device_time_ns - row.communication_time_ns : row.cpu_time_ns;
    work.count += row.count;
    add_bounded(work.time_ns, time_ns);
    if (time_ns > longest_ns) {
      work.longest = row.name;
      longest_ns = time_ns;
    }
  }
  return work;
}

}  // namespace tbtrace::analyses
