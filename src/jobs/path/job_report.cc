// The tables `critical_path` and `whatif` of a job.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/job_paths.h>

#include "analyses/attribution/work_times.h"
#include "analyses/path/changes.h"
#include "analyses/path/prediction.h"
#include "base/bounded_sum.h"
#include "base/share.h"
#include "jobs/path/job_path.h"
#include "report/duration.h"
#include "report/source_report.h"
#include "report/table_columns.h"

namespace tbtrace {
namespace {

using analyses::ChangeKind;
using analyses::PathChange;
using jobs::JobChange;
using jobs::JobPath;

std::int64_t rounded(double ns) { return static_cast<std::int64_t>(std::llround(ns)); }

std::optional<std::int64_t> number_in(const Cell& cell) {
  const auto* const number = std::get_if<std::int64_t>(&cell);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

/// What takes most of the path first, whatever the rank.
void sort_by_path(AnalysisReport& report) {
  const auto on_path = report::column_named(report.table, "on_path_ns");
  const auto total = report::column_named(report.table, "total_ns");
  if (!on_path || !total) return;
  std::ranges::stable_sort(report.table.rows, std::ranges::greater(), [&](const auto& row) {
    return std::pair(number_in(row[*on_path]), number_in(row[*total]));
  });
}

/// The rows of all ranks; without parts none.
AnalysisReport rows_of(const JobPath& job, const std::vector<analyses::PathPart>& parts,
                       const OptionValues& options) {
  const std::int64_t path_ns = analyses::path_ns(parts);
  std::vector<ReportOfInput> reports;
  for (std::size_t place = 0; place < job.ranks(); ++place) {
    AnalysisReport report;
    analyses::PathPart none;
    none.recording = &job.recording(place);
    analyses::set_path_rows(report, parts.empty() ? none : parts[place], path_ns,
                            job.chosen_steps(), options.text("group_by"));
    report.notes = analyses::work_time_notes(job.recording(place).trace());
    report.source = report::source_report(job.recording(place).trace());
    reports.push_back({job.rank(place), job.path(place), std::move(report)});
  }
  AnalysisReport all = join_inputs(std::move(reports), true);
  sort_by_path(all);
  return all;
}

void say_quality(AnalysisReport& report, const JobPath& job) {
  report.facts = job.quality().facts();
  for (std::string& note : job.quality().notes()) report.notes.push_back(std::move(note));
}

AnalysisReport path_report(const JobPath& job, const OptionValues& options) {
  AnalysisReport report = rows_of(job, job.recorded_path(), options);
  report.totals.emplace_back("steps", static_cast<std::int64_t>(job.chosen_steps()));
  report.totals.emplace_back("replayed_ns", job.sum_of_chosen(job.quality().replayed_ns));
  say_quality(report, job);
  return report;
}

/// What changes of ranks come to: a factor for each, of all that is not communication.
class RankFactors {
 public:
  explicit RankFactors(const JobPath& job) : job_(job), factors_(job.ranks(), 1) {
    for (std::size_t place = 0; place < job.ranks(); ++place) own_.push_back(job.own_ns(place));
  }

  Status add(const PathChange& change) {
    std::size_t place = 0;
    while (place < job_.ranks() && job_.rank(place) != change.rank()) ++place;
    if (place == job_.ranks()) {
      return {StatusCode::invalid_argument, "the job has no rank " + change.name};
    }
    if (!change.is_as_others) {
      factors_[place] *= change.factor;
      return {};
    }
    const std::int64_t others = median_of_others(place);
    const double factor = own_[place] > 0 ? share(others, own_[place]) : 1;
    factors_[place] *= factor;
    const auto thousandths = std::llround(factor * 1000);
    std::string digits = std::to_string(thousandths % 1000);
    digits.insert(0, 3 - digits.size(), '0');
    notes_.push_back("rank " + change.name + " needs " + report::duration_text(own_[place]) +
                     " of its own for a step, and the others " + report::duration_text(others) +
                     "; so its work takes " + std::to_string(thousandths / 1000) + "." + digits +
                     " times as long");
    return {};
  }

  const std::vector<double>& factors() const { return factors_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::int64_t median_of_others(std::size_t place) const {
    std::vector<std::int64_t> others = own_;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(place));
    std::ranges::sort(others);
    const std::size_t middle = others.size() / 2;
    if (others.size() % 2 == 1) return others[middle];
    return bounded((WideInteger{others[middle - 1]} + others[middle]) / 2);
  }

  const JobPath& job_;
  std::vector<std::int64_t> own_;  // by rank
  std::vector<double> factors_;
  std::vector<std::string> notes_;
};

std::int64_t gain_of(const JobPath& job, std::span<const std::int64_t> before,
                     std::span<const std::int64_t> after) {
  const WideInteger gain = WideInteger{job.wall_ns(before)} - job.wall_ns(after);
  return rounded(mean_of_sum(gain, job.chosen_steps()));
}

/// The changes of a job, with all that is to be said of them.
struct AskedChange {
  std::vector<PathChange> changes;
  JobChange made;
  std::vector<std::string> notes;
};

Result<AskedChange> asked_change(const JobPath& job, std::vector<PathChange> changes) {
  AskedChange asked;
  asked.changes = std::move(changes);
  std::vector<double> factors(job.ranks(), 1);
  if (std::ranges::find(asked.changes, ChangeKind::rank, &PathChange::kind) !=
      asked.changes.end()) {
    RankFactors of_ranks(job);
    for (const PathChange& change : asked.changes) {
      if (change.kind != ChangeKind::rank) continue;
      if (Status added = of_ranks.add(change); !added.ok()) return added;
    }
    factors = of_ranks.factors();
    asked.notes = of_ranks.notes();
  }
  Result<JobChange> made = job.change(asked.changes, factors, asked.notes);
  if (!made.ok()) return made.status();
  asked.made = *std::move(made);
  return asked;
}

std::string change_text(const std::vector<PathChange>& changes) {
  if (changes.size() != 1 || !changes.front().is_as_others) return "with this change";
  return "if rank " + changes.front().name + " were as fast as the others";
}

Result<AnalysisReport> whatif_report(const JobPath& job, std::span<const RankTrace> traces,
                                     std::vector<PathChange> changes, const OptionValues& options) {
  const Result<AskedChange> asked = asked_change(job, std::move(changes));
  if (!asked.ok()) return asked.status();
  const analyses::ReplayQuality& quality = job.quality();
  const std::size_t count = job.chosen_steps();
  const auto mean_of = [&](std::span<const std::int64_t> by_step) {
    return rounded(mean_of_sum(job.sum_of_chosen(by_step), count));
  };
  const analyses::StepMeans means = {mean_of(quality.recorded_ns), mean_of(quality.replayed_ns)};
  std::optional<analyses::Prediction> made;
  AnalysisReport report;
  if (quality.refusal.empty()) {
    const std::vector<std::int64_t> times = job.replayed(asked->made);
    made = prediction_of(quality, means, count, gain_of(job, job.replayed_unchanged(), times));
    const analyses::CriticalPath after = job.path_after(times, asked->made);
    report = rows_of(job, job.parts(after, asked->made), options);
    if (!asked->changes.empty() && job.is_loader_unclear()) {
      const JobPath rested(traces, options.steps(), true);
      const Result<AskedChange> other = asked_change(rested, asked->changes);
      if (!other.ok()) return other.status();
      const std::int64_t gain =
          gain_of(rested, rested.replayed_unchanged(), rested.replayed(other->made));
      cover(*made, prediction_of(quality, means, count, gain), report);
    }
    if (!asked->changes.empty()) {
      report.notes.push_back(
          prediction_sentence("a step of the job", change_text(asked->changes), means, *made));
    }
  } else {
    report = rows_of(job, {}, options);
  }
  analyses::add_prediction_totals(report, count, means, made);
  report.notes.insert(report.notes.end(), asked->notes.begin(), asked->notes.end());
  say_quality(report, job);
  return report;
}

}  // namespace

bool joins_ranks(const TableDescription& table) {
  return table.name == "whatif" || table.name == "critical_path";
}

std::string note_of_problem(const JoinedReport& joined) {
  return "each rank was replayed by itself, with its waits for other ranks as they were: " +
         joined.problem;
}

Result<JoinedReport> job_path_report(const TableDescription& table,
                                     std::span<const RankTrace> traces,
                                     const OptionValues& options) {
  const Result<OptionValues> complete = complete_options(table, options);
  if (!complete.ok()) return complete.status();
  Result<std::vector<PathChange>> changes = analyses::parse_changes(complete->texts("changes"));
  if (!changes.ok()) return changes.status();
  const bool is_whatif = table.name == "whatif";
  if (traces.size() < 2 || (is_whatif && changes->empty() && options.of_command_line)) {
    return JoinedReport();
  }
  const JobPath job(traces, complete->steps());
  if (!job.is_job()) return JoinedReport();
  if (const std::string& problem = job.problem(); !problem.empty()) {
    for (const PathChange& change : *changes) {
      if (change.kind != ChangeKind::rank) continue;
      return Status(
          StatusCode::invalid_argument,
          "what a change of rank " + change.name +
              " brings is not known, since the ranks cannot be replayed together: " + problem);
    }
    return JoinedReport{std::nullopt, problem};
  }
  Result<AnalysisReport> report = is_whatif
                                      ? whatif_report(job, traces, *std::move(changes), *complete)
                                      : Result<AnalysisReport>(path_report(job, *complete));
  if (!report.ok()) return report.status();
  report->schema = table.schema;
  return JoinedReport{*std::move(report), {}};
}

}  // namespace tbtrace
