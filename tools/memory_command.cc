// `memory` of traces is the verb of its table; a memory snapshot has a table of its own.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/memory_snapshot.h>
#include <tbtrace/report.h>
#include <tbtrace/tables.h>

#include "command.h"
#include "console.h"
#include "inputs.h"
#include "options.h"
#include "snapshot_inputs.h"
#include "table_command.h"
#include "table_options.h"
#include "terminal.h"

namespace tbtrace::tools {
namespace {

const TableDescription& snapshot_table() { return *table_of_schema("tbtrace.memory_snapshot/1"); }

/// Only of snapshots: `at` and `by`.
std::vector<const OptionDescription*> own_options() {
  std::vector<const OptionDescription*> own;
  for (const OptionDescription& option : snapshot_table().options) {
    if (option.name != "view") own.push_back(&option);
  }
  return own;
}

int run_snapshots(const OptionParser& parser) {
  const std::string wrong =
      wrong_for_snapshots(parser, {"compat", "steps", "sum-inputs", "each", "iteration", "name"});
  if (!wrong.empty()) return parser.wrong(wrong);
  const Result<OptionValues> given = given_options(snapshot_table(), parser);
  if (!given.ok()) return parser.wrong(given.status().message());
  Result<TableChoice> choice = TableChoice::of(parser, false);
  if (!choice.ok()) return parser.wrong(choice.status().message());
  const StandardOptions& standard = parser.standard();
  choice->report.wide = parser.flag("wide");
  choice->report.width = terminal_width(standard);
  choice->report.how_to_show_all_columns = "--wide shows all";
  Console console(standard.console);
  const Subjects subjects = subjects_of("memory", standard);
  if (const Status place = check_output(subjects.output, standard.overwrite); !place.ok()) {
    return finish(place, subjects, console);
  }
  std::vector<ReportOfInput> reports;
  const int read =
      each_snapshot("memory", standard, choice->rank, console,
                    [&](const MemorySnapshot& snapshot, const std::string& path) {
                      const auto make = [&] {
                        Result<AnalysisReport> report = memory_snapshot_report(snapshot, *given);
                        if (!report.ok()) return report.status();
                        reports.push_back({snapshot.rank(), path, *std::move(report)});
                        return Status();
                      };
                      return finish_work(make, subjects_of_input(path, standard), console);
                    });
  if (reports.empty()) return read;
  const bool with_paths = reports.size() > 1;
  const auto write = [&] {
    const AnalysisReport all = join_inputs(std::move(reports), with_paths);
    if (all.table.rows.empty()) {
      console.warning(subjects.input, "the snapshot has no rows of this view");
    }
    const Result<std::string> text = report_text(all, choice->report);
    return text.ok() ? write_text(*text, subjects.output, standard.overwrite) : text.status();
  };
  const int written = finish_work(write, subjects, console);
  return written == kDone ? read : written;
}

int run(const OptionParser& parser) {
  if (any_snapshot(parser.standard().inputs)) return run_snapshots(parser);
  for (const OptionDescription* const option : own_options()) {
    const std::string name(option->spelling);
    if (parser.given(name)) {
      return parser.wrong("--" + name + " is for memory snapshots, not for traces");
    }
  }
  return run_table(parser);
}

/// The views of traces, then those that only snapshots have.
void add_views(Option& view) {
  for (const std::string_view choice : snapshot_table().option("view")->choices) {
    if (!contains(view.choices, choice)) view.choices.push_back(choice);
  }
  view.help =
      "what a row is; traces have peak to allocations, memory snapshots all (default: peak, of "
      "snapshots alive)";
  view.otherwise = {};
}

}  // namespace

Command memory_command() {
  Command command = table_command(*table_named("memory"));
  for (OptionGroup& group : command.options) {
    const auto view = std::ranges::find(group.options, "view", &Option::name);
    if (view != group.options.end()) add_views(*view);
  }
  OptionGroup own = {"Memory snapshots", {}};
  for (const OptionDescription* const option : own_options()) {
    own.options.push_back(command_line_option(snapshot_table(), *option));
  }
  command.options.insert(command.options.begin() + 1, std::move(own));
  command.about =
      R"(How much memory each device had allocated, what held it at the peak, and how it grew. Needs a
trace that was recorded with profile_memory, or a memory snapshot: the pickle that
torch.cuda.memory._dump_snapshot() writes, which is read without running what is in it. Views:
  peak         one row per device: the peak, reserved memory, growth per step
  alive        what was allocated at the peak, by operator, module and line (of
               snapshots by --by, --at a moment); the bytes add up, and the
               categories are estimated
  curve        one row per allocation or free: allocated and reserved bytes then
  allocations  one row per allocation: who allocated it, and when it was freed
  oom          of snapshots: why allocations failed, and what would help
  segments     of snapshots: what is reserved, and which blocks keep it
  blocks       of snapshots: what each segment is divided into
  bands        of snapshots: memory over time by --by, for a stacked plot
  growth       of snapshots: what grows from step to step
With --compat plugin, alive and peak show the statistics of torch-tb-profiler's memory view,
curve and allocations its curve and its events.
)";
  command.examples.push_back({"tbtrace memory snapshot.pickle",
                              "what held a GPU's memory when it ran out, or at the peak"});
  command.examples.push_back(
      {"tbtrace memory snapshot.pickle --view growth", "what leaks, and since which step"});
  command.run = run;
  return command;
}

}  // namespace tbtrace::tools
