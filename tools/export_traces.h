// `convert --to perfetto` and the other formats of other tools: one file of all inputs.
// One thread.
#pragma once

#include <optional>
#include <string>

#include <tbtrace/trace_export.h>

#include "options.h"

namespace tbtrace::tools {

/// The format that --to names, if it is one of them.
std::optional<ExportFormatRow> chosen_export(const OptionParser& parser);

/// What is wrong with an output that is to be a log directory: it has the name of a file of one of
/// the formats. Empty if nothing is.
std::string problem_of_log_directory(const std::string& output);

/// Writes the file, and says what is in it. Returns the exit code.
int export_traces(const OptionParser& parser, const ExportFormatRow& format,
                  const StandardOptions& standard);

}  // namespace tbtrace::tools
