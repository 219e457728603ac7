// What recorded windows say, for plain TensorBoard: a run of the worker's own,
// `<directory>/<worker>`. A RecordedSummaries owns its event file and the lock of the run's
// directory. One thread at a time, in the process that made it: a forked child leaves all to its
// parent. What could not be written is tried again with the next window; beyond 64 MiB, windows are
// left out.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <tbtrace/status.h>
#include <tbtrace/trace.h>

#include "dialects/profile_summaries.h"
#include "writers/event_file.h"

namespace tbtrace::api {

class RecordedSummaries {
 public:
  /// Touches no file before the first window. What vanishes is made again. A run that another
  /// process writes at that time is left to it, and `<worker>-2` taken; one that a process has left
  /// is continued.
  RecordedSummaries(std::string directory, std::string_view worker);
  RecordedSummaries(const RecordedSummaries&) = delete;
  RecordedSummaries& operator=(const RecordedSummaries&) = delete;
  ~RecordedSummaries();

  Status add(const Trace& window);

  /// Writes the last window's tables and pictures: those of few windows are kept, and this one is
  /// always worth it.
  Status finish();

  bool is_forked() const;

 private:
  Status open();
  std::string take_details();
  Status write(std::string records);
  Status write_waiting();

  std::string directory_;
  std::string worker_;
  int process_;
  std::unique_ptr<writers::EventFile> file_;
  double wall_time_ = 0;  // of a file that is made now
  std::string about_run_;
  std::int64_t windows_ = 0;
  std::int64_t next_step_ = 0;
  std::deque<std::string> unwritten_;  // windows' records that are not in the file, or not whole
  std::string rest_;                   // of the first of them
  std::optional<dialects::ProfileDetails> last_details_;  // if they are not among the records
};

}  // namespace tbtrace::api
