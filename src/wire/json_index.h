// Where the parts of a JSON text are: brackets, commas, colons, and the first character of every
// string, number and literal. Found by simdjson at several GB/s, without looking at what they mean.
// Owns the positions; they are valid until the next build(). Not synchronised.
// Text that is no proper JSON on the level of strings is refused; JsonScanner takes it then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace tbtrace::wire {

/// Bytes that must be readable after a text that is given to JsonIndex. Their content is ignored.
inline constexpr std::size_t kJsonPadding = 64;

/// Entries behind the last position that equal the text's size, so that a walk may look ahead.
inline constexpr std::size_t kJsonSentinels = 4;

class JsonIndex {
 public:
  JsonIndex();
  ~JsonIndex();
  JsonIndex(JsonIndex&&) noexcept;
  JsonIndex& operator=(JsonIndex&&) noexcept;

  /// False if a string is not closed, holds a raw control character, or the text is no UTF-8.
  /// The text may hold several values with commas between them. At most 1 GiB.
  bool build(std::string_view text);

  /// The positions of the last text, in ascending order, then kJsonSentinels times its size.
  const std::uint32_t* positions() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace tbtrace::wire
