#include <string_view>

#include <tbtrace/tables.h>

#include "command.h"
#include "options.h"
#include "table_command.h"

namespace tbtrace::tools {
namespace {

/// Adds an option to the verb that one of several words begins with, for its help.
void add_option_for(const Command& longer, std::vector<Command>& all) {
  const std::size_t space = longer.name.find(' ');
  if (space == std::string_view::npos) return;
  std::string_view name = longer.name.substr(space + 3);  // after ` --`
  Option option = {.name = name, .help = longer.summary};
  if (const std::size_t end = name.find(' '); end != std::string_view::npos) {
    option = {.name = name.substr(0, end),
              .value = "WHAT",
              .help = longer.summary,
              .choices = {name.substr(end + 1)}};
  }
  for (const Option& each : standard_options().options) {
    if (each.name == option.name) return;  // it says so itself
  }
  for (Command& command : all) {
    if (command.name != longer.name.substr(0, space)) continue;
    command.options.push_back({"Other view", {option}});
  }
}

}  // namespace

std::vector<Command> commands() {
  std::vector<Command> all = {record_command(),    summary_command(), open_command(),
                              report_command(),    diff_command(),    ops_command(),
                              flamegraph_command()};
  for (const TableDescription* const table : tables()) {
    if (table->make == nullptr) continue;
    all.push_back(table->name == "flops"    ? flops_command()
                  : table->name == "memory" ? memory_command()
                                            : table_command(*table));
  }
  for (const auto& command :
       {collectives_command, merge_command, save_command, add_command, check_command,
        convert_command, recover_command, slice_command, repair_command, anonymise_command,
        replay_command, tensorboard_command, mcp_command, version_command}) {
    all.push_back(command());
  }
  for (const Command& command : std::vector(all)) add_option_for(command, all);
  return all;
}

}  // namespace tbtrace::tools
