// A Chrome trace as a whole: `{ members, "traceEvents": [ events ], members }` or a bare array.
// Owns a parser and the builder that everything goes to. One thread at a time.
// Fed with text piece by piece; what is left over of a piece must stand before the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "readers/chrome_parser.h"
#include "readers/event_separator.h"
#include "trace/trace_builder.h"
#include "wire/json_scanner.h"

namespace tbtrace::readers {

class ChromeDocument {
 public:
  explicit ChromeDocument(Wanted wanted) : wanted_(wanted), parser_(wanted) {}

  /// Reads as much of `text` as is whole and returns how many bytes that were. `text` starts at
  /// byte `offset` of the file and must be followed by wire::kJsonPadding readable bytes. `last`:
  /// no more text will come; then everything is consumed.
  std::size_t consume(std::string_view text, std::uint64_t offset, bool last);

  /// Takes in the rows of a batch that another parser made of the text at `offset`; `ended`: the
  /// batch ends with the array. Only while in_events().
  void commit(EventBatch& batch, EventMapper& mapper, std::uint64_t offset, bool ended);

  /// The next text belongs into the array of events, and at least one was read.
  bool in_events() const { return state_ == State::events && separator_.known(); }

  /// Where its text may be cut, once in_events().
  EventSeparator& separator() { return separator_; }

  /// Leaves out the member or event that `text` starts with, as it is too large, up to the end of
  /// `text` or of the thing. Call again with the next text until it returns less than its size.
  std::size_t skip(std::string_view text, std::uint64_t offset, bool last);

  wire::Quoting quoting() const { return quoting_; }
  const Wanted& wanted() const { return wanted_; }

  /// The document was a trace: its array of events was seen.
  bool has_events() const { return has_events_; }

  TraceBuilder& builder() { return builder_; }

 private:
  enum class State : std::uint8_t { start, members, events, done };
  struct Skipping {
    bool active = false;
    bool in_string = false;
    bool escaped = false;
    std::size_t depth = 0;
  };

  std::size_t start(std::string_view text, bool last);
  std::size_t member(std::string_view text, std::uint64_t offset, bool last);
  std::size_t events(std::string_view text, std::uint64_t offset, bool last);
  void settle_wanted();
  bool learn_layout(std::string_view text);

  Wanted wanted_;
  State state_ = State::start;
  bool bare_array_ = false;
  bool has_events_ = false;
  wire::Quoting quoting_ = wire::Quoting::escaped;
  EventSeparator separator_;
  std::size_t broken_members_ = 0;
  Skipping skipping_;
  wire::JsonScanner scanner_;
  ChromeParser parser_;
  EventBatch batch_;
  TraceBuilder builder_;
};

}  // namespace tbtrace::readers
