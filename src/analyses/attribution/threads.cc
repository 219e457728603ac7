// The table `threads`: how busy each thread of the host was.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tbtrace/tables.h>

#include "base/bounded_sum.h"
#include "base/share.h"
#include "report/optional_cell.h"
#include "report/source_report.h"
#include "report/table_list.h"
#include "trace/call_tree.h"
#include "trace/self_times.h"
#include "trace/times.h"
#include "trace/trace_data.h"
#include "trace/track_keys.h"

namespace tbtrace {
namespace {

Result<AnalysisReport> threads_report(const Trace& trace, const OptionValues& /*options*/) {
  struct Counts {
    std::uint64_t ranges = 0;
    std::uint64_t operators = 0;
  };
  std::vector<Counts> counts(trace.tracks().size());
  std::int64_t start = trace.window_start_ns();
  std::int64_t end = trace.window_end_ns();
  const LostTimes lost(trace);
  const std::optional<PartTime> part = part_time_of(trace);
  if (part) std::tie(start, end) = std::pair(part->host.start, part->host.end);
  for (const EventId range : call_tree_of(trace).ranges()) {
    if (!part && !lost.contains(range)) {
      start = std::min(start, trace.events().start_ns(range));
      end = std::max(end, trace.events().end_ns(range));
    }
    Counts& of = counts[index(trace.events().track(range))];
    ++of.ranges;
    of.operators += trace.kind(range) == EventKind::cpu_op ? 1U : 0U;
  }
  AnalysisReport report;
  report.schema = analyses::threads_table().schema;
  report.table.columns = analyses::threads_table().column_names();
  report.shown = {"rank", "thread", "name", "busy_ns", "busy_share", "operators", "ranges"};
  const std::int64_t window = bounded(WideInteger{end} - start);
  const Cell rank = report::optional_cell(trace.identity().rank);
  WideInteger all_busy = 0;
  Counts all;
  for (std::size_t thread = 0; thread < counts.size(); ++thread) {
    const Counts& of = counts[thread];
    if (of.ranges == 0) continue;
    const Track& track = trace.tracks()[thread];
    const std::int64_t busy = self_times_of(trace).busy_ns()[thread];
    report.table.rows.push_back({rank, key_text(trace, track.process),
                                 key_text(trace, track.thread),
                                 report::text_cell(trace.string(track.thread_name)), busy,
                                 window - busy, share(busy, window), of.operators, of.ranges});
    all_busy += busy;
    all.ranges += of.ranges;
    all.operators += of.operators;
  }
  constexpr std::size_t kBusy = 4;  // its column
  std::ranges::stable_sort(report.table.rows, std::ranges::greater(),
                           [](const auto& row) { return std::get<std::int64_t>(row[kBusy]); });
  report.totals = {
      {"busy_ns", bounded(all_busy)}, {"operators", all.operators}, {"ranges", all.ranges}};
  report.source = report::source_report(trace);
  return report;
}

}  // namespace

const TableDescription& analyses::threads_table() {
  static const TableDescription kTable = {
      .name = "threads",
      .schema = "tbtrace.threads/1",
      .summary = "how busy each thread of the host was",
      .about =
          "The threads of the host, the busiest first: for how long each had a range open, and "
          "how\n"
          "many it ran. Waiting in a range is busy as well, and so is an open step or "
          "annotation.\n",
      .columns = columns_in(R"(
rank | integer or null | from `distributedInfo`
process | text | its process id
thread | text | its id in the file
name | text or null | what the file calls it
busy_ns | integer | at least one range was open, also one that waits, a step or an annotation
idle_ns | integer | the rest of the window: of the recording, and of all ranges of the host; with `--steps`, of the time of these steps on the host
busy_share | number | `busy_ns` as a share of the window, 0 to 1
operators | integer | operators that it ran
ranges | integer | all ranges that it ran: also annotations, Python frames and CUDA calls
)"),
      .totals = columns_in(R"(
busy_ns | integer | sum over all threads
operators | integer | on all threads
ranges | integer | on all threads
)"),
      .options = {steps_option()},
      .sort_keys = {"busy_ns", "operators", "ranges"},
      .examples = {{"tbtrace check --threads trace.json.gz --sort-by busy_ns",
                    "the threads that did most"},
                   {"tbtrace check --threads trace.json.gz --steps 3-5",
                    "how busy they were in three steps"},
                   {"tbtrace check --threads ranks/ --format csv -o threads.csv",
                    "those of all ranks, for a spreadsheet"}},
      .no_rows = {"the trace has no ranges on the host"},
      .in_partials = InPartials::by_source,
      .make = threads_report,
      .of_part = true,
      .verb = "check --threads"};
  return kTable;
}

}  // namespace tbtrace
