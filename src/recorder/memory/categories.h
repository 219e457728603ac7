// What the memory of each tensor is for: torch's rules, by what operators do to it. The rules stand
// in docs/memory_timeline.md, each with the category that it gives.
// Pure functions of a data flow.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "recorder/memory/data_flow.h"
#include "report/memory_timeline.h"

namespace tbtrace::recorder {

/// A tensor that has one category for good, or one for each of its versions.
class MemoryCategories {
 public:
  explicit MemoryCategories(std::size_t tensors) : of_tensor_(tensors), weak_(tensors) {}

  MemoryCategory get(std::uint32_t tensor, std::uint32_t version) const;
  bool is(std::uint32_t tensor, std::uint32_t version, MemoryCategory category) const {
    return get(tensor, version) == category;
  }

  /// Counts before all others.
  void set(std::uint32_t tensor, MemoryCategory category) { of_tensor_[tensor] = category; }
  /// Counts before those of versions.
  void set_weak(std::uint32_t tensor, MemoryCategory category) { weak_[tensor] = category; }
  /// The first one counts.
  void set_version(std::uint32_t tensor, std::uint32_t version, MemoryCategory category);

 private:
  std::vector<std::optional<MemoryCategory>> of_tensor_;
  std::vector<std::optional<MemoryCategory>> weak_;
  std::unordered_map<std::uint64_t, MemoryCategory> of_version_;
};

MemoryCategories memory_categories(const DataFlow& flow);

}  // namespace tbtrace::recorder
