// What is done about an event that the structure rejects: text between events that is not JSON, an
// event that lost its end, a string with a bare quote. Valid JSON never gets here.
// Remembers how much it may still look at again, so that text made for it cannot make it slow.
// As long as it may look again, what it decides depends on the text alone, not on the pieces in
// which the text comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "readers/chrome/event_separator.h"
#include "readers/chrome/parser.h"
#include "wire/json_scanner.h"

namespace tbtrace::readers {

class EventRepair {
 public:
  /// So many bytes of text were read: that much more may be looked at again.
  void pay(std::size_t bytes) { credit_ += kTimes * bytes; }
  /// So many were looked at again.
  void spend(std::size_t bytes) { credit_ -= bytes < credit_ ? bytes : credit_; }

  struct Outcome {
    enum class Next : std::uint8_t {
      read_on,    ///< events may follow at `at`
      need_text,  ///< what starts at `at` can be judged once more text is there
      search,     ///< the next event is to be searched from `at` on
    };
    Next next = Next::read_on;
    std::size_t at = 0;  ///< read_on: right after an element
  };

  /// Reads the rejected element at `at`, which must not be a blank or comma, or counts it as
  /// unreadable. It ends before the next event as far as `separator` knows it: a text that lost its
  /// quote would take that in. `last`: no more text will come.
  Outcome take(ChromeParser& parser, std::string_view text, wire::Quoting quoting,
               const EventSeparator& separator, std::size_t at, bool last);

  /// Counts the element at `at` as unreadable though it may be valid: the text ends in it, and
  /// events follow in it.
  void give_up(ChromeParser& parser, std::string_view text, std::size_t at);

  /// More may be looked at again.
  bool has_credit() const { return credit_ > 0; }

 private:
  static constexpr std::uint64_t kTimes = 8;

  std::uint64_t credit_ = std::uint64_t{16} << 20;
};

/// Where an event starts at or after `from`: at a brace after a comma, if the key of an event
/// follows it. If there is none, `found` is false, and a search of more text may begin at `at`.
struct EventStart {
  bool found = false;
  std::size_t at = 0;
};
EventStart find_event_start(std::string_view text, std::size_t from);

/// What follows the bracket that ended the array of events: where an event starts, if one does, so
/// that the bracket was a stray one; nullopt if more text is needed to say.
std::optional<EventStart> event_after_bracket(std::string_view text);

}  // namespace tbtrace::readers
