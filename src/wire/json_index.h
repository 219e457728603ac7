// Positions of the tokens of JSON text: brackets, commas, colons, and the first character of every
// string, number and literal. Found by simdjson at several GB/s, without interpreting them.
// Owns the positions; they are valid until the next build(). Not synchronised.
// Text with strings that are not valid JSON gets no positions here; JsonScanner handles such text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace tbtrace::wire {

/// Bytes that must be readable after a text passed to JsonIndex. Their content is ignored.
inline constexpr std::size_t kJsonPadding = 64;

/// Entries after the last position that equal the text's size, so that a reader may look ahead.
inline constexpr std::size_t kJsonSentinels = 4;

enum class IndexEnd : std::uint8_t {
  whole,        ///< all of the text
  open_string,  ///< the text ends inside a string: everything before its quote
  broken,       ///< nothing: a string holds a raw control character
};

class JsonIndex {
 public:
  JsonIndex();
  ~JsonIndex();
  JsonIndex(JsonIndex&&) noexcept;
  JsonIndex& operator=(JsonIndex&&) noexcept;

  /// The text may hold several values separated by commas, and may end anywhere. At most 1 GiB.
  IndexEnd build(std::string_view text);

  /// Whether the last text is UTF-8, up to where it has positions.
  bool is_utf8() const { return is_utf8_; }

  /// The positions in the last text in ascending order, followed by kJsonSentinels times its size.
  const std::uint32_t* positions() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  bool is_utf8_ = true;
};

}  // namespace tbtrace::wire
