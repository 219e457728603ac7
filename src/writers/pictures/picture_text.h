// Text lines in pictures: replaces characters that fonts must not be asked for, and cuts lines to
// fit.
// Returned texts are owned; views refer to the argument or to constants.
// Pure functions; any number of threads may call them.
// Any bytes are accepted. Time and memory depend on the room, not on the length of the text.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace tbtrace::writers {

struct DrawnCharacter {
  std::string_view shown;  ///< a blank for white space; U+FFFD for invalid characters
  std::size_t size;        ///< bytes of the text that it replaces
};

/// The text must not be empty.
DrawnCharacter first_drawn_character(std::string_view text);

/// The text as drawn, cut with an ellipsis if it takes more than `room`; empty if less than two
/// characters and the ellipsis would be left. `advance` returns how far a character moves the pen,
/// in the unit of `room`.
std::string fitted_text(std::string_view text, double room,
                        const std::function<double(std::string_view)>& advance);

}  // namespace tbtrace::writers
