// What the table `check` is. Its verb and its method take several inputs together.
#include <tbtrace/analysis_context.h>
#include <tbtrace/tables.h>

#include "report/table_list.h"

namespace tbtrace {

const TableDescription& analyses::check_table() {
  static const TableDescription kTable = {
      .name = "check",
      .schema = "tbtrace.check/1",
      .summary = "what is missing or contradictory in traces, and what to do about it",
      .about =
          R"(What was recorded, and what is missing or contradictory in traces: damaged files, lost
records, launches without kernels, clocks that are off, missing steps and ranks. Each finding
has its cause and what to do about it. The exit code is 1 if there is an error or a warning.
)",
      .columns = columns_in(R"(
input | text or null | the file; null for findings of all inputs together
severity | text | `error`: results are wrong or incomplete; `warning`: some may be; `info`: good to know
id | text | see below; it stays the same in later versions
count | integer | how often it was found
example | text or null | the name of the first one
example_at_ns | integer or null | its time, in nanoseconds since the start of the recording's window
example_offset | integer or null | its place, in bytes of the uncompressed file
cause | text | what is wrong
remedy | text or null | what to do about it
)"),
      .totals = columns_in(R"(
errors | integer | rows of this severity
warnings | integer | rows of this severity
infos | integer | rows of this severity
)"),
      .more_arguments = kRecordedOptionArguments,
      .sort_keys = {"input", "id", "count"},
      .examples = {{"tbtrace check trace.json.gz", "can this trace be trusted?"},
                   {"tbtrace check traces/", "all ranks of a job, and whether any is missing"},
                   {"tbtrace check trace.json.gz --format json", "for scripts"}},
      .in_partials = InPartials::by_source};
  return kTable;
}

}  // namespace tbtrace
