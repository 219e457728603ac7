// The event file of one run: its name, its place, its lock.
// An EventFile owns the file and the directory's lock. One thread at a time.
// Records that could not be written stay whole: the next attempt goes on behind the last byte that
// the file system took, so that a reader never meets a half record with another behind it.
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

  /// Takes whole records, always; a failure says that some of what was taken is not in the file
  /// yet. Empty ones are another attempt.
  Status write(std::string_view records);

  /// Bytes that are not in the file yet.
  std::size_t unwritten() const { return unwritten_.size(); }

 private:
  EventFile(std::unique_ptr<io::FolderLock> lock, std::unique_ptr<io::AppendFile> file);

  std::unique_ptr<io::FolderLock> lock_;
  std::unique_ptr<io::AppendFile> file_;
  std::string unwritten_;
};

/// `events.out.tfevents.<seconds>.<host>.<pid>.<number><suffix>`, as TensorBoard's own writer has
/// it. `seconds` is at least that of the wall time and greater than in every name of `others`.
std::string event_file_name(double wall_time, std::string_view last_of_others,
                            std::string_view host, long process, unsigned number,
                            std::string_view suffix);

}  // namespace tbtrace::writers
