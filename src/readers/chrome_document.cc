#include "readers/chrome_document.h"

#include <algorithm>
#include <string>

#include "wire/json_text.h"

namespace tbtrace::readers {
namespace {

using wire::Quoting;
using wire::ScanEnd;

constexpr std::string_view kEventsKey = "\"traceEvents\"";
constexpr std::size_t kLongestHeader = std::size_t{4} << 20;  // that is waited for
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

std::size_t skip_space_and_commas(std::string_view text, std::size_t at) {
  while (at < text.size() && (is_space(text[at]) || text[at] == ',')) ++at;
  return at;
}

/// The text of a member's value as proper JSON: strings are written anew.
std::string clean_value(std::string_view value, Quoting quoting) {
  while (!value.empty() && is_space(value.back())) value.remove_suffix(1);
  if (value.size() < 2 || value.front() != '"' || value.back() != '"') return std::string(value);
  const std::string_view content = value.substr(1, value.size() - 2);
  std::string text;
  if (quoting == Quoting::escaped) {
    wire::append_unescaped(text, content);
  } else {
    text = content;
  }
  std::string json;
  wire::append_json_string(json, text);
  return json;
}

}  // namespace

std::size_t ChromeDocument::consume(std::string_view text, std::uint64_t offset, bool last) {
  std::size_t at = 0;
  for (;;) {
    const std::string_view rest = text.substr(at);
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
      case State::done:
        return text.size();  // what follows the end of the document is nobody's
    }
    at += used;
    if (used == 0 && state_ == before) break;
  }
  if (!last) return at;
  const bool open_end_allowed = bare_array_ && skip_space_and_commas(text, at) == text.size();
  if (!open_end_allowed) builder_.issues().add(IssueId::input_truncated, offset + at);
  return text.size();
}

std::size_t ChromeDocument::start(std::string_view text, bool last) {
  std::size_t at = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  at = skip_space(text, at);
  if (at == text.size()) return 0;
  if (text[at] == '[') {
    bare_array_ = true;
    has_events_ = true;
    state_ = State::events;
    return at + 1;
  }
  // How the first event is laid out tells how the strings before it are written.
  const std::size_t key = text.find(kEventsKey);
  const bool known = key != std::string_view::npos && learn_layout(text.substr(key));
  if (!known && !last && text.size() < kLongestHeader) return 0;
  state_ = State::members;
  return at + 1;
}

std::size_t ChromeDocument::member(std::string_view text, std::uint64_t offset, bool last) {
  const std::size_t start = skip_space_and_commas(text, 0);
  if (start == text.size()) return 0;
  if (text[start] == '}') {
    state_ = State::done;
    return start + 1;
  }
  if (text.substr(start).starts_with(kEventsKey)) {
    const std::size_t colon = skip_space(text, start + kEventsKey.size());
    const std::size_t value = skip_space(text, std::min(colon + 1, text.size()));
    if (value == text.size() && !last) return 0;
    if (value < text.size() && text[colon] == ':' && text[value] == '[') {
      if (!has_events_ && !learn_layout(text.substr(start)) && !last) return 0;
      has_events_ = true;
      state_ = State::events;
      return value + 1;
    }
  }
  std::size_t end = start;
  scanner_.set_quoting(quoting_);
  const ScanEnd scanned = scanner_.scan_member(text, end, last);
  if (scanned == ScanEnd::incomplete) return 0;
  const std::uint32_t* position = scanner_.positions();
  if (scanned == ScanEnd::complete && text[start] == '"' && text[position[1]] == ':') {
    std::string_view key = text.substr(start + 1, position[1] - start - 1);
    key = key.substr(0, key.rfind('"'));
    const std::string_view value = text.substr(position[2], end - position[2]);
    const std::string json = clean_value(value, quoting_);
    // Names that the writer lost stand in the stacks, so a file with stacks is read with them.
    if (key == "with_stack" && json == "1") wanted_.call_stacks = true;
    if (key == "with_flops") wanted_.inputs_for_flops_only = false;
    builder_.set_metadata(key, json);
    return end;
  }
  builder_.issues().add(IssueId::member_unreadable, offset + start);
  // Text made for it could be scanned to its end from every such key in it.
  constexpr std::size_t kMostTries = 8;
  const bool look_inside = ++broken_members_ <= kMostTries;
  const std::size_t from = look_inside ? start + 1 : std::max(start + 1, scanner_.reached());
  const std::size_t next = text.find(kEventsKey, std::min(from, text.size()));
  if (next != std::string_view::npos) return next;
  if (last || text.size() < kEventsKey.size()) return text.size();
  return std::max(start + 1, text.size() - kEventsKey.size());  // the key may be cut in two
}

