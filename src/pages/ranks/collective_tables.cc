#include "pages/ranks/collective_tables.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tbtrace/tables.h>

#include "base/bounded_sum.h"
#include "report/optional_cell.h"

namespace tbtrace::pages {
namespace {

constexpr std::string_view kColumns = R"(
name | text | the operation
group | text or null | the process group's name and ranks, as far as they were recorded
ranks | integer | how many ranks were compared
bytes | integer or null | the larger one of input and output, as in nccl-tests
count | integer | how many such collectives were matched
exposed_ns | integer | in which ranks computed nothing, of all ranks and collectives
wait_ns | integer or null | how long ranks waited for the last one, of all ranks and collectives
wait_max_ns | integer or null | how long the first rank waited for the last one at most
transfer_median_ns | integer or null | from the arrival of the last rank to the end
bus_bandwidth_median_bytes_per_s | number or null | the size by the transfer, times 2(n-1)/n for an all-reduce, (n-1)/n for all_gather, reduce_scatter and all_to_all
bus_bandwidth_lowest_bytes_per_s | number or null | the slowest of them
bus_bandwidth_highest_bytes_per_s | number or null | the fastest of them
last_rank | integer or null | who arrived last most often, as far as the clocks tell
last_rank_count | integer or null | how often it did
)";

/// What collectives have in common. Groups are told apart by what is shown of them.
using Kind = std::tuple<std::string_view, std::string, std::optional<std::int64_t>, std::size_t>;

struct Sum {
  std::uint64_t count = 0;
  WideInteger exposed = 0;
  std::optional<WideInteger> wait;
  std::optional<std::int64_t> wait_max;
  std::vector<std::int64_t> transfers;
  std::vector<double> bandwidths;
  std::map<std::int64_t, std::uint64_t> last;  // by rank
};

/// The lower one of two; the list is not empty.
template <typename Value>
Value middle_of(std::vector<Value>& values) {
  const auto middle = values.begin() + (std::ssize(values) - 1) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::map<Kind, Sum> sums_of(const JobAnalysis& job) {
  std::map<Kind, Sum> sums;
  for (std::size_t number = 0; number < job.times.size(); ++number) {
    const MatchedCollective& one = job.collectives.collectives[number];
    const CollectiveTimes& times = job.times[number];
    const RankCollective& part = job.collectives.part(one.members.front());
    const RankRecord& record = job.collectives.ranks[one.members.front().rank].record;
    Sum& sum = sums[{job.collectives.name(one), group_text(record.groups[part.group]), part.bytes,
                     one.members.size()}];
    ++sum.count;
    for (const CollectiveMember& member : one.members) {
      const RankCollective& own = job.collectives.part(member);
      const RankRecord& of_rank = job.collectives.ranks[member.rank].record;
      for (std::size_t at = own.first_exposed; at < own.first_exposed + own.exposed_ranges; ++at) {
        sum.exposed += of_rank.exposed[at].end_ns - of_rank.exposed[at].start_ns;
      }
    }
    for (const std::int64_t wait : times.wait_ns) sum.wait = sum.wait.value_or(0) + wait;
    if (times.wait_max_ns) {
      sum.wait_max = std::max(sum.wait_max.value_or(0), *times.wait_max_ns);
    }
    if (times.transfer_ns) sum.transfers.push_back(*times.transfer_ns);
    if (times.bus_bandwidth_bytes_per_s) {
      sum.bandwidths.push_back(*times.bus_bandwidth_bytes_per_s);
    }
    if (times.last_rank) ++sum.last[*times.last_rank];
  }
  return sums;
}

std::vector<Cell> row_of(const Kind& kind, Sum& sum) {
  const auto& [name, group, bytes, ranks] = kind;
  std::vector<Cell> row = {std::string(name),
                           report::text_cell(group),
                           static_cast<std::uint64_t>(ranks),
                           report::optional_cell(bytes),
                           sum.count,
                           bounded(sum.exposed),
                           sum.wait ? Cell(bounded(*sum.wait)) : Cell(),
                           report::optional_cell(sum.wait_max),
                           sum.transfers.empty() ? Cell() : Cell(middle_of(sum.transfers))};
  if (sum.bandwidths.empty()) {
    row.resize(row.size() + 3);
  } else {
    row.emplace_back(middle_of(sum.bandwidths));
    row.emplace_back(std::ranges::min(sum.bandwidths));
    row.emplace_back(std::ranges::max(sum.bandwidths));
  }
  const auto last =
      std::ranges::max_element(sum.last, {}, [](const auto& of) { return of.second; });
  if (last == sum.last.end()) {
    row.resize(row.size() + 2);
  } else {
    row.emplace_back(last->first);
    row.emplace_back(last->second);
  }
  return row;
}

}  // namespace

TableContent collectives_by_size(const JobAnalysis& job) {
  TableContent content{.name = "collectives",
                       .title = "Collectives by operation, group and size",
                       .command = {},
                       .report = {},
                       .sort_by = "exposed_ns",
                       .columns = columns_in(kColumns),
                       .empty = "no collective of one rank could be matched with that of another"};
  AnalysisReport& report = content.report;
  for (const ColumnDescription& column : content.columns) {
    report.table.columns.emplace_back(column.name);
  }
  report.shown = {"name",
                  "group",
                  "bytes",
                  "count",
                  "exposed_ns",
                  "wait_ns",
                  "transfer_median_ns",
                  "bus_bandwidth_median_bytes_per_s",
                  "last_rank"};
  WideInteger exposed = 0;
  WideInteger wait = 0;
  std::map<Kind, Sum> sums = sums_of(job);
  for (auto& [kind, sum] : sums) {
    exposed += sum.exposed;
    wait += sum.wait.value_or(0);
    report.table.rows.push_back(row_of(kind, sum));
  }
  constexpr std::size_t kExposed = 5;
  std::ranges::stable_sort(
      report.table.rows, std::ranges::greater(),
      [](const std::vector<Cell>& row) { return std::get<std::int64_t>(row[kExposed]); });
  report.totals = {{"count", static_cast<std::uint64_t>(job.times.size())},
                   {"exposed_ns", bounded(exposed)},
                   {"wait_ns", bounded(wait)}};
  content.is_of_job = true;
  return content;
}

}  // namespace tbtrace::pages
