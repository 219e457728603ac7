// The table `critical_path`: what steps took as long as.
#include "analyses/path/path_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/tables.h>

#include "analyses/attribution/work_times.h"
#include "analyses/grouping/keys.h"
#include "analyses/path/critical_path.h"
#include "analyses/path/path_rows.h"
#include "analyses/path/recording.h"
#include "base/bounded_sum.h"
#include "base/share.h"
#include "report/source_report.h"
#include "report/table_list.h"
#include "report/typed_columns.h"

namespace tbtrace {
namespace {

using analyses::PathGrouping;
using analyses::PathKind;
using analyses::PathRow;

struct Row {
  std::optional<std::int64_t> rank;
  std::int64_t duration_ns = 0;  // of all steps
  std::int64_t steps = 0;
  PathRow path;
};

std::optional<std::string_view> kind_name(const Row& row) {
  if (!row.path.kind) return std::nullopt;
  return analyses::path_kind_name(*row.path.kind);
}

template <PathKind... kKinds>
constexpr std::int64_t ns_of(const Row& row) {
  std::int64_t sum = 0;
  (add_bounded(sum, row.path.on_path_ns[static_cast<std::size_t>(kKinds)]), ...);
  return sum;
}

constexpr auto host_ns = ns_of<PathKind::op, PathKind::call, PathKind::data_loader, PathKind::code>;
constexpr auto device_ns = ns_of<PathKind::kernel, PathKind::communication, PathKind::copy>;
constexpr auto delay_ns = ns_of<PathKind::launch, PathKind::stream, PathKind::synchronization>;
constexpr auto unexplained_ns = ns_of<PathKind::unexplained>;

using PathColumn = report::TypedColumn<Row>;
constexpr PathColumn kColumns[] = {
    PathColumn::of<&Row::rank>("rank", "from `distributedInfo`", 1),
    PathColumn::of<kind_name>(
        "kind", "what it is, see above; null if grouped by something else than name and kind", 2),
    PathColumn::of<[](const Row& row) { return row.path.name; }>(
        "name", "by what the rows are grouped; `[unattributed]` where it is not known", 3),
    PathColumn::of<[](const Row& row) { return row.path.path_ns(); }>(
        "on_path_ns", "time on the critical path, in all steps", 4),
    PathColumn::of<[](const Row& row) {
      return mean_of_sum(row.path.path_ns(), static_cast<std::size_t>(row.steps));
    }>("per_step_ns", "the same as a mean over the steps", 5),
    PathColumn::of<[](const Row& row) { return share(row.path.path_ns(), row.duration_ns); }>(
        "share", "`on_path_ns` as a share of the time of all steps, 0 to 1", 6),
    PathColumn::of<host_ns>("host_ns",
                            "the part of `on_path_ns` in which a thread of the host worked", 9),
    PathColumn::of<device_ns>("device_ns", "the part in which a device worked", 10),
    PathColumn::of<delay_ns>("delay_ns", "the part from a cause to its effect: launches and waits",
                             11),
    PathColumn::of<unexplained_ns>(
        "unexplained_ns", "the part of which nothing in the recording says what was waited for",
        12),
    PathColumn::of<[](const Row& row) { return row.path.total_ns; }>(
        "total_ns",
        "all its time in the steps, on the path or not, on all threads and streams; collectives "
        "of a job without the wait for its other ranks; null for delays and between ranges",
        7),
    PathColumn::of<[](const Row& row) { return row.path.slack_ns; }>(
        "slack_ns",
        "how much later the most urgent part that is not on the path could have been without a "
        "longer step; null if all is on the path, or if nothing waits for the rest",
        8),
};

using Total = report::TypedTotal<Row>;
constexpr Total kTotals[] = {
    Total::sum_of<[](const Row& row) { return row.path.path_ns(); }>(
        "on_path_ns", "of all steps together, which the following add up to"),
    Total::sum_of<host_ns>("host_ns"),
    Total::sum_of<device_ns>("device_ns"),
    Total::sum_of<delay_ns>("delay_ns"),
    Total::sum_of<unexplained_ns>("unexplained_ns"),
};

PathGrouping grouping_of(std::string_view text) {
  constexpr std::pair<std::string_view, PathGrouping> kGroupings[] = {
      {"kind", PathGrouping::kind},     {"operator", PathGrouping::op},
      {"kernel", PathGrouping::kernel}, {"family", PathGrouping::family},
      {"module", PathGrouping::module}, {"line", PathGrouping::line}};
  const auto* const found =
      std::ranges::find(kGroupings, text, &std::pair<std::string_view, PathGrouping>::first);
  return found == std::end(kGroupings) ? PathGrouping::name : found->second;
}

Result<AnalysisReport> path_report(const Trace& trace, const OptionValues& values) {
  const TableDescription& table = analyses::critical_path_table();
  const Result<std::unique_ptr<analyses::PathRecording>> recording =
      analyses::PathRecording::of(trace, {.steps = values.steps()});
  if (!recording.ok()) return recording.status();
  AnalysisReport report;
  report.schema = table.schema;
  analyses::set_path_rows(report, **recording, &(*recording)->recorded_path(),
                          values.text("group_by"));
  const analyses::ReplayQuality& quality = (*recording)->quality();
  report.totals.emplace_back("steps", static_cast<std::int64_t>((*recording)->chosen_steps()));
  report.totals.emplace_back("replayed_ns", (*recording)->sum_of_chosen(quality.replayed_ns));
  report.facts = quality.facts();
  report.notes = analyses::work_time_notes(trace);
  for (std::string& note : quality.notes()) report.notes.push_back(std::move(note));
  report.source = report::source_report(trace);
  return report;
}

}  // namespace

std::int64_t analyses::path_ns(std::span<const PathPart> parts) {
  std::int64_t all = 0;
  for (const PathPart& part : parts) {
    for (const PathPiece& piece : part.pieces) {
      add_bounded(all, piece.time.end - piece.time.start);
    }
  }
  return all;
}

void analyses::set_path_rows(AnalysisReport& report, const PathPart& part, std::int64_t path_ns,
                             std::size_t steps, std::string_view group_by) {
  const PathRecording& recording = *part.recording;
  PathRows rows(recording.trace(), recording.rules(), recording.graph(), recording.steps(),
                grouping_of(group_by));
  if (part.changes != nullptr) rows.add(part.pieces, part.slack_ns, *part.changes, part.waits);
  std::vector<Row> all;
  for (PathRow& row : std::move(rows).run()) {
    all.push_back({part.rank, path_ns, static_cast<std::int64_t>(steps), std::move(row)});
  }
  report::set_rows(report, kColumns, all);
  report::set_totals<kTotals>(report, all);
}

void analyses::set_path_rows(AnalysisReport& report, const PathRecording& recording,
                             const CriticalPath* path, std::string_view group_by,
                             const PathChanges& changes) {
  PathPart part;
  part.recording = &recording;
  part.rank = recording.trace().identity().rank;
  if (path != nullptr) {
    part.pieces = path->pieces();
    part.slack_ns = path->slack_ns();
    part.changes = &changes;
  }
  set_path_rows(report, part, path_ns({&part, 1}), recording.chosen_steps(), group_by);
}

OptionDescription analyses::path_grouping_option() {
  return {.name = "group_by",
          .spelling = "group-by",
          .type = OptionType::choice,
          .help = "a row for each name, kind, operator, kernel, family of kernels, module or line",
          .value = "WHAT",
          .otherwise = "name",
          .choices = {"name", "kind", "operator", "kernel", "family", "module", "line"}};
}

std::vector<ColumnDescription> analyses::path_columns() { return report::described(kColumns); }
std::vector<ColumnDescription> analyses::path_totals() { return report::described(kTotals); }

const TableDescription& analyses::critical_path_table() {
  static const std::vector<ColumnDescription> totals = [] {
    std::vector<ColumnDescription> all = path_totals();
    const std::vector<ColumnDescription> more = columns_in(R"(
steps | integer | how many
replayed_ns | integer | how long these take if they are replayed without a change, each with the delays of the others
)");
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  static const TableDescription kTable = {
      .name = "critical_path",
      .schema = "tbtrace.critical_path/1",
      .summary = "the critical path of the steps: the chain of work and delays without slack",
      .about =
          R"(The critical path of the steps, from the end back to the start: at each point what was waited for
last, on threads of the host, on devices, and between them. Only what is on it makes a step shorter
if it gets faster, and only until something else is longer. Rows add up to the time of the steps;
what two steps have in common counts once. The path of a job goes through its ranks: from a
collective to the rank that came to it last.
)",
      .columns = path_columns(),
      .totals = totals,
      .arguments = analyses::kPathArguments,
      .arguments_with =
          [](const OptionValues& options) {
            return options.text("group_by") == "line" ? group_key_arguments({GroupKey::line})
                                                      : ArgumentSet();
          },
      .options = {path_grouping_option(), steps_option()},
      .sort_keys = {"on_path_ns", "total_ns", "slack_ns", "unexplained_ns"},
      .examples = {{"tbtrace whatif --critical-path trace.json.gz",
                    "what makes the steps take so long"},
                   {"tbtrace whatif --critical-path trace.json.gz --group-by operator",
                    "the same by operator, with what it launched"},
                   {"tbtrace whatif --critical-path trace.json.gz --steps 3-5 --group-by kind",
                    "how much of three steps was the host, devices, and waiting"},
                   {"tbtrace whatif --critical-path job/", "the path of a job, through its ranks"},
                   {"tbtrace whatif --critical-path trace.json.gz --format csv -o path.csv",
                    "all, for a spreadsheet"}},
      .no_rows = {"the trace has no ranges on the host"},
      .make = path_report,
      .verb = "whatif --critical-path"};
  return kTable;
}

}  // namespace tbtrace
