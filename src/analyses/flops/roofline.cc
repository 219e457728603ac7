// The work of operators as a roofline.
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/flops.h>

namespace tbtrace {
namespace {

/// The precisions that have the same peak share a line.
std::vector<RooflinePeak> peaks_of(const OperatorWorkSummary& summary) {
  std::map<double, std::vector<std::string_view>, std::greater<>> precisions;
  for (const OperatorWork& row : summary.rows) {
    if (!row.peak_flops_per_s) continue;
    std::vector<std::string_view>& names = precisions[*row.peak_flops_per_s];
    const std::string_view name = precision_name(row.precision);
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  std::vector<RooflinePeak> peaks;
  for (auto& [flops_per_s, names] : precisions) {
    std::sort(names.begin(), names.end());
    RooflinePeak& peak = peaks.emplace_back();
    peak.flops_per_s = flops_per_s;
    for (const std::string_view name : names) {
      if (!peak.precisions.empty()) peak.precisions += ", ";
      peak.precisions += name;
    }
  }
  return peaks;
}

}  // namespace

Roofline roofline(const OperatorWorkSummary& summary) {
  Roofline result;
  result.bytes_per_s = summary.peak_bytes_per_s;
  result.peaks = peaks_of(summary);
  result.time = summary.has_device_work ? "device time" : "CPU time";
  result.total_time_ns =
      summary.has_device_work ? summary.all.device_time_ns : summary.all.cpu_time_ns;
  result.device = summary.device;
  if (!summary.device.empty() && !summary.peak_source.empty()) {
    result.device += "; peaks: " + summary.peak_source;
  }
  for (const OperatorWork& row : summary.rows) {
    if (row.on_device != summary.has_device_work) continue;
    if (!row.flops_per_s || !row.flops_per_byte) continue;
    RooflinePoint& point = result.points.emplace_back();
    point.name = row.name;
    point.details = row.input_shapes;
    point.precision = precision_name(row.precision);
    point.count = row.count;
    point.time_ns = row.on_device ? row.device_time_ns : row.cpu_time_ns;
    point.flops_per_byte = *row.flops_per_byte;
    point.flops_per_s = *row.flops_per_s;
    point.roof_flops_per_s = row.roof_flops_per_s;
    point.is_memory_bound = row.is_memory_bound;
  }
  return result;
}

}  // namespace tbtrace
