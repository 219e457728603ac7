// How findings name events.
#pragma once

#include <string>
#include <string_view>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// At most 80 characters of a name, which can be of any length.
std::string name_text(std::string_view name);

/// `aten::mm at 12.345 ms`, from the start of the window; of a device activity the operator that
/// launched it, else its short name. Empty for EventId::none.
std::string event_text(const Trace& trace, EventId event);

}  // namespace tbtrace::analyses
