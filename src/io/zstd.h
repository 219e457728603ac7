// Inflates zstd data (RFC 8878), if built with libzstd.
#pragma once

#include <memory>
#include <string_view>

#include "io/source.h"

namespace tbtrace::io {

/// Whether this build inflates zstd data.
bool knows_zstd();

/// Whether these bytes begin a frame, or a skippable one.
inline bool begins_as_zstd(std::string_view start) {
  if (start.size() < 4) return false;
  const bool is_skippable =
      (static_cast<unsigned char>(start[0]) & 0xf0) == 0x50 && start.substr(1, 3) == "\x2a\x4d\x18";
  return is_skippable || start.starts_with("\x28\xb5\x2f\xfd");
}

/// Any number of frames, one after the other. Takes at most 128 MiB for a window.
Result<std::unique_ptr<ByteSource>> zstd_source(std::unique_ptr<ByteSource> source);

}  // namespace tbtrace::io
