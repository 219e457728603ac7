// Who offers which figures, and which function makes them.
#include "analyses/compat/compat.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <tbtrace/compat.h>

#include "analyses/compat/plugin/gpu_use.h"
#include "analyses/compat/plugin/kernels.h"
#include "analyses/compat/plugin/memory.h"
#include "analyses/compat/plugin/modules.h"
#include "analyses/compat/plugin/operators.h"
#include "analyses/compat/plugin/steps.h"
#include "analyses/gpu/report.h"
#include "analyses/kernels/report.h"
#include "analyses/memory/report.h"
#include "analyses/modules/report.h"
#include "analyses/steps/table/report.h"

namespace tbtrace {
namespace {

struct Offer {
  std::string_view table;
  std::vector<Figures> figures;  ///< the table's own first
  ArgumentSet arguments = {};    ///< that the others are made from
  /// Makes the others; nullptr: of a result that tables.h does not have.
  Result<AnalysisReport> (*make)(const Trace& trace, Figures figures,
                                 const OptionValues& values) = nullptr;
};

/// To add figures, add them here and to the table's function.
const std::array<Offer, 7>& offers() {
  static const std::array<Offer, 7> kOffers = {{
      {"ops", {Figures::torch, Figures::exact, Figures::plugin}},
      {"flamegraph", {Figures::exact, Figures::torch}},
      {"steps",
       {Figures::exact, Figures::plugin},
       {ArgumentGroup::autograd},
       [](const Trace& trace, Figures figures, const OptionValues& values) {
         const auto breakdown = step_breakdown(trace, figures, analyses::steps_options(values));
         if (!breakdown.ok()) return Result<AnalysisReport>(breakdown.status());
         return analyses::steps_report_of(trace, *breakdown, values);
       }},
      {"kernels",
       {Figures::exact, Figures::plugin},
       {ArgumentGroup::launches, ArgumentGroup::placement},
       [](const Trace& trace, Figures figures, const OptionValues& values) {
         return kernels_report(trace, figures, analyses::kernels_options(values));
       }},
      {"gpu",
       {Figures::exact, Figures::plugin},
       {ArgumentGroup::launches, ArgumentGroup::placement},
       [](const Trace& trace, Figures figures, const OptionValues& values) {
         return gpu_report(trace, figures, analyses::gpu_options(values));
       }},
      {"memory",
       {Figures::exact, Figures::plugin},
       {ArgumentGroup::allocations},
       [](const Trace& trace, Figures figures, const OptionValues& values) {
         return memory_report(trace, figures, analyses::memory_options(values));
       }},
      {"modules",
       {Figures::exact, Figures::plugin},
       {ArgumentGroup::python},
       [](const Trace& trace, Figures figures, const OptionValues& values) {
         return modules_report(trace, figures, analyses::modules_options(values));
       }},
  }};
  return kOffers;
}

const Offer* offer_of(std::string_view table) {
  const auto* const found = std::ranges::find(offers(), table, &Offer::table);
  return found == offers().end() ? nullptr : &*found;
}

/// Fails if the trace was read without what figures of a table are made from.
Status check_read(const Trace& trace, Figures figures, std::string_view table) {
  if (figures == Figures::exact) return {};
  return trace.check_read(offer_of(table)->arguments, table);
}

Status no_such_figures(std::string_view table, Figures figures) {
  return {StatusCode::invalid_argument, "there are no " + std::string(table) + " in the figures '" +
                                            std::string(figures_name(figures)) + "'"};
}

}  // namespace

std::span<const Figures> figures_of(std::string_view table) {
  const Offer* const offer = offer_of(table);
  return offer == nullptr ? std::span<const Figures>() : offer->figures;
}

ArgumentSet analyses::arguments_of_figures(std::string_view table) {
  return offer_of(table)->arguments;
}

Result<AnalysisReport> analyses::table_in_figures(std::string_view table, const Trace& trace,
                                                  Figures figures, const OptionValues& values) {
  return offer_of(table)->make(trace, figures, values);
}

Result<OperatorSummary> operator_summary(std::span<const Trace* const> traces, Figures figures,
                                         const SummaryOptions& options, SameProcess same_process) {
  switch (figures) {
    case Figures::torch:
      return operator_summary(traces, options, same_process);
    case Figures::exact:
      return exact_operator_summary(traces, options);
    case Figures::plugin:
      if (same_process == SameProcess::checked) {
        if (Status same = check_same_process(traces); !same.ok()) return same;
      }
      if (!options.by.empty()) {
        return Status(
            StatusCode::invalid_argument,
            "torch-tb-profiler groups operators by name, shape and stack only; the exact "
            "figures and those of torch are also by module, line, device, stream, thread, "
            "rank and step");
      }
      return analyses::plugin_summary(traces, options);
  }
  return no_such_figures("operators", figures);
}

Result<OperatorSummary> operator_summary(const Trace& trace, Figures figures,
                                         const SummaryOptions& options) {
  const Trace* traces[] = {&trace};
  return operator_summary(traces, figures, options);
}

Result<StepBreakdown> step_breakdown(const Trace& trace, Figures figures,
                                     const StepBreakdownOptions& options) {
  if (figures == Figures::exact) return step_breakdown(trace, options);
  if (figures == Figures::plugin) return analyses::plugin_step_breakdown(trace, options);
  return no_such_figures("steps", figures);
}

Result<AnalysisReport> kernels_report(const Trace& trace, Figures figures,
                                      const KernelsOptions& options) {
  if (Status read = check_read(trace, figures, "kernels"); !read.ok()) return read;
  if (figures == Figures::exact) return kernels_report(trace, options);
  if (figures == Figures::plugin) return analyses::plugin_kernel_report(trace, options);
  return no_such_figures("kernels", figures);
}

Result<AnalysisReport> gpu_report(const Trace& trace, Figures figures, const GpuOptions& options) {
  if (Status read = check_read(trace, figures, "gpu"); !read.ok()) return read;
  if (figures == Figures::exact) return gpu_report(trace, options);
  if (figures == Figures::plugin) return analyses::plugin_gpu_report(trace, options);
  return no_such_figures("devices", figures);
}

Result<AnalysisReport> memory_report(const Trace& trace, Figures figures,
                                     const MemoryOptions& options) {
  if (Status read = check_read(trace, figures, "memory"); !read.ok()) return read;
  if (figures == Figures::exact) return memory_report(trace, options);
  if (figures == Figures::plugin) return analyses::plugin_memory_report(trace, options);
  return no_such_figures("memory tables", figures);
}

Result<AnalysisReport> modules_report(const Trace& trace, Figures figures,
                                      const ModulesOptions& options) {
  if (Status read = check_read(trace, figures, "modules"); !read.ok()) return read;
  if (figures == Figures::exact) return modules_report(trace, options);
  if (figures != Figures::plugin) return no_such_figures("modules", figures);
  if (options.group_by != ModuleGrouping::module || options.depth || options.steps) {
    return Status(StatusCode::invalid_argument,
                  "torch-tb-profiler shows all modules of a whole recording; leave group_by, depth "
                  "and steps out");
  }
  return analyses::plugin_module_report(trace);
}

}  // namespace tbtrace
