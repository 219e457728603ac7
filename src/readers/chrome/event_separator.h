// What stands between two events of a file, from the brace that ends the one to the first key of
// the other: `},\n  {\n    "ph"`. Asked only where the structure of a text has been rejected.
// Owns the text it looks for. Learned once; then any number of readers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tbtrace::readers {

class EventSeparator {
 public:
  /// Learns from the text after an event, which ends at `end` of `text`. Nothing if no event
  /// follows, or its first key is not there yet.
  void learn(std::string_view text, std::size_t end);

  bool known() const { return !text_.empty(); }

  /// Where after `from` the next event starts, npos if none does or it is not known() how.
  std::size_t next_event(std::string_view text, std::size_t from) const;

 private:
  std::string text_;
};

}  // namespace tbtrace::readers
