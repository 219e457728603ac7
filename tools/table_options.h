// Options that verbs for tables share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/tables.h>

#include "each_input.h"
#include "option.h"
#include "options.h"
#include "rank_choice.h"
#include "row_choice.h"

namespace tbtrace::tools {

/// What was asked for with the options of tables.
struct TableChoice {
  OutputFormat output;
  ReportOptions report;
  RankChoice rank;
  NameFilter accepts_name;
  std::string labels;  ///< `--labels`: the trace that labels come from; empty: none

  /// `has_folder`: the output is a directory. A wrong value is a failure.
  static Result<TableChoice> of(const OptionParser& parser, bool has_folder);
};

/// `--sort-by`, `--row-limit` and `--format`.
Option sort_option(std::vector<std::string_view> sort_keys);
Option row_limit_option();
/// What is said of a wrong row limit.
std::string row_limit_range();
Option format_option();

/// An option of a table on the command line.
Option command_line_option(const TableDescription& table, const OptionDescription& option);

/// `--steps A-B`.
Option steps_range_option();
/// The steps of `--steps A-B` or `--steps A`; nullopt if not given. A wrong text is a failure.
Result<std::optional<StepRange>> chosen_steps(const OptionParser& parser);

/// What was given of the options of a table, as far as the command has them. A wrong value is a
/// failure.
Result<OptionValues> given_options(const TableDescription& table, const OptionParser& parser);

}  // namespace tbtrace::tools
