// How fast scalars get from one thread into an event file, and how much memory they wait in.
//   tbtrace_summary_writer DIR [COUNT]    one line of figures; peers.py's companion
//   summary_peers.py runs it
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include <tbtrace/summary_writer.h>

namespace {

std::size_t resident_bytes() {
  std::size_t pages = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * 4096;
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

const std::string kTags[] = {"loss/train", "loss/validation", "profiler/step_time_ms",
                             "profiler/gpu/0/busy_pct"};

void add(tbtrace::SummaryWriter& writer, std::int64_t count) {
  for (std::int64_t number = 0; number < count; ++number) {
    writer.add_scalar(kTags[number % 4], static_cast<double>(number), number / 4);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "tbtrace_summary_writer DIR [COUNT]\n");
    return 2;
  }
  const std::string directory = arguments[1];
  const std::int64_t scalars = count > 2 ? std::atoll(arguments[2]) : 4'000'000;

  const Clock::time_point start = Clock::now();
  tbtrace::SummaryWriter writer({.log_dir = directory + "/speed"});
  add(writer, scalars);
  const double added = seconds_since(start);
  const tbtrace::Status closed = writer.close();
  const double seconds = seconds_since(start);
  if (!closed.ok() || writer.dropped() > 0) {
    std::fprintf(stderr, "tbtrace_summary_writer: %s\n", closed.message().c_str());
    return 1;
  }

  // All of them wait: nothing is flushed, and there is room.
  constexpr std::int64_t kWaiting = 400'000;
  tbtrace::SummaryWriter slow({.log_dir = directory + "/memory", .max_queue = 1'000'000});
  add(slow, 1000);
  static_cast<void>(slow.flush());
  const std::size_t before = resident_bytes();
  add(slow, kWaiting);
  const std::size_t after = resident_bytes();
  std::printf("scalars %lld seconds %.3f per_second %.0f ns_per_call %.0f bytes_per_queued %.1f\n",
              static_cast<long long>(scalars), seconds, static_cast<double>(scalars) / seconds,
              added / static_cast<double>(scalars) * 1e9,
              static_cast<double>(after - before) / static_cast<double>(kWaiting));
  return slow.close().ok() ? 0 : 1;
}
