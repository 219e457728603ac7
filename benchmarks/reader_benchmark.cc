// tbtrace_reader_benchmark [OPTION OF GOOGLE BENCHMARK...] [TRACE...]
// Reading, the operator summary and the flame graph of each trace that is named, or of a made one,
// and a bare walk over its text. `of_walk`: the share of the walk's speed.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include <tbtrace/flame_graph.h>
#include <tbtrace/operators.h>
#include <tbtrace/trace.h>

#include "bare_walk.h"
#include "made_trace.h"

namespace tbtrace::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Input {
  std::string path;
  std::unique_ptr<simdjson::padded_string> text;
  double walk_seconds = 0;
};

/// Median of several walks after one to warm up.
double walk_seconds(const simdjson::padded_string& text) {
  BareWalk walk;
  walk.run(text);
  std::array<double, 5> times = {};
  for (double& seconds : times) {
    const Clock::time_point start = Clock::now();
    walk.run(text);
    seconds = seconds_since(start);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// Times what `measured` does in each round, after `prepare` has made what it needs.
template <typename Prepare, typename Measured>
void measure(benchmark::State& state, const Input& input, Prepare prepare, Measured measured) {
  double total = 0;
  for (auto _ : state) {
    auto prepared = prepare();
    const Clock::time_point start = Clock::now();
    benchmark::DoNotOptimize(measured(prepared));
    const double seconds = seconds_since(start);
    state.SetIterationTime(seconds);
    total += seconds;
  }
  const auto rounds = static_cast<std::int64_t>(state.iterations());
  state.SetBytesProcessed(rounds * static_cast<std::int64_t>(input.text->size()));
  state.counters["of_walk"] = input.walk_seconds * static_cast<double>(rounds) / total;
}

constexpr auto kNothing = [] { return 0; };

void bare_walk(benchmark::State& state, const Input& input) {
  BareWalk walk;
  walk.run(*input.text);
  measure(state, input, kNothing, [&](int) { return walk.run(*input.text); });
}

Trace read(const Input& input, int threads) {
  Result<Trace> trace = read_trace(input.path, {.threads = threads});
  if (trace.ok()) return *std::move(trace);
  std::fprintf(stderr, "%s\n", trace.status().message().c_str());
  std::exit(3);
}

void reading(benchmark::State& state, const Input& input) {
  const auto threads = static_cast<int>(state.range(0));
  measure(state, input, kNothing, [&](int) { return read(input, threads); });
}

/// All that `tbtrace ops` does.
void operator_table(benchmark::State& state, const Input& input) {
  const auto threads = static_cast<int>(state.range(0));
  measure(state, input, kNothing, [&](int) {
    const Trace trace = read(input, threads);
    return operator_summary(trace).table();
  });
}

/// A trace keeps the trees and links that were computed once, so each round has a new one.
template <typename Analysis>
void analyse(benchmark::State& state, const Input& input, Analysis analysis) {
  measure(
      state, input, [&] { return read(input, 1); }, analysis);
}

void summary(benchmark::State& state, const Input& input) {
  analyse(state, input, [](const Trace& trace) { return operator_summary(trace); });
}

void exact_summary(benchmark::State& state, const Input& input) {
  analyse(state, input, [](const Trace& trace) { return exact_operator_summary(trace); });
}

void flame(benchmark::State& state, const Input& input) {
  analyse(state, input, [](const Trace& trace) { return flame_graph(trace); });
}

void add(const Input& input) {
  const std::string name = "/" + std::filesystem::path(input.path).filename().string();
  const auto one = [&](const char* what, void (*function)(benchmark::State&, const Input&)) {
    return benchmark::RegisterBenchmark((what + name).c_str(),
                                        [&input, function](auto& state) { function(state, input); })
        ->Unit(benchmark::kMillisecond)
        ->UseManualTime();
  };
  one("bare_walk", bare_walk);
  one("read_trace", reading)->ArgName("threads")->Arg(1)->Arg(2);
  one("operator_table", operator_table)->ArgName("threads")->Arg(1)->Arg(2);
  one("operator_summary", summary);
  one("operator_summary_exact", exact_summary);
  one("flame_graph", flame);
}

/// A file with a made trace that is gone at the end.
class TemporaryTrace {
 public:
  TemporaryTrace() {
    path_ = std::filesystem::temp_directory_path() / "tbtrace_made.json";
    std::ofstream file(path_, std::ios::binary);
    write_made_trace({.size = 50'000'000}, [&](std::string_view text) {
      return static_cast<bool>(file.write(text.data(), static_cast<std::streamsize>(text.size())));
    });
  }
  ~TemporaryTrace() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryTrace(const TemporaryTrace&) = delete;
  TemporaryTrace& operator=(const TemporaryTrace&) = delete;

  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::vector<std::string> paths(argv + 1, argv + argc);
  std::unique_ptr<TemporaryTrace> made;
  if (paths.empty()) {
    made = std::make_unique<TemporaryTrace>();
    paths.push_back(made->path());
  }
  std::vector<Input> inputs;
  for (const std::string& path : paths) {
    auto text = read_text(path);
    if (text == nullptr) return 3;
    const double seconds = walk_seconds(*text);
    inputs.push_back({path, std::move(text), seconds});
  }
  for (const Input& input : inputs) add(input);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace
}  // namespace tbtrace::benchmarks

int main(int argc, char** argv) { return tbtrace::benchmarks::run(argc, argv); }
