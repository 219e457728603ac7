// The figures of a model, each from the analysis that defines it.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include <tbtrace/analysis_context.h>
#include <tbtrace/flops.h>
#include <tbtrace/memory.h>
#include <tbtrace/model.h>
#include <tbtrace/modules.h>
#include <tbtrace/steps.h>

#include "analyses/flops/known_operations.h"
#include "analyses/model/step_memory.h"
#include "base/quantile.h"
#include "base/share.h"
#include "report/optional_cell.h"

namespace tbtrace {
namespace {

using report::optional_cell;

constexpr const char* kNeedsSteps = "the trace has no steps: call profiler.step() after each one";

/// What people look for first; the others follow.
constexpr auto kFirst = std::to_array<std::string_view>(
    {"parameters", "trainable_parameters", "model_bytes", "samples_per_step", "macs",
     "backward_macs", "flops", "peak_bytes", "activation_bytes", "steps", "latency_mean_ns",
     "latency_p50_ns", "throughput_per_s", "achieved_flops_per_s", "mfu", "forward_ns",
     "backward_ns", "optimizer_ns", "gpu_kernel_ns"});

class FiguresOfModel {
 public:
  FiguresOfModel(const Trace& trace, const ModelOptions& options)
      : trace_(trace), options_(options) {}

  Status find() {
    const ModuleTreeOptions of_modules = {.steps = options_.steps};
    Result<ModuleTree> modules = module_tree(trace_, of_modules);
    if (!modules.ok()) return modules.status();
    find_steps();
    Result<OperatorWorkSummary> work = operator_work(
        trace_, {.steps = kept_steps(), .peak_flops_per_s = options_.peak_flops_per_s});
    if (!work.ok()) return work.status();
    Result<MemoryUse> memory = memory_use(trace_, {.steps = options_.steps});
    if (!memory.ok()) return memory.status();
    add_parameters(*modules);
    add_operations(*work);
    add_memory(*memory);
    add_latency();
    add_rates(*work);
    add("energy_j", {}, FigureOrigin::not_recorded,
        "a trace never has it; tbtrace::benchmark() of the C++ library asks the GPU");
    std::ranges::stable_sort(figures_, {}, [](const ModelFigure& figure) {
      return std::ranges::find(kFirst, figure.name) - kFirst.begin();
    });
    return {};
  }

  std::vector<ModelFigure> take() { return std::move(figures_); }

 private:
  void add(std::string name, Cell value, FigureOrigin how, std::string note = {},
           std::string device = {}) {
    const bool has_value = !std::holds_alternative<std::monostate>(value);
    figures_.push_back({std::move(name), std::move(device), std::move(value),
                        has_value ? how : FigureOrigin::not_recorded, std::move(note)});
  }

  /// Of the chosen steps, those that are whole.
  void find_steps() {
    breakdown_ = step_breakdown(trace_);
    std::erase_if(breakdown_.steps, [&](const StepTime& step) {
      return step.is_whole_trace() || (options_.steps && !options_.steps->contains(step.number));
    });
  }

  /// So that operations and times are of the same steps.
  std::optional<StepRange> kept_steps() const {
    if (breakdown_.steps.empty()) return options_.steps;
    const auto [first, last] = std::ranges::minmax(breakdown_.steps, {}, &StepTime::number);
    return StepRange{first.number, last.number};
  }

  const char* why_no_steps() const {
    return trace_.steps().empty() ? kNeedsSteps
                                  : "no such step is whole: the recording ended too early";
  }

  /// Of the chosen ones.
  std::string of_recorded_steps() const {
    const auto recorded = std::ranges::count_if(trace_.steps(), [&](const Step& step) {
      return !options_.steps || options_.steps->contains(step.number);
    });
    if (static_cast<std::size_t>(recorded) == breakdown_.steps.size()) return {};
    return ", of " + std::to_string(recorded) + " in the recording";
  }

  double steps() const { return static_cast<double>(breakdown_.steps.size()); }

  void add_parameters(const ModuleTree& modules) {
    FigureOrigin how = FigureOrigin::not_recorded;
    std::string note;
    switch (modules.parameter_source) {
      case ParameterSource::none:
        note = why_no_parameters(modules);
        break;
      case ParameterSource::recorded:
        how = FigureOrigin::counted;
        note = "as the recorder noted them with each module";
        break;
      case ParameterSource::gradients:
        how = FigureOrigin::counted;
        note = "that got gradients in a backward pass; frozen ones are not among them";
        break;
      case ParameterSource::weights:
        how = FigureOrigin::estimated;
        note =
            "weights that operators of modules took: tied ones count twice, and those that are "
            "only added or multiplied are not among them";
        break;
    }
    add("parameters", optional_cell(modules.parameters), how, note);
    add_trainable(modules, note);
    add("model_bytes", optional_cell(modules.parameter_bytes), how,
        modules.parameter_bytes ? "by the types of these tensors; without buffers"
        : modules.trainable_parameters
            ? "the types of parameters that got no gradients are not in the trace"
        : modules.parameters ? "the types of the parameters are not in the trace"
                             : note);
  }

