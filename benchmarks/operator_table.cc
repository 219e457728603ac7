// Reads a trace and makes its operator table once, as `tbtrace ops` does, and says how long that
// took without the start and the end of the process.
//   tbtrace_operator_table THREADS FILE
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <tbtrace/operators.h>
#include <tbtrace/trace.h>

#include "heap.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: tbtrace_operator_table THREADS FILE\n", stderr);
    return EXIT_FAILURE;
  }
  tbtrace::tools::set_up_heap();  // as the program
  const auto start = std::chrono::steady_clock::now();
  const tbtrace::Result<tbtrace::Trace> trace = tbtrace::read_trace(
      argv[2], {.threads = std::atoi(argv[1]),
                .arguments = tbtrace::kOperatorArguments -
                             tbtrace::ArgumentSet{tbtrace::ArgumentGroup::call_stacks},
                .inputs_for_flops_only = true});
  if (!trace.ok()) {
    std::fprintf(stderr, "%s: %s\n", argv[2], trace.status().message().c_str());
    return EXIT_FAILURE;
  }
  const tbtrace::Result<std::string> table =
      tbtrace::operator_summary(*trace, {.threads = std::atoi(argv[1])}).table();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("took %.9f\n%zu\n", took.count(), table->size());
  return EXIT_SUCCESS;
}
