// The bytes of a pickle, piece by piece.
// Refers to its source, which must outlive it. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <tbtrace/status.h>

#include "io/source.h"

namespace tbtrace::snapshots {

class PickleBytes {
 public:
  /// `most`: of what view() gives at once.
  static constexpr std::size_t kMostAtOnce = std::size_t{1} << 16;

  explicit PickleBytes(io::ByteSource& source) : source_(source), buffer_(kBuffer) {}

  /// Whether `size` bytes follow; at most kMostAtOnce.
  bool has(std::size_t size) { return end_ - at_ >= size || fill(size); }
  /// After has() of as many.
  std::string_view view(std::size_t size) {
    const std::string_view bytes(buffer_.data() + at_, size);
    at_ += size;
    return bytes;
  }
  std::uint8_t byte() { return static_cast<std::uint8_t>(buffer_[at_++]); }
  /// An unsigned number of `size` bytes, the lowest first.
  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t place = 0; place < size; ++place) value |= std::uint64_t{byte()} << 8 * place;
    return value;
  }
  /// Passes over bytes; false if there are not as many.
  bool skip(std::uint64_t size);

  /// Of the next byte.
  std::uint64_t position() const { return before_ + at_; }
  /// The error at which reading stopped; ok at the end of the file.
  const Status& failure() const { return failure_; }

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 20;

  bool fill(std::size_t size);

  io::ByteSource& source_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::uint64_t before_ = 0;  // bytes before the buffer
  bool is_at_end_ = false;
  Status failure_;
};

}  // namespace tbtrace::snapshots
