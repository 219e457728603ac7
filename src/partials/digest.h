// Tells traces apart by their content. Not for secrets. Pure function.
#pragma once

#include <string>

#include <tbtrace/trace.h>

namespace tbtrace::partials {

/// 32 hexadecimal digits: of where the trace was recorded, and of the name, start and duration of
/// each event in the order of the file. It does not depend on how the file is compressed, on the
/// arguments that were read, or on the machine.
std::string digest_of(const Trace& trace);

}  // namespace tbtrace::partials
