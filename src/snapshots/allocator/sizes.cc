#include "snapshots/allocator/sizes.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string_view>

namespace tbtrace::snapshots {
namespace {

constexpr std::int64_t kLeast = 512;        // kMinBlockSize of c10
constexpr std::size_t kFirstInterval = 20;  // of 1 MiB
constexpr std::int64_t kMost = 1 << 20;     // divisions; a file may say anything

/// The number that a text begins with, which it loses; 0 if there is none.
std::int64_t take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc() ? number : 0;
}

}  // namespace

std::int64_t segment_bytes(std::int64_t asked) {
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  if (asked <= kMostSmall) return kSmallSegment;
  if (asked < 10 * kMiB) return 20 * kMiB;
  return (asked + 2 * kMiB - 1) / (2 * kMiB) * (2 * kMiB);
}

std::int64_t least_block_bytes(std::int64_t requested) {
  return (std::max<std::int64_t>(requested, 1) + kLeast - 1) / kLeast * kLeast;
}

/// The file has a number for each power of two, in MiB: `1:0, 2:0, 4:8`.
Rounding::Rounding(std::span<const std::pair<std::string, std::string>> settings) {
  for (const auto& [name, value] : settings) {
    if (name != "roundup_power2_divisions") continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const auto mebibytes = static_cast<std::uint64_t>(take_number(rest));
      if (!rest.starts_with(':') || !std::has_single_bit(mebibytes)) break;
      rest.remove_prefix(1);
      const auto interval = static_cast<std::size_t>(std::countr_zero(mebibytes));
      const std::int64_t divisions = take_number(rest);
      if (interval < kIntervals && divisions <= kMost) divisions_[interval] = divisions;
      rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(", ")));
    }
  }
}

std::int64_t Rounding::block_bytes(std::int64_t requested) const {
  const auto size = static_cast<std::uint64_t>(std::max<std::int64_t>(requested, 1));
  const auto power = static_cast<std::size_t>(std::bit_width(size)) - 1;
  const std::size_t interval = std::max(power, kFirstInterval) - kFirstInterval;
  const std::int64_t divisions = divisions_[std::min(interval, kIntervals - 1)];
  if (divisions <= 1 || requested <= kLeast * divisions || std::has_single_bit(size)) {
    return least_block_bytes(requested);
  }
  const std::uint64_t floor = std::bit_floor(size);
  const std::uint64_t part = floor >> (std::bit_width(static_cast<std::uint64_t>(divisions)) - 1);
  return static_cast<std::int64_t>((size + part - 1) / part * part);
}

}  // namespace tbtrace::snapshots