/// Made before the first event. Kineto writes what was asked for before the events; in files of
/// others it may come behind them.
ChromeParser& ChromeDocument::parser() {
  if (!parser_) {
    const bool kineto = !bare_array_ && quoting_ != Quoting::escaped;
    if (wanted_.inputs_for_flops_only && kineto) wanted_.inputs = false;
    parser_ = make_parser();
  }
  return *parser_;
}

std::unique_ptr<ChromeParser> ChromeDocument::make_parser() const {
  return std::make_unique<ChromeParser>(make_consumer_(wanted_), wanted_.all_members);
}

std::size_t ChromeDocument::events(std::string_view text, std::uint64_t offset, bool last) {
  const bool first = !separator_.known();
  const std::size_t first_event = skip_space_and_commas(text, 0);
  const ChromeParser::Progress progress =
      first ? parser().parse_one(text, quoting_, last) : parser().parse(text, quoting_, last);
  if (first && progress.consumed > 0 && !progress.array_ended) {
    std::size_t end = progress.consumed;
    while (end > first_event && text[end - 1] != '}') --end;
    if (text[first_event] == '{' && end > first_event) separator_.learn(text, end);
  }
  parser().consumer().commit(offset);
  if (progress.array_ended) state_ = bare_array_ ? State::done : State::members;
  if (first || progress.array_ended) return progress.consumed;
  // An event behind which another one starts lost its end, and would take in all that follow.
  const std::size_t next = separator_.next_event(text, progress.consumed + 1);
  if (next == std::string_view::npos) return progress.consumed;
  builder_.issues().add(IssueId::event_unreadable, offset + progress.consumed);
  return next;
}

/// Kineto's C++ writer sets events at two blanks and their members at four, which no general JSON
/// writer does inside an object. Since 2026 it writes one member a line. False if the text ends
/// before that can be told.
bool ChromeDocument::learn_layout(std::string_view text) {
  constexpr std::string_view kBeforeEvent = "\n  {\n    \"";
  const std::size_t array = text.find('[');
  if (array == std::string_view::npos) return false;
  const std::size_t brace = skip_space(text, array + 1);
  if (brace == text.size()) return false;
  const std::string_view event = text.substr(brace < 3 ? brace : brace - 3);
  quoting_ = Quoting::escaped;
  if (!event.starts_with(kBeforeEvent)) return event.size() >= kBeforeEvent.size();
  const std::size_t comma = event.find(',');
  if (comma == std::string_view::npos || comma + 1 == event.size()) return false;
  quoting_ = event[comma + 1] == '\n' ? Quoting::kineto_lines : Quoting::kineto_inline;
  return true;
}

std::size_t ChromeDocument::skip(std::string_view text, std::uint64_t offset, bool last) {
  std::size_t at = 0;
  if (!skipping_.active) {
    at = skip_space_and_commas(text, 0);
    builder_.issues().add(IssueId::event_too_large, offset + at);
    skipping_ = {.active = true};
    if (at < text.size() && (text[at] == '}' || text[at] == ']')) ++at;  // so that it moves on
  }
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (skipping_.in_string) {
      if (skipping_.escaped) {
        skipping_.escaped = false;
      } else if (c == '\\') {
        skipping_.escaped = true;
      } else if (c == '"') {
        skipping_.in_string = false;
      }
    } else if (c == '"') {
      skipping_.in_string = true;
    } else if (c == '{' || c == '[') {
      ++skipping_.depth;
    } else if (skipping_.depth > 0) {
      if (c == '}' || c == ']') --skipping_.depth;
    } else if (c == ',' || c == '}' || c == ']') {
      skipping_.active = false;
      return at;
    }
  }
  if (last) builder_.issues().add(IssueId::input_truncated, offset + text.size());
  return text.size();
}

}  // namespace tbtrace::readers
