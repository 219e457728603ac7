// Lines of text in pictures: characters that a font may be asked for, cut to the room there is.
// Returned texts are the caller's own; views are of the argument or of constants.
// Pure functions; any number of threads may call them.
// Any bytes are a text. Time and memory follow from the room, not from the length of the text.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace tbtrace::writers {

struct DrawnCharacter {
  std::string_view shown;  ///< a blank for white space; U+FFFD for what no text may hold
  std::size_t size;        ///< bytes of the text that it stands for
};

/// Of a text that is not empty.
DrawnCharacter first_drawn_character(std::string_view text);

/// The text as it is drawn, cut with an ellipsis where it takes more than `room`; empty where less
/// than two characters and the ellipsis would be left. `advance` tells how far a character moves
/// the pen, in the unit of `room`.
std::string fitted_text(std::string_view text, double room,
                        const std::function<double(std::string_view)>& advance);

}  // namespace tbtrace::writers
