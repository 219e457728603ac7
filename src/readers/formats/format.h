// The formats that traces come in, and how they are told apart.
// To add one: a pair of files that reads it, its page in docs/formats/, and a row in format.cc.
// Stateless. Order of the rows is the order of sniffing.
// A format may exist only to be refused with a sentence that helps.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include <tbtrace/trace.h>

#include "io/source.h"
#include "readers/blocks/directory.h"
#include "readers/blocks/reading.h"

namespace tbtrace::readers {

class BlockSinks;

struct Format {
  const char* name;
  /// Looks at the start of the inflated content, at most kSniffSize bytes.
  Sniff (*sniff)(std::string_view start);
  /// Reads the whole source.
  Result<Reading> (*read)(io::ByteSource& source, const ReadOptions& options);
  /// Gives the rows of a source that was read before once more, with all their members.
  Status (*replay)(io::ByteSource& source, const BlockDirectory& blocks, BlockSinks& sinks,
                   int threads);
};

inline constexpr std::size_t kSniffSize = std::size_t{64} << 10;

/// Reads a trace of any format, plain or compressed. Running out of memory is a Status.
Result<Reading> read_source(std::unique_ptr<io::ByteSource> source, const ReadOptions& options);

/// The text of a trace, whatever it is compressed by.
Result<std::unique_ptr<io::ByteSource>> trace_text(std::unique_ptr<io::ByteSource> source);

/// What strict reading says of an issue.
Status strict_failure(const Issue& issue);

/// Gives the rows of what was read before once more.
Status replay_source(std::unique_ptr<io::ByteSource> source, const BlockDirectory& blocks,
                     BlockSinks& sinks, int threads);

/// The format of a content that starts so, or a failure that says what it looks like.
Result<const Format*> find_format(std::string_view start);

}  // namespace tbtrace::readers
