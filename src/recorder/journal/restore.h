// Recordings from the journals that dead processes left.
// Any thread. Recordings keep the files' memory, which nobody writes. Files may be damaged or
// hostile: what cannot be read is left out and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <tbtrace/status.h>

#include "recorder/log/recording.h"

namespace tbtrace::recorder::journal {

struct RestoredWindow {
  std::shared_ptr<const Recording> recording;
  /// The process ended within the window. It ends with the last sign of life, then.
  bool was_open = false;
};

struct RestoredJournal {
  std::int64_t process = 0;
  std::string host;
  /// Its process is alive and goes on writing. There are no windows, then.
  bool is_alive = false;
  std::vector<RestoredWindow>
      windows;  ///< that nobody wrote elsewhere, in the order of their start
  std::size_t unreadable_chunks =
      0;  ///< of its files that are damaged, so that records are missing
  std::uint64_t unchecked_words = 0;  ///< left out, since the machine was started again meanwhile
};

/// The folders in `directory` that have a journal, by name; the directory itself may be one.
std::vector<std::filesystem::path> journals_in(const std::filesystem::path& directory);

Result<RestoredJournal> restore_journal(const std::filesystem::path& folder);

/// Removes the files of a journal, and nothing else.
void remove_journal(const std::filesystem::path& folder);

}  // namespace tbtrace::recorder::journal
