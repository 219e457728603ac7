// The texts above the boxes of a flame graph, however it is drawn.
// Texts are owned by the caller; they are not escaped for any format.
// Pure functions; any number of threads may call them.
// Any layout is accepted; one without boxes has no kinds.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "writers/flame/frame_color.h"
#include "writers/flame/layout.h"

namespace tbtrace::writers {

/// Shown in place of all other notes if there are no boxes.
inline constexpr std::string_view kNothingToShow =
    "There is nothing to show: no stack has any weight.";

/// `total 10.000 ms (10000000 ns), 2 frames, 2 levels`.
std::string summary_note(const FlameLayout& layout, std::string_view unit);

/// `2 frames narrower than 0.1 px not drawn`; empty if there are none.
std::string too_narrow_note(const FlameLayout& layout, double narrowest_px);

/// `the 7 narrowest frames are not in this picture, which has at most 500000`; empty if all are.
std::string left_out_note(const FlameLayout& layout, std::size_t most_boxes);

/// The kinds that occur, in the order of kFrameKinds, for a legend.
std::vector<FrameKind> kinds_in(const FlameLayout& layout);

}  // namespace tbtrace::writers
