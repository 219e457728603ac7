// Which files the inputs of a conversion stand for, and to which run each belongs.
// Results are owned. Files are only looked at; any thread.
// What is not there is left to who reads it; a folder or a pattern that stands for nothing is told
// by the Status of its entry, so that it does not stop the others.
#pragma once

#include <string>
#include <vector>

#include <tbtrace/status.h>

namespace tbtrace::converters {

struct FoundInput {
  std::string path;  ///< `-`: standard input
  std::string run;   ///< the folder it lies in, or from the searched folder to that, safe as a path
  Status problem;    ///< of a folder or a pattern that gives no files
};

struct Inputs {
  std::vector<FoundInput> files;
  /// What folders hold and is not taken: files named as traces are that are none or cannot be read,
  /// and folders that cannot be read.
  std::vector<std::string> passed_over;
};

/// Files are taken as they are, folders are searched for traces, patterns of glob(3) expanded where
/// no file has that name. The same file is taken once. What lies in the log directory is only taken
/// if it is named itself.
Inputs find_inputs(const std::vector<std::string>& named, const std::string& log_directory);

}  // namespace tbtrace::converters
