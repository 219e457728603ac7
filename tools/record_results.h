// What `tbtrace record` says at its end, on standard error. One thread.
#pragma once

#include <string>

#include "console.h"
#include "options.h"
#include "recording_hook.h"

namespace tbtrace::tools {

/// The traces, their summary and the page. `reason`: why nothing was recorded. Returns an exit code
/// for a recording that went well.
int show_recording(const RecordedProgram& program, const std::string& reason,
                   const std::string& logs, const OptionParser& parser, Console& console);

}  // namespace tbtrace::tools
