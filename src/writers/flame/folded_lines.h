// The lines of folded stacks. Any thread.
#pragma once

#include <string_view>

#include <tbtrace/report.h>

#include "io/text_sink.h"

namespace tbtrace::writers {

/// What folded_stacks() has, with `around` as the frame around all stacks unless it is empty. A
/// failure is in the sink.
void write_folded_lines(const StackTree& stacks, std::string_view around, io::TextSink& out);

}  // namespace tbtrace::writers
