// What processes left in their journals (JournalOptions of profiler.h), as traces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/convert.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>

namespace TBTRACE_EXPORT tbtrace {

struct RecoverOptions {
  /// The log directory that gets the traces, which is made.
  std::string output = ".";
  std::string worker_name = {};  ///< empty: `<host name>_<process id>` of the dead process
  bool use_gzip = false;
  Dialect dialect = Dialect::kineto;
  /// Leaves out what had ended so many seconds before the process's last sign of life, or earlier,
  /// and windows that had; 0: nothing.
  double last_seconds = 0;
  /// From the begin of the first of these steps to the end of the last one. Windows without any of
  /// them are left out.
  std::optional<StepRange> steps = {};
  /// Removes journals of which all windows are written.
  bool remove = false;
  /// Replaces a file of an earlier recovery. Else that of a whole window stays and nothing is
  /// written; a part of a window (`last_seconds`, `steps`) gets another name.
  bool overwrite = false;
};

struct RecoveredWindow {
  std::string path;           ///< of the trace; empty if there is none
  bool was_there = false;     ///< from an earlier recovery: it was not written again
  std::int64_t start_ns = 0;  ///< since 1970
  std::int64_t end_ns = 0;    ///< of a window that was open: the last sign of life
  bool was_open = false;      ///< the process ended within it
  std::uint64_t unfinished_ranges = 0;
  std::uint64_t lost_records = 0;  ///< for which there was no room
  Status status = {};
};

struct RecoveredJournal {
  std::string folder;
  std::int64_t process_id = 0;
  std::string host;
  /// Its process is alive, or another one recovers it: it is left alone.
  bool is_in_use = false;
  std::vector<RecoveredWindow> windows;  ///< in the order of their start
  std::size_t unreadable_chunks = 0;     ///< parts that are damaged, whose records are missing
  /// What is missing since the machine ended before it was on the disk.
  std::uint64_t unwritten_bytes = 0;
  bool was_removed = false;
  Status status = {};  ///< why nothing could be read
};

struct Recovery {
  std::vector<RecoveredJournal> journals;  ///< by folder
};

/// Writes a trace for each window that the journals in a directory have, or that one journal has,
/// and that is in no file yet. Each trace has the member `tbtrace_recovered`; ranges that had not
/// ended last until the last sign of life, and have the argument `finished` = `false`. Any thread.
/// Fails if the directory cannot be read or has no journal; what concerns one journal or window is
/// in its own status.
Result<Recovery> recover(const std::string& directory, const RecoverOptions& options = {});

}  // namespace tbtrace
