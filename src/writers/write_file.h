// Outputs that are written as they are made, into a file or to standard output.
// A file appears by rename, whole or not at all; also if `write` throws.
#pragma once

#include <functional>
#include <string>

#include <tbtrace/status.h>

#include "io/sink.h"

namespace tbtrace::writers {

/// Opens the output, has `write` fill it and closes it. `-` is standard output.
Status write_file(const std::string& path, bool overwrite,
                  const std::function<Status(io::ByteSink&)>& write);

}  // namespace tbtrace::writers
