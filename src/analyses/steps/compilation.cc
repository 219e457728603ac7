#include "analyses/steps/compilation.h"

#include <algorithm>
#include <array>
#include <optional>

#include "analyses/attribution/source_lines.h"

namespace tbtrace::analyses {
namespace {

bool is_in(std::string_view file, std::string_view path) {
  if (!file.ends_with(path)) return false;
  const std::size_t before = file.size() - path.size();
  return before == 0 || file[before - 1] == '/' || file[before - 1] == '\\';
}

/// Frames that compile or try configurations, not those that run what was compiled.
bool is_compilation_frame(const SourceLine& frame) {
  constexpr auto kInductor =
      std::to_array<std::string_view>({"compile_fx", "compile_fx_inner", "_compile_fx_inner",
                                       "fx_codegen_and_compile", "codegen_and_compile"});
  constexpr auto kAutotuner = std::to_array<std::string_view>(
      {"_bench", "benchmark", "do_bench", "autotune_to_one_config", "benchmark_all_configs",
       "coordinate_descent_tuning", "precompile", "_precompile_config"});
  const auto is_one_of = [&](const auto& functions) {
    return std::ranges::find(functions, frame.function) != functions.end();
  };
  if (is_in(frame.file, "torch/_dynamo/convert_frame.py")) return true;
  if (is_in(frame.file, "torch/_inductor/compile_fx.py")) return is_one_of(kInductor);
  if (is_in(frame.file, "triton/compiler/compiler.py")) return frame.function == "compile";
  const bool is_of_autotuner = is_in(frame.file, "triton/runtime/autotuner.py") ||
                               is_in(frame.file, "triton/testing.py") ||
                               is_in(frame.file, "torch/_inductor/runtime/triton_heuristics.py");
  return is_of_autotuner && is_one_of(kAutotuner);
}

}  // namespace

bool is_compilation(std::string_view name) {
  if (const std::optional<SourceLine> frame = line_of_frame(name)) {
    return is_compilation_frame(*frame);
  }
  // Ranges: torch/_dynamo/utils.py, torch/_inductor/runtime/triton_heuristics.py.
  constexpr auto kParts = std::to_array<std::string_view>(
      {"benchmark_all_configs", "autotune_to_one_config", "coordinate_descent_tuning", "do_bench"});
  return name.ends_with("(dynamo_timed)") ||
         std::ranges::any_of(kParts, [&](std::string_view part) {
           return name.find(part) != std::string_view::npos;
         });
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
