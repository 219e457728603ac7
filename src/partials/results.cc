// The tables of a partial as results.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/partial.h>

#include "analyses/kernels/report.h"
#include "analyses/modules/line_report.h"
#include "analyses/modules/report.h"
#include "analyses/stacks/merged_recursion.h"
#include "partials/content.h"
#include "partials/kernel_tables.h"
#include "partials/operator_tables.h"
#include "partials/place_tables.h"
#include "partials/stack_tables.h"
#include "report/row_order.h"

namespace tbtrace {
namespace {

using partials::Content;
using partials::ReportId;

Status cannot(const std::string& what) {
  return {StatusCode::invalid_argument, "a partial " + what};
}

/// Fails if the partial was made without a part.
Status check_part(const Content& content, bool PartialParts::*part, const std::string& what) {
  if (content.options.parts.*part) return {};
  return cannot("made without " + what + " has none");
}

Status check_steps(const std::optional<StepRange>& steps) {
  if (!steps) return {};
  return cannot("has the sums of whole recordings, not of single steps; use the traces");
}

Result<AnalysisReport> reports_of(const Content& content, ReportId id) {
  Status has = check_part(content, &PartialParts::reports, "steps, GPU use and memory");
  if (!has.ok()) return has;
  std::vector<ReportOfInput> reports;
  for (std::size_t source = 0; source < content.sources.size(); ++source) {
    const PartialSource& from = content.sources[source];
    AnalysisReport report = content.of_sources[source].reports[static_cast<std::size_t>(id)];
    report.source = content.of_sources[source].report;
    reports.push_back({from.rank, from.name, std::move(report)});
  }
  return join_inputs(std::move(reports), content.sources.size() > 1);
}

}  // namespace

Status check_partial_figures(Figures figures) {
  if (figures == Figures::exact) return {};
  return cannot("has exact figures only; use the traces for those of torch and of other tools");
}

Result<OperatorSummary> operator_summary(const Partial& partial, const SummaryOptions& options) {
  const Content& content = partial.content();
  Status can = check_part(content, &PartialParts::operators, "operators");
  if (!can.ok()) return can;
  const int frames = content.options.group_by_stack_n;
  if (options.group_by_stack_n > 0 && options.group_by_stack_n != frames) {
    return cannot("has operators by stacks of " + std::to_string(frames) + " frames, not of " +
                  std::to_string(options.group_by_stack_n) + "; make it again with that number");
  }
  return partials::operators_of(content, options);
}

Result<AnalysisReport> kernel_report(const Partial& partial, const KernelsOptions& options) {
  const Content& content = partial.content();
  Status can = check_part(content, &PartialParts::kernels, "kernels");
  if (can.ok()) can = check_steps(options.steps);
  if (can.ok() && (options.by_device || options.by_stream)) {
    can = cannot("has the kernels of all devices together; use the traces");
  }
  if (!can.ok()) return can;
  return analyses::kernel_report_of(partials::kernels_of(content, options.group_by), options,
                                    content.common_rank(), content.source_report());
}

Result<AnalysisReport> module_report(const Partial& partial, const ModuleReportOptions& options) {
  const Content& content = partial.content();
  Status can = check_part(content, &PartialParts::modules, "modules");
  if (can.ok()) can = check_steps(options.steps);
  if (!can.ok()) return can;
  const ModuleTree tree = partials::modules_of(content);
  return analyses::module_report_of(tree, options,
                                    partials::cost_columns_of(content, tree.total, tree.has_shapes),
                                    content.common_rank(), content.source_report());
}

Result<AnalysisReport> line_report(const Partial& partial, const LinesOptions& options) {
  const Content& content = partial.content();
  Status can = check_part(content, &PartialParts::lines, "lines");
  if (can.ok()) can = check_steps(options.steps);
  if (!can.ok()) return can;
  const LineTable table = partials::lines_of(content, options.libraries);
  return analyses::line_report_of(table,
                                  partials::cost_columns_of(content, table.total, table.has_shapes),
                                  content.common_rank(), content.source_report());
}

Result<StackTree> flame_graph(const Partial& partial, const FlameGraphOptions& options) {
  const Content& content = partial.content();
  Status can = check_part(content, &PartialParts::stacks, "stacks");
  if (can.ok()) can = check_steps(options.steps);
  if (can.ok()) can = check_flame_graph_options(options);
  if (can.ok() && (options.all_frames || options.in_time_order || options.by_thread ||
                   !options.thread.empty())) {
    can = cannot(
        "has the stacks of all threads together, without the frames that only pass a call on and "
        "without an order in time; use the traces");
  }
  if (!can.ok()) return can;
  const std::string weight = report::canonical_key(options.weight);
  const auto* const place = std::ranges::find(partials::kStackWeights, weight);
  StackTree stacks = partials::stacks_of(
      content, static_cast<std::size_t>(place - partials::kStackWeights.begin()));
  return options.merge_recursion ? analyses::merged_recursion(stacks, true) : std::move(stacks);
}

Result<AnalysisReport> steps_report(const Partial& partial) {
  return reports_of(partial.content(), ReportId::steps);
}

Result<AnalysisReport> gpu_report(const Partial& partial, const GpuUseOptions& options) {
  Status can = check_steps(options.steps);
  if (can.ok() && options.kernel_wait_limit_ns != GpuUseOptions().kernel_wait_limit_ns) {
    can = cannot("has idle time by the usual limit of kernel waits; use the traces");
  }
  if (!can.ok()) return can;
  return reports_of(partial.content(),
                    options.by_stream ? ReportId::gpu_streams : ReportId::gpu_devices);
}

Result<AnalysisReport> memory_report(const Partial& partial, const MemoryReportOptions& options) {
  Status can = check_steps(options.steps);
  const bool is_there = options.view == MemoryView::peak || options.view == MemoryView::alive;
  if (can.ok() && !is_there) {
    can = cannot("has the peaks of memory, not its curve and its allocations; use the traces");
  }
  if (!can.ok()) return can;
  return reports_of(partial.content(), options.view == MemoryView::peak ? ReportId::memory_peak
                                                                        : ReportId::memory_alive);
}

}  // namespace tbtrace
