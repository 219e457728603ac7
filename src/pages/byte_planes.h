// Columns of integers as planes of bytes, which gzip makes small: docs/formats/timeline.md.
// Owns what it holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/json_emitter.h"

namespace tbtrace::pages {

enum class Delta : std::uint8_t {
  none,
  previous,  ///< differences to the value before
  track,     ///< the same; the first value of each track stands alone
};

class BytePlanes {
 public:
  /// `values`: already as differences.
  void add(std::string name, const std::vector<std::uint64_t>& values, Delta delta,
           bool is_signed = false) {
    std::uint64_t all = 0;
    for (const std::uint64_t value : values) all |= value;
    Column column{std::move(name), values.size(), 0, delta, is_signed};
    for (; all != 0; all >>= 8) {
      const unsigned shift = 8 * column.planes++;
      const std::size_t first = bytes_.size();
      bytes_.resize(first + values.size());
      for (std::size_t at = 0; at < values.size(); ++at) {
        bytes_[first + at] = static_cast<char>(values[at] >> shift & 0xff);
      }
    }
    columns_.push_back(std::move(column));
  }

  /// 0, -1, 1, -2, ... as 0, 1, 2, 3, ...
  static std::uint64_t zigzag(std::int64_t value) {
    return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
  }

  void emit(wire::JsonEmitter& json) const {
    constexpr std::string_view kDeltas[] = {"none", "previous", "track"};
    json.begin_array();
    for (const Column& column : columns_) {
      json.begin_object();
      json.member("name", column.name);
      json.key("count");
      json.integer(column.count);
      json.key("planes");
      json.integer(column.planes);
      json.member("delta", kDeltas[static_cast<std::size_t>(column.delta)]);
      json.key("signed");
      json.boolean(column.is_signed);
      json.end_object();
    }
    json.end_array();
  }

  const std::string& bytes() const { return bytes_; }

 private:
  struct Column {
    std::string name;
    std::size_t count;
    unsigned planes;
    Delta delta;
    bool is_signed;
  };

  std::vector<Column> columns_;
  std::string bytes_;
};

}  // namespace tbtrace::pages
