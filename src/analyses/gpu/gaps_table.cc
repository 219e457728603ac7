// The table `gaps`: the times in which a device ran nothing.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/tables.h>

#include "analyses/attribution/work_times.h"
#include "analyses/gpu/activities.h"
#include "analyses/gpu/gaps.h"
#include "analyses/gpu/host_ranges.h"
#include "analyses/gpu/idle_account.h"
#include "analyses/gpu/report.h"
#include "analyses/steps/rules.h"
#include "analyses/steps/windows.h"
#include "base/bounded_sum.h"
#include "base/share.h"
#include "report/optional_cell.h"
#include "report/source_report.h"
#include "report/table_list.h"
#include "trace/links.h"
#include "trace/times.h"

namespace tbtrace {
namespace {

using analyses::DeviceActivities;
using analyses::DeviceGap;
using analyses::GapCause;
using analyses::HostTime;
using analyses::IdleAccount;

/// The steps as the table `steps` has them.
class StepTimes {
 public:
  StepTimes(const Trace& trace, const analyses::StepRules& rules) {
    if (trace.steps().empty()) return;
    for (const analyses::StepWindow& step :
         analyses::step_windows(trace, rules, links_of(trace).placed_work(),
                                analyses::StepChoice::all_recorded)
             .steps) {
      steps_.push_back({step.time, step.step.number});
    }
    std::ranges::stable_sort(steps_, {}, [](const Window& step) { return step.time.start; });
    std::int64_t end = INT64_MIN;
    for (Window& step : steps_) step.last_end = end = std::max(end, step.time.end);
  }

  /// The number of the step that began last among those open at a time.
  std::optional<std::int64_t> at(std::int64_t time) const {
    auto step = std::partition_point(steps_.begin(), steps_.end(),
                                     [&](const Window& each) { return each.time.start <= time; });
    while (step != steps_.begin() && (step - 1)->last_end > time) {
      --step;
      if (step->time.end > time) return step->number;
    }
    return std::nullopt;
  }

 private:
  struct Window {
    TimeRange time;
    std::int64_t number = 0;
    std::int64_t last_end = 0;  // of this step and those before
  };
  std::vector<Window> steps_;  // by start
};

std::string_view cause_name(GapCause cause) {
  switch (cause) {
    case GapCause::host_wait:
      return "host_wait";
    case GapCause::kernel_wait:
      return "kernel_wait";
    case GapCause::other:
      break;
  }
  return "other";
}

/// The parts of a gap, in ns, by cause.
using IdleTimes = std::array<std::int64_t, kIdleCauses>;

class GapRows {
 public:
  /// Of the rows, the longest are made: at most so many.
  GapRows(const Trace& trace, std::int64_t kernel_wait_limit_ns, std::size_t most)
      : trace_(trace),
        rules_(trace, analyses::exact_step_policy()),
        steps_(trace, rules_),
        kernel_wait_limit_ns_(kernel_wait_limit_ns),
        most_(most) {}

  void add(const std::vector<DeviceActivities>& devices) {
    const std::vector<IdleAccount> accounts = analyses::idle_accounts(trace_, rules_, devices);
    std::vector<std::vector<DeviceGap>> gaps;
    gaps.reserve(devices.size());
    for (const DeviceActivities& device : devices) {
      gaps.push_back(analyses::device_gaps(trace_,
                                           device.window.inside(trace_.events(), device.activities),
                                           device.window.time, kernel_wait_limit_ns_));
    }
    find_shortest(gaps);
    for (std::size_t at = 0; at < devices.size(); ++at) add(devices[at], accounts[at], gaps[at]);
  }

  /// How many gaps, their length, and the parts of it, which add up to it.
  AnalysisReport::Totals totals() const;

  /// How many have no row.
  std::size_t left_out() const { return gaps_ - rows_.size(); }

  /// The longest first.
  std::vector<std::vector<Cell>> run() && {
    constexpr std::size_t kDuration = 3;  // its column
    std::ranges::stable_sort(rows_, std::ranges::greater(), [](const std::vector<Cell>& row) {
      return std::get<std::int64_t>(row[kDuration]);
    });
    return std::move(rows_);
  }

 private:
  static std::int64_t length_of(const DeviceGap& gap) { return gap.time.end - gap.time.start; }

  /// Which gaps get a row.
  void find_shortest(const std::vector<std::vector<DeviceGap>>& gaps) {
    std::vector<std::int64_t> lengths;
    for (const std::vector<DeviceGap>& of_device : gaps) {
      std::ranges::transform(of_device, std::back_inserter(lengths), length_of);
    }
    gaps_ = lengths.size();
    if (gaps_ <= most_ || most_ == 0) return;
    const auto last = lengths.begin() + static_cast<std::ptrdiff_t>(most_ - 1);
    std::ranges::nth_element(lengths, last, std::ranges::greater());
    shortest_ = *last;
    equal_ = static_cast<std::size_t>(std::count(lengths.begin(), last + 1, shortest_));
  }

