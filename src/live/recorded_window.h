// A recorded window as a trace in memory and as files. For files, the window's text goes through
// the same readers and writers as files do. Any thread; a failure is a Status, and no partial file
// appears.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "live/log_file.h"
#include "live/recorded_summaries.h"
#include "recorder/log/recording.h"

namespace tbtrace::live {

/// Recordings must be closed. With what operator tables, event lists and stacks need.
Result<Trace> read_recording(std::shared_ptr<const recorder::Recording> recording);

/// The same by way of the window's text, with the arguments of events that are asked for.
Result<Trace> read_recorded_text(std::shared_ptr<const recorder::Recording> recording,
                                 const ReadOptions& options);

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

}  // namespace tbtrace::live
