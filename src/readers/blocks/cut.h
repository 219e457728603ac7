// Where a text of events may be cut so that the next block starts with an event: a guess.
// Pure function. A guess decides where another thread starts to read, and nothing else: what it
// read counts only if the block before it ended exactly there.
#pragma once

#include <cstddef>
#include <string_view>

namespace tbtrace::readers {

/// After the last comma that an event seems to follow: an object that has a phase (`ph`). 0 if none
/// is near the end of `text`.
std::size_t find_cut(std::string_view text);

}  // namespace tbtrace::readers
