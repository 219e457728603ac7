// The command that prints a table of a page. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/tables.h>

namespace tbtrace::pages {

/// An option by its spelling; without a value a flag.
struct CommandOption {
  std::string_view spelling;
  std::string value = {};
};

/// Adds `--steps 3-5`, if there are any.
void add_steps(std::vector<CommandOption>& options, const std::optional<StepRange>& steps);

/// `tbtrace VERB` with these options.
std::string command_text(std::string_view verb, const std::vector<CommandOption>& options);

/// Of a table with these options, ordered by a column; empty: in its own order.
std::string command_text(const TableDescription& table, const OptionValues& options,
                         std::string_view sort_by);

}  // namespace tbtrace::pages
