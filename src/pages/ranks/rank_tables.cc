#include "pages/ranks/rank_tables.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tbtrace/tables.h>

#include "base/bounded_sum.h"
#include "base/time_ranges.h"
#include "report/optional_cell.h"

namespace tbtrace::pages {
namespace {

using report::optional_cell;
using report::text_cell;

constexpr std::string_view kRanksColumns = R"(
rank | integer | its number in the job
host | text or null | the machine, as the file names it
device | integer or null | the device that ran its first kernel
input | text or null | its trace
steps | integer | how many steps it has that another rank has as well; the times are means of these
duration_ns | number or null | of a step: from the end of its last collective to the end of the last one of the next step
own_ns | number or null | of the step without exposed communication: what the rank needs itself
excess_ns | number or null | by how much that is more than the middle one of the ranks that do the same work
compute_ns | number or null | a kernel computes; on the host an operator
wait_ns | number or null | nothing computes, and the rank waits for others in a collective
transfer_ns | number or null | nothing computes, and a collective transfers, or it is not known whether it waits
input_ns | number or null | the device copies from the host, or is idle while the host waits for its data loader
garbage_collection_ns | number or null | the device is idle while Python collects garbage
memory_ns | number or null | the device is idle while the host allocates or frees its memory, or waits for that
copy_ns | number or null | another copy
launch_ns | number or null | the device is idle, and what ends that was launched late
unknown_ns | number or null | idle for another reason, or nothing says why
overlapped_ns | number or null | collectives run and kernels compute at the same time; this is part of the computation
)";

constexpr std::string_view kWaitsColumns = R"(
rank | integer | its number in the job
collectives | integer | that it took part in and that were matched
wait_ns | integer | for other ranks, in all collectives
exposed_wait_ns | integer | the part in which it computed nothing
made_wait_ns | integer | others waited because this rank arrived last; the waits of all others added up
late_count | integer | how often it arrived last, as far as the clocks tell
bubble_ns | integer or null | in its steps: it waits in sends and receives, and computes nothing
)";

constexpr std::string_view kClocksColumns = R"(
rank | integer | its number in the job
reference | integer or null | the rank whose clock it is compared with
offset_ns | number or null | by how much its clock is ahead of the reference
error_ns | number or null | half of the 95 % interval of the offset
drift_ppm | number or null | by how much it runs faster, in millionths
drift_error_ppm | number or null | half of the 95 % interval of the drift
at_ns | integer or null | when the offset was so, on its own clock
collectives | integer | that were compared
)";

constexpr std::string_view kOperationsColumns = R"(
rank | integer | its number in the job
name | text | the operation
count | integer | how often the rank ran it
bytes | integer or null | the sum of their sizes; a size is the larger one of input and output
duration_ns | integer | of all, from its start to its end
wait_ns | integer or null | the part in which it waited for other ranks
transfer_ns | integer or null | the rest of those whose wait is known
exposed_ns | integer | the part in which the rank computed nothing
unmatched | integer | those that could not be compared with other ranks
)";

TableContent table_of(std::string_view name, std::string_view title, std::string_view columns) {
  TableContent content{.name = name, .title = title, .command = {}, .report = {}};
  content.columns = columns_in(columns);
  for (const ColumnDescription& column : content.columns) {
    content.report.table.columns.emplace_back(column.name);
  }
  content.report.shown = content.report.table.columns;
  content.is_of_job = true;
  return content;
}

void hide(TableContent& content, std::string_view column) {
  std::erase(content.report.shown, column);
}

/// Collectives and computing at once, in the steps of the job.
std::int64_t overlapped_ns(const RankRecord& record, const std::vector<const RankStep*>& steps) {
  std::vector<TimeRange> parts;
  for (const RankCollective& part : record.collectives)
    parts.push_back({part.start_ns, part.end_ns});
  std::ranges::sort(parts, {}, &TimeRange::start);
  std::vector<TimeRange> all;
  for (const TimeRange& part : parts) add_range(all, part);
  const RangeLengths lengths(all);
  WideInteger sum = 0;
  for (const RankStep* const step : steps) {
    const std::int64_t running = lengths.within({step->start_ns, step->end_ns});
    sum += std::max<std::int64_t>(0, running - step->ns(RankTime::communication));
  }
  return bounded(sum);
}

/// Means of sums, rounded so that they add up to the rounded mean of the whole.
std::vector<std::int64_t> means_of(const std::array<WideInteger, kStepParts>& sums,
                                   std::int64_t count) {
  std::vector<std::int64_t> means;
  WideInteger sum = 0;
  std::int64_t before = 0;
  for (const WideInteger part : sums) {
    sum += part;
    const std::int64_t until = bounded((2 * sum + count) / (WideInteger{2} * count));
    means.push_back(until - before);
    before = until;
  }
  return means;
}

}  // namespace

