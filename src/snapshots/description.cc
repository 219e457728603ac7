// What the tables `memory_snapshot` and `memory_snapshot_diff` are.
#include <tbtrace/tables.h>

#include "report/table_list.h"

namespace tbtrace {
namespace {

OptionDescription at_option() {
  return {.name = "at",
          .spelling = "at",
          .type = OptionType::choice,
          .help =
              "the moment: the peak, the end, or the last failed allocation (default: that if "
              "there is one, else the peak)",
          .value = "MOMENT",
          .choices = {"peak", "end", "oom"}};
}

OptionDescription by_option() {
  return {.name = "by",
          .spelling = "by",
          .type = OptionType::choices,
          .help = "what makes a group, one or several with commas (default: line,category)",
          .help_in_code = "what makes a group, one or several (default: line and category)",
          .value = "WHAT",
          .choices = {"line", "category", "stack", "size", "stream", "pool"}};
}

constexpr std::string_view kOrigin = R"(
rank | integer or null | by the file's name, such as `rank3_memory_snapshot.pickle`
device | integer | the device's number
)";

constexpr std::string_view kGroup = R"(
source_line | text or null | the innermost line of own code; `[unattributed]`, `[before the recording]`; null if not grouped by it, as the next ones
category | text or null | what it was for, by evidence
stack | text or null | all frames, innermost first
size_bytes | integer or null | of each allocation
stream | integer or null | on which it was allocated
pool | text or null | `default`, or the two numbers of a private pool
)";

std::vector<ColumnDescription> columns_of(std::initializer_list<std::string_view> parts) {
  std::vector<ColumnDescription> columns;
  for (const std::string_view part : parts) {
    for (const ColumnDescription& column : columns_in(part)) columns.push_back(column);
  }
  return columns;
}

}  // namespace