  /// `why_none` is the note for a trace that tells no parameters.
  void add_trainable(const ModuleTree& modules, const std::string& why_none) {
    const auto& elements = modules.trainable_parameters;
    if (elements && *elements > modules.parameters) {
      add("trainable_parameters", {}, FigureOrigin::not_recorded,
          "more elements got gradients than the recorded modules have");
    } else if (elements) {
      const bool are_all = modules.parameter_source == ParameterSource::gradients;
      add("trainable_parameters", *elements, FigureOrigin::counted,
          are_all ? "" : "that got gradients in a backward pass");
    } else {
      add("trainable_parameters", {}, FigureOrigin::not_recorded,
          modules.parameter_source == ParameterSource::none ? why_none
                                                            : "no backward pass adds gradients");
    }
  }

  std::string why_no_parameters(const ModuleTree& modules) const {
    if (!modules.has_shapes) {
      return "the sizes of operators are not in the trace: " +
             missing_data_text(trace_, RecordedOption::record_shapes);
    }
    if (modules.modules.empty()) {
      return "no backward pass adds gradients to them, and without modules nothing tells which "
             "inputs are weights: " +
             missing_modules_text(trace_);
    }
    return "no operator of a module takes weights, and no backward pass adds gradients to them";
  }

  /// Where sums of 0 do not say that nothing was computed.
  static std::string why_nothing_is_counted(const OperatorWorkSummary& work) {
    const OperatorWork* longest = nullptr;
    for (const OperatorWork& row : work.rows) {
      if (!analyses::is_uncounted(row.state)) continue;
      if (longest == nullptr) longest = &row;  // rows are by time
      if (row.state != WorkState::unknown_sizes) continue;
      return "the file has no sizes of " + row.name + " and does not tell what else was computed";
    }
    if (longest != nullptr && longest->name == OperatorWork::kUnattributed) {
      return "nothing is known of kernels that no operator launched, such as those of graphs";
    }
    if (longest != nullptr) return "nothing is known of what " + longest->name + " computed";
    return "operators take less than half of the time; what ran outside of them, such as compiled "
           "code, is not in the trace";
  }

  /// Per step; without steps of the whole recording.
  void add_operations(const OperatorWorkSummary& work) {
    const bool has_steps = work.steps > 0;
    const auto add_sum = [&](const char* name, bool is_known, std::uint64_t in_steps,
                             std::uint64_t all, const std::string& meaning) {
      if (!work.has_shapes) {
        add(name, {}, FigureOrigin::not_recorded,
            "the sizes of operators are not in the trace: " +
                missing_data_text(trace_, RecordedOption::record_shapes));
      } else if (!is_known) {
        add(name, {}, FigureOrigin::not_recorded, why_nothing_is_counted(work));
      } else if (has_steps) {
        add(name, static_cast<double>(in_steps) / static_cast<double>(work.steps),
            FigureOrigin::counted, meaning + ", mean of the steps");
      } else {
        add(name, static_cast<double>(all), FigureOrigin::counted,
            meaning + ", of the recording, which has no steps");
      }
    };
    const bool knows_macs = work.knows_macs();
    add_sum("macs", knows_macs, work.forward_macs_in_steps, work.forward_macs,
            "multiply-adds of the forward pass");
    add_sum("backward_macs", knows_macs, work.backward_macs_in_steps, work.backward_macs,
            "those of the backward pass");
    add_sum("recomputed_macs", knows_macs, work.recomputed_macs_in_steps, work.recomputed_macs,
            "those of the forward pass again, in the backward pass (activation checkpoints)");
    add_sum("flops", work.knows_operations(), work.flops_in_steps, work.all.flops.value_or(0),
            "2 per multiply-add, and those of other operators");
    add_uncounted(work);
    samples_ = samples_of(work);
    const bool is_given = options_.samples_per_step.has_value();
    add("samples_per_step", samples_ ? Cell(*samples_) : Cell(),
        is_given ? FigureOrigin::counted : FigureOrigin::estimated, why_samples(work));
  }

