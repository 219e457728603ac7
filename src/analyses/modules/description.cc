// What the table `modules` is.
#include <tbtrace/analysis_context.h>
#include <tbtrace/tables.h>

#include "analyses/modules/cost_columns.h"
#include "analyses/modules/report.h"
#include "report/table_list.h"

namespace tbtrace {

ModulesOptions analyses::modules_options(const OptionValues& values) {
  ModulesOptions options;
  const std::string group_by = values.text("group_by");
  if (group_by == "type") options.group_by = ModuleGrouping::type;
  if (group_by == "layer") options.group_by = ModuleGrouping::layer;
  if (const auto depth = values.whole("depth")) options.depth = static_cast<std::size_t>(*depth);
  options.steps = values.steps();
  return options;
}

const TableDescription& analyses::modules_table() {
  static const TableDescription kTable = {
      .name = "modules",
      .schema = "tbtrace.modules/1",
      .summary = "what each module of the model cost, forward and backward",
      .about =
          R"(What the modules of a model cost, as a tree: calls, time on CPU and GPU, memory, multiply-adds and
parameters. Backward passes count for the modules whose gradients they compute, and have
columns of their own. Rows without the modules inside (self), and the row [unattributed], add up
to the total.
)",
      .columns = columns_in(R"(
rank | integer or null | from `distributedInfo`
name | text | the last part of the path; the class with `--group-by type`
path | text or null | names from the outermost module on, joined by dots; null with `--group-by type`, but for `[unattributed]`
type | text or null | the class
depth | integer or null | 0 for the outermost modules; null with `--group-by type`
calls | integer or null | calls of its forward, also those that a checkpoint repeats in a backward pass; null if the trace does not say
device_time_total_ns | integer | durations of the kernels, memcpys and memsets that it and the modules inside launched, forward and backward
self_device_time_ns | integer | the same without the modules inside
backward_device_time_ns | integer | the part of `device_time_total_ns` in backward passes
cpu_time_total_ns | integer | time of its ranges on host threads, each instant once, forward and backward
self_cpu_time_ns | integer | the same without the modules inside
backward_cpu_time_ns | integer | the part of `cpu_time_total_ns` in backward passes
cpu_memory_bytes | integer or null | host memory allocated less freed; null if no memory was recorded
device_memory_bytes | integer or null | device memory allocated less freed
self_cpu_memory_bytes | integer or null | the same without the modules inside
self_device_memory_bytes | integer or null | the same without the modules inside
macs | integer or null | multiply-adds; null if no shapes were recorded ([flops](flops.md))
flops | integer or null | operations, two per multiply-add
backward_macs | integer or null | the part of `macs` in backward passes
backward_flops | integer or null | the part of `flops` in backward passes
parameters | integer or null | elements of its parameters and of those inside it (below)
self_parameters | integer or null | elements of its own parameters
)"),
      .totals = with_cost_totals(R"(
waiting_cpu_time_ns | integer | time in which threads waited that do not do the steps; in no row and no other total ([lines](lines.md#waiting-threads))
parameters | integer or null | all parameters; null for several inputs, whose models may be copies of one
parameter_source | text or null | `recorded`, `gradients`, `weights` or `none` (below); null for several inputs
)"),
      .more_columns = {{"adds to rows", "--group-by type | --group-by layer", columns_in(R"(
modules | integer | how many modules are in the row; 0 for `[unattributed]`
least_ns | integer or null | the time of the fastest of them: on the device if the trace has any, else on the host
most_ns | integer or null | the time of the slowest
slowest | text or null | its path
)")},
                       {"rows", "--compat plugin", columns_in(R"(
rank | integer or null | from `distributedInfo`
name | text | without `nn.Module: `; in the Lightning view the path
id | integer | `Python module id`; 0 in the Lightning view
depth | integer | 0 for the outermost modules
calls | integer | the plugin's occurrences
operators | integer | called directly
host_duration_us | number | of all calls
self_host_duration_us | number | without operators and modules inside
device_duration_us | number | kernels, memcpys and memsets launched in it
self_device_duration_us | number | those that its own operators launched
avg_duration_us | number | per call, on the device; on the host if that is 0
)")}},
      .arguments = kModuleArguments - ArgumentSet{ArgumentGroup::graphs},
      .more_arguments = kModuleArguments | kRecordedOptionArguments,
      .options = {{.name = "group_by",
                   .spelling = "group-by",
                   .type = OptionType::choice,
                   .help = "module: the tree; type: classes; layer: repeated layers in one row",
                   .value = "WHAT",
                   .otherwise = "module",
                   .choices = {"module", "type", "layer"},
                   .is_first = true},
                  {.name = "depth",
                   .spelling = "depth",
                   .type = OptionType::whole,
                   .help = "only N levels below the outermost modules",
                   .value = "N",
                   .takes = "a number from 0"},
                  steps_option(),
                  figures_option(
                      "TOOL", "plugin: the rows of torch-tb-profiler's Module or Lightning view")},
      .excluded = {{"figures", "plugin", "group_by"},
                   {"figures", "plugin", "depth"},
                   {"figures", "plugin", "steps"}},
      .sort_keys = {"device_time_total_ns", "self_device_time_ns", "cpu_time_total_ns",
                    "self_cpu_time_ns", "parameters", "macs"},
      .examples = {{"tbtrace modules trace.json.gz",
                    "the model as a tree, with what each part cost"},
                   {"tbtrace modules trace.json.gz --depth 1 --row-limit -1", "its large parts"},
                   {"tbtrace modules trace.json.gz --group-by layer",
                    "repeated layers side by side: the fastest, the slowest"},
                   {"tbtrace modules trace.json.gz --sort-by self_device_time_ns",
                    "the modules that used the GPU most themselves"},
                   {"tbtrace modules trace.json.gz --steps 3-5 --format csv -o modules.csv",
                    "three steps, for a spreadsheet"}},
      .no_rows_with = [](const OptionValues& values) -> NoRows {
        if (values.text("figures") == "plugin") {
          return {"torch-tb-profiler shows no modules of the trace; docs/parity.md says when"};
        }
        return {"the trace has no modules", NeededData::modules};
      },
      .in_partials = InPartials::summed,
      .make =
          [](const Trace& trace, const OptionValues& values) {
            return modules_report(trace, modules_options(values));
          }};
  return kTable;
}

}  // namespace tbtrace
