#include "readers/chrome/document.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "base/utf8.h"
#include "readers/chrome/kineto_layout.h"
#include "wire/json_blanks.h"
#include "wire/json_strict.h"
#include "wire/json_text.h"

namespace tbtrace::readers {
namespace {

using wire::Quoting;
using wire::ScanEnd;
using wire::skip_json_blanks;
using wire::skip_json_gap;

constexpr std::string_view kEventsKey = "\"traceEvents\"";
constexpr std::size_t kLongestHeader = std::size_t{4} << 20;  // that is waited for
constexpr std::size_t kLongestItem = std::size_t{1} << 30;    // the index takes no more
constexpr std::size_t kDamagedMember = std::size_t{1} << 20;  // one that is not JSON must end in it
constexpr std::size_t kLongEvent = std::size_t{1} << 20;      // the scanner reads longer ones
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// The quote that ends the key which starts at `start`, npos if it is not there yet.
std::size_t key_end(std::string_view text, std::size_t start) {
  for (std::size_t at = start + 1; at < text.size(); ++at) {
    if (text[at] == '"') return at;
    if (text[at] == '\\') ++at;
  }
  return std::string_view::npos;
}

std::string unescaped(std::string_view content) {
  std::string text;
  wire::append_unescaped(text, content);
  return text;
}

bool is_string(std::string_view value) {
  return value.size() >= 2 && value.front() == '"' && value.back() == '"';
}

/// `1`, or `1.0`.
bool is_one(std::string_view value) {
  std::string json;
  return wire::append_canonical_json(json, value) && json == "1";
}

/// What is wrong with a member's value.
std::optional<IssueId> issue_of_value(std::string_view value) {
  std::string json;
  if (wire::append_strict_json(json, value, false)) return std::nullopt;
  return is_utf8(value) ? IssueId::unescaped_text : IssueId::invalid_utf8;
}

/// The text of a member's value as proper JSON: strings are written anew.
std::string clean_value(std::string_view value, Quoting quoting) {
  if (!is_string(value)) return std::string(value);
  const std::string_view content = value.substr(1, value.size() - 2);
  std::string json;
  wire::append_json_string(json,
                           quoting == Quoting::escaped ? unescaped(content) : std::string(content));
  return json;
}

}  // namespace

std::size_t ChromeDocument::consume(std::string_view text, std::uint64_t offset, bool last) {
  return read_on(text, 0, offset, last);
}

std::size_t ChromeDocument::accept(ChromeParser& reader, const Progress& progress,
                                   std::string_view text, std::uint64_t offset, bool last) {
  const std::size_t used = take_events(reader, progress, text, offset, last);
  note_line_breaks(text.substr(0, used));
  return state_ == State::events ? end_text(text, used, offset, last)
                                 : read_on(text, used, offset, last);
}

std::size_t ChromeDocument::read_on(std::string_view text, std::size_t at, std::uint64_t offset,
                                    bool last) {
  for (;;) {
    const std::string_view rest = text.substr(at);
    if (is_after_array_) {
      const std::optional<EventStart> next = event_after_bracket(rest);
      if (!next && !last) return at;
      is_after_array_ = false;
      if (next && next->found) {
        at += go_on_after(*next, offset + at);
        continue;
      }
    }
    const State before = state_;
    std::size_t used = 0;
    switch (state_) {
      case State::start:
        used = start(rest, last);
        break;
      case State::members:
        used = member(rest, offset + at, last);
        break;
      case State::events:
        used = events(rest, offset + at, last);
        break;
      case State::search:
        used = search(rest, offset + at, last);
        break;
      case State::done:
        note_trailing(rest, offset + at);
        return text.size();
    }
    note_line_breaks(text.substr(at, used));
    at += used;
    if (before != State::events) repair_.pay(used);
    const bool waits = used == 0 || state_ == State::events;
    if (state_ == before && waits) return end_text(text, at, offset, last);
  }
}

/// What is left of `text` from `at` on waits for more, or is all that there is.
std::size_t ChromeDocument::end_text(std::string_view text, std::size_t at, std::uint64_t offset,
                                     bool last) {
  if (!last) return at;
  builder_.issues().end_loss(offset + text.size());
  const bool may_be_open = is_bare_array_ && skip_json_gap(text, at) == text.size();
  if (may_be_open) {
    directory_.note_lenience();
  } else {
    builder_.issues().add_lost(IssueId::input_truncated, offset + at, offset + text.size());
  }
  return text.size();
}

std::size_t ChromeDocument::start(std::string_view text, bool last) {
  std::size_t at = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  if (at > 0) directory_.note_lenience();
  at = skip_json_blanks(text, at);
  if (at == text.size()) return 0;
  if (text[at] == '[') {
    is_bare_array_ = true;
    has_array_ = true;
    state_ = State::events;
    return at + 1;
  }
  if (text[at] != '{') directory_.note_lenience();
  // How the first event is laid out tells how the strings before it are written.
  const std::size_t key = text.find(kEventsKey);
  const bool known = key != std::string_view::npos && learn_layout(text.substr(key));
  if (!known && !last && text.size() < kLongestHeader) return 0;
  state_ = State::members;
  return at + 1;
}

/// False if the text ends before that can be told.
bool ChromeDocument::learn_layout(std::string_view text) {
  const std::optional<Quoting> quoting = quoting_of_events(text);
  if (quoting) directory_.quoting = *quoting;
  return quoting.has_value();
}

std::size_t ChromeDocument::member(std::string_view text, std::uint64_t offset, bool last) {
  const std::size_t start = skip_json_gap(text, 0);
  if (start == text.size()) return 0;
  count_commas(text.substr(0, start), offset, text[start] == '}');
  if (text[start] == '}') {
    state_ = State::done;
    return start + 1;
  }
  if (text[start] == '"') {
    const std::size_t quote = key_end(text, start);
    const std::size_t colon =
        quote == std::string_view::npos ? text.size() : skip_json_blanks(text, quote + 1);
    const std::size_t value = skip_json_blanks(text, std::min(colon + 1, text.size()));
    if (value == text.size() && !last) return 0;
    const std::string_view key = text.substr(start, std::min(quote, text.size() - 1) + 1 - start);
    const bool names_events = key == kEventsKey || (key.find('\\') != std::string_view::npos &&
                                                    unescaped(key) == kEventsKey);
    if (names_events && value < text.size() && text[colon] == ':') {
      return begin_events(text, offset, start, value, last);
    }
  }
  return other_member(text, offset, start, last);
}

/// `gap`: what stands before a member, or before the end of the document.
void ChromeDocument::count_commas(std::string_view gap, std::uint64_t offset, bool is_end) {
  if (offset + gap.size() < gap_counted_until_) return;  // it waits for more text
  gap_counted_until_ = offset + gap.size() + 1;
  const auto commas = std::count(gap.begin(), gap.end(), ',');
  const bool is_between = has_members_ && !is_end;
  has_members_ = true;
  if (commas != (is_between ? 1 : 0)) {
    builder_.issues().add(IssueId::comma_misplaced, offset + gap.size());
  }
}

/// Reads the start of `"traceEvents"`, whose value starts at `value`.
std::size_t ChromeDocument::begin_events(std::string_view text, std::uint64_t offset,
                                         std::size_t start, std::size_t value, bool last) {
  const bool is_array = text[value] == '[';
  if (is_array && !has_array_ && !learn_layout(text.substr(start)) && !last) return 0;
  if (has_array_) {
    // JSON readers take the last of two members of a name.
    builder_.issues().add(IssueId::events_replaced, offset + start);
    builder_.issues().replace_losses(
        {IssueId::events_replaced, array_start_, directory_.end_offset()});
    sink_.restart();
    directory_.restart();
    if (parser_) parser_->rows().restart();
    has_array_ = false;
    has_elements_ = false;
    has_events_ = false;
  }
  if (!is_array) return other_member(text, offset, start, last);
  has_array_ = true;
  array_start_ = offset + start;
  state_ = State::events;
  return value + 1;
}

std::size_t ChromeDocument::other_member(std::string_view text, std::uint64_t offset,
                                         std::size_t start, bool last) {
  const Quoting quoting = directory_.quoting;
  const bool is_json = quoting == Quoting::escaped;
  bool is_counted = false;  // that the member is not JSON
  std::size_t end = start;
  scanner_.set_quoting(is_json ? Quoting::strict : quoting);
  ScanEnd scanned = scanner_.scan_member(text, end, last);
  const bool is_too_long = text.size() - start > kLongestItem;
  if (scanned == ScanEnd::incomplete && !is_too_long) return 0;
  if (scanned == ScanEnd::broken && is_json) {
    scanner_.set_quoting(quoting);
    scanned = scanner_.scan_member(text, end, last);
    if (scanned == ScanEnd::incomplete && !last && text.size() - start < kDamagedMember) return 0;
    is_counted = scanned == ScanEnd::complete;
    if (is_counted) builder_.issues().add(IssueId::unescaped_text, offset + start);
  }
  const std::uint32_t* position = scanner_.positions();
  if (scanned != ScanEnd::complete || text[start] != '"' || text[position[1]] != ':') {
    const IssueId issue = is_too_long ? IssueId::event_too_large : IssueId::member_unreadable;
    const std::size_t after = after_broken_member(text, start, last);
    builder_.issues().add_lost(issue, offset + start, offset + after);
    return after;
  }
  std::string_view written = text.substr(start + 1, position[1] - start - 1);
  written = written.substr(0, written.rfind('"'));
  const std::string key = to_utf8(is_json ? unescaped(written) : std::string(written));
  std::string_view value = text.substr(position[2], end - position[2]);
  while (!value.empty() && wire::is_json_blank(value.back())) value.remove_suffix(1);
  // Of what the strict scanner took, only strings may still be wrong: in their escapes.
  if (!is_counted && (!is_json || is_string(value))) {
    if (const auto issue = issue_of_value(value)) builder_.issues().add(*issue, offset + start);
  }
  if (is_json && !is_counted) {
    if (const auto issue = issue_of_value(text.substr(start, written.size() + 2))) {
      builder_.issues().add(*issue, offset + start);
    }
  }
  std::string strict;
  if (!wire::append_strict_json(strict, value, false)) directory_.note_lenience();
  const std::string json = clean_value(value, quoting);
  // Names that the writer lost stand in the stacks, so a file with stacks is read with them.
  if (key == "with_stack" && is_one(json)) {
    request_.arguments = request_.arguments | ArgumentSet{ArgumentGroup::call_stacks};
  }
  if (key == "with_flops") request_.inputs_for_flops_only = false;
  builder_.set_metadata(key, json);
  return end;
}

/// Where to read on after a member that makes no sense: at the events, if their key is there.
std::size_t ChromeDocument::after_broken_member(std::string_view text, std::size_t start,
                                                bool last) {
  // Text made for it could be scanned to its end from every such key in it.
  constexpr std::size_t kMostTries = 8;
  gap_counted_until_ = std::numeric_limits<std::uint64_t>::max();  // commas mean nothing any more
  const bool look_inside = ++broken_members_ <= kMostTries;
  const std::size_t from = look_inside ? start + 1 : std::max(start + 1, scanner_.reached());
  const std::size_t next = text.find(kEventsKey, std::min(from, text.size()));
  if (next != std::string_view::npos) return next;
  if (last || text.size() < kEventsKey.size()) return text.size();
  return std::max(start + 1, text.size() - kEventsKey.size());  // the key may be cut in two
}

/// Made before the first event. Kineto writes what was asked for before the events; in files of
/// others it may come after them.
ChromeParser& ChromeDocument::parser() {
  if (!parser_) {
    const bool is_kinetos = !is_bare_array_ && directory_.quoting != Quoting::escaped;
    if (request_.inputs_for_flops_only && is_kinetos) {
      request_.arguments = request_.arguments - ArgumentSet{ArgumentGroup::inputs};
    }
    // Steps are found in every analysis.
    request_.arguments = request_.arguments | ArgumentSet{ArgumentGroup::steps};
    builder_.set_arguments_read(request_.arguments);
    parser_ = std::make_unique<ChromeParser>(request_, readers_++);
  }
  return *parser_;
}

std::unique_ptr<ChromeParser> ChromeDocument::make_parser() {
  parser();
  return std::make_unique<ChromeParser>(request_, readers_++);
}

std::size_t ChromeDocument::events(std::string_view text, std::uint64_t offset, bool last) {
  ChromeParser& reader = parser();
  const Quoting quoting = directory_.quoting;
  // A text may hold any number of arrays, each of which replaces the one before.
  constexpr std::size_t kFirstPiece = 1024;
  std::size_t most = directory_.replaced_arrays() == 0 ? text.size() : kFirstPiece;
  for (std::size_t at = 0;; most *= 2) {
    const std::string_view piece = text.substr(at, most);
    const bool is_all = at + piece.size() == text.size();
    const Progress progress =
        is_long_ ? reader.parse_long(piece, quoting) : reader.parse(piece, quoting);
    at += take_events(reader, progress, piece, offset + at, last && is_all);
    if (is_all || state_ != State::events) return at;
  }
}

/// Deals with what stopped the parser, and takes its rows.
std::size_t ChromeDocument::take_events(ChromeParser& reader, Progress progress,
                                        std::string_view text, std::uint64_t offset, bool last) {
  learn_separator(text);
  progress = repaired(reader, text, progress, last);
  if (last && progress.stop == EventStop::need_text && state_ == State::events) {
    progress = at_end(reader, text, progress);
  }
  const bool is_waiting = progress.stop == EventStop::need_text && state_ == State::events && !last;
  if (is_waiting && text.size() - progress.consumed > kLongestItem) {
    directory_.note_damage();
    reader.rows().add_lost(IssueId::event_too_large, progress.consumed);
    progress = repaired(reader, text, search_from(reader, text, progress.consumed + 1), last);
  }
  is_long_ =
      is_waiting && !reader.rows().has_elements() && text.size() - progress.consumed >= kLongEvent;
  has_elements_ = has_elements_ || reader.rows().has_elements();
  if (progress.closes_after_comma && has_elements_) {
    reader.rows().issues().add(IssueId::comma_misplaced, progress.consumed - 1);
  }
  take_rows(reader, offset);
  end_rows(offset + progress.consumed, progress.stop);
  repair_.pay(progress.consumed);
  return progress.consumed;
}

/// Deals with what stopped the parser, until something else than damage does.
ChromeDocument::Progress ChromeDocument::repaired(ChromeParser& reader, std::string_view text,
                                                  Progress progress, bool last) {
  using Next = EventRepair::Outcome::Next;
  while (progress.stop == EventStop::rejected) {
    directory_.note_damage();
    repair_.spend(std::max(progress.reached, progress.consumed) - progress.consumed);
    const EventRepair::Outcome outcome =
        repair_.take(reader, text, directory_.quoting, separator_, progress.consumed, last);
    switch (outcome.next) {
      case Next::read_on:
        reader.rows().issues().end_loss(outcome.at);
        progress = reader.scan(text, directory_.quoting, outcome.at, true);
        break;
      case Next::need_text:
        return {outcome.at, EventStop::need_text};
      case Next::search:
        progress = search_from(reader, text, outcome.at);
    }
  }
  return progress;
}

ChromeDocument::Progress ChromeDocument::search_from(ChromeParser& reader, std::string_view text,
                                                     std::size_t from) {
  const EventStart start = find_event_start(text, from);
  if (start.found) {
    reader.rows().issues().end_loss(start.at);
    return reader.scan(text, directory_.quoting, start.at);
  }
  state_ = State::search;
  return {start.at, EventStop::need_text};
}

std::size_t ChromeDocument::search(std::string_view text, std::uint64_t offset, bool last) {
  const EventStart start = find_event_start(text, 0);
  if (start.found) {
    builder_.issues().end_loss(offset + start.at);
    state_ = State::events;
  }
  return last && !start.found ? text.size() : start.at;
}

/// The text ends in an event, or after one. If others follow in it, it lost its end and would take
/// them in.
ChromeDocument::Progress ChromeDocument::at_end(ChromeParser& reader, std::string_view text,
                                                Progress progress) {
  while (progress.stop == EventStop::need_text && state_ == State::events) {
    const std::size_t start = skip_json_gap(text, progress.consumed);
    if (start == text.size()) return {start, EventStop::need_text};
    // The index takes a text for unfinished that no further text could make valid.
    progress = repaired(reader, text, reader.scan(text, directory_.quoting, start), true);
    if (progress.consumed > start || progress.stop != EventStop::need_text) continue;
    const std::size_t next =
        repair_.has_credit() ? separator_.next_event(text, start + 1) : std::string_view::npos;
    if (next == std::string_view::npos) {
      const ChromeParser::Damaged element =
          reader.read_damaged(text, directory_.quoting, start, true);
      const bool is_whole = element.end == ScanEnd::complete;
      if (is_whole && !element.is_event) reader.rows().add_no_event(start, element.after);
      return {is_whole ? element.after : start, EventStop::need_text};
    }
    directory_.note_damage();
    repair_.give_up(reader, text, start);
    reader.rows().issues().end_loss(next);
    progress = repaired(reader, text, reader.parse(text, directory_.quoting, next), true);
  }
  return progress;
}

void ChromeDocument::end_rows(std::uint64_t offset, EventStop stop) {
  directory_.end(offset);
  if (stop != EventStop::array_end) return;
  state_ = is_bare_array_ ? State::done : State::members;
  is_after_array_ = true;
}

/// The bracket right before `offset` did not end the events, of which `next` is the next one.
std::size_t ChromeDocument::go_on_after(const EventStart& next, std::uint64_t offset) {
  directory_.note_damage();
  builder_.issues().add_lost(IssueId::event_unreadable, offset - 1, offset + next.at);
  repair_.pay(next.at);
  state_ = State::events;
  return next.at;
}

void ChromeDocument::take_rows(ChromeParser& parser, std::uint64_t offset) {
  ChromeRows& rows = parser.rows();
  has_elements_ = has_elements_ || rows.has_elements();
  has_events_ = has_events_ || rows.has_events();
  if (rows.is_by_layout()) directory_.note_damage();
  directory_.add(offset, builder_.event_count(), rows.rows());
  sink_.add(rows.rows());
  builder_.issues().take(rows.issues(), offset);
  rows.clear();
}

/// From an event that is sound, one of the first, and the start of the next.
void ChromeDocument::learn_separator(std::string_view text) {
  constexpr int kMostTries = 4;
  const Quoting quoting = directory_.quoting;
  scanner_.set_quoting(quoting == Quoting::escaped ? Quoting::strict : quoting);
  std::size_t start = skip_json_gap(text, 0);
  for (int tried = 0; !separator_.known() && tried < kMostTries; ++tried) {
    if (start == text.size() || text[start] != '{') return;
    std::size_t end = start;
    if (scanner_.scan_element(text, end, false) == ScanEnd::complete) {
      while (end > start && text[end - 1] != '}') --end;
      separator_.learn(text, end);
    }
    const EventStart next = find_event_start(text, start + 1);
    if (!next.found) return;
    start = next.at;
  }
}

void ChromeDocument::note_line_breaks(std::string_view text) {
  has_line_break_ = has_line_break_ || text.find('\n') != std::string_view::npos;
}

void ChromeDocument::note_trailing(std::string_view text, std::uint64_t offset) {
  const std::size_t at = skip_json_blanks(text, 0);
  is_on_next_line_ = is_on_next_line_ || text.substr(0, at).find('\n') != std::string_view::npos;
  if (at < text.size() && !has_trailing_text_) {
    has_trailing_text_ = true;
    has_more_documents_ =
        is_on_next_line_ && !has_line_break_ && (text[at] == '{' || text[at] == '[');
    builder_.issues().add_lost(IssueId::trailing_text, offset + at, offset + text.size());
  } else if (has_trailing_text_) {
    builder_.issues().extend_loss(offset + text.size());
  }
}

Status ChromeDocument::finish() const {
  if (has_more_documents_) {
    return {StatusCode::unreadable_input,
            "holds several documents, each on a line of its own, as Triton's Proton writes them; "
            "make a file of each, and give those: split -l 1 FILE part-"};
  }
  if (!has_array_) {
    return {StatusCode::unreadable_input,
            "is JSON without an array `traceEvents`, so it is not a trace; "
            "export one with prof.export_chrome_trace()"};
  }
  if (has_elements_ && !has_events_) {
    return {StatusCode::unreadable_input,
            "is JSON, but nothing in its array is a trace event (none has a phase, `ph`); "
            "export a trace with prof.export_chrome_trace()"};
  }
  return {};
}

}  // namespace tbtrace::readers
