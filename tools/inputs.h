// Reading of inputs, and what is said about them.
// One thread. Failures and issues are said on the console; a Status or an exit code tells what to
// do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

#include "console.h"
#include "options.h"

namespace tbtrace::tools {

/// An input as messages and headings name it.
std::string subject_of(const std::string& path);

/// What was wrong with an input and could be read around.
void warn_of_issues(const std::string& subject, const std::vector<Issue>& issues, Console& console);

/// Reads a trace with progress, and says what was wrong with the input.
Result<Trace> read_input(const std::string& path, const ReadOptions& options, Console& console);

/// Reads all inputs as recordings of one profiler, which they have to be. Returns the exit code.
int read_together(std::string_view verb, const StandardOptions& standard,
                  const ReadOptions& options, Console& console, std::vector<Trace>& traces);

std::vector<const Trace*> pointers_to(const std::vector<Trace>& traces);

/// Says why `output` was not made, if it was not. Returns the exit code.
int finish(const Status& status, std::string_view verb, const std::string& output,
           Console& console);

}  // namespace tbtrace::tools
