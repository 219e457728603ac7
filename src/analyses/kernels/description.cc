// What the table `kernels` is.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include <tbtrace/tables.h>

#include "analyses/grouping/keys.h"
#include "analyses/kernels/grouping.h"
#include "analyses/kernels/report.h"
#include "report/table_list.h"

namespace tbtrace {

KernelsOptions analyses::kernels_options(const OptionValues& values) {
  constexpr std::string_view kGroupings[] = {"name", "launch", "operator", "family", "label"};
  KernelsOptions options = {.group_by = KernelGrouping::all};
  for (const std::string& part : values.texts("group_by")) {
    if (const std::optional<GroupKey> key = group_key_named(part)) {
      options.by.add(*key);
      continue;
    }
    const auto* const place = std::ranges::find(kGroupings, part);
    const auto grouping = static_cast<KernelGrouping>(place - std::begin(kGroupings));
    if (options.group_by == KernelGrouping::all) {
      options.group_by = grouping;
    } else if (!groups_by(options, grouping)) {
      options.also_by.push_back(grouping);
    }
  }
  options.steps = values.steps();
  return options;
}

const TableDescription& analyses::kernels_table() {
  static const TableDescription kTable = {
      .name = "kernels",
      .schema = "tbtrace.kernels/1",
      .summary = "kernels: how many, how long, how long after their launch",
      .about =
          R"(Kernels by name, launch configuration, operator, family or label, and by shape, stack, module,
line, device, stream, thread and step, alone or in any combination: how many ran, for how long,
and how long after the call that launched them. Rows add up to the time of all kernels.
Memcpys and memsets are not kernels; the totals have their time. A label is what the program
called a part of a CUDA graph (torch.cuda.graph_annotations.mark_kernels).
)",
      .columns = columns_in(R"(
rank | integer or null | from `distributedInfo`
name | text | the whole name; by name or launch
short_name | text | the name as people write it (below); by name or launch
family | text | what kind of work it does (below); by name, launch or family
count | integer | kernels
total_ns | integer | sum of their durations
share_percent | number or null | `total_ns` as a share of all kernels' time, 0 to 100; null if that is 0
mean_ns | number | mean duration
min_ns | integer | shortest duration
max_ns | integer | longest duration
stddev_ns | number | standard deviation of a sample (divided by `count` - 1), 0 for one kernel
median_ns | integer | the duration that half of the kernels take at most, of an even number the lower one of the two in the middle, within 1 % (the same on every machine: counts by fixed buckets)
p90_ns | integer | the same of 90 %
p99_ns | integer | the same of 99 %
tensor_cores_used | boolean or null | whether they run on tensor cores; null if the name does not show it (below); by name or launch
tensor_core_ns | integer | time of kernels that do
blocks_per_sm | number or null | blocks per multiprocessor: mean weighted by duration, over the kernels that have a value
occupancy_percent | number or null | estimated achieved occupancy, 0 to 100: the same mean
launches | integer | calls that launched the kernels; the call of a CUDA graph launches many, and counts in each row that has some of them
without_launch | integer | kernels whose launch is not in the file
launch_call_ns | integer | time that these calls took on the host
launch_delay_mean_ns | number or null | from the end of the call to the kernel's start, 0 if it started before; mean over the kernels with a launch
launch_delay_max_ns | integer | the longest of these delays
launch_delay_total_ns | integer | their sum
short_kernels | integer | kernels that were the only activity of their launch call and took less time than the call: the host cannot keep up with them
)"),
      .totals = columns_in(R"(
count | integer | all kernels
total_ns | integer | sum of their durations
tensor_core_ns | integer | time of kernels that use tensor cores
launches | integer | calls that launched kernels, each counted once
without_launch | integer | kernels whose launch is not in the file
launch_call_ns | integer | time of the calls on the host
launch_delay_mean_ns | number or null | mean over all kernels with a launch
launch_delay_max_ns | integer | longest delay
launch_delay_total_ns | integer | sum of the delays
short_kernels | integer | as in the rows
memcpys | integer | memcpys
memcpy_ns | integer | sum of their durations
memsets | integer | memsets
memset_ns | integer | sum of their durations
)"),
      .more_columns =
          {{"adds to rows",
            "--group-by launch,stream | --group-by operator,name | --group-by family,device "
            "| --group-by label | --group-by shape,stack,module,line,thread,rank,step "
            "| --compat plugin --group-by launch",
            columns_in(R"(
input_shapes | list or null | sizes of that operator's inputs; by shape
stack | list of texts or null | Python frames around that operator (around the launch if it is not known), innermost first; by stack
module | text or null | the innermost `nn.Module` frame around the launch; by module
source_line | text or null | the innermost line of own code, as `tbtrace lines` has it: `model.py(12): forward`. A backward pass has the lines of its forward operators; by line
operator | text | the operator that launched the kernels, `[unattributed]` if none is known; by operator or launch
label | text | what the program called this part of a CUDA graph ([Labels of CUDA graphs](chrome_json.md#labels-of-cuda-graphs)); `[unlabelled]` for kernels without a label; by label
grid | list or null | by launch, like the next three: blocks in x, y and z
block | list or null | threads of a block in x, y and z
registers | integer or null | registers of a thread
shared_memory_bytes | integer or null | shared memory of a block
device | integer | the device's number; by device or stream
stream | integer or null | the stream's number: the one in `stream_name`; by stream
stream_name | text | the id of the stream's row in the file: `7`, `stream 7`; by stream
thread | text or null | the host thread that launched the kernels; by thread
step | integer or null | number of the step that was open when the kernels were launched; by step
operator_eligible | boolean | whether torch-tb-profiler says that the operator may use tensor cores; only with `--compat plugin`, by launch
)")},
           {"rows", "--per-event", columns_in(R"(
rank | integer or null | from `distributedInfo`
name | text | the kernel's name
launch | text | the call: `cudaLaunchKernel`, `cudaGraphLaunch`, `cuLaunchKernelEx` and others
operator | text | the operator, `[unattributed]` if none is known
label | text or null | what the program called its part of a CUDA graph; null without one
device | integer | the device's number
stream | integer or null | the stream's number: the one in `stream_name`
stream_name | text | the id of the stream's row in the file: `7`, `stream 7`
correlation | integer | the number that links the two
step | integer or null | number of the step that was open when the kernel was launched
start_ns | integer | the kernel's start, since the start of the recording's window
launch_call_ns | integer | duration of the call
duration_ns | integer | duration of the kernel
launch_delay_ns | integer | from the end of the call to the kernel's start, 0 if it started before
launch_start_ns | integer | the call's start, since the start of the recording's window
queue_length | integer | kernels, memcpys and memsets of the device that earlier calls had launched and that had not started when the call ended
)")},
           {"totals", "--per-event", columns_in(R"(
count | integer | rows
duration_ns | integer | sum of the kernels' durations
launch_delay_ns | integer | sum of the delays
)")}},
      .arguments = {ArgumentGroup::launches, ArgumentGroup::placement},
      .more_arguments = {ArgumentGroup::graphs},
      .arguments_with =
          [](const OptionValues& values) {
            return analyses::group_key_arguments(analyses::kernels_options(values).by);
          },
      .options = {{.name = "group_by",
                   .spelling = "group-by",
                   .type = OptionType::choices,
                   .help = "what a row is of, one or several: `operator,name`",
                   .help_in_code = "what a row is of, one or several: ('operator', 'name')",
                   .value = "WHAT",
                   .otherwise = "name",
                   .choices = {"name", "launch", "operator", "family", "label", "shape", "stack",
                               "module", "line", "device", "stream", "thread", "rank", "step"},
                   .is_first = true},
                  {.name = "per_event",
                   .spelling = "per-event",
                   .help = "one row per kernel, with the call that launched it"},
                  steps_option(),
                  figures_option("TOOL", "count as torch-tb-profiler")},
      .excluded = {{"per_event", "", "figures", "plugin"}, {"per_event", "", "group_by"}},
      .sort_keys = {"total_ns", "count", "mean_ns", "max_ns", "launch_delay_mean_ns"},
      .examples = {{"tbtrace kernels trace.json.gz", "the kernels that took longest"},
                   {"tbtrace kernels trace.json.gz --group-by family", "what kind of work they do"},
                   {"tbtrace kernels trace.json.gz --group-by launch --steps 3-5",
                    "by launch configuration and operator, in three steps"},
                   {"tbtrace kernels trace.json.gz --group-by operator,name",
                    "which kernels each operator runs"},
                   {"tbtrace kernels trace.json.gz --group-by step,module",
                    "what the kernels of each module took in each step"},
                   {"tbtrace kernels trace.json.gz --per-event --sort-by launch_delay_ns",
                    "the kernels that waited longest after their launch"},
                   {"tbtrace kernels ranks/ --sum-inputs", "the kernels of all ranks together"},
                   {"tbtrace kernels trace.json.gz --format csv -o kernels.csv",
                    "for a spreadsheet, with whole names"}},
      .no_rows_with = [](const OptionValues& values) -> NoRows {
        return {values.flag("per_event") ? "the trace has no kernels with a launch"
                                         : "the trace has no kernels",
                NeededData::device_activities};
      },
      .in_partials = InPartials::summed,
      .make =
          [](const Trace& trace, const OptionValues& values) {
            const KernelsOptions options = kernels_options(values);
            return values.flag("per_event") ? kernel_launches_report(trace, options)
                                            : kernels_report(trace, options);
          }};
  return kTable;
}

}  // namespace tbtrace
