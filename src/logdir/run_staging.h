// Keeps the files of a run until all are written, so that the run appears in the log directory
// complete; TensorBoard loads a run directory once and never looks again.
// A RunStaging owns a lock on its log directory (`.tbtrace-partial/.lock` in it) and the staging
// folder: `.<its name>.tbtrace-partial` next to the log directory, because TensorBoard walks
// through everything in the log directory. If that is impossible, the staging folder is
// `.tbtrace-partial` in the log directory, with file names that TensorBoard ignores. Event files
// have such names in both. Finished files of a killed call stay there for the next one. All
// functions may be called from any thread. A folder that cannot be created or a file that cannot be
// moved is a Status of code unwritable_output.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/convert.h>
#include <tbtrace/status.h>

#include "io/folder_lock.h"

namespace tbtrace::logdir {

/// A run is a path below the log directory such as `node1/ranks`, a file is a name in it; no
/// component is empty or begins with a dot.
class RunStaging {
 public:
  struct Options {
    bool overwrite = false;  ///< replaces files of the log directory
    bool resume = false;     ///< keeps finished files of a killed call
  };

  /// Creates the log directory if it does not exist. Only one RunStaging per log directory is open
  /// at a time, if the file system supports locks.
  static Result<std::unique_ptr<RunStaging>> open(const std::string& log_directory,
                                                  Options options);
  RunStaging(const RunStaging&) = delete;
  RunStaging& operator=(const RunStaging&) = delete;
  /// Files of runs that were not finished stay for a call that resumes; empty folders are removed,
  /// and so is a log directory that was created but not used.
  ~RunStaging();

  /// Whether the file is in the log directory, or waiting to be moved there. An empty file does not
  /// count: a power failure leaves such files.
  bool exists(const std::string& run, const std::string& file) const;

  /// The files of a run for which exists() is true, by name, with their current paths.
  std::map<std::string, std::filesystem::path> files(const std::string& run) const;

  /// Runs inside `run` for which a killed call left files, if this call resumes.
  std::vector<std::string> left_below(const std::string& run) const;

  /// The path to write the file to for now, with io::create_file() and the same `overwrite`;
  /// creates its folder. Without `overwrite`, fails if the file exists(). finish() removes the
  /// files in `replaced` once this one is in the log directory.
  Result<std::string> place(const std::string& run, const std::string& file,
                            const std::vector<std::string>& replaced = {});

  /// Removes a file for which place() gave a path.
  void discard(const std::string& run, const std::string& file);

  struct Finished {
    Status status;                    ///< the first failure
    std::set<std::string> not_moved;  ///< files that still wait, or were refused
  };

  /// Makes the written files of a run visible: in one step if the run is new, else file by file.
  /// Finish a run before the runs inside it, or it no longer counts as new. None of its files may
  /// be open. Without `overwrite`, files in the log directory win over waiting ones; that is a
  /// failure unless `resume` is set. With nothing to move it succeeds. Event files are moved under
  /// the lock of their folder.
  Finished finish(const std::string& run);

  /// Fails if another program is writing event files in the folder of a run.
  Status check_lock(const std::string& run) const;

  /// Finished files that are still waiting, from this call or from an earlier one that was killed.
  Leftovers leftovers() const;

 private:
  RunStaging(std::filesystem::path log_directory, Options options);

  std::filesystem::path beside() const;  ///< empty if there is no such place
  std::filesystem::path inside() const;
  bool can_wait_in(const std::filesystem::path& folder) const;
  void tidy() const;

  std::filesystem::path waiting_folder(const std::string& run) const;
  std::filesystem::path waiting_file(const std::string& run, const std::string& file) const;
  bool is_there(const std::string& run, const std::string& file) const;
  Result<std::unique_ptr<io::FolderLock>> lock(const std::string& run) const;
  Finished move_files(const std::filesystem::path& from, const std::string& run) const;
  void remove_replaced(const std::string& run, const std::set<std::string>& not_moved);
  void remove_empty_folders(std::filesystem::path folder) const;

  const std::filesystem::path log_directory_;  // absolute, without links
  const Options options_;
  bool made_log_directory_ = false;
  std::filesystem::path root_;
  bool hidden_ = false;  // waiting files have other names
  std::unique_ptr<io::FolderLock> lock_;
  mutable std::mutex mutex_;
  std::set<std::string> begun_;  // runs for which this call placed files
  /// By run and file: the files to remove once it is in the log directory.
  std::map<std::string, std::map<std::string, std::vector<std::string>>> replaced_;
};

}  // namespace tbtrace::logdir
