// Writes outputs piece by piece, to a file or to standard output.
// A file appears by rename, complete or not at all, even if `write` throws.
#pragma once

#include <functional>
#include <string>

#include <tbtrace/status.h>

#include "io/sink.h"

namespace tbtrace::writers {

/// Opens the output, calls `write` to fill it, and closes it. `-` is standard output.
Status write_file(const std::string& path, bool overwrite,
                  const std::function<Status(io::ByteSink&)>& write);

}  // namespace tbtrace::writers
