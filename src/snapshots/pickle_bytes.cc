#include "snapshots/pickle_bytes.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace tbtrace::snapshots {

bool PickleBytes::fill(std::size_t size) {
  std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
  before_ += at_;
  end_ -= at_;
  at_ = 0;
  while (end_ < size && !is_at_end_) {
    const Result<std::size_t> got =
        source_.read(std::span<char>(buffer_.data() + end_, buffer_.size() - end_));
    if (!got.ok()) failure_ = got.status();
    is_at_end_ = !got.ok() || *got == 0;
    if (got.ok()) end_ += *got;
  }
  return end_ >= size;
}

bool PickleBytes::skip(std::uint64_t size) {
  while (size > 0) {
    if (!has(1)) return false;
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(size, end_ - at_));
    at_ += step;
    size -= step;
  }
  return true;
}

}  // namespace tbtrace::snapshots
