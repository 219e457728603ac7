// What the table `memory` is.
#include <algorithm>
#include <iterator>

#include <tbtrace/tables.h>

#include "analyses/memory/report.h"
#include "report/table_list.h"

namespace tbtrace {

MemoryOptions analyses::memory_options(const OptionValues& values) {
  constexpr std::string_view kViews[] = {"peak", "alive", "curve", "allocations"};
  MemoryOptions options;
  const auto* const view = std::ranges::find(kViews, values.text("view"));
  if (view != std::end(kViews)) options.view = static_cast<MemoryView>(view - std::begin(kViews));
  options.steps = values.steps();
  return options;
}

const TableDescription& analyses::memory_table() {
  static const TableDescription kTable = {
      .name = "memory",
      .schema = "tbtrace.memory/1",
      .summary = "memory that each device had allocated, and what held it at the peak",
      .about =
          R"(How much memory each device had allocated, what held it at the peak, and how it grew. Needs a
trace that was recorded with profile_memory. Views:
  peak         one row per device: the peak, reserved memory, growth per step
  alive        what was allocated at the peak, by operator, module and line; the
               bytes add up to the peak, and the categories are estimated
  curve        one row per allocation or free: allocated and reserved bytes then
  allocations  one row per allocation: who allocated it, and when it was freed
With --compat plugin, alive and peak show the statistics of torch-tb-profiler's memory view,
curve and allocations its curve and its events.
)",
      .columns = columns_in(R"(
rank | integer or null | from `distributedInfo`
process | text | id of the process that allocated
device | integer or null | the device's number; null for the host
device_name | text | `cpu`, `cuda:0`
peak_bytes | integer or null | the most that was allocated after any record; null if all allocations failed
peak_at_ns | integer or null | when that was so for the first time
peak_reserved_bytes | integer or null | the most that the caching allocator had reserved; null if it reserved nothing or the file does not say
fragmentation_bytes | integer or null | reserved minus allocated bytes at the peak
growth_per_step_bytes | integer or null | median of the differences of allocated bytes between the ends of successive steps; null with fewer than two steps
largest_operator | text or null | the first row of `alive`
largest_bytes | integer or null | its bytes
out_of_memory | integer | allocations that failed
totals | text | where the allocated bytes come from: `recorded`, `summed` or `mixed`, see below
alive | list | what was allocated at the peak, largest first: objects with the keys of `--view alive` from `operator` to `allocations`
)"),
      .totals = columns_in(R"(
peak_bytes | integer | sum of the devices' peaks, which may be at different times
out_of_memory | integer | allocations that failed
allocations | integer | rows of `--view allocations`
without_address | integer | records whose address is not in the file, in the whole recording
)"),
      .more_columns = {{"rows", "--view alive", columns_in(R"(
rank | integer or null | from `distributedInfo`
process | text | id of the process that allocated
device | integer or null | the device's number; null for the host
device_name | text | `cpu`, `cuda:0`
operator | text | the innermost operator that was open on the thread that allocated; `[unattributed]` without one; `[before the recording]` and `[unknown]` by the rules below
module | text or null | the innermost `nn.Module` frame around it
source_line | text or null | the innermost line of own code, as `tbtrace lines` has it: `model.py(12): forward`. A backward pass has the lines of its forward operators
category | text | `parameter`, `optimizer_state`, `input`, `temporary`, `activation`, `gradient`, `unknown`
category_estimated | boolean | true for every recorded allocation, because traces have no categories (rules below); false for `[before the recording]` and `[unknown]`
bytes | integer | sum of the allocations
allocations | integer | their number
)")},
                       {"rows", "--view curve", columns_in(R"(
rank | integer or null | from `distributedInfo`
process | text | id of the process that allocated
device | integer or null | the device's number; null for the host
device_name | text | `cpu`, `cuda:0`
at_ns | integer | time of the record
allocated_bytes | integer | allocated after it
reserved_bytes | integer or null | reserved after it; null as for `peak_reserved_bytes`
totals | text | where the allocated bytes come from: `recorded`, `summed` or `mixed`, see below
)")},
                       {"rows", "--view allocations", columns_in(R"(
rank | integer or null | from `distributedInfo`
process | text | id of the process that allocated
device | integer or null | the device's number; null for the host
device_name | text | `cpu`, `cuda:0`
operator | text | the innermost operator that was open on the thread that allocated; `[unattributed]` without one; `[before the recording]` by the rules below
module | text or null | the innermost `nn.Module` frame around it
source_line | text or null | the innermost line of own code, as `tbtrace lines` has it: `model.py(12): forward`. A backward pass has the lines of its forward operators
category | text | `parameter`, `optimizer_state`, `input`, `temporary`, `activation`, `gradient`, `unknown`
category_estimated | boolean | true for every recorded allocation, because traces have no categories (rules below); false for `[before the recording]`
bytes | integer | its size
allocated_at_ns | integer or null | null: before the recording; `operator` is then `[before the recording]`
freed_at_ns | integer or null | null: not freed, or unknown
held_ns | integer or null | time between the two
end | text | `freed`; `held`: not freed in the recording; `unknown`: the address was allocated again, or is not in the file
)")},
                       {"rows", "--compat plugin | --compat plugin --view alive", columns_in(R"(
rank | integer or null | from `distributedInfo`
device | integer or null | the device's number; null for the host
device_name | text | `CPU`, `GPU0`
operator | text | its name
calls | integer | number of its calls
size_increase_bytes | integer | sum of all sizes in it, frees negative
self_size_increase_bytes | integer | the same without the operators inside
allocations | integer | number of allocations in it
self_allocations | integer | the same without the operators inside
allocated_bytes | integer | sum of their sizes
self_allocated_bytes | integer | the same without the operators inside
)")},
                       {"rows", "--compat plugin --view allocations", columns_in(R"(
rank | integer or null | from `distributedInfo`
device | integer or null | the device's number; null for the host
device_name | text | `CPU`, `GPU0`
operator | text | `aten::addmm (aten::empty)`, `<unknown>`
bytes | integer | the size
allocated_at_ns | integer or null | null: no allocation of this address was recorded
freed_at_ns | integer or null | null: not freed
)")},
                       {"rows", "--compat plugin --view curve", columns_in(R"(
rank | integer or null | from `distributedInfo`
device | integer or null | the device's number; null for the host
device_name | text | `CPU`, `GPU0`
at_ns | integer | time of the record
allocated_bytes | integer | the file's `Total Allocated`
reserved_bytes | integer | the file's `Total Reserved`
)")}},
      .arguments = {ArgumentGroup::allocations, ArgumentGroup::call_stacks},
      .more_arguments = {ArgumentGroup::autograd, ArgumentGroup::python},
      .options = {{.name = "view",
                   .spelling = "view",
                   .type = OptionType::choice,
                   .help = "what a row is",
                   .value = "WHAT",
                   .otherwise = "peak",
                   .choices = {"peak", "alive", "curve", "allocations"},
                   .is_first = true},
                  figures_option("WHO", "exact, or count as torch-tb-profiler (plugin)", "exact"),
                  steps_option()},
      .sort_keys = {"peak_bytes", "growth_per_step_bytes", "largest_bytes"},
      .examples = {{"tbtrace memory trace.json.gz", "the peak of each device"},
                   {"tbtrace memory trace.json.gz --view alive", "what held the memory then"},
                   {"tbtrace memory trace.json.gz --view allocations --sort-by held_ns",
                    "what was held longest"},
                   {"tbtrace memory trace.json.gz --view curve --format csv -o curve.csv",
                    "for a plot"}},
      .no_rows = {"the trace has no allocations", NeededData::allocations},
      .in_partials = InPartials::by_source,
      .kept = {{"memory.peak", {}}, {"memory.alive", {{"view", std::string("alive")}}}},
      .make = [](const Trace& trace, const OptionValues& values) {
        return memory_report(trace, memory_options(values));
      }};
  return kTable;
}

}  // namespace tbtrace
