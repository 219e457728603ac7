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
#include "report/typed_columns.h"
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
    emit_number(json, "bubble_share", waits.bubble_share().has_value(),
                waits.bubble_share().value_or(0));
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
  if (std::string bubbles = bubble_text(job.waits); !bubbles.empty()) {
    report.notes.push_back(std::move(bubbles));
  }
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

namespace {

/// Of a value that only known clocks have.
template <auto kMember>
auto if_known(const RankClock& clock) {
  return clock.is_known ? std::optional(clock.*kMember) : std::nullopt;
}

struct RankRow : RankWaits {
  RankClock clock;
};

template <auto kMember>
auto of_known_clock(const RankRow& row) {
  return if_known<kMember>(row.clock);
}

using RankColumn = report::TypedColumn<RankRow>;
constexpr RankColumn kRankColumns[] = {
    RankColumn::of<&RankWaits::rank>("rank", {}, 1),
    RankColumn::of<&RankWaits::collectives>("collectives", {}, 2),
    RankColumn::of<&RankWaits::wait_ns>("wait_ns", {}, 3),
    RankColumn::of<&RankWaits::exposed_wait_ns>("exposed_wait_ns", {}, 4),
    RankColumn::of<&RankWaits::late_count>("late_count", {}, 5),
    RankColumn::of<&RankWaits::bubble_ns>("bubble_ns", {}, 6),
    RankColumn::of<[](const RankRow& row) { return row.bubble_share(); }>("bubble_share", {}, 7),
    RankColumn::of<of_known_clock<&RankClock::offset_ns>>("clock_offset_ns", {}, 8),
    RankColumn::of<of_known_clock<&RankClock::error_ns>>("clock_error_ns", {}, 9),
    RankColumn::of<of_known_clock<&RankClock::drift_ppm>>("clock_drift_ppm", {}, 10),
    RankColumn::of<of_known_clock<&RankClock::drift_error_ppm>>("clock_drift_error_ppm", {}, 11),
    RankColumn::of<of_known_clock<&RankClock::reference>>("clock_reference", {}, 12),
};

using ClockColumn = report::TypedColumn<RankClock>;
constexpr ClockColumn kClockColumns[] = {
    ClockColumn::of<&RankClock::rank>("rank", "whose clock it is", 1),
    ClockColumn::of<if_known<&RankClock::reference>>(
        "reference", "the rank that it is compared with, itself for the first", 2),
    ClockColumn::of<if_known<&RankClock::middle_ns>>("at_ns", "when, on its own clock", 3),
    ClockColumn::of<if_known<&RankClock::offset_ns>>("offset_ns", "positive: ahead", 4),
    ClockColumn::of<if_known<&RankClock::error_ns>>("error_ns", "half of the 95 % interval", 5),
    ClockColumn::of<if_known<&RankClock::drift_ppm>>("drift_ppm", "positive: faster", 6),
    ClockColumn::of<if_known<&RankClock::drift_error_ppm>>("drift_error_ppm",
                                                           "half of the 95 % interval", 7),
    ClockColumn::of<&RankClock::collectives>("collectives", "that were compared", 8),
};

Json steps_of(const Straggler& straggler) {
  Json steps;
  wire::JsonEmitter json(steps.text);
  json.begin_array();
  for (const std::int64_t step : straggler.steps) json.integer(step);
  json.end_array();
  return steps;
}

std::string_view cause_of(const Straggler& straggler) {
  return straggler_cause_name(straggler.cause);
}

using StragglerColumn = report::TypedColumn<Straggler>;
constexpr StragglerColumn kStragglerColumns[] = {
    StragglerColumn::of<&Straggler::rank>("rank", "that holds up the job", 1),
    StragglerColumn::of<cause_of>("cause", "as in the member `stragglers` of collectives", 2),
    StragglerColumn::of<&Straggler::excess_per_step_ns>(
        "excess_per_step_ns", "by how much a step is longer because of it", 3),
    StragglerColumn::of<&Straggler::cause_ns>("cause_ns", "the part that the cause explains", 4),
    StragglerColumn::of<&Straggler::share>("share", "of the median step", 5),
    StragglerColumn::of<steps_of>("steps", "the numbers of those in which it was late", 6),
    StragglerColumn::of<&Straggler::peer>("peer", "the other end of a slow link", 7),
};

}  // namespace

const TableDescription& analyses::clocks_table() {
  static const TableDescription kTable = {.name = "clocks",
                                          .schema = "tbtrace.clocks/1",
                                          .summary = "how the clocks of a job's ranks differ",
                                          .about = {},
                                          .columns = report::described(kClockColumns)};
  return kTable;
}

const TableDescription& analyses::stragglers_table() {
  static const TableDescription kTable = {.name = "stragglers",
                                          .schema = "tbtrace.stragglers/1",
                                          .summary = "the ranks that hold up a job",
                                          .about = {},
                                          .columns = report::described(kStragglerColumns)};
  return kTable;
}

AnalysisReport job_ranks_report(const JobAnalysis& job) {
  std::vector<RankRow> rows;
  for (std::size_t rank = 0; rank < job.waits.size(); ++rank) {
    rows.push_back({job.waits[rank], job.clocks[rank]});
  }
  AnalysisReport report;
  report.schema = analyses::collectives_table().schema;
  report::set_rows(report, kRankColumns, rows);
  const bool is_pipeline =
      std::ranges::any_of(rows, [](const RankRow& row) { return row.bubble_ns.has_value(); });
  if (!is_pipeline) {
    std::erase_if(report.shown,
                  [](const std::string& name) { return name.starts_with("bubble_"); });
  }
  return report;
}

AnalysisReport clocks_report(const JobAnalysis& job) {
  AnalysisReport report;
  report.schema = analyses::clocks_table().schema;
  report::set_rows(report, kClockColumns, job.clocks);
  add_sample_notes(report, job.collectives);
  return report;
}

AnalysisReport stragglers_report(const JobAnalysis& job) {
  AnalysisReport report;
  report.schema = analyses::stragglers_table().schema;
  report::set_rows(report, kStragglerColumns, job.stragglers.stragglers);
  add_sample_notes(report, job.collectives);
  for (std::string& line : straggler_lines(job.stragglers)) report.notes.push_back(std::move(line));
  return report;
}

}  // namespace tbtrace
