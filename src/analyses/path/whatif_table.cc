// The table `whatif`: how long steps would take after a change, and what their critical path is
// then.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/tables.h>

#include "analyses/attribution/work_times.h"
#include "analyses/grouping/keys.h"
#include "analyses/path/changes.h"
#include "analyses/path/critical_path.h"
#include "analyses/path/path_table.h"
#include "analyses/path/prediction.h"
#include "analyses/path/recording.h"
#include "analyses/path/replay.h"
#include "base/bounded_sum.h"
#include "base/share.h"
#include "report/source_report.h"
#include "report/table_list.h"

namespace tbtrace {
namespace {

using analyses::PathChanges;
using analyses::Prediction;
using analyses::ReplayQuality;
using Totals = AnalysisReport::Totals;

constexpr std::string_view kOfOneRecording[] = {"step_ns", "replayed_ns", "predicted_ns",
                                                "low_ns",  "high_ns",     "gain_ns"};

std::int64_t rounded(double ns) { return static_cast<std::int64_t>(std::llround(ns)); }

/// By how much the replay gets shorter.
std::int64_t gain_of(const analyses::PathRecording& path, std::span<const std::int64_t> times) {
  const WideInteger gain = WideInteger{path.wall_ns(path.replayed())} - path.wall_ns(times);
  return rounded(mean_of_sum(gain, path.chosen_steps()));
}

/// The same if the processes of the data loader had rested where that is unclear.
Result<std::int64_t> gain_with_rests(const Trace& trace, const std::optional<StepRange>& steps,
                                     const std::vector<analyses::PathChange>& changes) {
  const auto recording = analyses::PathRecording::of(trace, {.steps = steps, .loader_rests = true});
  if (!recording.ok()) return recording.status();
  const analyses::PathRecording& path = **recording;
  const Result<PathChanges> made = PathChanges::of(trace, path.rules(), path.graph(), changes);
  if (!made.ok()) return made.status();
  return gain_of(path, analyses::replay(path.graph(), analyses::replay_lengths(
                                                          path.graph(), path.delays(), *made)));
}

/// Those of one recording do not add up.
Totals joined_totals(const Totals& sums, const Table& /*rows*/) {
  Totals totals = sums;
  for (auto& [name, value] : totals) {
    if (std::ranges::find(kOfOneRecording, name) != std::end(kOfOneRecording)) value = Cell();
  }
  return totals;
}

Result<AnalysisReport> whatif_report(const Trace& trace, const OptionValues& values) {
  const TableDescription& table = analyses::whatif_table();
  const std::vector<std::string> texts = values.texts("changes");
  // In a program the replay without a change is a figure like others.
  if (texts.empty() && values.of_command_line) {
    return Status(StatusCode::invalid_argument,
                  "say what to change, such as --set 'operator:aten::mm x0.5'; "
                  "--critical-path shows what the steps take as long as without a change");
  }
  const Result<std::vector<analyses::PathChange>> parsed = analyses::parse_changes(texts);
  if (!parsed.ok()) return parsed.status();
  const auto recording = analyses::PathRecording::of(trace, {.steps = values.steps()});
  if (!recording.ok()) return recording.status();
  const analyses::PathRecording& path = **recording;
  const Result<PathChanges> changes = PathChanges::of(trace, path.rules(), path.graph(), *parsed);
  if (!changes.ok()) return changes.status();
  const ReplayQuality& quality = path.quality();
  const std::vector<std::int64_t> lengths =
      analyses::replay_lengths(path.graph(), path.delays(), *changes);

  AnalysisReport report;
  report.schema = table.schema;
  report.notes = analyses::work_time_notes(trace);
  std::optional<Prediction> made;
  const std::size_t count = path.chosen_steps();
  const auto mean_of = [&](std::span<const std::int64_t> by_step) {
    return rounded(mean_of_sum(path.sum_of_chosen(by_step), count));
  };
  const analyses::StepMeans means = {mean_of(quality.recorded_ns), mean_of(quality.replayed_ns)};
  if (quality.refusal.empty()) {
    const std::vector<std::int64_t> times = analyses::replay(path.graph(), lengths);
    made = prediction_of(quality, means, count, gain_of(path, times));
    if (!parsed->empty() && path.graph().is_loader_unclear()) {
      const Result<std::int64_t> other = gain_with_rests(trace, values.steps(), *parsed);
      if (!other.ok()) return other.status();
      cover(*made, prediction_of(quality, means, count, *other), report);
    }
    const analyses::CriticalPath after(
        path.graph(), path_targets(path.graph(), path.steps(), times), times, lengths);
    analyses::set_path_rows(report, path, &after, values.text("group_by"), *changes);
    if (!texts.empty()) {
      const std::optional<std::int64_t> rank = trace.identity().rank;
      const std::string of = rank ? "rank " + std::to_string(*rank) + ": " : std::string();
      report.notes.push_back(prediction_sentence(of + "a step", "with this change", means, *made));
    }
  } else {
    analyses::set_path_rows(report, path, nullptr, values.text("group_by"));
  }
  analyses::add_prediction_totals(report, count, means, made);
  report.facts = quality.facts();
  report.joined_totals = joined_totals;
  for (const std::string& note : changes->notes()) report.notes.push_back(note);
  for (std::string& note : quality.notes()) report.notes.push_back(std::move(note));
  report.source = report::source_report(trace);
  return report;
}

}  // namespace

const TableDescription& analyses::whatif_table() {
  static const std::vector<ColumnDescription> totals = [] {
    std::vector<ColumnDescription> all = path_totals();
    const std::vector<ColumnDescription> more = columns_in(R"(
steps | integer | how many
step_ns | integer or null | mean of the steps, as recorded, of a job those of all ranks together; null of several recordings that are not one job, as the following
replayed_ns | integer or null | the same, replayed without a change
predicted_ns | integer or null | `step_ns` minus `gain_ns`; null if nothing can be predicted, as the following
low_ns | integer or null | `predicted_ns` minus the error of the replay and twice the standard error of the mean step
high_ns | integer or null | `predicted_ns` plus these
gain_ns | integer or null | by how much the replay gets shorter with the change, from the start of the first step to the end of the last one, as a mean of the steps; negative if it gets longer
)");
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  static const TableDescription kTable = {
      .name = "whatif",
      .schema = "tbtrace.whatif/1",
      .summary = "how long steps would take if something were faster or slower",
      .about =
          R"(Replays the steps with a change: operators, kernels, communication, launches, copies or the data
loader take longer or shorter, and everything that waits for them starts later or earlier. Says how
long a step takes then, within what limits, and what is on its critical path. Gains hold
unless something else takes longer then, such as a data loader that cannot keep up. Recordings
whose replay without a change is not exact enough are refused. The ranks of a job are replayed
together, joined at their collectives.
)",
      .columns = path_columns(),
      .totals = totals,
      .arguments = analyses::kPathArguments,
      .arguments_with =
          [](const OptionValues& options) {
            bool needs_lines = options.text("group_by") == "line";
            for (const std::string& text : options.texts("changes")) {
              needs_lines = needs_lines || text.find("line:") != std::string::npos;
            }
            return needs_lines ? group_key_arguments({GroupKey::line}) : ArgumentSet();
          },
      .options = {{.name = "changes",
                   .spelling = "set",
                   .type = OptionType::choices,
                   .help =
                       "what changes: KIND:NAME xFACTOR with the kind operator, kernel, family, "
                       "module or line; KIND xFACTOR with communication, data_loader, launch "
                       "or copy; of device work also =TIME, such as =10us; of a job rank:NUMBER "
                       "xFACTOR or rank:NUMBER =others; several in several options",
                   .value = "CHANGE",
                   .is_first = true},
                  path_grouping_option(),
                  steps_option()},
      .sort_keys = {"on_path_ns", "total_ns", "slack_ns"},
      .examples = {{"tbtrace whatif trace.json.gz --set 'operator:aten::mm x0.5'",
                    "matrix products that take half as long, on the host and on devices"},
                   {"tbtrace whatif trace.json.gz --set 'communication x0'",
                    "what perfect overlap of communication could bring at most"},
                   {"tbtrace whatif trace.json.gz --set 'launch x0.1' --set 'data_loader x0'",
                    "cheap launches, as with CUDA graphs, and data that are there in time"},
                   {"tbtrace whatif job/ --set 'rank:3 =others'",
                    "a rank of a job that is as fast as the median of the others"},
                   {"tbtrace whatif --critical-path trace.json.gz", "what there is to gain"}},
      .no_rows =
          {"nothing is predicted from this recording; a sentence says why, in JSON `refusal`"},
      .make = whatif_report};
  return kTable;
}

}  // namespace tbtrace
