// When and where the process of a journal lived, from the journal's head.
// Pure functions, any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "recorder/journal/layout.h"
#include "recorder/log/ticks.h"

namespace tbtrace::recorder::journal {

template <std::size_t kSize>
std::string text_of(const std::array<char, kSize>& text) {
  return {text.begin(), std::find(text.begin(), text.end(), '\0')};
}

/// Another one after each start of the machine; empty: not known.
std::string boot_id();

/// Whether the machine was not started again since.
bool is_boot_of_this_machine(const Head& head);

/// The last sign of life but for records. Without one, the process's first sample.
ClockSample last_heartbeat(const Head& head);

/// The same instant on the clocks, if they go on as they went between the samples.
ClockSample sample_at(std::uint64_t ticks, const ClockSample& first, const ClockSample& last);

}  // namespace tbtrace::recorder::journal
