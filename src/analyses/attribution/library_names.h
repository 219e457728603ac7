// The names that the files of libraries begin with once torch has cut the folders of sys.path off.
// To add a distribution, add its name to distributions.txt.
// Pure functions.
#pragma once

#include <span>
#include <string_view>

namespace tbtrace::analyses {

/// Whether a path without the folder that it was found in, with `/` between its parts, is called
/// like a file of Python's standard library (`threading.py`, `concurrent/futures/thread.py`).
bool is_standard_library(std::string_view path);

/// The same for a distribution that people install beside torch (`transformers/trainer.py`).
bool is_distribution(std::string_view path);

/// The tables, sorted; for tests.
std::span<const std::string_view> standard_library_names();
std::span<const std::string_view> distribution_names();

}  // namespace tbtrace::analyses
