#include "trace/stable_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <numeric>
#include <utility>

namespace tbtrace {
namespace {

constexpr int kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;

/// Sorts words by the bits from `shift` up.
void radix_sort(Column<std::uint64_t>& words, int shift) {
  const std::uint64_t all = std::accumulate(words.begin(), words.end(), std::uint64_t{0},
                                            [](std::uint64_t a, std::uint64_t b) { return a | b; });
  Column<std::uint64_t> other;
  other.extend(words.size());
  for (; shift < 64 && all >> shift != 0; shift += kDigitBits) {
    const auto digit = [shift](std::uint64_t word) { return word >> shift & (kDigits - 1); };
    std::array<std::uint32_t, kDigits> place = {};
    for (const std::uint64_t word : words) ++place[digit(word)];
    std::uint32_t next = 0;
    for (std::uint32_t& count : place) next += std::exchange(count, next);
    for (const std::uint64_t word : words) other[place[digit(word)]++] = word;
    words.swap(other);
  }
}

}  // namespace

void stable_order(std::span<const std::int64_t> keys, std::uint32_t* rows) {
  const std::size_t size = keys.size();
  std::iota(rows, rows + size, 0);
  if (std::is_sorted(keys.begin(), keys.end())) return;
  const auto [low, high] = std::minmax_element(keys.begin(), keys.end());
  const auto base = static_cast<std::uint64_t>(*low);
  const auto key_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(*high) - base));
  const auto row_bits = static_cast<int>(std::bit_width(size));
  if (key_bits + row_bits > 64) {
    std::stable_sort(rows, rows + size,
                     [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
    return;
  }
  Column<std::uint64_t> words;
  std::uint64_t* word = words.extend(size);
  for (std::size_t row = 0; row < size; ++row) {
    *word++ = (static_cast<std::uint64_t>(keys[row]) - base) << row_bits | row;
  }
  radix_sort(words, row_bits);
  const std::uint64_t row_mask = (std::uint64_t{1} << row_bits) - 1;
  for (const std::uint64_t sorted : words) *rows++ = static_cast<std::uint32_t>(sorted & row_mask);
}

}  // namespace tbtrace
