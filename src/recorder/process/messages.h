// Warnings of a recording: torch's own where it has one, and where they go.
// Sentences are constants. A handler may be set and called from any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tbtrace::recorder {

inline constexpr std::string_view kNoWarmup =
    "Profiler won't be using warmup, this can skew profiler results";
inline constexpr std::string_view kWarmupThenNone = "Incorrect schedule: WARMUP followed by NONE";
inline constexpr std::string_view kRecordThenNone = "Incorrect schedule: RECORD followed by NONE";
inline constexpr std::string_view kRecordThenWarmup =
    "Incorrect schedule: RECORD followed by WARMUP";
inline constexpr std::string_view kEventsCleared =
    "Warning: Profiler clears events at the end of each cycle. Only events from the current cycle "
    "will be reported. To keep events across cycles, set acc_events = true.";

/// Hands a sentence to the handler: stderr, unless set_warning_handler() named another. A process
/// writes a sentence to stderr once, and when it exits how often it was repeated.
void warn(std::string_view sentence);

/// Returns the one before; an empty one stands for stderr.
std::function<void(std::string_view)> set_warning_handler(
    std::function<void(std::string_view)> handler);

}  // namespace tbtrace::recorder
