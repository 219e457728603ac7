#include "trace/stable_order.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tbtrace {
namespace {

constexpr int kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;

struct Entry {
  std::uint64_t key;
  std::uint32_t row;
};

}  // namespace

Column<std::uint32_t> stable_order(std::span<const std::int64_t> keys) {
  Column<std::uint32_t> order;
  std::uint32_t* rows = order.extend(keys.size());
  if (std::is_sorted(keys.begin(), keys.end())) {
    for (std::size_t row = 0; row < keys.size(); ++row) rows[row] = static_cast<std::uint32_t>(row);
    return order;
  }
  const auto [low, high] = std::minmax_element(keys.begin(), keys.end());
  const auto base = static_cast<std::uint64_t>(*low);
  const std::uint64_t range = static_cast<std::uint64_t>(*high) - base;
  Column<Entry> from;
  Column<Entry> to;
  Entry* entries = from.extend(keys.size());
  to.extend(keys.size());
  for (std::size_t row = 0; row < keys.size(); ++row) {
    entries[row] = {static_cast<std::uint64_t>(keys[row]) - base, static_cast<std::uint32_t>(row)};
  }
  for (int shift = 0; shift < 64 && range >> shift != 0; shift += kDigitBits) {
    const auto digit = [shift](const Entry& e) { return e.key >> shift & (kDigits - 1); };
    std::array<std::uint32_t, kDigits> place = {};
    for (const Entry& entry : from) ++place[digit(entry)];
    std::uint32_t next = 0;
    for (std::uint32_t& count : place) next += std::exchange(count, next);
    for (const Entry& entry : from) to[place[digit(entry)]++] = entry;
    from.swap(to);
  }
  for (const Entry& entry : from) *rows++ = entry.row;
  return order;
}

}  // namespace tbtrace