  std::string why_samples(const OperatorWorkSummary& work) const {
    if (options_.samples_per_step) return "as given";
    if (samples_) return "the first dimension of what a step's first layer took";
    if (work.steps == 0) return why_no_steps();
    const std::string remedy = "; or " + options_.how_to_set_the_samples;
    if (!work.has_shapes) return missing_data_text(trace_, RecordedOption::record_shapes) + remedy;
    if (work.has_several_batches) {
      return "a step has several batches, each with its backward pass; " +
             options_.how_to_set_the_samples;
    }
    return "no layer's input tells it: the rows of a matrix can be batch times sequence; " +
           options_.how_to_set_the_samples;
  }

  std::optional<double> samples_of(const OperatorWorkSummary& work) const {
    if (options_.samples_per_step) return static_cast<double>(*options_.samples_per_step);
    if (!work.samples || work.steps == 0) return std::nullopt;
    return static_cast<double>(*work.samples) / static_cast<double>(work.steps);
  }

  /// Work that is in no count, so that nobody takes it for none.
  void add_uncounted(const OperatorWorkSummary& work) {
    const analyses::UncountedWork uncounted = analyses::uncounted_work(work);
    if (!work.has_shapes || uncounted.all_time_ns <= 0) return;
    add("uncounted_time_share", share(uncounted.time_ns, uncounted.all_time_ns),
        FigureOrigin::measured,
        uncounted.count == 0 ? "every operator that ran is counted"
                             : "of " + std::to_string(uncounted.count) +
                                   (uncounted.count == 1 ? " operator" : " operators") +
                                   " whose operations are not known, longest " + uncounted.longest +
                                   "; `tbtrace model --by operator` lists them");
  }

  void add_memory(const MemoryUse& memory) {
    if (memory.devices.empty()) {
      const std::string note = "no allocations were recorded: " +
                               missing_data_text(trace_, RecordedOption::profile_memory);
      for (const char* const name : {"peak_bytes", "activation_bytes"}) {
        add(name, {}, FigureOrigin::not_recorded, note);
      }
      return;
    }
    for (std::size_t number = 0; number < memory.devices.size(); ++number) {
      const DeviceMemory& device = memory.devices[number];
      const analyses::StepMemory of_steps =
          analyses::step_memory(trace_, breakdown_.steps, memory, number);
      const bool is_summed = device.totals == MemoryTotals::summed;
      add("peak_bytes", device.peak_bytes, FigureOrigin::measured,
          is_summed ? "over what was allocated before the recording, which is not known"
                    : "the most that was allocated",
          device.device);
      add("peak_reserved_bytes", optional_cell(device.peak_reserved_bytes), FigureOrigin::measured,
          device.peak_reserved_bytes ? "the most that the allocator had reserved"
                                     : "the allocator's total is not in the trace",
          device.device);
      add("peak_over_step_start_bytes", optional_cell(of_steps.over_start_bytes),
          FigureOrigin::measured,
          of_steps.over_start_bytes ? "what a step needs on top of what there is at its start"
                                    : "no step has a record before it",
          device.device);
      add("activation_bytes", optional_cell(of_steps.activation_bytes), FigureOrigin::measured,
          of_steps.activation_bytes
              ? "allocated by a step when its backward pass begins, mostly saved for it"
          : of_steps.has_unknown_frees
              ? "the records do not say what was freed: they have no addresses, or lack frees"
              : "no step with a record before it has a backward pass",
          device.device);
    }
  }

  void add_latency() {
    std::vector<std::int64_t> ns;
    for (const StepTime& step : breakdown_.steps) ns.push_back(step.duration_ns());
    std::ranges::sort(ns);
    add("steps", static_cast<std::uint64_t>(ns.size()), FigureOrigin::counted,
        ns.empty() ? why_no_steps() : "that the times below are of" + of_recorded_steps());
    const std::string note = ns.empty() ? why_no_steps() : "with the profiler on";
    const auto put = [&](const char* name, std::size_t least, auto value) {
      const bool has_enough = !ns.empty() && ns.size() >= least;
      add(name, has_enough ? Cell(value()) : Cell(), FigureOrigin::measured,
          has_enough || ns.empty() ? note
                                   : "needs " + std::to_string(least) + " steps, and there are " +
                                         std::to_string(ns.size()));
    };
    mean_ns_ = 0;
    for (const std::int64_t each : ns) mean_ns_ += static_cast<double>(each) / steps();
    put("latency_mean_ns", 1, [&] { return mean_ns_; });
    put("latency_std_ns", 2, [&] {
      double squares = 0;
      for (const std::int64_t each : ns) {
        squares += (static_cast<double>(each) - mean_ns_) * (static_cast<double>(each) - mean_ns_);
      }
      return std::sqrt(squares / (steps() - 1));
    });
    put("latency_min_ns", 1, [&] { return ns.front(); });
    put("latency_max_ns", 1, [&] { return ns.back(); });
    put("latency_p50_ns", 1, [&] { return quantile(ns, 0.5); });
    put("latency_p90_ns", kPercentileSteps, [&] { return quantile(ns, 0.9); });
    put("latency_p99_ns", kPercentileSteps, [&] { return quantile(ns, 0.99); });
    for (const StepPhase phase : {StepPhase::forward, StepPhase::backward, StepPhase::optimizer}) {
      const std::string name(step_phase_name(phase));
      add_mean(name + "_ns", breakdown_.mean_ns(phase) > 0, breakdown_.mean_ns(phase),
               "on the host, mean of the steps", "nothing of this phase was recorded in a step");
    }
    const AnalysisContext context(trace_);
    const bool has_device_work = !context.device_links().empty();
    const std::string no_device = "no work of a GPU was recorded";
    add_mean("gpu_kernel_ns", has_device_work, breakdown_.mean_ns(StepRole::kernel),
             "kernels ran, mean of the steps", no_device);
    add_mean("copy_ns", has_device_work, breakdown_.mean_ns(StepRole::memcpy),
             "copies ran and no kernel, mean of the steps", no_device);
  }

