// Where the parts of a JSON text are: brackets, commas, colons, and the first character of every
// string, number and literal. Found by simdjson at several GB/s, without looking at what they mean.
// Owns the positions; they are valid until the next build(). Not synchronised.
// Text with strings that JSON does not have gets no positions here; JsonScanner finds them then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace tbtrace::wire {

/// Bytes that must be readable after a text that is given to JsonIndex. Their content is ignored.
inline constexpr std::size_t kJsonPadding = 64;

/// Entries after the last position that equal the text's size, so that a walk may look ahead.
inline constexpr std::size_t kJsonSentinels = 4;

enum class IndexEnd : std::uint8_t {
  whole,        ///< all of the text
  open_string,  ///< the text ends inside a string; up to its quote
  broken,       ///< nothing: a string holds a raw control character
};

class JsonIndex {
 public:
  JsonIndex();
  ~JsonIndex();
  JsonIndex(JsonIndex&&) noexcept;
  JsonIndex& operator=(JsonIndex&&) noexcept;

  /// The text may hold several values with commas between them, and end anywhere. At most 1 GiB.
  IndexEnd build(std::string_view text);

  /// The last text is UTF-8, as far as it has positions.
  bool is_utf8() const { return is_utf8_; }

  /// The positions in the last text, in ascending order, then kJsonSentinels times its size.
  const std::uint32_t* positions() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  bool is_utf8_ = true;
};

}  // namespace tbtrace::wire
