// The options of `tbtrace record`, and what they say to the recorder in a program. One thread.
#pragma once

#include <optional>
#include <string>

#include "kineto_recording.h"
#include "options.h"

namespace tbtrace::tools {

/// nullopt if `text` is not a number from 0 on.
std::optional<double> seconds_of(const std::string& text);

/// Whether a time is given instead of steps.
bool is_by_time(const OptionParser& parser);

/// What is wrong with the options, empty if nothing is.
std::string problem_of(const OptionParser& parser);

/// Whether an option without a value is on; --record-shapes is unless it is false.
bool is_on(const OptionParser& parser, const std::string& name);

/// For a program that the command starts. `logs`: the folder for traces.
std::string options_of_program(const OptionParser& parser, const std::string& logs);

/// For Kineto, without the time.
KinetoWindow kineto_window(const OptionParser& parser);

/// For a program that runs already: it is recorded as soon as a step begins that is not the first.
std::string options_of_request(const OptionParser& parser, const std::string& logs);

}  // namespace tbtrace::tools
