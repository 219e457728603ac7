// The snapshot in a page that torch writes (torch.cuda._memory_viz): a pickle in Base64.
// Owns the source that it reads. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "io/source.h"

namespace tbtrace::snapshots {

class Base64Source final : public io::ByteSource {
 public:
  /// `page` has to stand after the opening quotation mark; reading ends at the closing one.
  explicit Base64Source(std::unique_ptr<io::ByteSource> page) : page_(std::move(page)) {}

  Result<std::size_t> read(std::span<char> buffer) override;
  std::uint64_t position() const override { return page_->position(); }
  std::uint64_t total() const override { return page_->total(); }

 private:
  std::unique_ptr<io::ByteSource> page_;
  std::array<char, 4096> text_;
  std::uint32_t bits_ = 0;
  int bit_count_ = 0;
  bool is_at_end_ = false;
};

/// Where a pickle in Base64 begins in the start of a page; npos if there is none.
std::size_t base64_start(std::string_view page);

}  // namespace tbtrace::snapshots
