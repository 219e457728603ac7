// Whose code a file is: a library's, or the user's own. This is the only definition.
// Refers to its Trace, which must outlive it. Immutable.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

// To add a distribution, add its name to distributions.txt.

/// Whether a path without the folder that it was found in, with `/` between its parts, is called
/// like a file of Python's standard library (`threading.py`, `concurrent/futures/thread.py`).
bool is_standard_library(std::string_view path);

/// The same for a distribution that people install beside torch (`transformers/trainer.py`).
bool is_distribution(std::string_view path);

/// The tables, sorted; for tests.
std::span<const std::string_view> standard_library_names();
std::span<const std::string_view> distribution_names();

/// What the path of a file alone shows: it is in a folder of installed packages or of Python, it
/// was generated, or it is called like a file of a known library. torch cuts the folders of
/// sys.path off, site-packages among them, so a library's path begins with the library's name.
bool is_library_path(std::string_view file);

/// The same, but what the program was started with is its own, whatever it is called: the main
/// script, and its package if it was started as a module (`python -m vllm.entrypoints.cli`).
/// Programs that only run others (pdb, torch.distributed.run) do not count. A file that nothing is
/// known about is the user's own.
class OwnCode {
 public:
  explicit OwnCode(const Trace& trace);

  bool is_library(std::string_view file) const;

 private:
  void add_program(std::string_view script);

  std::set<std::string, std::less<>> scripts_;
  std::set<std::string, std::less<>> packages_;  // paths up to the `/` of the package
};

}  // namespace tbtrace::analyses
