// Stacks in a partial.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <tbtrace/report.h>

#include "partials/content.h"

namespace tbtrace::partials {

/// The weights of FlameGraphOptions, in the order of StackSums::Weights.
inline constexpr std::array<std::string_view, kWeightCount> kStackWeights = {
    "self_cpu_time_total", "self_device_time_total", "cpu_memory"};

void add_stacks(Content& content, const Trace& trace);

/// The nodes parents first, siblings by the bytes of their frames: an order that does not depend on
/// that of the sources.
std::vector<std::uint32_t> sorted_nodes(const Content& content);

/// By a weight's place in kStackWeights.
StackTree stacks_of(const Content& content, std::size_t weight);

}  // namespace tbtrace::partials
