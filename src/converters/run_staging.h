// Where the files of a run wait until all are written, so that the run appears in the log directory
// complete; TensorBoard loads a run directory once and never looks again.
// A RunStaging owns a lock on its log directory, and the staging folder: beside the log directory,
// `.<its name>.tbtrace-partial`, since TensorBoard walks all that is in it; where that cannot be,
// `.tbtrace-partial` in it, with file names that TensorBoard passes over. Event files have such
// names in both. Finished files of a call that was killed stay there for the next one. All
// functions may be called from any thread. What cannot be made or moved is a Status of code
// unwritable_output.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/status.h>

#include "io/folder_lock.h"

namespace tbtrace::converters {

/// How the name of every staging folder ends.
inline constexpr std::string_view kStagingEnding = ".tbtrace-partial";

/// A run is a path below the log directory such as `node1/ranks`, a file a name in it; none of
/// their components is empty or begins with a dot.
class RunStaging {
 public:
  struct Options {
    bool overwrite = false;  ///< files of the log directory are replaced
    bool resume = false;     ///< finished files of a call that was killed are kept
  };

  /// Makes the log directory if there is none. Only one RunStaging of a log directory is open at a
  /// time, where the file system knows locks.
  static Result<std::unique_ptr<RunStaging>> open(const std::string& log_directory,
                                                  Options options);
  RunStaging(const RunStaging&) = delete;
  RunStaging& operator=(const RunStaging&) = delete;
  /// Files of runs that were not finished stay for a call that resumes; empty folders go, and so
  /// does a log directory that was made for nothing.
  ~RunStaging();

  /// Whether the file is in the log directory, or waits to be moved there.
  bool exists(const std::string& run, const std::string& file) const;

  /// The files of a run that exists() is true for, by name, and where they are now.
  std::map<std::string, std::filesystem::path> files(const std::string& run) const;

  /// Runs in the folder of `run` for which a killed call left files that this one resumes.
  std::vector<std::string> left_below(const std::string& run) const;

  /// Where to write the file now, with io::create_file() and the same `overwrite`; its folder is
  /// made. A file that exists() fails without `overwrite`.
  Result<std::string> place(const std::string& run, const std::string& file);

  /// Makes what was written of a run visible: in one step where the run is new, else file by file.
  /// No file of it may be open. Without `overwrite`, files of the log directory win against those
  /// that waited; that is a failure if `resume` is not set. Nothing to move is no failure.
  Status finish(const std::string& run);

 private:
  RunStaging(std::filesystem::path log_directory, Options options);

  /// Whether files can wait in `root`; a failure if somebody else is writing to the log directory.
  Result<bool> wait_beside(const std::filesystem::path& root);
  Status wait_inside();
  void remove_temporary_files() const;

  std::filesystem::path waiting_folder(const std::string& run) const;
  std::filesystem::path waiting_file(const std::string& run, const std::string& file) const;
  bool is_there(const std::string& run, const std::string& file) const;
  Status move_files(const std::filesystem::path& from, const std::string& run) const;
  void remove_empty_folders(std::filesystem::path folder) const;

  const std::filesystem::path log_directory_;  // absolute, without links
  const Options options_;
  bool made_log_directory_ = false;
  std::filesystem::path root_;
  bool hidden_ = false;  // files that wait have other names
  std::unique_ptr<io::FolderLock> lock_;
  mutable std::mutex mutex_;
  std::set<std::string> begun_;  // runs of which this call placed files
};

}  // namespace tbtrace::converters
