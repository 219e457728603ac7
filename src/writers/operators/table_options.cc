#include <tbtrace/operators.h>

#include "report/row_order.h"
#include "writers/tables/torch_table.h"

namespace tbtrace {

Status check_table_options(const TableOptions& options, TableFormat format) {
  Status known = report::check_sort_key(options.sort_by);
  if (known.ok() && format == TableFormat::text) {
    known = writers::check_time_unit(options.time_unit);
  }
  return known;
}

}  // namespace tbtrace
