// What the table `gpu` is.
#include <tbtrace/tables.h>

#include "analyses/gpu/report.h"
#include "report/table_list.h"

namespace tbtrace {

GpuOptions analyses::gpu_options(const OptionValues& values) {
  GpuOptions options;
  options.by_stream = values.text("group_by") == "stream";
  options.by_step = values.text("group_by") == "step";
  options.steps = values.steps();
  options.kernel_wait_limit_ns =
      values.whole("kernel_wait_limit_ns").value_or(options.kernel_wait_limit_ns);
  return options;
}

OptionDescription analyses::kernel_wait_limit_option() {
  return {.name = "kernel_wait_limit_ns",
          .spelling = "kernel-wait-limit",
          .type = OptionType::whole,
          .help = "longest gap that counts as the device's own delay",
          .value = "NS",
          .otherwise = "30000",
          .takes = "a number of nanoseconds"};
}

const TableDescription& analyses::gpu_table() {
  static const TableDescription kTable = {
      .name = "gpu",
      .schema = "tbtrace.gpu/1",
      .summary = "how busy each GPU was, with what, and why it was idle",
      .about =
          R"(How busy each GPU was in the recording, with what, and why it was idle. All times are parts of
the window, which begins with the first activity on the device and ends with the last one:
computation + exposed communication + exposed memory + idle = window.
)",
      .columns = gpu_columns(),
      .totals = gpu_totals(),
      .more_columns = {{"rows", "--compat plugin", columns_in(R"(
rank | integer or null | from `distributedInfo`
device | integer | the device's number: the process id of its streams
window_ns | integer | from the first step's start to the last one's end; 0 without steps and operators
busy_ns | integer | at least one kernel ran
busy_share | number | `busy_ns` / `window_ns`, 0 to 1 ("GPU Utilization")
idle_ns | integer | no kernel ran
sm_efficiency_percent | number or null | blocks per multiprocessor of the kernels that run, at most 1 at any time, as a mean over the window, 0 to 100 ("Est. SM Efficiency"); null if no kernel in the window has them
occupancy_percent | number or null | estimated achieved occupancy: mean over the kernels that have one, weighted by their time in the window, 0 to 100 ("Est. Achieved Occupancy")
tensor_core_percent | number or null | share of tensor core kernels in the time of the kernels that operators launched, whenever they ran, 0 to 100 ("Kernel Time using Tensor Cores"); null if operators launched none on any device
)")}},
      .arguments = {ArgumentGroup::copies, ArgumentGroup::launches, ArgumentGroup::placement},
      .options = {{.name = "group_by",
                   .spelling = "group-by",
                   .type = OptionType::choice,
                   .help = "a row per device, per stream, or per step of each device",
                   .value = "WHAT",
                   .otherwise = "device",
                   .choices = {"device", "stream", "step"},
                   .is_first = true},
                  steps_option(),
                  kernel_wait_limit_option(),
                  figures_option("TOOL", "count as torch-tb-profiler")},
      .sort_keys = {"window_ns", "busy_ns", "idle_ns", "idle_host_wait_ns", "launches"},
      .examples = {{"tbtrace gpu trace.json.gz", "each device of a trace"},
                   {"tbtrace gpu trace.json.gz --group-by stream --steps 3-5",
                    "each stream, in the time of three steps"},
                   {"tbtrace gpu trace.json.gz --group-by step", "why it was idle in each step"},
                   {"tbtrace gpu traces/ --sort-by idle_ns", "all ranks, the idlest first"},
                   {"tbtrace gpu traces/ --format csv -o gpu.csv", "for a spreadsheet"}},
      .no_rows = {"the trace has no kernels, memcpys or memsets", NeededData::device_activities},
      .in_partials = InPartials::by_source,
      .kept = {{"gpu.devices", {}}, {"gpu.streams", {{"group_by", std::string("stream")}}}},
      .make = [](const Trace& trace, const OptionValues& values) {
        return gpu_report(trace, gpu_options(values));
      }};
  return kTable;
}

}  // namespace tbtrace
