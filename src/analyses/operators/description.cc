// What the table `ops` is. Its verb and its methods are its own: torch's text, and sums in several
// figures.
#include <tbtrace/tables.h>

#include "report/table_list.h"

namespace tbtrace {

const TableDescription& analyses::ops_table() {
  static const TableDescription kTable = {
      .name = "ops",
      .schema = "tbtrace.ops/1",
      .summary = "operator summary: what key_averages().table() would have printed",
      .about = R"(Operator summary of a saved trace: by default the very text that torch.profiler's
key_averages().table() would have printed in the process that made it.
)",
      .columns = columns_in(R"(
key | text | the name
overload_name | text | `Tensor` of `aten::add.Tensor`; empty if not grouped by it
count | integer | events
is_user_annotation | boolean
device_type | text | where the events ran: `CPU`, `CUDA` and others
cpu_time_total_ns | integer
self_cpu_time_total_ns | integer | without what ran inside
device_time_total_ns | integer | of the kernels, memcpys and memsets that were launched inside; of a device row, its own
self_device_time_total_ns | integer | without those that were launched by operators inside
cpu_memory_usage_bytes | integer or null | allocated minus freed; null, as the next three, if the recording has no allocations (`profile_memory=True`)
self_cpu_memory_usage_bytes | integer or null
device_memory_usage_bytes | integer or null
self_device_memory_usage_bytes | integer or null
flops | integer or null | null unless recorded with `with_flops=True`; 0 of operators that torch has no formula for
input_shapes | list
stack | list of texts | frames, innermost first
)"),
      .totals = columns_in(R"(
self_cpu_time_total_ns | integer
self_device_time_total_ns | integer | of device rows without annotations
)"),
      .more_columns = {{"adds to rows", "--group-by module,line,device,stream,thread,rank,step",
                        columns_in(R"(
module | text or null | the innermost `nn.Module` frame that the event is or is inside; of work on a device, the one around its launch; by module
source_line | text or null | the innermost line of own code, as `tbtrace lines` has it: `model.py(12): forward`. A backward pass has the lines of its forward operators; by line
device | integer or null | the number of the device; only kernels, memcpys and memsets have one; by device or stream
stream | integer or null | the number of their stream: the one in `stream_name`; by stream
stream_name | text or null | the id of their stream's row in the file: `7`, `stream 7`; by stream
thread | text or null | the host thread; of work on a device, that of its launch; by thread
rank | integer or null | from `distributedInfo`; by rank
step | integer or null | number of the step that was open when the event started, or when the work was launched; by step
)")},
                       {"rows", "--per-event", columns_in(R"(
name | text
overload_name | text
tid | any | the thread, or a device's stream, a number or a text as in the file; null for memory records
start_ns | integer | from the trace's start
end_ns | integer
parent | integer or null | a row of the whole list, from 0, even if not all rows are shown
step | integer or null | N of the `ProfilerStep#N` of the same process that was open when the event started; of a kernel, memcpy or memset, when it was launched. If several were open, of the one that started last. Null if none was, if the launch is unknown, and for memory records and annotations on devices
self_cpu_time_ns | integer
cpu_memory_usage_bytes | integer
self_cpu_memory_usage_bytes | integer
device_memory_bytes | integer
self_device_memory_bytes | integer
flops | integer or null | null for memory records
input_shapes | list
stack | list of texts | the argument `Call stack`
sequence_nr | integer or null | autograd's number, if it is not 0
is_user_annotation | boolean
is_python_function | boolean
kernels | list | `[name, device index, duration in us]` of each kernel, memcpy and memset that it launched
)")}},
      .arguments = kOperatorArguments,
      .in_partials = InPartials::summed};
  return kTable;
}

}  // namespace tbtrace