  bool has_row(const DeviceGap& gap) {
    if (length_of(gap) != shortest_) return length_of(gap) > shortest_;
    if (equal_ == 0) return false;
    --equal_;
    return true;
  }

  /// Adds the gaps of a device, by start.
  void add(const DeviceActivities& device, const IdleAccount& account,
           const std::vector<DeviceGap>& gaps) {
    WideInteger idle = 0;
    for (const DeviceGap& gap : gaps) idle += length_of(gap);
    const std::vector<HostTime> hosts = host_times_of(gaps);
    for (std::size_t gap = 0, host = 0; gap < gaps.size(); ++gap) {
      const bool is_launched = gaps[gap].ended_by.launch != EventId::none;
      const HostTime* const its_host = is_launched ? &hosts[host++] : nullptr;
      const IdleTimes times = times_in(account, gaps[gap].time);
      if (has_row(gaps[gap])) {
        rows_.push_back(row(device.device, bounded(idle), gaps[gap], times, its_host));
      }
      for (std::size_t cause = 0; cause < kIdleCauses; ++cause) sums_[cause] += times[cause];
    }
  }

  /// One for each gap whose launch is known.
  std::vector<HostTime> host_times_of(const std::vector<DeviceGap>& gaps) const {
    std::vector<analyses::ThreadTime> times;
    for (const DeviceGap& gap : gaps) {
      if (gap.ended_by.launch == EventId::none) continue;
      times.push_back({trace_.events().track(gap.ended_by.launch), gap.time});
    }
    return analyses::host_times(trace_, times);
  }

  static IdleTimes times_in(const IdleAccount& account, TimeRange time) {
    IdleTimes times = {};
    auto span = std::ranges::partition_point(
        account.spans, [&](const analyses::IdleSpan& each) { return each.time.end <= time.start; });
    for (; span != account.spans.end() && span->time.start < time.end; ++span) {
      times[static_cast<std::size_t>(span->cause)] +=
          std::min(span->time.end, time.end) - std::max(span->time.start, time.start);
    }
    return times;
  }

  Cell name_cell(EventId event) const {
    return event == EventId::none ? Cell() : Cell(std::string(trace_.name(event)));
  }

  std::vector<Cell> row(std::int64_t device, std::int64_t idle_ns, const DeviceGap& gap,
                        const IdleTimes& times, const HostTime* host) const {
    const std::int64_t length = length_of(gap);
    std::vector<Cell> cells = {report::optional_cell(trace_.identity().rank),
                               device,
                               since_start(trace_, gap.time.start),
                               length,
                               share(length, idle_ns),
                               std::string(cause_name(gap.cause))};
    const auto most = std::ranges::max_element(times);  // of equal ones the first
    cells.emplace_back(std::string(idle_cause_name(static_cast<IdleCause>(most - times.begin()))));
    cells.emplace_back(*most);
    cells.push_back(name_cell(gap.after));
    cells.push_back(name_cell(gap.ended_by.activity));
    cells.push_back(name_cell(gap.ended_by.op));
    if (host == nullptr) {
      cells.insert(cells.end(), {Cell(), Cell()});
    } else {
      const bool is_idle = host->range == EventId::none;
      cells.push_back(is_idle ? Cell(std::string("[idle]")) : name_cell(host->range));
      cells.emplace_back(host->ns);
    }
    cells.push_back(report::optional_cell(steps_.at(gap.time.start)));
    return cells;
  }