  template <typename Value>
  void add_mean(std::string name, bool was_recorded, Value mean_ns, const std::string& note,
                const std::string& why_not) {
    const bool has_value = was_recorded && !breakdown_.steps.empty();
    add(std::move(name), has_value ? Cell(mean_ns) : Cell(), FigureOrigin::measured,
        has_value                  ? note
        : breakdown_.steps.empty() ? why_no_steps()
                                   : why_not);
  }

  void add_rates(const OperatorWorkSummary& work) {
    const bool has_time = mean_ns_ > 0;
    add("throughput_per_s", samples_ && has_time ? Cell(*samples_ * 1e9 / mean_ns_) : Cell(),
        options_.samples_per_step ? FigureOrigin::measured : FigureOrigin::estimated,
        !has_time  ? why_no_steps()
        : samples_ ? "samples_per_step by latency_mean_ns"
                   : "samples_per_step is not known");
    const bool has_rate = work.has_shapes && work.knows_operations() && work.steps > 0 && has_time;
    const double flops = static_cast<double>(work.flops_in_steps) /
                         static_cast<double>(std::max<std::uint64_t>(1, work.steps));
    add("achieved_flops_per_s", has_rate ? Cell(flops * 1e9 / mean_ns_) : Cell(),
        FigureOrigin::measured,
        has_rate                                      ? "flops by latency_mean_ns"
        : work.has_shapes && !work.knows_operations() ? why_nothing_is_counted(work)
                                                      : "needs sizes of operators and steps");
    add_utilization("mfu", work.model_peak_time_ns, work);
    std::optional<std::int64_t> hardware = work.model_peak_time_ns;
    if (hardware && work.recomputed_peak_time_ns) *hardware += *work.recomputed_peak_time_ns;
    add_utilization("hfu", hardware, work);
  }

  /// As the totals of `tbtrace model --by operator` for these steps.
  void add_utilization(const char* name, const std::optional<std::int64_t>& at_peak_ns,
                       const OperatorWorkSummary& work) {
    const bool is_known = at_peak_ns && *at_peak_ns > 0 && work.window_ns > 0;
    std::string note = "the device's peak is not known; " + options_.how_to_set_the_peak;
    if (work.has_shapes && work.all.macs.value_or(0) == 0) {
      note = work.knows_macs() ? "nothing was multiplied" : why_nothing_is_counted(work);
    } else if (is_known) {
      note = options_.peak_flops_per_s ? "of the peak that was given"
                                       : "of the peak of " + work.device + ": " + work.peak_source;
    } else if (!work.has_shapes) {
      note = "needs sizes of operators";
    }
    add(name,
        is_known ? Cell(static_cast<double>(*at_peak_ns) / static_cast<double>(work.window_ns))
                 : Cell(),
        FigureOrigin::measured, note);
  }

  static constexpr std::size_t kPercentileSteps = 100;

  const Trace& trace_;
  const ModelOptions& options_;
  StepBreakdown breakdown_;
  std::optional<double> samples_;
  double mean_ns_ = 0;
  std::vector<ModelFigure> figures_;
};

}  // namespace

std::string_view figure_origin_name(FigureOrigin origin) {
  constexpr std::array<std::string_view, 4> kNames = {"measured", "counted", "estimated",
                                                      "not_recorded"};
  return kNames[static_cast<std::size_t>(origin)];
}

Result<std::vector<ModelFigure>> model_figures(const Trace& trace, const ModelOptions& options) {
  FiguresOfModel figures(trace, options);
  if (Status found = figures.find(); !found.ok()) return found;
  return figures.take();
}

}  // namespace tbtrace
