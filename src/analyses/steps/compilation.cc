#include "analyses/steps/compilation.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/characters.h"

namespace tbtrace::analyses {
namespace {

/// Parts of names in lower case. Sources: torch/_dynamo/utils.py (dynamo_timed),
/// torch/_dynamo/convert_frame.py, torch/_inductor/compile_fx.py, async_compile.py,
/// runtime/triton_heuristics.py, select_algorithm.py; triton/runtime/autotuner.py,
/// triton/compiler/compiler.py, triton/testing.py.
constexpr auto kParts = std::to_array<std::string_view>({
    "(dynamo_timed)",
    "autotun",
    "benchmark_all_configs",
    "do_bench",
    "convert_frame.py",
    "compile_fx",
    "inductor_compile",
    "async_compile",
    "compilefxgraph",
    "triton/compiler/compiler.py",
    "triton_compile",
});

/// Parts of names that one of kParts is in, but that run what was compiled.
constexpr auto kRunning = std::to_array<std::string_view>({
    "autotuner.run",
    "cache lookup",
    "catch_errors",
    "torch-compiled region",
});

}  // namespace

bool is_compilation(std::string_view name) {
  const std::string text = lower_case(name);
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  return std::ranges::any_of(kParts, has) && std::ranges::none_of(kRunning, has);
}

std::vector<std::int64_t> compilation_times(const Trace& trace, std::span<const TimeRange> steps) {
  std::vector<std::optional<bool>> names;  // by StringId
  std::vector<TimeRange> all;
  const Events& events = trace.events();
  for (const EventId event : trace.by_start()) {
    if (!is_host_range(trace.kind(event))) continue;
    const std::size_t name = index(events.name(event));
    if (name >= names.size()) names.resize(name + 1);
    if (!names[name]) names[name] = is_compilation(trace.name(event));
    if (*names[name]) add_range(all, {events.start_ns(event), events.end_ns(event)});
  }
  const RangeLengths lengths(all);
  std::vector<std::int64_t> times;
  times.reserve(steps.size());
  for (const TimeRange& step : steps) times.push_back(lengths.within(step));
  return times;
}

}  // namespace tbtrace::analyses
