// What was allocated at a moment, in groups.
// Results own their texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "snapshots/categories.h"
#include "snapshots/origins.h"
#include "snapshots/replay.h"

namespace tbtrace::snapshots {

inline constexpr const char* kUnattributed = "[unattributed]";
inline constexpr const char* kOthers = "[others]";
inline constexpr const char* kBefore = "[before the recording]";

/// By what memory is grouped.
struct GroupBy {
  bool line = true;
  bool category = true;
  bool stack = false;
  bool size = false;
  bool stream = false;
  bool pool = false;
};

/// Fields by which nothing was grouped have no value.
struct HolderKey {
  std::optional<std::string> line;
  std::optional<std::string> category;
  std::optional<std::string> stack;
  std::optional<std::int64_t> size;
  std::optional<std::int64_t> stream;
  std::optional<std::string> pool;

  bool operator==(const HolderKey&) const = default;
  bool operator<(const HolderKey& other) const {
    return std::tie(line, category, stack, size, stream, pool) <
           std::tie(other.line, other.category, other.stack, other.size, other.stream, other.pool);
  }
};

struct Holder {
  HolderKey key;
  std::int64_t bytes = 0;
  std::int64_t pending_bytes = 0;
  std::int64_t allocations = 0;
};

/// The group of an allocation.
class Grouping {
 public:
  Grouping(const DeviceReplay& replay, Origins& origins, Categories& categories, GroupBy by)
      : replay_(replay), origins_(origins), categories_(categories), by_(by) {}

  /// Groups have numbers from 0 in the order of their first allocation.
  std::uint32_t number(const Allocation& allocation);
  std::size_t count() const { return keys_.size(); }
  const HolderKey& key(std::uint32_t number) const { return *keys_[number]; }
  /// The line of an allocation, or why it has none.
  std::string line(const Allocation& allocation);
  /// `default`, `(1, 0)`, or empty if it is unknown.
  std::string pool(std::uint32_t pool) const;

 private:
  const DeviceReplay& replay_;
  Origins& origins_;
  Categories& categories_;
  GroupBy by_;

  HolderKey make_key(const Allocation& allocation, std::string_view category);

  /// What a key is made of.
  struct Facts {
    std::uint32_t stack = 0;
    std::uint32_t forward = 0;
    bool is_before = false;
    std::string_view category = {};
    std::int64_t size = 0;
    std::uint32_t stream = 0;
    std::uint32_t pool = 0;

    bool operator<(const Facts& other) const {
      return std::tie(stack, forward, is_before, category, size, stream, pool) <
             std::tie(other.stack, other.forward, other.is_before, other.category, other.size,
                      other.stream, other.pool);
    }
  };
  std::map<Facts, std::uint32_t> numbers_;  // millions of allocations have few facts
  std::map<HolderKey, std::uint32_t> by_key_;
  std::vector<const HolderKey*> keys_;
};

/// Largest first. Their bytes add up to what was allocated.
std::vector<Holder> holders_at(const DeviceReplay& replay, Grouping& grouping, Moment moment);

}  // namespace tbtrace::snapshots
