#include "snapshots/base64_source.h"

#include <algorithm>
#include <string_view>

namespace tbtrace::snapshots {
namespace {

/// RFC 4648, section 4; -1 for other characters.
int digit(char character) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::size_t at = kDigits.find(character);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

}  // namespace

Result<std::size_t> Base64Source::read(std::span<char> buffer) {
  constexpr int kDigitBits = 6;
  constexpr int kByteBits = 8;
  std::size_t made = 0;
  while (made == 0 && !is_at_end_) {
    // Four characters make three bytes, so that all that are made have room.
    const std::size_t most = std::min(text_.size(), buffer.size());
    Result<std::size_t> got = page_->read(std::span<char>(text_.data(), most));
    if (!got.ok()) return got;
    is_at_end_ = *got == 0;
    for (const char character : std::string_view(text_.data(), *got)) {
      const int value = digit(character);
      if (value < 0) {
        is_at_end_ = true;
        break;
      }
      bits_ = bits_ << kDigitBits | static_cast<std::uint32_t>(value);
      bit_count_ += kDigitBits;
      if (bit_count_ < kByteBits) continue;
      bit_count_ -= kByteBits;
      buffer[made++] = static_cast<char>(bits_ >> bit_count_ & 0xff);
    }
  }
  return made;
}

std::size_t base64_start(std::string_view page) {
  constexpr std::string_view kMember = "\"base64\": \"";
  const std::size_t member = page.find(kMember);
  return member == std::string_view::npos ? member : member + kMember.size();
}

}  // namespace tbtrace::snapshots
