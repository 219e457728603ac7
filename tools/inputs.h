// Reading of inputs, and what is said about them.
// One thread. Failures and issues are said on the console; a Status or an exit code tells what to
// do.
#pragma once

#include <functional>
#include <span>
#include <string>
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

/// What the recordings of one profiler are made into.
using MakeResult = std::function<Status(std::span<const Trace* const> traces)>;

/// Reads all inputs as recordings of one profiler, which they have to be, and makes the result.
/// Returns the exit code.
int run_together(const std::string& verb, const StandardOptions& standard,
                 const ReadOptions& reading, Console& console, const MakeResult& make);

/// What messages about a result name.
struct Subjects {
  std::string verb;
  std::string input;   ///< what it is made of
  std::string output;  ///< `-`: standard output
};
Subjects subjects_of(const std::string& verb, const StandardOptions& standard);

/// Says why a result was not made, if it was not. Returns the exit code.
int finish(const Status& status, const Subjects& subjects, Console& console);

}  // namespace tbtrace::tools
