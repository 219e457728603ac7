// `tbtrace record --pid`: recordings of programs that run already. One thread.
#pragma once

#include <string>

#include "console.h"
#include "options.h"

namespace tbtrace::tools {

/// Records the processes, and those that they started, by the first way that each allows. Returns
/// the exit code.
int record_running(const OptionParser& parser, const std::string& logs, Console& console);

}  // namespace tbtrace::tools
