// The event file of one run: its name, its place, its lock.
// An EventFile owns the file and the directory's lock. One thread at a time.
// What could not be written stays with the caller, for another attempt before anything else: a
// reader never meets a half record with another after it.
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
  /// Makes the directory where it is missing, and a file in it whose name sorts behind those of all
  /// event files there are. A failure if another writer has the directory.
  static Result<std::unique_ptr<EventFile>> create(const std::string& directory,
                                                   const std::string& suffix, double wall_time,
                                                   const io::AppendFileMaker& make_file);
  /// The same, but nothing if another writer has the directory.
  static Result<std::unique_ptr<EventFile>> try_create(const std::string& directory,
                                                       const std::string& suffix, double wall_time,
                                                       const io::AppendFileMaker& make_file);

  /// Takes off the start of `records` what is in the file now: all of it, or a failure says why
  /// not.
  Status write(std::string& records);

  /// Whether nobody has removed it.
  bool is_there() const;

 private:
  EventFile(std::string path, std::unique_ptr<io::FolderLock> lock,
            std::unique_ptr<io::AppendFile> file);

  std::string path_;
  std::unique_ptr<io::FolderLock> lock_;
  std::unique_ptr<io::AppendFile> file_;
};

/// The present, in seconds since 1970.
double wall_time_now();

/// Whether TensorBoard reads a file of this name.
bool is_event_file(std::string_view name);

/// The event files of a directory by their names, the order in which TensorBoard reads them; none
/// where it cannot be read.
std::map<std::string, std::filesystem::path> event_files(const std::filesystem::path& directory);

/// The steps of the values in an event file whose tags begin so, as far as it can be read. Steps
/// that JavaScript does not know, below 0 and above 2^53, count for nothing.
struct StepRange {
  std::int64_t first = 0;
  std::int64_t last = -1;  ///< less than `first`: there are none

  bool empty() const { return last < first; }
};
StepRange steps_in(const std::string& path, std::string_view tag_start);

/// `events.out.tfevents.<seconds>.<host>.<pid>.0<suffix>`, as TensorBoard's own writer has
/// it. `seconds` is at least that of the wall time and greater than in every name of `others`.
std::string event_file_name(double wall_time, std::string_view last_of_others,
                            std::string_view host, long process, std::string_view suffix);

}  // namespace tbtrace::writers
