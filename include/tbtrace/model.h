// What a model costs, as far as a trace knows: parameters, operations, memory, latency, throughput
// and how much of the device's peak it reaches; each figure with how it is known.
// Results own all their data; plain values that any number of threads may read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/arguments.h>
#include <tbtrace/export.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// How a figure is known.
enum class FigureOrigin : std::uint8_t {
  measured,      ///< by the clocks and the allocator, in the program as it was profiled
  counted,       ///< from what operators took: exact if the note says nothing else
  estimated,     ///< by a rule that can be wrong; the note has it
  not_recorded,  ///< the note says what to record
};

/// `measured`, ..., `not_recorded`.
std::string_view figure_origin_name(FigureOrigin origin);

struct ModelFigure {
  std::string name;    ///< with its unit, as a column: `model_bytes`, `step_mean_ns`
  std::string device;  ///< of memory: `cuda:0`; else empty
  Cell value;          ///< none if it is not recorded
  FigureOrigin how = FigureOrigin::not_recorded;
  std::string note;  ///< a sentence for people without a full stop; may be empty
};

struct ModelOptions {
  /// Only these; else all.
  std::optional<StepRange> steps = {};
  /// Samples of a step, instead of what its first layer took.
  std::optional<std::int64_t> samples_per_step = {};
  /// Instead of the table of devices.
  std::optional<double> peak_flops_per_s = {};
  /// Said to people after `the device's peak is not known; `.
  std::string how_to_set_the_peak = "set peak_flops_per_s";
  /// Likewise of samples_per_step.
  std::string how_to_set_the_samples = "give it as samples_per_step";
};

/// The arguments that model_figures() reads.
inline constexpr ArgumentSet kModelArguments = {
    ArgumentGroup::autograd, ArgumentGroup::inputs, ArgumentGroup::modules,
    ArgumentGroup::graphs,   ArgumentGroup::copies, ArgumentGroup::allocations};

/// The same figures for every trace, in one order; of memory those of each device with records.
/// Fails if `steps` names no step of the trace. Takes O(n log n) time and O(n) memory.
Result<std::vector<ModelFigure>> model_figures(const Trace& trace,
                                               const ModelOptions& options = {});

/// The same as rows of `tbtrace.model/1`.
Result<AnalysisReport> model_report(const Trace& trace, const ModelOptions& options = {});

}  // namespace tbtrace
