// Rows by torch's grouping keys: name, device type, annotation or not, and whatever else was
// requested.
// Owns its rows and texts. Not synchronised.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include <tbtrace/report.h>

#include "base/string_pool.h"

namespace tbtrace::analyses {

class RowGroups {
 public:
  /// A number for a text; equal texts have equal numbers.
  std::uint32_t number(std::string_view text) { return texts_.intern(text); }

  /// The parts of a key, from number(); 0 for parts that are not grouped by.
  struct Key {
    std::uint32_t name = 0;
    std::uint32_t overload = 0;
    std::uint32_t shapes = 0;
    std::uint32_t stack = 0;
    DeviceType device = DeviceType::cpu;
    bool annotation = false;

    bool operator==(const Key&) const = default;
  };

  /// The row of a key, numbered in order of first appearance. `added`: the row is new; only name,
  /// device and kind are set, from the key.
  std::size_t find(const Key& key, bool& added) {
    added = false;
    if (key.name >= recent_.size()) recent_.resize(texts_.size(), kNone);
    std::uint32_t& recent = recent_[key.name];
    if (recent != kNone && keys_[recent] == key) return recent;
    const std::array<std::uint32_t, 5> parts = {
        key.name, key.overload, key.shapes, key.stack,
        static_cast<std::uint32_t>(key.device) << 1 | (key.annotation ? 1U : 0U)};
    std::array<char, sizeof parts> bytes;
    std::memcpy(bytes.data(), parts.data(), sizeof parts);
    recent = numbers_.intern({bytes.data(), bytes.size()}) - 1;
    added = recent == rows_.size();
    if (added) {
      keys_.push_back(key);
      OperatorRow& fresh = rows_.emplace_back();
      fresh.key = texts_[key.name];
      fresh.device_type = key.device;
      fresh.is_user_annotation = key.annotation;
    }
    return recent;
  }

  OperatorRow& operator[](std::size_t row) { return rows_[row]; }
  std::vector<OperatorRow>& rows() { return rows_; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  StringPool texts_;
  StringPool numbers_;                 // row of a key, by the bytes of its parts
  std::vector<Key> keys_;              // by row
  std::vector<std::uint32_t> recent_;  // by name: the last row found for that name
  std::vector<OperatorRow> rows_;
};

}  // namespace tbtrace::analyses
