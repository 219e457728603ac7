// What the table `steps` is.
#include <utility>

#include <tbtrace/tables.h>

#include "analyses/steps/table/report.h"
#include "report/table_list.h"

namespace tbtrace {

StepBreakdownOptions analyses::steps_options(const OptionValues& values) {
  return {.keep_tail_steps = values.flag("keep_tail_steps"),
          .infer_steps = values.flag("infer_steps")};
}

Result<AnalysisReport> analyses::steps_report_of(const Trace& trace, StepBreakdown breakdown,
                                                 const OptionValues& values) {
  if (!values.flag("infer_steps") && !breakdown.why_no_steps.empty()) {
    breakdown.why_no_steps += values.of_command_line ? " Add --infer-steps." : " Add infer_steps.";
  }
  Result<AnalysisReport> report = steps_report(trace, breakdown, values.steps());
  if (report.ok() && breakdown.dropped_steps > 0) {
    report->notes.back() += values.of_command_line ? " --keep-tail-steps keeps them."
                                                   : " keep_tail_steps=True keeps them.";
  }
  return report;
}

const TableDescription& analyses::steps_table() {
  static const TableDescription kTable = {
      .name = "steps",
      .schema = "tbtrace.steps/1",
      .summary = "what each step's time was spent on",
      .about =
          R"(What each step's time was spent on: by device (kernel, memcpy, communication, ...) and by phase
of the host (forward, backward, optimizer, data). The parts by device add up to the step, which
lasts until what it launched is done; the phases add up to its duration on the host.
Steps are the ProfilerStep#N ranges of the recording, else the iterations of vLLM, SGLang, ATOM or
TensorRT-LLM; JSON and CSV have all parts.
)",
      .columns = columns_in(R"(
name | text | `ProfilerStep#5`, or `[all]`
number | integer or null | 5; null for `[all]`
step | integer or null | the same, by the name that other tables have: to join them
rank | integer or null | from `distributedInfo`
start_ns | integer | since the start of the recording's window
duration_ns | integer | of the widened step
kernel_ns | integer | a kernel ran that does not communicate
memcpy_ns | integer | a memcpy ran
memset_ns | integer | a memset ran
communication_ns | integer | a collective ran, on the host or on a device
runtime_ns | integer | a call of the device's runtime or driver
data_loader_ns | integer | the data loader
cpu_op_ns | integer | any other operator or annotation
other_ns | integer | nothing of these
host_duration_ns | integer | of the range on the host, not widened
forward_ns | integer | phase
backward_ns | integer | phase
optimizer_ns | integer | phase
data_ns | integer | phase
unphased_ns | integer | no phase
gpu_utilization | number or null | share of the step in which a kernel ran, 0 to 1; with several devices their mean
peak_memory_bytes | integer or null | the highest total that the allocator recorded in the step, of any GPU; if none was recorded, of the CPU
launched | integer | kernels, memcpys and memsets that were launched in it
outlier | boolean | longer than the median step by more than 10 % and by more than four times the median deviation from it; of less than five steps none is; of an inference engine, steps of the same kind and number of requests are compared
idle_ns | integer or null | time in which a device ran nothing, of all devices together; null without device work
idle_causes | list or null | why, as in the table [gpu](gpu.md): the [causes](../findings.md#why-a-gpu-is-idle) add up to `idle_ns`
kind | text or null | of an inference engine's iteration, as in the table [serving](serving.md): `prefill`, `decode`, `mixed`, ...; null if no name says it
requests | integer or null | of that iteration, without padding; null if its name does not say it
tokens | integer or null | that the model processed in it; null likewise
)"),
      .totals = columns_in(R"(
steps | integer | rows
dropped_steps | integer | left out at the end
outliers | integer
duration_min_ns | integer
duration_median_ns | integer | of an even number of steps, the lower one of the two in the middle
duration_max_ns | integer
duration_std_ns | number | standard deviation of a sample; 0 for one step
duration_ns | number or null
kernel_ns | number or null
memcpy_ns | number or null
memset_ns | number or null
communication_ns | number or null
runtime_ns | number or null
data_loader_ns | number or null
cpu_op_ns | number or null
other_ns | number or null
host_duration_ns | number or null
forward_ns | number or null
backward_ns | number or null
optimizer_ns | number or null
data_ns | number or null
unphased_ns | number or null
gpu_utilization | number or null
peak_memory_bytes | number or null
launched | number or null
idle_ns | number or null
)"),
      .arguments = {ArgumentGroup::autograd},
      .options = {steps_option(),
                  {.name = "infer_steps",
                   .spelling = "infer-steps",
                   .help = "if the trace has no steps, use annotations such as `Iteration 7` or "
                           "calls of functions such as `train_step`"},
                  {.name = "keep_tail_steps",
                   .spelling = "keep-tail-steps",
                   .help = "keep steps at the end whose kernels may be missing"},
                  figures_option("WHO", "count as torch-tb-profiler (plugin)")},
      .sort_keys = {"duration_ns", "kernel_ns", "communication_ns", "data_ns", "gpu_utilization",
                    "step"},
      .examples = {{"tbtrace steps trace.json.gz", "each step of a trace"},
                   {"tbtrace steps trace.json.gz --sort-by duration_ns --row-limit 5",
                    "the longest steps"},
                   {"tbtrace steps traces/ --steps 10-20 --format csv -o steps.csv",
                    "the same steps of all ranks, for a spreadsheet"},
                   {"tbtrace steps trace.json --infer-steps",
                    "steps that the program marked itself"}},
      .no_rows = {"the trace has neither steps nor operators"},
      .in_partials = InPartials::by_source,
      .make =
          [](const Trace& trace, const OptionValues& values) {
            return steps_report_of(trace, step_breakdown(trace, steps_options(values)), values);
          },
      .of_ranks = true};
  return kTable;
}

}  // namespace tbtrace
