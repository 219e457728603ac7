// The one trace of an archive that was given as a trace.
#pragma once

#include <memory>

#include "io/archives/unpacked.h"
#include "io/source.h"

namespace tbtrace::readers {

/// Its content, as it is in the archive. Fails if there is none or more than one, and says which.
/// An archive that can be read only once is copied to an unlinked temporary file.
Result<std::unique_ptr<io::ByteSource>> only_trace(io::Unpacked archive);

}  // namespace tbtrace::readers
