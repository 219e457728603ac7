// Reads a trace and prints its operators and stacks, each with some options left at their defaults.
#include <cstdlib>
#include <iostream>

#include <tbtrace/analysis_context.h>
#include <tbtrace/capabilities.h>
#include <tbtrace/flame_graph.h>
#include <tbtrace/operators.h>
#include <tbtrace/trace.h>
#include <tbtrace/version.h>

int main(int argc, char** argv) {
  if (argc != 2) return EXIT_FAILURE;
  const tbtrace::Result<tbtrace::Trace> trace = tbtrace::read_trace(argv[1], {.threads = 1});
  if (!trace.ok()) {
    std::cerr << trace.status().message() << '\n';
    return EXIT_FAILURE;
  }
  const tbtrace::OperatorSummary ops =
      tbtrace::operator_summary(*trace, {.group_by_input_shape = true});
  const tbtrace::Result<std::string> table =
      ops.table({.sort_by = "self_cpu_time_total", .row_limit = 1});
  const tbtrace::Result<tbtrace::StackTree> stacks =
      tbtrace::flame_graph(*trace, {.weight = "self_cpu_time_total"});
  if (!table.ok() || !stacks.ok()) return EXIT_FAILURE;
  if (tbtrace::flame_graph_png(*stacks).ok() != tbtrace::capabilities().pictures) {
    return EXIT_FAILURE;
  }
  const tbtrace::AnalysisContext context(*trace);
  for (const tbtrace::DeviceLink& link : context.device_links()) {
    const tbtrace::EventId op = context.operator_of(link.activity);
    const tbtrace::EventId module = context.module_of(link.activity);
    const tbtrace::Step* step = context.step_of(link.activity);
    std::cout << trace->name(link.activity) << " of "
              << (op == tbtrace::EventId::none ? "no operator" : trace->name(op)) << ", "
              << (module == tbtrace::EventId::none ? "no module" : trace->name(module)) << ", step "
              << (step == nullptr ? -1 : step->number) << '\n';
  }
  std::cout << tbtrace::version() << '\n' << *table << tbtrace::folded_stacks(*stacks);
  return EXIT_SUCCESS;
}
