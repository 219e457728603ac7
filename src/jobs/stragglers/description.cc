// What the table `collectives` is. Its verb and its method take all ranks of a job together.
#include <tbtrace/collectives.h>
#include <tbtrace/tables.h>

#include "report/table_list.h"

namespace tbtrace {

const TableDescription& analyses::collectives_table() {
  static const TableDescription kTable = {
      .name = "collectives",
      .schema = "tbtrace.collectives/1",
      .summary = "the collectives of a job: who waited for whom, how fast they were",
      .about =
          R"(The collectives of a job, matched across the traces of its ranks: how long ranks waited for
the last one, how long the transfer took, and its bandwidth; how the ranks' clocks differ; and
whether one rank holds up the job. What could not be matched is counted with the reason.
)",
      .columns = columns_in(R"(
name | text | `all_reduce`; of kernels without c10d's description the function's name
group | text or null | the process group's name and ranks, as far as they were recorded
sequence | integer or null | `Seq`: its number in the group
step | integer or null | the number of the step in which it was launched
bytes | integer or null | the larger one of input and output, as in nccl-tests
type | text or null | of the elements, `BFloat16`
ranks | integer | how many ranks were compared
matched_by | text | `sequence` (group and `Seq`), `pair` (a send and its receive) or `order`
start_ns | integer | when the first rank began, since the first collective
duration_ns | integer | from then to the end of the last rank
wait_max_ns | integer or null | how long the first rank waited for the last one; null if that cannot be known
transfer_ns | integer or null | from the arrival of the last rank to the end; null if a rank of the group has no trace
exposed_ns | integer | in which a rank ran nothing else, mean of the ranks
algorithm_bandwidth_bytes_per_s | number or null | `bytes` by `transfer_ns`
bus_bandwidth_bytes_per_s | number or null | the same times 2(n-1)/n for an all-reduce, (n-1)/n for all_gather, reduce_scatter and all_to_all
last_rank | integer or null | who arrived last; null if the clocks do not tell
)"),
      .totals = columns_in(R"(
collectives | integer | matched ones
unmatched | integer | records of ranks that could not be matched
)"),
      .arguments = {},
      .more_arguments = kRankArguments,
      .sort_keys = {"wait_max_ns", "duration_ns", "transfer_ns", "exposed_ns", "bytes",
                    "bus_bandwidth_bytes_per_s"},
      .examples = {{"tbtrace collectives ranks/", "does the job wait for one of its ranks?"},
                   {"tbtrace collectives ranks/ --sort-by wait_max_ns",
                    "the collectives in which ranks waited longest"},
                   {"tbtrace collectives ranks/ --format json", "for scripts"},
                   {"tbtrace collectives job.tbp", "the same from a partial of all ranks"}},
      .in_partials = InPartials::of_job};
  return kTable;
}

}  // namespace tbtrace
