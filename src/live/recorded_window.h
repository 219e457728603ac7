// A recorded window as a trace in memory and as files: its rows go where those of a reader go. Any
// thread; a failure is a Status, and no partial file appears.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <tbtrace/convert.h>
#include <tbtrace/report.h>
#include <tbtrace/trace.h>

#include "live/log_file.h"
#include "live/recorded_summaries.h"
#include "recorder/log/recording.h"
#include "recorder/window/row_batch.h"

namespace tbtrace::live {

/// Recordings must be closed. The model of its rows, without their members.
Result<Trace> read_recording(std::shared_ptr<const recorder::Recording> recording,
                             const recorder::RowRequest& request = {});

/// One file, gzip if its name ends in `.gz`.
Status write_recording(std::shared_ptr<const recorder::Recording> recording,
                       const std::string& path, Dialect dialect, bool overwrite);

struct WrittenWindow {
  std::string path;
  Status summaries;  ///< the trace is written also if they could not be
};

/// A trace for torch-tb-profiler. Also adds the window to `summaries`, if not null.
Result<WrittenWindow> write_log_file(std::shared_ptr<const recorder::Recording> recording,
                                     const LogFileName& name, Dialect dialect,
                                     RecordedSummaries* summaries = nullptr);

/// A recording that another process left.
struct RecoveredFile {
  std::string path;
  std::int64_t start_ns = 0;  ///< since 1970
  std::int64_t end_ns = 0;
  std::uint64_t unfinished_ranges = 0;
  bool was_there = false;
};

/// How much of it is written.
struct RecoveredPart {
  double last_seconds = 0;  ///< 0: all
  std::optional<StepRange> steps = {};
};

/// As write_log_file(), under the time of its end. No path: it has none of the steps. A file of the
/// whole that is there already stays, unless `overwrite` is set; a part gets a name of its own.
Result<RecoveredFile> write_recovered(std::shared_ptr<const recorder::Recording> recording,
                                      LogFileName name, Dialect dialect, const RecoveredPart& part,
                                      bool overwrite);

}  // namespace tbtrace::live
