// The tables of a partial as results.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/job_analysis.h>
#include <tbtrace/partial.h>
#include <tbtrace/tables.h>

#include "analyses/gpu/report.h"
#include "analyses/kernels/report.h"
#include "analyses/memory/report.h"
#include "analyses/modules/lines_report.h"
#include "analyses/modules/report.h"
#include "analyses/stacks/merged_recursion.h"
#include "partials/content.h"
#include "partials/kernel_tables.h"
#include "partials/operator_tables.h"
#include "partials/place_tables.h"
#include "partials/rank_parts.h"
#include "partials/source_reports.h"
#include "partials/stack_tables.h"
#include "report/row_order.h"
#include "report/source_column.h"

namespace tbtrace {
namespace {

using partials::Content;

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

Status check_ranks(const Content& content) {
  if (content.options.parts.ranks) return {};
  return cannot(
      "made without ranks, or by an older version of tbtrace, has no collectives; make "
      "it again from the traces");
}

/// The rows of each source.
Result<AnalysisReport> rows_of(const Content& content, std::string_view name) {
  Status has = check_part(content, &PartialParts::reports, "steps, GPU use and memory");
  if (!has.ok()) return has;
  const std::size_t table = partials::source_table_named(name);
  std::vector<ReportOfInput> reports;
  for (std::size_t source = 0; source < content.sources.size(); ++source) {
    const PartialSource& from = content.sources[source];
    const partials::SourceContent& of_source = content.of_sources[source];
    if (table >= of_source.reports.size()) {
      return cannot("of an older version of tbtrace does not have this table; make it again from " +
                    from.name);
    }
    AnalysisReport report = of_source.reports[table];
    report.source = of_source.report;
    reports.push_back({from.rank, from.name, std::move(report)});
  }
  return join_inputs(std::move(reports), content.sources.size() > 1);
}

/// How the tables that need more than their rows of each source are made.
struct OwnMaker {
  std::string_view table;
  bool PartialParts::*part;  ///< whose rows are added up; nullptr: none
  Result<AnalysisReport> (*make)(const Partial& partial, const OptionValues& values);
};
constexpr OwnMaker kOwnMakers[] = {
    {"ops", &PartialParts::operators,
     [](const Partial& partial, const OptionValues& /*values*/) -> Result<AnalysisReport> {
       const Result<OperatorSummary> summary = operator_summary(partial);
       return summary.ok() ? summary->report() : summary.status();
     }},
    {"kernels", &PartialParts::kernels,
     [](const Partial& partial, const OptionValues& values) {
       if (values.flag("per_event")) {
         return Result<AnalysisReport>(cannot("has sums, not single events; use the trace"));
       }
       return kernels_report(partial, analyses::kernels_options(values));
     }},
    {"modules", &PartialParts::modules,
     [](const Partial& partial, const OptionValues& values) {
       return modules_report(partial, analyses::modules_options(values));
     }},
    {"lines", &PartialParts::lines,
     [](const Partial& partial, const OptionValues& values) {
       const LinesOptions options = analyses::lines_options(values);
       if (options.view == LineView::memory) {
         return Result<AnalysisReport>(
             cannot("has lines without what each device had allocated; use the traces"));
       }
       return lines_report(partial, options);
     }},
    {"collectives", &PartialParts::ranks,
     [](const Partial& partial, const OptionValues& /*values*/) -> Result<AnalysisReport> {
       Result<std::vector<RankRecord>> records = rank_records(partial);
       if (!records.ok()) return records.status();
       return collectives_report(analyse_job(*std::move(records)));
     }},
    {"check", nullptr,
     [](const Partial& partial, const OptionValues& /*values*/) { return checks_report(partial); }},
    {"gpu", nullptr,
     [](const Partial& partial, const OptionValues& values) {
       return gpu_report(partial, analyses::gpu_options(values));
     }},
    {"memory", nullptr,
     [](const Partial& partial, const OptionValues& values) {
       return memory_report(partial, analyses::memory_options(values));
     }},
};

/// The rows of each source that were made with these options.
Result<AnalysisReport> rows_with(const TableDescription& table, const Partial& partial,
                                 const OptionValues& values) {
  for (const partials::SourceTable& rows : partials::source_tables()) {
    if (rows.table == &table && rows.options.all() == values.all()) {
      return rows_of(partial.content(), rows.name);
    }
  }
  const OptionValues usual = *complete_options(table, {});
  std::string given;
  for (const OptionDescription& option : table.options) {
    const OptionValue* const value = values.find(option.name);
    const OptionValue* const without = usual.find(option.name);
    if (value == nullptr || (without != nullptr && *without == *value)) continue;
    given = values.of_command_line ? "--" + std::string(option.spelling) : std::string(option.name);
    break;
  }
  return cannot("has all " + std::string(table.name) + " of whole recordings; " + given +
                " goes with traces");
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
  if (!options.by.empty()) {
    return cannot("has the operators of all devices, modules and steps together; use the traces");
  }
  return partials::operators_of(content, options);
}

Result<AnalysisReport> kernels_report(const Partial& partial, const KernelsOptions& options) {
  const Content& content = partial.content();
  Status can = check_part(content, &PartialParts::kernels, "kernels");
  if (can.ok()) can = check_steps(options.steps);
  if (can.ok() && !options.by.empty()) {
    can = cannot("has the kernels of all devices, modules and steps together; use the traces");
  }
  if (can.ok() && (!options.also_by.empty() || options.group_by == KernelGrouping::all)) {
    can = cannot("has kernels grouped by one thing only; use the traces");
  }
  if (!can.ok()) return can;
  return analyses::kernel_report_of(partials::kernels_of(content, options.group_by), options,
                                    content.common_rank(), content.source_report());
}

Result<AnalysisReport> modules_report(const Partial& partial, const ModulesOptions& options) {
  const Content& content = partial.content();
  Status can = check_part(content, &PartialParts::modules, "modules");
  if (can.ok()) can = check_steps(options.steps);
  if (!can.ok()) return can;
  const ModuleTree tree = partials::modules_of(content);
  return analyses::module_report_of(tree, options,
                                    partials::cost_columns_of(content, tree.total, tree.has_shapes),
                                    content.common_rank(), content.source_report());
}

Result<AnalysisReport> lines_report(const Partial& partial, const LinesOptions& options) {
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
  return rows_of(partial.content(), "steps");
}

Result<AnalysisReport> gpu_report(const Partial& partial, const GpuOptions& options) {
  Status can = check_steps(options.steps);
  if (can.ok() && options.kernel_wait_limit_ns != GpuOptions().kernel_wait_limit_ns) {
    can = cannot("has idle time by the usual limit of kernel waits; use the traces");
  }
  if (!can.ok()) return can;
  return rows_of(partial.content(), options.by_stream ? "gpu.streams" : "gpu.devices");
}

Result<AnalysisReport> memory_report(const Partial& partial, const MemoryOptions& options) {
  Status can = check_steps(options.steps);
  const bool is_there = options.view == MemoryView::peak || options.view == MemoryView::alive;
  if (can.ok() && !is_there) {
    can = cannot("has the peaks of memory, not its curve and its allocations; use the traces");
  }
  if (!can.ok()) return can;
  return rows_of(partial.content(),
                 options.view == MemoryView::peak ? "memory.peak" : "memory.alive");
}

Result<AnalysisReport> flops_report(const Partial& partial) {
  return rows_of(partial.content(), "flops");
}

Result<std::vector<RankRecord>> rank_records(const Partial& partial) {
  const Content& content = partial.content();
  if (Status has = check_ranks(content); !has.ok()) return has;
  std::vector<RankRecord> records;
  for (std::size_t source = 0; source < content.sources.size(); ++source) {
    records.push_back(
        partials::complete_record(content.sources[source], *content.of_sources[source].rank));
  }
  return records;
}

Result<std::vector<RankRecord>> take_rank_records(Partial partial) {
  Content& content = *partial.content_;
  if (Status has = check_ranks(content); !has.ok()) return has;
  std::vector<RankRecord> records;
  for (std::size_t source = 0; source < content.sources.size(); ++source) {
    records.push_back(partials::complete_record(content.sources[source],
                                                *std::move(content.of_sources[source].rank)));
  }
  return records;
}

PartialParts parts_for(const TableDescription& table) {
  PartialParts parts = {false, false, false, false, false, false, false};
  const auto* const own = std::ranges::find(kOwnMakers, table.name, &OwnMaker::table);
  const bool is_summed = own != std::end(kOwnMakers) && own->part != nullptr;
  parts.*(is_summed ? own->part : &PartialParts::reports) = true;
  return parts;
}

Result<AnalysisReport> make_table(const TableDescription& table, const Partial& partial,
                                  const OptionValues& options) {
  if (table.in_partials == InPartials::no) {
    return cannot("does not have this table; use the trace");
  }
  const Result<OptionValues> complete = complete_options(table, options);
  if (!complete.ok()) return complete.status();
  if (Status has = check_partial_figures(chosen_figures(table, *complete)); !has.ok()) return has;
  if (table.of_part) {
    if (Status can = check_steps(complete->steps()); !can.ok()) return can;
  }
  const auto* const own = std::ranges::find(kOwnMakers, table.name, &OwnMaker::table);
  return report::with_source(own != std::end(kOwnMakers) ? own->make(partial, *complete)
                                                         : rows_with(table, partial, *complete),
                             *complete);
}

}  // namespace tbtrace
