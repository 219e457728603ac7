// What recording adds to an operator and to an allocation, in nanoseconds, beside torch's profiler
// in the same process.
//
//   tbtrace_torch_overhead [--rounds N] [--operators N] [--check]
//
// Contenders take turns, a round each, and each one's time is its lowest: other programs only ever
// add to it. --check exits with 1 where a limit (docs/performance.md) is missed.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <ATen/record_function.h>
#include <c10/core/CPUAllocator.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/torch.h>
#include <unistd.h>

#include <tbtrace/profiler.h>

namespace {

namespace torch_profiler = torch::autograd::profiler;

double now_ns() {
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                 std::chrono::steady_clock::now().time_since_epoch())
                                 .count());
}

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double lowest(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::unique_ptr<at::ObserverContext> begin_nothing(const at::RecordFunction&) { return nullptr; }
void end_nothing(const at::RecordFunction&, at::ObserverContext*) {}

struct Loop {
  int operators;
  at::Tensor a = torch::rand({4, 4});
  at::Tensor b = torch::rand({4, 4});

  /// Nanoseconds an operator.
  double run() {
    const at::NoGradGuard no_grad;
    const double start = now_ns();
    for (int i = 0; i < operators; ++i) a.mul_(b);
    return (now_ns() - start) / operators;
  }

  /// Nanoseconds a pair of allocation and freeing.
  double allocate() const {
    c10::Allocator& allocator = *c10::GetCPUAllocator();
    const double start = now_ns();
    for (int i = 0; i < operators; ++i) c10::DataPtr block = allocator.allocate(256);
    return (now_ns() - start) / operators;
  }
};

struct Figures {
  double run = 0;       // ns an operator
  double stop = 0;      // ns in all
  double resident = 0;  // bytes
};

Figures with_callback(Loop& loop, bool inputs) {
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback(begin_nothing, end_nothing).needsInputs(inputs));
  const Figures figures{.run = loop.run()};
  at::removeCallback(handle);
  return figures;
}

Figures with_tbtrace(const std::function<double()>& body, bool shapes, bool memory,
                     bool stacks = false, const std::string& journal = {}) {
  tbtrace::Profiler profiler({.activities = {tbtrace::Activity::cpu},
                              .record_shapes = shapes,
                              .profile_memory = memory,
                              .with_stack = stacks,
                              .journal = {.directory = journal}});
  profiler.start();
  Figures figures;
  const double before = resident_bytes();
  figures.run = body();
  figures.resident = resident_bytes() - before;
  const double start = now_ns();
  profiler.stop();
  figures.stop = now_ns() - start;
  return figures;
}

Figures with_torch(Loop& loop, bool shapes) {
  using namespace torch::profiler::impl;
  const std::set<ActivityType> activities = {ActivityType::CPU};
  const ProfilerConfig config(ProfilerState::KINETO, shapes, false, false, false, false);
  torch_profiler::prepareProfiler(config, activities);
  torch_profiler::enableProfiler(config, activities);
  Figures figures;
  const double before = resident_bytes();
  figures.run = loop.run();
  const double start = now_ns();
  auto result = torch_profiler::disableProfiler();
  figures.stop = now_ns() - start;
  figures.resident = resident_bytes() - before;
  return figures;
}

struct Check {
  bool failed = false;

  void at_most(const char* what, double value, double limit, const char* unit) {
    const bool missed = value > limit;
    failed = failed || missed;
    std::printf("%-62s %9.1f %-6s limit %7.1f%s\n", what, value, unit, limit,
                missed ? "   MISSED" : "");
  }
  static void tell(const char* what, double value, const char* unit) {
    std::printf("%-62s %9.1f %s\n", what, value, unit);
  }
};

}  // namespace

