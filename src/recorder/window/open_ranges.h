// The ranges of one thread that are open while its log is read, found by their keys.
// Values only; one thread at a time. Each call takes a constant number of steps on average, however
// the ends are ordered: the range that began last is looked at first, and only if the end is not
// its own do the others go into a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tbtrace::recorder {

class OpenRanges {
 public:
  void begin(std::uint64_t key, std::size_t row) { open_.push_back({key, row}); }

  /// The row of the range that began last; nothing if none is open.
  std::optional<std::size_t> innermost() const {
    return open_.empty() ? std::nullopt : std::optional(open_.back().row);
  }

  /// Takes the range with the key that began last; nothing if none is open.
  std::optional<std::size_t> end(std::uint64_t key) {
    if (open_.empty()) return std::nullopt;
    if (open_.back().key == key) {
      const std::size_t row = open_.back().row;
      if (listed_ == open_.size()) unlist(key);
      drop_last();
      return row;
    }
    for (; listed_ < open_.size(); ++listed_) places_[open_[listed_].key].push_back(listed_);
    const auto found = places_.find(key);
    if (found == places_.end()) return std::nullopt;
    Entry& entry = open_[found->second.back()];
    const std::size_t row = entry.row;
    entry.row = kEnded;
    unlist(key);
    return row;
  }

 private:
  static constexpr std::size_t kEnded = std::numeric_limits<std::size_t>::max();

  struct Entry {
    std::uint64_t key;
    std::size_t row;
  };

  void unlist(std::uint64_t key) {
    const auto found = places_.find(key);
    found->second.pop_back();
    if (found->second.empty()) places_.erase(found);
  }

  /// The last entry is always an open one; those that ended before it was last go with it.
  void drop_last() {
    do {
      open_.pop_back();
    } while (!open_.empty() && open_.back().row == kEnded);
    if (listed_ > open_.size()) listed_ = open_.size();
  }

  std::vector<Entry> open_;  // in the order of beginning
  std::size_t listed_ = 0;   // so many of them, from the first on, are in places_
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> places_;  // in open_, ascending
};

}  // namespace tbtrace::recorder
