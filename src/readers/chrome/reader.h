// Reads Chrome traces (Kineto JSON and its kin) from a source, on one or several threads.
// Blocks of text are bounded; only the model grows with the file. No state between calls.
// The source is read by the calling thread alone. See docs/formats/chrome_json.md for the format
// and what is done about damage.
#pragma once

#include <cstddef>
#include <string_view>

#include <tbtrace/trace.h>

#include "io/source.h"
#include "readers/blocks/directory.h"
#include "readers/blocks/reading.h"

namespace tbtrace::readers {

class ChromeDocument;

Sniff sniff_chrome(std::string_view start);

/// How text is cut into blocks. The result of reading does not depend on it, but for what is made
/// of damaged text: hence it is the same for any number of threads.
struct BlockSize {
  std::size_t bytes = std::size_t{256} << 10;
};

/// Reads the whole source into the document: the shared part of whatever reads events.
Status read_events(io::ByteSource& source, ChromeDocument& document, const ReadOptions& options,
                   BlockSize block = {});

Result<Reading> read_chrome(io::ByteSource& source, const ReadOptions& options);
Result<Reading> read_chrome(io::ByteSource& source, const ReadOptions& options, BlockSize block);

}  // namespace tbtrace::readers
