// What the table `gpu` is.
#include <tbtrace/tables.h>

#include "analyses/gpu/report.h"
#include "report/table_list.h"

namespace tbtrace {

GpuOptions analyses::gpu_options(const OptionValues& values) {
  GpuOptions options;
  options.by_stream = values.text("group_by") == "stream";
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
      .columns = columns_in(R"(
rank | integer or null | from `distributedInfo`
device | integer | the device's number: the process id of its streams
stream | text or null | the stream's thread id in the file; null in a row of a device
window_ns | integer | length of the window
busy_ns | integer | at least one activity ran
busy_share | number | `busy_ns` / `window_ns`, 0 to 1
computation_ns | integer | at least one kernel ran that does not communicate
communication_ns | integer | at least one communication kernel ran
memory_ns | integer | at least one memcpy or memset ran
overlap_ns | integer | computation and communication ran at once
exposed_communication_ns | integer | communication ran, and no computation
exposed_memory_ns | integer | memcpys or memsets ran, and nothing else
idle_ns | integer | nothing ran
idle_host_wait_ns | integer | idle time before activities that were launched when it had already begun: the host was late
idle_kernel_wait_ns | integer | short idle times before activities that were launched in time
idle_other_ns | integer | any other idle time
queue_length_mean | number | activities that were launched and had not started, as a mean over the window; only activities whose launch is known
queue_length_max | integer | the most of them at once
activities | integer | kernels, memcpys and memsets that run in the window, also those that began before it; [misplaced](check.md#misplaced-device-work) ones are left out
launches | integer | calls that launched them; a CUDA graph launch has many kernels
short_kernels | integer | kernels that were the only activity of their launch call and took less time than the call
copied_bytes | integer | by memcpys and memsets whose size is in the file
copy_bandwidth_bytes_per_s | number or null | `copied_bytes` by the sum of their durations
)"),
      .totals = columns_in(R"(
window_ns | integer
busy_ns | integer
idle_ns | integer
busy_share | number | `busy_ns` / `window_ns`, 0 to 1
)"),
      .arguments = {ArgumentGroup::copies, ArgumentGroup::launches, ArgumentGroup::placement},
      .options = {{.name = "group_by",
                   .spelling = "group-by",
                   .type = OptionType::choice,
                   .help = "a row per device or per stream",
                   .value = "WHAT",
                   .otherwise = "device",
                   .choices = {"device", "stream"},
                   .is_first = true},
                  steps_option(),
                  kernel_wait_limit_option(),
                  figures_option("TOOL", "count as torch-tb-profiler")},
      .sort_keys = {"window_ns", "busy_ns", "idle_ns", "idle_host_wait_ns", "launches"},
      .examples = {{"tbtrace gpu trace.json.gz", "each device of a trace"},
                   {"tbtrace gpu trace.json.gz --group-by stream --steps 3-5",
                    "each stream, in the time of three steps"},
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
