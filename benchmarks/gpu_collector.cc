// What it costs to collect a GPU's records, with a CUPTI that makes them at a rate, or as fast as
// it can.
//   tbtrace_gpu_collector [MILLIONS-OF-RECORDS-A-SECOND [SECONDS-A-WINDOW [WINDOWS]]]    0: all it
//   can
// A launch is two records, of the call and of the kernel. Times are of the processor: that of the
// launching thread is the stand-in's own, but for asking for buffers; all other is the collector's.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "cupti/collector.h"
#include "support/fake_cuda/fake_cuda.h"

namespace {

double seconds(clockid_t clock) {
  timespec time = {};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double resident_mib() {
  std::ifstream statm("/proc/self/statm");
  double all = 0;
  double resident = 0;
  statm >> all >> resident;
  return resident * 4096 / (1 << 20);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace tbtrace;
  const double rate = (argc > 1 ? std::atof(argv[1]) : 1.0) * 1e6;
  const double length = argc > 2 ? std::atof(argv[2]) : 1.0;
  const int windows = argc > 3 ? std::atoi(argv[3]) : 8;
  const auto launches = static_cast<std::uint64_t>((rate > 0 ? rate : 20e6) * length / 2);
  fake_cuda::FakeCuda cuda(FAKE_CUPTI_130, FAKE_CUDA_DRIVER);
  cuda.cupti.skip_waits(true);
  Result<cupti::CuptiLibrary> library = cupti::open_cupti(FAKE_CUPTI_130);
  Result<cupti::DriverLibrary> driver = cupti::DriverLibrary::open(FAKE_CUDA_DRIVER);
  if (!library.ok() || !driver.ok()) return 1;
  cupti::Collector collector(*std::move(library), *std::move(driver));
  auto session = collector.begin({});
  if (!session.ok()) {
    std::cerr << session.status().message() << '\n';
    return 1;
  }
  fmt::print("{:>7} {:>12} {:>14} {:>16} {:>9} {:>9} {:>9}\n", "window", "records/s",
             "others' ns/rec", "launching ns/rec", "lost", "RSS MiB", "pool MiB");
  for (int window = 0; window < windows; ++window) {
    (*session)->begin_window();
    const double start = seconds(CLOCK_MONOTONIC);
    const double process = seconds(CLOCK_PROCESS_CPUTIME_ID);
    const double launching = seconds(CLOCK_THREAD_CPUTIME_ID);
    const fake_cuda::Kernel kernel = {.name = "_Z4gemmPf",
                                      .time = {.latency_ns = 1, .duration_ns = 1}};
    const std::uint64_t slice = rate > 0 ? std::max<std::uint64_t>(launches / 1000, 1) : launches;
    for (std::uint64_t done = 0; done < launches; done += slice) {
      cuda.cupti.generate(std::min(slice, launches - done), kernel);
      const double due =
          start + length * static_cast<double>(done + slice) / static_cast<double>(launches);
      if (const double early = due - seconds(CLOCK_MONOTONIC); rate > 0 && early > 0) {
        std::this_thread::sleep_for(std::chrono::duration<double>(early));
      }
    }
    const double launched = seconds(CLOCK_THREAD_CPUTIME_ID) - launching;
    const double took = seconds(CLOCK_MONOTONIC) - start;
    const auto trace = (*session)->end_window().get();
    const double own = seconds(CLOCK_THREAD_CPUTIME_ID) - launching;
    const double others = seconds(CLOCK_PROCESS_CPUTIME_ID) - process - own;
    const auto records = static_cast<double>(2 * launches);
    fmt::print("{:>7} {:>12.0f} {:>14.1f} {:>16.1f} {:>9} {:>9.0f} {:>9.0f}\n", window,
               records / took, others / records * 1e9, launched / records * 1e9,
               trace->lost + trace->untimed, resident_mib(),
               static_cast<double>(collector.buffer_bytes()) / (1 << 20));
    if (trace->activities.size() + trace->calls.size() + trace->lost + trace->untimed !=
        2 * launches) {
      std::cerr << "records are missing\n";
      return 1;
    }
  }
  return 0;
}
