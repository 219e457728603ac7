// The tables that a trace, a set of traces and a partial have alike.
#pragma once

#include <optional>
#include <string>

#include <nanobind/nanobind.h>

#include <tbtrace/compat.h>
#include <tbtrace/lines.h>
#include <tbtrace/partial.h>

#include "arguments.h"
#include "python_trace.h"

namespace tbtrace::python {

KernelsOptions kernels_options(const Names& group_by, const std::optional<Steps>& steps);
StepBreakdownOptions steps_options(bool infer_steps, bool keep_tail_steps);
ModuleReportOptions modules_options(const std::string& group_by, std::optional<std::int64_t> depth,
                                    const std::optional<Steps>& steps);
LinesOptions lines_options(bool libraries, const std::optional<Steps>& steps);
GpuUseOptions gpu_options(const std::string& group_by, std::int64_t kernel_wait_limit_ns,
                          const std::optional<Steps>& steps);
MemoryReportOptions memory_options(const std::string& view, const std::optional<Steps>& steps);

/// A table of a trace in chosen figures, or of a partial, which has exact ones only.
template <typename OfTrace, typename OfPartial>
struct TableInFigures {
  Figures figures;
  OfTrace of_trace;
  OfPartial of_partial;

  Result<AnalysisReport> operator()(const Trace& trace) const { return of_trace(trace); }
  Result<AnalysisReport> operator()(const Partial& partial) const {
    if (Status has = check_partial_figures(figures); !has.ok()) return has;
    return of_partial(partial);
  }
};
template <typename OfTrace, typename OfPartial>  // clang 14 does not deduce aggregates
TableInFigures(Figures, OfTrace, OfPartial)->TableInFigures<OfTrace, OfPartial>;

/// The steps of a trace, or of each source of a partial.
struct StepsTable {
  Figures figures;
  StepBreakdownOptions options;
  std::optional<StepRange> steps;