  const Trace& trace_;
  analyses::StepRules rules_;
  StepTimes steps_;
  std::int64_t kernel_wait_limit_ns_;
  std::size_t most_;
  std::size_t gaps_ = 0;
  std::int64_t shortest_ = -1;  // of the gaps with a row
  std::size_t equal_ = 0;       // so many as short as that get one
  std::array<WideInteger, kIdleCauses> sums_ = {};
  std::vector<std::vector<Cell>> rows_;
};

AnalysisReport::Totals GapRows::totals() const {
  AnalysisReport::Totals totals = {{"gaps", std::uint64_t{gaps_}}, {"idle_ns", {}}};
  WideInteger idle = 0;
  for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
    idle += sums_[cause];
    totals.emplace_back(std::string(idle_cause_name(static_cast<IdleCause>(cause))) + "_ns",
                        bounded(sums_[cause]));
  }
  totals[1].second = bounded(idle);
  return totals;
}

Result<AnalysisReport> gaps_report(const Trace& trace, const OptionValues& values) {
  const TableDescription& table = analyses::gaps_table();
  if (Status read = trace.check_read(table.arguments, table.name); !read.ok()) return read;
  const GpuOptions options = analyses::gpu_options(values);
  const Result<std::vector<DeviceActivities>> devices =
      analyses::device_activities(trace, options.steps);
  if (!devices.ok()) return devices.status();
  GapRows rows(trace, options.kernel_wait_limit_ns, values.most_rows);
  rows.add(*devices);
  AnalysisReport report;
  report.schema = table.schema;
  report.table.columns = table.column_names();
  report.shown = {"rank", "start_ns", "duration_ns", "idle_share",
                  "why",  "host",     "operator",    "before"};
  report.totals = rows.totals();
  for (const auto& [name, value] : report.totals) {
    if (name != "gaps" && name != "idle_ns") report.totals_if_any.push_back(name);
  }
  report.left_out = rows.left_out();
  report.table.rows = std::move(rows).run();
  report.notes = analyses::work_time_notes(trace);
  report.source = report::source_report(trace);
  return report;
}

}  // namespace

const TableDescription& analyses::gaps_table() {
  static const TableDescription kTable = {
      .name = "gaps",
      .schema = "tbtrace.gaps/1",
      .summary = "the longest times in which a GPU ran nothing, and what the host did meanwhile",
      .about =
          R"(The gaps of each GPU, the longest first: times in which it ran nothing. Each row says why the GPU
was idle, which activity ended the gap, which operator launched that, and what the launching thread
did meanwhile. The gaps of a GPU add up to its idle time in the table gpu.
)",
      .columns = columns_in(R"(
rank | integer or null | from `distributedInfo`
device | integer | the device's number: the process id of its streams
start_ns | integer | since the start of the recording's window
duration_ns | integer | length of the gap
idle_share | number | `duration_ns` as a share of the device's idle time, 0 to 1
cause | text | `host_wait`, `kernel_wait` or `other`: HolisticTraceAnalysis' division, as in the table [gpu](gpu.md)
why | text | the [cause](../findings.md#why-a-gpu-is-idle) of most of the gap: `data`, `cold_start`, ...
why_ns | integer | how much of the gap has this cause
after | text or null | the activity that ended last before the gap; null at the window's start
before | text or null | the activity that ended the gap: of several that start together, the one launched first; null at the window's end
operator | text or null | that launched `before`; null if unknown
host | text or null | the range in which the thread that launched `before` spent the largest part of the gap, see above; `[idle]` if none was open for more than half of it; null if the launch is unknown
host_ns | integer or null | for how much of the gap it was open, or none was
step | integer or null | the step in which the gap began, with its times as in the table [steps](steps.md); null outside of steps
)"),
      .totals = columns_in(R"(
gaps | integer | how many
idle_ns | integer | sum of their lengths, which the following add up to
data_ns | integer | the part with this [cause](../findings.md#why-a-gpu-is-idle); of all gaps, whatever most of them have
cold_start_ns | integer | the same of `cold_start`
profiler_ns | integer | the same of `profiler`
garbage_collection_ns | integer | the same of `garbage_collection`
compiler_ns | integer | the same of `compiler`
host_communication_ns | integer | the same of `host_communication`
allocation_ns | integer | the same of `allocation`
copies_ns | integer | the same of `copies`
synchronization_ns | integer | the same of `synchronization`
launches_ns | integer | the same of `launches`
code_ns | integer | the same of `code`
other_device_ns | integer | the same of `other_device`
device_ns | integer | the same of `device`
unrecorded_work_ns | integer | the same of `unrecorded_work`
nothing_recorded_ns | integer | the same of `nothing_recorded`
unknown_ns | integer | the same of `unknown`
)"),
      .arguments = {ArgumentGroup::launches, ArgumentGroup::placement},
      .options = {steps_option(), kernel_wait_limit_option()},
      .sort_keys = {"duration_ns", "start_ns", "why_ns", "host_ns"},
      .examples =
          {{"tbtrace gpu --gaps trace.json.gz", "the 20 longest"},
           {"tbtrace gpu --gaps trace.json.gz --steps 3-5", "those in the time of three steps"},
           {"tbtrace gpu --gaps traces/ --sort-by duration_ns", "all ranks, the longest first"},
           {"tbtrace gpu --gaps trace.json.gz --format csv -o gaps.csv", "all, for a spreadsheet"}},
      .no_rows = {"the trace has no gaps between kernels, memcpys or memsets",
                  NeededData::device_activities},
      .make = gaps_report,
      .verb = "gpu --gaps"};
  return kTable;
}

}  // namespace tbtrace
