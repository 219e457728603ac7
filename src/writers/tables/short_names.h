// Shortens names to a length that a table or a picture can show.
// Lengths are in characters (Unicode code points). Any bytes are accepted as a name.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbtrace::writers {

/// One label per name, in the same order, of at most `length` characters (at least 16). Different
/// names get different labels. A name that is too long loses its `void` and its parameter list; if
/// that is not enough, also its middle, or what it shares with a name that would otherwise get the
/// same label.
std::vector<std::string> short_names(std::span<const std::string> names, std::size_t length);

/// Increasingly short texts for one frame of a flame graph, starting with the whole name. A frame
/// `path/to/file.py(12): function` has `to/file.py(12): function`, `file.py(12): function` and
/// `function`; `nn.Module: Linear_0` has `Linear_0`; a C++ function without a file loses `void` and
/// its parameter list, then its namespaces.
std::vector<std::string_view> frame_labels(std::string_view frame);

/// The same without the whole name if that has a path of more than two parts.
std::vector<std::string_view> box_labels(std::string_view frame);

}  // namespace tbtrace::writers