const TableDescription& analyses::memory_snapshot_table() {
  static const TableDescription kTable = {
      .name = "memory_snapshot",
      .schema = "tbtrace.memory_snapshot/1",
      .summary = "what held a GPU's memory, by a snapshot of the allocator",
      .about = {},
      .columns =
          columns_of({kOrigin, "moment | text | `peak`, `end`, `oom` or `time`\n", kGroup, R"(
bytes | integer | sum of the allocations, as they were requested
share | number | of all that was allocated on the device, 0 to 1
allocations | integer | their number
pending_bytes | integer | of `bytes`: freed by the program, and held until another stream is done
)"}),
      .totals = columns_in(R"(
bytes | integer | what was allocated at the moment, on all devices
allocations | integer | their number
pending_bytes | integer | sum of the rows
)"),
      .more_columns = {{"rows", "--view peak", columns_of({kOrigin, R"(
peak_bytes | integer or null | the most that was allocated, of what is recorded; null without a history, as the next one
peak_at_ns | integer or null | when that was so for the first time
end_bytes | integer or null | allocated at the end; null if the file ends before it says it, as the next one
before_bytes | integer or null | of memory that was allocated before the recording
reserved_bytes | integer or null | by the allocator, at the peak; null if the file is cut
free_bytes | integer or null | of these, in no block then
peak_reserved_bytes | integer or null | the most that was reserved
pending_bytes | integer | at the peak: freed by the program, and held until another stream is done
growth_per_step_bytes | integer or null | from the end of the first step to that of the last, by the steps between; null without two of them
largest_line | text or null | the line that held most at the peak
largest_bytes | integer | what it held
out_of_memory | integer | allocations that failed
entries | integer | of the trace
duration_ns | integer | from the first to the last entry
)"})},
                       {"rows", "--view oom", columns_of({kOrigin, R"(
at_ns | integer | when the allocation failed
asked_bytes | integer | what was asked for, rounded up by the allocator
device_free_bytes | integer | what the device had free for anyone
allocated_bytes | integer | what was allocated
reserved_bytes | integer or null | what the allocator had reserved; null if the file does not say it, as the next ones
free_bytes | integer or null | of these, in no block
largest_free_bytes | integer or null | the largest free piece
usable_free_bytes | integer or null | free in the pool, of the stream and for the sizes of the request
largest_usable_bytes | integer or null | the largest piece of these
other_streams_free_bytes | integer or null | free on other streams
private_reserved_bytes | integer or null | reserved by private pools (CUDA graphs, `MemPool`)
private_free_bytes | integer or null | of these, in no block
pending_bytes | integer | freed by the program, and held until another stream is done
cause | text | `full`, `fragmented`, `other_streams`, `private_pools`, `unreleased`, `rounding`, `several` or `unknown`
advice | text | what would help
kept_by_line | text or null | if memory was fragmented: the line whose blocks are the largest in segments with free memory of the request's pool and stream, the one with most of it
kept_segments | integer or null | their number
kept_free_bytes | integer or null | free in them
source_line | text | the line that asked
largest_line | text or null | the line that held most
largest_bytes | integer | what it held
)"})},
                       {"rows", "--view segments", columns_of({kOrigin, R"(
moment | text | `peak`, `end`, `oom` or `time`
address | text | where the segment begins
bytes | integer | its size
allocated_bytes | integer | of these, in blocks that are in use
free_bytes | integer | the rest
largest_free_bytes | integer | the largest free piece
blocks | integer | blocks that are in use
stream | integer or null | that it belongs to
pool | text or null | `default`, or the two numbers of a private pool
kind | text | `small` (requests up to 1 MiB), `large` or `expandable`
kept_by_line | text or null | the line of the largest block in it
kept_by_bytes | integer or null | that block's size
reserved_by_line | text or null | the line that had the allocator reserve it
)"})},
                       {"rows", "--view blocks", columns_of({kOrigin, R"(
moment | text | `peak`, `end`, `oom` or `time`
address | text | where its segment begins
offset_bytes | integer | where the block begins in it
bytes | integer | the size of the block, or of a free piece
state | text | `allocated`, `pending` (freed by the program, and held until another stream is done) or `free`
source_line | text or null | the line that holds it; null: free, as the next one
category | text or null | what it was for
stream | integer or null | of the segment
pool | text or null | `default`, or the two numbers of a private pool
)"})},
                       {"rows", "--view bands",
                        columns_of(
                            {kOrigin, "band | integer | from 1, the largest first\n", kGroup, R"(
at_ns | integer | time of a moment
bytes | integer | allocated then; at each moment the bands add up to all that was
)"})},
                       {"rows", "--view growth", columns_of({kOrigin, kGroup, R"(
growth_per_step_bytes | integer | on average: from rise to rise of what grows steadily, else from the end of the first step to that of the last
first_bytes | integer | allocated at the end of the first step
last_bytes | integer | and of the last one
rises | integer | steps at whose end there was more than before
steps | integer | all steps
since_step | integer | where it began to rise without falling again, counted from 1
)"})},
                       {"rows", "--view curve", columns_of({kOrigin, R"(
at_ns | integer | time of the entry
action | text | its action, such as `alloc` and `free_completed`
allocated_bytes | integer | allocated after it
reserved_bytes | integer or null | reserved after it
)"})},
                       {"rows", "--view allocations", columns_of({kOrigin, R"(
bytes | integer | as requested
source_line | text | as in the rows without a view
category | text | what it was for
stream | integer or null | on which it was allocated
pool | text or null | `default`, or the two numbers of a private pool
allocated_at_ns | integer or null | null: before the recording
requested_at_ns | integer or null | when the program freed it
freed_at_ns | integer or null | when the allocator had it back; null: held at the end
held_ns | integer or null | between the first and the last
)"})}},
      .options = {{.name = "view",
                   .spelling = "view",
                   .type = OptionType::choice,
                   .help = "what a row is",
                   .value = "WHAT",
                   .otherwise = "alive",
                   .choices = {"alive", "peak", "oom", "segments", "blocks", "growth", "curve",
                               "bands", "allocations"},
                   .is_first = true},
                  at_option(),
                  {.name = "at_ns",
                   .spelling = "at-ns",
                   .type = OptionType::whole,
                   .help = "the moment, in ns since the first entry, as the column at_ns has it",
                   .value = "TIME",
                   .takes = "a number of nanoseconds"},
                  by_option()},
      .sort_keys = {"bytes", "free_bytes", "growth_per_step_bytes"},
      .no_rows = {"the snapshot has neither entries nor segments of a device"},
      .verb = "memory"};
  return kTable;
}

const TableDescription& analyses::memory_snapshot_diff_table() {
  static const TableDescription kTable = {
      .name = "memory_snapshot_diff",
      .schema = "tbtrace.memory_snapshot_diff/1",
      .summary = "what is different between what two memory snapshots held",
      .about = {},
      .columns = columns_of({"device | integer | the device's number; where each snapshot has one "
                             "device, that of the first\n",
                             kGroup, R"(
before_bytes | integer | allocated in the first snapshot
after_bytes | integer | and in the second
difference_bytes | integer | the second minus the first
before_allocations | integer | their number
after_allocations | integer | and in the second
)"}),
      .totals = columns_in(R"(
before_bytes | integer | all that was allocated
after_bytes | integer | and in the second
difference_bytes | integer | the second minus the first
)"),
      .options = {at_option(), by_option()},
      .sort_keys = {"difference_bytes"},
      .verb = "diff"};
  return kTable;
}

}  // namespace tbtrace
