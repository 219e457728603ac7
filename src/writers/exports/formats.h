// The formats of other tools that traces are written in.
#pragma once

#include <memory>

#include <tbtrace/trace_export.h>

#include "writers/exports/exporter.h"

namespace tbtrace::writers {

std::unique_ptr<Exporter> make_exporter(ExportFormat format);

/// Whether the format asks for gzip, whatever a file is called.
bool is_always_compressed(ExportFormat format);

}  // namespace tbtrace::writers
