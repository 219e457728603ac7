// Whether a journal keeps up with a busy program, and how much memory and disk it takes.
//
//   tbtrace_journal_flow DIRECTORY [--events N] [--threads N] [--rate N] [--window SECONDS]
//
// Made threads store so many events a second in all, each the begin or the end of a plain operator,
// in windows one after another, as a profiler's cycles are. Prints what was lost, the processor
// time of the journal's own thread, resident memory at the end of the first window and at most
// later, and bytes of the records.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "recorder/journal/journal.h"
#include "recorder/log/record.h"
#include "recorder/log/recording.h"

namespace {

using namespace tbtrace::recorder;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

double resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  double resident = 0;
  double shared = 0;
  file >> pages >> resident >> shared;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

double seconds_of(int who) {
  rusage used = {};
  ::getrusage(who, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

struct Plan {
  double events = 1e8;
  int threads = 4;
  double rate = 3e6;  // events a second of all threads
  double window = 2;  // seconds
};

/// Stores a thread's events of one window, a few at a time so that they are at the rate.
void store(ThreadLog& log, const Plan& plan) {
  constexpr int kAtOnce = 300;
  const NameNumber name = log.names().find("aten::add");
  const double each = plan.rate / plan.threads;
  const Clock::time_point start = Clock::now();
  for (double stored = 0; stored < each * plan.window; stored += kAtOnce) {
    std::this_thread::sleep_until(
        start + std::chrono::duration_cast<Clock::duration>(Seconds(stored / each)));
    for (int event = 0; event < kAtOnce; event += 2) {
      write(log, BeginRecord{.ticks = ticks(), .name = name, .key = 4096});
      write(log, EndRecord{.ticks = ticks(), .key = 4096});
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') {
    std::fprintf(stderr, "usage: %s DIRECTORY [--events N] [--threads N] [--rate N] [--window S]\n",
                 argv[0]);
    return 2;
  }
  Plan plan;
  for (int i = 2; i + 1 < argc; i += 2) {
    const double value = std::atof(argv[i + 1]);
    if (std::strcmp(argv[i], "--events") == 0) plan.events = value;
    if (std::strcmp(argv[i], "--threads") == 0) plan.threads = static_cast<int>(value);
    if (std::strcmp(argv[i], "--rate") == 0) plan.rate = value;
    if (std::strcmp(argv[i], "--window") == 0) plan.window = value;
  }
  const auto opened = journal::Journal::open(argv[1], {});
  if (!opened.ok()) {
    std::fprintf(stderr, "%s\n", opened.status().message().c_str());
    return 1;
  }
  double first = 0;
  double most = 0;
  double events = 0;
  double bytes = 0;
  std::uint64_t lost = 0;
  double in_threads = 0;
  const Clock::time_point start = Clock::now();
  while (events < plan.events) {
    Recording recording({}, (*opened)->new_window());
    recording.start();
    std::vector<std::thread> threads;
    std::atomic<double> thread_seconds = 0;
    for (int number = 0; number < plan.threads; ++number) {
      threads.emplace_back([&, number] {
        const auto log = recording.add_thread({.system_id = number});
        if (log != nullptr) store(*log, plan);
        thread_seconds.fetch_add(seconds_of(RUSAGE_THREAD));
      });
    }
    for (std::thread& thread : threads) thread.join();
    recording.close();
    in_threads += thread_seconds.load();
    events += plan.rate * plan.window;
    lost += recording.lost();
    bytes += static_cast<double>(recording.bytes());
    const double resident = resident_megabytes();
    if (first == 0) first = resident;
    most = std::max(most, resident);
  }
  const double wall = Seconds(Clock::now() - start).count();
  std::printf("%.0f events in %.1f s, %.2f million a second\n", events, wall, events / wall / 1e6);
  std::printf("lost                        %llu\n", static_cast<unsigned long long>(lost));
  std::printf("journal's thread            %.1f %% of a core\n",
              100 * (seconds_of(RUSAGE_SELF) - in_threads) / wall);
  std::printf("resident after one window   %.0f MB, at most %.0f MB later\n", first, most);
  std::printf("chunks of an operator       %.1f bytes\n", 2 * bytes / events);
  return 0;
}
