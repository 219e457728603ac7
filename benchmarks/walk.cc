// tbtrace_walk FILE...: how long a bare walk over the text of each file takes.
// Prints a line of JSON per file; the time is the median of several walks after one to warm up.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "bare_walk.h"

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t kWalks = 5;
  if (argc < 2) {
    std::fputs("tbtrace_walk: name one trace or more, .json or .json.gz\n", stderr);
    return 2;
  }
  for (int file = 1; file < argc; ++file) {
    const auto text = tbtrace::benchmarks::read_text(argv[file]);
    if (text == nullptr) return 3;
    tbtrace::benchmarks::BareWalk walk;
    tbtrace::benchmarks::BareWalk::Seen seen = walk.run(*text);
    std::array<double, kWalks> times = {};
    for (double& ms : times) {
      const Clock::time_point start = Clock::now();
      seen = walk.run(*text);
      ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    }
    if (!seen.sound) {
      std::fprintf(stderr, "%s is not JSON, or too large for one walk\n", argv[file]);
      return 3;
    }
    std::sort(times.begin(), times.end());
    std::printf("{\"text_bytes\": %zu, \"events\": %llu, \"ms\": %.3f}\n", text->size(),
                static_cast<unsigned long long>(seen.events), times[kWalks / 2]);
  }
  return 0;
}
