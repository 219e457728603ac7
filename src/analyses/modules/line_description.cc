// What the table `lines` is.
#include <tbtrace/tables.h>

#include "analyses/modules/cost_columns.h"
#include "analyses/modules/lines_report.h"
#include "report/table_list.h"

namespace tbtrace {

LinesOptions analyses::lines_options(const OptionValues& values) {
  return {.steps = values.steps(), .libraries = values.flag("libraries")};
}

const TableDescription& analyses::lines_table() {
  static const TableDescription kTable = {
      .name = "lines",
      .schema = "tbtrace.lines/1",
      .summary = "what each line or function of the source cost",
      .about =
          R"(What each line of source cost: time on CPU and GPU, memory, multiply-adds. Backward passes count
for the lines of their forward operators. Without lines in the trace, functions; the column
`level` says which. Rows without what they called (self), and the row [unattributed], add up to
the total.
)",
      .columns = columns_in(R"(
rank | integer or null | from `distributedInfo`
file | text | the path as recorded; torch leaves out what the path of an installed package begins with
line | integer or null | the line; of a function, where it begins
function | text or null | the function that the line is in
level | text or null | `line` or `function`; null for `[unattributed]`
calls | integer or null | calls of a function; null for lines, because the trace does not say
device_time_total_ns | integer | durations of the kernels, memcpys and memsets that it and what it called launched, forward and backward; a line that called itself again counts once
self_device_time_ns | integer | the same without what other known lines did that it called
backward_device_time_ns | integer | the part of `device_time_total_ns` in backward passes
cpu_time_total_ns | integer | time of its ranges on host threads, each instant once, forward and backward
self_cpu_time_ns | integer | the same without other known lines
backward_cpu_time_ns | integer | the part of `cpu_time_total_ns` in backward passes
cpu_memory_bytes | integer | host memory allocated less freed
device_memory_bytes | integer | device memory allocated less freed
self_cpu_memory_bytes | integer | the same without other known lines
self_device_memory_bytes | integer | the same without other known lines
macs | integer or null | multiply-adds; null if no shapes were recorded ([flops](flops.md))
flops | integer or null | operations, two per multiply-add
backward_macs | integer or null | the part of `macs` in backward passes
backward_flops | integer or null | the part of `flops` in backward passes
)"),
      .totals = with_cost_totals(R"(
waiting_cpu_time_ns | integer | time in which threads waited that do not do the steps; in no row and no other total ([below](#waiting-threads))
)"),
      .arguments = kLineArguments,
      .options = {{.name = "libraries",
                   .spelling = "own-code",
                   .help = "no rows for torch, Python and installed packages; what they did counts "
                           "for the lines that called them",
                   .is_on = true},
                  steps_option()},
      .sort_keys = {"device_time_total_ns", "self_device_time_ns", "cpu_time_total_ns",
                    "self_cpu_time_ns", "cpu_memory_bytes"},
      .examples = {{"tbtrace lines trace.json.gz", "the lines that used the GPU most themselves"},
                   {"tbtrace lines trace.json.gz --sort-by cpu_time_total_ns",
                    "with what they called"},
                   {"tbtrace lines trace.json.gz --own-code", "which of your lines"},
                   {"tbtrace lines trace.json.gz --sort-by device_memory_bytes",
                    "the lines that allocated most memory and kept it"},
                   {"tbtrace lines ranks/ --own-code --sum-inputs", "those of all ranks together"},
                   {"tbtrace lines trace.json.gz --format csv -o lines.csv",
                    "for a spreadsheet, with whole paths"}},
      .no_rows_with = [](const OptionValues& values) -> NoRows {
        if (values.flag("libraries"))
          return {"the trace has no lines of source", NeededData::stacks,
                  "its stacks name modules only"};
        return {"the trace has no lines of the program's own", NeededData::stacks,
                "its stacks name only libraries, or no lines. Leave --own-code out to see which"};
      },
      .in_partials = InPartials::summed,
      .make =
          [](const Trace& trace, const OptionValues& values) {
            return lines_report(trace, lines_options(values));
          }};
  return kTable;
}

}  // namespace tbtrace
