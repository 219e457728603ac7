// How findings name events.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// At most 80 characters of a name, which can be of any length.
std::string name_text(std::string_view name);

/// `12.345 ms`.
std::string time_text(std::int64_t ns);

/// The operator that launched a device activity, else its short name; of another event its name.
/// Empty for EventId::none.
std::string event_name(const Trace& trace, EventId event);

/// `aten::mm at 12.345 ms`, from the start of the window. Empty for EventId::none.
std::string event_text(const Trace& trace, EventId event);

}  // namespace tbtrace::analyses
