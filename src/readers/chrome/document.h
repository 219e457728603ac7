// A Chrome trace as a whole: `{ members, "traceEvents": [ events ], members }` or a bare array.
// Owns a parser; builder and sink belong to the caller. One thread at a time.
// Fed with text piece by piece; what is left over of a piece must stand before the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include <tbtrace/status.h>

#include "readers/blocks/directory.h"
#include "readers/chrome/event_repair.h"
#include "readers/chrome/event_separator.h"
#include "readers/chrome/parser.h"
#include "trace/event_sink.h"
#include "trace/trace_builder.h"
#include "wire/json_scanner.h"

namespace tbtrace::readers {

class ChromeDocument {
 public:
  /// The builder gets the members and the issues, the sink the rows. If the sink is not the
  /// builder, numbers of events in the directory mean nothing.
  ChromeDocument(const RowRequest& request, TraceBuilder& builder, EventSink& sink)
      : request_(request), builder_(builder), sink_(sink) {}

  /// Reads as much of `text` as is whole and returns how many bytes that were. `text` starts at
  /// byte `offset` of the file and must be followed by wire::kJsonPadding readable bytes. `last`:
  /// no more text will come; then everything is consumed.
  std::size_t consume(std::string_view text, std::uint64_t offset, bool last);

  /// The next text is in the array of events, between two of them.
  bool in_events() const { return state_ == State::events; }

  /// A parser for events that another thread reads, once in_events().
  std::unique_ptr<ChromeParser> make_parser();
  wire::Quoting quoting() const { return directory_.quoting; }

  /// What a parser of make_parser() read counts, and what stopped it is dealt with, as if consume()
  /// had got this text: the events from where this document stands, which is at `offset`. `text`:
  /// the whole that the parser was given. Returns how much of it is done with.
  std::size_t accept(ChromeParser& reader, const ChromeParser::Progress& progress,
                     std::string_view text, std::uint64_t offset, bool last);

  /// Success if what was read is a trace: with an array of events, of which one at least is one,
  /// and no other document on the next line.
  Status finish() const;

  TraceBuilder& builder() { return builder_; }
  const BlockDirectory& directory() const { return directory_; }

 private:
  enum class State : std::uint8_t { start, members, events, search, done };

  using Progress = ChromeParser::Progress;

  std::size_t read_on(std::string_view text, std::size_t at, std::uint64_t offset, bool last);
  std::size_t end_text(std::string_view text, std::size_t at, std::uint64_t offset, bool last);
  std::size_t start(std::string_view text, bool last);
  std::size_t member(std::string_view text, std::uint64_t offset, bool last);
  void count_commas(std::string_view gap, std::uint64_t offset, bool is_end);
  std::size_t begin_events(std::string_view text, std::uint64_t offset, std::size_t start,
                           std::size_t value, bool last);
  std::size_t other_member(std::string_view text, std::uint64_t offset, std::size_t start,
                           bool last);
  std::size_t after_broken_member(std::string_view text, std::size_t start, bool last);
  std::size_t events(std::string_view text, std::uint64_t offset, bool last);
  std::size_t take_events(ChromeParser& reader, Progress progress, std::string_view text,
                          std::uint64_t offset, bool last);
  std::size_t search(std::string_view text, std::uint64_t offset, bool last);
  std::size_t go_on_after(const EventStart& next, std::uint64_t offset);
  void note_line_breaks(std::string_view text);
  void note_trailing(std::string_view text, std::uint64_t offset);

  Progress repaired(ChromeParser& reader, std::string_view text, Progress progress, bool last);
  Progress search_from(ChromeParser& reader, std::string_view text, std::size_t from);
  Progress at_end(ChromeParser& reader, std::string_view text, Progress progress);
  void take_rows(ChromeParser& parser, std::uint64_t offset);
  void end_rows(std::uint64_t offset, EventStop stop);
  ChromeParser& parser();
  void learn_separator(std::string_view text);
  bool learn_layout(std::string_view text);

  RowRequest request_;
  State state_ = State::start;
  bool is_bare_array_ = false;
  bool has_array_ = false;
  bool has_elements_ = false;
  bool has_events_ = false;
  bool is_long_ = false;         // the next event did not end in the text that was there
  bool is_after_array_ = false;  // right after the bracket that ended the events
  bool has_members_ = false;
  std::uint64_t gap_counted_until_ = 0;
  std::uint64_t array_start_ = 0;
  std::size_t broken_members_ = 0;
  bool has_line_break_ = false;
  bool is_on_next_line_ = false;  // what comes after the document
  bool has_trailing_text_ = false;
  bool has_more_documents_ = false;
  std::uint32_t readers_ = 0;
  EventSeparator separator_;
  EventRepair repair_;
  BlockDirectory directory_;
  wire::JsonScanner scanner_;
  TraceBuilder& builder_;
  EventSink& sink_;
  std::unique_ptr<ChromeParser> parser_;  // once events are near
};

}  // namespace tbtrace::readers