int main(int argc, char** argv) {
  int rounds = 15;
  Loop loop{.operators = 200'000};
  bool check = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--check") == 0) {
      check = true;
    } else if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
      rounds = std::atoi(argv[++i]);
    } else if (std::strcmp(argv[i], "--operators") == 0 && i + 1 < argc) {
      loop.operators = std::atoi(argv[++i]);
    } else {
      std::fprintf(stderr, "usage: %s [--rounds N] [--operators N] [--check]\n", argv[0]);
      return 2;
    }
  }
  torch::set_num_threads(1);
  loop.run();
  // Before the first profiler of the process.
  std::vector<double> untouched;
  for (int round = 0; round < rounds; ++round) untouched.push_back(loop.run());
  // First, since later recordings use the memory of earlier ones again.
  Loop long_loop{.operators = 1'000'000};
  const Figures large = with_tbtrace([&] { return long_loop.run(); }, false, false);

  const std::filesystem::path journal =
      std::filesystem::current_path() / ("torch_overhead_journal_" + std::to_string(::getpid()));
  std::vector<double> plain, journaled, nothing, nothing_inputs, ours, ours_shapes, ours_stacks,
      torchs, torchs_shapes;
  std::vector<double> memory, no_memory;
  std::vector<double> our_stop, torch_stop, our_bytes, torch_bytes;
  const auto operators = [&] { return loop.run(); };
  const auto allocations = [&] { return loop.allocate(); };
  for (int round = 0; round < rounds; ++round) {
    plain.push_back(loop.run());
    nothing.push_back(with_callback(loop, false).run);
    const Figures mine = with_tbtrace(operators, false, false);
    ours.push_back(mine.run);
    journaled.push_back(with_tbtrace(operators, false, false, false, journal.string()).run);
    nothing_inputs.push_back(with_callback(loop, true).run);
    const Figures my_shapes = with_tbtrace(operators, true, false);
    ours_shapes.push_back(my_shapes.run);
    ours_stacks.push_back(with_tbtrace(operators, false, false, true).run);
    const Figures its = with_torch(loop, false);
    torchs.push_back(its.run);
    const Figures its_shapes = with_torch(loop, true);
    torchs_shapes.push_back(its_shapes.run);

    our_stop.push_back(mine.stop / loop.operators);
    torch_stop.push_back(its.stop / loop.operators);
    our_bytes.push_back(mine.resident / loop.operators);
    torch_bytes.push_back(its.resident / loop.operators);

    no_memory.push_back(loop.allocate());
    memory.push_back(with_tbtrace(allocations, false, true).run);
  }
  Check limits;
  const double bare = lowest(plain);
  limits.tell("operator without a profiler", bare, "ns");
  limits.tell("  + observer that does nothing", lowest(nothing) - bare, "ns");
  limits.tell("  + observer that does nothing and asks for inputs", lowest(nothing_inputs) - bare,
              "ns");
  limits.tell("  + tbtrace", lowest(ours) - bare, "ns");
  limits.tell("  + tbtrace with a journal", lowest(journaled) - bare, "ns");
  limits.tell("  + tbtrace with shapes", lowest(ours_shapes) - bare, "ns");
  limits.tell("  + tbtrace with stacks", lowest(ours_stacks) - bare, "ns");
  limits.tell("  + torch's profiler", lowest(torchs) - bare, "ns");
  limits.tell("  + torch's profiler with shapes", lowest(torchs_shapes) - bare, "ns");
  limits.at_most("operator after profilers, more than before the first", bare - lowest(untouched),
                 2, "ns");
  limits.at_most("tbtrace over an observer that does nothing", lowest(ours) - lowest(nothing), 15,
                 "ns");
  limits.at_most("tbtrace with a journal over tbtrace", lowest(journaled) - lowest(ours), 10, "ns");
  limits.at_most("tbtrace with shapes over one that asks for inputs",
                 lowest(ours_shapes) - lowest(nothing_inputs), 30, "ns");
  limits.at_most("share of what torch's profiler adds, %",
                 100 * (lowest(ours) - bare) / (lowest(torchs) - bare), 35, "%");
  limits.at_most("the same with shapes, %",
                 100 * (lowest(ours_shapes) - bare) / (lowest(torchs_shapes) - bare), 40, "%");
  limits.at_most("allocation and freeing, more than without a profiler",
                 lowest(memory) - lowest(no_memory), 30, "ns");
  limits.at_most("stop(), share of torch's, %", 100 * median(our_stop) / median(torch_stop), 2,
                 "%");
  limits.at_most("stop() after 1,000,000 operators", large.stop / 1e3, 20'000, "us");
  limits.at_most("resident memory an operator", large.resident / long_loop.operators, 64, "bytes");
  limits.tell("  of torch's profiler", *std::max_element(torch_bytes.begin(), torch_bytes.end()),
              "bytes");
  std::filesystem::remove_all(journal);
  return check && limits.failed ? 1 : 0;
}