  Result<AnalysisReport> operator()(const Trace& trace) const;
  Result<AnalysisReport> operator()(const Partial& partial) const;
};

/// The modules as torch-tb-profiler shows them.
struct PluginModulesTable {
  Result<AnalysisReport> operator()(const Trace& trace) const {
    return module_report(trace, Figures::plugin);
  }
  Result<AnalysisReport> operator()(const Partial& partial) const;
};

/// Adds `kernels`, `steps`, `modules`, `lines`, `gpu` and `memory`.
template <typename Owner>
void add_report_methods(nanobind::class_<Owner>& owner) {
  namespace nb = nanobind;
  using namespace nb::literals;
  owner.def(
      "kernels",
      [](const Owner& self, const Names& group_by, const std::string& figures,
         const std::optional<Steps>& steps) {
        need({ArgumentGroup::launches, ArgumentGroup::placement}, self, "kernels()");
        const Figures chosen = figures_named("kernels", figures);
        const KernelsOptions options = kernels_options(group_by, steps);
        return table_of(
            self,
            TableInFigures{
                chosen, [&](const Trace& trace) { return kernel_report(trace, chosen, options); },
                [&](const Partial& partial) { return kernel_report(partial, options); }});
      },
      "group_by"_a = "name", nb::kw_only(), "figures"_a = "exact", "steps"_a = nb::none(),
      "Kernels: how many ran, for how long, and how long after the call that launched them.\n\n"
      "`group_by`: 'name', 'launch' (name, grid, block, registers, shared memory and operator),\n"
      "'operator' or 'family', also with 'device' or 'stream': ('family', 'device'). `figures`:\n"
      "'exact', or those of 'plugin' (torch-tb-profiler) or 'hta'. `steps`: a step's number, or\n"
      "the first and the last one. Times in ns.",
      nb::sig("def kernels(self, group_by: str | collections.abc.Sequence[str] = 'name', *, "
              "figures: str = 'exact', steps: int | tuple[int, int] | None = None) -> Table"));
  owner.def(
      "steps",
      [](const Owner& self, const std::string& figures, bool infer_steps, bool keep_tail_steps,
         const std::optional<Steps>& steps) {
        need({ArgumentGroup::autograd}, self, "steps()");
        return table_of(self,
                        StepsTable{figures_named("steps", figures),
                                   steps_options(infer_steps, keep_tail_steps), step_range(steps)});
      },
      nb::kw_only(), "figures"_a = "exact", "infer_steps"_a = false, "keep_tail_steps"_a = false,
      "steps"_a = nb::none(),
      "What each step's time went to: kernels, memcpys, communication, the host, nothing.\n\n"
      "`figures`: 'exact', or those of 'plugin' (torch-tb-profiler). `infer_steps`: annotations\n"
      "such as `Iteration 7` are the steps if there are no others. `keep_tail_steps`: also the\n"
      "last steps, some of whose kernels may be missing. Times in ns; starts count\n"
      "from the start of the recording's window.",
      nb::sig("def steps(self, *, figures: str = 'exact', infer_steps: bool = False, "
              "keep_tail_steps: bool = False, steps: int | tuple[int, int] | None = None) "
              "-> Table"));
  owner.def(
      "modules",
      [](const Owner& self, const std::string& group_by, std::optional<std::int64_t> depth,
         const std::string& figures, const std::optional<Steps>& steps) {
        if (figures_named("modules", figures) == Figures::plugin) {
          need({ArgumentGroup::python}, self, "modules()");
          return table_of(self, PluginModulesTable());
        }
        need(kModuleArguments - ArgumentSet{ArgumentGroup::graphs}, self, "modules()");
        const ModuleReportOptions options = modules_options(group_by, depth, steps);
        return table_of(self, [&](const auto& source) { return module_report(source, options); });
      },
      "group_by"_a = "module", nb::kw_only(), "depth"_a = nb::none(), "figures"_a = "exact",
      "steps"_a = nb::none(),
      "What the modules of a model cost: calls, time, memory, multiply-adds, parameters.\n\n"
      "`group_by`: 'module' (a tree), 'type' or 'layer' (repeated layers in one row). `depth`:\n"
      "deeper modules count in the module around them. `figures`: 'exact', or those of 'plugin'\n"
      "(torch-tb-profiler). Needs a trace recorded with with_stack or with_modules.",
      nb::sig("def modules(self, group_by: str = 'module', *, depth: int | None = None, "
              "figures: str = 'exact', steps: int | tuple[int, int] | None = None) -> Table"));
  owner.def(
      "lines",
      [](const Owner& self, bool libraries, const std::optional<Steps>& steps) {
        need(kLineArguments, self, "lines()");
        const LinesOptions options = lines_options(libraries, steps);
        return table_of(self, [&](const auto& source) { return line_report(source, options); });
      },
      nb::kw_only(), "libraries"_a = true, "steps"_a = nb::none(),
      "What the lines and functions of the program cost. `libraries`: also those of libraries.\n"
      "Needs a trace recorded with with_stack.",
      nb::sig("def lines(self, *, libraries: bool = True, "
              "steps: int | tuple[int, int] | None = None) -> Table"));
  owner.def(
      "gpu",
      [](const Owner& self, const std::string& group_by, const std::string& figures,
         std::int64_t kernel_wait_limit_ns, const std::optional<Steps>& steps) {
        need({ArgumentGroup::copies, ArgumentGroup::launches, ArgumentGroup::placement}, self,
             "gpu()");
        const Figures chosen = figures_named("gpu", figures);
        const GpuUseOptions options = gpu_options(group_by, kernel_wait_limit_ns, steps);
        return table_of(
            self,
            TableInFigures{chosen,
                           [&](const Trace& trace) { return gpu_report(trace, chosen, options); },
                           [&](const Partial& partial) { return gpu_report(partial, options); }});
      },
      "group_by"_a = "device", nb::kw_only(), "figures"_a = "exact",
      "kernel_wait_limit_ns"_a = 30000, "steps"_a = nb::none(),
      "How busy each GPU was, with what, and why it was idle.\n\n"
      "`group_by`: 'device' or 'stream'. `figures`: 'exact', or those of 'plugin' or 'hta'.\n"
      "`kernel_wait_limit_ns`: the longest gap that counts as the device's own delay. Times in "
      "ns.",
      nb::sig("def gpu(self, group_by: str = 'device', *, figures: str = 'exact', "
              "kernel_wait_limit_ns: int = 30000, steps: int | tuple[int, int] | None = None) "
              "-> Table"));
  owner.def(
      "memory",
      [](const Owner& self, const std::string& view, const std::string& figures,
         const std::optional<Steps>& steps) {
        need({ArgumentGroup::allocations, ArgumentGroup::call_stacks}, self, "memory()");
        const Figures chosen = figures_named("memory", figures);
        const MemoryReportOptions options = memory_options(view, steps);
        return table_of(
            self,
            TableInFigures{
                chosen, [&](const Trace& trace) { return memory_report(trace, chosen, options); },
                [&](const Partial& partial) { return memory_report(partial, options); }});
      },
      "view"_a = "peak", nb::kw_only(), "figures"_a = "exact", "steps"_a = nb::none(),
      "What allocated the memory of each device.\n\n"
      "`view`: 'peak' (a row per device), 'alive' (what was allocated at the peak), 'curve' (a "
      "row\n"
      "per allocation or free) or 'allocations'. `figures`: 'exact', or those of 'plugin'. Needs "
      "a\n"
      "trace recorded with profile_memory. Sizes in bytes.",
      nb::sig("def memory(self, view: str = 'peak', *, figures: str = 'exact', "
              "steps: int | tuple[int, int] | None = None) -> Table"));
}

}  // namespace tbtrace::python
