// A Chrome trace as a whole: `{ members, "traceEvents": [ events ], members }` or a bare array.
// Owns a parser; the builder that it adds to belongs to the caller. One thread at a time.
// Fed with text piece by piece; what is left over of a piece must stand before the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "readers/chrome_parser.h"
#include "readers/event_separator.h"
#include "trace/trace_builder.h"
#include "wire/json_scanner.h"

namespace tbtrace::readers {

class ChromeDocument {
 public:
  /// The builder gets the members and the issues; events go where the consumers put them.
  ChromeDocument(const Wanted& wanted, TraceBuilder& builder, MakeConsumer make_consumer)
      : wanted_(wanted), builder_(builder), make_consumer_(std::move(make_consumer)) {}

  /// Reads as much of `text` as is whole and returns how many bytes that were. `text` starts at
  /// byte `offset` of the file and must be followed by wire::kJsonPadding readable bytes. `last`:
  /// no more text will come; then everything is consumed.
  std::size_t consume(std::string_view text, std::uint64_t offset, bool last);

  /// The next text belongs into the array of events, and at least one was read.
  bool in_events() const { return state_ == State::events && separator_.known(); }

  /// Where its text may be cut, once in_events().
  EventSeparator& separator() { return separator_; }

  /// Leaves out the member or event that `text` starts with, as it is too large, up to the end of
  /// `text` or of the thing. Call again with the next text until it returns less than its size.
  std::size_t skip(std::string_view text, std::uint64_t offset, bool last);

  wire::Quoting quoting() const { return quoting_; }
  /// A parser for events that another thread reads, once in_events().
  std::unique_ptr<ChromeParser> make_parser() const;

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
  ChromeParser& parser();
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
  TraceBuilder& builder_;
  MakeConsumer make_consumer_;
  std::unique_ptr<ChromeParser> parser_;  // once events are near
};

}  // namespace tbtrace::readers
