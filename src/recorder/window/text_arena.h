// Many short texts in a few blocks of memory.
// Owns the texts, which stay where they are until clear(); that keeps the blocks for the next ones.
// One thread at a time. No memory: std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace tbtrace::recorder {

class TextArena {
 public:
  std::string_view put(std::string_view text);
  std::string_view put(std::int64_t number);
  std::string_view put(std::uint64_t number);
  /// Microseconds with three decimals, so that no nanosecond is lost.
  std::string_view put_microseconds(std::int64_t ns);
  void clear();

 private:
  char* room(std::size_t size);

  static constexpr std::size_t kBlock = std::size_t{64} << 10;

  std::vector<std::unique_ptr<char[]>> blocks_;
  std::vector<std::unique_ptr<char[]>> long_ones_;
  std::size_t block_ = 0;  // that is written to
  std::size_t used_ = 0;   // of it
};

}  // namespace tbtrace::recorder
