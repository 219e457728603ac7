#include "command.h"

namespace tbtrace::tools {

/// The verbs that the page asks. Those that record, write folders or start programs are not for a
/// browser.
std::vector<Command> commands() { return {report_command(), diff_command()}; }

}  // namespace tbtrace::tools
