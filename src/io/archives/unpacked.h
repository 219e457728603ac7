// Inflates a source of any compression that tbtrace reads.
#pragma once

#include <memory>

#include "io/archives/kinds.h"
#include "io/source.h"

namespace tbtrace::io {

struct Unpacked {
  std::unique_ptr<ByteSource> source;  ///< at its start
  PackedKind archive;                  ///< `tar` or `zip` if it is one, else `none`
};

/// Inflates gzip, zstd, xz and bzip2 data, recognised by their content, also one in the other;
/// other bytes are passed through. Fails for data that this build or machine cannot inflate, with
/// the command that does. Damaged data show as a failed read after the bytes that could be
/// inflated.
Result<Unpacked> unpacked(std::unique_ptr<ByteSource> source);

}  // namespace tbtrace::io
