// What a reader says of a source, and makes of it.
#pragma once

#include <tbtrace/trace.h>

#include "readers/blocks/directory.h"

namespace tbtrace::readers {

/// Whether a content is of a format, as far as its start shows.
enum class Sniff : unsigned char { no, yes };

struct Reading {
  Trace trace;
  BlockDirectory blocks;  ///< for reading it once more
};

}  // namespace tbtrace::readers
