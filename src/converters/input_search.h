// Which files the inputs of a conversion stand for, and to which run each belongs.
// Results are owned. Only the start of a file is read; any thread.
// A file that does not exist is left to its reader. A folder or a pattern that stands for nothing
// has a Status in its entry, so that it does not stop the others.
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
  /// What searched folders contain and is not taken: JSON files that are not traces, hidden files
  /// that are not JSON, and folders that cannot be read.
  std::vector<std::string> passed_over;
};

/// Files are taken whatever is in them. Folders are searched for traces: files with the name of one
/// (`.json`, `.json.gz`) that look like one, or that cannot be read, which is a failure of their
/// own. Patterns of glob(3) are expanded if no file has that name. The same file is taken once. A
/// file in the log directory is only taken if it is named itself.
Inputs find_inputs(const std::vector<std::string>& named, const std::string& log_directory);

}  // namespace tbtrace::converters
