// A trace for torch-tb-profiler under a name of its own in a log directory.
#pragma once

#include <cstdint>
#include <string>

#include <tbtrace/status.h>

#include "chrome/convert/convert_trace.h"

namespace tbtrace::live {

/// `<directory>/<worker>.<time_ns>.pt.trace.json[.gz]`; if such a file exists, the next free time
/// is used.
struct LogFileName {
  std::string directory;
  std::string worker;
  std::int64_t time_ns = 0;
  bool use_gzip = false;
};

/// Returns the path. No name is used twice, even if other processes write there.
Result<std::string> write_log_file(chrome::TraceConverter& converter, const LogFileName& name);

/// One file of this name.
Status write_converted(chrome::TraceConverter& converter, const std::string& path, bool use_gzip,
                       bool overwrite);

}  // namespace tbtrace::live
