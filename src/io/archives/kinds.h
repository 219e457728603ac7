// What libarchive reads for us, by its first bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tbtrace::io {

enum class PackedKind : std::uint8_t {
  none,
  xz,     ///< one compressed text
  bzip2,  ///< one compressed text
  tar,
  zip,
};

/// How many bytes packed_kind() looks at: the first header of a tar archive.
inline constexpr std::size_t kPackedStart = 512;
PackedKind packed_kind(std::string_view start);

constexpr bool is_archive(PackedKind kind) {
  return kind == PackedKind::tar || kind == PackedKind::zip;
}

/// `a tar archive`.
std::string_view described(PackedKind kind);

/// A command that unpacks it.
std::string_view unpack_command(PackedKind kind);

}  // namespace tbtrace::io
