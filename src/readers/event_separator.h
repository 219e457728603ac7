// Where a text of events may be cut so that no event is torn: a guess by what stood between others.
// Owns the text it looks for; learns with every call, so one thread at a time.
// A guess may be wrong, in a string for instance; parsing what was cut tells.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tbtrace::readers {

/// What stands between two events, from the brace that ends the one to the first key of the other:
/// `},\n  {\n    "ph"`.
class EventSeparator {
 public:
  /// Learns from the text behind an event, which ends at `end` of `text`. Nothing if it is no event
  /// that follows, or its first key is not there yet.
  void learn(std::string_view text, std::size_t end);

  bool known() const { return !text_.empty(); }

  /// Where in a text that starts between two events the last one ends that another follows, 0 if
  /// there is none. Rows of another kind may begin with another key: then that is learned.
  std::size_t last_boundary(std::string_view text);

  /// Where behind `from` the next event starts, npos if none does.
  std::size_t next_event(std::string_view text, std::size_t from) const {
    return text.find(std::string_view(text_).substr(1), from);
  }

 private:
  std::string text_;
  std::size_t key_at_ = 0;  // in text_
};

}  // namespace tbtrace::readers
