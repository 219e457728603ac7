// How what belongs to a process finds out that it is in a forked child now.
// Any thread, signal handlers too.
#pragma once

#include <cstdint>

namespace tbtrace {

/// How many forks lie between the first process and this one. What was made at another number is a
/// parent's, and so are its threads. Children that are made without handlers for forks, such as by
/// _Fork(), are not counted.
std::uint64_t fork_count();

}  // namespace tbtrace
