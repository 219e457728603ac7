// What kind of frame a name stands for, and the colour of its box.
// Kinds are guessed from the text alone, since stacks hold nothing else; a wrong guess only costs a
// hue. Pure functions; the same text has the same colour in every run and on every machine.
// Any bytes are a name.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace tbtrace::writers {

enum class FrameKind : unsigned char { op, python, module, runtime, device, other };

inline constexpr std::array kFrameKinds = {FrameKind::op,      FrameKind::python, FrameKind::module,
                                           FrameKind::runtime, FrameKind::device, FrameKind::other};

FrameKind frame_kind(std::string_view frame);

/// For a legend, such as `operators`.
std::string_view kind_label(FrameKind kind);

/// `#rrggbb`, light enough for dark text; the kind decides the hue, the text the shade.
std::string frame_color(std::string_view frame);

/// The shade in the middle of a kind.
std::string kind_color(FrameKind kind);

}  // namespace tbtrace::writers
