// The verbs that show a table, made from its description (tbtrace/tables.h): `gpu`, `steps` and the
// like.
#pragma once

#include <tbtrace/tables.h>

#include "command.h"
#include "options.h"

namespace tbtrace::tools {

/// The verb of a table, with its options and examples.
Command table_command(const TableDescription& table);

/// Reads the inputs one after the other (files, directories and patterns), makes the table of each
/// and writes one table of all rows; with `--each` one table per input. With several inputs the
/// rows have a first column `input`. Returns the exit code.
int run_table(const OptionParser& parser);

}  // namespace tbtrace::tools
