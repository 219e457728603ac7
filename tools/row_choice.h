// `--name REGEX` and `--kind KIND`: which rows of an operator table are shown.
#pragma once

#include <string_view>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/status.h>

#include "console.h"
#include "options.h"

namespace tbtrace::tools {

std::vector<Option> row_choice_options();

/// Sets what the options select. A wrong expression is a failure.
Status take_row_choice(const OptionParser& parser, TableOptions& table);

/// Says how many rows were selected, if `table` selects any.
void say_row_counts(const TableOptions& table, const RowCounts& counts, std::string_view subject,
                    Console& console);

}  // namespace tbtrace::tools
