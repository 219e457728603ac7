// A recorded window as a trace in memory, and as files: the same readers and writers that files
// meet read the text that the window would have as a file.
// Any thread; a failure is a Status, and no half file appears.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "api/recorded_summaries.h"
#include "recorder/recording.h"

namespace tbtrace::api {

/// Recordings are closed ones.
Result<Trace> read_recording(std::shared_ptr<const recorder::Recording> recording);

/// One file, gzip if its name ends in `.gz`.
Status write_recording(std::shared_ptr<const recorder::Recording> recording,
                       const std::string& path, Dialect dialect, bool overwrite);

/// `<directory>/<worker>.<time_ns>.pt.trace.json[.gz]`; where there is such a file already, with
/// the next free time.
struct LogFileName {
  std::string directory;
  std::string worker;
  std::int64_t time_ns = 0;
  bool use_gzip = false;
};
/// `summaries`, if there are any, get the window, too.
Result<std::string> write_log_file(std::shared_ptr<const recorder::Recording> recording,
                                   const LogFileName& name, Dialect dialect,
                                   RecordedSummaries* summaries = nullptr);

}  // namespace tbtrace::api
