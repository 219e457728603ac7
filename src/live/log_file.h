// A trace for torch-tb-profiler under a name of its own in a log directory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <tbtrace/status.h>

#include "io/sink.h"

namespace tbtrace::live {

/// Writes a trace and closes the sink; called again if another name is to be tried.
using WriteTrace = std::function<Status(io::ByteSink& sink)>;

/// `<directory>/<worker>.<time_ns>.pt.trace.json[.gz]`; if such a file exists, the next free time
/// is used.
struct LogFileName {
  std::string directory;
  std::string worker;
  std::int64_t time_ns = 0;
  bool use_gzip = false;
};

std::string path_of(const LogFileName& name);

/// Returns the path. No name is used twice, even if other processes write there.
Result<std::string> write_log_file(const WriteTrace& write, const LogFileName& name);

/// One file of this name.
Status write_file(const WriteTrace& write, const std::string& path, bool use_gzip, bool overwrite);

}  // namespace tbtrace::live
