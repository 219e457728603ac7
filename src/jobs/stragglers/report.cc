// A job as the rows of `tbtrace.collectives/1`, and its tables for Python.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include <tbtrace/job_analysis.h>
#include <tbtrace/tables.h>

#include "base/bounded_sum.h"
#include "jobs/stragglers/step_figures.h"
#include "report/optional_cell.h"
#include "report/table_list.h"
#include "wire/json_emitter.h"

namespace tbtrace {
namespace {

using report::optional_cell;
using report::text_cell;

std::int64_t first_start(const JobAnalysis& job) {
  std::int64_t first = 0;
  for (std::size_t at = 0; at < job.times.size(); ++at) {
    first = at == 0 ? job.times[at].start_ns : std::min(first, job.times[at].start_ns);
  }
  return first;
}

std::vector<Cell> row_of(const JobAnalysis& job, std::size_t number, std::int64_t start_ns) {
  const MatchedCollective& one = job.collectives.collectives[number];
  const CollectiveTimes& times = job.times[number];
  const RankCollective& part = job.collectives.part(one.members.front());
  const RankRecord& record = job.collectives.ranks[one.members.front().rank].record;
  return {std::string(job.collectives.name(one)),
          text_cell(group_text(record.groups[part.group])),
          optional_cell(part.sequence),
          optional_cell(part.step),
          optional_cell(part.bytes),
          text_cell(record.texts[part.type]),
          static_cast<std::uint64_t>(one.members.size()),
          std::string(matched_by_name(one.by)),
          times.start_ns - start_ns,
          times.duration_ns,
          optional_cell(times.wait_max_ns),
          optional_cell(times.transfer_ns),
          times.exposed_ns,
          optional_cell(times.algorithm_bandwidth_bytes_per_s),
          optional_cell(times.bus_bandwidth_bytes_per_s),
          optional_cell(times.last_rank)};
}

void emit_number(wire::JsonEmitter& json, std::string_view name, bool is_known, double value) {
  json.key(name);
  if (is_known) {
    json.number(value);
  } else {
    json.null();
  }
}

/// Of the rank's steps.
std::optional<double> bubble_share(const RankWaits& waits) {
  if (!waits.bubble_ns || waits.steps_ns <= 0) return std::nullopt;
  return static_cast<double>(*waits.bubble_ns) / static_cast<double>(waits.steps_ns);
}

/// `bubbles of the pipeline: ...`; nothing if no rank has any that are known.
void add_bubble_note(AnalysisReport& report, const JobAnalysis& job) {
  const RankWaits* least = nullptr;
  const RankWaits* most = nullptr;
  std::int64_t bubbles = 0;
  std::int64_t steps = 0;
  for (const RankWaits& waits : job.waits) {
    const std::optional<double> share = bubble_share(waits);
    if (!share) continue;
    add_bounded(bubbles, *waits.bubble_ns);
    add_bounded(steps, waits.steps_ns);
    if (least == nullptr || *share < *bubble_share(*least)) least = &waits;
    if (most == nullptr || *share > *bubble_share(*most)) most = &waits;
  }
  if (most == nullptr || bubbles == 0) return;
  const auto percent = [](std::int64_t part, std::int64_t whole) {
    const auto tenths = std::llround(1000 * static_cast<double>(part) / static_cast<double>(whole));
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
  };
  const auto of_rank = [&](const RankWaits& waits) {
    return percent(*waits.bubble_ns, waits.steps_ns) + " (rank " + std::to_string(waits.rank) + ")";
  };
  report.notes.push_back(
      "bubbles of the pipeline: ranks wait in sends and receives and compute nothing for " +
      percent(bubbles, steps) + " of their steps, from " + of_rank(*least) + " to " +
      of_rank(*most));
}

std::string ranks_json(const JobAnalysis& job) {
  std::string text;
  wire::JsonEmitter json(text);
  json.begin_array();
  for (std::size_t rank = 0; rank < job.waits.size(); ++rank) {
    const RankWaits& waits = job.waits[rank];
    const RankClock& clock = job.clocks[rank];
    json.begin_object();
    json.key("rank");
    json.integer(waits.rank);
    json.key("collectives");
    json.integer(waits.collectives);
    json.key("wait_ns");
    json.integer(waits.wait_ns);
    json.key("exposed_wait_ns");
    json.integer(waits.exposed_wait_ns);
    json.key("late_count");
    json.integer(waits.late_count);
    json.key("bubble_ns");
    if (waits.bubble_ns) {
      json.integer(*waits.bubble_ns);
    } else {
      json.null();
    }
    emit_number(json, "bubble_share", bubble_share(waits).has_value(),
                bubble_share(waits).value_or(0));
    json.key("clock_reference");
    if (clock.is_known) {
      json.integer(clock.reference);
    } else {
      json.null();
    }
    json.key("clock_at_ns");
    if (clock.is_known) {
      json.integer(clock.middle_ns);
    } else {
      json.null();
    }
    emit_number(json, "clock_offset_ns", clock.is_known, clock.offset_ns);
    emit_number(json, "clock_drift_ppm", clock.is_known, clock.drift_ppm);
    emit_number(json, "clock_error_ns", clock.is_known, clock.error_ns);
    emit_number(json, "clock_drift_error_ppm", clock.is_known, clock.drift_error_ppm);
    json.end_object();
  }
  json.end_array();
  return text;
}

std::string unmatched_json(const JobCollectives& job) {
  std::string text;
  wire::JsonEmitter json(text);
  json.begin_object();
  for (std::size_t reason = 0; reason < kUnmatchedReasons; ++reason) {
    if (job.unmatched[reason] == 0) continue;
    json.key(unmatched_reason_name(static_cast<UnmatchedReason>(reason)));
    json.integer(job.unmatched[reason]);
  }
  json.end_object();
  return text;
}

/// How many of the collectives the records have, if some are left out.
Cell sampled_cell(const JobCollectives& job) {
  Json text;
  if (job.left_out == 0) return {};
  wire::JsonEmitter json(text.text);
  json.begin_object();
  json.key("collectives");
  json.integer(job.recorded - job.left_out);
  json.key("recorded");
  json.integer(job.recorded);
  json.end_object();
  return text;
}

std::uint64_t left_out_kernels(const JobCollectives& job) {
  std::uint64_t kernels = 0;
  for (const JobRank& rank : job.ranks) {
    for (const RankRecording& recording : rank.record.recordings) {
      kernels += recording.left_out_kernels;
    }
  }
  return kernels;
}

void add_sample_notes(AnalysisReport& report, const JobCollectives& job) {
  if (job.left_out > 0) {
    report.notes.push_back(
        std::to_string(job.recorded - job.left_out) + " of " + std::to_string(job.recorded) +
        " collectives of the ranks are in these partials, the same ones on all ranks: rows, waits, "
        "unmatched records and clocks are of these; steps, and what they say of ranks that hold up "
        "the job, are of all, except that slow networks are estimated. The traces have the rest");
  }
  const std::uint64_t kernels = left_out_kernels(job);
  if (kernels > 0 && job.ranks.size() > 1 && jobs::has_messages(job)) {
    report.notes.push_back("the partials have the kernels of each rank that took longest; " +
                           std::to_string(kernels) +
                           " others are not compared between stages of a pipeline");
  }
}

void add_notes(AnalysisReport& report, const JobAnalysis& job) {
  add_sample_notes(report, job.collectives);
  for (std::size_t reason = 0; reason < kUnmatchedReasons; ++reason) {
    const std::uint64_t count = job.collectives.unmatched[reason];
    if (count == 0) continue;
    std::string note = "unmatched: " + std::to_string(count);
    note += count == 1 ? " record: " : " records: ";
    note += unmatched_reason_text(static_cast<UnmatchedReason>(reason));
    report.notes.push_back(std::move(note));
  }
  for (const std::string& note : job.collectives.notes) report.notes.push_back(note);
  add_bubble_note(report, job);
  for (std::string& line : straggler_lines(job.stragglers)) report.notes.push_back(std::move(line));
}

}  // namespace

AnalysisReport collectives_report(const JobAnalysis& job) {
  const TableDescription& table = analyses::collectives_table();
  AnalysisReport report;
  report.schema = table.schema;
  report.table.columns = table.column_names();
  const std::int64_t start = first_start(job);
  for (std::size_t number = 0; number < job.times.size(); ++number) {
    report.table.rows.push_back(row_of(job, number, start));
  }
  std::ranges::stable_sort(report.table.rows, {}, [&](const std::vector<Cell>& row) {
    constexpr std::size_t kStart = 8;
    return std::get<std::int64_t>(row[kStart]);
  });
  report.shown = {"name",       "step",        "bytes",
                  "ranks",      "start_ns",    "wait_max_ns",
                  "last_rank",  "transfer_ns", "bus_bandwidth_bytes_per_s",
                  "exposed_ns", "group"};
  report.totals = {{"collectives", static_cast<std::uint64_t>(job.times.size())},
                   {"unmatched", job.collectives.unmatched_total()}};
  report.facts = {{"by_rank", Json{ranks_json(job)}},
                  {"unmatched_by_reason", Json{unmatched_json(job.collectives)}},
                  {"stragglers", Json{stragglers_json(job.stragglers.stragglers)}},
                  {"sampled", sampled_cell(job.collectives)},
                  {"compared_steps", static_cast<std::uint64_t>(job.stragglers.compared_steps)},
                  {"why_not_compared", text_cell(job.stragglers.why_not_compared)}};
  add_notes(report, job);
  return report;
}

AnalysisReport job_ranks_report(const JobAnalysis& job) {
  AnalysisReport report;
  report.schema = analyses::collectives_table().schema;
  report.table.columns = {"rank",
                          "collectives",
                          "wait_ns",
                          "exposed_wait_ns",
                          "late_count",
                          "bubble_ns",
                          "bubble_share",
                          "clock_offset_ns",
                          "clock_error_ns",
                          "clock_drift_ppm",
                          "clock_drift_error_ppm",
                          "clock_reference"};
  const bool is_pipeline = std::ranges::any_of(
      job.waits, [](const RankWaits& waits) { return waits.bubble_ns.has_value(); });
  std::ranges::copy_if(report.table.columns, std::back_inserter(report.shown),
                       [&](const std::string& column) {
                         return is_pipeline || (column != "bubble_ns" && column != "bubble_share");
                       });
  for (std::size_t rank = 0; rank < job.waits.size(); ++rank) {
    const RankWaits& waits = job.waits[rank];
    const RankClock& clock = job.clocks[rank];
    const auto cell = [&](double value) { return clock.is_known ? Cell(value) : Cell(); };
    report.table.rows.push_back(
        {waits.rank, waits.collectives, waits.wait_ns, waits.exposed_wait_ns, waits.late_count,
         optional_cell(waits.bubble_ns), optional_cell(bubble_share(waits)), cell(clock.offset_ns),
         cell(clock.error_ns), cell(clock.drift_ppm), cell(clock.drift_error_ppm),
         clock.is_known ? Cell(clock.reference) : Cell()});
  }
  return report;
}

AnalysisReport clocks_report(const JobAnalysis& job) {
  AnalysisReport report;
  report.schema = "tbtrace.clocks/1";
  report.table.columns = {"rank",     "reference", "at_ns",           "offset_ns",
                          "error_ns", "drift_ppm", "drift_error_ppm", "collectives"};
  report.shown = report.table.columns;
  for (const RankClock& clock : job.clocks) {
    const bool is_known = clock.is_known;
    const auto cell = [&](double value) { return is_known ? Cell(value) : Cell(); };
    report.table.rows.push_back({clock.rank, is_known ? Cell(clock.reference) : Cell(),
                                 is_known ? Cell(clock.middle_ns) : Cell(), cell(clock.offset_ns),
                                 cell(clock.error_ns), cell(clock.drift_ppm),
                                 cell(clock.drift_error_ppm), clock.collectives});
  }
  add_sample_notes(report, job.collectives);
  return report;
}

AnalysisReport stragglers_report(const JobAnalysis& job) {
  AnalysisReport report;
  report.schema = "tbtrace.stragglers/1";
  report.table.columns = {"rank",  "cause", "excess_per_step_ns", "cause_ns", "share",
                          "steps", "peer"};
  report.shown = report.table.columns;
  for (const Straggler& one : job.stragglers.stragglers) {
    std::string steps;
    wire::JsonEmitter json(steps);
    json.begin_array();
    for (const std::int64_t step : one.steps) json.integer(step);
    json.end_array();
    report.table.rows.push_back({one.rank, std::string(straggler_cause_name(one.cause)),
                                 one.excess_per_step_ns, one.cause_ns, one.share, Json{steps},
                                 optional_cell(one.peer)});
  }
  add_sample_notes(report, job.collectives);
  for (std::string& line : straggler_lines(job.stragglers)) report.notes.push_back(std::move(line));
  return report;
}

}  // namespace tbtrace
