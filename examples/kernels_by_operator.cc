// Which operators launched the kernels, copies and fills of a trace, and how many microseconds
// these took.
//   kernels_by_operator TRACE
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/operators.h>
#include <tbtrace/trace.h>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: kernels_by_operator TRACE\n";
    return 2;
  }
  const tbtrace::Result<tbtrace::Trace> trace = tbtrace::read_trace(argv[1]);
  if (!trace.ok()) {
    std::cerr << argv[1] << ": " << trace.status().message() << '\n';
    return 1;
  }

  struct Work {
    int count = 0;
    double us = 0;
  };
  std::map<std::pair<std::string, std::string>, Work> work;  // by operator and kernel
  for (const tbtrace::FunctionEvent& event : tbtrace::events(*trace)) {
    if (event.device_type != tbtrace::DeviceType::cpu) continue;
    for (const tbtrace::LaunchedKernel& kernel : event.kernels) {
      Work& sum = work[{event.key, kernel.name}];
      ++sum.count;
      sum.us += kernel.duration_us;
    }
  }
  std::vector<std::pair<std::pair<std::string, std::string>, Work>> rows(work.begin(), work.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& one, const auto& other) {
    return one.second.us > other.second.us;
  });
  for (const auto& [names, sum] : rows) {
    std::cout << sum.us << " us  " << sum.count << " x  " << names.first << " -> " << names.second
              << '\n';
  }

  // What is not above: work that nothing in the file launched.
  const tbtrace::LinkReport& links = trace->links();
  std::cout << "no operator: " << links.operator_unknown << " of "
            << links.operator_by_flow + links.operator_by_external_id +
                   links.operator_by_containment + links.operator_unknown
            << '\n';
  return 0;
}
