// Finds a Python, asks it what it has, and becomes it: verbs that are part of the Python package.
// POSIX. One thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbtrace::tools {

class Console;

/// A program in the folders of PATH; empty if there is none.
std::string program_in_path(std::string_view name);

/// The Python that TBTRACE_PYTHON names: that of the package this program lies in. Empty if none.
std::string own_python();

/// The exit code of a program; nullopt if it could not be run or did not exit by itself.
std::optional<int> exit_code_of(const std::vector<std::string>& words);

/// Becomes a program; returns only if that fails, with the exit code.
int become(const std::vector<std::string>& words, Console& console);

}  // namespace tbtrace::tools
