#include "io/archives/kinds.h"

#include <algorithm>

#include "base/characters.h"

namespace tbtrace::io {
namespace {

/// A checksum makes tar archives of all generations known: those of before POSIX have no magic.
bool begins_as_tar(std::string_view start) {
  constexpr std::size_t kSum = 148;
  constexpr std::size_t kSumSize = 8;
  if (start.size() < kPackedStart || start[0] == '\0') return false;
  std::uint32_t sum = kSumSize * ' ';
  std::uint32_t written = 0;
  bool any_digit = false;
  for (std::size_t at = 0; at < kPackedStart; ++at) {
    if (at < kSum || at >= kSum + kSumSize) sum += static_cast<unsigned char>(start[at]);
  }
  for (const char c : start.substr(kSum, kSumSize)) {
    if (c == ' ' && !any_digit) continue;
    if (c < '0' || c > '7') break;
    any_digit = true;
    written = written * 8 + static_cast<std::uint32_t>(c - '0');
  }
  return any_digit && written == sum;
}

}  // namespace

PackedKind packed_kind(std::string_view start) {
  if (start.starts_with(std::string_view("\xfd"
                                         "7zXZ\0",
                                         6))) {
    return PackedKind::xz;
  }
  // The level, and the number that begins a block or, if there is none, the end.
  if (start.size() >= 10 && start.starts_with("BZh") && is_digit(start[3]) &&
      (start.substr(4, 6) == "\x31\x41\x59\x26\x53\x59" ||
       start.substr(4, 6) == "\x17\x72\x45\x38\x50\x90")) {
    return PackedKind::bzip2;
  }
  if (start.starts_with("PK\x03\x04") || start.starts_with("PK\x05\x06") ||
      start.starts_with("PK\x07\x08")) {
    return PackedKind::zip;
  }
  return begins_as_tar(start) ? PackedKind::tar : PackedKind::none;
}

std::string_view described(PackedKind kind) {
  switch (kind) {
    case PackedKind::xz:
      return "xz data";
    case PackedKind::bzip2:
      return "bzip2 data";
    case PackedKind::tar:
      return "a tar archive";
    case PackedKind::zip:
      return "a zip archive";
    case PackedKind::none:
      break;
  }
  return "a file";
}

std::string_view unpack_command(PackedKind kind) {
  switch (kind) {
    case PackedKind::xz:
      return "xz -d";
    case PackedKind::bzip2:
      return "bzip2 -d";
    case PackedKind::tar:
      return "tar xf";
    case PackedKind::zip:
      return "unzip";
    case PackedKind::none:
      break;
  }
  return "another program";
}

}  // namespace tbtrace::io
