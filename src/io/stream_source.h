// Bytes of a stream of the C++ library.
// Refers to the stream, which must outlive it. One thread.
#pragma once

#include <istream>
#include <memory>

#include "io/source.h"

namespace tbtrace::io {

std::unique_ptr<ByteSource> stream_source(std::istream& stream);

}  // namespace tbtrace::io
