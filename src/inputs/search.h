// Finds the files that the inputs of a conversion refer to, and the run of each.
// Results are owned. Reads only the start of a file; any thread.
// A missing file is left to its reader. A folder or a pattern without any files has a Status in its
// entry, so that it does not stop the others.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/status.h>

namespace tbtrace::inputs {

struct FoundInput {
  std::string path;  ///< `-`: standard input
  std::string run;   ///< its folder, or the path to it from the searched folder; safe as a path
  Status problem;    ///< if a folder or a pattern gives no files
};

/// The matches of a pattern in natural order; nullopt if a file has that name or it has no `*?[`.
std::optional<std::vector<std::string>> pattern_matches(const std::string& named);

/// What folders are searched for.
enum class Wanted : unsigned char { traces, partials };

struct Inputs {
  std::vector<FoundInput> files;
  /// What searched folders contain but was not taken: JSON files that are not traces, hidden files
  /// that are not JSON, and folders that cannot be read.
  std::vector<std::string> passed_over;
};

/// Named files are taken whatever they contain; of an archive, the traces in it. Folders and
/// archives are searched for traces: files with the name of one (trace_names.h) that look like one,
/// or that cannot be read, which is then a failure of its own, as is an unfinished trace. Patterns
/// are expanded with glob(3) if no file has that name. The same file is taken once. A file in the
/// log directory is taken only if it is named itself. Partials are the files in folders whose name
/// ends in `.tbp`. A folder with more than `most_folders` in it is refused: somebody named `/`.
Inputs find_inputs(const std::vector<std::string>& named, const std::string& log_directory,
                   Wanted wanted = Wanted::traces, std::size_t most_folders = 50'000);

}  // namespace tbtrace::inputs
