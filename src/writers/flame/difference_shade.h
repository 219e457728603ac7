// How much a frame's own time changed, as a colour.
// The scale goes from blue (faster) over grey to orange (slower), which people of all kinds of
// colour vision tell apart, in steps that dark text can be read on. Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <tbtrace/flame_difference.h>

namespace tbtrace::writers {

/// `#rrggbb` by shade, from much faster to much slower; the middle one: unchanged.
inline constexpr std::array<std::string_view, 7> kShadeColors = {
    "#569fd3", "#94c4e4", "#d3e5f3", "#e9e9e9", "#fde0c0", "#fdb366", "#e8842a"};
inline constexpr int kNoChangeShade = 3;

/// The change from which on a shade is used, as a share of the whole: the next one to no change,
/// the middle one, the outer one.
inline constexpr std::array<double, 3> kShadeShares = {0.001, 0.01, 0.05};

/// By the change of a frame's own time.
int shade_of(const DifferenceNode& node, double whole_ns);

enum class FrameSide : std::uint8_t { both, gone, added };

FrameSide side_of(const DifferenceNode& node);

/// `+1.234 ms`; `0 ns` without a change.
std::string change_text(std::int64_t change_ns);

/// `+12.34 %` of the whole.
std::string share_of_whole(std::int64_t change_ns, double whole_ns);

}  // namespace tbtrace::writers
