#include <tbtrace/tables.h>

#include "command.h"
#include "table_command.h"

namespace tbtrace::tools {

std::vector<Command> commands() {
  std::vector<Command> all = {summary_command(), report_command(), diff_command(), ops_command(),
                              flamegraph_command()};
  for (const TableDescription* const table : tables()) {
    if (table->make == nullptr) continue;
    all.push_back(table->name == "flops" ? flops_command() : table_command(*table));
  }
  for (const auto& command :
       {collectives_command, merge_command, partial_command, merge_partials_command, check_command,
        convert_command, recover_command, baseline_command, tensorboard_command, doctor_command}) {
    all.push_back(command());
  }
  return all;
}

}  // namespace tbtrace::tools
