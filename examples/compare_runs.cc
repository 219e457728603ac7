// Which operators changed most between two traces, in exact nanoseconds of their own CPU time.
//   compare_runs BEFORE AFTER
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/operators.h>
#include <tbtrace/trace.h>

namespace {

using Times = std::map<std::string, std::int64_t>;

/// Adds each operator's time, `sign` times.
bool add_times(const char* path, int sign, Times& times) {
  const tbtrace::Result<tbtrace::Trace> trace = tbtrace::read_trace(path);
  if (!trace.ok()) {
    std::cerr << path << ": " << trace.status().message() << '\n';
    return false;
  }
  const tbtrace::OperatorSummary ops = tbtrace::exact_operator_summary(*trace);
  for (const tbtrace::OperatorRow& row : ops.rows()) {
    if (row.device_type == tbtrace::DeviceType::cpu)
      times[row.key] += sign * row.self_cpu_time_total.ns;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: compare_runs BEFORE AFTER\n";
    return 2;
  }
  Times times;
  if (!add_times(argv[1], -1, times) || !add_times(argv[2], 1, times)) return 1;
  std::vector<std::pair<std::string, std::int64_t>> rows(times.begin(), times.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& one, const auto& other) {
    return std::abs(one.second) > std::abs(other.second);
  });
  for (const auto& [name, change] : rows) {
    if (change != 0) std::cout << (change > 0 ? "+" : "") << change << " ns  " << name << '\n';
  }
  return 0;
}
