#include "report_methods.h"

#include "failures.h"

namespace tbtrace::python {
namespace {

Status not_of_partial(const std::string& what) {
  return {StatusCode::invalid_argument, "a partial does not have " + what + "; use the trace"};
}

}  // namespace

void need(ArgumentSet needed, ArgumentSet read, const char* table) {
  if ((needed - read) == ArgumentSet{}) return;
  wrong_argument(std::string(table) +
                 " needs arguments that were not read; read the trace without `arguments`, or name "
                 "more groups there");
}

KernelsOptions kernels_options(const Names& group_by, const std::optional<Steps>& steps) {
  constexpr KernelGrouping kGroupings[] = {KernelGrouping::name, KernelGrouping::launch,
                                           KernelGrouping::op, KernelGrouping::family,
                                           KernelGrouping::label};
  KernelsOptions options;
  int kinds = 0;
  for (const std::string& name : listed(group_by)) {
    const std::size_t place = choice(
        "group_by", name, {"name", "launch", "operator", "family", "label", "device", "stream"});
    if (place < std::size(kGroupings)) {
      options.group_by = kGroupings[place];
      ++kinds;
    } else {
      (name == "device" ? options.by_device : options.by_stream) = true;
    }
  }
  if (kinds > 1) {
    wrong_argument("group_by takes one of 'name', 'launch', 'operator', 'family' and 'label'");
  }
  options.steps = step_range(steps);
  return options;
}

StepBreakdownOptions steps_options(bool infer_steps, bool keep_tail_steps) {
  StepBreakdownOptions options;
  options.infer_steps = infer_steps;
  options.keep_tail_steps = keep_tail_steps;
  return options;
}

ModuleReportOptions modules_options(const std::string& group_by, std::optional<std::int64_t> depth,
                                    const std::optional<Steps>& steps) {
  constexpr ModuleGrouping kGroupings[] = {ModuleGrouping::module, ModuleGrouping::type,
                                           ModuleGrouping::layer};
  ModuleReportOptions options;
  options.group_by = kGroupings[choice("group_by", group_by, {"module", "type", "layer"})];
  if (depth && *depth < 0) wrong_argument("depth takes a number from 0, or None");
  if (depth) options.depth = static_cast<std::size_t>(*depth);
  options.steps = step_range(steps);
  return options;
}

LinesOptions lines_options(bool libraries, const std::optional<Steps>& steps) {
  LinesOptions options;
  options.libraries = libraries;
  options.steps = step_range(steps);
  return options;
}

GpuUseOptions gpu_options(const std::string& group_by, std::int64_t kernel_wait_limit_ns,
                          const std::optional<Steps>& steps) {
  GpuUseOptions options;
  options.by_stream = choice("group_by", group_by, {"device", "stream"}) == 1;
  if (kernel_wait_limit_ns < 0) wrong_argument("kernel_wait_limit_ns takes a number from 0");
  options.kernel_wait_limit_ns = kernel_wait_limit_ns;
  options.steps = step_range(steps);
  return options;
}

MemoryReportOptions memory_options(const std::string& view, const std::optional<Steps>& steps) {
  constexpr MemoryView kViews[] = {MemoryView::peak, MemoryView::alive, MemoryView::curve,
                                   MemoryView::allocations};
  MemoryReportOptions options;
  options.view = kViews[choice("view", view, {"peak", "alive", "curve", "allocations"})];
  options.steps = step_range(steps);
  return options;
}

Result<AnalysisReport> StepsTable::operator()(const Trace& trace) const {
  return steps_report(trace, *step_breakdown(trace, figures, options), steps);
}

Result<AnalysisReport> StepsTable::operator()(const Partial& partial) const {
  if (figures != Figures::exact || options.infer_steps || options.keep_tail_steps || steps) {
    return not_of_partial("other steps than those of each whole trace, in exact figures");
  }
  return steps_report(partial);
}

Result<AnalysisReport> PluginModulesTable::operator()(const Partial& /*partial*/) const {
  return not_of_partial("torch-tb-profiler's figures");
}

}  // namespace tbtrace::python
