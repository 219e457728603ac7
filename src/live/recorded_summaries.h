// Summaries of recorded windows for plain TensorBoard, in a run of the worker's own,
// `<directory>/<worker>`. A RecordedSummaries owns its event file and the lock of the run's
// directory. One thread at a time, in the process that created it: a forked child leaves everything
// to its parent. What could not be written is tried again with the next window; beyond 64 MiB,
// windows are left out.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <tbtrace/status.h>
#include <tbtrace/trace.h>

#include "logdir/profile_summaries.h"
#include "writers/events/event_file.h"

namespace tbtrace::live {

class RecordedSummaries {
 public:
  /// Does not touch any file before the first window. Creates files and directories again if they
  /// vanish. If another process is writing the run, uses `<worker>-2`; a run that no process is
  /// writing any more is continued.
  RecordedSummaries(std::string directory, std::string_view worker);
  RecordedSummaries(const RecordedSummaries&) = delete;
  RecordedSummaries& operator=(const RecordedSummaries&) = delete;
  ~RecordedSummaries();

  Status add(const Trace& window);

  /// Writes the last window's tables and pictures if they were not written yet: they are kept for
  /// few windows, but always for the last one.
  Status finish();

  bool is_forked() const;

 private:
  Status open();
  std::string take_details();
  Status write(std::string records);
  Status write_waiting();

  std::string directory_;
  std::string worker_;
  std::uint64_t forks_;  // fork_count() in the process that created it
  std::unique_ptr<writers::EventFile> file_;
  double wall_time_ = 0;  // for the file that is created next
  std::string about_run_;
  std::int64_t windows_ = 0;
  std::int64_t next_step_ = 0;
  std::deque<std::string> unwritten_;  // windows' records that are not, or not fully, in the file
  std::string rest_;                   // what is left of the first of them
  std::optional<logdir::ProfileDetails> last_details_;  // if they were not written
};

}  // namespace tbtrace::live
