// From a piece of the `traceEvents` array to rows.
// Owns its index and the rows of the last piece; one thread at a time.
// Strings that are those of JSON go through the fast index; where they are not, events go through
// the scanner one by one, by the rules of their writer. What neither understands stops the parser:
// repair is for EventRepair, and only once the structure has rejected an event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "readers/chrome/rows.h"
#include "readers/chrome/tokenizer.h"
#include "wire/json_index.h"
#include "wire/json_scanner.h"

namespace tbtrace::readers {

/// Why a parser stopped reading events.
enum class EventStop : std::uint8_t {
  need_text,  ///< what is left is the start of an event that may be whole once more text comes
  array_end,  ///< the bracket that closes the array was the last thing consumed
  rejected,   ///< what is left starts with something that no text can make valid
};

class ChromeParser {
 public:
  /// `reader` tells the rows' tables from those of other parsers.
  ChromeParser(const RowRequest& request, std::uint32_t reader)
      : rows_(request, reader),
        tokenizer_(request.keys(), request.members, request.left_out.fields) {}

  struct Progress {
    std::size_t consumed = 0;  ///< text up to here is done with
    EventStop stop = EventStop::need_text;
    bool closes_after_comma = false;  ///< array_end: no event stands before the bracket
    std::size_t reached = 0;          ///< rejected: how far the scanner looked
  };

  /// Reads the events of `text` from `from` on, which is between two events; the text must be
  /// followed by wire::kJsonPadding readable bytes. An event counts once the comma or bracket after
  /// it is there. Adds to rows().
  Progress parse(std::string_view text, wire::Quoting quoting, std::size_t from = 0,
                 bool after_event = false);

  /// The same for a text whose first event is longer than what was expected: the scanner reads it,
  /// in time and memory that grow with the event alone.
  Progress parse_long(std::string_view text, wire::Quoting quoting);

  /// The same from `at` on, for a text that the index rejects: event by event, with the scanner.
  /// `after_event`: the comma between two events is still to come.
  Progress scan(std::string_view text, wire::Quoting quoting, std::size_t at,
                bool after_event = false);

  /// Reads the one element that starts at `at` as well as it can be, though it is not valid JSON.
  struct Damaged {
    wire::ScanEnd end = wire::ScanEnd::broken;
    std::size_t after = 0;    ///< where a complete element ends, with the blanks that follow it
    bool is_event = false;    ///< it was added to rows()
    std::size_t reached = 0;  ///< how far it was looked at
  };
  /// `last`: no more text will come.
  Damaged read_damaged(std::string_view text, wire::Quoting quoting, std::size_t at, bool last);

  ChromeRows& rows() { return rows_; }

 private:
  /// Where a walk over the index stands.
  struct Walk {
    std::size_t from = 0;                     ///< in the text: positions count from here
    const std::uint32_t* position = nullptr;  ///< the next one
    std::size_t done = 0;                     ///< as Progress::consumed
    bool after_event = false;
    bool is_whole = true;  ///< the positions are of all the text from `from` on
  };

  Damaged scan_damaged(std::string_view text, wire::Quoting quoting, std::size_t at, bool last);
  Damaged take_damaged(std::string_view text, wire::Quoting quoting, std::size_t at,
                       Damaged scanned, bool is_json);
  Progress walk_index(std::string_view text, wire::Quoting quoting, const Walk& walk);
  Progress scan_some(std::string_view text, wire::Quoting quoting, std::size_t at, bool after_event,
                     std::size_t most);
  std::size_t skip_gap(std::string_view text, std::size_t at, std::size_t& commas);
  bool take_scanned(std::string_view text, wire::Quoting quoting, std::size_t start,
                    std::size_t end, bool is_json);

  ChromeRows rows_;
  wire::JsonIndex index_;
  wire::JsonScanner scanner_;
  ChromeTokenizer tokenizer_;
  RawEvent event_;
};

}  // namespace tbtrace::readers