TableContent ranks_table(const JobAnalysis& job, const JobSteps& steps) {
  TableContent content = table_of("by_rank", "Steps by rank", kRanksColumns);
  hide(content, "input");
  hide(content, "device");
  content.empty = "no two ranks have steps in common that end in a collective";
  for (std::size_t rank = 0; rank < steps.ranks(); ++rank) {
    const JobRank& of_job = job.collectives.ranks[rank];
    std::array<WideInteger, kStepParts> sums = {};
    WideInteger excess = 0;
    std::int64_t compared = 0;
    std::vector<const RankStep*> own;
    for (std::size_t step = 0; step < steps.steps().size(); ++step) {
      if (steps.at(rank, step) == nullptr) continue;
      own.push_back(steps.at(rank, step));
      const std::array<std::int64_t, kStepParts> parts = steps.parts(rank, step);
      for (std::size_t part = 0; part < kStepParts; ++part) sums[part] += parts[part];
      if (const std::optional<std::int64_t> late = steps.excess_ns(rank, step)) {
        excess += *late;
        ++compared;
      }
    }
    std::vector<Cell> row = {of_job.rank, text_cell(of_job.record.host),
                             optional_cell(of_job.record.device), text_cell(of_job.record.path),
                             static_cast<std::uint64_t>(own.size())};
    if (own.empty()) {
      row.resize(content.report.table.columns.size());
      content.report.table.rows.push_back(std::move(row));
      continue;
    }
    const std::vector<std::int64_t> means = means_of(sums, std::ssize(own));
    std::int64_t duration = 0;
    for (const std::int64_t mean : means) duration += mean;
    const auto mean_of = [&](StepPart part) { return means[static_cast<std::size_t>(part)]; };
    row.emplace_back(duration);
    row.emplace_back(duration - mean_of(StepPart::wait) - mean_of(StepPart::transfer));
    row.push_back(compared > 0 ? Cell(bounded(excess / compared)) : Cell());
    row.insert(row.end(), means.begin(), means.end());
    row.emplace_back(overlapped_ns(of_job.record, own) / std::ssize(own));
    content.report.table.rows.push_back(std::move(row));
  }
  // Parts that no rank has are there on demand.
  const Table& table = content.report.table;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const bool is_part = table.columns[column].ends_with("_ns");
    const bool is_empty = std::ranges::all_of(table.rows, [&](const std::vector<Cell>& row) {
      const auto* const value = std::get_if<std::int64_t>(&row[column]);
      return value == nullptr || *value == 0;
    });
    if (is_part && is_empty) hide(content, table.columns[column]);
  }
  return content;
}

TableContent waits_table(const JobAnalysis& job, const WaitMatrix& waits) {
  TableContent content = table_of("waits", "Waits by rank", kWaitsColumns);
  for (std::size_t rank = 0; rank < job.waits.size(); ++rank) {
    const RankWaits& one = job.waits[rank];
    content.report.table.rows.push_back({one.rank, one.collectives, one.wait_ns,
                                         one.exposed_wait_ns, waits.made_wait_ns[rank],
                                         one.late_count, optional_cell(one.bubble_ns)});
  }
  const bool is_pipeline = std::ranges::any_of(
      job.waits, [](const RankWaits& one) { return one.bubble_ns.has_value(); });
  if (!is_pipeline) hide(content, "bubble_ns");
  return content;
}

TableContent clocks_table(const JobAnalysis& job) {
  TableContent content = table_of("clocks", "Clocks", kClocksColumns);
  hide(content, "at_ns");
  for (const RankClock& clock : job.clocks) {
    const auto cell = [&](double value) { return clock.is_known ? Cell(value) : Cell(); };
    content.report.table.rows.push_back(
        {clock.rank, clock.is_known ? Cell(clock.reference) : Cell(), cell(clock.offset_ns),
         cell(clock.error_ns), cell(clock.drift_ppm), cell(clock.drift_error_ppm),
         clock.is_known ? Cell(clock.middle_ns) : Cell(), clock.collectives});
  }
  return content;
}

TableContent operations_table(const JobAnalysis& job) {
  struct Sum {
    std::uint64_t count = 0;
    std::uint64_t unmatched = 0;
    bool has_bytes = false;
    WideInteger bytes = 0;
    WideInteger duration = 0;
    bool has_wait = false;
    WideInteger wait = 0;
    WideInteger transfer = 0;
    WideInteger exposed = 0;
  };
  const std::vector<JobRank>& ranks = job.collectives.ranks;
  std::vector<std::map<std::string_view, Sum>> sums(ranks.size());
  const auto sum_of = [&](std::size_t rank, const RankCollective& part) -> Sum& {
    return sums[rank][ranks[rank].record.texts[part.name]];
  };
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankRecord& record = ranks[rank].record;
    for (const RankCollective& part : record.collectives) {
      Sum& sum = sum_of(rank, part);
      ++sum.count;
      ++sum.unmatched;
      sum.has_bytes = sum.has_bytes || part.bytes;
      sum.bytes += part.bytes.value_or(0);
      sum.duration += WideInteger{part.end_ns} - part.start_ns;
      for (std::size_t range = part.first_exposed; range < part.first_exposed + part.exposed_ranges;
           ++range) {
        sum.exposed += record.exposed[range].end_ns - record.exposed[range].start_ns;
      }
    }
  }
  for (std::size_t number = 0; number < job.times.size(); ++number) {
    const std::vector<CollectiveMember>& members = job.collectives.collectives[number].members;
    for (std::size_t at = 0; at < members.size(); ++at) {
      const RankCollective& part = job.collectives.part(members[at]);
      Sum& sum = sum_of(members[at].rank, part);
      --sum.unmatched;
      if (job.times[number].wait_ns.empty()) continue;
      sum.has_wait = true;
      sum.wait += job.times[number].wait_ns[at];
      sum.transfer += WideInteger{part.end_ns} - part.start_ns - job.times[number].wait_ns[at];
    }
  }
  TableContent content = table_of("operations", "Operations by rank", kOperationsColumns);
  content.empty = "no rank has a collective";
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const auto& [name, sum] : sums[rank]) {
      content.report.table.rows.push_back({ranks[rank].rank, std::string(name), sum.count,
                                           sum.has_bytes ? Cell(bounded(sum.bytes)) : Cell(),
                                           bounded(sum.duration),
                                           sum.has_wait ? Cell(bounded(sum.wait)) : Cell(),
                                           sum.has_wait ? Cell(bounded(sum.transfer)) : Cell(),
                                           bounded(sum.exposed), sum.unmatched});
    }
  }
  return content;
}

}  // namespace tbtrace::pages
