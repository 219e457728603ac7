// Where the files of a run wait until all are written, so that the run appears in the log directory
// complete; TensorBoard loads a run directory once and never looks again.
// A RunStaging owns a lock on its log directory (`.tbtrace-partial/.lock` in it) and the staging
// folder: `.<its name>.tbtrace-partial` next to the log directory, because TensorBoard walks
// through everything in it; if that is impossible, `.tbtrace-partial` in the log directory, with
// file names that TensorBoard ignores. Event files have such names in both. Finished files of a
// call that was killed stay there for the next one. All functions may be called from any thread. A
// folder that cannot be made or a file that cannot be moved is a Status of code unwritable_output.
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

namespace tbtrace::converters {

/// How the name of every staging folder ends.
inline constexpr std::string_view kStagingEnding = ".tbtrace-partial";

/// A run is a path below the log directory such as `node1/ranks`, a file is a name in it; none of
/// their components is empty or begins with a dot.
class RunStaging {
 public:
  struct Options {
    bool overwrite = false;  ///< files of the log directory are replaced
    bool resume = false;     ///< finished files of a call that was killed are kept
  };

  /// Makes the log directory if it does not exist. Only one RunStaging of a log directory is open
  /// at a time, if the file system has locks.
  static Result<std::unique_ptr<RunStaging>> open(const std::string& log_directory,
                                                  Options options);
  RunStaging(const RunStaging&) = delete;
  RunStaging& operator=(const RunStaging&) = delete;
  /// Files of runs that were not finished stay for a call that resumes; empty folders go, and so
  /// does a log directory that was made for nothing.
  ~RunStaging();

  /// Whether the file is in the log directory, or waits to be moved there. An empty file does not
  /// count: a power failure leaves such files.
  bool exists(const std::string& run, const std::string& file) const;

  /// The files of a run that exists() is true for, by name, and where they are now.
  std::map<std::string, std::filesystem::path> files(const std::string& run) const;

  /// Runs in the folder of `run` for which a killed call left files that this one resumes.
  std::vector<std::string> left_below(const std::string& run) const;

  /// Where to write the file now, with io::create_file() and the same `overwrite`; its folder is
  /// made. A file that exists() fails without `overwrite`. finish() removes the files in `replaced`
  /// once this one is in the log directory.
  Result<std::string> place(const std::string& run, const std::string& file,
                            const std::vector<std::string>& replaced = {});

  /// Removes a file again that place() gave a place to.
  void discard(const std::string& run, const std::string& file);

  struct Finished {
    Status status;                    ///< the first failure
    std::set<std::string> not_moved;  ///< files that wait as before, or were refused
  };

  /// Makes what was written of a run visible: in one step if the run is new, else file by file. A
  /// run goes before the runs in it, or it is not new any more. No file of it may be open. Without
  /// `overwrite`, files of the log directory win against those that waited; that is a failure if
  /// `resume` is not set. Nothing to move is a success. Event files are moved under the lock of
  /// their folder.
  Finished finish(const std::string& run);

  /// A failure if another program is writing event files in the folder of a run.
  Status check_lock(const std::string& run) const;

  /// Finished files that still wait, of this call or of an earlier one that was killed.
  Leftovers leftovers() const;

 private:
  RunStaging(std::filesystem::path log_directory, Options options);

  std::filesystem::path beside() const;  ///< empty: there is no such place
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
  bool hidden_ = false;  // files that wait have other names
  std::unique_ptr<io::FolderLock> lock_;
  mutable std::mutex mutex_;
  std::set<std::string> begun_;  // runs of which this call placed files
  /// By run and file: the files that go once it is in the log directory.
  std::map<std::string, std::map<std::string, std::vector<std::string>>> replaced_;
};

}  // namespace tbtrace::converters
