// A first impression of a file, by the start of its content.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io/archives/unpacked.h"
#include "io/source.h"

namespace tbtrace::inputs {

enum class Look : std::uint8_t {
  trace,
  other_json,
  archive,
  unreadable,  ///< empty, truncated, not JSON: a damaged trace, if it is named like one
};

/// Looks at a content that was inflated.
Look look_at(std::unique_ptr<io::ByteSource> content);

/// The content of a file, inflated.
Result<io::Unpacked> content_of(const std::string& path);

Look look_at_file(const std::string& path);

}  // namespace tbtrace::inputs
