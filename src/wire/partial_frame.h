// The frame of a partial's file: 8 bytes of magic, the version (4 bytes, little-endian), the length
// of the message (8), its checksum (crc32c(), 4), the message. docs/formats/partial.md.
// Pure functions, any thread. Any bytes are a message.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tbtrace/status.h>

namespace tbtrace::wire {

inline constexpr std::uint32_t kPartialVersion = 3;

/// Whether a content begins as a partial of any version does.
bool begins_as_partial(std::string_view start);

std::string framed_partial(std::string_view message);

/// A view into `bytes`. Fails for a newer version, and unless the message is whole and undamaged.
Result<std::string_view> message_in_frame(std::string_view bytes);

}  // namespace tbtrace::wire
