// Reads inputs and reports problems with them.
// One thread. Failures and issues are printed on the console; a Status or an exit code tells the
// caller how to continue.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <tbtrace/trace.h>

#include "console.h"
#include "options.h"

namespace tbtrace::tools {

/// An input's name in messages and headings.
std::string subject_of(const std::string& path);

/// Warns of problems of an input that did not prevent reading it.
void warn_of_issues(const std::string& subject, const std::vector<Issue>& issues, Console& console);

/// The traces that the inputs name: files, those in directories, the matches of patterns.
struct InputPaths {
  std::vector<std::string> paths;
  std::size_t failed = 0;  ///< directories and patterns without any trace; they were reported
  int last_failure = 0;    ///< the exit code for the last of them
};
InputPaths find_inputs(const StandardOptions& standard, Console& console);
/// The same for partials.
InputPaths find_partial_inputs(const StandardOptions& standard, Console& console);

/// Reads a trace, showing progress, and reports problems of the input.
Result<Trace> read_input(const std::string& path, const ReadOptions& options, Console& console);

/// Computes and writes a result from the recordings of one profiler.
using MakeResult = std::function<Status(std::span<const Trace* const> traces)>;

/// Reads all inputs, which must be recordings of one profiler, and calls `make`. Returns the exit
/// code.
int run_together(const std::string& verb, const StandardOptions& standard,
                 const ReadOptions& reading, Console& console, const MakeResult& make);

/// The names in messages about a result.
struct Subjects {
  std::string verb;
  std::string input;   ///< what it is computed from
  std::string output;  ///< `-`: standard output
};
Subjects subjects_of(const std::string& verb, const StandardOptions& standard);

/// Prints why a result failed, if it did. Returns the exit code.
int finish(const Status& status, const Subjects& subjects, Console& console);

}  // namespace tbtrace::tools
