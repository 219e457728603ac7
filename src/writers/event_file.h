// The event file of one run: its name, its place, its lock.
// An EventFile owns the file and the directory's lock. One thread at a time.
// What could not be written stays with the caller, for another attempt before anything else: a
// reader never meets a half record with another behind it.
#pragma once

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

  /// Takes off the start of `records` what is in the file now: all of it, or a failure says why
  /// not.
  Status write(std::string& records);

 private:
  EventFile(std::unique_ptr<io::FolderLock> lock, std::unique_ptr<io::AppendFile> file);

  std::unique_ptr<io::FolderLock> lock_;
  std::unique_ptr<io::AppendFile> file_;
};

/// `events.out.tfevents.<seconds>.<host>.<pid>.0<suffix>`, as TensorBoard's own writer has
/// it. `seconds` is at least that of the wall time and greater than in every name of `others`.
std::string event_file_name(double wall_time, std::string_view last_of_others,
                            std::string_view host, long process, std::string_view suffix);

}  // namespace tbtrace::writers
