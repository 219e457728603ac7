// Parts of rows as Kineto's traces have them: of rows that are made anew, with a file or without.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tbtrace/trace.h>

namespace tbtrace::chrome {

/// A process or thread id: a number, or text.
void append_id(std::string& json, const Trace& trace, const TrackKey& id);

/// `,"pid":1,"tid":2,"ts":3`.
void append_place(std::string& json, const Trace& trace, const TrackKey& process,
                  const TrackKey& thread, std::int64_t time_ns);

/// A row that names a process or thread (`process_name`, `thread_name`). It has a time, because
/// readers need one.
void append_label(std::string& json, const Trace& trace, std::string_view what,
                  const TrackKey& process, const TrackKey& thread, std::string_view name);

/// One end of a flow event; its place and the row's end follow. `name` is its category, too.
void append_flow_start(std::string& json, bool start, std::string_view name, std::int64_t id);

inline constexpr std::string_view kLaunchFlow = "ac2g";
inline constexpr std::string_view kBackwardFlow = "fwdbwd";

}  // namespace tbtrace::chrome
