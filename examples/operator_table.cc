// Prints the operators of a trace as key_averages().table() does in Python, and where most time
// went.
//   operator_table TRACE
#include <algorithm>
#include <iostream>

#include <tbtrace/operators.h>
#include <tbtrace/trace.h>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: operator_table TRACE\n";
    return 2;
  }
  const tbtrace::Result<tbtrace::Trace> trace = tbtrace::read_trace(argv[1]);
  if (!trace.ok()) {
    std::cerr << argv[1] << ": " << trace.status().message() << '\n';
    return 1;
  }
  for (const tbtrace::Issue& issue : trace->issues()) {
    std::cerr << argv[1] << ": " << issue.count << " x " << issue.sentence << '\n';
  }

  const tbtrace::OperatorSummary ops =
      tbtrace::operator_summary(*trace, {.group_by_input_shape = true});
  const tbtrace::Result<std::string> table =
      ops.table({.sort_by = "self_cpu_time_total", .row_limit = 5, .max_shapes_column_width = 30});
  if (!table.ok()) {
    std::cerr << table.status().message() << '\n';
    return 1;
  }
  std::cout << *table;

  // The rows themselves: times in microseconds as torch has them, and in whole nanoseconds.
  const auto by_self_time = [](const tbtrace::OperatorRow& one, const tbtrace::OperatorRow& other) {
    return one.self_cpu_time_total.ns < other.self_cpu_time_total.ns;
  };
  const auto most = std::max_element(ops.rows().begin(), ops.rows().end(), by_self_time);
  if (most != ops.rows().end()) {
    std::cout << most->key << ' ' << most->input_shapes << ": " << most->self_cpu_time_total.ns
              << " ns in " << most->count << " calls\n";
  }
  return 0;
}
