// The table `marks`: the counters and instants that a program recorded.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <tbtrace/tables.h>

#include "analyses/attribution/open_steps.h"
#include "analyses/timeline/marks.h"
#include "report/optional_cell.h"
#include "report/source_report.h"
#include "report/table_list.h"
#include "trace/event_batch.h"
#include "trace/times.h"
#include "trace/track_keys.h"

namespace tbtrace {
namespace {

class Marks {
 public:
  explicit Marks(const Trace& trace)
      : trace_(trace),
        steps_(trace, trace.steps()),
        rank_(report::optional_cell(trace.identity().rank)) {}

  AnalysisReport report() {
    AnalysisReport made;
    made.schema = analyses::marks_table().schema;
    made.source = report::source_report(trace_);
    made.table.columns = analyses::marks_table().column_names();
    made.shown = {"rank", "at_ns", "step", "kind", "name", "series", "value", "thread"};
    std::vector<std::vector<Cell>>& rows = made.table.rows;
    for (const CounterValue& of : counter_values_of(trace_)) {
      rows.push_back(row("counter", of.time_ns, of.process, of.name));
      rows.back()[kSeries] = report::text_cell(trace_.string(of.series));
      rows.back()[kValue] = of.value;
    }
    const std::uint64_t counters = rows.size();
    for (const Instant& of : instants_of(trace_)) {
      if (analyses::is_of_recording(trace_, of.name)) continue;
      rows.push_back(row("instant", of.time_ns, of.process, of.name));
      rows.back()[kThread] = key_text(trace_, of.thread);
      rows.back()[kArguments] = report::text_cell(trace_.string(of.arguments));
    }
    made.totals = {{"counters", counters}, {"instants", rows.size() - counters}};
    std::ranges::stable_sort(
        rows, {}, [](const std::vector<Cell>& of) { return std::get<std::int64_t>(of[kAt]); });
    return made;
  }

 private:
  // Columns.
  static constexpr std::size_t kAt = 1;
  static constexpr std::size_t kSeries = 4;
  static constexpr std::size_t kValue = 5;
  static constexpr std::size_t kArguments = 6;
  static constexpr std::size_t kThread = 8;

  std::vector<Cell> row(const char* kind, std::int64_t time_ns, const TrackKey& process,
                        StringId name) const {
    const std::optional<std::size_t> step = steps_.at(process, time_ns);
    return {rank_,
            since_start(trace_, time_ns),
            std::string(kind),
            std::string(trace_.string(name)),
            Cell(),
            Cell(),
            Cell(),
            key_text(trace_, process),
            Cell(),
            step ? Cell(trace_.steps()[*step].number) : Cell()};
  }

  const Trace& trace_;
  const analyses::OpenSteps steps_;
  const Cell rank_;
};

}  // namespace

const TableDescription& analyses::marks_table() {
  static const TableDescription kTable = {
      .name = "marks",
      .schema = "tbtrace.marks/1",
      .summary = "counters and instants that the program recorded, such as the loss",
      .about =
          "What the program recorded besides ranges, by time: the values of its counters, such "
          "as the\nloss or the length of a queue, and instants, such as the end of an epoch. "
          "The timeline shows\nthem as curves and marks. Records of memory are in `memory`.\n",
      .columns = columns_in(R"(
rank | integer or null | from `distributedInfo`
at_ns | integer | since the start of the window
kind | text | `counter` or `instant`
name | text | of the counter or instant; with the counter's `id`, if it has one
series | text or null | which value of the counter it is: `value`, `waiting`
value | number or null | from this time on; null for instants
arguments | text or null | of an instant, as JSON
process | text | its process id
thread | text or null | of an instant: its id in the file; counters belong to processes
step | integer or null | number of the step that was open in the process then
)"),
      .totals = columns_in(R"(
counters | integer | values of counters
instants | integer | instants
)"),
      .options = {steps_option()},
      .sort_keys = {"value"},
      .examples = {{"tbtrace steps --marks trace.json.gz", "what was recorded, by time"},
                   {"tbtrace steps --marks trace.json.gz --steps 3-5",
                    "what was recorded in three steps"},
                   {"tbtrace steps --marks ranks/ --format csv -o marks.csv",
                    "the counters of all ranks, for a plot"}},
      .no_rows = {"the trace has no counters and no instants"},
      .make = [](const Trace& trace, const OptionValues& /*options*/) -> Result<AnalysisReport> {
        return Marks(trace).report();
      },
      .of_part = true,
      .verb = "steps --marks"};
  return kTable;
}

}  // namespace tbtrace
