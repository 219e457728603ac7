// Reads a trace and makes its first page once, as `tbtrace summary` does, and says how long reading
// took and how long the rest, without the start and the end of the process.
//   tbtrace_trace_summary THREADS FILE
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <tbtrace/summary.h>
#include <tbtrace/trace.h>

#include "heap.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: tbtrace_trace_summary THREADS FILE\n", stderr);
    return EXIT_FAILURE;
  }
  tbtrace::tools::set_up_heap();  // as the program
  using Seconds = std::chrono::duration<double>;
  const auto start = std::chrono::steady_clock::now();
  const tbtrace::Result<tbtrace::Trace> trace = tbtrace::read_trace(
      argv[2], {.threads = std::atoi(argv[1]), .arguments = tbtrace::kSummaryArguments});
  if (!trace.ok()) {
    std::fprintf(stderr, "%s: %s\n", argv[2], trace.status().message().c_str());
    return EXIT_FAILURE;
  }
  const auto was_read = std::chrono::steady_clock::now();
  const std::string page = tbtrace::summary_text(
      {tbtrace::trace_summary(*trace, argv[2], {.threads = std::atoi(argv[1])})});
  const auto end = std::chrono::steady_clock::now();
  std::printf("read %.9f\ntook %.9f\n%zu\n", Seconds(was_read - start).count(),
              Seconds(end - start).count(), page.size());
  return EXIT_SUCCESS;
}
