#include "analyses/gpu/report.h"

#include <cstdint>

#include "base/bounded_sum.h"
#include "base/share.h"
#include "report/table_list.h"
#include "report/totals.h"

namespace tbtrace {
namespace {

using analyses::field;

Cell bandwidth(const GpuUse& use) {
  if (use.copy_ns == 0) return {};
  return static_cast<double>(use.copied_bytes) * 1e9 / static_cast<double>(use.copy_ns);
}

constexpr analyses::GpuColumn<GpuUse> kColumns[] = {
    {"device", 1, field<&GpuUse::device>},
    {"stream", 2, [](const GpuUse& use) { return use.stream.empty() ? Cell() : Cell(use.stream); }},
    {"window_ns", 3, field<&GpuUse::window_ns>},
    {"busy_ns", 0, field<&GpuUse::busy_ns>},
    {"busy_share", 4, [](const GpuUse& use) { return Cell(use.busy_share()); }},
    {"computation_ns", 8, field<&GpuUse::computation_ns>},
    {"communication_ns", 0, field<&GpuUse::communication_ns>},
    {"memory_ns", 0, field<&GpuUse::memory_ns>},
    {"overlap_ns", 0, field<&GpuUse::overlap_ns>},
    {"exposed_communication_ns", 9, field<&GpuUse::exposed_communication_ns>},
    {"exposed_memory_ns", 10, field<&GpuUse::exposed_memory_ns>},
    {"idle_ns", 5, field<&GpuUse::idle_ns>},
    {"idle_host_wait_ns", 6, field<&GpuUse::idle_host_wait_ns>},
    {"idle_kernel_wait_ns", 7, field<&GpuUse::idle_kernel_wait_ns>},
    {"idle_other_ns", 0, field<&GpuUse::idle_other_ns>},
    {"queue_length_mean", 0, field<&GpuUse::queue_length_mean>},
    {"queue_length_max", 0, field<&GpuUse::queue_length_max>},
    {"activities", 0, field<&GpuUse::activities>},
    {"launches", 0, field<&GpuUse::launches>},
    {"short_kernels", 0, field<&GpuUse::short_kernels>},
    {"copied_bytes", 0, field<&GpuUse::copied_bytes>},
    {"copy_bandwidth_bytes_per_s", 0, bandwidth}};

}  // namespace

AnalysisReport::Totals analyses::joined_gpu_totals(const AnalysisReport::Totals& sums,
                                                   const Table& /*rows*/) {
  AnalysisReport::Totals totals = sums;
  const auto* window = std::get_if<std::int64_t>(report::total_named(totals, "window_ns"));
  const auto* busy = std::get_if<std::int64_t>(report::total_named(totals, "busy_ns"));
  Cell* const busy_share = report::total_named(totals, "busy_share");
  if (window != nullptr && busy != nullptr && busy_share != nullptr) {
    *busy_share = share(*busy, *window);
  }
  return totals;
}

Result<AnalysisReport> gpu_report(const Trace& trace, const GpuOptions& options) {
  if (Status read = trace.check_read(analyses::gpu_table().arguments, "gpu"); !read.ok()) {
    return read;
  }
  const Result<std::vector<GpuUse>> use = gpu_use(trace, options);
  if (!use.ok()) return use.status();
  return analyses::gpu_report_of<GpuUse>(trace, *use, kColumns);
}

}  // namespace tbtrace
