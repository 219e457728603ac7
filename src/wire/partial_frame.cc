#include "wire/partial_frame.h"

#include <cstddef>

#include "wire/crc32c.h"

namespace tbtrace::wire {
namespace {

/// As PNG's: a byte that no text begins with, a name, and line ends that a transfer as text would
/// change.
constexpr std::string_view kMagic("\x8ftbp\r\n\x1a\n", 8);
constexpr std::size_t kHeader = kMagic.size() + 4 + 8 + 4;

template <typename Number>
void put(std::string& bytes, Number number) {
  for (std::size_t byte = 0; byte < sizeof number; ++byte) {
    bytes += static_cast<char>(number >> (8 * byte) & 0xff);
  }
}

template <typename Number>
Number take(std::string_view& bytes) {
  Number number = 0;
  for (std::size_t byte = 0; byte < sizeof number; ++byte) {
    number |= static_cast<Number>(static_cast<unsigned char>(bytes[byte])) << (8 * byte);
  }
  bytes.remove_prefix(sizeof number);
  return number;
}

Status unreadable(const std::string& what) { return {StatusCode::unreadable_input, what}; }

}  // namespace

bool begins_as_partial(std::string_view start) { return start.starts_with(kMagic); }

std::string framed_partial(std::string_view message) {
  std::string bytes(kMagic);
  put(bytes, kPartialVersion);
  put(bytes, std::uint64_t{message.size()});
  put(bytes, crc32c(message));
  bytes += message;
  return bytes;
}

Result<std::string_view> message_in_frame(std::string_view bytes) {
  if (!begins_as_partial(bytes)) {
    return unreadable("is not a partial; `tbtrace save` makes one from a trace");
  }
  if (bytes.size() < kHeader) return unreadable("the partial is cut off; make it again");
  bytes.remove_prefix(kMagic.size());
  const auto version = take<std::uint32_t>(bytes);
  if (version > kPartialVersion) {
    return unreadable("the partial has version " + std::to_string(version) +
                      ", this program reads up to version " + std::to_string(kPartialVersion) +
                      "; use the newer tbtrace that made it");
  }
  const auto size = take<std::uint64_t>(bytes);
  const auto checksum = take<std::uint32_t>(bytes);
  if (bytes.size() < size) return unreadable("the partial is cut off; make it again");
  if (version == 0 || bytes.size() > size || crc32c(bytes) != checksum) {
    return unreadable("the partial is damaged; make it again");
  }
  return bytes;
}

}  // namespace tbtrace::wire
