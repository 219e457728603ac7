// The event file of one run: its name, its directory, its lock.
// An EventFile owns the file and the directory's lock. One thread at a time.
// Bytes that could not be written stay with the caller, who tries again before writing anything
// else, so a reader never finds a partial record followed by another one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <tbtrace/status.h>

#include "io/append_file.h"
#include "io/folder_lock.h"

namespace tbtrace::writers {

class EventFile {
 public:
  /// Creates the directory if missing, and a file in it whose name sorts after those of all
  /// existing event files. Fails if another writer has the directory.
  static Result<std::unique_ptr<EventFile>> create(const std::string& directory,
                                                   const std::string& suffix, double wall_time,
                                                   const io::AppendFileMaker& make_file);
  /// The same, but null if another writer has the directory.
  static Result<std::unique_ptr<EventFile>> try_create(const std::string& directory,
                                                       const std::string& suffix, double wall_time,
                                                       const io::AppendFileMaker& make_file);

  /// Removes the bytes now in the file from the start of `records`: all of them, or the failure
  /// says why not.
  Status write(std::string& records);

  /// Whether the file still exists.
  bool is_there() const;

 private:
  EventFile(std::string path, std::unique_ptr<io::FolderLock> lock,
            std::unique_ptr<io::AppendFile> file);

  std::string path_;
  std::unique_ptr<io::FolderLock> lock_;
  std::unique_ptr<io::AppendFile> file_;
};

/// The current time, in seconds since 1970.
double wall_time_now();

/// Whether TensorBoard reads a file of this name.
bool is_event_file(std::string_view name);

/// The event files of a directory by name, the order in which TensorBoard reads them; empty if the
/// directory cannot be read.
std::map<std::string, std::filesystem::path> event_files(const std::filesystem::path& directory);

/// The steps of the values in an event file whose tags begin with `tag_start`, as far as the file
/// can be read. Steps outside JavaScript's range, below 0 and above 2^53, are ignored.
struct StepRange {
  std::int64_t first = 0;
  std::int64_t last = -1;  ///< less than `first` if there are none

  bool empty() const { return last < first; }
};
StepRange steps_in(const std::string& path, std::string_view tag_start);

/// `events.out.tfevents.<seconds>.<host>.<pid>.0<suffix>`, as written by TensorBoard's own writer.
/// `seconds` is at least the wall time, and greater than in `last_of_others`.
std::string event_file_name(double wall_time, std::string_view last_of_others,
                            std::string_view host, long process, std::string_view suffix);

}  // namespace tbtrace::writers
