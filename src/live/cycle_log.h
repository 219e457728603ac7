// Log files for TensorBoard of a process that another profiler records, cycle by cycle: Python's
// torch.profiler, for which tbtrace.tensorboard_trace_handler() uses this. Programs that record
// themselves with tbtrace::Profiler have tensorboard_trace_handler() in tbtrace/profiler.h.
// A CycleLog owns the event file that it writes. One thread at a time. A forked child may go on
// with its own copy, which writes files of its own.
#pragma once

#include <memory>
#include <string>

#include <tbtrace/export.h>
#include <tbtrace/status.h>

namespace TBTRACE_EXPORT tbtrace {

class CycleLog {
 public:
  /// Touches no file. Characters of `worker` that a file name cannot have are replaced.
  CycleLog(std::string directory, const std::string& worker, bool use_gzip = false);
  CycleLog(const CycleLog&) = delete;
  CycleLog& operator=(const CycleLog&) = delete;
  ~CycleLog();

  /// Adds a cycle from the file that the profiler wrote, with everything in it, as
  /// `<directory>/<worker>.<start in ns since 1970>.pt.trace.json[.gz]` for torch-tb-profiler, and
  /// summaries of it to `<directory>/<worker>` (`<worker>-2` if another process is writing that
  /// one), if this build has protobuf. Tables and pictures are written for the first five cycles,
  /// the 10th, 30th, 100th, 300th and so on, and for the last one. Returns the path of the trace;
  /// if only one of both could be written, the other one's failure.
  Result<std::string> add(const std::string& path);

  /// Writes the last cycle's tables and pictures, if they are not there.
  Status finish();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tbtrace
