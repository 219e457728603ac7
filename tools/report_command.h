// Writing the page about traces, for the verbs `report` and `open`, which have the same options.
// One thread.
#pragma once

#include <vector>

#include "console.h"
#include "option.h"
#include "options.h"

namespace tbtrace::tools {

/// The options of `report` besides the standard ones.
std::vector<OptionGroup> report_options();

/// Writes the page about `standard.inputs` to its output. Returns the exit code: with kDone and
/// kSomeInputsFailed the page was written.
int write_report(const OptionParser& parser, const StandardOptions& standard, Console& console);

}  // namespace tbtrace::tools
