// What the table `lines` is.
#include <tbtrace/analysis_context.h>
#include <tbtrace/tables.h>

#include "analyses/modules/cost_columns.h"
#include "analyses/modules/lines_report.h"
#include "report/table_list.h"

namespace tbtrace {

LinesOptions analyses::lines_options(const OptionValues& values) {
  return {.view = values.text("view") == "memory" ? LineView::memory : LineView::cost,
          .steps = values.steps(),
          .libraries = values.flag("libraries")};
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
With --view memory, a row per line and device: what it allocated and freed, how high the memory
was while the line was open, and what it held at the peak. Needs profile_memory.
)",
      .columns = columns_in(R"(
rank | integer or null | from `distributedInfo`
file | text | the path as recorded; torch leaves out what the path of an installed package begins with
line | integer or null | the line; of a function, where it begins
function | text or null | the function that the line is in
source_line | text or null | the three in one, as in other tables: `model.py(12): forward`; null for rows in brackets
level | text or null | `line` or `function`; null for `[unattributed]`
calls | integer or null | calls of a function; null for lines, because the trace does not say
device_time_total_ns | integer | durations of the kernels, memcpys and memsets that it and what it called launched, forward and backward; a line that called itself again counts once
self_device_time_ns | integer | the same without what other known lines did that it called
backward_device_time_ns | integer | the part of `device_time_total_ns` in backward passes
cpu_time_total_ns | integer | time of its ranges on host threads, each instant once, forward and backward
self_cpu_time_ns | integer | the same without other known lines
backward_cpu_time_ns | integer | the part of `cpu_time_total_ns` in backward passes
cpu_memory_bytes | integer or null | host memory allocated less freed; null if no memory was recorded
device_memory_bytes | integer or null | device memory allocated less freed
self_cpu_memory_bytes | integer or null | the same without other known lines
self_device_memory_bytes | integer or null | the same without other known lines
macs | integer or null | multiply-adds; null if no shapes were recorded ([flops](flops.md))
flops | integer or null | operations, two per multiply-add
backward_macs | integer or null | the part of `macs` in backward passes
backward_flops | integer or null | the part of `flops` in backward passes
)"),
      .totals = with_cost_totals(R"(
waiting_cpu_time_ns | integer | time in which threads waited that do not do the steps; in no row and no other total ([below](#waiting-threads))
)"),
      .more_columns = {{"rows", "--view memory", columns_in(R"(
rank | integer or null | from `distributedInfo`
process | text | id of the process that allocated
device | integer or null | the device's number; null for the host
device_name | text | `cpu`, `cuda:0`
file | text | the path as recorded; torch leaves out what the path of an installed package begins with
line | integer or null | the line; of a function, where it begins
function | text or null | the function that the line is in
source_line | text or null | the three in one, as in other tables: `model.py(12): forward`; null for rows in brackets
level | text or null | `line` or `function`; null for rows in brackets
allocated_bytes | integer or null | what it and what it called allocated, forward and backward; a line that called itself again counts once
freed_bytes | integer or null | what it and what it called freed, also what others had allocated
net_bytes | integer or null | allocated less freed
peak_bytes | integer or null | the most that the device had allocated, by anyone, while a range of the line was open; null for rows in brackets
alive_at_peak_bytes | integer or null | of what it and what it called allocated: what was not freed when the device's total was highest; null if no addresses were recorded
self_allocated_bytes | integer or null | `allocated_bytes` without other known lines
self_freed_bytes | integer or null | `freed_bytes` without other known lines
self_net_bytes | integer or null | `net_bytes` without other known lines
self_alive_at_peak_bytes | integer or null | `alive_at_peak_bytes` without other known lines
self_growth_per_step_bytes | integer or null | of a leak its size in a step: median of the differences, between the ends of successive steps, of what the line itself allocated and nobody freed; null with fewer than two steps
)")},
                       {"adds to rows", "--source-root .", columns_in(R"(
source | text or null | the text of the line, without blanks around it; null if its file is not below the directory
)")},
                       {"totals", "--view memory", columns_in(R"(
cpu_allocated_bytes | integer or null | host memory allocated; null without records of it
cpu_freed_bytes | integer or null | host memory freed
cpu_peak_bytes | integer or null | sum of the peaks of the processes' host memory
device_allocated_bytes | integer or null | memory of devices allocated; null without records of it
device_freed_bytes | integer or null | memory of devices freed
device_peak_bytes | integer or null | sum of the devices' peaks, which may be at different times
without_address | integer | records whose address is not in the file
)")}},
      .arguments = kLineArguments,
      .more_arguments =
          kLineArguments | kRecordedOptionArguments | ArgumentSet{ArgumentGroup::allocations},
      .options = {{.name = "view",
                   .spelling = "view",
                   .type = OptionType::choice,
                   .help = "cost: what each line cost; memory: who allocated the memory of each "
                           "device",
                   .value = "WHAT",
                   .otherwise = "cost",
                   .choices = {"cost", "memory"}},
                  {.name = "libraries",
                   .spelling = "all-code",
                   .help = "rows for torch, Python and installed packages too; else what they did "
                           "counts for the lines of your own code that called them"},
                  {.name = "source_root",
                   .spelling = "source-root",
                   .type = OptionType::folder,
                   .help = "a directory: lines in source files below it are shown with their text",
                   .value = "DIR"},
                  steps_option()},
      .sort_keys = {"device_time_total_ns", "self_device_time_ns", "cpu_time_total_ns",
                    "self_cpu_time_ns", "cpu_memory_bytes"},
      .examples =
          {{"tbtrace lines trace.json.gz", "your lines that used the GPU most"},
           {"tbtrace lines trace.json.gz --sort-by cpu_time_total_ns", "with what they called"},
           {"tbtrace lines trace.json.gz --all-code", "with the lines of libraries"},
           {"tbtrace lines trace.json.gz --view memory",
            "which of your lines held the memory at the peak"},
           {"tbtrace lines trace.json.gz --view memory --sort-by self_growth_per_step_bytes",
            "which lines leak"},
           {"tbtrace lines trace.json.gz --source-root .", "with the text of each line"},
           {"tbtrace lines ranks/ --sum-inputs", "those of all ranks together"},
           {"tbtrace lines trace.json.gz --format csv -o lines.csv",
            "for a spreadsheet, with whole paths"}},
      .no_rows_with = [](const OptionValues& values) -> NoRows {
        if (values.text("view") == "memory") {
          return {"the trace has no allocations in lines of source", NeededData::allocations,
                  "it has allocations, but no lines: record with with_stack=True too"};
        }
        if (values.flag("libraries"))
          return {"the trace has no lines of source", NeededData::stacks,
                  "its stacks name modules only"};
        return {"the trace has no lines of the program's own", NeededData::stacks,
                "its stacks name only libraries, or no lines. --all-code shows which"};
      },
      .in_partials = InPartials::summed,
      .make =
          [](const Trace& trace, const OptionValues& values) {
            return lines_report(trace, lines_options(values));
          }};
  return kTable;
}

}  // namespace tbtrace
