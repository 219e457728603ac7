// Writing the page about traces, for the verbs `report` and `open`, which have the same options.
// One thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tbtrace/trace.h>

#include "console.h"
#include "option.h"
#include "options.h"

namespace tbtrace::tools {

/// The options of `report` besides the standard ones.
std::vector<OptionGroup> report_options();

using OnTrace = std::function<void(const Trace& trace, const std::string& path)>;

/// Writes the page about `standard.inputs` to its output. `read` is called with each trace before
/// its views are made. Returns the exit code: with kDone and kSomeInputsFailed the page was
/// written.
int write_report(const OptionParser& parser, const StandardOptions& standard, Console& console,
                 const OnTrace& read = {});

}  // namespace tbtrace::tools
