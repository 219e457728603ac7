// The table `whatif`: how long steps would take after a change, and what their critical path is
// then.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
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
#include "analyses/path/recording.h"
#include "analyses/path/replay.h"
#include "base/bounded_sum.h"
#include "report/duration.h"
#include "report/source_report.h"
#include "report/table_list.h"

namespace tbtrace {
namespace {

using analyses::PathChanges;
using analyses::ReplayQuality;
using Totals = AnalysisReport::Totals;

constexpr std::string_view kOfOneRecording[] = {"step_ns", "replayed_ns", "predicted_ns",
                                                "low_ns",  "high_ns",     "gain_ns"};

struct Prediction {
  std::int64_t predicted_ns = 0;  // mean of the steps, as the others
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
};

std::int64_t mean_of(std::int64_t sum, std::size_t count) {
  return count == 0 ? 0
                    : static_cast<std::int64_t>(
                          std::llround(static_cast<double>(sum) / static_cast<double>(count)));
}

/// The replay is off by so much, and the mean of as many other steps by twice its standard error.
Prediction prediction_of(const ReplayQuality& quality, const std::vector<std::int64_t>& predicted) {
  const std::size_t count = predicted.size();
  std::int64_t sum = 0;
  for (const std::int64_t each : predicted) add_bounded(sum, each);
  Prediction made = {.predicted_ns = mean_of(sum, count)};
  const double mean = static_cast<double>(mean_of(quality.recorded_sum_ns(), count));
  double squares = 0;
  for (const std::int64_t each : quality.recorded_ns) {
    squares += (static_cast<double>(each) - mean) * (static_cast<double>(each) - mean);
  }
  const auto n = static_cast<double>(count);
  const double spread = count < 2 || mean == 0 ? 0 : std::sqrt(squares / (n - 1) / n) / mean;
  const double share = std::abs(quality.error()) + 2 * spread;
  const auto away = static_cast<std::int64_t>(
      std::llround(static_cast<double>(made.predicted_ns) * std::min(share, 1.0)));
  made.low_ns = made.predicted_ns - away;
  made.high_ns = bounded_sum(made.predicted_ns, away);
  return made;
}

std::string sentence_of(const Trace& trace, std::int64_t step_ns, std::int64_t replayed_ns,
                        const Prediction& made) {
  const std::optional<std::int64_t> rank = trace.identity().rank;
  std::string text = rank ? "rank " + std::to_string(*rank) + ": " : std::string();
  text += "a step takes " + report::duration_text(step_ns) + " on average, and " +
          report::duration_text(made.predicted_ns) + " with this change (" +
          report::duration_text(made.low_ns) + " to " + report::duration_text(made.high_ns) + ")";
  const std::int64_t gain = replayed_ns - made.predicted_ns;
  if (gain > 0) text += "; it saves " + report::duration_text(gain) + " at most";
  return text;
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
  const auto recording = analyses::PathRecording::of(trace, values.steps());
  if (!recording.ok()) return recording.status();
  const analyses::PathRecording& path = **recording;
  const Result<PathChanges> changes = PathChanges::of(trace, path.rules(), path.graph(), *parsed);
  if (!changes.ok()) return changes.status();
  const ReplayQuality& quality = path.quality();
  const std::vector<std::int64_t> lengths =
      analyses::replay_lengths(path.graph(), path.delays(), *changes);
  const std::vector<std::int64_t> times = analyses::replay(path.graph(), lengths);

  AnalysisReport report;
  report.schema = table.schema;
  report.notes = analyses::work_time_notes(trace);
  std::optional<Prediction> made;
  const std::size_t count = quality.recorded_ns.size();
  const std::int64_t step_ns = mean_of(quality.recorded_sum_ns(), count);
  const std::int64_t replayed_ns = mean_of(quality.replayed_sum_ns(), count);
  if (quality.refusal.empty()) {
    const std::vector<std::int64_t> predicted =
        path.chosen(analyses::step_durations(path.graph(), path.steps(), times));
    made = prediction_of(quality, predicted);
    const analyses::CriticalPath after(path.graph(), path.steps(), times, lengths);
    analyses::set_path_rows(report, path, &after, values.text("group_by"), *changes);
    if (!texts.empty()) report.notes.push_back(sentence_of(trace, step_ns, replayed_ns, *made));
  } else {
    analyses::set_path_rows(report, path, nullptr, values.text("group_by"));
  }
  report.totals.emplace_back("steps", static_cast<std::int64_t>(count));
  report.totals.emplace_back("step_ns", step_ns);
  report.totals.emplace_back("replayed_ns", replayed_ns);
  const auto cell = [&](auto value) { return made ? Cell(value(*made)) : Cell(); };
  report.totals.emplace_back("predicted_ns",
                             cell([](const auto& each) { return each.predicted_ns; }));
  report.totals.emplace_back("low_ns", cell([](const auto& each) { return each.low_ns; }));
  report.totals.emplace_back("high_ns", cell([](const auto& each) { return each.high_ns; }));
  report.totals.emplace_back(
      "gain_ns", cell([&](const auto& each) { return replayed_ns - each.predicted_ns; }));
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
step_ns | integer or null | mean of the steps, as recorded; null of several recordings, as the following
replayed_ns | integer or null | the same, replayed without a change
predicted_ns | integer or null | the same, replayed with the change; null if nothing can be predicted, as the following
low_ns | integer or null | `predicted_ns` less the error of the replay, and less twice the standard error of the mean step
high_ns | integer or null | the same, more
gain_ns | integer or null | what `predicted_ns` is less than `replayed_ns`: at most so much is saved
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
long a step takes then, within what limits, and what is on its critical path. A gain is what the
change brings at most. Recordings whose replay without a change is not exact enough are refused.
)",
      .columns = path_columns(),
      .totals = totals,
      .arguments = {ArgumentGroup::placement, ArgumentGroup::synchronization,
                    ArgumentGroup::autograd},
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
                       "or copy; of device work and launches also =TIME, such as =10us; "
                       "several in several options",
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
                   {"tbtrace whatif --critical-path trace.json.gz", "what there is to gain"}},
      .no_rows = {"nothing is predicted from this recording; the last line says why"},
      .make = whatif_report};
  return kTable;
}

}  // namespace tbtrace
