// The kind of a frame, and the colour of its box.
// Kinds are guessed from the text alone, because stacks hold nothing else; a wrong guess only
// changes the hue. Pure functions; the same text has the same colour in every run and on every
// machine.
// Any bytes are accepted as a name.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace tbtrace::writers {

enum class FrameKind : unsigned char { op, python, cpp, module, runtime, device, other };

inline constexpr std::array kFrameKinds = {FrameKind::op,     FrameKind::python,  FrameKind::cpp,
                                           FrameKind::module, FrameKind::runtime, FrameKind::device,
                                           FrameKind::other};

FrameKind frame_kind(std::string_view frame);

/// For a legend, such as `operators`.
std::string_view kind_label(FrameKind kind);

/// `#rrggbb`, light enough for dark text; the kind determines the hue, the text the shade.
std::string frame_color(std::string_view frame);

/// The middle shade of a kind.
std::string kind_color(FrameKind kind);

}  // namespace tbtrace::writers
