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

/// Numbers of keys.
class RowKeys {
 public:
  /// A number for a text; equal texts have equal numbers.
  std::uint32_t number(std::string_view text) { return texts_.intern(text); }
  std::string_view text(std::uint32_t number) const { return texts_[number]; }

  /// The parts of a key, from number(); 0 for parts that are not grouped by.
  struct Key {
    std::uint32_t name = 0;
    std::uint32_t overload = 0;
    std::uint32_t shapes = 0;
    std::uint32_t stack = 0;
    DeviceType device = DeviceType::cpu;
    bool annotation = false;
    std::uint32_t values = 0;  ///< from GroupKeys::bytes()

    bool operator==(const Key&) const = default;
  };

  /// The number of a key, in order of first appearance. `added`: the key is new.
  std::size_t find(const Key& key, bool& added) {
    added = false;
    if (key.name >= recent_.size()) recent_.resize(texts_.size(), kNone);
    std::uint32_t& recent = recent_[key.name];
    if (recent != kNone && keys_[recent] == key) return recent;
    const std::array<std::uint32_t, 6> parts = {
        key.name,   key.overload,
        key.shapes, key.stack,
        key.values, static_cast<std::uint32_t>(key.device) << 1 | (key.annotation ? 1U : 0U)};
    std::array<char, sizeof parts> bytes;
    std::memcpy(bytes.data(), parts.data(), sizeof parts);
    recent = numbers_.intern({bytes.data(), bytes.size()}) - 1;
    added = recent == keys_.size();
    if (added) keys_.push_back(key);
    return recent;
  }

  std::size_t size() const { return keys_.size(); }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  StringPool texts_;
  StringPool numbers_;                 // of keys, by the bytes of their parts
  std::vector<Key> keys_;              // by number
  std::vector<std::uint32_t> recent_;  // by name: the last key found with that name
};

class RowGroups {
 public:
  using Key = RowKeys::Key;

  std::uint32_t number(std::string_view text) { return keys_.number(text); }

  /// The row of a key. `added`: the row is new; only name, device and kind are set, from the key.
  std::size_t find(const Key& key, bool& added) {
    const std::size_t row = keys_.find(key, added);
    if (added) {
      OperatorRow& fresh = rows_.emplace_back();
      fresh.key = keys_.text(key.name);
      fresh.device_type = key.device;
      fresh.is_user_annotation = key.annotation;
    }
    return row;
  }

  OperatorRow& operator[](std::size_t row) { return rows_[row]; }
  std::vector<OperatorRow>& rows() { return rows_; }

 private:
  RowKeys keys_;
  std::vector<OperatorRow> rows_;
};

}  // namespace tbtrace::analyses
