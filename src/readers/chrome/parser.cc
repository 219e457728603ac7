#include "readers/chrome/parser.h"

#include <limits>

#include "wire/json_blanks.h"

namespace tbtrace::readers {
namespace {

using wire::IndexEnd;
using wire::Quoting;
using wire::ScanEnd;

bool may_hold_escapes(std::string_view text) { return text.find('\\') != std::string_view::npos; }

/// Whether an array that ends at `end` took the end of the events: a member follows.
bool comes_before_a_member(std::string_view text, std::size_t end) {
  if (text[end] != ',') return false;
  const std::size_t next = wire::skip_json_blanks(text, end + 1);
  return next < text.size() && text[next] == '"';
}

bool ends_element(std::string_view text, std::size_t at) {
  return at < text.size() && (text[at] == ',' || text[at] == ']');
}

}  // namespace

ChromeParser::Progress ChromeParser::parse(std::string_view text, Quoting quoting, std::size_t from,
                                           bool after_event) {
  const std::string_view piece = text.substr(from);
  const IndexEnd indexed = index_.build(piece);
  if (indexed == IndexEnd::broken) return scan(text, quoting, from, after_event);
  const TextRules rules = {quoting, may_hold_escapes(piece), index_.is_utf8()};
  Walk walk = {.from = from,
               .position = index_.positions(),
               .done = from,
               .after_event = after_event,
               .is_whole = indexed != IndexEnd::open_string};
  for (;;) {
    rows_.begin(rules);
    const Progress walked = walk_index(text, quoting, walk);
    if (walked.stop != EventStop::rejected) return walked;
    // Where quotes may be bare, the positions that follow are not to be trusted.
    if (quoting != Quoting::escaped) return scan(text, quoting, walked.consumed);
    // Each element is judged by itself: what it is taken for may not depend on what else is in the
    // piece.
    const Progress scanned = scan_some(text, quoting, walked.consumed, false, 1);
    const bool is_read =
        scanned.stop == EventStop::need_text && ends_element(text, scanned.consumed);
    if (!is_read) return scanned;
    while (from + *walk.position < scanned.consumed) ++walk.position;
    walk.done = scanned.consumed;
    walk.after_event = true;
  }
}

ChromeParser::Progress ChromeParser::parse_long(std::string_view text, Quoting quoting) {
  const Progress first = scan_some(text, quoting, 0, false, 1);
  if (first.stop != EventStop::need_text || first.consumed == 0) return first;
  return parse(text, quoting, first.consumed, true);
}

ChromeParser::Progress ChromeParser::scan(std::string_view text, Quoting quoting, std::size_t at,
                                          bool after_event) {
  return scan_some(text, quoting, at, after_event, std::numeric_limits<std::size_t>::max());
}

/// Stops at the first event that is not whole, or that the positions make no sense of.
ChromeParser::Progress ChromeParser::walk_index(std::string_view text, Quoting quoting,
                                                const Walk& walk) {
  const std::size_t from = walk.from;
  const std::string_view piece = text.substr(from);
  const std::uint32_t* position = walk.position;
  std::size_t done = walk.done;
  bool after_event = walk.after_event;
  for (;;) {
    const std::size_t here = *position;
    if (here >= piece.size()) return {walk.is_whole ? text.size() : done, EventStop::need_text};
    switch (piece[here]) {
      case ',':
        if (!after_event) rows_.issues().add(IssueId::comma_misplaced, from + here);
        after_event = false;
        ++position;
        done = from + here + 1;
        break;
      case ']':
        return {from + here + 1, EventStop::array_end, !after_event};
      case '{': {
        const TokenEnd end = tokenizer_.read(piece, quoting, position, event_);
        if (end == TokenEnd::incomplete) return {from + here, EventStop::need_text};
        if (end != TokenEnd::complete) return {from + here, EventStop::rejected};
        if (*position >= piece.size()) return {from + here, EventStop::need_text};
        const char next = piece[*position];
        if (next != ',' && next != ']') return {from + here, EventStop::rejected};
        rows_.add(event_, from + here, from + position[-1] + 1);
        after_event = true;
        break;
      }
      default:
        return {done, EventStop::rejected};
    }
  }
}

/// Blanks and commas from `at` on; one of these is right where none was met yet.
std::size_t ChromeParser::skip_gap(std::string_view text, std::size_t at, std::size_t& commas) {
  for (; at < text.size(); ++at) {
    if (text[at] == ',') {
      if (++commas > 1) rows_.issues().add(IssueId::comma_misplaced, at);
    } else if (!wire::is_json_blank(text[at])) {
      break;
    }
  }
  return at;
}

/// Reads up to `most` elements.
ChromeParser::Progress ChromeParser::scan_some(std::string_view text, Quoting quoting,
                                               std::size_t at, bool after_event, std::size_t most) {
  const bool is_json = quoting == Quoting::escaped;
  std::size_t commas = after_event ? 0 : 1;
  for (std::size_t read = 0;; ++read) {
    if (read == most) return {at, EventStop::need_text};
    at = skip_gap(text, at, commas);
    if (at == text.size()) return {at, EventStop::need_text};
    if (text[at] == ']') return {at + 1, EventStop::array_end, commas > 0};
    commas = 0;
    const std::size_t start = at;
    scanner_.set_quoting(is_json ? Quoting::strict : quoting);
    const ScanEnd end = scanner_.scan_element(text, at, false);
    const bool is_open = end == ScanEnd::complete && at == text.size();
    if (end == ScanEnd::incomplete || is_open) return {start, EventStop::need_text};
    const Progress rejected = {start, EventStop::rejected, false, scanner_.reached()};
    if (end == ScanEnd::broken || (text[at] != ',' && text[at] != ']')) return rejected;
    rows_.begin({quoting, true, false});
    if (!is_json) rows_.note_layout();
    if (take_scanned(text, quoting, start, at, is_json)) continue;
    if (!is_json || text[start] == '{') return rejected;
    if (text[start] == '[' && comes_before_a_member(text, at)) return rejected;
    rows_.add_no_event(start, at);
  }
}

/// False if what was scanned is not an object whose members make sense. `is_json`: it is valid.
bool ChromeParser::take_scanned(std::string_view text, Quoting quoting, std::size_t start,
                                std::size_t end, bool is_json) {
  if (text[start] != '{') return false;
  const std::uint32_t* position = scanner_.positions();
  const TokenEnd read = tokenizer_.read(text, quoting, position, event_, PositionsOf::scanner);
  if (read != TokenEnd::complete) return false;
  const std::uint64_t before = rows_.issues().count(IssueId::unescaped_text);
  rows_.add(event_, start, end);
  // The bad text may stand where no row takes it from.
  if (is_json || rows_.issues().count(IssueId::unescaped_text) != before) return true;
  scanner_.set_quoting(Quoting::strict);
  std::size_t after = start;
  if (scanner_.scan_element(text, after, true) == ScanEnd::broken) {
    rows_.issues().add(IssueId::unescaped_text, start);
  }
  return true;
}

ChromeParser::Damaged ChromeParser::read_damaged(std::string_view text, Quoting quoting,
                                                 std::size_t at, bool last) {
  // An event may be sound, and only what follows it is not; unless a text goes on there.
  bool is_sound = false;
  if (quoting == Quoting::escaped && text[at] == '{') {
    const Damaged sound = scan_damaged(text, Quoting::strict, at, last);
    is_sound = sound.end == ScanEnd::complete;
    const bool ends = sound.after == text.size() || text[sound.after] != '"';
    if (is_sound && ends) return take_damaged(text, quoting, at, sound, true);
  }
  Damaged damaged = scan_damaged(text, quoting, at, last);
  if (damaged.end == ScanEnd::complete) damaged = take_damaged(text, quoting, at, damaged, false);
  const bool is_open = damaged.end == ScanEnd::incomplete && !last;
  if (!is_sound || damaged.is_event || is_open) return damaged;
  return take_damaged(text, quoting, at, scan_damaged(text, Quoting::strict, at, last), true);
}

/// Adds the element that was scanned last.
ChromeParser::Damaged ChromeParser::take_damaged(std::string_view text, Quoting quoting,
                                                 std::size_t at, Damaged scanned, bool is_json) {
  rows_.begin({quoting, true, false});
  if (quoting != Quoting::escaped) rows_.note_layout();
  scanned.is_event = take_scanned(text, quoting, at, scanned.after, is_json);
  return scanned;
}

ChromeParser::Damaged ChromeParser::scan_damaged(std::string_view text, Quoting quoting,
                                                 std::size_t at, bool last) {
  Damaged damaged;
  damaged.after = at;
  scanner_.set_quoting(quoting);
  damaged.end = scanner_.scan_element(text, damaged.after, last);
  damaged.reached = scanner_.reached();
  const bool is_open = damaged.after == text.size() && !last;
  if (damaged.end == ScanEnd::complete && is_open) damaged.end = ScanEnd::incomplete;
  return damaged;
}

}  // namespace tbtrace::readers
