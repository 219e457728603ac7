// Reads Chrome traces (Kineto JSON and its kin) from a source, on one or several threads.
// Blocks of text are bounded; only the model grows with the file. No state between calls.
// See docs/formats/chrome_json.md for the format and what is done about damage.
#pragma once

#include <string_view>

#include <tbtrace/trace.h>

#include "io/source.h"
#include "readers/format.h"

namespace tbtrace::readers {

class ChromeDocument;

Sniff sniff_chrome(std::string_view start);

/// Reads the whole source into the document: the shared part of whatever reads events.
Status read_events(io::ByteSource& source, ChromeDocument& document, const ReadOptions& options);

Result<Trace> read_chrome(io::ByteSource& source, const ReadOptions& options);

}  // namespace tbtrace::readers
