// A process that records a GPU and ends without notice.
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include <torch/cuda.h>
#include <unistd.h>

#include <tbtrace/profiler.h>

#include "models.h"
#include "parts.h"

namespace gpu_checks {

void journal(const Arguments& arguments, Figures& figures) {
  const int count = arguments.number(0, 2000);
  Launches launches;
  launches.run(10);
  wait_for_gpu();
  tbtrace::ProfilerOptions options = both_activities();
  options.profile_memory = true;
  options.journal.directory = arguments.path("journal");
  tbtrace::Profiler profiler(std::move(options));
  profiler.start();
  launches.run(count);
  wait_for_gpu();
  // CUPTI hands its records over when it is asked to, which happens each second.
  std::this_thread::sleep_for(std::chrono::milliseconds(3500));
  figures.add("launches", count);
  figures.print();
  static_cast<void>(std::fflush(nullptr));
  ::_exit(0);
}

}  // namespace gpu_checks
