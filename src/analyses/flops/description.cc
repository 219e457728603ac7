// What the table `flops` is.
#include <tbtrace/flops.h>
#include <tbtrace/tables.h>

#include "analyses/flops/peak_option.h"
#include "report/table_list.h"

namespace tbtrace {
namespace {

FlopsOptions flops_options(const OptionValues& values) {
  return {.by_input_shape = values.flag("by_input_shape"),
          .steps = values.steps(),
          .peak_flops_per_s = values.number("peak_flops_per_s"),
          .peak_bytes_per_s = values.number("peak_bytes_per_s"),
          .how_to_set_peaks =
              values.of_command_line
                  ? "For shares of it, give --peak-tflops, and --peak-bandwidth in GB/s."
                  : "The peaks of Trace.flops(peak_flops_per_s=, peak_bytes_per_s=) give shares of "
                    "them."};
}

}  // namespace

const TableDescription& analyses::flops_table() {
  static const TableDescription kTable = {
      .name = "flops",
      .schema = "tbtrace.flops/1",
      .summary = "FLOPs, MACs and how much of the device's peak operators reach",
      .about =
          R"(What operators computed: multiply-adds (MACs), floating point operations, bytes, and how close
that is to the device's peak. Needs a trace that was recorded with record_shapes. Each piece of
work is in one row; operators without a rule, and those whose sizes are unknown, have rows too.
With --format svg: a roofline picture.
)",
      .columns = columns_in(R"(
rank | integer or null | from `distributedInfo`
name | text | the operator; `[unattributed]`: device work of no operator
state | text | `counted`; `inside`: what it computes is counted at operators inside it, only its own time is here; `unknown_sizes`: it has a rule, but the file does not have the sizes; `no_rule`: nothing is known about what it computes
runs_on | text | `device` if it launched device work, itself or by what is inside it; else `host`
precision | text or null | what it computed in: `float64`, `float32`, `tf32`, `float16`, `bfloat16`, `float8`, `int8`; `float64_matrix` and `float32_matrix` on tensor or matrix cores; null without operations, or for other types
count | integer | operators; activities in the row `[unattributed]`
macs | integer or null | multiply-adds of products, convolutions and attention; null unless counted
flops | integer or null | 2 per MAC, and those of other operators (below); null unless counted
torch_flops | integer | torch's own estimates for these operators and what is inside them, as `tbtrace ops` shows them
traffic_bytes | integer or null | least traffic: each input and output once, and what is only overwritten once; null if a size or type is unknown
device_time_total_ns | integer | device work launched in it, also by what is inside it without another row
cpu_time_total_ns | integer | time in it, without the time of other rows
flops_per_s | number or null | `flops` by the device time; on the host by the CPU time
bytes_per_s | number or null | `traffic_bytes` by the same time
peak_flops_per_s | number or null | what the device can do at most in this precision (below)
peak_share | number or null | `flops_per_s` as a share of it, 0 to 1
flops_per_byte | number or null | arithmetic intensity: `flops` by `traffic_bytes`
bound | text or null | what limits it at best: `memory` if the device's memory cannot feed the peak at this intensity, else `compute`
roof_flops_per_s | number or null | the lower one of the peak and `flops_per_byte` times the memory's bandwidth
roof_share | number or null | `flops_per_s` as a share of it
)"),
      .totals = columns_in(R"(
count | integer | sum of the rows' counts
macs | integer or null | multiply-adds; null, like the next sums, if the file has no sizes of operators
flops | integer or null | operations
torch_flops | integer | torch's own estimates
device_time_total_ns | integer | time of all device work
cpu_time_total_ns | integer | time in operators
forward_macs | integer or null | outside of backward passes
backward_macs | integer or null | in autograd's nodes
recomputed_macs | integer or null | forward operators in the backward pass (activation checkpointing): those in a node that have a sequence number of their own. Gradients of gradients count here, too
steps | integer | the chosen `ProfilerStep#N`, else all
samples | integer or null | what the first layer of each chosen step took: the first dimension of the first input of its first convolution, linear layer or embedding, so of several batches in a step the first; null if there is none, or no steps, and if that dimension may be batch times sequence: indices in one dimension, a matrix outside of `aten::linear`, or a matrix whose rows are the product of two dimensions of another operator's input in the step
forward_macs_in_steps | integer or null | `forward_macs` that a step started
forward_macs_per_sample | number or null | these by `samples`: per image, per sequence
flops_in_steps | integer or null | `flops` that a step started
flops_per_step | number or null | these by `steps`
window_ns | integer | time of the chosen steps, else of the recording, once for each device that worked
achieved_flops_per_s | number or null | `flops` by `window_ns`; null where no operator counts, and some have no rule or no sizes or operators of the host take less than half of the time
model_peak_time_ns | integer or null | time that `forward_macs` and `backward_macs` would take at the peaks; null if a peak is not known
model_flops_utilization | number or null | MFU, 0 to 1: this time as a share of `window_ns`
hardware_peak_time_ns | integer or null | the same with `recomputed_macs`
hardware_flops_utilization | number or null | HFU
inside_count | integer | operators with the state `inside`
inside_cpu_time_ns | integer | their own time
unknown_sizes_count | integer | operators with the state `unknown_sizes`
unknown_sizes_device_time_ns | integer | their device time
unknown_sizes_cpu_time_ns | integer | their CPU time
no_rule_count | integer | operators with the state `no_rule`
no_rule_device_time_ns | integer | their device time
no_rule_cpu_time_ns | integer | their CPU time
)"),
      .more_columns = {{"adds to rows", "--group-by-input-shape", columns_in(R"(
input_shapes | text or null | sizes of the inputs, as `tbtrace ops` shows them
)")}},
      .arguments = {ArgumentGroup::inputs, ArgumentGroup::autograd},
      .options = {{.name = "by_input_shape",
                   .spelling = "group-by-input-shape",
                   .help = "a row per operator and input shapes"},
                  steps_option(),
                  analyses::peak_flops_option(),
                  {.name = "peak_bytes_per_s",
                   .spelling = "peak-bandwidth",
                   .type = OptionType::number,
                   .help = "the peak of its memory in GB/s (default: its data sheet's)",
                   .help_in_code = "the peak of its memory in bytes/s (default: its data sheet's)",
                   .value = "X",
                   .takes = "a number of GB/s above 0, such as 2039",
                   .scale = 1e9}},
      .sort_keys = {"device_time_total_ns", "cpu_time_total_ns", "flops", "macs", "flops_per_s",
                    "peak_share"},
      .examples =
          {{"tbtrace model --by operator trace.json.gz",
            "what took longest, and how fast it computed"},
           {"tbtrace model --by operator trace.json --group-by-input-shape --sort-by flops",
            "by input shapes, most operations first"},
           {"tbtrace model --by operator trace.json --peak-tflops 148 --peak-bandwidth 4000",
            "on a device that is not in the table"},
           {"tbtrace model --by operator trace.json.gz -o roofline.svg", "a roofline picture"}},
      .no_rows = {"the trace has no operators"},
      .in_partials = InPartials::by_source,
      .make = [](const Trace& trace,
                 const OptionValues& values) { return flops_report(trace, flops_options(values)); },
      .verb = "model --by operator"};
  return kTable;
}

}  // namespace tbtrace
